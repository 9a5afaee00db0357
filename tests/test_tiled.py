"""Attention by tiles is attention: exact, masks included, and small."""

import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from utils.attention import scaled_dot_product_attention
from utils.tiled import Part, attention_by_tiles, finish, merge, part_of

sizes = st.integers(1, 9)


def some(rng, *shape, scale=1.0):
    return rng.normal(scale=scale, size=shape)


@given(N=sizes, M=sizes, tile=sizes, seed=st.integers(0, 99))
def test_equal_to_the_plain_helper(N, M, tile, seed):
    rng = np.random.default_rng(seed)
    Q, K, V = some(rng, 2, N, 3, scale=9), some(rng, 2, M, 3), some(rng, M, 4)
    for mask in (None, rng.random((N, M)) < 0.5, rng.random((2, 1, M)) < 0.5):
        plain, _ = scaled_dot_product_attention(Q, K, V, mask)
        tiled = attention_by_tiles(Q, K, V, mask, tile)
        assert tiled.shape == plain.shape
        np.testing.assert_allclose(tiled, plain, rtol=0, atol=1e-12)


@pytest.mark.bug(id="A01")
@pytest.mark.parametrize("skip", [True, False])
@pytest.mark.parametrize("tile", [1, 2, 5, 8])
def test_a_query_that_may_see_nothing_gets_zeros(tile, skip):
    rng = np.random.default_rng(0)
    Q, K, V = some(rng, 3, 5, 2)
    mask = np.ones((5, 5), dtype=bool)
    mask[3] = False
    output = attention_by_tiles(Q, K, V, mask, tile, skip)
    assert (output[3] == 0).all()
    nothing = attention_by_tiles(Q, K, V, np.zeros((5, 5), bool), tile, skip)
    assert (nothing == 0).all()


@pytest.mark.parametrize(
    "mask", [[[True], [False]], [[True, False, True]], [False, True, True]]
)
def test_a_mask_may_broadcast(mask):
    rng = np.random.default_rng(0)
    Q, K, V = some(rng, 2, 4), some(rng, 3, 4), some(rng, 3, 4)
    plain, _ = scaled_dot_product_attention(Q, K, V, mask)
    for tile in (1, 2, 4):
        tiled = attention_by_tiles(Q, K, V, mask, tile)
        np.testing.assert_allclose(tiled, plain, rtol=0, atol=1e-12)


@pytest.mark.parametrize("M", [1, 2, 3])
def test_a_mask_is_cut_as_the_keys_are(M):
    rng = np.random.default_rng(0)
    Q, K, V = some(rng, 3, 4), some(rng, M, 4), some(rng, M, 4)
    mask = np.arange(3)[:, None] % M == np.arange(M)
    output = attention_by_tiles(Q, K, V, mask, tile=1)
    np.testing.assert_allclose(output, V[np.arange(3) % M], atol=1e-12)


def test_heads_in_front_of_an_oblong_and_values_of_their_own_width():
    rng = np.random.default_rng(0)
    Q, K = some(rng, 2, 3, 5, 4), some(rng, 2, 3, 7, 4)
    V = some(rng, 2, 3, 7, 6)
    plain, _ = scaled_dot_product_attention(Q, K, V)
    tiled = attention_by_tiles(Q, K, V, tile=3)
    np.testing.assert_allclose(tiled, plain, rtol=0, atol=1e-12)
    nobody = attention_by_tiles(Q[:, 0, :0], K[:, 0], V[:, 0])
    assert nobody.shape == (2, 0, 6)


def test_a_rule_is_as_good_as_its_mask():
    rng = np.random.default_rng(0)
    Q, K, V = some(rng, 3, 11, 4)
    i, j = np.arange(11)[:, None], np.arange(11)
    plain, _ = scaled_dot_product_attention(Q, K, V, (i - j) % 3 != 1)
    tiled = attention_by_tiles(Q, K, V, lambda i, j: (i - j) % 3 != 1, 4)
    np.testing.assert_allclose(tiled, plain, rtol=0, atol=1e-12)


def test_no_keys_give_zeros():
    output = attention_by_tiles(
        np.ones((2, 3)), np.ones((0, 3)), np.ones((0, 1))
    )
    assert output.tolist() == [[0], [0]]


@given(seed=st.integers(0, 99), cut=st.integers(0, 7))
def test_merge_does_not_mind_the_order(seed, cut):
    rng = np.random.default_rng(seed)
    Q, K, V = some(rng, 3, 7, 2, scale=5)
    mask = rng.random((7, 7)) < 0.4
    halves = slice(0, cut), slice(cut, 7)
    parts = [part_of(Q, K[h], V[h], mask[:, h]) for h in halves]
    whole, _ = scaled_dot_product_attention(Q, K, V, mask)
    for one, other in (parts, parts[::-1]):
        merged = finish(merge(one, other))
        np.testing.assert_allclose(merged, whole, rtol=0, atol=1e-12)


@pytest.mark.bug(id="A23")
def test_scores_far_apart_neither_overflow_nor_warn():
    scores = np.array([[-1e4], [0], [1e4]])
    output = attention_by_tiles([[1.0]], scores, [[1], [2], [3]], tile=1)
    assert output.item() == 3


