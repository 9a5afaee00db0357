"""The loops below are the definition; utils.attention is the fast claim.

`test_fact_A10_...` holds fact A10 of the two documents that the book grew
from.
"""

import math
import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.testing import assert_allclose, assert_array_equal

from utils.attention import (
    attention_scores,
    attention_weights,
    project,
    scaled_dot_product_attention,
    scaled_scores,
    softmax,
)

INF = math.inf
many = settings(deadline=None, max_examples=50)


@pytest.fixture(autouse=True, scope="module")
def no_floating_point_accident():
    """Overflow, 0/0 and the like fail every test of this file."""
    with np.errstate(all="raise", under="ignore"):
        yield


# The definition, one number at a time.


def dot_by_hand(a, b):
    return sum(a_i * b_i for a_i, b_i in zip(a, b, strict=True))


def softmax_by_hand(row):
    exponentials = [math.exp(score) for score in row]
    total = sum(exponentials)
    return [e / total if total else 0.0 for e in exponentials]


def attention_by_hand(Q, K, V, mask):
    """One head: rows in, (output, weights) as lists of rows out."""
    output, weights = [], []
    for q, allowed in zip(Q, mask, strict=True):
        row = softmax_by_hand(
            [
                dot_by_hand(q, k) / math.sqrt(len(q)) if may else -INF
                for k, may in zip(K, allowed, strict=True)
            ]
        )
        weights.append(row)
        output.append([dot_by_hand(row, column) for column in V.T])
    return output, weights


def for_each_head(by_hand, *arrays):
    """Broadcast the axes in front and call by_hand on each last pair."""
    front = np.broadcast_shapes(*(a.shape[:-2] for a in arrays))
    arrays = [np.broadcast_to(a, front + a.shape[-2:]) for a in arrays]
    for index in np.ndindex(front):
        yield index, by_hand(*(a[index] for a in arrays))


def bits(array):
    """Tell apart even 0.0 and -0.0."""
    return array.shape, array.dtype, array.tobytes()


# What hypothesis draws: small shapes, axes in front that broadcast, masks.

numbers = st.floats(-4, 4, width=32)


def floats(shape, elements=numbers):
    return hnp.arrays(np.float64, shape, elements=elements)


def matrices(low=0):
    return hnp.array_shapes(min_dims=1, max_dims=3, min_side=low, max_side=5)


@st.composite
def attention_inputs(draw, masked=None):
    front = draw(
        hnp.mutually_broadcastable_shapes(num_shapes=4, max_dims=2, max_side=3)
    ).input_shapes
    N, M = draw(st.integers(0, 4)), draw(st.integers(0, 4))
    d_k, d_v = draw(st.integers(1, 4)), draw(st.integers(0, 3))
    Q = draw(floats((*front[0], N, d_k)))
    K = draw(floats((*front[1], M, d_k)))
    V = draw(floats((*front[2], M, d_v)))
    if masked is False or (masked is None and draw(st.booleans())):
        return Q, K, V, None
    last = (draw(st.sampled_from([1, N])), draw(st.sampled_from([1, M])))
    return Q, K, V, draw(hnp.arrays(bool, (*front[3], *last)))


def full_mask(Q, K, mask):
    """The mask with its last two axes at their full N and M."""
    N, M = Q.shape[-2], K.shape[-2]
    if mask is None:
        return np.ones((N, M), dtype=bool)
    return np.broadcast_to(mask, (*mask.shape[:-2], N, M))


# Each function is its definition.


@many
@given(floats(matrices(), st.floats(-30, 30) | st.just(-INF)))
def test_softmax_is_its_definition(scores):
    weights = softmax(scores)
    assert weights.shape == scores.shape
    for index in np.ndindex(scores.shape[:-1]):
        by_hand = softmax_by_hand(scores[index].tolist())
        assert_allclose(weights[index], by_hand, rtol=1e-12, atol=0)


@many
@given(st.data(), attention_inputs(masked=False))
def test_projection_is_its_definition(data, inputs):
    X, other = inputs[:2]
    W = data.draw(floats((*other.shape[:-2], X.shape[-1], 3)))
    projected = project(X, W)

    def by_hand(X, W):
        return [[dot_by_hand(x, w) for w in W.T] for x in X]

    for index, expected in for_each_head(by_hand, X, W):
        expected = np.reshape(expected, projected.shape[-2:])
        assert_allclose(projected[index], expected, rtol=0, atol=1e-12)


