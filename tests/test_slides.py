"""Slides: which part of a chapter stands where, and that all of it is seen."""

import json
from pathlib import Path
from types import SimpleNamespace

import nbformat
import pytest
from bs4 import BeautifulSoup

from tests.browse import (
    SET_STATE,
    find_shown,
    moving_explorables,
    query_of,
    settings_of,
    shown_explorables,
)
from tests.conftest import ROOT, stored_notebooks
from utils.explore import palette
from utils.slides import deck, write
from utils.slides.blocks import blocks, lead

DECKS = [one.name for one in stored_notebooks()]
MARKDOWN = nbformat.v4.new_markdown_cell
READY = "document.documentElement.dataset.ready"


def code(source, printed="", figure="", **metadata):
    cell = nbformat.v4.new_code_cell(source, metadata=metadata)
    if printed:
        cell.outputs = [nbformat.v4.new_output("stream", text=printed)]
    if figure:
        html = f'<figure data-explorable="{figure}" data-module="m"></figure>'
        data = {"text/html": html, "text/plain": "said"}
        cell.outputs = [nbformat.v4.new_output("execute_result", data)]
    return cell


def laid_out(*cells):
    return deck.slides(nbformat.v4.new_notebook(cells=list(cells)))


def shown(slide):
    return [c if isinstance(c, str) else c.source for c in slide.cells]


TITLE = MARKDOWN(
    "# Shares\n\n**The question.** Who gets what?\n\n**The answer.** All."
)


class TestWhatStandsWhere:
    def test_the_title_asks_and_the_speaker_answers(self):
        (title,) = laid_out(TITLE)
        assert (title.title, title.begins) == ("Shares", "slide")
        assert shown(title) == ["Who gets what?"]
        assert title.notes == ["**The answer.** All."]

    def test_prose_is_said_and_formulas_are_shown(self):
        text = "## Exp\n\nLong prose. It ends:\n\n$$e^x$$\n\nMore prose."
        _, slide = laid_out(TITLE, MARKDOWN(text))
        assert (slide.title, slide.begins) == ("Exp", "slide")
        assert shown(slide) == ["It ends:", "$$e^x$$"]
        assert slide.notes == ["Long prose. It ends:", "More prose."]

    def test_imports_and_hidden_cells_are_left_out(self):
        slides = laid_out(
            TITLE,
            code("import numpy as np\nfrom a import b"),
            MARKDOWN("## Exp"),
            code("print(1)", "1\n"),
            code("secret", "2\n", tags=["hide-cell"]),
        )
        assert [shown(s) for s in slides[1:]] == [["print(1)"]]

    def test_solutions_and_what_to_look_for_are_for_the_speaker(self):
        text = (
            "**Look for** the strip.\n\n- one\n- two\n\n## Exercises\n\n"
            "### Exercise 1\n\nWhat is 1?\n\n<details>\n<summary>Solution"
            "</summary>\n\nOne.\n\n</details>"
        )
        slides = laid_out(TITLE, MARKDOWN("## A"), code("1"), MARKDOWN(text))
        assert slides[1].notes == ["**Look for** the strip.", "- one\n- two"]
        assert slides[2].title == "Exercise 1"
        assert shown(slides[2]) == ["What is 1?"]
        assert "One." in slides[2].notes[0]

    def test_a_figure_stands_under_the_question_before_it(self):
        text = "## A\n\nProse.\n\n**Predict first.** What moves?"
        slides = laid_out(
            TITLE, MARKDOWN(text), code("f.x", figure="a-x"), code("print(1)")
        )
        assert [s.title for s in slides[1:]] == ["Predict first", "A"]
        assert shown(slides[1]) == ["What moves?", "f.x"]
        assert slides[1].begins == "slide"  # the heading alone is no slide
        assert slides[1].notes == ["Prose."]

    def test_what_leads_up_to_a_slide_is_said_on_it(self):
        slides = laid_out(
            TITLE,
            MARKDOWN("## A\n\nFirst."),
            code("one"),
            MARKDOWN("Then."),
            code("two"),
        )
        assert [s.notes for s in slides[1:]] == [["First."], ["Then."]]
        assert [s.begins for s in slides[1:]] == ["slide", "subslide"]

    def test_much_output_goes_to_a_slide_of_its_own(self):
        few = laid_out(TITLE, MARKDOWN("## A\n\n$$x$$"), code("1", "1\n" * 3))
        many = laid_out(
            TITLE, MARKDOWN("## A\n\n$$x$$"), code("1", "1\n" * 12)
        )
        assert (len(few), len(many)) == (2, 3)

    @pytest.mark.parametrize(
        ("kind", "places"),
        [
            ("skip", [["print(1)"]]),
            ("notes", [["print(1)"]]),
            ("slide", [["print(1)"], ["MINE"]]),
            ("subslide", [["print(1)"], ["MINE"]]),
            ("fragment", [["print(1)", "MINE"]]),
            ("-", [["print(1)", "MINE"]]),
        ],
    )
    def test_the_author_s_own_word_comes_first(self, kind, places):
        mine = MARKDOWN("MINE", metadata={"slideshow": {"slide_type": kind}})
        _, *slides = laid_out(TITLE, MARKDOWN("## A"), code("print(1)"), mine)
        assert [shown(s) for s in slides] == places
        assert slides[-1].begins == (
            "subslide" if kind == "subslide" else "slide"
        )
        assert ("MINE" in slides[0].notes) == (kind == "notes")

    def test_a_cell_with_a_magic_is_no_import(self):
        slides = laid_out(TITLE, MARKDOWN("## A"), code("%timeit f()"))
        assert shown(slides[1]) == ["%timeit f()"]


