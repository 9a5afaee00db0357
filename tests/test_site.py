"""The built site in a real browser, from a file, with the network cut."""

import pytest

from contact_sheet import READY, TOO_WIDE
from tests.browse import (
    PHONE,
    SET_STATE,
    SITE,
    WIDE,
    caption,
    find_shown,
    load,
    moving_explorables,
    query_of,
    settings_of,
    shown_explorables,
    site_pages,
)
from utils.explore import palette

pytestmark = pytest.mark.browser

PAPER = 718  # pixels of A4 between margins of a centimetre
CUT_OFF = """
[...document.querySelectorAll("pre, table, figure, mjx-container[display]")]
  .filter((e) => e.scrollWidth > e.clientWidth + 1 && e.clientWidth)
  .map((e) => e.textContent.slice(0, 80))
"""

OPEN_ALL = """
document.querySelectorAll("details").forEach((one) => { one.open = true; })
"""
WIDE_CODE = """
[...document.querySelectorAll("article pre")]
  .filter((code) => code.scrollWidth > code.clientWidth + 1)
  .map((code) => code.textContent.slice(0, 200))
"""
WIDE_TABLES = """
[...document.querySelectorAll("article table")]
  .filter((table) => {
    const place = table.parentElement;
    return place.scrollWidth > place.clientWidth + 1;
  })
  .map((table) => table.textContent.slice(0, 80))
"""
# names in code with a new line between two letters of a word
TORN_NAMES = """
[...document.querySelectorAll("article :not(pre) > code")].flatMap((code) => {
  const texts = document.createTreeWalker(code, NodeFilter.SHOW_TEXT);
  const one = document.createRange();
  let name = "", bottom = Infinity;
  while (texts.nextNode()) {
    [...texts.currentNode.data].forEach((letter, at) => {
      one.setStart(texts.currentNode, at);
      one.setEnd(texts.currentNode, at + 1);
      const box = one.getBoundingClientRect();
      if (box.top >= bottom - 2) name += "|";
      if (box.height) bottom = box.bottom;
      name += letter;
    });
  }
  return /[A-Z]\\|[A-Z]|[a-z]\\|[a-z]/.test(name) ? [name] : [];
})
"""
# headings whose link stands below the last line of their words
LINK_BELOW = """
[...document.querySelectorAll(":is(h1, h2, h3) > .headerlink")]
  .filter((link) => {
    const words = document.createRange();
    words.selectNodeContents(link.parentElement);
    words.setEndBefore(link);
    const last = [...words.getClientRects()].at(-1);
    return link.getBoundingClientRect().top >= last.bottom - 2;
  })
  .map((link) => link.parentElement.textContent)
"""

# those that have a line more because of their link, or of a word beside it
TALLER = """
[...document.querySelectorAll(":is(h1, h2, h3) > .headerlink")]
  .filter((link) => {
    const heading = link.parentElement;
    const height = heading.offsetHeight;
    link.style.display = "none";
    const without = heading.offsetHeight;
    link.style.display = "";
    return height > without + 5;
  })
  .map((link) => link.parentElement.textContent)
"""
# and those whose link is cut off at the end of a full line
LINK_CUT = """
[...document.querySelectorAll(":is(h1, h2, h3) > .headerlink")]
  .filter((link) => link.getBoundingClientRect().right
    > link.parentElement.getBoundingClientRect().right)
  .map((link) => link.parentElement.textContent)
"""


