"""Every refusal of a slider and an explorable, word for word."""

import re

import pytest
from matplotlib.figure import Figure

from utils.explore import Explorable, Slider, find, frames, picture


def slider(*args, name="x", **how):
    return lambda: Slider(name, *args, **how)


SLIDERS = [
    (
        slider([1], name="no name"),
        "a slider's name must be a Python name, got 'no name'",
    ),
    (slider([1], name=3), "a slider's name must be a Python name, got 3"),
    (
        slider({"a": [1]}),
        "slider 'x': values by the value of another slider need both a dict "
        "and given=, got given=None",
    ),
    (
        slider([1], given="y"),
        "slider 'x': values by the value of another slider need both a dict "
        "and given=, got given='y'",
    ),
    (
        slider("abc"),
        "slider 'x': values must be a sequence of values, got the text 'abc'",
    ),
    (slider([]), "slider 'x' has no values"),
    (slider([1, 2, 1.0]), "slider 'x': the value '1' comes twice"),
    (
        slider([1, "a"]),
        "slider 'x': values must be all bool, all numbers or all str, got "
        "[(1, 'a')]",
    ),
    (
        slider([None]),
        "slider 'x': values must be all bool, all numbers or all str, got "
        "[(None,)]",
    ),
    (
        slider([True]),
        "slider 'x': on and off need both False and True, got [(True,)]",
    ),
    (slider([1, 2], texts=["one"]), "slider 'x': 1 texts for 2 values"),
    (
        slider([1, 2], 3),
        "slider 'x': start 3 is not among its values [1, 2]",
    ),
    (
        lambda: Slider("x", {"a": [1]}, given="y").values("b"),
        "slider 'x' has no values for y = 'b', only for ['a']",
    ),
]


@pytest.mark.parametrize(
    ("call", "words"), SLIDERS, ids=[words[:40] for _, words in SLIDERS]
)
def test_a_sliders_refusal_is_whole(call, words):
    with pytest.raises(ValueError, match=rf"\A{re.escape(words)}\Z"):
        call()


NAME = "test-refusals"


def draw(**values):
    return Figure(figsize=(1, 1))


def say(**values):
    return "Said."


@pytest.fixture
def item():
    """One with a slider; made again in each test, as a reload would."""

    def draw_again(x):
        return "a picture" if x == 2 else Figure(figsize=(1, 1))

    return Explorable(NAME, draw_again, lambda x: " ", Slider("x", [1, 2]))


EXPLORABLES = [
    (
        lambda: Explorable("a_b", draw, say),
        "an explorable's name must be lower case words joined by hyphens, "
        "got 'a_b'",
    ),
    (
        lambda: Explorable("test-bad", draw, say, Slider("a", range(1001))),
        "explorable 'test-bad' has more than 1000 states, and the page would "
        "not stay light: give a slider fewer values",
    ),
    (
        # a thousand million: refused before they are built
        lambda: Explorable(
            "test-bad", draw, say, *(Slider(n, range(1000)) for n in "abc")
        ),
        "explorable 'test-bad' has more than 1000 states, and the page would "
        "not stay light: give a slider fewer values",
    ),
    (
        lambda: Explorable("test-bad", draw, say, "a"),
        "explorable 'test-bad': 'a' is not a Slider",
    ),
    (
        lambda: Explorable(
            "test-bad", draw, say, Slider("a", [1]), Slider("a", [2])
        ),
        "explorable 'test-bad': two sliders are named 'a'",
    ),
    (
        lambda: Explorable(
            *("test-bad", draw, say),
            Slider("a", [1, 3, 2]),
            Slider("b", {1: [1]}, given="a"),
        ),
        "explorable 'test-bad': slider 'b' has no values for a = [2, 3]",
    ),
    (
        lambda: Explorable(
            "test-bad", draw, say, Slider("b", {1: [1]}, given="a")
        ),
        "explorable 'test-bad': slider 'b' is given 'a', which is not an "
        "independent slider before it",
    ),
    (
        lambda: Explorable(
            *("test-bad", draw, say),
            Slider("a", [1]),
            Slider("b", {1: [1]}, given="a"),
            Slider("c", {1: [1]}, given="b"),
        ),
        "explorable 'test-bad': slider 'c' is given 'b', which is not an "
        "independent slider before it",
    ),
    (
        lambda: find(NAME).index(y=1, x=1),
        f"explorable '{NAME}' takes ['x'], got ['x', 'y']",
    ),
    (
        lambda: find(NAME).index(x=3),
        f"explorable '{NAME}' has no state {{'x': 3}}",
    ),
    (
        lambda: find(NAME).svg(x=2),
        f"explorable '{NAME}': draw must return a matplotlib Figure, got "
        "'a picture' for {'x': 2}",
    ),
    (
        lambda: find(NAME).sentence(x=1),
        f"explorable '{NAME}': say must return a sentence, got ' ' for "
        "{'x': 1}",
    ),
    (
        lambda: Explorable(NAME, draw, say),
        f"two explorables are named '{NAME}': one in {__name__}, one in "
        f"{__name__}",
    ),
    (
        lambda: frames._draw_chunk(__name__, NAME, range(2)),
        f"explorable '{NAME}' failed at {{'x': 1}}: ValueError: explorable "
        f"'{NAME}': say must return a sentence, got ' ' for {{'x': 1}}",
    ),
    (
        lambda: picture.tree("<svg>" + "x" * 99),
        "not a picture: no element found: line 1, column 104: '<svg>"
        + "x" * 55
        + "'",
    ),
]


@pytest.mark.parametrize(
    ("call", "words"),
    EXPLORABLES,
    ids=[words[:40] + words[-20:] for _, words in EXPLORABLES],
)
def test_an_explorables_refusal_is_whole(item, call, words):
    with pytest.raises(ValueError, match=rf"\A{re.escape(words)}\Z"):
        call()


def test_an_unknown_name_comes_with_those_that_are_known(item):
    words = r"\Ano explorable is named 'nobody'; known: \[.*'test-refusals'"
    with pytest.raises(ValueError, match=words):
        find("nobody")


def test_an_explorable_says_what_it_is(item):
    assert repr(item) == f"<Explorable '{NAME}', 2 states>"
