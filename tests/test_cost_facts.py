"""What attention costs, counted: the facts that the chapter on cost shows."""

import numpy as np
import pytest

from utils.attention import attention_scores, scaled_dot_product_attention
from utils.cost import (
    BYTES_PER_NUMBER,
    counted_attention,
    multiply_adds,
    number_of_scores,
    parameters,
)


@pytest.mark.parametrize(
    ("N", "d_k", "d_v"), [(1, 1, 1), (4, 2, 3), (7, 5, 2), (12, 8, 8)]
)
def test_fact_A24_multiply_adds_counted_equal_the_formula(N, d_k, d_v):
    rng = np.random.default_rng(N)
    Q, K = rng.normal(size=(2, N, d_k))
    V = rng.normal(size=(N, d_v))
    output, *counted = counted_attention(Q, K, V)
    assert counted == [N**2 * d_k, N**2 * d_v]
    assert tuple(counted) == multiply_adds(N, d_k, d_v)
    helper, _ = scaled_dot_product_attention(Q, K, V)
    np.testing.assert_allclose(output, helper, rtol=1e-12)


@pytest.mark.parametrize("N", [1, 70, 1000, 2000])
def test_the_formula_counts_the_scores_that_there_are(N):
    X = np.zeros((N, 1), dtype=np.float32)
    assert number_of_scores(N) == attention_scores(X, X).size


def test_fact_A25_twice_the_tokens_are_four_times_the_scores():
    assert number_of_scores(1000) == 1_000_000
    assert number_of_scores(2000) == 4_000_000


def test_fact_B05_entries_and_bytes_of_one_head():
    assert number_of_scores(1024) == 1_048_576
    whole = np.empty((8192, 8192), dtype=np.float16)  # memory is not touched
    assert number_of_scores(8192) == whole.size == 67_108_864
    size = number_of_scores(8192) * BYTES_PER_NUMBER["float16"]
    assert size == whole.nbytes == 134_217_728


def test_fact_B06_parameters_do_not_depend_on_the_length():
    import torch  # slow to import: only where it is compared with

    layer = torch.nn.MultiheadAttention(768, 12, batch_first=True)
    count = sum(parameter.numel() for parameter in layer.parameters())
    assert count == parameters(768, num_heads=12) == 2_362_368
    for N in (2, 50):
        x = torch.zeros(1, N, 768)
        assert layer(x, x, x, need_weights=False)[0].shape == (1, N, 768)


def test_fact_B07_ten_times_the_text_is_a_hundred_times_the_pairs():
    assert number_of_scores(700) == 100 * number_of_scores(70)
