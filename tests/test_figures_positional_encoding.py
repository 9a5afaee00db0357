"""The chapter on positions: its pictures, and its hand-made gradients."""

import itertools
import math
import re

import numpy as np
import pytest
from matplotlib.colors import to_hex
from matplotlib.patches import Rectangle

from tests.figures import draw, number, states, texts
from utils.attention import scaled_dot_product_attention
from utils.explore import palette
from utils.figures import positional_encoding as chapter
from utils.figures.positional_encoding import experiment
from utils.positions import sinusoidal_encoding


def said_numbers(text):
    return [number(found) for found in re.findall(r"−?\d+\.\d+", text)]


# --- reordered tokens ------------------------------------------------------


def rotated_by_hand(rows):
    """Two features are one complex number, turned by 1 radian a place."""
    numbers = np.array([complex(*row) for row in rows])
    turned = numbers * np.exp(1j * np.arange(len(rows)))
    return np.stack([turned.real, turned.imag], axis=1)


def attend_by_hand(order, positions):
    tokens = {"A": [1, 0], "B": [0, 1], "C": [1, 1]}
    X = np.array([tokens[token] for token in order], float)
    if positions == "added":
        X += [[math.sin(pos), math.cos(pos)] for pos in range(3)]
    Q, K = X @ [[1, 0], [0, 2]], X @ [[0, 1], [2, 0]]
    if positions == "rotated":
        Q, K = rotated_by_hand(Q), rotated_by_hand(K)
    weights = np.exp(Q @ K.T / math.sqrt(2))
    weights /= weights.sum(axis=1, keepdims=True)
    return X, weights @ X, weights


def vectors(found):
    """The vectors among some texts, as rows."""
    rows = [text for text in found if text.startswith("[")]
    return np.array([said_numbers(row) for row in rows])


@states(chapter.order)
def test_order_draws_inputs_weights_and_outputs(state):
    inputs, output, weights = attend_by_hand(**state)
    table, plane = draw(chapter.order, state).axes
    shown = vectors(texts(table))
    np.testing.assert_allclose(shown[0::2], inputs, atol=0.00501)
    np.testing.assert_allclose(shown[1::2], output, atol=0.00501)
    cells = {text.get_position(): text.get_text() for text in table.texts}
    filled = {
        (int(patch.get_y()), int(patch.get_x())): patch.get_alpha()
        for patch in table.patches
        if isinstance(patch, Rectangle)
    }
    for (i, j), weight in np.ndenumerate(weights):
        assert filled[i, j] == pytest.approx(weight, abs=1e-12)
        shown = "<0.001" if weight < 0.0005 else f"{weight:.3f}"
        assert cells[j + 0.5, i + 0.5] == shown
    for i, token in enumerate(state["order"]):
        assert cells[i + 0.5, -0.27] == token
        assert cells[-2.5, i + 0.5] == token

    small, large = plane.lines[:3], plane.lines[3:6]
    for token, all_orders, this in zip("ABC", small, large, strict=True):
        assert all_orders.get_marker() == this.get_marker()
        expected = [
            attend_by_hand(order, state["positions"])[1][order.index(token)]
            for order in map("".join, itertools.permutations("ABC"))
        ]
        np.testing.assert_allclose(all_orders.get_xydata(), expected)
        place = output[state["order"].index(token)]
        np.testing.assert_allclose(this.get_xydata(), [place])
        (x, y), (left, right) = place, plane.get_xlim()
        assert left < x < right
        assert plane.get_ylim()[0] < y < plane.get_ylim()[1]
    legend = plane.lines[6:9]
    assert [line.get_marker() for line in legend] == [
        line.get_marker() for line in large
    ]
    assert len({line.get_marker() for line in large}) == 3


@states(chapter.order)
def test_order_says_the_outputs_and_which_of_them_stay(state):
    sentence = chapter.order.sentence(**state)
    output = attend_by_hand(**state)[1]
    first = attend_by_hand("ABC", state["positions"])[1]
    for token, row in zip(state["order"], output, strict=True):
        found = re.search(rf"{token} \[(\S+), (\S+)\]", sentence).groups()
        np.testing.assert_allclose(
            [number(x) for x in found], row, atol=0.00501
        )
    same = [
        token
        for token, row in zip(state["order"], output, strict=True)
        if np.allclose(row, first["ABC".index(token)], atol=1e-9)
    ]
    if state["order"] != "ABC":
        assert ("Each token has" in sentence) is (len(same) == 3)
        assert ("No token keeps" in sentence) is (not same)
        if same and len(same) < 3:
            assert sentence.split("]. ")[1].startswith(sorted(same)[0])


