"""The loops below are the definition; utils.heads is the fast claim."""

import math

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from utils.attention import scaled_dot_product_attention
from utils.heads import merge_heads, multi_head_attention, split_heads

many = settings(deadline=None, max_examples=40)
X = np.arange(8).reshape(1, 2, 4)


def by_hand(Xq, Xkv, W_Q, W_K, W_V, W_O, num_heads, mask, num_key_heads):
    """One sentence, one head after the other, one query after the other."""
    d_k, d_v = W_Q.shape[1] // num_heads, W_V.shape[1] // num_key_heads
    rows, weights = [], []
    for h in range(num_heads):
        g = h * num_key_heads // num_heads
        Q = Xq @ W_Q[:, h * d_k : (h + 1) * d_k]
        K = Xkv @ W_K[:, g * d_k : (g + 1) * d_k]
        V = Xkv @ W_V[:, g * d_v : (g + 1) * d_v]
        head, found = [], []
        for i, q in enumerate(Q):
            powers = [
                math.exp(q @ k / math.sqrt(d_k)) if mask[i, j] else 0.0
                for j, k in enumerate(K)
            ]
            total = sum(powers) or 1.0
            found.append([p / total for p in powers])
            head.append(sum(w * v for w, v in zip(found[-1], V, strict=True)))
        rows.append(head)
        weights.append(found)
    return np.concatenate(rows, axis=-1) @ W_O, np.array(weights)


def example(N, M, num_heads, num_key_heads, d_k=3, d_v=2, front=(), seed=0):
    rng = np.random.default_rng(seed)
    d_model, d_source, d_out = 5, 4, 6
    shapes = (
        (*front, N, d_model),
        (*front, M, d_source),
        (d_model, num_heads * d_k),
        (d_source, num_key_heads * d_k),
        (d_source, num_key_heads * d_v),
        (num_heads * d_v, d_out),
    )
    return [rng.normal(size=shape) for shape in shapes]


def random_mask(*shape, seed=1):
    mask = np.random.default_rng(seed).random(shape) < 0.6
    mask[..., 0] = True
    return mask


# --- split and merge -------------------------------------------------------


@pytest.mark.bug(id="A11")
def test_a_head_does_not_mix_tokens():
    assert_array_equal(split_heads(X, 2)[0, 0], [[0, 1], [4, 5]])
    wrong = X.reshape(1, 2, 2, 2)
    assert_array_equal(wrong[0, 0], [[0, 1], [2, 3]])


@pytest.mark.bug(id="A12")
def test_merging_undoes_splitting():
    assert_array_equal(merge_heads(split_heads(X, 2)), X)
    wrong = split_heads(X, 2).reshape(1, 2, 4)
    assert_array_equal(wrong, [[[0, 1, 4, 5], [2, 3, 6, 7]]])
    Y = np.random.default_rng(0).normal(size=(2, 5, 12))
    assert_array_equal(merge_heads(split_heads(Y, 3)), Y)


counts = st.integers(1, 4)
fronts = st.sampled_from([(), (2,), (2, 3), (0,)])


@many
@given(front=fronts, N=st.integers(0, 4), num_heads=counts, d=counts)
def test_each_number_goes_to_its_head_and_comes_back(front, N, num_heads, d):
    shape = (*front, N, num_heads * d)
    Y = np.arange(math.prod(shape)).reshape(shape)
    heads = split_heads(Y, num_heads)
    assert heads.shape == (*front, num_heads, N, d)
    for h in range(num_heads):
        for i in range(N):
            assert_array_equal(
                heads[..., h, i, :], Y[..., i, h * d : (h + 1) * d]
            )
    assert_array_equal(merge_heads(heads), Y)


def test_no_memory_is_shared():
    Y = np.arange(8.0).reshape(2, 4)
    for num_heads in (1, 2):
        heads = split_heads(Y, num_heads)
        assert not np.shares_memory(heads, Y)
        assert not np.shares_memory(merge_heads(heads), heads)


# --- attention -------------------------------------------------------------


