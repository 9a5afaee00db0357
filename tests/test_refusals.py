"""Every refusal of the ground floor, word for word.

What a reader is told names what was wrong: the argument, what it must be and
what was received. Other tests ask for a part of it; here it is whole, so that
no word of it can be lost.
"""

import math
import re

import numpy as np
import pytest

from utils import (
    attention,
    border,
    cost,
    heads,
    masks,
    positions,
    ring,
    roofline,
    sparse,
    tiled,
    trained,
)

E23 = np.eye(2, 3)
BANK = "The bank approved the loan."


def several(**changed):
    """Two heads, of width 2 for queries and 3 for values, changed."""
    given = {
        "X_queries": np.ones((3, 5)),
        "X_keys_values": np.ones((3, 5)),
        "W_Q": np.ones((5, 4)),
        "W_K": np.ones((5, 4)),
        "W_V": np.ones((5, 6)),
        "W_O": np.ones((6, 5)),
        "num_heads": 2,
    }
    return heads.multi_head_attention(**{**given, **changed})


REFUSALS = [
    (
        lambda: attention.softmax(3),
        "scores needs an axis, received a single 3.0",
    ),
    (lambda: attention.softmax([1, 2], axis=1), "axis 1 is not in shape (2,)"),
    (
        lambda: attention.softmax([1, 2], axis=-2),
        "axis -2 is not in shape (2,)",
    ),
    (
        lambda: attention.softmax([1, 2], axis=0.0),
        "axis 0.0 is not in shape (2,)",
    ),
    (
        lambda: attention.softmax([1, 2], temperature=0),
        "temperature must be above 0 and finite, received 0",
    ),
    (
        lambda: attention.softmax([1, 2], temperature=math.inf),
        "temperature must be above 0 and finite, received inf",
    ),
    (
        lambda: attention.softmax([1, 2], temperature="hot"),
        "temperature must be above 0 and finite, received 'hot'",
    ),
    (
        lambda: attention.softmax(["a"]),
        "scores must hold real numbers, received dtype <U1",
    ),
    (lambda: attention.softmax([math.nan, 1]), "scores holds nan at (0,)"),
    (lambda: attention.softmax([1, math.inf]), "scores holds inf at (1,)"),
    (
        lambda: attention.project([[1e200]], [[1e200]]),
        "X W holds a number too large for float64",
    ),
    (
        lambda: attention.attention_scores([[1e200]], [[1e200]]),
        "Q Kᵀ holds a number too large for float64",
    ),
    (
        lambda: attention.scaled_scores([[1e200]], [[1e200]]),
        "Q Kᵀ / √d_k holds a number too large for float64",
    ),
    (
        lambda: attention.scaled_scores(np.ones((2, 0)), np.ones((3, 0))),
        "d_k is 0 in Q (2, 0) and K (3, 0): no √d_k",
    ),
    (
        lambda: border.as_floats("X", ["a"]),
        "X must hold real numbers, received dtype <U1",
    ),
    (
        lambda: border.as_floats("X", [True]),
        "X must hold real numbers, received dtype bool; a mask goes in as"
        " mask=",
    ),
    (
        lambda: border.refuse(
            "X", np.array([[1.0, np.inf]]), np.array([[False, True]])
        ),
        "X holds inf at (0, 1)",
    ),
    (
        lambda: border.count("num_heads", 2.5),
        "num_heads must be a whole number from 1 on, received 2.5",
    ),
    (
        lambda: border.count("num_heads", 0),
        "num_heads must be a whole number from 1 on, received 0",
    ),
    (
        lambda: border.count("num_heads", True),
        "num_heads must be a whole number from 1 on, received True",
    ),
    (
        lambda: border.count("num_keys", -1, least=0),
        "num_keys must be a whole number from 0 on, received -1",
    ),
    (
        lambda: border.read_arrays(Q=[[math.inf]], K=[[1]]),
        "Q holds inf at (0, 0)",
    ),
    (
        lambda: border.read_arrays(Q=[[1]], K=[[1]], mask=[[1]]),
        "mask must be boolean, where True means may attend; received "
        "dtype int64",
    ),
    (
        lambda: border.read_arrays(Q=[1, 2], K=[[1, 2]]),
        "Q has too few axes. Pattern: Q (..., N, d_k), K (..., M, d_k). "
        "Received: Q (2,), K (1, 2).",
    ),
    (
        lambda: border.read_arrays(Q=np.ones((2, 3)), K=np.ones((2, 4))),
        "d_k is 3 in Q, 4 in K. Pattern: Q (..., N, d_k), K (..., M, "
        "d_k). Received: Q (2, 3), K (2, 4).",
    ),
    (
        lambda: border.read_arrays(
            Q=np.ones((2, 3)), K=np.ones((2, 3)), V=np.ones((4, 1))
        ),
        "M is 2 in K, 4 in V. Pattern: Q (..., N, d_k), K (..., M, d_k), "
        "V (..., M, d_v). Received: Q (2, 3), K (2, 3), V (4, 1).",
    ),
    (
        lambda: border.read_arrays(Q=np.ones((2, 1, 3)), K=np.ones((3, 2, 3))),
        "the axes in front (batch, heads) do not broadcast. Pattern: Q "
        "(..., N, d_k), K (..., M, d_k). Received: Q (2, 1, 3), K (3, 2, "
        "3).",
    ),
    (
        lambda: border.read_arrays(
            Q=np.ones((1, 3)), K=np.ones((2, 3)), mask=np.ones((1, 3), bool)
        ),
        "M is 2 in K, 3 in mask. Pattern: Q (..., N, d_k), K (..., M, "
        "d_k), mask (..., N, M). Received: Q (1, 3), K (2, 3), mask (1, "
        "3).",
    ),
    (
        lambda: border.read_arrays(
            Q=np.ones((1, 3)), K=np.ones((2, 3)), mask=np.array(True)
        ),
        "mask has too few axes. Pattern: Q (..., N, d_k), K (..., M, "
        "d_k), mask (..., N, M). Received: Q (1, 3), K (2, 3), mask ().",
    ),
    (
        lambda: cost.counted_attention(np.ones((1, 2, 3)), E23, E23),
        "the loops take one head of one text; received Q (1, 2, 3), K (2,"
        " 3), V (2, 3)",
    ),
    (
        lambda: cost.counted_attention(E23, np.ones((1, 2, 3)), E23),
        "the loops take one head of one text; received Q (2, 3), K (1, 2,"
        " 3), V (2, 3)",
    ),
    (
        lambda: cost.counted_attention(E23, E23, np.ones((1, 2, 3))),
        "the loops take one head of one text; received Q (2, 3), K (2, "
        "3), V (1, 2, 3)",
    ),
    (
        lambda: cost.multiply_adds(0, 4),
        "num_queries must be a whole number from 1 on, received 0",
    ),
    (
        lambda: cost.multiply_adds(2, 2.5),
        "d_k must be a whole number from 1 on, received 2.5",
    ),
    (
        lambda: cost.multiply_adds(2, 3, 0),
        "d_v must be a whole number from 1 on, received 0",
    ),
    (
        lambda: cost.multiply_adds(2, 3, 4, 0),
        "num_keys must be a whole number from 1 on, received 0",
    ),
    (
        lambda: cost.projection_multiply_adds(0, 4),
        "num_tokens must be a whole number from 1 on, received 0",
    ),
    (
        lambda: cost.projection_multiply_adds(4, 0),
        "d_model must be a whole number from 1 on, received 0",
    ),
    (
        lambda: cost.number_of_scores(-1),
        "num_tokens must be a whole number from 1 on, received -1",
    ),
    (
        lambda: cost.number_of_scores(4, 0),
        "num_heads must be a whole number from 1 on, received 0",
    ),
    (
        lambda: cost.number_of_scores(4, 1, 0),
        "num_layers must be a whole number from 1 on, received 0",
    ),
    (
        lambda: cost.cache_numbers(0, 8),
        "num_tokens must be a whole number from 1 on, received 0",
    ),
    (
        lambda: cost.cache_numbers(5, 0),
        "d_model must be a whole number from 1 on, received 0",
    ),
    (
        lambda: cost.cache_numbers(5, 8, 0),
        "num_heads must be a whole number from 1 on, received 0",
    ),
    (
        lambda: cost.cache_numbers(5, 8, 4, 0),
        "num_key_heads must be a whole number from 1 on, received 0",
    ),
    (
        lambda: cost.cache_numbers(5, 8, 4, 3),
        "num_key_heads 3 does not divide num_heads 4",
    ),
    (lambda: cost.parameters(10, 3), "d_model 10 cannot be cut into 3 heads"),
    (
        lambda: cost.decoding_step(5, 8, 4, 3),
        "num_key_heads 3 does not divide num_heads 4",
    ),
    (
        lambda: cost.decoding_step(5, 8, 4, 5),
        "num_key_heads 5 does not divide num_heads 4",
    ),
    (
        lambda: heads.split_heads(np.zeros((2, 4)), 0),
        "num_heads must be a whole number from 1 on, received 0",
    ),
    (
        lambda: heads.split_heads(np.zeros(4), 2),
        "X (..., N, width) has too few axes: (4,)",
    ),
    (
        lambda: heads.split_heads(np.zeros((2, 5)), 2),
        "width 5 of X (2, 5) cannot be cut into 2 equal heads",
    ),
    (
        lambda: heads.merge_heads(np.zeros((2, 4))),
        "heads (..., num_heads, N, d_head) has too few axes: (2, 4)",
    ),
    (
        lambda: several(num_heads=0),
        "num_heads must be a whole number from 1 on, received 0",
    ),
    (
        lambda: several(num_key_heads=0),
        "num_key_heads must be a whole number from 1 on, received 0",
    ),
    (
        lambda: several(num_heads=4, num_key_heads=3),
        "num_heads 4 is not a multiple of num_key_heads 3: the heads of "
        "queries share keys evenly",
    ),
    (lambda: several(W_K=np.ones(4)), "W_K must have two axes, received (4,)"),
    (lambda: several(W_O=np.ones(4)), "W_O must have two axes, received (4,)"),
    (
        lambda: several(W_K=np.ones((5, 6))),
        "the widths do not fit the heads. Pattern: W_Q (d_model, "
        "num_heads d_k), W_K (d_source, num_key_heads d_k), W_V "
        "(d_source, num_key_heads d_v), W_O (num_heads d_v, d_out). "
        "Received: {'W_Q': (5, 4), 'W_K': (5, 6), 'W_V': (5, 6), 'W_O': "
        "(6, 5)}, num_heads 2, num_key_heads 2.",
    ),
    (
        lambda: several(X_queries=np.ones(5)),
        "X_queries (..., N, d_model) has shape (5,)",
    ),
    (
        lambda: several(X_keys_values=np.ones(5)),
        "X_keys_values (..., N, d_model) has shape (5,)",
    ),
    (
        lambda: masks.padding_mask([2, 5], 4),
        "each length must be from 0 to num_keys = 4, received 5",
    ),
    (
        lambda: masks.padding_mask([2, -1]),
        "each length must be from 0 to num_keys = 2, received -1",
    ),
    (
        lambda: masks.padding_mask([2.0, 1.0]),
        "lengths must be one row of whole numbers, one for each sentence;"
        " received shape (2,), dtype float64",
    ),
    (
        lambda: masks.padding_mask(3),
        "lengths must be one row of whole numbers, one for each sentence;"
        " received shape (), dtype int64",
    ),
    (
        lambda: masks.padding_mask([1], 2.5),
        "num_keys must be a whole number from 0 on, received 2.5",
    ),
    (
        lambda: masks.padding_mask([1], -1),
        "num_keys must be a whole number from 0 on, received -1",
    ),
    (
        lambda: masks.causal_mask(-1),
        "num_queries must be a whole number from 0 on, received -1",
    ),
    (
        lambda: masks.causal_mask(2, "3"),
        "num_keys must be a whole number from 0 on, received '3'",
    ),
    (
        lambda: masks.causal_mask(2, -1),
        "num_keys must be a whole number from 0 on, received -1",
    ),
    (
        lambda: masks.causal_mask(5, 2),
        "there must be no fewer keys than queries, or the first queries "
        "see nothing; received num_queries = 5, num_keys = 2",
    ),
    (
        lambda: masks.sliding_window_mask(3, 0),
        "window must be a whole number from 1 on, received 0",
    ),
    (
        lambda: masks.combine_masks(),
        "combine_masks needs one mask or more, received none",
    ),
    (
        lambda: masks.combine_masks([True], [1]),
        "each mask must be boolean, where True means may attend; received"
        " dtype int64 in mask 1",
    ),
    (
        lambda: masks.combine_masks([[True] * 3] * 2, [[True] * 4] * 2),
        "the masks do not broadcast to one shape. Pattern: (..., N or 1, "
        "M or 1). Received: (2, 3), (2, 4).",
    ),
    (
        lambda: positions.angular_speeds(0),
        "d must be a whole number from 1 on, received 0",
    ),
    (
        lambda: positions.angular_speeds(4, 0),
        "base must be above 0 and finite, received 0",
    ),
    (
        lambda: positions.angular_speeds(4, math.inf),
        "base must be above 0 and finite, received inf",
    ),
    (
        lambda: positions.angular_speeds(4, True),
        "base must be above 0 and finite, received True",
    ),
    (
        lambda: positions.sinusoidal_encoding(0, 4),
        "num_positions must be a whole number from 1 on, received 0",
    ),
    (
        lambda: positions.sinusoidal_encoding(4, 0),
        "d_model must be a whole number from 1 on, received 0",
    ),
    (
        lambda: positions.rotate([1, 2, 3], 0),
        "Q needs an even number of features, in pairs; received shape (3,)",
    ),
    (
        lambda: positions.rotate(["a", "b"], 0),
        "Q must hold real numbers, received dtype <U1",
    ),
    (lambda: positions.rotate([1, math.nan], 0), "Q holds nan at (1,)"),
    (
        lambda: positions.rotate([1, 2], "a"),
        "positions must hold real numbers, received dtype <U1",
    ),
    (lambda: positions.rotate([1, 2], math.inf), "positions holds inf at ()"),
    (
        lambda: positions.rotate([1, 2], 0, "thirds"),
        "pairing must be one of ('neighbours', 'halves'), got 'thirds'",
    ),
    (
        lambda: positions.rotate(np.ones((2, 3, 4)), [0, 1]),
        "positions needs one number for each row of Q. Pattern: Q (..., "
        "N, d_k), positions (..., N). Received: Q (2, 3, 4), positions "
        "(2,).",
    ),
    (
        lambda: positions.neighbours_to_halves([1, 2, 3]),
        "Q needs an even number of features, in pairs; received shape (3,)",
    ),
    (
        lambda: positions.neighbours_to_halves(["a"]),
        "Q must hold real numbers, received dtype <U1",
    ),
    (
        lambda: positions.halves_to_neighbours([1, 2, 3]),
        "Q needs an even number of features, in pairs; received shape (3,)",
    ),
    (
        lambda: positions.halves_to_neighbours(["a"]),
        "Q must hold real numbers, received dtype <U1",
    ),
    (
        lambda: tiled.part_of(
            np.ones((2, 0)), np.ones((2, 0)), np.ones((2, 1))
        ),
        "d_k is 0 in Q (2, 0): no √d_k",
    ),
    (
        lambda: tiled.attention_by_tiles(E23, E23, E23, tile=0),
        "tile must be a whole number from 1 on, received 0",
    ),
    (
        lambda: tiled.attention_by_tiles(E23, E23, E23, lambda i, j: i + j),
        "mask must be boolean, where True means may attend; received "
        "dtype int64",
    ),
    (
        lambda: tiled.merge(
            tiled.part_of(E23, E23, E23), tiled.part_of(E23[:1], E23, E23)
        ),
        "parts of the same queries are merged; received O (2, 3) and (1, 3)",
    ),
    (
        lambda: sparse.strided_mask(0, 1),
        "num_tokens must be a whole number from 1 on, received 0",
    ),
    (
        lambda: sparse.strided_mask(4, 0),
        "window must be a whole number from 1 on, received 0",
    ),
    (
        lambda: sparse.strided_mask(4, 1, 0),
        "stride must be a whole number from 1 on, received 0",
    ),
    (
        lambda: sparse.first_tokens_mask(0, 1),
        "num_tokens must be a whole number from 1 on, received 0",
    ),
    (
        lambda: sparse.first_tokens_mask(4, 0),
        "window must be a whole number from 1 on, received 0",
    ),
    (
        lambda: sparse.first_tokens_mask(4, 1, 0),
        "num_first must be a whole number from 1 on, received 0",
    ),
    (
        lambda: sparse.reached([[1]], 1),
        "mask must be a square of truth values, received shape (1, 1), "
        "dtype int64",
    ),
    (
        lambda: sparse.reached([True], 1),
        "mask must be a square of truth values, received shape (1,), "
        "dtype bool",
    ),
    (
        lambda: sparse.reached([[True, False]], 1),
        "mask must be a square of truth values, received shape (1, 2), "
        "dtype bool",
    ),
    (
        lambda: sparse.reached([[True]], -1),
        "num_layers must be a whole number from 0 on, received -1",
    ),
    (
        lambda: ring.ring_attention(E23, E23, E23, 0),
        "num_ranks must be a whole number from 1 on, received 0",
    ),
    (
        lambda: ring.ring_attention(E23, E23, E23, 3),
        "3 ranks cannot hold equal pieces of 2 queries and 2 keys",
    ),
    (
        lambda: ring.ring_attention(E23, np.ones((4, 3)), E23, 2),
        "2 ranks cannot hold equal pieces of 2 queries and 4 keys",
    ),
    (
        lambda: trained.head_weights(BANK, 6, 0),
        "layer must be 0 to 5, received 6",
    ),
    (
        lambda: trained.head_weights(BANK, -1, 0),
        "layer must be 0 to 5, received -1",
    ),
    (
        lambda: trained.head_weights(BANK, 0, 12),
        "head must be 0 to 11, received 12",
    ),
    (
        lambda: trained.head_weights(BANK, 0.0, 0),
        "layer must be 0 to 5, received 0.0",
    ),
    (
        lambda: trained.queries_and_keys(BANK, 0, 0),
        "(layer, head) must be one of ((0, 2), (0, 4), (2, 8), (4, 4), "
        "(5, 4), (5, 7), (5, 11)), whose queries and keys are stored; "
        "received (0, 0)",
    ),
    (
        lambda: trained.cosine_similarity([1, 0], [1]),
        "u and v must both have shape (d,), received (2,), (1,)",
    ),
    (
        lambda: trained.cosine_similarity([[1]], [[1]]),
        "u and v must both have shape (d,), received (1, 1), (1, 1)",
    ),
    (
        lambda: trained.cosine_similarity([0, 0], [1, 0]),
        "a vector of zeros, or not finite, has no direction",
    ),
    (
        lambda: roofline.exponent([1], [1]),
        "two or more pairs are needed, received 1 lengths and 1 values",
    ),
    (
        lambda: roofline.exponent([1, 2], [1]),
        "two or more pairs are needed, received 2 lengths and 1 values",
    ),
    (
        lambda: roofline.exponent([1, 0], [1, 2]),
        "all must be above 0, received [1. 0.], [1. 2.]",
    ),
    (
        lambda: roofline.exponent([1, 2], [1, 0]),
        "all must be above 0, received [1. 2.], [1. 0.]",
    ),
    (
        lambda: trained.tokens("x"),
        "received 'x', not one of\n  " + "\n  ".join(trained.sentences()),
    ),
]


