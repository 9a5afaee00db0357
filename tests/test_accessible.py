"""WCAG 2.2 AA on every page, in both themes, the ink of figures included.

axe-core looks at the pages. It cannot judge text in a picture, so the
contrast of a figure's ink is measured here, in states of its own.
"""

from importlib.resources import files

import pytest

from tests.browse import (
    CONTRAST,
    SET_STATE,
    find_shown,
    load,
    settings_of,
    settle,
    shown_explorables,
    site_pages,
)
from tests.conftest import ROOT

pytestmark = pytest.mark.browser

AXE = files("axe_playwright_python").joinpath("axe.min.js")
WCAG = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]
# A formula's ink is its paragraph's; a picture's is measured below.
RUN = """
([tags, only]) => axe.run(
  { include: document, exclude: [["mjx-container"], ["figure svg > *"]] },
  {
    runOnly: only ? { type: "rule", values: only }
      : { type: "tag", values: tags },
    preload: false,
    resultTypes: ["violations", "incomplete"],
  },
).then((found) => [...found.violations, ...found.incomplete].map((rule) =>
  [rule.id, rule.nodes.map((node) => node.html.slice(0, 120)),
   rule.nodes[0].failureSummary]))
"""
INK = (ROOT / "tests" / "ink.js").read_text("utf-8")
TALL = {"height": 1600, "mathematics": False}  # no link is scrolled away
ENOUGH = 4.5  # for text of any size
STATES = 5  # of each figure, from the first to the last


def wrong_in(tab, only=None):
    settle(tab)
    tab.evaluate(AXE.read_text("utf-8"))
    return tab.evaluate(RUN, [WCAG, only])


@pytest.mark.parametrize("page", site_pages())
def test_a_page_keeps_every_rule(open_page, page):
    assert wrong_in(open_page(page, **TALL)) == []


@pytest.mark.parametrize("page", site_pages())
def test_a_page_can_be_read_in_the_dark(open_page, page):
    tab = open_page(page, theme="dark", **TALL)
    assert wrong_in(tab, ["color-contrast"]) == []


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize(("page", "name"), shown_explorables())
def test_a_figures_ink_stands_out_from_what_is_under_it(
    kept_page, page, name, theme
):
    explorable = find_shown(name)
    tab = kept_page(page, theme=theme)
    tab.evaluate(CONTRAST)
    states = explorable.states()
    if explorable.sliders:
        load(tab, name)
    for state in states[:: max(1, len(states) // STATES)]:
        if explorable.sliders:
            tab.evaluate(SET_STATE, [name, settings_of(explorable, state)])
        found = tab.evaluate(INK, name)
        assert found
        contrast, text = min(found)
        assert contrast >= ENOUGH, f"{text!r}: {contrast:.2f} at {state}"
