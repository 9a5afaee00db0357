"""One figure over the whole screen: in, out, by keyboard, by link."""

import pytest

from tests.browse import (
    PHONE,
    caption,
    find_shown,
    load,
    moving_explorables,
    query_of,
    shown_explorables,
)

pytestmark = pytest.mark.browser

OPEN = "name => Boolean(document.querySelector(`#${name}`).closest('dialog'))"
SHUT = f"name => !({OPEN})(name)"
FULL = "() => Boolean(document.fullscreenElement)"
SEEN_WHOLE = """
name => {
  const figure = document.querySelector(`#${name}`);
  const box = figure.querySelector("figcaption");
  const all = explore.figures.get(name).book.sentences;
  const shown = box.textContent;
  box.textContent = all.reduce((a, b) => (b.length > a.length ? b : a));
  const inside = [...figure.querySelectorAll("svg, figcaption, form")].every(
    (e) => {
      const b = e.getBoundingClientRect();
      return b.top >= 0 && b.bottom <= innerHeight + 1
        && b.left >= 0 && b.right <= innerWidth + 1;
    });
  const over = box.getBoundingClientRect().bottom
    <= figure.querySelector("form").getBoundingClientRect().top + 1;
  const size = parseFloat(getComputedStyle(box).fontSize);
  box.textContent = shown;
  return [inside, over, size];
}
"""


def project(tab, name):
    tab.locator(f"#{name} .explorable-project").click()
    assert tab.evaluate(OPEN, name)


def leave(tab, name, key="Escape"):
    tab.keyboard.press(key)
    tab.wait_for_function(SHUT, arg=name)


@pytest.fixture
def room(open_page):
    """A page on a projector of 1280 by 720, opened where we say."""

    def room(page, **options):
        options = {"height": 720, "mathematics": False, **options}
        return open_page(page, **options)

    return room


@pytest.mark.parametrize(("page", "name"), moving_explorables())
def test_each_is_seen_whole_in_large_type(kept_page, page, name):
    tab = kept_page(page, height=720)
    load(tab, name)
    project(tab, name)
    tab.wait_for_timeout(100)  # the observer fits it once more
    inside, apart, size = tab.evaluate(SEEN_WHOLE, name)
    tab.locator(f"#{name} .explorable-project").click()
    assert inside, "something lies outside the screen"
    assert apart, "the sentence lies over the controls"
    assert size >= 20, f"{size} px"


@pytest.mark.parametrize(("page", "name"), moving_explorables())
def test_a_link_opens_the_view_in_the_state(kept_page, page, name):
    explorable = find_shown(name)
    last = explorable.states()[-1]
    query = query_of(last)
    tab = kept_page(page)
    load(tab, name)
    link = f"{name}?{query}&projector"
    tab.evaluate("h => { location.hash = h; }", link)
    tab.wait_for_function(OPEN, arg=name)
    assert caption(tab, name) == explorable.sentence(**last)
    leave(tab, name)
    assert "projector" not in tab.url
    assert caption(tab, name) == explorable.sentence(**last)


def test_a_page_opened_by_such_a_link_shows_the_view(room):
    page, name = moving_explorables()[-1]
    last = find_shown(name).states()[-1]
    query = query_of(last)
    tab = room(f"{page}#{name}?{query}&projector")
    tab.wait_for_function("n => explore.figures.get(n)?.book", arg=name)
    assert tab.evaluate(OPEN, name)
    assert caption(tab, name) == find_shown(name).sentence(**last)


FIRST = moving_explorables()[:1]


