"""What is wrong with a reader's code is shown as the reader's."""

import functools
import subprocess
import sys

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn import functional as F

from utils.attention import scaled_dot_product_attention, softmax
from utils.practice import (
    check_attention,
    check_causal_mask,
    check_decode_step,
    check_padding_mask,
    check_positional_encoding,
    check_rope,
    check_scaled_scores,
    check_softmax,
)
from utils.practice.verdict import Verdict


def test_an_error_is_shown_with_the_readers_own_line():
    def my_scores(Q, K):
        Kt = K
        return Q @ Kt  # the line that fails

    verdict = check_scaled_scores(my_scores)
    text = repr(verdict)
    assert verdict.headline == "my_scores: your code raised ValueError"
    line = my_scores.__code__.co_firstlineno + 2
    assert f"line {line}: return Q @ Kt  # the line that fails" in text
    assert "called with Q (2, 3, 4), K (2, 5, 4)" in text
    assert "utils/practice" not in text
    assert __file__ not in text, "paths differ from machine to machine"
    assert isinstance(verdict.error, ValueError)
    assert verdict.mistakes == ()


def test_the_transpose_of_too_many_axes_is_explained():
    text = repr(check_scaled_scores(lambda Q, K: Q @ K.T))
    assert ".T turns all axes around" in text

    def mine(scores):
        return scores @ scores.T + scores  # two axes: .T is not to blame

    assert "turns all axes" not in repr(check_softmax(mine))


def test_a_mask_may_be_required_left_out_or_not_taken():
    def required(Q, K, V, mask):
        return scaled_dot_product_attention(Q, K, V, mask)

    def without(Q, K, V):
        return scaled_dot_product_attention(Q, K, V)

    assert len(check_attention(required).lines) == 1
    lines = check_attention(without).lines
    assert lines[1] == "It takes no mask: it was tried without."


def test_an_error_below_is_shown_where_the_reader_called():
    def helper(x):
        raise KeyError("no such head")

    def mine(scores):
        return helper(scores)

    text = repr(check_softmax(mine))
    assert "KeyError: 'no such head'" in text
    assert "In helper" in text

    def through_numpy(scores):
        return np.concatenate([scores, scores[0]])  # mine

    assert "return np.concatenate([scores, scores[0]])  # mine" in repr(
        check_softmax(through_numpy)
    )


def test_a_stop_from_the_keyboard_goes_through():
    def mine(scores):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        check_softmax(mine)


def test_nothing_returned():
    def mine(scores):
        softmax(scores)

    text = repr(check_softmax(mine))
    assert "mine: it gives nothing yet (None)" in text
    assert "return is missing" in text


@pytest.mark.parametrize("answer", ["weights", object(), {"a": 1}, [[1], []]])
def test_no_numbers_returned(answer):
    assert "gives no numbers" in repr(check_softmax(lambda s: answer))


def test_a_list_will_do():
    assert check_softmax(lambda scores: softmax(scores).tolist())


@pytest.mark.parametrize("given", [softmax([1, 2]), 3, None, "softmax"])
def test_an_array_in_place_of_the_function_is_refused(given):
    with pytest.raises(ValueError, match=type(given).__name__):
        check_softmax(given)


def test_the_wrong_arguments_are_named():
    text = repr(check_attention(lambda Q: Q))
    assert "cannot be called as your function(Q, K, V)" in text
    text = repr(check_causal_mask(lambda: 1))
    assert "cannot be called as your function(num_tokens)" in text


def test_a_changed_input_is_noticed():
    def mine(scores):
        scores -= scores.max(axis=-1, keepdims=True)
        e = np.exp(scores)
        return e / e.sum(axis=-1, keepdims=True)

    verdict = check_softmax(mine)
    assert not verdict
    assert "changes its input scores" in repr(verdict)

    def with_torch(scores):
        return scores.sub_(torch.max(scores)).softmax(-1)

    assert "changes its input scores" in repr(check_softmax(with_torch))


def test_chance_is_noticed():
    rng = np.random.default_rng(0)
    verdict = check_softmax(lambda s: softmax(s) * rng.random())
    assert "answers the same question in two ways" in repr(verdict)


def test_nan_and_shape_and_sums_are_said():
    def nan(scores):
        weights = softmax(scores)
        weights[1:2, 0] = np.nan
        return weights

    assert "It is NaN at (1, 0)" in repr(check_softmax(nan))
    text = repr(check_softmax(lambda s: softmax(s)[:, :1]))
    assert "Its shape is (3, 1), and it should be (3, 5)" in text
    text = repr(check_softmax(lambda s: softmax(s).T))
    assert "Rows and columns have changed places" in text
    assert "0.5 times" in repr(check_softmax(lambda s: softmax(s) / 2))
    assert "off by the same 1" in repr(check_softmax(lambda s: softmax(s) + 1))
    assert "negative" in repr(check_softmax(lambda s: softmax(s) - 0.5))
    text = repr(check_causal_mask(lambda n: np.eye(n, dtype=bool)))
    assert "It hides 3 pairs that it should not, the first at (1, 0)" in text
    text = repr(check_scaled_scores(lambda Q, K: np.round(Q @ K.mT)))
    assert "numbers differ, the first at (0, 0, 0): " in text
    text = repr(check_softmax(lambda s: (softmax(s), s, s)))
    assert "It gave 3 arrays, not 1" in text


