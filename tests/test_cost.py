"""Each count is compared with arrays that are really there."""

import numpy as np
import pytest

from utils import cost
from utils.attention import scaled_dot_product_attention
from utils.heads import multi_head_attention

SHAPES = [(8, 1, 1), (8, 2, 2), (8, 4, 2), (8, 4, 1), (12, 3, 3)]


@pytest.mark.parametrize(("N", "M"), [(1, 5), (4, 7)])
def test_queries_and_keys_may_differ_in_number(N, M):
    rng = np.random.default_rng(0)
    Q, K, V = (rng.normal(size=(n, 3)) for n in (N, M, M))
    output, *counted = cost.counted_attention(Q, K, V)
    assert tuple(counted) == cost.multiply_adds(N, 3, num_keys=M)
    exact, _ = scaled_dot_product_attention(Q, K, V)
    np.testing.assert_allclose(output, exact, rtol=1e-12)


@pytest.mark.bug(id="A23")
def test_large_scores_do_not_overflow_the_loops():
    output, *_ = cost.counted_attention([[1e3]], [[1e3], [-1e3]], [[1], [2]])
    assert output.item() == 1


@pytest.mark.parametrize(("d", "heads", "key_heads"), SHAPES)
def test_parameters_and_cache_are_those_of_the_helpers_matrices(
    d, heads, key_heads
):
    N, narrow = 5, d // heads * key_heads
    X = np.ones((N, d))
    W = [np.ones((d, n)) for n in (d, narrow, narrow, d)]
    multi_head_attention(X, X, *W, heads, num_key_heads=key_heads)
    without = cost.parameters(d, heads, key_heads, biases=False)
    assert without == sum(matrix.size for matrix in W)
    biases = sum(matrix.shape[1] for matrix in W)
    assert cost.parameters(d, heads, key_heads) == without + biases
    kept = (X @ W[1]).size + (X @ W[2]).size
    assert cost.cache_numbers(N, d, heads, key_heads) == kept


@pytest.mark.parametrize(("d", "heads", "key_heads"), SHAPES)
def test_a_decoding_step_uses_each_number_once_for_each_sharer(
    d, heads, key_heads
):
    work, read = cost.decoding_step(9, d, heads, key_heads)
    assert work == 2 * 9 * d
    assert work / read == heads / key_heads


def test_decoding_steps_add_up_to_the_causal_triangle():
    N, d = 10, 8
    steps = [cost.decoding_step(n, d)[0] for n in range(1, N + 1)]
    pairs = np.tri(N, dtype=bool).sum()
    assert sum(steps) == pairs * sum(cost.multiply_adds(1, d))


def test_projections_are_four_square_matrices():
    X, W = np.ones((6, 5)), np.ones((5, 5))
    one = (X @ W).size * len(W)
    assert cost.projection_multiply_adds(6, 5) == 4 * one


@pytest.mark.parametrize("name", cost.BYTES_PER_NUMBER)
def test_numpy_agrees_about_the_bytes(name):
    if name in ("bfloat16", "float8"):
        assert cost.BYTES_PER_NUMBER[name] == {"b": 2, "f": 1}[name[0]]
    else:
        assert cost.BYTES_PER_NUMBER[name] == np.dtype(name).itemsize


def test_one_head_is_what_is_counted_unless_told():
    """A width that two heads could not share tells."""
    assert cost.number_of_scores(3) == 9
    assert cost.cache_numbers(5, 3) == 2 * 5 * 3
    assert cost.parameters(3) == 4 * 3 * 3 + 4 * 3
    assert cost.parameters(3, biases=False) == 4 * 3 * 3
    assert cost.decoding_step(5, 3) == (2 * 5 * 3, 2 * 5 * 3)


def test_the_loops_stand_rows_far_apart():
    """Each row's own maximum is taken off: of all, exp would give 0."""
    Q, K = np.array([[1e3], [-1e3]]), np.array([[1.0], [1.0]])
    output, *_ = cost.counted_attention(Q, K, [[1.0], [3.0]])
    np.testing.assert_array_equal(output, [[2.0], [2.0]])


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: cost.multiply_adds(0, 4), "num_queries .* received 0"),
        (lambda: cost.multiply_adds(2, 2.5), "d_k .* received 2.5"),
        (lambda: cost.number_of_scores(-1), "num_tokens .* received -1"),
        (lambda: cost.parameters(10, 3), "10 cannot be cut into 3"),
        (lambda: cost.cache_numbers(5, 8, 4, 3), "3 does not divide .* 4"),
        (
            lambda: cost.counted_attention(*[np.ones((2, 2, 2))] * 3),
            r"received Q \(2, 2, 2\)",
        ),
    ],
)
def test_bad_input_is_named(call, says):
    with pytest.raises(ValueError, match=says):
        call()
