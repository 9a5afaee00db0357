"""A picture that lies turns this red: every state against a fresh draw.

Every state of every explorable is set by its own controls on the built page,
and the whole picture and its sentence are compared with what Python draws.
"""

import pytest

from tests.browse import (
    SET_STATE,
    caption,
    find_shown,
    load,
    settings_of,
    shown_explorables,
)
from utils.explore import frames

pytestmark = pytest.mark.browser


@pytest.fixture(scope="session")
def fresh():
    """A fresh draw of every state of all explorables, past every cache."""
    explorables = [find_shown(name) for name in all_names()]
    return frames.draw_states(explorables)


def all_names():
    return sorted({name for _, name in shown_explorables()})


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