def test_fact_B02_reordered_tokens_give_reordered_outputs():
    first = chapter.attend("ABC", "none")[1]
    again = chapter.attend("CAB", "none")[1]
    np.testing.assert_allclose(again, first[[2, 0, 1]], rtol=1e-12)
    assert not np.allclose(again, first)  # equivariant, not invariant
    expected = [[0.5542, 0.8916], [0.8916, 0.5542], [0.8364, 0.8364]]
    np.testing.assert_allclose(first, expected, atol=1e-4)


def test_the_marks_stay_without_positions_and_move_with_them():
    for positions in chapter.POSITIONS:
        outputs = [
            {t: tuple(row) for t, row in zip(order, out, strict=True)}
            for order in map("".join, itertools.permutations("ABC"))
            for out in [attend_by_hand(order, positions)[1].round(9)]
        ]
        for token in "ABC":
            different = len({one[token] for one in outputs})
            assert different == (1 if positions == "none" else 6)


def test_the_values_change_where_positions_are_added_and_only_there():
    """As the chapter says: turned, the outputs stay in the unit square."""
    for order in map("".join, itertools.permutations("ABC")):
        turned = attend_by_hand(order, "rotated")[1]
        assert ((turned >= 0) & (turned <= 1)).all()
        added = attend_by_hand(order, "added")[1]
        assert (added > 1).any()


# --- clock hands -----------------------------------------------------------


def hands_by_hand(position):
    """Pairs (sine, cosine) of eight clock hands."""
    angles = [position / 10000 ** (2 * i / 16) for i in range(8)]
    return np.array([[math.sin(a), math.cos(a)] for a in angles])


@states(chapter.clocks, 7)
def test_clocks_draws_each_pair_as_a_hand(state):
    page, _ = draw(chapter.clocks, state).axes
    pairs = hands_by_hand(state["position"])
    rims, _, hands = page.lines[:3]
    starts = hands.get_xydata()[0::3]
    ends = hands.get_xydata()[1::3]
    directions = (ends - starts) / 0.2
    np.testing.assert_allclose(directions, pairs * [1, -1], atol=1e-12)
    middles = [
        np.nanmean(part[:-2], axis=0)
        for part in np.split(rims.get_xydata(), 8)
    ]
    np.testing.assert_allclose(starts, middles, atol=1e-9)
    found = texts(page)
    numbers = [text for text in found if re.fullmatch(r"−?\d\.\d\d", text)]
    np.testing.assert_allclose(
        [number(text) for text in numbers], pairs.ravel(), atol=0.00501
    )
    turns = [2 * math.pi * 10000 ** (2 * i / 16) for i in range(8)]
    for turn in turns:
        text = f"{turn:.1f}" if turn < 10 else f"{turn:,.0f}"
        assert text in found


@states(chapter.clocks, 7)
def test_clocks_draws_the_waves_with_a_dot_on_each(state):
    page, _ = draw(chapter.clocks, state).axes
    here, *waves, dots = page.lines[3:]
    x = here.get_xdata()[0]
    np.testing.assert_allclose(dots.get_xdata(), x)
    assert len(waves) == 4
    sines = hands_by_hand(state["position"])[:4, 0]
    for wave, y, sine in zip(waves, dots.get_ydata(), sines, strict=True):
        across, heights = wave.get_xydata().T
        assert np.interp(x, across, heights) == pytest.approx(y, abs=1e-9)
        assert y == pytest.approx(heights[0] - 0.09 * sine, abs=1e-9)
        share = state["position"] / 63
        assert x == pytest.approx(across[0] + share * np.ptp(across))


@states(chapter.clocks, 7)
def test_clocks_draws_the_similarity_to_every_position(state):
    _, axes = draw(chapter.clocks, state).axes
    curve = axes.lines[1].get_xydata()
    np.testing.assert_array_equal(curve[:, 0], np.arange(64))
    here = hands_by_hand(state["position"])
    expected = [(here * hands_by_hand(q)).sum() / 8 for q in range(64)]
    np.testing.assert_allclose(curve[:, 1], expected, atol=1e-12)
    low, high = axes.get_ylim()
    assert low < curve[:, 1].min()
    assert curve[:, 1].max() < high
    np.testing.assert_array_equal(
        axes.lines[2].get_xydata(), [[state["position"], 1]]
    )