@many
@given(attention_inputs(masked=False))
def test_scores_are_their_definition(inputs):
    Q, K = inputs[:2]
    scores, scaled = attention_scores(Q, K), scaled_scores(Q, K)

    def by_hand(Q, K):
        return [[dot_by_hand(q, k) for k in K] for q in Q]

    for index, expected in for_each_head(by_hand, Q, K):
        expected = np.reshape(expected, scores.shape[-2:])
        assert_allclose(scores[index], expected, rtol=0, atol=1e-12)
        expected = expected / math.sqrt(Q.shape[-1])
        assert_allclose(scaled[index], expected, rtol=0, atol=1e-12)


@many
@given(attention_inputs())
def test_attention_is_its_definition(inputs):
    Q, K, V, mask = inputs
    output, weights = scaled_dot_product_attention(Q, K, V, mask)
    assert_array_equal(weights, attention_weights(Q, K, mask))

    filled = full_mask(Q, K, mask)
    front = np.broadcast_shapes(*(a.shape[:-2] for a in (Q, K, V, filled)))
    assert output.shape == (*front, Q.shape[-2], V.shape[-1])
    each_weights = np.broadcast_to(weights, front + weights.shape[-2:])
    heads = for_each_head(attention_by_hand, Q, K, V, filled)
    for index, (out, wts) in heads:
        out = np.reshape(out, output.shape[-2:])
        wts = np.reshape(wts, weights.shape[-2:])
        assert_allclose(output[index], out, rtol=0, atol=1e-12)
        assert_allclose(each_weights[index], wts, rtol=0, atol=1e-12)


@many
@given(attention_inputs())
def test_attention_is_torch_s_attention(inputs):
    """Rows that may attend to nothing included: torch gives zeros there too.

    Seen with torch 2.13 on a CPU; torch before 2.5 gave NaN.
    """
    import torch  # slow to import: only where it is compared with

    Q, K, V, mask = inputs
    output, _ = scaled_dot_product_attention(Q, K, V, mask)
    filled = full_mask(Q, K, mask)
    front = output.shape[:-2]
    q, k, v, m = (
        torch.tensor(np.broadcast_to(a, front + a.shape[-2:]))
        for a in (Q, K, V, filled)
    )
    attend = torch.nn.functional.scaled_dot_product_attention
    theirs = attend(q, k, v, attn_mask=None if mask is None else m)
    assert_allclose(output, theirs.numpy(), rtol=0, atol=1e-12)


@many
@given(floats(matrices(1), st.floats(allow_nan=False, allow_infinity=False)))
def test_softmax_is_torch_s_softmax_on_every_float(scores):
    import torch  # slow to import: only where it is compared with

    for axis in range(-scores.ndim, scores.ndim):
        theirs = torch.softmax(torch.tensor(scores), axis).numpy()
        assert_allclose(softmax(scores, axis), theirs, rtol=0, atol=1e-12)


def test_torch_gives_zeros_where_nothing_is_allowed_and_so_do_we():
    import torch  # slow to import: only where it is compared with

    Q, V = np.zeros((2, 2)), np.array([[1.0, 2.0], [3.0, 4.0]])
    mask = np.array([[True, True], [False, False]])
    attend = torch.nn.functional.scaled_dot_product_attention
    q, v, m = (torch.tensor(a) for a in (Q, V, mask))
    expected = [[2, 3], [0, 0]]
    assert_array_equal(attend(q, q, v, attn_mask=m), expected)
    ours, _ = scaled_dot_product_attention(Q, Q, V, mask)
    assert_array_equal(ours, expected)


# Promises.


@many
@given(attention_inputs())
def test_rows_sum_to_one_or_to_zero_where_nothing_is_allowed(inputs):
    Q, K, _, mask = inputs
    weights = attention_weights(Q, K, mask)
    filled = np.broadcast_to(full_mask(Q, K, mask), weights.shape)
    sums = filled.any(axis=-1).astype(float)
    assert_allclose(weights.sum(axis=-1), sums, rtol=0, atol=1e-12)
    assert (weights >= 0).all()
    assert (weights[~filled] == 0).all()


@many
@given(attention_inputs(), st.randoms(use_true_random=False))
def test_reordered_queries_give_reordered_outputs(inputs, random):
    Q, K, V, mask = inputs
    mask = full_mask(Q, K, mask)
    order = list(range(Q.shape[-2]))
    random.shuffle(order)
    output, weights = scaled_dot_product_attention(Q, K, V, mask)
    Q, mask = Q[..., order, :], mask[..., order, :]
    again, weights_again = scaled_dot_product_attention(Q, K, V, mask)
    assert_allclose(again, output[..., order, :], rtol=0, atol=1e-12)
    weights = weights[..., order, :]
    assert_allclose(weights_again, weights, rtol=0, atol=1e-12)