def test_a_verdict_in_html_is_escaped():
    def mine(scores):
        raise ValueError("<script>alert('&')</script>")

    html = check_softmax(mine)._repr_html_()
    assert "<script>" not in html
    assert "&lt;script&gt;" in html
    assert html.startswith('<p class="verdict">')
    assert html.endswith("</p>")


def test_a_verdict_is_a_truth_value_with_a_link():
    right = Verdict(True, "f is right")
    assert right
    assert repr(right) == "✓ f is right"
    wrong = Verdict(False, "f", link="https://example.org/?a=1&b=2")
    assert not wrong
    assert 'href="https://example.org/?a=1&amp;b=2"' in wrong._repr_html_()


def test_prints_and_warnings_are_kept_quiet(capsys, recwarn):
    def mine(scores):
        print("shape", scores.shape)
        np.log(-np.ones(1))
        return softmax(scores)

    assert check_softmax(mine)
    assert capsys.readouterr().out == ""
    assert not recwarn


# --- torch -----------------------------------------------------------------


def test_torchs_own_functions_are_right():
    assert check_attention(F.scaled_dot_product_attention)
    assert check_softmax(nn.Softmax(dim=-1))
    assert check_softmax(functools.partial(torch.softmax, dim=-1))
    assert check_softmax(lambda s: s.softmax(-1))  # no name says torch
    assert check_softmax(nn.Softmax(dim=-2)).mistakes == (
        "softmax over the wrong axis",
    )


def test_torch_is_found_in_what_the_function_calls():
    def helper(scores):
        return torch.exp(scores - scores.amax(-1, keepdim=True))

    def mine(scores):
        e = helper(scores)
        return e / e.sum(-1, keepdim=True)

    assert check_softmax(mine)


def test_is_causal_is_named_at_a_decoding_step():
    def mine(Q, K, V):
        return F.scaled_dot_product_attention(Q, K, V, is_causal=True)

    verdict = check_decode_step(mine)
    assert verdict.mistakes == ("the triangle at the top left",)


def test_gradients_and_64_bits_do_no_harm():
    def mine(scores):
        return scores.requires_grad_().softmax(-1)

    # a flag is no change of the numbers
    assert check_softmax(mine)
    torch.set_default_dtype(torch.float64)
    try:
        assert check_softmax(lambda s: torch.softmax(s, -1))
        assert check_positional_encoding(torch_encoding)
    finally:
        torch.set_default_dtype(torch.float32)
    assert check_positional_encoding(torch_encoding)
    assert check_softmax(lambda s: torch.softmax(s, -1).double())


def torch_encoding(n, d):
    i = torch.arange(0, d, 2)
    angles = torch.arange(n)[:, None] / 10000 ** (i / d)
    return torch.stack([angles.sin(), angles.cos()], -1).reshape(n, d)


def test_masks_in_torch():
    def causal(n):
        return torch.ones(n, n).tril().bool()

    assert check_causal_mask(causal)
    assert check_causal_mask(lambda n: torch.ones(n, n).tril()).mistakes == (
        "numbers in place of True and False",
    )

    def padding(lengths, m):
        return torch.arange(m)[None, None, :] < lengths[:, None, None]

    assert check_padding_mask(padding)


def test_rope_says_which_pairing():
    def halves(Q, positions):
        d = Q.shape[-1]
        speeds = 10000 ** (-torch.arange(0, d, 2) / d)
        angles = (positions[:, None] * speeds).repeat(1, 2)
        a, b = Q.chunk(2, -1)
        return Q * angles.cos() + torch.cat([-b, a], -1) * angles.sin()

    verdict = check_rope(halves)
    assert verdict.headline == "halves is right (halves turn together)"


def test_torch_is_not_imported_for_a_numpy_function():
    code = (
        "import sys, numpy as np\n"
        "from utils.practice import check_softmax\n"
        "def mine(s):\n"
        "    e = np.exp(s - s.max(-1, keepdims=True))\n"
        "    return e / e.sum(-1, keepdims=True)\n"
        "assert check_softmax(mine)\n"
        "assert 'torch' not in sys.modules\n"
        "def lazily(s):\n"
        "    import torch\n"
        "    return torch.softmax(s, -1)\n"
        "assert check_softmax(lazily)\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
