"""What a reader of the built site waits for: from a move to its picture."""

from bench_page import file_of, opened, pages_of
from bench_table import Row, Unmeasured, at_most, spread

__all__ = ["clock_step", "move_rows", "time_moves"]

MOVES = 100  # for each control of each figure
MOVE_BAR = 8  # milliseconds

# Moves one control at a time to another of its values, chosen by a fixed
# pseudo-random sequence (Park and Miller's), each in a frame of its own.
MOVE = """async ([name, times]) => {
  const figure = explore.figures.get(name);
  const inputs = [...figure.form.elements].filter((e) =>
    e.matches("input, select"));
  let seed = 1;
  const next = (n) => (seed = (seed * 48271) % 2147483647) % n;
  const timed = [];
  let still = 0;
  const { columns, sentences } = figure.book;
  const place = () => figure.order.get(figure.key(figure.state()));
  // two states may be drawn alike: then there is nothing to time
  const alike = (a, b) => sentences[a] === sentences[b]
    && columns.every((column) => column[a] === column[b]);
  figure.element.scrollIntoView();
  for (let i = 0; i < times * inputs.length; i++) {
    await new Promise(requestAnimationFrame);
    const input = inputs[i % inputs.length];
    const count = input.type === "checkbox" ? 2
      : input.type === "range" ? Number(input.max) + 1 : input.length;
    if (count < 2) continue;
    const away = 1 + next(count - 1);
    const before = place();
    const picture = figure.svg.outerHTML + figure.caption.textContent;
    figure.element.getBoundingClientRect();
    const start = performance.now();
    if (input.type === "checkbox") input.checked = !input.checked;
    else if (input.type === "range")
      input.value = (Number(input.value) + away) % count;
    else input.selectedIndex = (input.selectedIndex + away) % count;
    input.dispatchEvent(new Event("input", { bubbles: true }));
    figure.svg.getBBox();
    figure.element.getBoundingClientRect();
    const took = performance.now() - start;
    if (alike(before, place())) continue;
    timed.push(took);
    still += picture === figure.svg.outerHTML + figure.caption.textContent;
  }
  return [timed, still];
}"""

CLOCK = """() => {
  const steps = [];
  let last = performance.now();
  while (steps.length < 100) {
    const now = performance.now();
    if (now !== last) steps.push(now - last);
    last = now;
  }
  return steps.sort((a, b) => a - b)[50];
}"""


def clock_step(browser):
    """The step of the page's clock, in milliseconds."""
    tab = browser.new_page()
    try:
        return tab.evaluate(CLOCK)
    finally:
        tab.close()


def time_moves(tab, name, moves=MOVES):
    """Move every control of a figure, timing each move to the laid out page.

    Returns
    -------
    list of float, milliseconds

    Raises
    ------
    Unmeasured
        If a move changed nothing although the two states differ.
    """
    timed, still = tab.evaluate(MOVE, [name, moves])
    if still:
        raise Unmeasured(f"{name}: {still} of {len(timed)} moves did nothing")
    return timed


def move_rows(browser, site):
    """Time every figure of the site; count what is asked of other sites."""
    timed, outside, asked = {}, [], 0
    for page in pages_of(site):
        with opened(browser, page) as (tab, names, requests):
            for name in names:
                timed.setdefault(name, []).extend(time_moves(tab, name))
            asked += len(requests)
            outside += [url for url in requests if not file_of(url, site)]
    every = [time for times in timed.values() for time in times]
    rows = [
        _move_row(f"  {name}", times) for name, times in sorted(timed.items())
    ]
    first = _move_row(f"move to picture, {len(every)} moves", every)
    first.bar = f"p95 < {MOVE_BAR} ms"
    first.holds = at_most(spread(every)[1], MOVE_BAR)
    away = Row(
        "requests outside the site",
        f"{len(outside)} of {asked}",
        "0",
        holds="yes" if not outside else f"no ({outside[0]})",
    )
    return [first, *rows, away]


def _move_row(what, times):
    median, p95 = spread(times)
    return Row(what, f"{median:.2f} ms, {p95:.2f} ms")
