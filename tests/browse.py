"""What the browser tests share: the site's pages, and ways to move in them."""

import importlib
import re
from urllib.parse import urlencode

from tests.conftest import ROOT
from utils.explore import find
from utils.explore.slider import value_key

SITE = ROOT / "_build" / "html"
WIDE, PHONE = 1280, 390
# Gives a tab contrast(colour, colour), as WCAG counts it.
CONTRAST = (ROOT / "tests" / "contrast.js").read_text("utf-8")


def settle(tab):
    """Wait until no colour is fading: what counts is where they arrive."""
    tab.evaluate(
        "Promise.allSettled(document.getAnimations().map((a) => a.finished))"
        ".then(() => null)"
    )


def site_pages():
    """Every page that a reader reads, relative to the site."""
    return sorted(
        str(path.relative_to(SITE)) for path in SITE.glob("book/*.html")
    )


def shown_explorables(marked=""):
    """Page and name of every explorable on the site."""
    return [
        (page, name)
        for page in site_pages()
        for name in re.findall(
            rf'<figure class="explorable" id="([^"]+)"{marked}',
            (SITE / page).read_text("utf-8"),
        )
    ]


def moving_explorables():
    return shown_explorables(" data-moves")


def load(tab, name):
    """Bring an explorable into view and wait for its flipbook."""
    tab.locator(f"#{name}").scroll_into_view_if_needed()
    tab.wait_for_function("name => explore.figures.get(name)?.book", arg=name)
    tab.locator(f"#{name} .explorable-reset").click()


def caption(tab, name):
    return tab.locator(f"#{name} figcaption").text_content()


SET_STATE = """
([name, state]) => {
  const form = document.querySelector(`#${name} form`);
  for (const [key, value] of state) {
    const input = form.querySelector(`[name="${key}"]`);
    if (input.type === "checkbox") input.checked = value;
    else input.value = value;
    input.dispatchEvent(new Event("input", { bubbles: true }));
  }
}
"""


def settings_of(explorable, state):
    """What each control must be set to, in order, to reach a state."""
    rows = []
    for slider in explorable.sliders:
        value = state[slider.name]
        if slider.kind == "range":
            keys = [k for k, _ in slider.options(state.get(slider.given))]
            value = keys.index(value_key(value))
        rows.append([slider.name, value])
    return rows


def find_shown(name):
    """The explorable of that name, from the module that its figure names."""
    for page in site_pages():
        html = (SITE / page).read_text("utf-8")
        named = re.search(rf'id="{name}"[^>]* data-module="([^"]+)"', html)
        if named:
            importlib.import_module(named[1])
    return find(name)


def query_of(state):
    """A state as a link has it: a plus sign or a space is written out."""
    return urlencode({name: value_key(value) for name, value in state.items()})
