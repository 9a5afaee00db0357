"""The explorable in a kernel: every move redraws, every error is shown."""

import gc
import html
import re

import ipywidgets
import matplotlib.pyplot
import pytest
from matplotlib.figure import Figure

from utils.explore import Explorable, Slider, live, stored


def draw(temperature, word):
    if temperature == 3:
        raise RuntimeError("this <state> cannot be drawn")
    figure = Figure(figsize=(2, 1))
    figure.text(0.5, 0.5, f"{word} {temperature:.2f}")
    return figure


def say(temperature, word):
    return f"At temperature {temperature} the word is “{word}” & no other."


WORDS = {1: ["one"], 2: ["two", "three"], 3: ["four"]}
explorable = Explorable(
    "test-live",
    draw,
    say,
    Slider("temperature", [1, 2, 3], 1, label="how hot"),
    Slider("word", WORDS, {2: "three"}, given="temperature"),
)


@pytest.fixture
def shown():
    return live.LiveExplorable(explorable)


def test_the_first_view_is_the_starting_state(shown):
    assert shown.values() == explorable.start()
    assert ">one 1.00</text>" in shown.picture.value
    assert "At temperature 1 the word is “one” &amp; no other." in (
        shown.sentence.value
    )
    assert 'aria-live="polite"' in shown.sentence.value


def test_controls_carry_the_label_and_the_texts(shown):
    control = shown.controls["temperature"]
    assert control.description == "how hot"
    assert [text for text, _ in control.options] == ["1", "2", "3"]


@pytest.mark.bug(id="B30")
def test_a_move_redraws_picture_and_sentence_in_place(shown):
    picture = shown.picture
    shown.controls["temperature"].value = 2
    assert shown.picture is picture
    assert ">three 2.00</text>" in picture.value
    shown.controls["word"].value = "two"
    assert ">two 2.00</text>" in picture.value
    assert html.escape(say(2, "two"), quote=False) in shown.sentence.value


@pytest.mark.bug(id="B30")
def test_a_move_redraws_once(shown, monkeypatch):
    drawn = []
    monkeypatch.setattr(
        Explorable, "svg", lambda self, **v: drawn.append(v) or "<svg/>"
    )
    shown.controls["temperature"].value = 2
    assert drawn == [{"temperature": 2, "word": "three"}]


def test_a_dependent_control_offers_its_own_values(shown):
    shown.controls["temperature"].value = 2
    assert [v for _, v in shown.controls["word"].options] == ["two", "three"]
    shown.controls["temperature"].value = 1
    assert shown.values() == {"temperature": 1, "word": "one"}


@pytest.mark.bug(id="B13")
def test_an_error_is_shown_and_the_next_move_recovers(shown):
    shown.controls["temperature"].value = 3
    assert 'role="alert"' in shown.picture.value
    assert "RuntimeError: this &lt;state&gt; cannot be" in shown.picture.value
    assert "in draw" in shown.picture.value
    assert "explore/live.py" not in shown.picture.value
    assert shown.sentence.value == ""
    shown.controls["temperature"].value = 2
    assert "RuntimeError" not in shown.picture.value
    assert ">three 2.00</text>" in shown.picture.value


@pytest.mark.bug(id="B30")
def test_fifty_moves_leave_no_figure(shown):
    for step in range(50):
        shown.controls["temperature"].value = 1 + step % 2
    assert matplotlib.pyplot.get_fignums() == []
    gc.collect()
    alive = [o for o in gc.get_objects() if type(o) is Figure]
    assert len(alive) <= 1


@pytest.mark.bug(id="B13")
def test_no_output_widget_is_used(shown):
    kinds = {type(child).__name__ for child in shown.box.children}
    assert kinds == {"SelectionSlider", "Dropdown", "HTML"}


def test_there_is_no_widget_outside_a_kernel():
    assert live.mimebundle(explorable) == {}


def test_a_kernel_gets_the_view_and_the_picture(monkeypatch):
    monkeypatch.setattr(live, "_in_a_kernel", lambda: True)
    bundle = explorable._repr_mimebundle_()
    assert bundle[live.VIEW]["model_id"]
    assert bundle["text/plain"] == say(1, "one")


@pytest.mark.bug(id="B21")
def test_the_stored_figure_has_picture_sentence_and_alt():
    text = stored.mimebundle(explorable)["text/html"]
    words = html.escape(say(1, "one"))
    assert f'alt="{words}"' in text
    assert f"<figcaption>{words}</figcaption>" in text
    assert re.search(r'src="data:image/png;base64,iVBOR[\w+/=]+"', text)
    assert 'data-explorable="test-live"' in text


def test_a_checkbox_is_a_checkbox():
    switch = Explorable(
        "test-live-switch",
        lambda scaled: draw(1, "on" if scaled else "off"),
        lambda scaled: f"Scaled: {scaled}.",
        Slider("scaled", [False, True], True),
    )
    shown = live.LiveExplorable(switch)
    assert isinstance(shown.controls["scaled"], ipywidgets.Checkbox)
    shown.controls["scaled"].value = False
    assert ">off 1.00</text>" in shown.picture.value
