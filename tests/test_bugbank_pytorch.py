"""Reports about PyTorch's attention: what it gives, and what ours is.

PyTorch may change; then a test here fails, and the chapter that tells of it
must be told. Each number is that of the report.
"""

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn import functional as F

from utils.attention import attention_weights, scaled_dot_product_attention


def close(found, expected, atol=1e-6):
    np.testing.assert_allclose(
        np.asarray(found.detach()), expected, rtol=0, atol=atol
    )


@pytest.fixture
def x():
    """Three sentences of five tokens."""
    torch.manual_seed(0)
    return torch.randn(3, 5, 8)


@pytest.fixture
def layer(x):
    return nn.MultiheadAttention(8, 2, batch_first=True).eval()


@pytest.mark.bug(id="A04")
def test_the_layer_s_weights_under_the_helper_s_mask_turned_over():
    mha = nn.MultiheadAttention(4, 1, batch_first=True)
    zero = torch.zeros(1, 3, 4)  # no score but 0, whatever is learned
    causal = np.tri(3, dtype=bool)
    with torch.no_grad():
        mha.in_proj_bias.zero_()
    _, right = mha(zero, zero, zero, attn_mask=torch.from_numpy(~causal))
    third = 1 / 3
    expected = [[1, 0, 0], [0.5, 0.5, 0], [third, third, third]]
    close(right[0], expected)
    ours = attention_weights(zero[0].numpy(), zero[0].numpy(), causal)
    np.testing.assert_allclose(ours, expected, rtol=0, atol=1e-6)
    _, wrong = mha(zero, zero, zero, attn_mask=torch.from_numpy(causal))
    assert wrong[0, 2].isnan().all()


@pytest.mark.bug(id="A29")
def test_the_function_drops_weights_in_eval_mode_and_the_layer_does_not():
    torch.manual_seed(0)
    query, ones = torch.zeros(4, 1), torch.ones(4, 1)
    dropped = F.scaled_dot_product_attention(query, query, ones, dropout_p=0.5)
    close(dropped[:, 0], [0.5, 1, 1.5, 1.5])  # it knows of no mode
    mha = nn.MultiheadAttention(1, 1, dropout=0.5, bias=False)
    with torch.no_grad():
        mha.in_proj_weight.copy_(torch.tensor([[0.0], [0], [1]]))
        mha.out_proj.weight.fill_(1)
    assert not torch.equal(mha.train()(ones, ones, ones)[0], ones)
    for _ in range(2):
        assert torch.equal(mha.eval()(ones, ones, ones)[0], ones)


@pytest.mark.bug(id="A29")
def test_ours_has_no_chance_in_it():
    query, ones = np.zeros((4, 1)), np.ones((4, 1))
    for _ in range(2):
        output, _ = scaled_dot_product_attention(query, query, ones)
        np.testing.assert_array_equal(output, ones)


@pytest.mark.bug(id="A30")
def test_the_weights_of_the_layer_are_means_unless_asked(layer, x):
    shown = layer(x, x, x)[1]
    each = layer(x, x, x, average_attn_weights=False)[1]
    assert shown.shape == (3, 5, 5)
    assert each.shape == (3, 2, 5, 5)
    close(shown, each.mean(dim=1).detach())
    assert (each[:, 0] - each[:, 1]).abs().max() > 0.01


@pytest.mark.bug(id="A31")
def test_without_batch_first_tokens_attend_across_sentences(layer, x):
    assert layer(x, x, x)[1].shape == (3, 5, 5)
    forgotten = nn.MultiheadAttention(8, 2).eval()
    forgotten.load_state_dict(layer.state_dict())
    output, weights = forgotten(x, x, x)
    assert weights.shape == (5, 3, 3)
    right = layer(x, x, x)[0]
    assert output.shape == right.shape  # so a shape test sees nothing
    assert (output - right).abs().max() > 0.01


@pytest.mark.bug(id="A32")
@pytest.mark.parametrize("grad", [True, False])
def test_asking_for_no_weights_changes_no_output(layer, x, grad):
    """Without gradients the layer takes a path of its own."""
    with torch.set_grad_enabled(grad):
        output, weights = layer(x, x, x)
        fast, nothing = layer(x, x, x, need_weights=False)
    assert nothing is None
    assert weights is not None
    assert (output - fast).abs().max() < 1e-6


@pytest.mark.bug(id="A35")
def test_half_precision_works_on_a_processor(root):
    half = torch.linspace(-2, 2, 12, dtype=torch.float16).reshape(1, 3, 4)
    output = F.scaled_dot_product_attention(half, half, half)
    weights = half.softmax(dim=-1)
    assert output.dtype == weights.dtype == torch.float16
    ours, _ = scaled_dot_product_attention(*[half.numpy()] * 3)
    assert ours.dtype == np.float16
    close(output, ours, atol=2e-3)
    for place in ("tests", "binder"):
        pins = (root / place / "requirements.txt").read_text("utf-8")
        [pin] = [x for x in pins.splitlines() if x.startswith("torch==")]
        version = pin.split("==")[1].split("+")[0].split()[0].split(".")
        assert tuple(map(int, version[:2])) >= (2, 2), pin


@pytest.mark.bug(id="A49")
def test_heads_after_tokens_attend_over_heads():
    torch.manual_seed(0)
    q, k, v = torch.randn(3, 2, 5, 3, 4)  # B, L, H, D
    swapped = [a.transpose(1, 2) for a in (q, k, v)]
    right = F.scaled_dot_product_attention(*swapped)
    for b in range(2):
        for h in range(3):
            one = [a[b, :, h].numpy().astype(float) for a in (q, k, v)]
            expected, _ = scaled_dot_product_attention(*one)
            close(right[b, h], expected)
    wrong = F.scaled_dot_product_attention(q, k, v)
    right = right.transpose(1, 2)
    assert wrong.shape == right.shape  # so a shape test sees nothing
    assert (wrong - right).abs().max().item() == pytest.approx(1.87, abs=5e-3)