@pytest.mark.bug(id="A23")
@pytest.mark.parametrize("tile", [1, 2])
def test_each_query_has_a_maximum_of_its_own(tile):
    inputs = [[1.0], [1e4]], [[0], [1]], [[1.0], [2]]
    output = attention_by_tiles(*inputs, tile=tile)
    plain, _ = scaled_dot_product_attention(*inputs)
    np.testing.assert_allclose(output, plain, rtol=1e-12)
    far = attention_by_tiles([[0.0], [1e4]], [[1]], [[3.0]], tile=tile)
    assert (far == 3).all()


@pytest.mark.parametrize("mask", [None, [[True, False], [False, False]]])
def test_parts_are_kept_in_the_type_of_the_inputs(mask):
    Q, K, V = np.ones((3, 2, 2), np.float32)
    part = part_of(Q, K, V, mask)
    for known in (part, merge(part, part)):
        assert {array.dtype for array in known} == {np.dtype("float32")}


def test_the_widest_of_the_inputs_is_the_type_of_all():
    rng = np.random.default_rng(0)
    Q, K, V = some(rng, 3, 6, 4)
    Q, V = Q.astype(np.float32), V.astype(np.float16)
    output = attention_by_tiles(Q, K, V, tile=4)
    plain, _ = scaled_dot_product_attention(Q, K, V)
    assert output.dtype == np.float64
    np.testing.assert_allclose(output, plain, rtol=0, atol=1e-14)
    narrow = part_of(Q, K.astype(np.float16), V)
    assert narrow.O.dtype == np.float32


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_the_type_of_the_inputs_comes_out(dtype):
    rng = np.random.default_rng(0)
    Q, K, V = some(rng, 3, 20, 8).astype(dtype)
    output = attention_by_tiles(Q, K, V, tile=6)
    assert output.dtype == dtype
    exact, _ = scaled_dot_product_attention(
        *(array.astype(float) for array in (Q, K, V))
    )
    most = {"float16": 2e-3, "float32": 1e-6, "float64": 1e-14}[dtype]
    assert np.abs(output - exact).max() < most


def test_memory_grows_with_the_text_and_not_with_its_square():
    def peak(N):
        Q, K, V = np.ones((3, N, 16), dtype=np.float32)
        tracemalloc.start()
        attention_by_tiles(Q, K, V, lambda i, j: j <= i, tile=64)
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return most

    peak(256)
    assert peak(2048) < 2048 * 2048 * 4 / 10
    assert peak(2048) < 2.5 * peak(1024)


def test_tiles_of_nothing_are_skipped():
    rng = np.random.default_rng(0)
    Q, K, V = some(rng, 3, 8, 2)
    K[4:] = 1.7e308  # would overflow if it were looked at
    Q += 10
    mask = np.zeros((8, 8), bool)
    mask[:, :4] = True
    with np.errstate(over="raise"):
        output = attention_by_tiles(Q, K, V, mask, tile=4)
    plain, _ = scaled_dot_product_attention(Q, K[:4], V[:4])
    np.testing.assert_allclose(output, plain, rtol=0, atol=1e-12)


def test_inputs_are_left_alone():
    arrays = some(np.random.default_rng(0), 3, 6, 2)
    before = arrays.copy()
    attention_by_tiles(*arrays, tile=2)
    part_of(*arrays)
    np.testing.assert_array_equal(arrays, before)


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda Q: attention_by_tiles(Q, Q, Q, tile=0), "tile .* received 0"),
        (
            lambda Q: attention_by_tiles(Q, Q, Q, lambda i, j: 1.0 * (j <= i)),
            "mask must be boolean.*float64",
        ),
        (
            lambda Q: attention_by_tiles(Q, Q, Q, np.ones((3, 3))),
            "mask must be boolean",
        ),
        (lambda Q: attention_by_tiles(Q, Q[:2], Q), "Received: Q"),
        (lambda Q: attention_by_tiles(Q[:, :0], Q[:, :0], Q), "d_k is 0"),
        (
            lambda Q: merge(part_of(Q, Q, Q), part_of(Q[:1], Q, Q)),
            r"received O \(3, 2\) and \(1, 2\)",
        ),
    ],
)
def test_bad_input_is_named(call, says):
    with pytest.raises(ValueError, match=says):
        call(np.ones((3, 2)))


def test_a_part_has_the_papers_letters():
    assert Part._fields == ("m", "l", "O")


@pytest.mark.parametrize("tile", [2, 9])
def test_a_mask_may_bring_axes_of_its_own(tile):
    """Three masks for one text give three outputs."""
    rng = np.random.default_rng(5)
    Q, K, V = rng.normal(size=(3, 5, 4))
    masks = rng.random((3, 5, 5)) < 0.6
    output = attention_by_tiles(Q, K, V, masks, tile)
    expected, _ = scaled_dot_product_attention(Q, K, V, masks)
    assert output.shape == (3, 5, 4)
    np.testing.assert_allclose(output, expected, rtol=0, atol=1e-12)
