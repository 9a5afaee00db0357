"""The softmax chapter's pictures show what the helper computes."""

import re
from decimal import Context, Decimal

import numpy as np
import pytest
from matplotlib.patches import Rectangle

from tests.figures import draw, shown, states, texts
from utils.attention import softmax
from utils.explore import palette
from utils.figures import softmax as chapter

ROW = np.array([1.2, 2.5, 1.0, 2.0])
WEIGHTS = [0.1296, 0.4757, 0.1061, 0.2885]
TOKENS = ["The", "developer", "deployed", "application"]


def by_hand(scores):
    """The textbook formula, in the widest float there is."""
    exponentials = np.exp(np.asarray(scores, np.longdouble))
    return (exponentials / exponentials.sum()).astype(float)


def said_weights(sentence):
    """The four weights as a sentence gives them, by token."""
    found = re.search(
        r"The (\S+), developer (\S+), deployed (\S+) and application (\S+)\.",
        sentence,
    )
    return list(found.groups())


def said_list(sentence, words):
    """The list of numbers that follows some words of a sentence."""
    found = re.search(
        rf"{words} (\S+), (\S+), (\S+) and ([^\s,]+?)[,.]? ", sentence + " "
    )
    return list(found.groups())


# --- the facts -------------------------------------------------------------


def test_fact_A10_softmax_of_the_documents_row():
    assert chapter.ROW == (1.2, 2.5, 1.0, 2.0)
    np.testing.assert_allclose(softmax(chapter.ROW), WEIGHTS, atol=5e-5)
    np.testing.assert_allclose(by_hand(ROW), WEIGHTS, atol=5e-5)
    printed = said_weights(
        chapter.temperature.sentence(temperature=1, score=2.5)
    )
    np.testing.assert_allclose(list(map(float, printed)), WEIGHTS, atol=5e-4)
    assert f"{softmax(chapter.ROW)[1]:.2f}" == "0.48"  # the document: 0.47


def test_fact_A11_each_row_is_shared_out_and_developer_gets_most():
    figure = draw(chapter.axis, {"axis": "row", "score": 2.5})
    weights = alphas(figure.axes[1])
    assert (weights >= 0).all()
    np.testing.assert_allclose(weights.sum(axis=1), 1, atol=1e-12)
    np.testing.assert_allclose(weights[2], softmax(ROW), atol=1e-12)
    assert chapter.TOKENS[weights[2].argmax()] == "developer"
    assert list(chapter.TOKENS) == TOKENS


# --- shift -----------------------------------------------------------------


@states(chapter.shift)
def test_shift_says_the_exponentials_and_the_unchanged_weights(state):
    sentence = chapter.shift.sentence(**state)
    exponentials = np.exp(ROW + state["shift"])
    assert said_list(sentence, "are") == [f"{e:.2f}" for e in exponentials]
    assert f"with sum {exponentials.sum():.2f}. " in sentence
    assert said_weights(sentence) == shown(by_hand(ROW))
    sign = "−" if state["shift"] < 0 else "+"
    moved = f"every score {sign} {abs(state['shift']):g} are"
    assert (moved in sentence) is (state["shift"] != 0)


@states(chapter.shift)
def test_shift_draws_columns_up_to_exp_and_a_strip_that_stays(state):
    top, strip = draw(chapter.shift, state).axes
    scores = ROW + state["shift"]
    curve, points = top.lines
    np.testing.assert_allclose(curve.get_ydata(), np.exp(curve.get_xdata()))
    np.testing.assert_allclose(points.get_xdata(), scores)
    np.testing.assert_allclose(points.get_ydata(), np.exp(scores))
    columns = np.array(list(top.collections[0].get_segments()))
    np.testing.assert_allclose(columns[:, 1, 0], scores)
    np.testing.assert_allclose(columns[:, :, 1].T, [[0] * 4, np.exp(scores)])
    assert (np.exp(scores) < top.get_ylim()[1]).all()
    for score, exponential in zip(scores, np.exp(scores), strict=True):
        (label,) = [
            text
            for text in top.texts
            if getattr(text, "xy", None) == (score, exponential)
        ]
        assert label.get_text() == f"{exponential:.2f}"

    widths = [patch.get_width() for patch in strip.patches]
    starts = [patch.get_x() for patch in strip.patches]
    np.testing.assert_allclose(widths, by_hand(ROW))
    np.testing.assert_allclose(starts, np.cumsum([0, *widths[:-1]]))
    assert strip.get_xlim() == (0, 1)
    assert texts(strip)[::2] == shown(by_hand(ROW))
    assert texts(strip)[1::2] == TOKENS


