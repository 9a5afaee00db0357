"""The figure's HTML: native controls, labels, and nothing unescaped."""

import json
import re
from html.parser import HTMLParser

import pytest
from matplotlib.figure import Figure

from utils.explore import Explorable, Slider, markup
from utils.explore.frames import Frames

NASTY = "</script><b>\"'&é שלום 🙂"


def draw(**values):
    return Figure(figsize=(1, 1))


explorable = Explorable(
    "test-markup",
    draw,
    lambda **values: NASTY,
    Slider("layer", [0, 1, 2], 1, label=NASTY, texts=["a", NASTY, "c"]),
    Slider("word", ["bank", NASTY], "bank"),
    Slider("scaled", [False, True], True, label="scaled"),
    Slider("token", {0: [0], 1: [0, 1], 2: [2]}, given="layer", play=True),
)


class Reader(HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.tags, self.texts = [], []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))

    def handle_data(self, data):
        self.texts.append(data)

    def all(self, tag):
        return [attributes for name, attributes in self.tags if name == tag]


@pytest.fixture
def text():
    frames = Frames('<svg viewBox="0 0 1 1"></svg>', NASTY, "", "k")
    return markup.figure_html(explorable, frames, "x.js?v=k")


@pytest.fixture
def page(text):
    return Reader(text)


def test_each_kind_has_its_native_control(page):
    kinds = [a.get("type") for a in page.all("input")]
    assert kinds == ["range", "checkbox", "range"]
    assert len(page.all("select")) == 1


def test_every_control_has_a_label(page):
    labelled = {a["for"] for a in page.all("label")}
    controls = page.all("input") + page.all("select")
    assert {a["id"] for a in controls} == labelled


def test_controls_start_at_the_start(page):
    layer, scaled, token = page.all("input")
    assert (layer["min"], layer["max"], layer["value"]) == ("0", "2", "1")
    assert layer["aria-valuetext"] == NASTY
    assert "checked" in scaled
    assert (token["max"], token["value"]) == ("1", "0")
    assert [a.get("value") for a in page.all("option")] == ["bank", NASTY]


def test_controls_wait_for_javascript(page):
    assert "hidden" in page.all("form")[0]


def test_the_picture_is_named_by_its_sentence(page):
    svg, caption = page.all("svg")[0], page.all("figcaption")[0]
    assert svg["role"] == "img"
    assert svg["aria-labelledby"] == caption["id"]
    assert caption["aria-live"] == "polite"


def test_words_are_shown_as_words(text, page):
    assert "<b>" not in text
    assert page.all("b") == []
    assert text.count("</script>") == 1
    assert NASTY in page.texts


def test_the_script_knows_every_option(text):
    config = json.loads(
        re.search(r'application/json">(.*?)</script>', text, re.S)[1]
    )
    assert config["script"] == "x.js?v=k"
    assert config["start"] == {
        "layer": "1",
        "word": "bank",
        "scaled": "on",
        "token": "0",
    }
    layer, word, _, token = config["sliders"]
    assert layer["options"][1] == ["1", NASTY]
    assert word["options"] == [["bank", "bank"], [NASTY, NASTY]]
    assert token["given"] == "layer"
    assert token["options"]["1"] == [["0", "0"], ["1", "1"]]
    assert token["starts"] == {"0": "0", "1": "0", "2": "2"}


def test_only_a_slider_that_runs_like_time_can_play(page):
    plays = [a["data-plays"] for a in page.all("button") if "data-plays" in a]
    assert plays == ["token"]


def test_without_sliders_there_are_no_controls():
    plain = Explorable("test-markup-plain", lambda: draw(), lambda: "Said.")
    frames = Frames("<svg ></svg>", "Said.", "", "k")
    page = Reader(markup.figure_html(plain, frames, "x.js"))
    assert page.all("form") == page.all("script") == []


def whole(name, *sliders):
    """The HTML of a small figure, and what its script is told."""
    item = Explorable(name, draw, lambda **values: "Said.", *sliders)
    frames = Frames('<svg viewBox="0 0 1 1"><svg /></svg>', "Said.", "", "k")
    html = markup.figure_html(item, frames, "x.js")
    head, _, rest = html.partition('<script type="application/json">')
    config, _, end = rest.partition("</script>")
    return head, config and json.loads(config), end