class TestEveryPage:
    @pytest.mark.bug(id="B04")
    @pytest.mark.bug(id="B23")
    @pytest.mark.parametrize("theme", ["light", "dark"])
    @pytest.mark.parametrize("width", [WIDE, PHONE])
    @pytest.mark.parametrize("page", site_pages())
    def test_it_opens_whole_and_quiet(self, kept_page, page, width, theme):
        tab = kept_page(page, width, theme)
        tab.wait_for_function(READY)
        assert tab.locator("mjx-merror, [data-mjx-error]").count() == 0
        wider = tab.evaluate(TOO_WIDE)
        assert wider <= 0, f"{page} scrolls sideways by {wider} px at {width}"
        assert tab.evaluate("document.documentElement.dataset.theme") == theme

    @pytest.mark.parametrize("page", site_pages())
    def test_the_theme_s_icons_are_there(self, kept_page, page):
        tab = kept_page(page)
        tab.wait_for_function(
            "document.querySelectorAll('svg.svg-inline--fa').length > 0"
        )
        assert tab.locator("i[class*='fa-']").count() == 0
        assert tab.locator("svg[data-icon='question']").count() == 0

    @pytest.mark.bug(id="B01")
    @pytest.mark.bug(id="B03")
    @pytest.mark.parametrize("page", site_pages())
    def test_without_javascript_it_still_reads(self, browser, page):
        context = browser.new_context(java_script_enabled=False, offline=True)
        tab = context.new_page()
        tab.goto((SITE / page).as_uri())
        assert tab.locator("article h1").is_visible()
        for name in (n for p, n in shown_explorables() if p == page):
            assert tab.locator(f"#{name} svg").is_visible()
            assert tab.locator(f"#{name} figcaption").is_visible()
            assert not tab.locator(f"#{name} form").is_visible()
        context.close()

    @pytest.mark.bug(id="B39")
    @pytest.mark.parametrize("page", site_pages())
    def test_in_print_it_has_pictures_and_no_controls(self, open_page, page):
        tab = open_page(page)
        tab.emulate_media(media="print")
        for name in (n for p, n in shown_explorables() if p == page):
            assert tab.locator(f"#{name} svg").is_visible()
            assert not tab.locator(f"#{name} form").is_visible()
        tab.set_viewport_size({"width": PAPER, "height": 1000})
        assert tab.evaluate(CUT_OFF) == []
        assert tab.evaluate(TOO_WIDE) <= 0

    @pytest.mark.parametrize("page", site_pages())
    def test_a_heading_is_no_taller_for_its_hidden_link(self, kept_page, page):
        tab = kept_page(page)
        tab.wait_for_function(READY)
        assert tab.evaluate(LINK_BELOW) == []

    @pytest.mark.parametrize("page", site_pages())
    def test_its_code_and_output_fit_a_desk(self, open_page, page):
        tab = open_page(page, mathematics=False)
        tab.evaluate(OPEN_ALL)
        assert tab.evaluate(WIDE_CODE) == []

    @pytest.mark.parametrize("page", site_pages())
    def test_its_tables_fit_a_phone(self, kept_page, page):
        tab = kept_page(page, PHONE)
        tab.wait_for_function(READY)
        assert tab.evaluate(WIDE_TABLES) == []

    @pytest.mark.parametrize("width", [WIDE, PHONE])
    @pytest.mark.parametrize("page", site_pages())
    def test_no_name_in_code_is_torn(self, kept_page, page, width):
        tab = kept_page(page, width)
        tab.wait_for_function(READY)
        assert tab.evaluate(TORN_NAMES) == []

    @pytest.mark.parametrize("page", site_pages())
    def test_it_fits_screens_of_every_width(self, open_page, page):
        tab = open_page(page)
        tab.wait_for_function(READY)
        for width in (320, 768, 900, 1152, WIDE, 1920):
            tab.set_viewport_size({"width": width, "height": 900})
            wider = tab.evaluate(TOO_WIDE)
            assert wider <= 0, f"{page} is {wider} px too wide at {width}"
            assert width < 768 or tab.evaluate(TALLER) == [], width
            assert width < 900 or tab.evaluate(LINK_CUT) == [], width

    @pytest.mark.parametrize("page", site_pages())
    def test_a_phone_on_its_side_shows_picture_and_controls_at_once(
        self, open_page, page
    ):
        tab = open_page(page, 844, height=390)
        for name in (n for p, n in moving_explorables() if p == page):
            picture = tab.locator(f"#{name} svg").bounding_box()
            for control in tab.locator(f"#{name} form > div").all():
                box = control.bounding_box()
                assert box["x"] >= picture["x"] + picture["width"], name
            first = tab.locator(f"#{name} form > div").first.bounding_box()
            assert first["y"] <= picture["y"] + picture["height"] / 4, name
        assert tab.evaluate(TOO_WIDE) <= 0


def test_large_type_leaves_a_picture_its_size(open_page):
    tab = open_page("book/04_softmax.html", PHONE, mathematics=False)
    picture = tab.locator("figure.explorable svg").first
    before = picture.bounding_box()["width"]
    tab.evaluate("document.documentElement.style.fontSize = '200%'")
    assert picture.bounding_box()["width"] >= before


def test_the_site_shows_explorables(built_site):
    assert len(moving_explorables()) >= 1