@pytest.mark.parametrize(("page", "name"), FIRST)
class TestTheView:
    def test_the_screen_is_full_and_escape_brings_all_back(
        self, room, page, name
    ):
        tab = room(page)
        load(tab, name)
        place = (
            "n => [...document.querySelectorAll('figure')].findIndex("
            "(f) => f.id === n)"
        )
        before = tab.evaluate(place, name), tab.evaluate("scrollY")
        project(tab, name)
        tab.wait_for_function(FULL)
        focus = "document.activeElement.closest('figure')?.id"
        assert tab.evaluate(focus) == name
        # headless Chromium has no window whose Escape key could do this
        tab.evaluate("document.exitFullscreen()")
        tab.wait_for_function(SHUT, arg=name)
        assert tab.evaluate("document.activeElement.className") == (
            "explorable-project"
        )
        assert tab.evaluate(focus) == name
        after = tab.evaluate(place, name), tab.evaluate("scrollY")
        assert after == before

    def test_who_leaves_before_the_screen_is_full_has_left(
        self, room, page, name
    ):
        tab = room(page)
        tab.evaluate(
            "() => { Element.prototype.requestFullscreen ="
            " () => Promise.resolve(); }"
        )
        load(tab, name)
        project(tab, name)
        # both changes are told when nothing is full any more
        tab.evaluate(
            "() => { document.dispatchEvent(new Event('fullscreenchange')); }"
        )
        tab.wait_for_function(SHUT, arg=name, timeout=5000)

    @pytest.mark.parametrize(
        "without",
        [
            "Object.defineProperty(document, 'fullscreenEnabled',"
            " {value: false})",
            "Element.prototype.requestFullscreen = () =>"
            " Promise.reject(new TypeError('refused'))",
            "delete Element.prototype.requestFullscreen",
        ],
        ids=["disabled", "refused", "missing"],
    )
    def test_without_full_screen_it_fills_the_window(
        self, room, page, name, without
    ):
        tab = room(page)
        tab.evaluate(f"() => {{ {without}; }}")
        load(tab, name)
        project(tab, name)
        box = tab.locator(f"#{name}").bounding_box()
        assert (box["width"], box["height"]) == (1280, 720)
        leave(tab, name)
        assert tab.evaluate("document.activeElement.className") == (
            "explorable-project"
        )

    def test_the_keyboard_does_all(self, room, page, name):
        tab = room(page)
        load(tab, name)
        button = tab.locator(f"#{name} .explorable-project")
        assert button.get_attribute("aria-pressed") == "false"
        button.focus()
        tab.keyboard.press("Enter")
        assert tab.evaluate(OPEN, name)
        assert button.get_attribute("aria-pressed") == "true"
        assert button.text_content() == "Leave"
        said = caption(tab, name)
        control = tab.locator(f"#{name} form input, #{name} form select")
        control.first.focus()
        tab.keyboard.press("End")
        assert caption(tab, name) != said
        for _ in range(30):  # the rest of the page is out of reach
            tab.keyboard.press("Tab")
            inside = tab.evaluate(
                "n => document.activeElement === document.body"
                " || Boolean(document.activeElement.closest(`#${n}`))",
                name,
            )
            assert inside
        button.focus()
        tab.keyboard.press("Enter")
        tab.wait_for_function(SHUT, arg=name)

    def test_a_link_copied_there_opens_there(self, room, page, name):
        tab = room(page)
        load(tab, name)
        link = f"explore.figures.get('{name}').link()"
        assert "projector" not in tab.evaluate(link)
        project(tab, name)
        assert tab.evaluate(link).endswith("&projector")

    def test_on_a_phone_nothing_is_cut_off(self, room, page, name):
        tab = room(page, width=PHONE, height=844)
        load(tab, name)
        project(tab, name)
        tab.wait_for_timeout(100)
        inside, apart, size = tab.evaluate(SEEN_WHOLE, name)
        assert inside
        assert apart
        assert size >= 14

    def test_it_is_opened_once_however_often_it_is_asked(
        self, room, page, name
    ):
        tab = room(page)
        load(tab, name)
        for query in ("projector", "x=1&projector", "projector=2"):
            tab.evaluate("h => { location.hash = h; }", f"{name}?{query}")
            tab.wait_for_function(OPEN, arg=name)
        assert tab.locator("dialog.explorable-projector").count() == 1
        leave(tab, name)
        assert tab.locator("dialog.explorable-projector").count() == 0


def two_on_a_page():
    """Two figures of the first page that has two."""
    shown = moving_explorables()
    (page, one), (_, other) = next(
        pair
        for pair in zip(shown, shown[1:], strict=False)
        if pair[0][0] == pair[1][0]
    )
    return page, one, other


FOLLOW = "h => { location.hash = h; }"


def test_a_link_to_another_figure_takes_the_place_of_the_first(room):
    page, one, other = two_on_a_page()
    tab = room(page)
    load(tab, one)
    project(tab, one)
    tab.wait_for_function(FULL)
    tab.evaluate(FOLLOW, f"{other}?projector")
    tab.wait_for_function(OPEN, arg=other)
    tab.wait_for_timeout(300)  # leaving the full screen must not close it
    assert tab.evaluate(OPEN, other)
    assert not tab.evaluate(OPEN, one)
    assert tab.locator("dialog.explorable-projector").count() == 1
    leave(tab, other)
    assert tab.locator("dialog.explorable-projector").count() == 0


def test_a_link_to_another_figure_on_the_page_closes_the_view(room):
    page, one, other = two_on_a_page()
    tab = room(page)
    load(tab, one)
    project(tab, one)
    tab.evaluate(FOLLOW, f"{one}?x=1")  # its own: it stays
    tab.wait_for_timeout(100)
    assert tab.evaluate(OPEN, one)
    tab.evaluate(FOLLOW, f"{other}?x=1")
    tab.wait_for_function(SHUT, arg=one)
    assert not tab.evaluate(OPEN, other)


def test_a_reader_who_wants_calm_plays_step_by_step(room):
    page, name = next(
        (page, name)
        for page, name in moving_explorables()
        if any(s.play for s in find_shown(name).sliders)
    )
    tab = room(page, reduced_motion="reduce")
    load(tab, name)
    project(tab, name)
    said = caption(tab, name)
    tab.locator(f"#{name} .explorable-play").first.click()
    once = caption(tab, name)
    assert once != said
    tab.wait_for_timeout(1500)
    assert caption(tab, name) == once


def test_a_figure_that_cannot_move_has_no_such_button(built_site):
    still = set(shown_explorables()) - set(moving_explorables())
    for page, name in still:
        html = (built_site / page).read_text("utf-8")
        figure = html.split(f'id="{name}"')[1].split("</figure>")[0]
        assert "explorable-project" not in figure