@many
@given(attention_inputs(), st.randoms(use_true_random=False))
def test_reordered_keys_give_the_same_output(inputs, random):
    Q, K, V, mask = inputs
    mask = full_mask(Q, K, mask)
    order = list(range(K.shape[-2]))
    random.shuffle(order)
    output, weights = scaled_dot_product_attention(Q, K, V, mask)
    K, V, mask = K[..., order, :], V[..., order, :], mask[..., order]
    again, weights_again = scaled_dot_product_attention(Q, K, V, mask)
    assert_allclose(again, output, rtol=0, atol=1e-12)
    assert_allclose(weights_again, weights[..., order], rtol=0, atol=1e-12)


@many
@given(st.data(), attention_inputs())
def test_what_a_masked_key_holds_does_not_matter_to_the_last_bit(data, inputs):
    Q, K, V, _ = inputs
    keep = data.draw(hnp.arrays(bool, K.shape[-2]))
    before = scaled_dot_product_attention(Q, K, V, keep)
    other = st.floats(-1e100, 1e100)
    K2 = np.where(keep[:, None], K, data.draw(floats(K.shape, other)))
    V2 = np.where(keep[:, None], V, data.draw(floats(V.shape, other)))
    after = scaled_dot_product_attention(Q, K2, V2, keep)
    assert [bits(a) for a in before] == [bits(a) for a in after]


@pytest.mark.bug(id="A17")
@pytest.mark.parametrize("N", [1, 3, 17, 130])
def test_the_future_does_not_leak(N):
    rng = np.random.default_rng(N)
    X = rng.normal(size=(2, N, 20))
    causal = np.tril(np.ones((N, N), dtype=bool))
    output, weights = scaled_dot_product_attention(X, X, X, causal)
    assert_array_equal(weights[:, 0, 0], 1)  # the first sees itself
    assert not np.triu(weights, 1).any()

    changed = X.copy()
    now = N // 2
    changed[:, now:] = rng.normal(size=changed[:, now:].shape)
    after, _ = scaled_dot_product_attention(changed, changed, changed, causal)
    assert bits(after[:, :now]) == bits(output[:, :now])
    assert (after[:, now] != output[:, now]).all()


@many
@given(floats(matrices(1), st.integers(-20, 20)), st.integers(-1000, 1000))
def test_adding_a_constant_to_a_row_changes_nothing(scores, constant):
    # Whole numbers add exactly, so nothing means: not one bit.
    assert bits(softmax(scores + constant)) == bits(softmax(scores))


@many
@given(floats(matrices(1)), st.floats(0.1, 10))
def test_temperature_divides_the_scores(scores, temperature):
    weights = softmax(scores, temperature=temperature)
    expected = softmax(scores / temperature)
    assert_allclose(weights, expected, rtol=1e-12, atol=0)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize(
    ("temperature", "expected"),
    [
        (1e-300, [0, 0.5, 0, 0.5]),  # cold: all to the largest, ties share
        (5e-324, [0, 0.5, 0, 0.5]),
        (1e300, [1 / 3, 1 / 3, 0, 1 / 3]),  # hot: even over what is allowed
    ],
)
def test_temperature_has_the_right_limits(temperature, expected, dtype):
    scores = np.array([1, 2, -INF, 2], dtype)
    weights = softmax(scores, temperature=temperature)
    assert_array_equal(weights, np.array(expected, dtype))


@many
@given(st.data(), floats(matrices(1)))
def test_any_axis_can_be_the_one_that_sums_to_one(data, scores):
    axis = data.draw(st.integers(-scores.ndim, scores.ndim - 1))
    moved = np.moveaxis(softmax(np.moveaxis(scores, axis, -1)), -1, axis)
    assert_allclose(softmax(scores, axis), moved, rtol=1e-12, atol=0)


def test_minus_infinity_gets_exactly_zero_and_an_empty_row_gives_zeros():
    scores = [[-INF, 0, 0], [-INF, -INF, -INF], [-INF, -1e308, 1e308]]
    expected = [[0, 0.5, 0.5], [0, 0, 0], [0, 0, 1]]
    assert_array_equal(softmax(scores), expected)


