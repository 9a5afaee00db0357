"""The explorable itself: its sliders, its states, what it refuses."""

import itertools

import numpy
import pytest
from matplotlib.figure import Figure

from utils.explore import Explorable, Slider, find
from utils.explore.slider import value_key

numbers = itertools.count()


def fresh_name():
    return f"test-explore-{next(numbers)}"


def draw_nothing(**values):
    return Figure(figsize=(1, 1))


def say_values(**values):
    return f"The values are {values}."


def explorable(*sliders, draw=None, say=say_values):
    # a new function object each time: the same one twice is refused
    def draw_afresh(**values):
        return (draw or draw_nothing)(**values)

    return Explorable(fresh_name(), draw_afresh, say, *sliders)


class TestSlider:
    @pytest.mark.parametrize(
        ("values", "kind"),
        [
            ([0.5, 1, 2], "range"),
            ([3], "range"),
            (["a", "b"], "select"),
            ([False, True], "checkbox"),
        ],
    )
    def test_the_kind_follows_from_the_values(self, values, kind):
        assert Slider("x", values).kind == kind

    @pytest.mark.parametrize(
        ("kwargs", "message"),
        [
            ({"name": "no name", "values": [1]}, "'no name'"),
            ({"values": []}, "no values"),
            ({"values": [1, 2, 1.0]}, "'1' comes twice"),
            ({"values": [1, "a"]}, "all bool, all numbers or all str"),
            ({"values": [None]}, "None"),
            ({"values": "abc"}, "'abc'"),
            ({"values": [True]}, "both False and True"),
            ({"values": [1, 2], "start": 3}, "start 3 is not among"),
            ({"values": ["a"], "start": "b"}, "start 'b' is not among"),
            ({"values": [1, 2], "texts": ["one"]}, "1 texts for 2 values"),
            ({"values": {"a": [1]}}, "given=None"),
            ({"values": [1], "given": "y"}, "given='y'"),
        ],
    )
    def test_it_refuses_what_cannot_be_shown(self, kwargs, message):
        with pytest.raises(ValueError, match=message):
            Slider(**{"name": "x", **kwargs})

    def test_numpy_numbers_are_plain_numbers(self):
        slider = Slider("x", numpy.linspace(0, 1, 3))
        assert [type(value) for value in slider.values()] == [float] * 3

    def test_a_negative_number_has_a_minus_sign_to_read(self):
        assert Slider("x", [-1.5]).options() == (("-1.5", "−1.5"),)

    def test_values_may_depend_on_an_earlier_slider(self):
        slider = Slider(
            "token",
            {"short": [0, 1], "long": [0, 1, 2]},
            {"long": 2},
            given="sentence",
            texts={"short": "ab", "long": "abc"},
        )
        assert slider.values("long") == (0, 1, 2)
        assert slider.start("long") == 2
        assert slider.start("short") == 0
        assert slider.options("short") == (("0", "a"), ("1", "b"))
        with pytest.raises(ValueError, match="sentence = 'none'"):
            slider.values("none")


@pytest.mark.parametrize(
    ("value", "key"),
    [(0.1 + 0.2, "0.3"), (1e-7, "1e-07"), (-2.0, "-2"), (False, "off")],
)
def test_a_value_has_one_key(value, key):
    assert value_key(value) == key


class TestExplorable:
    def test_states_run_with_the_last_slider_fastest(self):
        item = explorable(Slider("a", [1, 2]), Slider("b", ["x", "y"]))
        assert item.states() == (
            {"a": 1, "b": "x"},
            {"a": 1, "b": "y"},
            {"a": 2, "b": "x"},
            {"a": 2, "b": "y"},
        )
        assert item.index(a=2, b="x") == 2

    def test_dependent_states_are_only_those_that_exist(self):
        item = explorable(
            Slider("a", ["x", "y"], "y"),
            Slider("b", {"x": [1], "y": [1, 2, 3]}, {"y": 2}, given="a"),
        )
        assert len(item.states()) == 4
        assert item.start() == {"a": "y", "b": 2}

    def test_without_sliders_there_is_one_state(self):
        assert explorable().states() == ({},)

    @pytest.mark.parametrize("name", ["", "Big", "a b", "a--b", "1a", "a_b"])
    def test_a_malformed_name_is_refused(self, name):
        with pytest.raises(ValueError, match=f"got {name!r}"):
            Explorable(name, draw_nothing, say_values)

    def test_a_name_used_twice_is_refused(self):
        item = explorable()
        with pytest.raises(ValueError, match=f"are named {item.name!r}"):
            Explorable(item.name, draw_nothing, say_values)

    def test_the_same_draw_under_one_name_twice_is_refused(self):
        item = explorable()
        with pytest.raises(ValueError, match=f"are named {item.name!r}"):
            Explorable(item.name, item.draw, item.say)

    def test_a_reloaded_module_may_define_its_own_again(self):
        first = explorable()

        def draw_afresh(**values):
            return draw_nothing()

        draw_afresh.__qualname__ = first.draw.__qualname__
        second = Explorable(first.name, draw_afresh, say_values)
        assert find(first.name) is second

    def test_more_than_a_thousand_states_are_refused(self):
        explorable(Slider("a", range(1000)))
        with pytest.raises(ValueError, match="more than 1000 states"):
            explorable(Slider("a", range(1001)))

    def test_a_start_that_is_not_a_value_is_refused(self):
        with pytest.raises(ValueError, match="start 0.25 is not among"):
            explorable(Slider("a", [0.2, 0.3], 0.25))

    @pytest.mark.parametrize("drawn", [None, "a picture", object()])
    def test_a_draw_that_returns_no_figure_is_refused(self, drawn):
        item = explorable(Slider("a", [1, 2]), draw=lambda a: drawn)
        with pytest.raises(
            ValueError, match=f"{item.name!r}: draw must return .*{{'a': 2}}"
        ):
            item.svg(a=2)

    @pytest.mark.parametrize("said", [None, "", "  ", 3])
    def test_a_say_that_says_nothing_is_refused(self, said):
        item = explorable(say=lambda: said)
        with pytest.raises(ValueError, match=f"{item.name!r}: say must"):
            item.sentence()

    def test_two_sliders_of_one_name_are_refused(self):
        with pytest.raises(ValueError, match="two sliders are named 'a'"):
            explorable(Slider("a", [1]), Slider("a", [2]))

    def test_what_is_not_a_slider_is_refused(self):
        with pytest.raises(ValueError, match="'a' is not a Slider"):
            explorable("a")

    def test_a_slider_depends_only_on_one_before_it(self):
        later = Slider("b", {1: [1]}, given="a")
        with pytest.raises(ValueError, match="not an independent slider"):
            explorable(later, Slider("a", [1]))

    def test_a_dependent_slider_knows_every_case(self):
        with pytest.raises(ValueError, match=r"no values for a = \[2\]"):
            explorable(Slider("a", [1, 2]), Slider("b", {1: [1]}, given="a"))

    @pytest.mark.parametrize("values", [{}, {"a": 3}, {"a": 1, "b": 1}])
    def test_a_state_that_does_not_exist_is_refused(self, values):
        item = explorable(Slider("a", [1, 2]))
        with pytest.raises(ValueError, match=item.name):
            item.index(**values)

    def test_an_unknown_name_is_refused(self):
        with pytest.raises(ValueError, match="'nobody'"):
            find("nobody")


def test_a_slider_without_a_label_has_its_name_in_words():
    assert Slider("key_heads", [1, 2], 1).label == "key heads"
    assert Slider("key_heads", [1, 2], 1, label="K_h").label == "K_h"