@pytest.mark.parametrize(
    ("call", "words"), REFUSALS, ids=[words[:50] for _, words in REFUSALS]
)
def test_a_refusal_is_whole(call, words):
    with pytest.raises(ValueError, match=rf"\A{re.escape(words)}\Z"):
        call()


AGAIN = (
    "Write it again with `python tools/export_trained_attention.py`, or take "
    "it from the book's repository."
)


def test_trained_weights_that_are_missing_say_what_to_do(
    tmp_path, monkeypatch
):
    path = tmp_path / "none.npz"
    monkeypatch.setattr(trained, "PATH", path)
    words = re.escape(f"{path} is missing. {AGAIN}")
    with pytest.raises(ValueError, match=rf"\A{words}\Z"):
        trained.sentences()


def test_trained_weights_that_are_damaged_say_what_to_do(
    tmp_path, monkeypatch
):
    path = tmp_path / "torn.npz"
    path.write_bytes(b"PK")
    monkeypatch.setattr(trained, "PATH", path)
    words = re.escape(f"{path} is damaged (File is not a zip file). {AGAIN}")
    with pytest.raises(ValueError, match=rf"\A{words}\Z"):
        trained.sentences()


def test_a_changed_byte_of_trained_weights_is_found(tmp_path, monkeypatch):
    path = tmp_path / "changed.npz"
    data = bytearray(trained.PATH.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)
    monkeypatch.setattr(trained, "PATH", path)
    with pytest.raises(ValueError, match=r"\(bad checksum in \w+\.npy\)"):
        trained.sentences()


def test_an_output_past_the_largest_number_is_named():
    """Weights that sum to 1 and a bit in the last place: some seeds do."""
    values = np.full((7, 1), np.finfo(float).max)
    said = set()
    for seed in range(100):
        K = np.random.default_rng(seed).normal(size=(7, 1))
        try:
            attention.scaled_dot_product_attention([[1.0]], K, values)
        except ValueError as refusal:
            said.add(str(refusal))
    assert said == {"the output holds a number too large for float64"}
