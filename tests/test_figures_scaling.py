"""The scaling chapter's pictures show what the experiment measures."""

import re

import numpy as np
import pytest

from tests.figures import draw, shown, states, texts
from utils import trained
from utils.attention import attention_scores, scaled_scores, softmax
from utils.figures import scaling as chapter

HEADS = ["L0H2", "L0H4", "L2H8", "L4H4", "L5H4", "L5H7", "L5H11"]


def as_number(text):
    """A number as a figure writes it, as Python reads it: 3×10³⁸, −2."""
    raised = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹−", "-0123456789-", ",")
    return float(text.replace("×10", "e").translate(raised))


def close(text, value):
    """A text is the value to the digits it has room for."""
    rel = 0.5 if "×" in text else 0.005
    assert as_number(text) == pytest.approx(float(value), rel=rel, abs=5.1e-3)


def by_hand(scores):
    exponentials = np.exp(np.asarray(scores, np.longdouble))
    return (exponentials / exponentials.sum()).astype(float)


def divided_by(name, d_k, heads=8):
    return {
        "nothing": 1,
        "root": np.sqrt(d_k),
        "d_k": d_k,
        "d_model": np.sqrt(heads * d_k),
    }[name]


def full_jacobian(w):
    return np.diag(w) - np.outer(w, w)


# --- the facts -------------------------------------------------------------


@pytest.mark.bug(id="A10")
def test_fact_A08_the_divisor_for_64_is_8():
    assert chapter.divisor("root", 64) == 8
    np.testing.assert_array_equal(
        scaled_scores(np.ones((1, 64)), np.ones((1, 64))), [[64 / 8]]
    )
    sentence = chapter.curves.sentence(d_k=64, heads=8)
    assert "Divided by √dₖ = 8: " in sentence


@pytest.mark.bug(id="A10")
def test_fact_A09_the_divisors_differ_as_the_chapter_says():
    sizes = np.array(chapter.DIMENSIONS)
    nothing, root, length, model = map(chapter.measured, chapter.DIVISORS)
    np.testing.assert_allclose(nothing["variance"], sizes, rtol=0.1)
    np.testing.assert_allclose(root["variance"], 1, atol=0.1)
    np.testing.assert_allclose(length["variance"], 1 / sizes, rtol=0.1)
    np.testing.assert_allclose(model["variance"], 1 / 8, rtol=0.1)
    assert (np.diff(nothing["keys"]) < 0).all()
    assert nothing["keys"][-1] < 1.001
    assert nothing["gradient"][-1] < 1e-5 < 0.3 < nothing["gradient"][0]
    assert np.ptp(root["keys"][3:]) < 0.15
    assert np.ptp(root["gradient"]) < 0.03
    assert length["keys"][-1] > 7.99


# --- the experiment --------------------------------------------------------


def test_a_score_is_the_dot_product_of_first_entries():
    rng = np.random.default_rng(0)
    q = rng.standard_normal((100, 1, 1024))
    k = rng.standard_normal((100, 8, 1024))
    scores = chapter.random_scores()
    assert scores.shape == (11, 2000, 8)
    for i, d_k in enumerate(chapter.DIMENSIONS):
        for query in (0, 57, 99):
            np.testing.assert_allclose(
                scores[i, query],
                k[query, :, :d_k] @ q[query, 0, :d_k],
                atol=1e-10,
            )


def test_the_experiment_cannot_be_changed_by_who_reads_it():
    with pytest.raises(ValueError, match="read-only"):
        chapter.random_scores()[0] = 0


@pytest.mark.parametrize("name", chapter.DIVISORS)
@pytest.mark.parametrize("heads", [1, 8])
def test_measured_is_the_median_over_rows_one_by_one(name, heads):
    i = 5  # d_k = 32
    scores = chapter.random_scores()[i] / divided_by(name, 32, heads)
    keys, norms = [], []
    for row in scores:
        w = by_hand(row)
        keys.append(np.prod(w[w > 0] ** -w[w > 0]))
        norms.append(np.sqrt((full_jacobian(w) ** 2).sum()))
    found = chapter.measured(name, heads)
    assert found["variance"][i] == pytest.approx(scores.var())
    assert found["keys"][i] == pytest.approx(np.median(keys))
    assert found["gradient"][i] == pytest.approx(np.median(norms), rel=1e-6)


def test_the_gradient_norm_keeps_its_digits_near_1():
    w = np.array([1.0, 1e-20])
    assert chapter.gradient_norm(w) == pytest.approx(2e-20, rel=1e-12)
    assert chapter.gradient_norm([1.0, 0.0]) == 0


def test_the_row_shown_is_a_typical_one():
    row = chapter.typical_row()
    for name in ("nothing", "root"):
        for i, d_k in enumerate(chapter.DIMENSIONS):
            scores = chapter.random_scores()[i, row] / divided_by(name, d_k)
            keys = chapter.effective_keys(by_hand(scores))
            median = chapter.measured(name)["keys"][i]
            assert abs(keys - median) < 1.2, (name, d_k)