CALLS = {
    "softmax": lambda Q, K, V: softmax(Q),
    "project": lambda Q, K, V: project(Q, K.mT),
    "attention_scores": lambda Q, K, V: attention_scores(Q, K),
    "scaled_scores": lambda Q, K, V: scaled_scores(Q, K),
    "attention_weights": lambda Q, K, V: attention_weights(Q, K),
    "output": lambda Q, K, V: scaled_dot_product_attention(Q, K, V)[0],
    "weights": lambda Q, K, V: scaled_dot_product_attention(Q, K, V)[1],
    "masked": lambda Q, K, V: scaled_dot_product_attention(
        Q, K, V, np.arange(len(K)) != 1
    )[0],
}
call = pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)


@call
@pytest.mark.parametrize(
    ("given_dtype", "dtype"),
    [
        ("float16", "float16"),
        ("float32", "float32"),
        ("float64", "float64"),
        ("longdouble", "longdouble"),
        ("int8", "float64"),
        ("int64", "float64"),
        ("uint64", "float64"),
    ],
)
def test_the_dtype_is_kept_and_integers_become_float64(
    call, given_dtype, dtype
):
    Q, K, V = np.arange(24).reshape(3, 4, 2).astype(given_dtype)[:, :3]
    result = call(Q, K, V)
    assert result.dtype == dtype
    exact = call(*(a.astype(np.float64) for a in (Q, K, V)))
    eps = np.finfo(np.result_type(dtype)).eps
    rtol = max(float(eps), 1e-15)
    assert_allclose(result.astype(np.float64), exact, rtol=rtol, atol=1e-7)


@pytest.mark.parametrize("wide", range(3))
def test_the_widest_dtype_wins(wide):
    inputs = [np.ones((2, 2), np.float32) for _ in "QKV"]
    inputs[wide] = inputs[wide].astype(np.float64)
    output, weights = scaled_dot_product_attention(*inputs)
    assert output.dtype == weights.dtype == np.float64


def test_long_numbers_differ_where_short_ones_would_not():
    step = np.finfo(np.longdouble).eps * 4  # d_k = 1: nothing is divided
    long = np.array([[1], [1 + step]], np.longdouble)
    weights = attention_weights([[1.0]], long)  # one side is short
    assert weights[0, 1] > weights[0, 0]
    weights = attention_weights(long, [[0.0], [1.0]])
    assert weights[1, 1] > weights[0, 1]


def test_softmax_is_quiet_where_the_caller_is_strict():
    with np.errstate(all="raise"):
        weights = softmax([[0.0, -800.0], [-INF, 3.0]])
    assert_array_equal(weights, [[1, 0], [0, 1]])


@call
def test_inputs_are_never_changed_nor_handed_back(call):
    inputs = np.random.default_rng(0).normal(size=(3, 3, 3))
    before = inputs.copy()
    inputs.setflags(write=False)
    result = call(*inputs)
    assert_array_equal(inputs, before)
    assert not np.shares_memory(result, inputs)
    assert result.flags.writeable


@call
def test_one_of_everything_is_handed_back_as_a_copy_too(call):
    # M = N = d = 1: where a shortcut would be most tempting.
    one = np.ones((1, 1))
    assert not np.shares_memory(call(one, one, one), one)


def test_lists_and_single_tokens_are_welcome():
    x, W = [1, 2], [[1, 0], [0, 1]]
    assert_array_equal(project(x, W), [1, 2])
    assert_array_equal(project([x, x], W)[0], project(x, W))
    mask = [[True, False]]
    output, _ = scaled_dot_product_attention([x], W, W, mask=mask)
    assert_array_equal(output, [[1, 0]])


def test_heads_may_come_from_the_matrix_and_batches_from_the_mask():
    rng = np.random.default_rng(0)
    X, W = rng.normal(size=(5, 1, 3, 4)), rng.normal(size=(2, 4, 6))
    assert project(X, W).shape == (5, 2, 3, 6)
    assert project(X[0, 0, 0], W).shape == (2, 6)
    Q = K = V = X[0, 0]
    mask = np.ones((7, 1, 3), dtype=bool)
    output, weights = scaled_dot_product_attention(Q, K, V, mask)
    assert output.shape == (7, 3, 4)
    assert weights.shape == (7, 3, 3)
    output, weights = scaled_dot_product_attention(Q, K, X)
    assert output.shape == (5, 1, 3, 4)
    assert weights.shape == (3, 3)  # V adds no axis to the weights


