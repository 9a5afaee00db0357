"""The same figure by Plotly: a frame for each state, its script beside it.

Plotly's own sliders know nothing of each other, and here one picture depends
on two. So the page has the browser's own sliders, which name the frame that
`Plotly.animate` shows at once: less to load and to draw than one of Plotly's
sliders over all states.
"""

import json
import tempfile
import textwrap
from pathlib import Path

from bench_page import offline
from bench_peers import Showing, on_page, peer_rows
from bench_table import Unmeasured, gzipped

__all__ = ["frame_of", "plotly_rows", "write_page"]

MOVES = 100  # for each control
ANIMATE = {
    "mode": "immediate",
    "frame": {"duration": 0, "redraw": True},
    "transition": {"duration": 0},
}

# Run by Plotly's page once the figure is drawn.
CONTROLS = """
const sizes = %(sizes)s;
const gd = document.getElementById("{plot_id}");
const inputs = sizes.map((size, i) => {
  const input = document.createElement("input");
  Object.assign(input, { type: "range", min: 0, max: size - 1,
    value: %(start)s[i], ariaLabel: %(labels)s[i] });
  gd.before(input);
  input.oninput = () => {
    const place = inputs.reduce(
      (sum, each, k) => sum * sizes[k] + Number(each.value), 0);
    window.moved = Plotly.animate(gd, [String(place)], %(animate)s);
  };
  return input;
});
Object.assign(window, { gd, inputs });
"""

# As on the page: one control at a time to another value, by Park and
# Miller's sequence. The weights shown must be those of the frame.
MOVE = """async (times) => {
  let seed = 1;
  const next = (n) => (seed = (seed * 48271) % 2147483647) % n;
  const timed = [];
  let wrong = 0;
  const svg = () => gd.querySelector("svg.main-svg");
  for (let i = 0; i < times * inputs.length; i++) {
    await new Promise(requestAnimationFrame);
    const input = inputs[i % inputs.length];
    const count = Number(input.max) + 1;
    const before = gd.innerHTML;
    gd.getBoundingClientRect();
    const start = performance.now();
    input.value = (Number(input.value) + 1 + next(count - 1)) % count;
    input.dispatchEvent(new Event("input", { bubbles: true }));
    await moved;
    svg().getBBox();
    gd.getBoundingClientRect();
    timed.push(performance.now() - start);
    const place = inputs.reduce(
      (sum, each) => sum * (Number(each.max) + 1) + Number(each.value), 0);
    const frame = gd._transitionData._frameHash[place];
    const shown = [...gd.querySelectorAll(".trace.bars:last-child .bartext")]
      .map((e) => e.textContent);
    const labels = gd.querySelector(".gtitle").textContent
      + [...gd.querySelectorAll(".xtick text")].map((e) => e.textContent);
    const wanted = frame.layout.title.text.replaceAll("<br>", "")
      + frame.layout.xaxis.ticktext.map((e) => e.replaceAll("<br>", ""));
    wrong += before === gd.innerHTML || labels !== wanted
      || String(shown) !== String(frame.data[1].text);
  }
  return [timed, wrong];
}"""


def plotly_rows(browser, site, explorable):
    """Time and weigh the figure on our page, then on Plotly's."""
    ours = on_page(browser, site, explorable.name)
    with tempfile.TemporaryDirectory() as name:
        page = write_page(Path(name), explorable)
        script = page.with_name("plotly.min.js")
        own = gzipped(page.read_bytes())
        peer = Showing(
            "Plotly, frames",
            _moves(browser, page),
            own,
            own + gzipped(script.read_bytes()),
        )
    return peer_rows(explorable.name, ours, peer)


def frame_of(temperature, score, sentence):
    """What one state shows, as Plotly's data and layout.

    Parameters
    ----------
    temperature, score : float
    sentence : str

    Returns
    -------
    data : list of dict
        The weights at temperature 1, then the weights.
    layout : dict
    """
    from utils.attention import softmax
    from utils.figures.softmax.example import ROW, TOKENS
    from utils.figures.wording import brief, share

    scores = (ROW[0], score, *ROW[2:])
    weights = softmax(scores, temperature=temperature)
    ticks = [
        f"{token}<br>{brief(s)}<br>{brief(s / temperature)}"
        for token, s in zip(TOKENS, scores, strict=True)
    ]
    data = [
        {"y": softmax(scores).tolist()},
        {"y": weights.tolist(), "text": list(map(share, weights))},
    ]
    title = "<br>".join(textwrap.wrap(sentence, 60))
    return data, {"title": {"text": title}, "xaxis": {"ticktext": ticks}}


def write_page(folder, explorable):
    """Write the page as Plotly's user does, Plotly's script beside it.

    Returns
    -------
    Path
    """
    from plotly import graph_objects as go

    from utils.explore.palette import GRID, WEIGHT

    def state_of(state):
        return frame_of(**state, sentence=explorable.sentence(**state))

    states, sliders = explorable.states(), explorable.sliders
    frames = []
    for place, (data, layout) in enumerate(map(state_of, states)):
        bars = [go.Bar(**bar) for bar in data]
        frames.append(go.Frame(name=str(place), data=bars, layout=layout))
    (grey, bars), layout = state_of(explorable.start())
    places = [0, 1, 2, 3]
    figure = go.Figure(
        data=[
            go.Bar(x=places, marker_color=GRID, width=0.84, **grey),
            go.Bar(
                x=places,
                marker_color=WEIGHT,
                width=0.56,
                textposition="outside",
                cliponaxis=False,
                **bars,
            ),
        ],
        layout=go.Layout(barmode="overlay", showlegend=False, **layout),
        frames=frames,
    )
    figure.update_layout(
        width=460, height=345, font_size=10, template="simple_white"
    )
    figure.update_xaxes(tickvals=places)
    figure.update_yaxes(title="weight", range=[0, 1.1])
    page = folder / "page.html"
    figure.write_html(
        page,
        include_plotlyjs="directory",
        auto_play=False,
        post_script=CONTROLS
        % {
            "sizes": json.dumps([len(list(s.values())) for s in sliders]),
            "start": json.dumps(
                [list(s.values()).index(s.start()) for s in sliders]
            ),
            "labels": json.dumps([s.label for s in sliders]),
            "animate": json.dumps(ANIMATE),
        },
    )
    return page


def _moves(browser, page):
    with offline(browser) as context:
        tab = context.new_page()
        tab.goto(page.as_uri())
        tab.wait_for_function("window.inputs && gd.querySelector('.bartext')")
        timed, wrong = tab.evaluate(MOVE, MOVES)
    if wrong:
        raise Unmeasured(f"Plotly: {wrong} of {len(timed)} moves went wrong")
    return timed
