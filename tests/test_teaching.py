"""The teaching page: minutes that add up, links that open what they say."""

import re
from urllib.parse import parse_qsl

import pytest
from bs4 import BeautifulSoup

from tests.browse import caption, find_shown
from tests.conftest import ROOT, stored_notebooks
from utils.explore.slider import value_key

TEXT = (ROOT / "book" / "teaching.md").read_text("utf-8")
SECTION = re.compile(r"^#{2,3} (?P<title>.*)$", re.MULTILINE)
STEP = re.compile(r"^\d+\. \*\*(?P<minutes>\d+) min\.", re.MULTILINE)
PREPARE = re.compile(r"^\d+\. \*\*(?P<minutes>\d+) minutes", re.MULTILINE)
LINK = re.compile(r'href="([\w]+\.html)#([a-z0-9-]+)\?([^"]+)"')
DECIMAL = re.compile(r"(?<![\w.])[−-]?\d+\.\d+")


def sections():
    """Title and text of each part of the page."""
    found = list(SECTION.finditer(TEXT))
    ends = [m.start() for m in found[1:]] + [len(TEXT)]
    return {
        m["title"]: TEXT[m.end() : end]
        for m, end in zip(found, ends, strict=True)
    }


PLANS = {
    title: text for title, text in sections().items() if STEP.search(text)
}


def steps(text):
    found = [m.start() for m in STEP.finditer(text)]
    return [
        text[start:end]
        for start, end in zip(found, [*found[1:], len(text)], strict=True)
    ]


def state_links(text):
    """Page, figure, and the state of each link, in order."""
    return [
        (page, name, dict(parse_qsl(query.replace("&amp;", "&"), True)))
        for page, name, query in LINK.findall(text)
    ]


LINKS = {
    f"{name}?{'&'.join(f'{k}={v}' for k, v in state.items())}": (
        page,
        name,
        state,
    )
    for page, name, state in state_links(TEXT)
}


def values_of(explorable, state):
    """The values that a link names, for `draw` and `say`."""
    values = {}
    for slider in explorable.sliders:
        for value in slider.values(values.get(slider.given)):
            if value_key(value) == state[slider.name]:
                values[slider.name] = value
    return values


def said(name, state):
    explorable = find_shown(name)
    return explorable.sentence(**values_of(explorable, state))


def test_there_are_a_short_class_a_long_one_and_a_course():
    minutes = [int(re.search(r"(\d+) minutes", title)[1]) for title in PLANS]
    assert minutes == [50, 90, 90, 90, 90, 90]


@pytest.mark.parametrize("title", PLANS)
def test_the_minutes_of_a_class_add_up(title):
    promised = int(re.search(r"(\d+) minutes", title)[1])
    assert sum(int(m) for m in STEP.findall(PLANS[title])) == promised


def test_the_hour_before_class_adds_up():
    text = sections()["Before class, if you have one hour"]
    assert sum(int(m) for m in PREPARE.findall(text)) == 60


@pytest.mark.parametrize("title", PLANS)
def test_each_question_has_an_answer_to_expect(title):
    for step in steps(PLANS[title]):
        first = step.split("\n")[0]
        asked = step.count("*Ask:*") + step.count("*ask:*")
        assert step.count("*Expect:*") >= asked, first
        if "Project" in step:
            assert LINK.search(step), f"nothing to project in {first}"


@pytest.mark.parametrize("title", PLANS)
def test_steps_of_another_plan_exist(title):
    lengths = {
        word: len(steps(text))
        for word, text in zip(
            ("short", "long"), list(PLANS.values())[:2], strict=True
        )
    }
    for numbers, word in re.findall(
        r"[Ss]teps? ((?:\d+)(?: and \d+)?)(?:\s+of\s+the\s+(short|long))?",
        PLANS[title],
    ):
        for number in re.findall(r"\d+", numbers):
            most = lengths[word] if word else len(steps(PLANS[title]))
            assert 1 <= int(number) <= most, f"step {number} of {title}"


@pytest.mark.parametrize("title", PLANS)
def test_a_number_said_in_class_is_said_by_a_figure_linked_there(title):
    for step in steps(PLANS[title]):
        words = re.sub(r"<[^>]+>|\]\([^)]*\)", "", step)
        shown = " ".join(said(name, s) for _, name, s in state_links(step))
        for number in DECIMAL.findall(words):
            asked = any(
                number in state.values() for _, _, state in state_links(step)
            )
            assert number in shown or asked, f"{number} in {step[:60]}"


@pytest.mark.parametrize("link", LINKS)
def test_a_link_names_a_whole_state_of_a_figure_of_that_page(built_site, link):
    page, name, state = LINKS[link]
    assert state.pop("projector") == ""
    explorable = find_shown(name)
    assert list(state) == [slider.name for slider in explorable.sliders]
    assert set(values_of(explorable, state)) == set(state)
    html = (built_site / "book" / page).read_text("utf-8")
    assert f'<figure class="explorable" id="{name}"' in html
    state["projector"] = ""


@pytest.mark.browser
@pytest.mark.parametrize(
    "page", sorted({page for page, _, _ in LINKS.values()})
)
def test_each_link_opens_its_figure_in_its_state(open_page, page):
    """The first is clicked on the teaching page, as a teacher does."""
    mine = [one for one in LINKS.values() if one[0] == page]
    # Playwright waits by eval, which the page's policy forbids after a click
    tab = open_page("book/teaching.html", mathematics=False, bypass_csp=True)
    link = tab.locator(f'article a[href^="{page}#"][href*="?"]')
    hrefs = link.evaluate_all("all => all.map((a) => a.getAttribute('href'))")
    link.first.click()
    tab.wait_for_function("Boolean(window.explore?.figures.size)")
    for href in dict.fromkeys(hrefs):
        ((_, name, state),) = state_links(f'href="{href}"')
        assert (page, name, state) in mine
        tab.evaluate("h => { location.hash = h; }", href.split("#")[1])
        tab.wait_for_function("n => explore.figures.get(n).book", arg=name)
        tab.wait_for_function(
            "n => document.getElementById(n).closest('dialog')", arg=name
        )
        assert caption(tab, name) == said(name, state), href
        shown = tab.evaluate("n => explore.figures.get(n).state()", name)
        assert shown == {k: v for k, v in state.items() if k != "projector"}
        tab.keyboard.press("Escape")
        tab.wait_for_function("!document.querySelector('dialog[open]')")
    assert len(set(hrefs)) == len(mine)


def test_the_slides_of_every_chapter_are_linked(built_site):
    html = (built_site / "book" / "teaching.html").read_text("utf-8")
    soup = BeautifulSoup(html, "html.parser")
    linked = {a["href"] for a in soup.select("article a[href^='../slides/']")}
    names = [notebook.name for notebook in stored_notebooks()]
    assert linked == {f"../slides/{name}.html" for name in names}
    for name in names:
        assert (built_site / "slides" / f"{name}.html").is_file()


def test_every_stumble_is_a_real_one():
    """Each carries a public report, or leads to where the book takes it up."""
    text = sections()["Where students stumble"]
    stumbles = [p for p in text.split("\n\n") if p.startswith("**")]
    assert len(stumbles) >= 10
    for stumble in stumbles:
        assert "https://github.com/" in stumble, stumble[:50]
