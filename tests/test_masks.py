"""The loops below say what each mask means; utils.masks is the fast claim.

`test_fact_A19_...` holds fact A19 of the two documents that the book grew
from. PyTorch's conventions, of which the chapter tells in words, are executed
here.
"""

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.testing import assert_allclose, assert_array_equal

from utils.attention import attention_weights, scaled_dot_product_attention
from utils.masks import (
    causal_mask,
    combine_masks,
    padding_mask,
    sliding_window_mask,
)

many = settings(deadline=None, max_examples=50)
small = st.integers(0, 6)


def attend(X, mask=None):
    """Self-attention without projections."""
    return scaled_dot_product_attention(X, X, X, mask)


# The definition, one pair of a query and a key at a time.


def by_hand(num_queries, num_keys, may):
    """The query in row i is token i + cached of the keys."""
    cached = num_keys - num_queries
    rows = [
        [may(i + cached, j) for j in range(num_keys)]
        for i in range(num_queries)
    ]
    return np.array(rows, dtype=bool).reshape(num_queries, num_keys)


@many
@given(small, small)
def test_causal_is_its_definition(num_queries, cached):
    num_keys = num_queries + cached
    mask = causal_mask(num_queries, num_keys)
    expected = by_hand(num_queries, num_keys, lambda i, j: j <= i)
    assert mask.dtype == bool
    assert_array_equal(mask, expected, strict=True)
    assert_array_equal(causal_mask(num_queries), mask[:, cached:])


@many
@given(small, small, st.integers(1, 9))
def test_window_is_its_definition(num_queries, cached, window):
    num_keys = num_queries + cached
    mask = sliding_window_mask(num_queries, window, num_keys)

    def may(i, j):
        return j in [i - back for back in range(window)]

    expected = by_hand(num_queries, num_keys, may)
    assert_array_equal(mask, expected, strict=True)


@many
@given(st.lists(small, max_size=4), small)
def test_padding_is_its_definition(lengths, more):
    num_keys = max(lengths, default=0) + more
    mask = padding_mask(lengths, num_keys)
    assert mask.shape == (len(lengths), 1, num_keys)
    assert mask.dtype == bool
    for b, j in np.ndindex(len(lengths), num_keys):
        assert mask[b, 0, j] == (j < lengths[b])
    shortest = padding_mask(lengths)
    assert_array_equal(mask[..., : num_keys - more], shortest, strict=True)


@many
@given(st.data(), hnp.mutually_broadcastable_shapes(num_shapes=3))
def test_combining_is_and_for_each_pair(data, shapes):
    masks = [data.draw(hnp.arrays(bool, s)) for s in shapes.input_shapes]
    combined = combine_masks(*masks)
    full = [np.broadcast_to(m, shapes.result_shape) for m in masks]
    assert combined.shape == shapes.result_shape
    for index in np.ndindex(shapes.result_shape):
        assert combined[index] == all(mask[index] for mask in full)


# What follows from the definitions.


@many
@given(st.integers(1, 8), small)
def test_every_causal_row_sees_its_own_token(num_queries, cached):
    num_keys = num_queries + cached
    for mask in (
        causal_mask(num_queries, num_keys),
        sliding_window_mask(num_queries, 1, num_keys),
    ):
        own = np.arange(num_queries)
        assert mask[own, own + cached].all()
    assert_array_equal(mask.sum(axis=1), 1)


@many
@given(st.integers(1, 8), st.integers(1, 8))
def test_cached_queries_have_the_last_rows_of_the_whole_square(n, cached):
    whole = n + cached
    for window in range(1, whole + 2):
        square = sliding_window_mask(whole, window)
        strip = sliding_window_mask(n, window, whole)
        assert_array_equal(strip, square[cached:])
    assert_array_equal(causal_mask(n, whole), causal_mask(whole)[cached:])


