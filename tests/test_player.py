"""The page's script alone, in a real browser: names, shapes and texts.

A small page around one explorable that has what the chapters' own have not:
slider names that a form already uses, hostile texts, a tree that changes its
shape, a control that depends on another.
"""

from html import escape

import pytest
from matplotlib.figure import Figure

from utils.explore import Explorable, Slider, flipbook, markup
from utils.explore.frames import Frames
from utils.explore.page import HERE

NASTY = "</script><b>\"'&é שלום 🙂"

pytestmark = pytest.mark.browser


def draw(length, item, action, elements):
    figure = Figure(figsize=(3, 2))
    figure.text(0.1, 0.9, f"{NASTY[:-1]} {action}")  # no font has 🙂
    for row in range(length):  # more rows, more elements: another tree
        figure.text(0.1, 0.8 - 0.1 * row, f"{item[:20]} {row}")
    if elements:
        figure.subplots().plot([0, length], marker="o")
    return figure


def say(**values):
    return f"{NASTY} {sorted(values.items())}"


explorable = Explorable(
    "test-player",
    draw,
    say,
    Slider("length", [1, 2, 3, 4], 2),
    Slider("item", {1: ["a"], 2: ["b", NASTY], 3: ["c"], 4: ["d", "e"]},
           {4: "e"}, given="length"),
    Slider("action", [-0.5, 0, 0.5], 0, label=NASTY, play=True),
    Slider("elements", [False, True], True),
)  # fmt: skip


@pytest.fixture(scope="module")
def states():
    return [
        (explorable.svg(**s), explorable.sentence(**s))
        for s in explorable.states()
    ]


@pytest.fixture(scope="module")
def page(tmp_path_factory, states):
    """The address of a page with the figure in it and nothing else."""
    folder = tmp_path_factory.mktemp("player")
    svgs, sentences = zip(*states, strict=True)
    start = explorable.index(**explorable.start())
    book = flipbook.build(svgs, start).as_dict()
    script = flipbook.script(explorable.name, book, list(sentences))
    (folder / "book.js").write_text(script, "utf-8")
    frames = Frames(svgs[start], sentences[start], script, "k")
    figure = markup.figure_html(explorable, frames, "book.js")
    code = (HERE / "explore.js").read_text("utf-8")
    (folder / "explore.js").write_text(code, "utf-8")
    (folder / "page.html").write_text(
        f'<!doctype html><meta charset="utf-8"><title>{escape(NASTY)}</title>'
        f'<script defer src="explore.js"></script><body>{figure}</body>',
        "utf-8",
    )
    return (folder / "page.html").as_uri()


def move(tab, name, value):
    tab.locator(f"[name='{name}']").evaluate(
        """(input, value) => {
          if (input.type === "checkbox") input.checked = value;
          else input.value = value;
          input.dispatchEvent(new Event("input", { bubbles: true }));
        }""",
        value,
    )


@pytest.fixture
def tab(browser, page):
    wrong = []
    context = browser.new_context(offline=True)
    tab = context.new_page()
    tab.on("pageerror", lambda error: wrong.append(str(error)))
    tab.on(
        "console",
        lambda m: m.type in ("error", "warning") and wrong.append(m.text),
    )
    tab.goto(page)
    tab.wait_for_function("explore.figures.get('test-player')?.book")
    yield tab
    context.close()
    assert wrong == []


def test_every_state_is_reached_and_drawn(tab, states, read_picture):
    for place, state in enumerate(explorable.states()):
        length = explorable.sliders[0].values().index(state["length"])
        move(tab, "length", length)
        move(tab, "item", state["item"])
        actions = explorable.sliders[2].values()
        move(tab, "action", actions.index(state["action"]))
        move(tab, "elements", state["elements"])
        svg, sentence = states[place]
        shown, drawn = read_picture(tab, explorable.name, svg)
        assert shown == drawn, state
        assert tab.locator("figcaption").text_content() == sentence


def test_a_control_that_depends_begins_anew(tab):
    item = tab.locator("[name='item']")
    move(tab, "length", 3)
    assert item.input_value() == "e"
    options = item.locator("option").evaluate_all("o => o.map(x => x.value)")
    assert options == ["d", "e"]
    move(tab, "length", 0)
    assert item.input_value() == "a"


def test_hostile_text_is_text(tab):
    assert tab.locator("b").count() == 0
    move(tab, "item", NASTY)
    assert tab.locator("b").count() == 0
    assert NASTY in tab.locator("figcaption").text_content()


def test_a_link_carries_hostile_text_there_and_back(tab):
    move(tab, "item", NASTY)
    said = tab.locator("figcaption").text_content()
    link = tab.evaluate("explore.figures.get('test-player').link()")
    tab.locator(".explorable-reset").click()
    assert tab.locator("figcaption").text_content() != said
    tab.evaluate("h => { location.hash = h; }", link[link.index("#") :])
    assert tab.locator("figcaption").text_content() == said


def test_a_flipbook_that_cannot_be_loaded_is_said(browser, page):
    context = browser.new_context(offline=True)
    tab = context.new_page()
    tab.route("**/book.js", lambda route: route.abort())
    tab.goto(page)
    tab.wait_for_function(
        "document.querySelector('.explorable-note').textContent"
    )
    note = tab.locator(".explorable-note").text_content()
    assert note == "The other states could not be loaded."
    context.close()


def test_the_script_computes_no_number_of_its_own():
    code = (HERE / "explore.js").read_text("utf-8")
    assert "eval" not in code
    assert "innerHTML" not in code
    assert "Math." not in code