@many
@given(
    N=st.integers(1, 4),
    M=st.integers(1, 4),
    heads=st.sampled_from([(1, 1), (2, 2), (2, 1), (4, 2), (6, 3), (4, 1)]),
    seed=st.integers(0, 9),
)
def test_attention_is_that_of_the_slow_loop(N, M, heads, seed):
    arrays = example(N, M, *heads, seed=seed)
    mask = random_mask(N, M, seed=seed)
    found = multi_head_attention(*arrays, heads[0], mask, heads[1])
    expected = by_hand(*arrays, heads[0], mask, heads[1])
    for one, other in zip(found, expected, strict=True):
        assert_allclose(one, other, atol=1e-12)


@pytest.mark.bug(id="A16")
@pytest.mark.parametrize(("L", "S"), [(3, 5), (1, 5), (3, 1), (1, 1)])
def test_a_mask_of_each_sentence_need_not_be_square(L, S):
    arrays = example(L, S, 2, 2, front=(2,))
    mask = random_mask(2, L, S)
    output, weights = multi_head_attention(*arrays, 2, mask)
    assert weights.shape == (2, 2, L, S)
    for b in range(2):
        one = by_hand(arrays[0][b], arrays[1][b], *arrays[2:], 2, mask[b], 2)
        assert_allclose(output[b], one[0], atol=1e-12)
        assert_allclose(weights[b], one[1], atol=1e-12)


@pytest.mark.bug(id="A09")
def test_each_of_four_heads_of_sixteen_divides_by_two():
    """√16 would give 0.634 and 0.366, no divisor 0.9 and 0.1."""
    query, keys, eye = np.zeros((1, 16)), np.zeros((2, 16)), np.eye(16)
    query[0, ::4] = 1  # in every head the first coordinate counts
    keys[0, ::4] = 2 * math.log(3)
    _, weights = multi_head_attention(query, keys, eye, eye, eye, eye, 4)
    assert_allclose(weights, np.full((4, 1, 2), [0.75, 0.25]), atol=1e-12)


def test_one_mask_serves_a_batch_and_a_missing_one_lets_all_through():
    arrays = example(3, 3, 2, 1, front=(2,))
    causal = np.tri(3, dtype=bool)
    one = multi_head_attention(*arrays, 2, causal, 1)
    each = multi_head_attention(*arrays, 2, np.stack([causal] * 2), 1)
    for a, b in zip(one, each, strict=True):
        assert_array_equal(a, b)
    none = multi_head_attention(*arrays, 2, num_key_heads=1)
    every = multi_head_attention(*arrays, 2, np.ones((3, 3), bool), 1)
    for a, b in zip(none, every, strict=True):
        assert_array_equal(a, b)


@pytest.mark.bug(id="A01")
def test_a_query_with_an_all_masked_row_gets_zeros():
    arrays = example(2, 3, 2, 2)
    mask = np.array([[True] * 3, [False] * 3])
    output, weights = multi_head_attention(*arrays, 2, mask)
    assert not output[1].any()
    assert not weights[:, 1].any()


def test_one_head_is_plain_attention():
    Xq, Xkv, W_Q, W_K, W_V, W_O = example(3, 4, 1, 1)
    output, weights = multi_head_attention(Xq, Xkv, W_Q, W_K, W_V, W_O, 1)
    plain = scaled_dot_product_attention(Xq @ W_Q, Xkv @ W_K, Xkv @ W_V)
    assert_allclose(output, plain[0] @ W_O, atol=1e-12)
    assert_allclose(weights[0], plain[1], atol=1e-12)


@pytest.mark.bug(id="A17")
def test_changing_the_future_leaves_the_past_bit_for_bit():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(5, 4))
    W = [rng.normal(size=(4, 4)) for _ in range(4)]
    mask = np.tri(5, dtype=bool)
    before = multi_head_attention(X, X, *W, 2, mask)[0]
    X[3:] += 10
    after = multi_head_attention(X, X, *W, 2, mask)[0]
    assert_array_equal(before[:3], after[:3])
    assert np.abs(before[3:] - after[3:]).max() > 0.1


def test_torchs_multi_head_attention_gives_the_same():
    torch.manual_seed(0)
    peer = torch.nn.MultiheadAttention(
        12, 3, bias=False, batch_first=True, dtype=torch.float64
    )
    Xq, Xkv = (torch.randn(2, n, 12, dtype=torch.float64) for n in (4, 5))
    mask = random_mask(4, 5)
    W = [w.T.numpy(force=True) for w in peer.in_proj_weight.chunk(3)]
    W_O = peer.out_proj.weight.T.numpy(force=True)
    with torch.no_grad():
        output, weights = peer(
            Xq,
            Xkv,
            Xkv,
            attn_mask=torch.from_numpy(~mask),
            average_attn_weights=False,
        )
    found = multi_head_attention(Xq.numpy(), Xkv.numpy(), *W, W_O, 3, mask)
    assert_allclose(found[0], output, atol=1e-12)
    assert_allclose(found[1], weights, atol=1e-12)