@states(chapter.clocks)
def test_clocks_says_two_pairs_and_three_similarities(state):
    p = state["position"]
    sentence = chapter.clocks.sentence(**state)
    pairs = hands_by_hand(p)
    assert f"position {p} the first pair" in sentence
    start, end = sentence.split("The similarity")
    np.testing.assert_allclose(
        said_numbers(start), pairs[[0, -1]].ravel(), atol=5.01e-4
    )
    found = re.findall(r"(−?\d\.\d+) to position (\d+)", end)
    assert len(found) == 3
    for text, q in found:
        expected = (pairs * hands_by_hand(int(q))).sum() / 8
        assert number(text) == pytest.approx(expected, abs=5.01e-4)


def test_the_curve_of_similarity_only_shifts():
    E = sinusoidal_encoding(64, 16)
    for p, q in itertools.product((0, 17, 63), (0, 5, 63)):
        assert chapter.similarity(p - q) == pytest.approx(E[p] @ E[q] / 8)
    assert chapter.D_MODEL == 16


# --- turned arrows ---------------------------------------------------------

QUERY, KEY = [0.8, 0.6, 0.4, 0.8], [0.3, 0.7, 0.7, 0.1]
SPEEDS = (1, 0.1)


def turned_by_hand(vector, position):
    """Two complex numbers, one for each pair."""
    pairs = np.array([complex(*vector[:2]), complex(*vector[2:])])
    return pairs * np.exp(1j * position * np.array(SPEEDS))


def parts_by_hand(m, n):
    product = turned_by_hand(QUERY, m) * turned_by_hand(KEY, n).conj()
    return product.real


@states(chapter.rope, 11)
def test_rope_draws_both_hands_of_each_pair(state):
    page, _ = draw(chapter.rope, state).axes
    m, n = state["m"], state["n"]
    for i in range(2):
        _, *hands = page.lines[7 * i : 7 * i + 7]
        for vector, steps, colour, lines in (
            (QUERY, m, palette.QUERY, hands[:3]),
            (KEY, n, palette.KEY, hands[3:]),
        ):
            thin, thick, mark = (line.get_xydata() for line in lines)
            for found, expected in (
                (thin[1] - thin[0], turned_by_hand(vector, 0)[i]),
                (thick[1] - thick[0], turned_by_hand(vector, steps)[i]),
                (mark[0] - thick[0], turned_by_hand(vector, steps)[i]),
            ):
                np.testing.assert_allclose(
                    found / [0.95, -0.95],
                    [expected.real, expected.imag],
                    atol=1e-12,
                )
            assert {to_hex(line.get_color()) for line in lines} == {colour}
    marks = [line.get_marker() for line in page.lines[14:]]
    assert marks == [hands[2].get_marker(), hands[5].get_marker()]
    found = texts(page)
    for part in parts_by_hand(m, n):
        assert f"q · k = {part:.3f}".replace("-", "−") in found
    assert f"query at m = {m}" in found
    assert f"key at n = {n}" in found


@states(chapter.rope, 11)
def test_rope_draws_the_score_on_the_curve_of_distances(state):
    _, axes = draw(chapter.rope, state).axes
    m, n = state["m"], state["n"]
    smooth, dots, _, diamond = axes.lines
    score = parts_by_hand(m, n).sum()
    np.testing.assert_allclose(diamond.get_xydata(), [[m - n, score]])
    expected = [parts_by_hand(d, 0).sum() for d in range(-12, 13)]
    np.testing.assert_allclose(dots.get_xdata(), range(-12, 13))
    np.testing.assert_allclose(dots.get_ydata(), expected, atol=1e-12)
    np.testing.assert_allclose(
        np.interp(m - n, *smooth.get_xydata().T), score, atol=1e-9
    )
    low, high = axes.get_ylim()
    assert low < smooth.get_ydata().min()
    assert smooth.get_ydata().max() < high
    title = axes.get_title(loc="left")
    assert f"{score:.3f} at m − n = {m - n}".replace("-", "−") in title


@states(chapter.rope)
def test_rope_says_what_each_pair_gives(state):
    m, n = state["m"], state["n"]
    sentence = chapter.rope.sentence(**state)
    parts = parts_by_hand(m, n)
    expected = [*parts, parts.sum()]
    np.testing.assert_allclose(said_numbers(sentence), expected, atol=5.01e-4)
    assert f"m − n = {m - n}:".replace("-", "−") in sentence


def test_fact_A18_moving_both_sliders_leaves_the_score():
    for m, n in itertools.product(range(12), repeat=2):
        here = chapter.rope.sentence(m=m, n=n).split("pair 0")[1]
        there = chapter.rope.sentence(m=m + 1, n=n + 1).split("pair 0")[1]
        assert here == there


