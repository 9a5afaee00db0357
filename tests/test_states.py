"""A picture that lies turns this red: every state against a fresh draw.

Every state of every explorable is set by its own controls on the built page,
and the whole picture and its sentence are compared with what Python draws.
"""

import re

import pytest

from tests.browse import (
    SET_STATE,
    caption,
    find_shown,
    load,
    settings_of,
    shown_explorables,
)
from utils.explore import frames, palette

pytestmark = pytest.mark.browser


@pytest.fixture(scope="session")
def fresh():
    """A fresh draw of every state of all explorables, past every cache."""
    explorables = [find_shown(name) for name in all_names()]
    return frames.draw_states(explorables)


def all_names():
    return sorted({name for _, name in shown_explorables()})


@pytest.mark.bug(id="B01")
@pytest.mark.bug(id="B03")
@pytest.mark.parametrize(("page", "name"), shown_explorables())
def test_every_state_on_the_page_equals_a_fresh_draw(
    kept_page, read_picture, fresh, page, name
):
    explorable = find_shown(name)
    tab = kept_page(page)
    if explorable.sliders:
        load(tab, name)
    for place, state in enumerate(explorable.states()):
        svg, sentence = fresh[name][place]
        if explorable.sliders:
            tab.evaluate(SET_STATE, [name, settings_of(explorable, state)])
        shown, drawn = read_picture(tab, name, svg)
        assert shown == drawn, f"{name} at {state} is not what Python draws"
        assert caption(tab, name) == sentence


def test_every_colour_is_the_books(fresh):
    """A colour that is not in the palette would not follow the theme."""
    light = {light for light, _ in palette.COLOURS.values()}
    for name, drawn in fresh.items():
        for svg, _ in drawn:
            assert set(re.findall(r"#[0-9a-f]{3,6}\b", svg)) <= light, name
