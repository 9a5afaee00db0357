"""The bytes of the same states, embedded by Panel.

Counted is what Panel writes of the figure, its controls and its states, as
JSON; its scripts and styles are left out, as are ours. Each state has the
picture and the sentence.
"""

import io
import re

from bench_page import explorable_bytes
from bench_table import Row, Unmeasured, at_least, gzipped, kilobytes

__all__ = ["panel_rows"]

RATIO_BAR = 50
STATES = re.compile(
    r'<script type="application/json"[^>]*>(.*?)</script>', re.DOTALL
)


def panel_rows(site, explorable):
    """Weigh one explorable against Panel's page of the same states, twice.

    First as a user of Panel has it: its own pane for matplotlib, as SVG
    (smaller than its default, PNG). Then at its strongest: a pane of HTML
    that is handed the small SVG which our own writer made.
    """
    own = explorable_bytes(site).get(explorable.name)
    if own is None:
        raise Unmeasured(f"no page shows {explorable.name}")
    import panel

    from utils.explore import picture

    def drawn(**values):
        with picture.house_style(explorable.name):
            return explorable.draw(**values)

    def matplotlib_pane(bound):
        return panel.pane.Matplotlib(bound, format="svg")

    ways = {
        "its matplotlib pane, SVG": (matplotlib_pane, drawn),
        "given our SVG": (panel.pane.HTML, explorable.svg),
    }
    rows = []
    for way, (pane, show) in ways.items():
        embedded = _embedded(panel, explorable, pane, show)
        peer = gzipped(embedded)
        rows.append(
            Row(
                f"{explorable.name}, against Panel",
                kilobytes(own),
                f"{RATIO_BAR} times smaller",
                f"{way}: {kilobytes(peer)} ({len(embedded) / 1e6:.1f} MB raw)",
                f"{peer / own:.3g}",
                at_least(peer / own, RATIO_BAR),
            )
        )
    return rows


def _embedded(panel, explorable, pane, show):
    """The JSON of Panel's page with every state in it.

    A pane that is given a bound function keeps its place and takes only new
    content: less to store than a new pane for every state.
    """
    states = explorable.states()
    controls = {
        slider.name: panel.widgets.DiscreteSlider(
            name=slider.label,
            options=list(slider.values()),
            value=slider.start(),
        )
        for slider in explorable.sliders
    }
    layout = panel.Column(
        *controls.values(),
        pane(panel.bind(show, **controls)),
        panel.pane.Str(panel.bind(explorable.sentence, **controls)),
    )
    page = io.StringIO()
    panel.io.save.save(
        layout,
        page,
        resources="cdn",  # named, not written into the page
        embed=True,
        max_states=len(states) + 1,
        max_opts=len(states),
        progress=False,
    )
    found = "".join(STATES.findall(page.getvalue()))
    pictures = found.count("lt;svg")
    if pictures < len(states):
        raise Unmeasured(
            f"Panel embedded {pictures} pictures of {len(states)} states"
        )
    return found