@many
@given(st.integers(1, 8), small)
def test_a_window_as_wide_as_the_keys_is_the_causal_mask(n, cached):
    wide = sliding_window_mask(n, n + cached, n + cached)
    assert_array_equal(wide, causal_mask(n, n + cached))
    wider = sliding_window_mask(n, 10**30, n + cached)
    assert_array_equal(wider, wide)


@many
@given(hnp.arrays(bool, (3, 4)), hnp.arrays(bool, (2, 1, 4)))
def test_combining_knows_no_order_and_no_repetition(one, other):
    both = combine_masks(one, other)
    assert_array_equal(both, combine_masks(other, one))
    assert_array_equal(both, combine_masks(one, other, one))


def test_inputs_stay_as_they_are_and_are_not_handed_back():
    lengths = np.array([1, 3])
    mask = causal_mask(3)
    combined = combine_masks(mask)
    assert not np.shares_memory(mask, combined)
    combined[:] = False
    padding_mask(lengths)[:] = False
    assert_array_equal(mask, np.tril(np.ones((3, 3))))
    assert_array_equal(lengths, [1, 3])


REFUSALS = [
    (padding_mask, ([2, 5], 4), "from 0 to num_keys = 4, received 5"),
    (padding_mask, ([2, -1],), "from 0 to num_keys = 2, received -1"),
    (padding_mask, ([2.0, 1.0],), "shape (2,), dtype float64"),
    (padding_mask, ([True, False],), "shape (2,), dtype bool"),
    (padding_mask, (3,), "received shape ()"),
    (padding_mask, ([[1, 2]],), "received shape (1, 2)"),
    (padding_mask, ([1], 2.5), "num_keys must be a whole number"),
    (causal_mask, (5, 2), "num_queries = 5, num_keys = 2"),
    (causal_mask, (-1,), "num_queries must be a whole number from 0 on"),
    (causal_mask, (True,), "received True"),
    (causal_mask, (2, "3"), "received '3'"),
    (sliding_window_mask, (3, 0), "from 1 on, received 0"),
    (sliding_window_mask, (3, 1.5), "from 1 on, received 1.5"),
    (sliding_window_mask, (3, 2, 1), "num_queries = 3, num_keys = 1"),
    (combine_masks, (), "received none"),
    (combine_masks, ([True], [1]), "dtype int64 in mask 1"),
    (combine_masks, (np.ones(3),), "dtype float64 in mask 0"),
    (
        combine_masks,
        (np.ones((2, 3), bool), np.ones((2, 4), bool)),
        "Received: (2, 3), (2, 4).",
    ),
]


