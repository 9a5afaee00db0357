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


@pytest.fixture(scope="module")
def text():
    frames = Frames('<svg viewBox="0 0 1 1"></svg>', NASTY, "", "k")
    return markup.figure_html(explorable, frames, "x.js?v=k")


@pytest.fixture(scope="module")
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