def test_blocks_keep_every_word():
    for notebook in stored_notebooks():
        for cell in notebook.markdown():
            found = " ".join(b.text for b in blocks(cell["source"])).split()
            assert sorted(found) == sorted(cell["source"].split())


def test_every_paragraph_is_on_a_slide_or_in_the_notes():
    """Nothing that a chapter says is lost, but for its further reading."""
    for name in DECKS:
        notebook = nbformat.read(ROOT / "book" / f"{name}.ipynb", 4)
        kept = [
            text
            for slide in deck.slides(notebook)
            for text in [*slide.notes, *shown(slide), slide.title]
        ]
        kept = " ".join(kept)
        for cell in notebook.cells:
            if cell.cell_type == "markdown":
                source = cell.source.split("## Further reading")[0]
                for block in blocks(source):
                    if block.kind in ("text", "formula", "list", "table"):
                        assert block.text in kept, (name, block.text[:60])


@pytest.mark.parametrize(
    ("text", "announced"),
    [
        ("No colon here.", ""),
        ("Say it:", "Say it:"),
        ("One. Is it two? Then three:", "Then three:"),
    ],
)
def test_a_sentence_that_announces_is_found(text, announced):
    assert lead(text) == announced


@pytest.fixture(scope="module")
def pages(built_site):
    return {
        name: BeautifulSoup(
            (built_site / "slides" / f"{name}.html").read_text("utf-8"),
            "html.parser",
        )
        for name in DECKS
    }


@pytest.mark.parametrize("name", DECKS)
class TestEveryDeck:
    def test_it_shows_every_figure_of_its_chapter(self, pages, name):
        figures = {tag["id"] for tag in pages[name].find_all("figure")}
        page = f"book/{name}.html"
        assert figures == {n for p, n in shown_explorables() if p == page}

    def test_no_solution_stands_on_a_slide(self, pages, name):
        soup = pages[name]
        assert soup.find("details") is None
        for tag in soup.find_all(string=lambda s: s and "Solution in" in s):
            assert tag.find_parent("aside", class_="notes"), tag

    def test_the_speaker_has_notes(self, pages, name):
        sections = pages[name].select("section > section")
        said = [s for s in sections if s.find("aside", class_="notes")]
        assert len(said) >= 0.5 * len(sections)


def test_the_same_chapter_makes_the_same_bytes(built_site):
    frames = pytest.importorskip("utils.explore.frames")
    name = DECKS[0]
    path = ROOT / "book" / f"{name}.ipynb"
    found = [find_shown(n) for p, n in shown_explorables() if name in p]
    drawn = frames.draw_all(found, ROOT / "_build" / "explorables")
    once = write.html(path, drawn, "k")
    assert once == write.html(path, drawn, "k")


def test_slides_are_those_of_before_until_the_new_ones_are_whole(
    tmp_path, monkeypatch
):
    """The key in the head would vouch for a half."""
    path = ROOT / "book" / f"{DECKS[0]}.ipynb"
    app = SimpleNamespace(
        builder=SimpleNamespace(name="html"),
        outdir=tmp_path,
        env=None,
        explorable_frames=None,
    )
    monkeypatch.setattr(write, "chapters", lambda env: [path])
    monkeypatch.setattr(write, "copy_assets", lambda site: None)
    monkeypatch.setattr(write, "html", lambda path, frames, key: f"{key} all")
    written = tmp_path / "slides" / f"{path.stem}.html"

    def build(key):
        monkeypatch.setattr(write, "_key", lambda path, frames: key)
        write.write_slides(app, None)
        return written.read_text("utf-8")

    assert build("one") == "one all"
    write_text = Path.write_text

    def stopped(self, text, *how):
        write_text(self, text[:4], *how)
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Path, "write_text", stopped)
        with pytest.raises(KeyboardInterrupt):
            build("two")
    assert written.read_text("utf-8") == "one all"
    assert build("two") == "two all"
    assert [*written.parent.iterdir()] == [written]