@pytest.mark.parametrize(("page", "name"), moving_explorables())
class TestEveryExplorable:
    @pytest.mark.bug(id="B03")
    def test_the_keyboard_alone_moves_every_control(
        self, kept_page, page, name
    ):
        explorable = find_shown(name)
        tab = kept_page(page)
        load(tab, name)
        for slider in explorable.sliders:
            control = tab.locator(f"#{name} [name='{slider.name}']")
            before = state_number(tab, name)
            control.focus()
            keys = {"checkbox": ["Space"], "range": ["Home", "End"]}.get(
                slider.kind, ["Home", "End"]
            )
            seen = set()
            for key in keys:
                control.press(key)
                seen.add(state_number(tab, name))
            moved = seen - {before}
            given = explorable.start().get(slider.given)
            assert moved or len(slider.values(given)) == 1, slider.name

    def test_the_keyboard_reaches_every_control(self, kept_page, page, name):
        tab = kept_page(page)
        load(tab, name)
        form = tab.locator(f"#{name} form")
        wanted = form.locator("input, select, button").count()
        form.locator("input, select").first.focus()
        for _ in range(wanted - 1):
            assert tab.evaluate(
                "name => document.querySelector(`#${name} form`)"
                ".contains(document.activeElement)",
                name,
            )
            tab.keyboard.press("Tab")
        assert tab.evaluate("document.activeElement.className") == (
            "explorable-link"
        )

    def test_a_link_to_a_state_opens_it_and_comes_back(
        self, open_page, kept_page, page, name
    ):
        explorable = find_shown(name)
        last = explorable.states()[-1]
        query = query_of(last)
        tab = open_page(f"{page}#{name}?{query}", mathematics=False)
        tab.wait_for_function(
            "name => explore.figures.get(name)?.book", arg=name
        )
        assert caption(tab, name) == explorable.sentence(**last)
        assert tab.locator(f"#{name}").evaluate(
            "e => { const b = e.getBoundingClientRect();"
            " return b.top < innerHeight && b.bottom > 0; }"
        )
        link = tab.evaluate("name => explore.figures.get(name).link()", name)
        other = kept_page(page)
        load(other, name)
        other.evaluate("h => { location.hash = h; }", link[link.index("#") :])
        other.wait_for_function(
            "([name, said]) => document.querySelector(`#${name} figcaption`)"
            ".textContent === said",
            arg=[name, explorable.sentence(**last)],
        )

    def test_junk_in_a_link_is_ignored(self, kept_page, page, name):
        explorable = find_shown(name)
        start = explorable.sentence(**explorable.start())
        tab = kept_page(page)
        load(tab, name)
        junk = ("%3Cscript%3E=1&nobody=2", "=&=", "%")
        named = ("", "%22%00", "1e999", "%F0%9F%99%82")
        for query in (
            *junk,
            *(
                "&".join(f"{s.name}={j}" for s in explorable.sliders)
                for j in named
            ),
        ):
            tab.evaluate("h => { location.hash = h; }", f"{name}?{query}")
            tab.wait_for_timeout(20)  # the browser tells of it a little later
            assert caption(tab, name) == start

    def test_reset_returns_to_the_start(self, kept_page, page, name):
        explorable = find_shown(name)
        tab = kept_page(page)
        load(tab, name)
        last = explorable.states()[-1]
        tab.evaluate(SET_STATE, [name, settings_of(explorable, last)])
        tab.locator(f"#{name} .explorable-reset").click()
        start = explorable.start()
        assert caption(tab, name) == explorable.sentence(**start)
        assert state_number(tab, name) == explorable.index(**start)

    def test_moves_before_the_flipbook_arrives_are_kept(
        self, open_page, page, name
    ):
        explorable = find_shown(name)
        last = explorable.states()[-1]
        tab = open_page(page, mathematics=False)
        tab.evaluate(SET_STATE, [name, settings_of(explorable, last)])
        tab.wait_for_function(
            "name => explore.figures.get(name)?.book", arg=name
        )
        assert caption(tab, name) == explorable.sentence(**last)

    def test_it_wears_the_dark_theme_s_colours(self, kept_page, page, name):
        tab = kept_page(page, theme="dark")
        for selector, what, role in (
            ("svg text", "fill", "ink"),
            ("svg path", "fill", "ground"),
        ):
            shown = tab.locator(f"#{name} {selector}").evaluate_all(
                "(all, what) => all.map((e) => getComputedStyle(e)[what])",
                what,
            )
            assert rgb(palette.COLOURS[role][1]) in shown
            assert rgb(palette.COLOURS[role][0]) not in shown

    def test_on_a_phone_its_words_are_large_enough(
        self, kept_page, page, name
    ):
        tab = kept_page(page, width=PHONE)
        sizes = tab.locator(f"#{name} svg").evaluate(
            """svg => {
              const scale = svg.getScreenCTM().a;
              return [...svg.querySelectorAll("text")].map(
                (t) => parseFloat(getComputedStyle(t).fontSize) * scale);
            }"""
        )
        assert min(sizes) >= 8.4, f"{min(sizes):.1f} px"


