"""One figure, on the page and as another tool shows it, side by side.

A move runs from the reader's input to the new picture, laid out; painting it
is the same browser's work for all. Bytes are gzipped, as servers send them.
"""

from dataclasses import dataclass

from bench_moves import time_moves
from bench_page import explorable_bytes, file_of, opened, pages_of
from bench_table import Row, Unmeasured, at_least, gzipped, kilobytes, spread

__all__ = ["Showing", "on_page", "peer_rows", "time_presses", "weigh"]

REST = 150  # milliseconds between two moves, until a kernel is at rest again

# A move runs from the key to the new picture, laid out. The picture stands in
# a widget's box, or in the shadow of one.
WATCH = """(svg) => {
  const root = svg.getRootNode();
  const place = root instanceof ShadowRoot ? root
    : svg.closest(".widget-html-content");
  const bench = (window.bench = { times: [], seen: [place.innerHTML] });
  document.addEventListener("keydown", () => {
    bench.start = performance.now();
  }, true);
  new MutationObserver(() => {
    const picture = place.querySelector("svg, img");
    if (!picture || bench.start === undefined) return;
    if (picture.localName === "svg") picture.getBBox();
    picture.getBoundingClientRect();
    bench.times.push(performance.now() - bench.start);
    bench.seen.push(place.innerHTML);
    bench.start = undefined;
  }).observe(place, { childList: true, subtree: true });
}"""


@dataclass
class Showing:
    """A figure as one tool shows it.

    Parameters
    ----------
    name : str
        The tool, and how it is used.
    times : list of float
        Milliseconds of each move.
    own_bytes : int or None
        The figure with all its states; None if a kernel draws them.
    loaded_bytes : int
        All that a reader loads before the first move.
    """

    name: str
    times: list
    own_bytes: int | None
    loaded_bytes: int

    def facts(self):
        """What the record keeps."""
        return {
            "name": self.name,
            "times_ms": [round(time, 2) for time in self.times],
            "own_bytes": self.own_bytes,
            "loaded_bytes": self.loaded_bytes,
        }


def on_page(browser, site, name):
    """The figure on its chapter's page.

    Raises
    ------
    Unmeasured
        If no page shows it.
    """
    for page in pages_of(site):
        if f'id="{name}"' not in page.read_text("utf-8"):
            continue
        with opened(browser, page) as (tab, names, requests):
            if name in names:
                files = {file_of(url, site) for url in requests} - {None}
                return Showing(
                    "this book's page",
                    time_moves(tab, name),
                    explorable_bytes(site)[name],
                    sum(gzipped(file.read_bytes()) for file in files),
                )
    raise Unmeasured(f"no page shows {name}")


def time_presses(tab, picture, handles, moves):
    """Press an arrow key on each slider in turn; wait for each picture.

    Parameters
    ----------
    tab : playwright Page
    picture, handles : playwright Locator
    moves : int

    Returns
    -------
    list of float, milliseconds

    Raises
    ------
    Unmeasured
        If a move changed nothing.
    """
    from drive_lab import press

    picture.evaluate(WATCH)
    for move in range(moves):
        press(tab, handles.nth(move % handles.count()))
        tab.wait_for_function("count => bench.times.length > count", arg=move)
        tab.wait_for_timeout(REST)
    times, seen = tab.evaluate("[bench.times, bench.seen]")
    if any(one == other for one, other in zip(seen, seen[1:], strict=False)):
        raise Unmeasured("a move did not change the picture")
    return times


def weigh(context, addresses):
    """Sum what a tab loaded, by asking for each address once more.

    Parameters
    ----------
    context : playwright BrowserContext
    addresses : iterable of str

    Returns
    -------
    int
        Bytes gzipped, each address once.
    """
    bodies = map(context.request.get, sorted(set(addresses)))
    return sum(gzipped(reply.body()) for reply in bodies if reply.ok)


def peer_rows(figure, ours, peer, move_bar=None, bytes_bar=None):
    """Compare the moves, then the bytes.

    Parameters
    ----------
    figure : str
    ours, peer : Showing
    move_bar, bytes_bar : float, optional
        How many times the peer's must be ours.

    Returns
    -------
    list of Row
    """
    moves, peer_moves = spread(ours.times), spread(peer.times)
    ratios = [peer_moves[0] / moves[0], peer_moves[1] / moves[1]]
    rows = [
        Row(
            f"{figure}, a move, against {peer.name}",
            f"{moves[0]:.2f} ms, {moves[1]:.2f} ms",
            f"{move_bar} times faster" if move_bar else "",
            f"{peer_moves[0]:.3g} ms, {peer_moves[1]:.3g} ms",
            f"{ratios[0]:.3g} (median), {ratios[1]:.3g} (p95)",
            at_least(min(ratios), move_bar) if move_bar else "",
            facts={"ours": ours.facts(), "peer": peer.facts()},
        )
    ]
    if peer.own_bytes is not None:
        ratio = peer.own_bytes / ours.own_bytes
        rows.append(
            Row(
                "  its own bytes",
                kilobytes(ours.own_bytes),
                f"{bytes_bar} times smaller" if bytes_bar else "",
                kilobytes(peer.own_bytes),
                f"{ratio:.3g}",
                at_least(ratio, bytes_bar) if bytes_bar else "",
            )
        )
    rows.append(
        Row(
            "  all loaded before the first move",
            kilobytes(ours.loaded_bytes),
            peer=kilobytes(peer.loaded_bytes),
            ratio=f"{peer.loaded_bytes / ours.loaded_bytes:.3g}",
        )
    )
    return rows