# --- in the browser --------------------------------------------------------


@pytest.fixture
def slides(open_page):
    def slides(name, **options):
        options = {"height": 720, **options}
        tab = open_page(f"slides/{name}", **options)
        tab.wait_for_function(READY)
        return tab

    return slides


LOOK = """
async () => {
  const slide = Reveal.getCurrentSlide();
  const sizes = [...slide.querySelectorAll("p, li, td, pre, figcaption, h2")]
    .filter((e) => !e.closest(".notes") && !e.matches(".section"))
    .filter((e) => e.checkVisibility())
    .map((e) => parseFloat(getComputedStyle(e).fontSize));
  for (const box of slide.querySelectorAll("figcaption")) {
    const player = explore.figures.get(box.closest("figure").id);
    if (!player) continue;
    while (!player.book) await new Promise((r) => setTimeout(r, 20));
    box.textContent = player.book.sentences.reduce(
      (a, b) => (b.length > a.length ? b : a));
  }
  const over = [slide, ...slide.querySelectorAll("pre, figure, form")]
    .filter((e) => !e.closest(".notes"))
    .filter((e) => e.scrollHeight > e.clientHeight + 1
      || e.scrollWidth > e.clientWidth + 1)
    .map((e) => `${e.localName} ${e.scrollWidth}x${e.scrollHeight}`);
  const caption = slide.querySelector("figcaption");
  const form = slide.querySelector("form");
  if (form && caption.getBoundingClientRect().bottom
      > form.getBoundingClientRect().top + 1) over.push("caption on form");
  return [slide.innerText.slice(0, 60), Math.min(...sizes), over,
    slide.clientWidth, slide.clientHeight, Reveal.isLastSlide()];
}
"""


@pytest.mark.browser
@pytest.mark.parametrize("name", DECKS)
def test_every_slide_is_seen_whole_from_the_last_row(slides, name):
    """Letters of a 48th of the height: what a full room can still read."""
    tab = slides(f"{name}.html")
    assert tab.locator("mjx-merror, [data-mjx-error]").count() == 0
    last, seen = False, 0
    while not last:
        words, smallest, over, width, height, last = tab.evaluate(LOOK)
        assert over == [], words
        assert (width, height) == (1280, 720)
        assert smallest >= 720 / 48, words
        seen += 1
        tab.evaluate("Reveal.next()")
        tab.wait_for_timeout(30)
    assert seen == tab.evaluate("Reveal.getTotalSlides()")


def to_figure(tab, name):
    tab.evaluate("h => { location.hash = h; }", f"{name}?")
    tab.wait_for_function(
        "n => Reveal.getCurrentSlide().querySelector(`#${n}`)"
        " && explore.figures.get(n).book",
        arg=name,
    )


@pytest.mark.browser
@pytest.mark.parametrize("deck_name", DECKS)
def test_figures_move_on_the_slide_as_on_the_page(
    slides, read_picture, deck_name
):
    page = f"book/{deck_name}.html"
    tab = slides(f"{deck_name}.html", mathematics=False)
    for name in (n for p, n in moving_explorables() if p == page):
        explorable = find_shown(name)
        to_figure(tab, name)
        last = explorable.states()[-1]
        tab.evaluate(SET_STATE, [name, settings_of(explorable, last)])
        said = tab.locator(f"#{name} figcaption").text_content()
        assert said == explorable.sentence(**last)
        seen, drawn = read_picture(tab, name, explorable.svg(**last))
        assert seen == drawn


A_DECK, A_FIGURE = "04_softmax.html", "softmax-temperature"
PLACE = "JSON.stringify(Reveal.getIndices())"