# --- temperature -----------------------------------------------------------


def row_with(score):
    return np.array([1.2, score, 1.0, 2.0])


@states(chapter.temperature)
def test_temperature_says_the_weights(state):
    sentence = chapter.temperature.sentence(**state)
    weights = by_hand(row_with(state["score"]) / state["temperature"])
    assert said_weights(sentence) == shown(weights)
    score = f"{state['score']:g}".replace("-", "−")
    assert f"temperature {state['temperature']:g}, " in sentence
    assert f"score of {score} for developer" in sentence


@states(chapter.temperature, 7)
def test_temperature_draws_bars_as_high_as_the_weights(state):
    (axes,) = draw(chapter.temperature, state).axes
    scores = row_with(state["score"])
    weights = by_hand(scores / state["temperature"])
    reference, bars = axes.containers
    heights = [bar.get_height() for bar in bars]
    np.testing.assert_allclose(heights, weights, atol=1e-12)
    behind = [bar.get_height() for bar in reference]
    np.testing.assert_allclose(behind, by_hand(scores), atol=1e-12)
    found = texts(axes)
    assert found[:4] == shown(weights)
    for text, bar in zip(axes.texts[:4], bars, strict=True):
        assert text.get_position()[1] > bar.get_height()
        middle = bar.get_x() + bar.get_width() / 2
        assert text.get_position()[0] == pytest.approx(middle)
    for head, row in (
        ("score", scores),
        (None, scores / state["temperature"]),
    ):
        place = found.index(head or f"÷ {state['temperature']:g}")
        numbers = [t.replace("−", "-") for t in found[place + 1 : place + 5]]
        np.testing.assert_allclose(list(map(float, numbers)), row, rtol=1e-4)


def test_temperature_always_has_the_scale_from_0_to_1():
    for state in chapter.temperature.states()[::20]:
        (axes,) = draw(chapter.temperature, state).axes
        assert axes.get_ylim() == (0, 1.1)
        assert list(axes.get_yticks()) == [0, 0.25, 0.5, 0.75, 1]


def test_the_state_that_other_pages_link_to():
    chapter.temperature.index(temperature=0.5, score=3)
    start = chapter.temperature.start()
    assert start == {"temperature": 1, "score": 2.5}


def test_no_weight_above_0_is_shown_as_0():
    sentence = chapter.temperature.sentence(temperature=0.1, score=6)
    assert said_weights(sentence) == ["<0.001", ">0.999", "<0.001", "<0.001"]


# --- overflow --------------------------------------------------------------


def step_by_step(number, subtract, shift):
    """The steps of softmax on plain NumPy scalars of one type, one by one."""
    kind = np.dtype(number).type
    with np.errstate(all="ignore"):
        scores = [kind(float(score) + shift) for score in ROW]
        if subtract:
            largest = max(scores)
            scores = [score - largest for score in scores]
        exponentials = [kind(np.exp(np.float64(score))) for score in scores]
        total = kind(sum(map(float, exponentials)))
        return scores, exponentials, total, [e / total for e in exponentials]


def plain(text):
    """A number as a figure writes it, as Python reads it: 3×10³⁸, −2."""
    raised = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹−", "-0123456789-")
    return text.replace("×10", "e").translate(raised)


def as_number(text):
    return float(plain(text))


def check_size(text, value):
    """A number in a figure is the value to the digits it has room for."""
    if np.isfinite(value) and value > 0:
        digit = 0.5 if "×" in text else 0.005
        assert as_number(text) == pytest.approx(float(value), rel=digit)
    else:
        assert as_number(text) == value