@pytest.mark.parametrize(
    ("N", "M", "d_v", "front"),
    [(0, 3, 2, ()), (3, 0, 2, ()), (3, 2, 0, ()), (0, 0, 0, ()), (2, 3, 2, 0)],
)
@pytest.mark.parametrize("masked", [False, True])
def test_no_queries_no_keys_no_values_no_batch(N, M, d_v, front, masked):
    front = (front,) if front == 0 else ()
    Q, K = np.ones((*front, N, 2)), np.ones((*front, M, 2))
    V = np.ones((*front, M, d_v))
    mask = np.ones((N, M), dtype=bool) if masked else None
    output, weights = scaled_dot_product_attention(Q, K, V, mask)
    assert weights.shape == (*front, N, M)
    assert_array_equal(output, np.full((*front, N, d_v), float(M > 0)))


def test_no_coordinates_give_scores_of_zero_but_no_scaled_scores():
    nothing = np.ones((2, 0))
    assert_array_equal(attention_scores(nothing, nothing), np.zeros((2, 2)))
    assert_array_equal(project(nothing, np.ones((0, 3))), np.zeros((2, 3)))
    assert softmax(nothing).shape == (2, 0)
    with pytest.raises(ValueError, match=r"d_k is 0 in Q \(2, 0\)"):
        scaled_scores(nothing, nothing)
    with pytest.raises(ValueError, match=r"d_k is 0 in Q \(2, 0\)"):
        scaled_dot_product_attention(nothing, nothing, np.ones((2, 1)))


# Every refusal names what it refuses.

one = np.ones((1, 1))
E23, E24, E34 = np.ones((2, 3)), np.ones((2, 4)), np.ones((3, 4))
E123, E323 = np.ones((1, 2, 3)), np.ones((3, 2, 3))
E223 = np.ones((2, 2, 3))
huge = np.full((1, 1), 1e300)
big16 = np.full((1, 1), 300, np.float16)


def sdpa(*args):
    return scaled_dot_product_attention(*args)


REFUSALS = [
    # softmax
    (softmax, [5.0], "needs an axis, received a single 5.0"),
    (softmax, [[1, math.nan]], r"scores holds nan at (1,)"),
    (softmax, [[[1, 2], [INF, 0]]], r"scores holds inf at (1, 0)"),
    (softmax, [["a"]], "scores must hold real numbers, received dtype <U1"),
    (softmax, [[1j]], "scores must hold real numbers, received dtype complex"),
    (softmax, [[None]], "scores must hold real numbers, received dtype obje"),
    (softmax, [[True]], "received dtype bool; a mask goes in as mask="),
    (softmax, [E23, 2], "axis 2 is not in shape (2, 3)"),
    (softmax, [E23, -3], "axis -3 is not in shape (2, 3)"),
    (softmax, [E23, None], "axis None is not in shape (2, 3)"),
    (softmax, [E23, (0, 1)], "axis (0, 1) is not in shape (2, 3)"),
    (softmax, [E23, 0.0], "axis 0.0 is not in shape (2, 3)"),
    (softmax, [E23, -1, 0], "above 0 and finite, received 0"),
    (softmax, [E23, -1, -0.5], "above 0 and finite, received -0.5"),
    (softmax, [E23, -1, INF], "above 0 and finite, received inf"),
    (softmax, [E23, -1, math.nan], "above 0 and finite, received nan"),
    (softmax, [E23, -1, "1"], "above 0 and finite, received '1'"),
    (softmax, [E23, -1, 1j], "above 0 and finite, received 1j"),
    (softmax, [E23, -1, None], "above 0 and finite, received None"),
    # project
    (
        project,
        [E23, E24],
        "d_model is 3 in X, 2 in W. Pattern: X (..., N, d_model), "
        "W (..., d_model, d_out). Received: X (2, 3), W (2, 4).",
    ),
    (project, [[1, 2], E34], "d_model is 2 in X, 3 in W"),
    (project, [2.0, E34], "X has too few axes"),
    (project, [E23, [1, 2, 3]], "W has too few axes"),
    (project, [E223, np.ones((3, 3, 1))], "front (batch, heads) do not"),
    (project, [huge, huge], "X W holds a number too large for float64"),
    (project, [[[math.nan]], one], "X holds nan at (0, 0)"),
    (project, [one, [["w"]]], "W must hold real numbers, received dtype <U1"),
    # attention_scores, scaled_scores
    (
        attention_scores,
        [E23, E24],
        "d_k is 3 in Q, 4 in K. Pattern: Q (..., N, d_k), K (..., M, d_k). "
        "Received: Q (2, 3), K (2, 4).",
    ),
    (scaled_scores, [E23, E24], "d_k is 3 in Q, 4 in K"),
    (attention_scores, [[1, 2], E23], "Q has too few axes"),
    (attention_scores, [E23, 1], "K has too few axes"),
    (attention_scores, [[[1j]], one], "Q must hold real numbers, received"),
    (attention_scores, [one, [[-INF]]], "K holds -inf at (0, 0)"),
    (attention_scores, [huge, huge], "Q Kᵀ holds a number too large for fl"),
    (attention_scores, [big16, big16], "Q Kᵀ holds a number too large for "),
    (scaled_scores, [big16, big16], "Q Kᵀ / √d_k holds a number too large"),
    # attention_weights
    (
        attention_weights,
        [E223, E323],
        "the axes in front (batch, heads) do not broadcast. Pattern: "
        "Q (..., N, d_k), K (..., M, d_k). Received: Q (2, 2, 3), K (3, 2,",
    ),
    (attention_weights, [huge, -huge], "too large for float64"),
    (
        attention_weights,
        [E23, E23, E23 > 0],
        "M is 2 in K, 3 in mask. Pattern: Q (..., N, d_k), K (..., M, d_k), "
        "mask (..., N, M). Received: Q (2, 3), K (2, 3), mask (2, 3).",
    ),
    (attention_weights, [E123[:, :1], E23, [[True, True]] * 2], "N is 1 in Q"),
    (attention_weights, [E23, E23, True], "mask has too few axes"),
    (attention_weights, [E223, E23, E323[..., :2] > 0], "do not broadcast"),
    (attention_weights, [one, one, [["x"]]], "True means may attend; receive"),
    (attention_weights, [one, one, [[1]]], "received dtype int64"),
    (attention_weights, [one, one, [[None]]], "received dtype object"),
    # scaled_dot_product_attention
    (
        sdpa,
        [E23, E23, E34],
        "M is 2 in K, 3 in V. Pattern: Q (..., N, d_k), K (..., M, d_k), "
        "V (..., M, d_v). Received: Q (2, 3), K (2, 3), V (3, 4).",
    ),
    (sdpa, [E23, E23, [1, 2]], "V has too few axes"),
    (sdpa, [E223, E23, E323], "the axes in front (batch, heads) do not"),
    (sdpa, [E23, E23, E23 > 0], "received dtype bool; a mask goes in as ma"),
    (sdpa, [one, one, [[math.nan]]], "V holds nan at (0, 0)"),
    (sdpa, [one, one, [["v"]]], "V must hold real numbers, received dtype <"),
    (sdpa, [one, one, one, one.astype("U1")], "mask must be boolean, where"),
]