# --- row -------------------------------------------------------------------


def row_scores(d_k, divide_by):
    i = chapter.DIMENSIONS.index(d_k)
    everyone = chapter.random_scores()[i]
    by = divided_by(divide_by, d_k)
    raw = everyone[chapter.typical_row()]
    return raw, raw / by, everyone / by


@states(chapter.row)
def test_row_says_spread_weights_and_gradient(state):
    sentence = chapter.row.sentence(**state)
    _, scores, everyone = row_scores(**state)
    weights = by_hand(scores)
    found = re.match(
        r"With dₖ = ([\d,]+) and scores divided by .+?, 95% of all scores "
        r"lie between (\S+) and (\S+), their variance is (\S+)\. In this row "
        r"the largest weight is (\S+), the row is as undecided as (\S+) "
        r"equal keys, and the gradient of softmax has norm (\S+)\.$",
        sentence,
    ).groups()
    assert as_number(found[0]) == state["d_k"]
    for text, edge in zip(found[1:3], (2.5, 97.5), strict=True):
        close(text, np.percentile(everyone, edge))
    close(found[3], everyone.var())
    assert found[4] == shown([weights.max()])[0]
    entropy = -(weights * np.log(np.maximum(weights, 1e-300))).sum()
    close(found[5], np.exp(entropy))
    close(found[6], np.linalg.norm(full_jacobian(weights)))


@states(chapter.row, 5)
def test_row_draws_scores_over_their_weights(state):
    top, low = draw(chapter.row, state).axes
    raw, scores, everyone = row_scores(**state)
    np.testing.assert_allclose(np.sinh(top.lines[-1].get_ydata()), scores)
    stems = np.array(top.collections[-1].get_segments())
    np.testing.assert_allclose(np.sinh(stems[:, 1, 1]), scores)
    for patch, edge in zip(top.patches, (2.5, 25), strict=True):
        box = patch.get_bbox()
        ends = np.percentile(everyone, [edge, 100 - edge])
        np.testing.assert_allclose(np.sinh([box.y0, box.y1]), ends)
    assert top.get_ylim() == (-5.6, 5.6)
    assert np.abs(np.arcsinh(scores)).max() < 5.6
    for tick in top.get_yticklabels():
        place = np.sinh(tick.get_position()[1])
        assert place == pytest.approx(as_number(tick.get_text()))
    assert low.get_ylim() == (0, 1.12)
    heights = [bar.get_height() for bar in low.containers[0]]
    np.testing.assert_allclose(heights, by_hand(scores), atol=1e-12)
    found = texts(low)
    assert found[:8] == shown(by_hand(scores))
    for head, values in (("score", raw), ("divided", scores)):
        place = found.index(head)
        for text, value in zip(
            found[place + 1 : place + 9], values, strict=True
        ):
            assert as_number(text) == pytest.approx(value, abs=0.051)


# --- curves ----------------------------------------------------------------


@states(chapter.curves)
def test_curves_says_three_numbers_for_each_divisor(state):
    sentence = chapter.curves.sentence(**state)
    i = chapter.DIMENSIONS.index(state["d_k"])
    parts = re.findall(
        r"Divided by (.+?): variance (\S+), effective number of keys (\S+), "
        r"gradient (\S+)\.(?: |$)",
        sentence,
    )
    assert len(parts) == 4
    for name, (by, *numbers) in zip(chapter.DIVISORS, parts, strict=True):
        expected = divided_by(name, **state)
        if name != "nothing":
            assert as_number(by.split(" = ")[1]) == pytest.approx(
                expected, rel=5e-4
            )
        found = chapter.measured(name, state["heads"])
        for text, values in zip(numbers, found.values(), strict=True):
            close(text, values[i])


@states(chapter.curves, 9)
def test_curves_draws_each_line_and_marks_the_length(state):
    figure = draw(chapter.curves, state)
    i = chapter.DIMENSIONS.index(state["d_k"])
    kinds = ("variance", "keys", "gradient")
    for axes, what in zip(figure.axes, kinds, strict=True):
        marked, *rest = axes.lines
        assert list(marked.get_xdata()) == [i] * 2
        numbers = texts(axes)[1::2]
        low, high = axes.get_ylim()
        for j, name in enumerate(chapter.DIVISORS):
            line, dot, sign = rest[3 * j : 3 * j + 3]
            values = chapter.measured(name, state["heads"])[what]
            heights = line.get_ydata()
            drawn = 10**heights if what == "variance" else heights
            np.testing.assert_allclose(drawn, values)
            np.testing.assert_allclose(
                2.0 ** line.get_xdata(), chapter.DIMENSIONS
            )
            assert low <= heights.min()
            assert heights.max() <= high
            assert list(dot.get_xdata()) == [i]
            assert list(dot.get_ydata()) == [heights[i]]
            assert dot.get_marker() == sign.get_marker()
            close(numbers[j], values[i])