def test_torchs_grouped_queries_share_the_same_keys():
    arrays = example(4, 5, 6, 2, d_v=3, front=(2,))
    Xq, Xkv, W_Q, W_K, W_V, W_O = arrays
    mask = random_mask(4, 5)
    peers = [
        torch.from_numpy(split_heads(array, heads))
        for array, heads in ((Xq @ W_Q, 6), (Xkv @ W_K, 2), (Xkv @ W_V, 2))
    ]
    output = F.scaled_dot_product_attention(
        *peers, torch.from_numpy(mask), enable_gqa=True
    )
    found, _ = multi_head_attention(*arrays, 6, mask, 2)
    assert_allclose(found, merge_heads(output.numpy()) @ W_O, atol=1e-12)


def test_sharing_a_key_head_is_having_it_twice():
    Xq, Xkv, W_Q, W_K, W_V, W_O = example(3, 4, 4, 2)
    twice = [
        np.repeat(W.reshape(4, 2, -1), 2, axis=1).reshape(4, -1)
        for W in (W_K, W_V)
    ]
    shared = multi_head_attention(
        Xq, Xkv, W_Q, W_K, W_V, W_O, 4, num_key_heads=2
    )
    full = multi_head_attention(Xq, Xkv, W_Q, *twice, W_O, 4)
    for one, other in zip(shared, full, strict=True):
        assert_allclose(one, other, atol=1e-12)


def test_inputs_stay_as_they_were():
    arrays = example(3, 4, 4, 2)
    mask = random_mask(3, 4)
    copies = [array.copy() for array in (*arrays, mask)]
    for array in (*arrays, mask):
        array.flags.writeable = False
    multi_head_attention(*arrays, 4, mask, 2)
    for array, copy in zip((*arrays, mask), copies, strict=True):
        assert_array_equal(array, copy)


# --- what is refused -------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: split_heads(np.zeros((2, 5)), 2), "width 5 .* 2 equal"),
        (lambda: split_heads(np.zeros(4), 2), r"too few axes: \(4,\)"),
        (lambda: split_heads(np.zeros((2, 4)), 0), "received 0"),
        (lambda: split_heads(np.zeros((2, 4)), 2.0), "received 2.0"),
        (lambda: merge_heads(np.zeros((2, 4))), r"too few axes: \(2, 4\)"),
    ],
)
def test_what_cannot_be_cut_is_refused(call, words):
    with pytest.raises(ValueError, match=words):
        call()


@pytest.mark.parametrize(
    ("heads", "change", "words"),
    [
        ((4, 3), {}, "4 is not a multiple of num_key_heads 3"),
        ((0, 1), {}, "num_heads .* received 0"),
        ((2, 0), {}, "num_key_heads .* received 0"),
        ((2, 1), {}, "widths do not fit"),
        ((2, 2), {2: np.zeros((5, 7))}, r"widths do not fit.*\(5, 7\)"),
        ((2, 2), {5: np.zeros((5, 7))}, r"widths do not fit.*\(5, 7\)"),
        ((2, 2), {3: np.zeros(4)}, r"W_K must have two axes.*\(4,\)"),
        ((2, 2), {0: np.zeros(5)}, r"X_queries .* shape \(5,\)"),
        ((2, 2), {1: np.zeros(4)}, r"X_keys_values .* shape \(4,\)"),
    ],
)
def test_what_does_not_fit_is_refused(heads, change, words):
    arrays = example(3, 4, 2, 2)
    for place, array in change.items():
        arrays[place] = array
    with pytest.raises(ValueError, match=words):
        multi_head_attention(*arrays, heads[0], num_key_heads=heads[1])


@pytest.mark.bug(id="A05")
def test_a_mask_of_numbers_is_refused():
    with pytest.raises(ValueError, match="boolean"):
        multi_head_attention(*example(3, 4, 2, 2), 2, np.ones((3, 4)))