@states(chapter.overflow)
def test_the_steps_in_each_type_are_those_of_numpy(state):
    found = chapter.softmax_in(
        state["number"], ROW + state["shift"], state["subtract"]
    )
    for array, expected in zip(found, step_by_step(**state), strict=True):
        assert np.asarray(array).dtype == state["number"]
        np.testing.assert_array_equal(array, expected)


@states(chapter.overflow)
def test_overflow_says_what_each_step_gives(state):
    sentence = chapter.overflow.sentence(**state)
    _, exponentials, total, weights = step_by_step(**state)
    assert sentence.startswith(f"In {state['number']}, ")
    assert ("the maximum" in sentence) is state["subtract"]
    said = said_list(sentence, "are")
    for text, value in zip(said, exponentials, strict=True):
        check_size(text, value)
    check_size(re.search(r"with sum (\S+),", sentence)[1], total)
    for text, value in zip(said_weights(sentence), weights, strict=True):
        if 0.0005 < value < 0.9995:
            assert text == f"{value:.3f}"
        else:
            np.testing.assert_equal(as_number(text), float(value))
    good = np.allclose(weights, WEIGHTS, atol=1.1e-3)
    assert ("It works" in sentence) is good
    assert ("NaN, not a number" in sentence) is bool(np.isnan(weights).any())
    quiet = not np.isnan(weights).any() and np.isinf(total)
    assert ("every weight is 0" in sentence) is bool(quiet)
    assert ("a weight is off by" in sentence) is (
        not good and not quiet and not np.isnan(weights).any()
    )
    if "off by" in sentence:
        error = np.abs(np.array(weights, float) - by_hand(ROW)).max()
        assert sentence.endswith(f"off by {error:.3f}.")


@states(chapter.overflow, 4)
def test_overflow_draws_each_number_at_its_place_on_the_ladder(state):
    (axes,) = draw(chapter.overflow, state).axes
    scores, exponentials, total, weights = step_by_step(**state)
    exact = np.array(scores, float)
    above = exact.max()
    logs = [*exact, above + np.log(np.exp(exact - above).sum())]
    assert len(axes.lines) == 5
    for line, log, value in zip(
        axes.lines, logs, [*exponentials, total], strict=True
    ):
        (y,) = line.get_ydata()
        assert y == pytest.approx(np.arcsinh(log / np.log(10)), abs=1e-9)
        lost = value == 0 or np.isinf(value)
        assert line.get_marker() == ("X" if lost else "o")
        assert line.get_color() == (palette.OTHER if lost else palette.WEIGHT)
    low, high = (
        np.arcsinh(np.log10(float(edge)))
        for edge in (
            np.nextafter(
                np.zeros(1, state["number"]), 1, dtype=state["number"]
            )[0],
            np.finfo(state["number"]).max,
        )
    )
    bottom, top = [patch.get_bbox() for patch in axes.patches]
    assert bottom.y1 == pytest.approx(low, abs=2e-3)
    assert top.y0 == pytest.approx(high, abs=2e-3)
    found = texts(axes)
    table = {
        head: found[found.index(head) + 1 : found.index(head) + 6]
        for head in ("exponent", "exp", "weight")
    }
    for text, value in zip(table["exponent"], scores, strict=False):
        assert as_number(text) == pytest.approx(
            float(value), rel=1e-4, abs=1e-4
        )
    for text, value in zip(table["exp"], [*exponentials, total], strict=True):
        check_size(text, value)
    sum_of_weights = sum(map(float, weights))
    np.testing.assert_allclose(
        as_number(table["weight"][4]), sum_of_weights, atol=5e-4
    )
    assert axes.get_title(loc="left")[2:] in chapter.overflow.sentence(**state)


def test_the_ladder_names_the_ends_of_each_type():
    for number, ends in chapter.LADDER.items():
        info = np.finfo(number)
        exact = (info.smallest_subnormal, info.max)
        for (power, text), end in zip(ends.items(), exact, strict=True):
            end = Decimal(float(end))
            assert float(end.log10()) == pytest.approx(power, abs=0.005)
            digits = len(re.match(r"[\d.]+", text)[0].replace(".", ""))
            assert Decimal(plain(text)) == Context(prec=digits).plus(end)


