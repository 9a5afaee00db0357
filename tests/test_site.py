"""The built site in a real browser, from a file, with the network cut.

A picture that lies turns this red: every state of every explorable is set by
its own controls on the built page, and the whole picture and its sentence
are compared with a fresh draw of that state.
"""

import importlib
import re

import pytest

from tests.conftest import ROOT
from utils.explore import find, frames, palette
from utils.explore.slider import value_key

pytestmark = pytest.mark.browser

SITE = ROOT / "_build" / "html"
WIDE, PHONE = 1280, 390


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


class Visitor:
    """Opens pages, and writes down whatever goes wrong in them."""

    def __init__(self, browser):
        self.browser, self.wrong, self.kept = browser, [], {}

    def open(self, page, width=WIDE, theme="light", height=900, **options):
        context = self.browser.new_context(
            viewport={"width": width, "height": height},
            color_scheme=theme,
            offline=True,
            **options,
        )
        tab = context.new_page()

        def note(what):
            self.wrong.append(f"{page}: {what}")

        def on_console(message):
            if message.type in ("error", "warning"):
                note(f"console: {message.text}")

        def on_request(request):
            if not request.url.startswith(("file://", "data:", "blob:")):
                note(f"asks {request.url}")

        tab.on("console", on_console)
        tab.on("pageerror", note)
        tab.on("request", on_request)
        tab.on("requestfailed", lambda request: note(f"no {request.url}"))
        path, mark, rest = page.partition("#")
        tab.goto((SITE / path).as_uri() + mark + rest)
        return tab

    def keep(self, page, width=WIDE, theme="light"):
        """A tab that other tests use too: reset what you look at first."""
        key = page, width, theme
        if key not in self.kept:
            self.kept[key] = self.open(*key)
        return self.kept[key]


@pytest.fixture(scope="session")
def visitor(browser, built_site):
    return Visitor(browser)


@pytest.fixture
def quiet(visitor):
    """Nothing may go wrong in any page while a test looks at it."""
    visitor.wrong.clear()
    yield visitor
    assert visitor.wrong == []


@pytest.fixture
def open_page(quiet):
    """Open a page of its own for this test."""
    opened = []

    def open_page(*args, **options):
        opened.append(quiet.open(*args, **options))
        return opened[-1]

    yield open_page
    for tab in opened:
        tab.context.close()


@pytest.fixture
def kept_page(quiet):
    """Look at a page that is already open, if it is."""
    return quiet.keep


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


class TestEveryPage:
    @pytest.mark.parametrize("theme", ["light", "dark"])
    @pytest.mark.parametrize("width", [WIDE, PHONE])
    @pytest.mark.parametrize("page", site_pages())
    def test_it_opens_whole_and_quiet(self, kept_page, page, width, theme):
        tab = kept_page(page, width, theme)
        tab.wait_for_function(
            "document.querySelectorAll('.math').length"
            " <= document.querySelectorAll('mjx-container').length"
        )
        assert tab.locator("mjx-merror, [data-mjx-error]").count() == 0
        wider = tab.evaluate(
            "document.documentElement.scrollWidth"
            " - document.documentElement.clientWidth"
        )
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

    @pytest.mark.parametrize("page", site_pages())
    def test_in_print_it_has_pictures_and_no_controls(self, open_page, page):
        tab = open_page(page)
        tab.emulate_media(media="print")
        for name in (n for p, n in shown_explorables() if p == page):
            assert tab.locator(f"#{name} svg").is_visible()
            assert not tab.locator(f"#{name} form").is_visible()


@pytest.fixture(scope="session")
def fresh():
    """A fresh draw of every state of all explorables, past every cache."""
    explorables = [find_shown(name) for name in all_names()]
    return frames.draw_states(explorables)


def all_names():
    return sorted({name for _, name in shown_explorables()})


def find_shown(name):
    """The explorable of that name, from the module that its figure names."""
    for page in site_pages():
        html = (SITE / page).read_text("utf-8")
        named = re.search(rf'id="{name}"[^>]* data-module="([^"]+)"', html)
        if named:
            importlib.import_module(named[1])
    return find(name)


def test_the_site_shows_explorables(built_site):
    assert len(moving_explorables()) >= 1


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


@pytest.mark.parametrize(("page", "name"), moving_explorables())
class TestEveryExplorable:
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
        query = "&".join(f"{k}={value_key(v)}" for k, v in last.items())
        tab = open_page(f"{page}#{name}?{query}")
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
        tab = open_page(page)
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