@pytest.mark.parametrize(
    ("function", "args", "message"),
    REFUSALS,
    ids=[f"{f.__name__}: {m[:30]}" for f, _, m in REFUSALS],
)
def test_a_refusal_names_what_it_refuses(function, args, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        function(*args)


# The bug bank: mistakes that people have made in public.


@pytest.mark.bug(id="A01")
def test_a_query_that_may_attend_to_nothing_gets_zeros():
    V, mask = [[1, 2], [3, 4], [5, 6]], [[True] * 3, [False] * 3]
    with np.errstate(all="raise"):
        output, weights = scaled_dot_product_attention(
            np.zeros((2, 2)), np.zeros((3, 2)), V, mask
        )
    assert_allclose(output, [[3, 4], [0, 0]], rtol=0, atol=1e-12)
    assert_array_equal(weights[1], [0, 0, 0])
    assert_array_equal(output[1], [0, 0])


@pytest.mark.bug(id="A04")
def test_true_means_may_attend():
    zero, V = np.zeros((3, 2)), [[1], [2], [3]]
    causal = np.tril(np.ones((3, 3), dtype=bool))
    output, _ = scaled_dot_product_attention(zero, zero, V, causal)
    assert_allclose(output, [[1], [1.5], [2]], rtol=0, atol=1e-12)
    # The mask of nn.MultiheadAttention, the other way round, sees the future.
    output, _ = scaled_dot_product_attention(zero, zero, V, ~causal)
    assert_allclose(output, [[2.5], [3], [0]], rtol=0, atol=1e-12)


@pytest.mark.bug(id="A05")
@pytest.mark.parametrize("dtype", ["float32", "float64", "int64", "uint8"])
def test_a_mask_of_numbers_is_refused(dtype):
    mask, X = np.tril(np.ones((3, 3), dtype)), np.eye(3)
    message = f"mask must be boolean, where True means may attend.*{dtype}"
    with pytest.raises(ValueError, match=message):
        attention_weights(X, X, mask)
    with pytest.raises(ValueError, match=message):
        scaled_dot_product_attention(X, X, X, mask)


@pytest.mark.bug(id="A08")
def test_softmax_runs_along_the_keys():
    weights = softmax([[0, math.log(2)], [0, 0]])
    expected = [[1 / 3, 2 / 3], [1 / 2, 1 / 2]]
    assert_allclose(weights, expected, rtol=0, atol=1e-12)
    assert_allclose(weights.sum(axis=-1), 1, rtol=0, atol=1e-12)
    other = softmax([[0, math.log(2)], [0, 0]], axis=0)
    expected = [[1 / 2, 2 / 3], [1 / 2, 1 / 3]]
    assert_allclose(other, expected, rtol=0, atol=1e-12)


@pytest.mark.bug(id="A09")
def test_the_divisor_is_the_root_of_d_k():
    Q, K = [[1, 0, 0, 0]], [[2 * math.log(3), 0, 0, 0], [0, 0, 0, 0]]
    weights = attention_weights(Q, K)
    assert_allclose(weights, [[0.75, 0.25]], rtol=0, atol=1e-12)


@pytest.mark.bug(id="A09")
def test_four_heads_of_sixteen_divide_by_two_not_by_four():
    X = np.random.default_rng(0).integers(-9, 9, size=(5, 16))
    heads = X.reshape(5, 4, 4).swapaxes(0, 1)
    ours = scaled_scores(heads, heads)
    assert_array_equal(ours, attention_scores(heads, heads) / 2)


@pytest.mark.bug(id="A10")
@pytest.mark.parametrize("d", [16, 64, 256])
def test_scaling_brings_the_variance_back_to_one(d):
    rng = np.random.default_rng(0)
    Q, K = rng.standard_normal((2, 4000, 1, d))
    assert attention_scores(Q, K).var() == pytest.approx(d, rel=0.05)
    assert scaled_scores(Q, K).var() == pytest.approx(1, abs=0.05)


@pytest.mark.bug(id="A14")
def test_padding_hides_keys_not_queries():
    X = np.random.default_rng(1).normal(size=(2, 4, 3))
    keep = np.arange(4) < np.array([[2], [4]])
    output, weights = scaled_dot_product_attention(X, X, X, keep[:, None, :])
    assert not weights[0][:, 2:].any()
    assert_allclose(weights.sum(axis=-1), 1, rtol=0, atol=1e-12)
    alone, _ = scaled_dot_product_attention(*[X[0, :2]] * 3)
    assert_allclose(output[0, :2], alone, rtol=0, atol=1e-12)


@pytest.mark.bug(id="A16")
@pytest.mark.parametrize(("N", "M"), [(3, 5), (1, 5), (3, 1), (1, 1)])
def test_the_mask_need_not_be_square(N, M):
    rng = np.random.default_rng(0)
    Q = rng.normal(size=(2, 2, N, 4))
    K, V = rng.normal(size=(2, 2, 2, M, 4))
    mask = rng.random((2, N, M)) < 0.6
    output, weights = scaled_dot_product_attention(Q, K, V, mask[:, None])
    for b, h in np.ndindex(2, 2):
        expected = attention_by_hand(Q[b, h], K[b, h], V[b, h], mask[b])
        assert_allclose(output[b, h], expected[0], rtol=0, atol=1e-12)
        assert_allclose(weights[b, h], expected[1], rtol=0, atol=1e-12)


@pytest.mark.bug(id="A19")
@pytest.mark.parametrize("scores", [[0, 0, 0, 0], [0, 0, 0, 5], [2, 2, 2, 2]])
def test_the_mask_comes_before_the_softmax(scores):
    K = np.reshape(scores, (4, 1))  # with Q = 1 and d_k = 1: the scores
    weights = attention_weights([[1]], K, [True, True, False, False])
    assert_array_equal(weights, [[0.5, 0.5, 0, 0]])


@pytest.mark.bug(id="A21")
def test_a_mask_works_in_float16():
    rng = np.random.default_rng(0)
    Q, K, V = rng.normal(size=(3, 4, 4)).astype(np.float16) * np.float16(200)
    mask = np.tril(np.ones((4, 4), dtype=bool))
    output, weights = scaled_dot_product_attention(Q, K, V, mask)
    assert output.dtype == weights.dtype == np.float16
    assert np.isfinite(output).all()
    assert not np.triu(weights, 1).any()
    wide = (a.astype(float) for a in (Q, K, V))
    exact = scaled_dot_product_attention(*wide, mask)
    assert_array_equal(output, exact[0].astype(np.float16))
    assert_array_equal(weights, exact[1].astype(np.float16))


@pytest.mark.bug(id="A23")
@pytest.mark.parametrize(
    ("dtype", "scores", "expected"),
    [
        (
            "float64",
            [[1000, 1001], [-1000, -1001]],
            [[0.26894142, 0.73105858], [0.73105858, 0.26894142]],
        ),
        ("float32", [89, 0], [1, 0]),
        ("float16", [12, 0], [1, 6.1e-6]),
    ],
)
def test_large_scores_do_not_overflow(dtype, scores, expected):
    weights = softmax(np.array(scores, dtype))
    assert weights.dtype == dtype
    assert_allclose(weights, expected, rtol=0, atol=5e-8)


@pytest.mark.bug(id="A49")
def test_heads_come_before_tokens():
    B, L, H, D = 2, 5, 3, 4
    Q, K, V = np.random.default_rng(0).normal(size=(3, B, L, H, D))
    Qh, Kh, Vh = (a.swapaxes(1, 2) for a in (Q, K, V))
    right, _ = scaled_dot_product_attention(Qh, Kh, Vh)
    everything = np.ones((L, L), dtype=bool)
    for b, h in np.ndindex(B, H):
        expected, _ = attention_by_hand(
            Qh[b, h], Kh[b, h], Vh[b, h], everything
        )
        assert_allclose(right[b, h], expected, rtol=0, atol=1e-12)
    wrong, _ = scaled_dot_product_attention(Q, K, V)
    right = right.swapaxes(1, 2)
    assert wrong.shape == right.shape  # so a shape test sees nothing
    assert abs(wrong - right).max() > 0.5


# What the documents say, to the digits given.


def test_fact_A08_sixty_four_coordinates_divide_by_eight():
    Q = K = np.ones((1, 64))
    assert attention_scores(Q, K) / scaled_scores(Q, K) == 8.0


def test_fact_A10_the_softmax_example_to_four_places():
    weights = softmax([1.2, 2.5, 1.0, 2.0])
    expected = [0.1296, 0.4757, 0.1061, 0.2885]
    assert_allclose(weights, expected, rtol=0, atol=5e-5)
    # The document prints 0.47 for the second; it rounds to 0.48.
    assert_array_equal(weights.round(2), [0.13, 0.48, 0.11, 0.29])


def test_fact_A11_the_largest_weight_is_the_developer_s():
    row = [1.2, 2.5, 1.0, 2.0]
    weights = softmax([row, row[::-1]])
    assert (weights >= 0).all()
    assert_allclose(weights.sum(axis=-1), [1, 1], rtol=0, atol=1e-12)
    tokens = ["The", "developer", "deployed", "application"]
    assert tokens[weights[0].argmax()] == "developer"


def test_fact_A13_i_learn_from_scores_to_outputs():
    X = W = np.eye(2)
    Q, K, V = project(X, W), project(X, W), project(X, W)
    assert_array_equal(attention_scores(Q, K), np.eye(2))
    scaled = scaled_scores(Q, K)
    assert_allclose(scaled, [[0.7071, 0], [0, 0.7071]], rtol=0, atol=5e-5)
    assert np.exp(scaled[0, 0]) == pytest.approx(2.028, abs=5e-4)
    assert np.exp(scaled[0]).sum() == pytest.approx(3.028, abs=5e-4)
    output, weights = scaled_dot_product_attention(Q, K, V)
    expected = [[0.6698, 0.3302], [0.3302, 0.6698]]
    assert_allclose(weights, expected, rtol=0, atol=5e-5)
    assert_allclose(output, expected, rtol=0, atol=5e-5)


def test_fact_B01_three_tokens_from_matrices_to_outputs():
    X = [[1, 0], [0, 1], [1, 1]]
    Q = project(X, [[1, 0], [0, 2]])
    K = project(X, [[0, 1], [2, 0]])
    V = project(X, np.eye(2))
    assert_array_equal(Q, [[1, 0], [0, 2], [1, 2]])
    assert_array_equal(K, [[0, 1], [2, 0], [2, 1]])
    scaled = scaled_scores(Q, K)
    assert_array_equal(scaled[2].round(2), [1.41, 1.41, 2.83])
    output, weights = scaled_dot_product_attention(Q, K, V)
    expected_weights = [
        [0.1084, 0.4458, 0.4458],
        [0.4458, 0.1084, 0.4458],
        [0.1636, 0.1636, 0.6729],
    ]
    expected_output = [[0.5542, 0.8916], [0.8916, 0.5542], [0.8364, 0.8364]]
    assert_allclose(weights, expected_weights, rtol=0, atol=1e-4)
    assert_allclose(output, expected_output, rtol=0, atol=1e-4)