@pytest.mark.parametrize(
    ("function", "args", "message"),
    REFUSALS,
    ids=[f"{f.__name__}: {m[:30]}" for f, _, m in REFUSALS],
)
def test_a_refusal_names_what_it_refuses(function, args, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        function(*args)


# The facts of the documents.


def test_fact_A19_a_padded_key_weighs_exactly_nothing_in_every_head():
    rng = np.random.default_rng(0)
    Q, K = rng.normal(size=(2, 2, 3, 5, 4))  # 2 sentences, 3 heads, 5 tokens
    mask = padding_mask([4, 5])[:, None]
    weights = attention_weights(Q, K, mask)
    assert_array_equal(weights[0, :, :, 4], 0)
    assert (weights[0, :, :, :4] > 0).all()
    assert (weights[1] > 0).all()
    assert_allclose(weights.sum(axis=-1), 1, rtol=0, atol=1e-12)


def test_fact_A20_the_causal_mask_for_four_tokens():
    mask = causal_mask(4)
    expected = [[1, 0, 0, 0], [1, 1, 0, 0], [1, 1, 1, 0], [1, 1, 1, 1]]
    assert_array_equal(mask, np.array(expected, bool))
    # the document's rows are weights under this mask: those of their own logs
    rows = np.array(
        [
            [1, 0, 0, 0],
            [0.45, 0.55, 0, 0],
            [0.20, 0.30, 0.50, 0],
            [0.10, 0.20, 0.25, 0.45],
        ]
    )
    scores = np.log(np.where(mask, rows, 1)) * 4**0.5
    weights = attention_weights(scores, np.eye(4), mask)
    assert_allclose(weights, rows, rtol=0, atol=1e-12)
    assert_array_equal(weights[~mask], 0)


@pytest.mark.bug(id="A17")
@many
@given(st.integers(1, 7), st.data())
def test_fact_A21_the_past_does_not_notice_the_future(N, data):
    now = data.draw(st.integers(0, N - 1))
    rng = np.random.default_rng(data.draw(st.integers(0, 99)))
    X = rng.normal(size=(2, N, 3))
    changed = X.copy()
    changed[:, now:] = rng.normal(size=changed[:, now:].shape) * 1e6
    for mask in (causal_mask(N), sliding_window_mask(N, 2)):
        before, _ = attend(X, mask)
        after, _ = attend(changed, mask)
        assert_array_equal(after[:, :now], before[:, :now])
        assert (after[:, now] != before[:, now]).all()


def test_fact_A22_padding_depends_on_lengths_and_causal_does_not():
    padding, causal = padding_mask([4, 5], 5), causal_mask(5)
    assert (padding[0] != padding[1]).any()
    assert causal.shape == (5, 5)
    both = combine_masks(padding, causal)
    assert both.shape == (2, 5, 5)
    assert_array_equal(both[1], causal)
    assert_array_equal(both[0, :, :4], causal[:, :4])
    assert not both[0, :, 4].any()


@many
@given(st.lists(st.integers(1, 5), min_size=1, max_size=3))
def test_what_padding_holds_does_not_matter_to_the_last_bit(lengths):
    rng = np.random.default_rng(sum(lengths))
    X = rng.normal(size=(len(lengths), 5, 3))
    mask = padding_mask(lengths, 5)
    real = mask[:, 0]
    other = np.where(real[..., None], X, rng.normal(size=X.shape) * 1e6)
    one, two = X, other
    for _ in range(2):  # two layers
        one, two = attend(one, mask)[0], attend(two, mask)[0]
    assert_array_equal(one[real], two[real])


# The bug bank: mistakes that people have made in public.


@pytest.mark.bug(id="A06")
def test_new_queries_are_the_last_tokens():
    zero = np.zeros((5, 1))
    V = np.arange(1.0, 6)[:, None]
    new, _ = scaled_dot_product_attention(zero[:2], zero, V, causal_mask(2, 5))
    assert_allclose(new, [[2.5], [3.0]], rtol=0, atol=1e-12)
    one, _ = scaled_dot_product_attention(
        zero[:1], zero[:4], V[:4], causal_mask(1, 4)
    )
    assert_allclose(one, [[2.5]], rtol=0, atol=1e-12)
    # the other convention, aligned to the top left, sees key 0 alone
    top_left = np.tri(1, 4, dtype=bool)
    one, _ = scaled_dot_product_attention(zero[:1], zero[:4], V[:4], top_left)
    assert_allclose(one, [[1.0]], rtol=0, atol=1e-12)
    with pytest.raises(ValueError, match="num_queries = 5, num_keys = 2"):
        causal_mask(5, 2)


@pytest.mark.bug(id="A14")
def test_padding_is_put_on_the_keys():
    X = np.random.default_rng(1).normal(size=(2, 4, 3))
    mask = padding_mask([2, 4])
    output, weights = attend(X, mask)
    assert_array_equal(weights[0][:, 2:], 0)
    assert_allclose(weights.sum(axis=-1), 1, rtol=0, atol=1e-12)
    alone, _ = attend(X[0, :2])
    assert_allclose(output[0, :2], alone, rtol=0, atol=1e-12)
    on_the_queries, mistaken = attend(X, mask.swapaxes(-2, -1))
    assert (np.abs(on_the_queries[0, :2] - alone) > 1e-3).any()
    assert mistaken[0, 0, 2] == pytest.approx(0.2334, abs=5e-5)
    assert not mistaken[0, 2:].any()


@pytest.mark.bug(id="A16")
def test_a_source_has_its_own_length():
    rng = np.random.default_rng(0)
    Q = rng.normal(size=(2, 2, 3, 4))
    K, V = rng.normal(size=(2, 2, 2, 5, 4))
    source = [3, 5]
    mask = padding_mask(source)[:, None]
    output, _ = scaled_dot_product_attention(Q, K, V, mask)
    for b, h in np.ndindex(2, 2):
        kept = slice(source[b])
        alone = scaled_dot_product_attention(
            Q[b, h], K[b, h, kept], V[b, h, kept]
        )[0]
        assert_allclose(output[b, h], alone, rtol=0, atol=1e-12)


@pytest.mark.bug(id="A17")
def test_the_diagonal_is_allowed():
    expected = [[1, 0, 0], [1, 1, 0], [1, 1, 1]]
    assert_array_equal(causal_mask(3), np.array(expected, bool))
    _, weights = attend(np.ones((3, 2)), causal_mask(3))
    assert_array_equal(weights[0], [1, 0, 0])


@pytest.mark.bug(id="A39")
def test_the_window_counts_the_token_itself():
    rows = sliding_window_mask(5, window=3).sum(axis=1)
    assert_array_equal(rows, [1, 2, 3, 3, 3])


# PyTorch: the same masks, in its conventions.


@pytest.fixture
def torch():
    import torch  # slow to import: only where it is compared with

    return torch


@pytest.mark.bug(id="A33")
@pytest.mark.parametrize(
    "mask",
    [
        padding_mask([3, 5])[:, None],
        causal_mask(5),
        sliding_window_mask(5, 2),
        combine_masks(padding_mask([3, 5]), causal_mask(5))[:, None],
    ],
    ids=["padding", "causal", "window", "both"],
)
def test_torch_reads_our_masks_as_they_are(torch, mask):
    Q, K, V = np.random.default_rng(0).normal(size=(3, 2, 2, 5, 4))
    ours, _ = scaled_dot_product_attention(Q, K, V, mask)
    theirs = torch.nn.functional.scaled_dot_product_attention(
        *map(torch.tensor, (Q, K, V)), attn_mask=torch.tensor(mask)
    )
    assert_allclose(theirs.numpy(), ours, rtol=0, atol=1e-12)


def test_torch_adds_a_mask_of_floats(torch):
    mask = causal_mask(5)
    additive = np.where(mask, 0.0, -np.inf)
    Q, K, V = np.random.default_rng(0).normal(size=(3, 5, 4))
    ours, _ = scaled_dot_product_attention(Q, K, V, mask)
    theirs = torch.nn.functional.scaled_dot_product_attention(
        *map(torch.tensor, (Q, K, V)), attn_mask=torch.tensor(additive)
    )
    assert_allclose(theirs.numpy(), ours, rtol=0, atol=1e-12)


def multihead(torch, width):
    """nn.MultiheadAttention with one head and nothing learned."""
    layer = torch.nn.MultiheadAttention(
        width, 1, bias=False, batch_first=True, dtype=torch.float64
    ).eval()
    eye = torch.eye(width, dtype=torch.float64)
    with torch.no_grad():
        layer.in_proj_weight.copy_(torch.cat([eye] * 3))
        layer.out_proj.weight.copy_(eye)
    return layer


@pytest.mark.bug(id="A04")
def test_multihead_attention_reads_true_as_blocked(torch):
    layer, X = (
        multihead(torch, 3),
        np.random.default_rng(0).normal(size=(2, 4, 3)),
    )
    x = torch.tensor(X)
    keep = padding_mask([2, 4])
    ours, weights = attend(X, combine_masks(keep, causal_mask(4)))
    theirs, their_weights = layer(
        x,
        x,
        x,
        key_padding_mask=torch.tensor(~keep[:, 0]),
        attn_mask=torch.tensor(~causal_mask(4)),
    )
    assert_allclose(theirs.detach().numpy(), ours, rtol=0, atol=1e-12)
    assert_allclose(
        their_weights.detach().numpy(), weights, rtol=0, atol=1e-12
    )
    # given our mask as it is, the last token may see nothing: NaN
    wrong = layer(x, x, x, attn_mask=torch.tensor(causal_mask(4)))[1]
    assert wrong[:, -1].isnan().all()


@pytest.mark.bug(id="A04")
def test_the_triangle_above_shows_torch_only_the_future(torch):
    zero = torch.zeros(1, 3, 2, dtype=torch.float64)
    V = torch.tensor([[[1.0], [2], [3]]], dtype=torch.float64)
    future = torch.ones(3, 3).triu(1).bool()
    sdpa = torch.nn.functional.scaled_dot_product_attention
    found = [
        sdpa(zero, zero, V, attn_mask=mask).flatten().tolist()
        for mask in (~future, future)
    ]
    expected = [[1, 1.5, 2], [2.5, 3, 0]]
    assert_allclose(found, expected, rtol=0, atol=1e-12)
    ours, _ = scaled_dot_product_attention(
        zero.numpy(), zero.numpy(), V.numpy(), future.numpy()
    )
    assert_allclose(ours.ravel(), expected[1], rtol=0, atol=1e-12)


@pytest.mark.bug(id="A05")
def test_ones_and_zeros_are_added_and_block_nothing(torch):
    layer = multihead(torch, 3)
    with torch.no_grad():
        layer.in_proj_weight[:6] = 0  # all scores are 0
    x = torch.diag(torch.tensor([1.0, 2, 3], dtype=torch.float64))[None]
    ones_and_zeros = torch.ones(3, 3, dtype=torch.float64).tril()
    weights = layer(x, x, x, attn_mask=ones_and_zeros)[1]
    expected = [0.576117, 0.211942, 0.211942]
    assert_allclose(weights[0, 0].detach().numpy(), expected, atol=1e-6)


@pytest.mark.bug(id="A06")
def test_torch_s_is_causal_is_aligned_to_the_top_left(torch):
    zero = torch.zeros(1, 4, 1, dtype=torch.float64)
    V = torch.arange(1.0, 5, dtype=torch.float64)[None, :, None]
    sdpa = torch.nn.functional.scaled_dot_product_attention
    with_flag = sdpa(zero[:, :1], zero, V, is_causal=True)
    with_mask = sdpa(
        zero[:, :1], zero, V, attn_mask=torch.tensor(causal_mask(1, 4))
    )
    assert with_flag.item() == 1.0
    assert with_mask.item() == 2.5


@pytest.mark.bug(id="A21")
def test_minus_a_billion_does_not_fit_half_precision(torch):
    mask = torch.tensor(~causal_mask(2))
    with pytest.raises(RuntimeError, match="without overflow"):
        torch.zeros(2, 2, dtype=torch.half).masked_fill(mask, -1e9)
    with np.errstate(over="ignore"):
        assert np.float16(-1e9) == -np.inf


@pytest.mark.bug(id="A33")
def test_a_mask_is_boolean_whatever_the_queries_are(torch):
    mask = torch.tensor(combine_masks(padding_mask([3]), causal_mask(3)))
    sdpa = torch.nn.functional.scaled_dot_product_attention
    for dtype in (torch.float32, torch.bfloat16):
        q = torch.zeros(1, 3, 2, dtype=dtype)
        assert sdpa(q, q, q, attn_mask=mask).isfinite().all()
    said = "Expected attn_mask dtype to be bool or float or to match query"
    with pytest.raises(RuntimeError, match=said):
        sdpa(q, q, q, attn_mask=mask.double())


@pytest.mark.bug(id="A03")
def test_a_sample_of_nothing_but_padding_depends_on_a_flag(torch):
    layer = multihead(torch, 4)
    x = torch.ones(1, 3, 4, dtype=torch.float64)
    blocked = torch.ones(1, 3, dtype=torch.bool)
    with torch.no_grad():
        with_weights, without = (
            layer(x, x, x, key_padding_mask=blocked, need_weights=flag)[0]
            for flag in (True, False)
        )
    assert with_weights.isnan().all()
    assert (without == 0).all()