def test_subtracting_the_maximum_cures_overflow_but_not_rounding():
    for state in chapter.overflow.states():
        works = "It works" in chapter.overflow.sentence(**state)
        if state["subtract"] and state["number"] != "float16":
            assert works, state
        if state["shift"] == 1000 and not state["subtract"]:
            assert not works, state
    rounded = {"number": "float16", "subtract": True, "shift": 1000}
    assert "off by 0.021" in chapter.overflow.sentence(**rounded)


def test_the_quiet_failure_of_which_the_chapter_warns():
    sentence = chapter.overflow.sentence(
        number="float32", subtract=False, shift=86
    )
    assert said_weights(sentence) == ["0"] * 4
    assert "the sum is inf" in sentence


# --- rows and columns ------------------------------------------------------


def scores_and_weights(axis, score):
    scores = np.array(
        [[1.5, 0.5, -0.5, 0], [0.5, 1, 2, -1], ROW, [-1, 0.5, 2.5, 1]]
    )
    scores[2, 1] = score
    rows = scores if axis == "row" else scores.T
    weights = np.array([by_hand(row) for row in rows])
    return scores, weights if axis == "row" else weights.T


def alphas(axes):
    """The opacity of each filled cell, as a matrix."""
    found = np.full((4, 4), np.nan)
    for patch in axes.patches:
        if isinstance(patch, Rectangle) and patch.get_alpha() is not None:
            assert (
                "#"
                + "".join(
                    f"{round(255 * part):02x}"
                    for part in patch.get_facecolor()[:3]
                )
                == palette.WEIGHT
            )
            found[int(patch.get_y()), int(patch.get_x())] = patch.get_alpha()
    return found


@states(chapter.axis)
def test_axis_says_the_sums_of_rows_and_columns(state):
    sentence = chapter.axis.sentence(**state)
    _, weights = scores_and_weights(**state)
    rows = [f"{total:.3f}" for total in weights.sum(axis=1)]
    columns = [f"{total:.3f}" for total in weights.sum(axis=0)]
    assert said_list(sentence, "rows of weights sum to") == rows
    assert said_list(sentence, "columns to") == columns
    assert f"softmax of each {state['axis']}," in sentence


@pytest.mark.bug(id="A08")
@pytest.mark.bug(id="A40")
@states(chapter.axis)
def test_axis_draws_scores_weights_and_sums(state):
    top, low = draw(chapter.axis, state).axes
    scores, weights = scores_and_weights(**state)
    np.testing.assert_allclose(alphas(low), weights, atol=1e-12)
    for axes, matrix in ((top, scores), (low, weights)):
        cells = {text.get_position(): text.get_text() for text in axes.texts}
        for (i, j), value in np.ndenumerate(matrix):
            text = cells[j + 0.5, i + 0.5]
            if axes is low:
                assert text == shown([value])[0]
            else:
                assert as_number(text) == value
    for i in range(4):
        total = weights[i].sum()
        mark = "✓" if abs(total - 1) < 1e-9 else "✗"
        assert cells[4.1, i + 0.5] == f"{total:.3f} {mark}"
        assert cells[i + 0.5, 4.45] == f"{weights[:, i].sum():.3f}"


def test_the_outline_holds_every_weight_that_the_score_moves():
    for axis in ("row", "column"):
        before, after = (
            draw(chapter.axis, {"axis": axis, "score": score}).axes[1]
            for score in (-4, 6)
        )
        outline = after.patches[-1].get_bbox()
        moved = np.argwhere(np.abs(alphas(after) - alphas(before)) > 1e-9)
        expected = {
            (i, j)
            for i in range(int(outline.y0), int(outline.y1))
            for j in range(int(outline.x0), int(outline.x1))
        }
        assert {tuple(map(int, place)) for place in moved} == expected
        assert len(expected) == 4