FRAME = """\
<figure class="explorable" id="{name}"{moves} data-module="{module}">
<div class="explorable-picture">\
<svg role="img" aria-labelledby="{name}--said" \
viewBox="0 0 1 1"><svg /></svg></div>
{controls}<figcaption id="{name}--said" aria-live="polite">Said.</figcaption>
"""
FORM = """\
<form class="explorable-controls" aria-label="{name}: controls" \
autocomplete="off" hidden>
{rows}
<div class="explorable-buttons">\
<button type="button" class="explorable-reset">Reset</button>\
<button type="button" class="explorable-project" aria-pressed="false">\
Project</button>\
<button type="button" class="explorable-link">Copy link</button>\
<span class="explorable-note" role="status"></span></div>
</form>
"""
ROWS = [
    '<div class="explorable-range"><label for="{name}-x">x</label>'
    '<input type="range" id="{name}-x" name="x" min="0" max="2" step="1" '
    'value="1" aria-valuetext="one"><output for="{name}-x">one</output>'
    '<button type="button" class="explorable-play" data-plays="x" '
    'data-beat="900">Play</button></div>',
    '<div class="explorable-select"><label for="{name}-word">a word</label>'
    '<select id="{name}-word" name="word"><option value="bank">bank</option>'
    '<option value="river" selected>river</option></select></div>',
    '<div class="explorable-checkbox">'
    '<input type="checkbox" id="{name}-on" name="on" checked>'
    '<label for="{name}-on">on</label></div>',
    '<div class="explorable-checkbox">'
    '<input type="checkbox" id="{name}-off" name="off">'
    '<label for="{name}-off">off</label></div>',
]


def test_the_html_of_a_figure_is_what_the_page_needs_and_no_more():
    name = "test-markup-whole"
    head, config, end = whole(
        name,
        Slider("x", [0, 1, 2], 1, texts=["none", "one", "two"], play=True),
        Slider("word", ["bank", "river"], "river", label="a word"),
        Slider("on", [False, True], True),
        Slider("off", [False, True]),
    )
    rows = "\n".join(ROWS).format(name=name)
    controls = FORM.format(name=name, rows=rows)
    known = {"name": name, "module": __name__, "moves": " data-moves"}
    assert head == FRAME.format(controls=controls, **known)
    assert end == "\n</figure>"
    assert config == {
        "script": "x.js",
        "sliders": [
            {
                "name": "x",
                "kind": "range",
                "options": [["0", "none"], ["1", "one"], ["2", "two"]],
            },
            {
                "name": "word",
                "kind": "select",
                "options": [["bank", "bank"], ["river", "river"]],
            },
            {
                "name": "on",
                "kind": "checkbox",
                "options": [["off", "off"], ["on", "on"]],
            },
            {
                "name": "off",
                "kind": "checkbox",
                "options": [["off", "off"], ["on", "on"]],
            },
        ],
        "start": {"x": "1", "word": "river", "on": "on", "off": "off"},
    }


def test_a_figure_that_does_not_move_is_a_picture_and_its_sentence():
    name = "test-markup-still-whole"
    head, config, end = whole(name)
    known = {"name": name, "module": __name__, "moves": "", "controls": ""}
    assert head == FRAME.format(**known) + "</figure>"
    assert (config, end) == ("", "")


def test_a_slider_that_depends_has_a_table_for_each_value():
    given = {1: [5], 2: [6, 7]}
    _, config, _ = whole(
        "test-markup-given",
        Slider("layer", [1, 2], 2),
        Slider("token", given, {2: 7}, given="layer"),
    )
    assert config["start"] == {"layer": "2", "token": "7"}
    assert config["sliders"][1] == {
        "name": "token",
        "kind": "range",
        "given": "layer",
        "options": {"1": [["5", "5"]], "2": [["6", "6"], ["7", "7"]]},
        "starts": {"1": "5", "2": "7"},
    }


def test_the_scripts_words_are_short_and_in_their_own_letters():
    frames = Frames('<svg viewBox="0 0 1 1"></svg>', "", "", "k")
    html = markup.figure_html(explorable, frames, "x.js?v=k")
    assert '{"script":"x.js?v=k","sliders":[{"name":"layer",' in html
    assert "שלום 🙂" in html.partition("application/json")[2]


@pytest.mark.parametrize(
    ("steps", "beat"),
    [(2, 900), (13, 900), (14, 857), (80, 150), (81, 150), (1000, 150)],
)
def test_a_play_takes_twelve_seconds_if_it_can(steps, beat):
    assert markup._beat(steps) == beat
