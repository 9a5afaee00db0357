"""The explorable in a kernel: every move redraws, every error is shown."""

import base64
import gc
import html
import re
import sys
from types import SimpleNamespace

import ipywidgets
import matplotlib.pyplot
import pytest
from matplotlib.figure import Figure

from utils.explore import Explorable, Slider, live, palette, stored


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
    assert shown.controls["scaled"].description == "scaled"
    shown.controls["scaled"].value = False
    assert ">off 1.00</text>" in shown.picture.value


def test_the_controls_are_as_wide_as_their_longest_label(shown):
    for name, label in (("temperature", "how hot"), ("word", "word")):
        control = shown.controls[name]
        assert control.description == label
        assert control.style.description_width == "4.4em"  # 0.55 * 7 + 0.5
        assert {
            key: getattr(control.layout, key)
            for key in ("width", "max_width", "height", "flex_flow")
        } == {
            "width": "36em",
            "max_width": "100%",
            "height": "auto",
            "flex_flow": "row wrap",
        }


def test_who_else_watches_a_control_goes_on_watching():
    item = Explorable(
        "test-live-watched",
        lambda **values: Figure(figsize=(1, 1)),
        str,
        Slider("x", [1, 2], 1),
        Slider("token", {1: [5], 2: [6, 7]}, {2: 7}, given="x"),
    )
    controls, seen = live.LiveExplorable(item).controls, []
    controls["token"].observe(
        lambda change: seen.append(change["new"]), names="value"
    )
    controls["x"].value = 2
    controls["token"].value = 6
    assert seen[-1] == 6


def test_a_control_starts_where_the_slider_does():
    item = Explorable(
        "test-live-starts",
        lambda **values: Figure(figsize=(1, 1)),
        str,
        Slider("x", [1, 2], 2),
        Slider("word", ["a", "b"], "b"),
        Slider("on", [False, True], True),
        Slider("token", {1: [5], 2: [6, 7]}, {2: 7}, given="x"),
    )
    controls = live.LiveExplorable(item).controls
    kinds = [type(control) for control in controls.values()]
    assert kinds == [
        ipywidgets.SelectionSlider,
        ipywidgets.Dropdown,
        ipywidgets.Checkbox,
        ipywidgets.SelectionSlider,
    ]
    values = [control.value for control in controls.values()]
    assert values == [2, "b", True, 7]
    assert controls["on"].indent is False
    assert controls["token"].options == (("6", 6), ("7", 7))


def test_the_view_is_controls_picture_and_sentence_in_one_box(shown):
    assert shown.box.children == (
        *shown.controls.values(),
        shown.picture,
        shown.sentence,
    )
    assert shown.explorable is explorable


def test_what_is_shown_is_this_html_and_no_other(shown):
    sentence = "At temperature 1 the word is “one” &amp; no other."
    svg = explorable.svg(temperature=1, word="one")
    assert shown.picture.value == (
        f"<style>{palette.css()}</style>"
        '<figure class="explorable" style="max-width:36em;margin:0">'
        f'<div role="img" aria-label="{sentence}">{svg}</div></figure>'
    )
    assert shown.sentence.value == (
        '<div role="status" aria-live="polite" style="max-width:36em;'
        f'line-height:1.5;margin-top:.5em">{sentence}</div>'
    )


def test_an_error_begins_in_the_readers_own_code(shown):
    shown.controls["temperature"].value = 3
    words = html.unescape(shown.picture.value)
    assert words.count('  File "') == 1


def test_an_error_is_shown_as_python_shows_it(shown):
    shown.controls["temperature"].value = 3
    words = html.unescape(shown.picture.value)
    assert words.startswith(
        '<pre role="alert">Traceback (most recent call last):\n  File "'
    )
    assert "test_live.py" in words
    assert words.endswith("RuntimeError: this <state> cannot be drawn\n</pre>")
    assert shown.sentence.value == ""


def test_the_stored_figure_is_this_html_and_no_other():
    state = explorable.start()
    png = base64.b64encode(explorable.png(**state)).decode()
    words = "At temperature 1 the word is “one” &amp; no other."
    assert stored.mimebundle(explorable) == {
        "text/plain": html.unescape(words),
        "text/html": (
            f'<figure data-explorable="test-live" data-module="{__name__}">'
            f'<img alt="{words}" width="576" '
            f'src="data:image/png;base64,{png}">'
            f"<figcaption>{words}</figcaption></figure>"
        ),
    }


def test_a_kernels_view_is_named_in_the_widgets_own_format(monkeypatch):
    monkeypatch.setattr(live, "_in_a_kernel", lambda: True)
    [(kind, view)] = live.mimebundle(explorable).items()
    assert kind == "application/vnd.jupyter.widget-view+json"
    assert re.fullmatch("[0-9a-f]{32}", view.pop("model_id"))
    assert view == {"version_major": 2, "version_minor": 0}


def test_a_figure_without_sliders_has_no_view(monkeypatch):
    monkeypatch.setattr(live, "_in_a_kernel", lambda: True)
    still = Explorable("test-live-still", lambda: Figure(), lambda: "Still.")
    assert live.mimebundle(still) == {}


@pytest.mark.parametrize("kernel", [None, object()])
def test_a_kernel_is_what_ipython_says(monkeypatch, kernel):
    import IPython

    shell = SimpleNamespace(kernel=kernel)
    monkeypatch.setattr(IPython, "get_ipython", lambda: shell)
    assert live._in_a_kernel() is (kernel is not None)
    monkeypatch.setattr(IPython, "get_ipython", SimpleNamespace)
    assert live._in_a_kernel() is False  # a shell in a terminal has none
    monkeypatch.setitem(sys.modules, "IPython", None)  # as if not installed
    assert live._in_a_kernel() is False