@pytest.mark.browser
class TestTheKeys:
    @pytest.fixture
    def tab(self, slides):
        tab = slides(A_DECK, mathematics=False)
        to_figure(tab, A_FIGURE)
        return tab

    def test_right_arrow_meets_every_slide_and_every_figure(self, slides):
        tab = slides(A_DECK, mathematics=False)
        met, figures = set(), set()
        for _ in range(tab.evaluate("Reveal.getTotalSlides()")):
            met.add(tab.evaluate(PLACE))
            figures.update(
                tab.evaluate(
                    "[...Reveal.getCurrentSlide().querySelectorAll("
                    "'figure.explorable')].map((figure) => figure.id)"
                )
            )
            tab.keyboard.press("ArrowRight")
        assert len(met) == tab.evaluate("Reveal.getTotalSlides()")
        shown = {n for p, n in moving_explorables() if p.endswith(A_DECK)}
        assert shown <= figures

    def test_arrows_are_the_slider_s_while_it_has_the_focus(self, tab):
        slider = tab.locator(f"#{A_FIGURE} input[type=range]").first
        slider.focus()
        place, value = tab.evaluate(PLACE), slider.input_value()
        tab.keyboard.press("ArrowRight")
        assert tab.evaluate(PLACE) == place
        assert slider.input_value() != value
        tab.keyboard.press("Escape")  # gives the keys back
        value = slider.input_value()
        tab.keyboard.press("ArrowRight")
        assert tab.evaluate(PLACE) != place
        assert slider.input_value() == value

    def test_a_menu_keeps_its_keys_too(self, tab):
        to_figure(tab, "softmax-axis")
        menu = tab.locator("#softmax-axis select")
        menu.focus()
        place, value = tab.evaluate(PLACE), menu.input_value()
        tab.keyboard.press("ArrowDown")
        assert tab.evaluate(PLACE) == place
        assert menu.input_value() != value

    def test_a_remote_control_turns_the_page_all_the_same(self, tab):
        slider = tab.locator(f"#{A_FIGURE} input[type=range]").first
        slider.focus()
        place, value = tab.evaluate(PLACE), slider.input_value()
        tab.keyboard.press("PageDown")
        assert tab.evaluate(PLACE) != place
        assert slider.input_value() == value
        tab.keyboard.press("PageUp")
        assert tab.evaluate(PLACE) == place

    def test_a_button_is_pressed_and_the_slide_stays(self, tab):
        slider = tab.locator(f"#{A_FIGURE} input[type=range]").first
        slider.focus()
        tab.keyboard.press("End")
        place, value = tab.evaluate(PLACE), slider.input_value()
        tab.locator(f"#{A_FIGURE} .explorable-reset").focus()
        tab.keyboard.press("Space")
        assert tab.evaluate(PLACE) == place
        assert slider.input_value() != value
        tab.keyboard.press("ArrowRight")
        assert tab.evaluate(PLACE) != place

    def test_a_figure_is_projected_from_its_slide(self, tab):
        place = tab.evaluate(PLACE)
        tab.locator(f"#{A_FIGURE} .explorable-project").click()
        box = tab.locator(f"#{A_FIGURE}").bounding_box()
        assert (box["width"], box["height"]) == (1280, 720)
        tab.keyboard.press("ArrowRight")
        assert tab.evaluate(PLACE) == place
        tab.locator(f"#{A_FIGURE} .explorable-project").click()
        tab.locator("dialog").wait_for(state="detached")
        tab.keyboard.press("ArrowRight")
        assert tab.evaluate(PLACE) != place


@pytest.mark.browser
def test_a_link_to_a_state_opens_the_slide_of_the_figure(slides):
    explorable = find_shown(A_FIGURE)
    last = explorable.states()[-1]
    query = query_of(last)
    tab = slides(f"{A_DECK}#{A_FIGURE}?{query}", mathematics=False)
    tab.wait_for_function("n => explore.figures.get(n).book", arg=A_FIGURE)
    slide = tab.locator("section.present section.present")
    assert slide.locator(f"#{A_FIGURE}").is_visible()
    said = tab.locator(f"#{A_FIGURE} figcaption").text_content()
    assert said == explorable.sentence(**last)
    box = tab.locator(f"#{A_FIGURE}").bounding_box()
    assert box["y"] > 0
    assert box["y"] + box["height"] <= 720


@pytest.mark.browser
@pytest.mark.parametrize(("theme", "column"), [("light", 0), ("dark", 1)])
def test_a_slide_wears_the_reader_s_theme(slides, theme, column):
    tab = slides(A_DECK, theme=theme, mathematics=False)
    ink = palette.COLOURS["ink"][column]
    rgb = tuple(int(ink[i : i + 2], 16) for i in (1, 3, 5))
    tab.evaluate("Reveal.slide(1, 0)")
    for part in ("h2", ".jp-OutputArea pre"):
        shown = tab.locator(f"section.present section.present {part}").first
        colour = shown.evaluate("e => getComputedStyle(e).color")
        assert colour == "rgb{}".format(
            json.dumps(rgb).replace("[", "(").replace("]", ")")
        )


@pytest.mark.browser
def test_the_speaker_s_window_shows_the_notes(slides):
    tab = slides(A_DECK, mathematics=False)
    with tab.context.expect_page() as opened:
        tab.keyboard.press("s")
    window = opened.value
    window.wait_for_function(
        "document.body.innerText.includes('Take the exponential')"
    )