def state_number(tab, name):
    number = tab.locator(f"#{name}").get_attribute("data-state")
    return None if number is None else int(number)


def rgb(colour):
    return "rgb({}, {}, {})".format(
        *(int(colour[i : i + 2], 16) for i in (1, 3, 5))
    )


def test_flipbooks_are_loaded_only_near_the_viewport(open_page):
    """On a page with several, the last one waits until it is near."""
    pages = [page for page, _ in moving_explorables()]
    page = max(pages, key=pages.count)
    names = [name for p, name in moving_explorables() if p == page]
    tab = open_page(page, width=PHONE, height=300)
    tab.wait_for_timeout(1000)
    loaded = "name => Boolean(explore.figures.get(name).book)"
    assert not tab.evaluate(loaded, names[-1])
    load(tab, names[-1])


def playing_explorables():
    return [
        (page, name)
        for page, name in moving_explorables()
        if any(slider.play for slider in find_shown(name).sliders)
    ]


@pytest.mark.parametrize(("page", "name"), playing_explorables())
class TestPlay:
    def test_it_plays_to_the_end_and_stops(self, kept_page, page, name):
        tab = kept_page(page)
        load(tab, name)
        button = tab.locator(f"#{name} .explorable-play")
        slider = tab.locator(
            f"#{name} [name='{button.get_attribute('data-plays')}']"
        )
        last = slider.get_attribute("max")
        move = [name, [[button.get_attribute("data-plays"), int(last) - 2]]]
        tab.evaluate(SET_STATE, move)
        button.click()
        assert button.text_content() == "Stop"
        tab.wait_for_function(
            "([name, key, last]) => document.querySelector(`#${name} form`)"
            ".elements[key].value === last",
            arg=[name, button.get_attribute("data-plays"), last],
        )
        assert button.text_content() == "Play"
        assert slider.input_value() == last

    def test_who_wants_no_motion_gets_one_step_a_press(
        self, open_page, page, name
    ):
        tab = open_page(page, reduced_motion="reduce")
        load(tab, name)
        button = tab.locator(f"#{name} .explorable-play")
        slider = tab.locator(
            f"#{name} [name='{button.get_attribute('data-plays')}']"
        )
        slider.focus()
        slider.press("Home")
        button.click()
        tab.wait_for_timeout(1500)
        assert slider.input_value() == "1"
        assert button.text_content() == "Play"


def test_copy_link_puts_the_state_where_it_can_be_pasted(open_page):
    page, name = moving_explorables()[0]
    tab = open_page(page, permissions=["clipboard-read", "clipboard-write"])
    load(tab, name)
    tab.locator(f"#{name} .explorable-link").click()
    note = tab.locator(f"#{name} .explorable-note")
    tab.wait_for_function(
        "name => document.querySelector(`#${name} .explorable-note`)"
        ".textContent",
        arg=name,
    )
    assert "link" in note.text_content().lower()
    link = tab.evaluate("name => explore.figures.get(name).link()", name)
    assert tab.evaluate("navigator.clipboard.readText()") == link


def test_where_copying_is_forbidden_the_link_is_in_the_address_bar(open_page):
    page, name = moving_explorables()[0]
    tab = open_page(page)
    load(tab, name)
    tab.evaluate(
        "() => { navigator.clipboard.writeText = () => Promise.reject(); }"
    )
    tab.locator(f"#{name} .explorable-link").click()
    tab.wait_for_function(
        "name => document.querySelector(`#${name} .explorable-note`)"
        ".textContent.includes('address bar')",
        arg=name,
    )
    link = tab.evaluate("name => explore.figures.get(name).link()", name)
    assert tab.url == link