def test_with_one_head_the_mistake_does_not_show():
    for what, values in chapter.measured("d_model", 1).items():
        np.testing.assert_allclose(values, chapter.measured("root")[what])


# --- runaway ---------------------------------------------------------------


def rounded(lead, number):
    kind = np.dtype(number).type
    small = kind(np.exp(np.float64(-lead)))
    weight = kind(1) / (kind(1) + small)
    assert weight.dtype == number
    return small, weight, weight * (kind(1) - weight)


@states(chapter.runaway)
def test_runaway_says_the_weight_and_the_slope(state):
    sentence = chapter.runaway.sentence(**state)
    small, weight, slope = rounded(**state)
    assert chapter.steps_in(state["number"], state["lead"]) == tuple(
        map(float, (small, weight, slope))
    )
    close(re.search(r"are 1 and (\S+);", sentence)[1], small)
    assert ("no gradient is left" in sentence) is bool(slope == 0)
    assert ("rounded to 1" in sentence) is bool(weight == 1)
    if slope:
        said = re.search(r"w \(1 − w\) is (\S+)\.$", sentence)[1]
        assert as_number(said) == pytest.approx(
            float(slope), rel=0.5 if "×" in said else 0.005
        )


@states(chapter.runaway, 7)
def test_runaway_draws_the_point_on_both_curves(state):
    top, low = draw(chapter.runaway, state).axes
    _, weight, slope = rounded(**state)
    curve, tangent, point = top.lines
    np.testing.assert_allclose(
        curve.get_ydata(), 1 / (1 + np.exp(-curve.get_xdata()))
    )
    assert list(point.get_ydata()) == [weight]
    (x0, x1), (y0, y1) = tangent.get_xdata(), tangent.get_ydata()
    exact = np.exp(-state["lead"]) / (1 + np.exp(-state["lead"])) ** 2
    assert (y1 - y0) / (x1 - x0) == pytest.approx(exact, abs=1e-12)
    point = low.lines[-1]
    assert list(point.get_xdata()) == [state["lead"]]
    assert point.get_ydata()[0] == pytest.approx(
        np.log10(float(slope)) if slope else -18
    )
    assert point.get_marker() == ("o" if slope else "X")
    (ground,) = low.patches
    dead = state["lead"] >= ground.get_bbox().x0
    assert bool(dead) is bool(slope == 0)


def test_the_slope_is_the_derivative_of_the_weight():
    leads = np.linspace(0, 20, 41)
    weight = [softmax([lead + 1e-6, 0])[0] for lead in leads]
    before = [softmax([lead - 1e-6, 0])[0] for lead in leads]
    slopes = (np.array(weight) - before) / 2e-6
    np.testing.assert_allclose(slopes, chapter.exact_slope(leads), atol=1e-9)


# --- heads -----------------------------------------------------------------


def head_numbers(name, divisor):
    """Spread and share of keys of one head, by loops over plain rows."""
    layer, head = map(int, re.fullmatch(r"L(\d+)H(\d+)", name).groups())
    away, shares = [], []
    for sentence in trained.sentences():
        Q, K = trained.queries_and_keys(sentence, layer, head)
        for row in attention_scores(Q, K) / divisor:
            away.extend(row - row.mean())
            w = by_hand(row - row.max())
            w = w[w > 0]
            shares.append(np.prod(w**-w) / len(row))
    return np.sqrt(np.mean(np.square(away))), np.median(shares)


@states(chapter.heads, 5)
def test_heads_says_and_draws_what_the_stored_vectors_give(state):
    sentence = chapter.heads.sentence(**state)
    left, right = draw(chapter.heads, state).axes
    spreads, keys = sentence.split("The typical row")
    bars = [patch.get_width() for patch in right.patches]
    dots = [line.get_xdata()[0] for line in left.lines[2::2]]
    assert list(chapter.trained_rows()) == HEADS
    for i, name in enumerate(HEADS):
        spread, share = head_numbers(name, state["divisor"])
        assert f"{name} {spread:.2f}" in spreads
        assert f"{name} {share:.2f}" in keys
        assert dots[i] == pytest.approx(spread)
        assert bars[i] == pytest.approx(share)
        assert texts(left)[2 * i : 2 * i + 2] == [name, f"{spread:.2f}"]
        assert texts(right)[i] == f"{share:.2f}"
    assert right.get_xlim() == (0, 1.25)


def test_heads_starts_with_the_divisor_it_was_trained_with():
    assert chapter.heads.start() == {"divisor": np.sqrt(32)}
    assert "5.66 = √dₖ" in chapter.heads.sentence(divisor=32**0.5)
