"""The loops below are the definition; utils.positions is the fast claim.

`test_fact_A17_...` holds fact A17 of the two documents that the book grew
from.
"""

import cmath
import math
import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.testing import assert_allclose, assert_array_equal

from utils.attention import attention_scores
from utils.positions import (
    PAIRINGS,
    angular_speeds,
    halves_to_neighbours,
    neighbours_to_halves,
    rotate,
    sinusoidal_encoding,
)

many = settings(deadline=None, max_examples=40)
numbers = st.floats(-4, 4, width=32)
pairings = st.sampled_from(PAIRINGS)


# The definition, one number at a time.


def encoding_by_hand(num_positions, d_model):
    rows = []
    for pos in range(num_positions):
        row = []
        for feature in range(d_model):
            i = feature // 2
            angle = pos / 10000 ** (2 * i / d_model)
            row.append(
                math.sin(angle) if feature % 2 == 0 else math.cos(angle)
            )
        rows.append(row)
    return np.array(rows)


def pair_of(i, d, pairing):
    return (2 * i, 2 * i + 1) if pairing == "neighbours" else (i, i + d // 2)


def rotation_by_hand(row, position, pairing, base=10000.0):
    """A pair is one complex number; turning it is one multiplication."""
    d = len(row)
    turned = [0.0] * d
    for i in range(d // 2):
        a, b = pair_of(i, d, pairing)
        angle = position * base ** (-2 * i / d)
        number = complex(row[a], row[b]) * cmath.exp(1j * angle)
        turned[a], turned[b] = number.real, number.imag
    return turned


@st.composite
def vectors(draw, rows=None):
    """Queries of some even width, with axes in front."""
    d = 2 * draw(st.integers(1, 4))
    front = draw(hnp.array_shapes(min_dims=1, max_dims=3, max_side=4))
    front = front if rows is None else (*front[:-1], rows)
    return draw(hnp.arrays(float, (*front, d), elements=numbers))


# Sinusoidal encoding.


@many
@given(st.integers(1, 40), st.integers(1, 17))
def test_the_encoding_is_its_definition(num_positions, d_model):
    encoding = sinusoidal_encoding(num_positions, d_model)
    assert encoding.shape == (num_positions, d_model)
    expected = encoding_by_hand(num_positions, d_model)
    assert_allclose(encoding, expected, rtol=0, atol=1e-12)


def test_fact_A17_the_first_rows():
    assert_array_equal(sinusoidal_encoding(5, 6)[0], [0, 1] * 3)
    row = sinusoidal_encoding(2, 4)[1]
    assert_allclose(row, [0.8415, 0.5403, 0.01, 0.99995], atol=5e-5)


def test_fact_A17_dog_at_position_2_and_at_position_5_differ():
    dog = np.random.default_rng(0).normal(size=16)
    at = dog + sinusoidal_encoding(6, 16)
    assert np.abs(at[2] - at[5]).max() > 0.5


@pytest.mark.bug(id="A24")
def test_an_odd_width_ends_with_a_sine():
    expected = [0.841471, 0.540302, 0.025116, 0.999685, 0.000631]
    assert_allclose(sinusoidal_encoding(2, 5)[1], expected, atol=5e-7)
    assert sinusoidal_encoding(3, 1).shape == (3, 1)


@pytest.mark.bug(id="A25")
def test_the_exponent():
    expected = [0.84147098, 0.54030231, 0.00999983, 0.99995]
    assert_array_equal(sinusoidal_encoding(2, 4)[0], [0, 1, 0, 1])
    assert_allclose(sinusoidal_encoding(2, 4)[1], expected, atol=5e-9)
    E = sinusoidal_encoding(64, 16)
    assert_allclose(np.linalg.norm(E, axis=1), math.sqrt(8), rtol=1e-12)
    gram = E @ E.T
    assert gram[0, 3] == pytest.approx(5.543101, abs=5e-7)
    for k in range(64):
        diagonal = np.diagonal(gram, k)
        assert_allclose(diagonal, diagonal[0], rtol=0, atol=1e-12)


@pytest.mark.bug(id="A26")
def test_sines_first_is_the_same_features_in_another_order():
    E = sinusoidal_encoding(20, 8)
    assert_array_equal(neighbours_to_halves(E), E[:, [0, 2, 4, 6, 1, 3, 5, 7]])
    angles = np.arange(20)[:, None] * angular_speeds(8)
    sines_first = np.concatenate([np.sin(angles), np.cos(angles)], axis=1)
    assert_array_equal(neighbours_to_halves(E), sines_first)


def test_a_step_along_the_encoding_is_one_rotation_for_all_positions():
    """A pair (sin, cos) at p + k is the pair at p, turned back by k."""
    E = sinusoidal_encoding(30, 12)
    for k in (1, 7):
        turned = rotate(E[:-k], np.full(30 - k, -k))
        assert_allclose(turned, E[k:], rtol=0, atol=1e-12)


# Rotation.


def test_a_base_below_one_speeds_up():
    np.testing.assert_allclose(angular_speeds(4, 0.25), [1, 2], rtol=1e-15)
    np.testing.assert_array_equal(angular_speeds(4, 1), [1, 1])


@many
@given(st.data(), vectors(), pairings, st.sampled_from([10000.0, 100.0, 2]))
def test_rotation_is_its_definition(data, Q, pairing, base):
    positions = data.draw(
        hnp.arrays(float, Q.shape[:-1], elements=st.integers(-50, 5000))
    )
    turned = rotate(Q, positions, pairing, base)
    assert turned.shape == Q.shape
    for index in np.ndindex(Q.shape[:-1]):
        expected = rotation_by_hand(
            Q[index].tolist(), positions[index], pairing, base
        )
        assert_allclose(turned[index], expected, rtol=0, atol=1e-11)


@pytest.mark.bug(id="A27")
def test_both_pairings_have_their_own_numbers():
    q = [1, 2, 3, 4]
    expected = {
        "neighbours": [-1.14263966, 1.9220756, 2.95985067, 4.0297995],
        "halves": [-1.98411065, 1.95990067, 2.4623779, 4.01979967],
    }
    for pairing, row in expected.items():
        assert_allclose(rotate(q, 1, pairing), row, atol=5e-9)
        assert np.linalg.norm(rotate(q, 1, pairing)) == pytest.approx(
            5.477226, abs=5e-7
        )


@pytest.mark.bug(id="A27")
def test_a_mixture_of_the_pairings_keeps_neither_lengths_nor_distances():
    """Speeds laid out for neighbours, features turned as halves."""
    angles = np.repeat(angular_speeds(4), 2)
    other = np.array([-1, -1, 1, 1])

    def mixed(q, position):
        swapped = np.roll(q, 2) * other
        turn = position * angles
        return np.asarray(q) * np.cos(turn) + swapped * np.sin(turn)

    q, k = [1, 2, 3, 4], [2, -1, 0.5, 1]
    assert np.linalg.norm(mixed(q, 1)) == pytest.approx(5.863206, abs=5e-7)
    places = ((5, 3), (105, 103), (2, 0))
    for pairing in PAIRINGS:
        scores = [
            rotate(q, m, pairing) @ rotate(k, n, pairing) for m, n in places
        ]
        assert_allclose(scores, scores[0], rtol=0, atol=1e-12)
    scores = [mixed(q, m) @ mixed(k, n) for m, n in places]
    assert np.ptp(scores) > 1
    with pytest.raises(ValueError, match="even"):
        rotate([1, 2, 3], 1)


@many
@given(vectors(), pairings, st.integers(0, 1000))
def test_rotation_keeps_lengths_and_is_undone_by_its_opposite(Q, pairing, m):
    positions = np.full(Q.shape[-2:-1], m)
    turned = rotate(Q, positions, pairing)
    lengths = np.linalg.norm(Q, axis=-1)
    assert_allclose(np.linalg.norm(turned, axis=-1), lengths, atol=1e-12)
    assert_allclose(rotate(turned, -positions, pairing), Q, atol=1e-12)
    assert_array_equal(rotate(Q, positions * 0, pairing), Q)


@pytest.mark.bug(id="A27")
@many
@given(vectors(rows=4), pairings, st.integers(-20, 20), st.integers(0, 1000))
def test_fact_A18_scores_depend_on_the_distance_alone(Q, pairing, m, shift):
    K = Q[..., ::-1, :] - 0.5
    places = np.arange(4)
    scores = attention_scores(
        rotate(Q, places + m, pairing), rotate(K, places, pairing)
    )
    moved = attention_scores(
        rotate(Q, places + m + shift, pairing),
        rotate(K, places + shift, pairing),
    )
    assert_allclose(moved, scores, rtol=0, atol=1e-9)


@many
@given(vectors(), st.integers(0, 100))
def test_the_pairings_are_one_rotation_in_two_orders_of_features(Q, m):
    positions = m + np.arange(Q.shape[-2])
    one = neighbours_to_halves(rotate(Q, positions, "neighbours"))
    other = rotate(neighbours_to_halves(Q), positions, "halves")
    assert_array_equal(one, other)
    assert_array_equal(halves_to_neighbours(neighbours_to_halves(Q)), Q)
    assert_array_equal(neighbours_to_halves(halves_to_neighbours(Q)), Q)


def test_the_columns_of_a_projection_can_be_reordered_instead():
    rng = np.random.default_rng(3)
    X, W_Q = rng.normal(size=(5, 8)), rng.normal(size=(8, 6))
    reordered = X @ neighbours_to_halves(W_Q)
    assert_allclose(reordered, neighbours_to_halves(X @ W_Q), atol=1e-12)


def test_a_cache_of_turned_keys_gives_the_full_pass():
    rng = np.random.default_rng(4)
    Q, K = rng.normal(size=(2, 3, 6, 8))
    full = attention_scores(rotate(Q, range(6)), rotate(K, range(6)))
    cache = np.empty((3, 0, 8))
    for t in range(6):
        new = slice(t, t + 1)
        cache = np.concatenate([cache, rotate(K[:, new], [t])], axis=1)
        row = attention_scores(rotate(Q[:, new], [t]), cache)
        assert_allclose(row[:, 0], full[:, t, : t + 1], rtol=0, atol=1e-12)


def test_each_item_of_a_batch_may_have_its_own_positions():
    rng = np.random.default_rng(5)
    Q = rng.normal(size=(2, 3, 4, 6))  # batch, heads, N, d_k
    positions = rng.integers(0, 9, (2, 1, 4))
    turned = rotate(Q, positions)
    for b, h in np.ndindex(2, 3):
        assert_array_equal(turned[b, h], rotate(Q[b, h], positions[b, 0]))


# The border.


def test_dtype_is_kept_and_inputs_are_not_changed():
    Q = np.arange(8.0, dtype="float32").reshape(2, 4)
    before = Q.copy()
    for found in (
        rotate(Q, [0, 3]),
        neighbours_to_halves(Q),
        halves_to_neighbours(Q),
    ):
        assert found.dtype == np.float32
        assert not np.shares_memory(found, Q)
    assert_array_equal(Q, before)
    wide = rotate(Q.astype(float), [0, 3])
    assert_array_equal(rotate(Q, [0, 3]), wide.astype("float32"))
    assert rotate([[1, 2]], [4]).dtype == np.float64


def test_a_far_position_costs_no_digits_in_a_narrow_type():
    """Angles are computed in float64: in float32 they would be off by 1e-3."""
    q = np.ones(2, "float32")
    assert_allclose(
        rotate(q, 100_003), rotation_by_hand([1, 1], 100_003, "halves"),
        atol=1e-6,
    )  # fmt: skip


Q23 = np.ones((2, 3, 4))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: sinusoidal_encoding(0, 4), "num_positions .*received 0"),
        (lambda: sinusoidal_encoding(3, 0), "d_model .*received 0"),
        (lambda: sinusoidal_encoding(3, 4.0), "d_model .*received 4.0"),
        (lambda: sinusoidal_encoding(True, 4), "num_positions .*True"),
        (lambda: angular_speeds(-2), "d must .*received -2"),
        (lambda: angular_speeds(4, 0), "base .*received 0"),
        (lambda: angular_speeds(4, math.inf), "base .*received inf"),
        (lambda: rotate([1, 2, 3], 0), r"even .*\(3,\)"),
        (lambda: rotate(np.ones((2, 0)), [0, 1]), r"even .*\(2, 0\)"),
        (lambda: rotate(5, 0), r"even .*\(\)"),
        (lambda: rotate([1, 2], 0, "thirds"), "pairing .*'thirds'"),
        (lambda: rotate([1, 2], 0, base=-1), "base .*-1"),
        (lambda: rotate([1, math.nan], 0), r"Q holds nan at \(1,\)"),
        (lambda: rotate([1, 2], math.inf), "positions holds inf"),
        (lambda: rotate(["a", "b"], 0), "Q must hold real numbers"),
        (lambda: rotate(Q23, 7), r"Q \(2, 3, 4\), positions \(\)"),
        (lambda: rotate(Q23, [7]), r"positions \(1,\)"),
        (lambda: rotate(Q23, [0, 1]), r"positions \(2,\)"),
        (lambda: rotate(Q23, [[0], [1]]), r"positions \(2, 1\)"),
        (lambda: rotate(Q23, np.ones((3, 3))), r"positions \(3, 3\)"),
        (lambda: rotate(Q23, np.ones((1, 2, 3))), r"positions \(1, 2, 3\)"),
        (lambda: neighbours_to_halves([1, 2, 3]), r"even .*\(3,\)"),
        (lambda: halves_to_neighbours(np.ones((2, 5))), r"even .*\(2, 5\)"),
    ],
)
def test_a_wrong_argument_is_named(call, message):
    with pytest.raises(ValueError, match=re.compile(message, re.DOTALL)):
        call()