# --- the experiment --------------------------------------------------------


def test_twins_hold_the_same_tokens_and_opposite_answers():
    tokens, before = experiment.order_task(200, np.random.default_rng(1))
    for row, answer in zip(tokens.tolist(), before, strict=True):
        assert row.count(0) == row.count(1) == 1
        assert (row.index(0) < row.index(1)) == answer
    one, other = np.split(tokens, 2)
    swapped = np.array([1, 0, *range(2, 10)])[one]
    np.testing.assert_array_equal(swapped, other)
    assert (before[:200] != before[200:]).all()
    assert 50 < before[:200].sum() < 150


def logit_by_hand(p, row, kind):
    """One sequence at a time, in loops."""
    rows = []
    for n, token in enumerate(row):
        x = p["E"][token].copy()
        if kind == "sinusoidal":
            x += sinusoidal_encoding(8, 16)[n]
        if kind == "learned":
            x += p["P"][n]
        rows.append(x)
    Q, K, V = (np.array(rows) @ p[name] for name in ("W_Q", "W_K", "W_V"))
    if kind == "rotary":
        speeds = 10000.0 ** (-np.arange(4) / 4)
        for M in (Q, K):
            for n in range(len(M)):
                pairs = M[n, 0::2] + 1j * M[n, 1::2]
                pairs = pairs * np.exp(1j * n * speeds)
                M[n, 0::2], M[n, 1::2] = pairs.real, pairs.imag
    output, _ = scaled_dot_product_attention(Q, K, V)
    return output.mean(axis=0) @ p["w"] + p["b"]


@pytest.fixture(params=experiment.KINDS)
def model(request):
    rng = np.random.default_rng(6)
    parameters = experiment.new_parameters(request.param, rng)
    parameters["b"] = np.array(0.3)
    return request.param, parameters, *experiment.order_task(4, rng)


def test_the_model_is_its_definition(model):
    kind, parameters, tokens, _ = model
    logits, _ = experiment.forward(parameters, tokens, kind)
    expected = [logit_by_hand(parameters, row, kind) for row in tokens]
    np.testing.assert_allclose(logits, expected, rtol=0, atol=1e-12)


def test_the_gradients_are_those_of_tiny_changes(model):
    kind, parameters, tokens, before = model
    found = experiment.gradients(parameters, tokens, before, kind)
    assert found.keys() == parameters.keys()

    def loss():
        logits, _ = experiment.forward(parameters, tokens, kind)
        return experiment.loss(logits, before)

    for name, array in parameters.items():
        expected = np.zeros_like(array)
        for index in np.ndindex(array.shape):
            kept, tiny = array[index].copy(), 1e-5
            array[index] = kept + tiny
            above = loss()
            array[index] = kept - tiny
            expected[index] = (above - loss()) / (2 * tiny)
            array[index] = kept
        np.testing.assert_allclose(found[name], expected, atol=1e-9)
        assert np.abs(expected).max() > 1e-5, f"{name} does nothing"


def test_the_loss_is_the_mean_surprise():
    logits, before = np.array([2.0, -1.0, 0.5]), np.array([True, True, False])
    p = 1 / (1 + np.exp(-logits))
    expected = -np.log(np.where(before, p, 1 - p)).mean()
    assert experiment.loss(logits, before) == pytest.approx(expected)
    assert experiment.loss(np.zeros(2), before[:2]) == pytest.approx(
        math.log(2)
    )


def test_without_positions_twins_get_the_same_answer():
    rng = np.random.default_rng(8)
    parameters = experiment.new_parameters("none", rng)
    tokens, _ = experiment.order_task(50, rng)
    logits, _ = experiment.forward(parameters, tokens, "none")
    np.testing.assert_allclose(logits[:50], logits[50:], atol=1e-12)


@pytest.mark.parametrize("kind", experiment.KINDS)
def test_the_order_is_learned_with_positions_and_guessed_without(kind):
    accuracy = experiment.train(kind, seed=1).accuracy
    if kind == "none":
        assert 0.45 < accuracy < 0.55
    else:
        assert accuracy > 0.95


def test_the_same_seed_gives_the_same_model():
    one, other = (experiment.train("rotary", steps=5) for _ in range(2))
    for name, array in one.parameters.items():
        np.testing.assert_array_equal(array, other.parameters[name])


def test_an_unknown_kind_is_named():
    with pytest.raises(ValueError, match="'absolute'"):
        experiment.new_parameters("absolute", np.random.default_rng(0))
    with pytest.raises(ValueError, match="'absolute'"):
        experiment.train("absolute")
