"""The same figure, its states embedded in a page by Panel.

Its own bytes are what Panel writes of the figure, its controls and its
states, as JSON; each state has the picture and the sentence. Its scripts are
in the page, so that it opens offline; a few small style sheets that it asks
of its CDN even so are not counted.
"""

import functools
import re
import tempfile
from pathlib import Path

from bench_page import offline
from bench_peers import Showing, on_page, peer_rows, time_presses
from bench_table import Unmeasured, gzipped

__all__ = ["panel_rows"]

MOVES = 100
RATIO_BAR = 50
WIDTH = 460  # pixels: 4.8 inches
STATES = re.compile(
    r'<script type="application/json"[^>]*>(.*?)</script>', re.DOTALL
)


def panel_rows(browser, site, explorable):
    """Time and weigh the figure on our page, then on Panel's, twice.

    First as a user of Panel has it: its own pane for matplotlib, as SVG
    (smaller than its default, PNG). Then at its strongest: a pane of HTML
    that is handed the small SVG which our own writer made.
    """
    import panel

    from utils.explore import picture

    def drawn(**values):
        with picture.house_style(explorable.name):
            return explorable.draw(**values)

    matplotlib_pane = functools.partial(panel.pane.Matplotlib, format="svg")
    ways = {
        "its matplotlib pane, SVG": (matplotlib_pane, drawn),
        "given our SVG": (panel.pane.HTML, explorable.svg),
    }
    rows = []
    for way, (pane, show) in ways.items():
        ours = on_page(browser, site, explorable.name)
        with tempfile.TemporaryDirectory() as folder:
            page = Path(folder) / "page.html"
            own = _write_page(page, panel, explorable, pane, show)
            peer = Showing(
                f"Panel, embedded, {way}",
                _moves(browser, page),
                own,
                gzipped(page.read_bytes()),
            )
        rows += peer_rows(explorable.name, ours, peer, bytes_bar=RATIO_BAR)
    return rows


def _write_page(page, panel, explorable, pane, show):
    """Write Panel's page with every state, and its scripts, in it.

    A pane that is given a bound function keeps its place and takes only new
    content: less to store than a new pane for every state.

    Returns
    -------
    int
        Bytes of its own, gzipped.
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
        pane(panel.bind(show, **controls), width=WIDTH),
        panel.pane.Str(panel.bind(explorable.sentence, **controls)),
    )
    panel.io.save.save(
        layout,
        page,
        resources="inline",
        embed=True,
        max_states=len(states) + 1,
        max_opts=len(states),
        progress=False,
    )
    found = "".join(STATES.findall(page.read_text("utf-8")))
    pictures = found.count("lt;svg")
    if pictures < len(states):
        raise Unmeasured(
            f"Panel embedded {pictures} pictures of {len(states)} states"
        )
    return gzipped(found)


def _moves(browser, page):
    with offline(browser) as context:
        tab = context.new_page()
        tab.goto(page.as_uri())
        picture = tab.locator("svg:has(path)").first
        picture.wait_for(timeout=60_000)
        return time_presses(tab, picture, tab.locator(".noUi-handle"), MOVES)
