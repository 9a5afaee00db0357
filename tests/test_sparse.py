"""Patterns keep what they say, and word travels as layers really carry it."""

import numpy as np
import pytest

from utils.attention import scaled_dot_product_attention
from utils.masks import causal_mask, sliding_window_mask
from utils.sparse import first_tokens_mask, reached, strided_mask

PATTERNS = {
    "causal": lambda: causal_mask(12),
    "window": lambda: sliding_window_mask(12, 3),
    "strided": lambda: strided_mask(12, 3),
    "first": lambda: first_tokens_mask(12, 3),
}


@pytest.mark.parametrize("name", PATTERNS)
@pytest.mark.parametrize("layers", [0, 1, 2, 4])
def test_reach_is_what_a_change_of_one_token_really_moves(name, layers):
    mask, rng = PATTERNS[name](), np.random.default_rng(0)
    X = rng.normal(size=(12, 4))
    heard = np.zeros((12, 12), dtype=bool)
    for j in range(12):
        before, after = X, X + (np.arange(12) == j)[:, None]
        for _ in range(layers):
            before, after = (
                h + scaled_dot_product_attention(h / 1e3, h, h, mask)[0]
                for h in (before, after)
            )
        heard[:, j] = np.abs(after - before).max(axis=1) > 0
    np.testing.assert_array_equal(heard, reached(mask, layers))


@pytest.mark.parametrize("num_tokens", [0, 1, 8, 9, 40])
@pytest.mark.parametrize("layers", [0, 1, 3])
def test_reach_is_a_power_of_the_mask_with_its_diagonal(num_tokens, layers):
    rng = np.random.default_rng(num_tokens)
    mask = rng.random((num_tokens, num_tokens)) < 2 / max(num_tokens, 1)
    once = mask.astype(int) + np.eye(num_tokens, dtype=int)
    heard = reached(mask, layers)
    assert heard.dtype == bool
    np.testing.assert_array_equal(
        heard, np.linalg.matrix_power(once, layers) > 0
    )


@pytest.mark.parametrize("window", [2, 3, 5])
@pytest.mark.parametrize("layers", [1, 2, 3])
def test_a_window_reaches_its_width_less_one_a_layer(window, layers):
    heard = reached(sliding_window_mask(40, window), layers)[-1].sum()
    assert heard == min(40, layers * (window - 1) + 1)


@pytest.mark.bug(id="A39")
def test_a_window_counts_the_token_itself():
    assert sliding_window_mask(5, 3).sum(axis=1).tolist() == [1, 2, 3, 3, 3]
    assert strided_mask(5, 3, 9).sum(axis=1).tolist() == [1, 2, 3, 3, 3]


@pytest.mark.parametrize("window", [1, 2, 5])
@pytest.mark.parametrize("stride", [1, 3, 20])
def test_patterns_are_their_definitions(window, stride):
    strided = strided_mask(12, window, stride)
    first = first_tokens_mask(12, window, stride)
    for i in range(12):
        for j in range(12):
            near = 0 <= i - j < window
            far = j <= i and (i - j) % stride == 0
            assert strided[i, j] == (near or far), (i, j)
            assert first[i, j] == (near or (j <= i and j < stride)), (i, j)


@pytest.mark.parametrize("root", [4, 8, 16])
def test_a_stride_of_the_root_keeps_about_two_roots_a_query(root):
    mask = strided_mask(root**2, root)
    assert mask.sum(axis=1).max() <= 2 * root
    assert reached(mask, 2)[-1].all()


@pytest.mark.parametrize("name", PATTERNS)
def test_nobody_sees_the_future_and_all_see_themselves(name):
    mask = PATTERNS[name]()
    assert not np.triu(mask, 1).any()
    assert mask.diagonal().all()


def test_first_tokens_are_seen_by_all_that_come_after():
    mask = first_tokens_mask(9, 2, num_first=3)
    assert mask[3:, :3].all()
    assert mask[8].sum() == 5


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: strided_mask(4, 0), "window .* received 0"),
        (lambda: strided_mask(4, 2, 0), "stride .* received 0"),
        (lambda: first_tokens_mask(4, 2, 0), "num_first .* received 0"),
        (lambda: reached(np.ones((2, 3), bool), 1), r"shape \(2, 3\)"),
        (lambda: reached(np.ones((2, 2)), 1), "dtype float64"),
        (lambda: reached(np.ones((2, 2), bool), -1), "received -1"),
    ],
)
def test_bad_input_is_named(call, says):
    with pytest.raises(ValueError, match=says):
        call()
