"""What every figure of the book promises, whatever it shows."""

import itertools
import re

import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg

from tests.browse import shown_explorables
from tests.figures import all_explorables, some_states
from utils.explore.picture import house_style

EXPLORABLES = all_explorables()
each = pytest.mark.parametrize("explorable", EXPLORABLES, ids=lambda e: e.name)


def written(figure):
    """Every text that is drawn, and how much of its box is letters.

    A box is as high as its font's highest and deepest letters; tick labels
    stand so close to each other that only the letters count.
    """
    for axes in figure.axes:
        whole = [*axes.texts, axes.title, axes._left_title, axes._right_title]
        if legend := axes.get_legend():
            whole += legend.get_texts()
        ticks = []
        if axes.axison:
            for axis in (axes.xaxis, axes.yaxis):
                whole.append(axis.label)
                for tick in axis._update_ticks():
                    ticks += [tick.label1, tick.label2]
        yield from ((text, 0.9) for text in whole)
        yield from ((text, 0.7) for text in ticks)
    yield from ((text, 0.9) for text in figure.texts)


def boxes(explorable, state):
    """The drawn figure; size, words, letters and place of each text in it."""
    with house_style(explorable.name):
        figure = explorable.draw(**state)
        FigureCanvasAgg(figure).draw()
        found = [
            (
                text.get_fontsize(),
                text.get_text(),
                letters,
                text.get_window_extent(),
            )
            for text, letters in written(figure)
            if text.get_visible() and text.get_text().strip()
        ]
    return figure, found


@pytest.mark.bug(id="B08")
def test_every_figure_that_a_page_shows_is_tested_here():
    shown = {name for _, name in shown_explorables()}
    assert shown <= {explorable.name for explorable in EXPLORABLES}


@each
def test_it_can_be_read_on_a_phone_and_no_text_is_cut_off(explorable):
    for state in some_states(explorable, 15):
        figure, found = boxes(explorable, state)
        edge = figure.bbox
        assert figure.get_size_inches()[0] == 4.8
        assert min(size for size, *_ in found) >= 9, state
        for _, words, _, box in found:
            assert edge.x0 <= box.x0, (state, words)
            assert box.x1 <= edge.x1, (state, words)
            assert edge.y0 <= box.y0, (state, words)
            assert box.y1 <= edge.y1, (state, words)
        for one, other in itertools.combinations(found, 2):
            letters = min(one[2], other[2])
            a, b = one[3].shrunk(1, letters), other[3].shrunk(1, letters)
            assert not a.overlaps(b), (state, one[1], other[1])


# names of code keep their small letters: float16, nn.MultiheadAttention
SMALL = re.compile(r"(?:^|[.!?] )(?![a-z]+[\d_.]\w)[a-zα-ω]")
ONE_OF_MANY = re.compile(
    r"(?<![a-z] )(?<![\d.,])\b1 (?:heads|tokens|layers|steps|pairs|keys|"
    r"queries|tiles|machines|numbers|rows|columns|scores|words|moves|turns)\b"
)


@each
def test_its_sentences_read_as_sentences(explorable):
    for state in some_states(explorable, 200):
        said = explorable.sentence(**state)
        assert not SMALL.search(said), said
        assert not ONE_OF_MANY.search(said), said
        assert said.endswith((".", "!", "?", "”", ")")), said
        assert "  " not in said, said
        assert not re.search(r"\s[.,;:](\s|$)", said), said


@each
def test_no_slider_has_a_name_that_a_form_already_has(explorable):
    # form.elements.length is a number: the page would lose its controls
    names = {slider.name for slider in explorable.sliders}
    assert not names & {"length", "item", "namedItem"}
