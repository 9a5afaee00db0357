"""How each number of the quizzes comes about: right, and by each mistake.

`right` must be the right answer to the letter. The other entries are wrong
answers, computed as the mistake computes them, and numbers that a reason
mentions.
"""

import numpy as np

from utils import trained
from utils.attention import (
    attention_weights,
    scaled_dot_product_attention,
    softmax,
)
from utils.figures.weighted_sum.example import workflow
from utils.heads import multi_head_attention, split_heads
from utils.masks import causal_mask
from utils.positions import rotate, sinusoidal_encoding

COMPUTED = {}


def computes(function):
    """Register a function under the name of its question."""
    name = function.__name__.replace("__", "-", 1)
    chapter, _, question = name.partition("-")
    COMPUTED[f"{chapter}-{question.replace('_', '-')}"] = function
    return function


def row(values):
    """Write a list of numbers as the questions do.

    >>> row([0.5, 1.0])
    '[0.5, 1]'
    """
    return f"[{', '.join(f'{round(float(v), 3) + 0:g}' for v in values)}]"


def comma(number):
    return f"{number:,}"


@computes
def motivation__mixture():
    bank, loan = np.array([0.5, 0.5]), np.array([1, 0])
    return {
        "right": row(0.6 * bank + 0.4 * loan),
        "weights swapped": row(0.4 * bank + 0.6 * loan),
        "plain sum": row(bank + loan),
        "neighbour alone": row(0.4 * loan),
        "itself alone": row(0.6 * bank),
    }


@computes
def motivation__weight():
    """Fact A03, and what the same head does elsewhere."""
    found = {}
    for subject, sentence in (
        ("animal", "The animal crossed the road because it was frightened."),
        (
            "application",
            "The developer deployed the application because it was ready.",
        ),
    ):
        tokens = trained.tokens(sentence)
        weights = trained.head_weights(sentence, layer=5, head=11)
        place = tokens.index(subject), tokens.index("it")
        found[subject] = f"{weights[place[::-1]]:.3f}"
        if subject == "animal":
            assert place[1] - place[0] == 5  # "five words back"
            assert weights[place[1]].argmax() == place[0]
            assert weights[place[1], place[0]] > 0.5  # "most of"
    return {
        "right": "Most of what “it” takes in, here, comes from the place of "
        "“animal”",
        **found,
    }


@computes
def motivation__path():
    """Fact B04."""
    words = 1000
    moves = words - 1
    return {
        "right": f"{moves} moves; one step",
        "handed on": f"{moves} moves; {moves} steps too, one for each word "
        "between",
        "words counted": f"{comma(words)} moves; one step",
    }


@computes
def qkv__back():
    return {
        "right": "That depends on the two matrices; it may be anything",
        "one pair": "2, because a dot product does not care about the order",
        "opposite": "−2, because asking is the opposite of being asked",
    }


@computes
def scaling__heads():
    d_model, heads = 512, 8
    d_k = d_model // heads
    return {
        "right": f"{d_k**0.5:g}",
        "root of d_model": f"about {d_model**0.5:.1f}",
        "no root": f"{d_k}",
        "root of heads": f"about {heads**0.5:.1f}",
    }


@computes
def scaling__without():
    """Fact A09: undivided, one key takes nearly all; the sums stay."""
    scores = np.random.default_rng(0).normal(size=(100, 8)) * 32  # d_k = 1024
    undivided, divided = softmax(scores), softmax(scores / 32)
    np.testing.assert_allclose(undivided.sum(axis=1), 1)
    assert np.median(undivided.max(axis=1)) > 0.99
    assert np.median(divided.max(axis=1)) < 0.6
    return {
        "right": "One key takes nearly all, and the gradient nearly vanishes",
        "sum": "The weights no longer sum to 1",
    }


@computes
def scaling__variance():
    """Facts A08 and A09: the variance, and what dividing does to it."""
    d_k = 256
    # exactly: entries of ±1 in every combination, for a small d_k
    signs = np.array(np.meshgrid(*[[-1, 1]] * 8)).reshape(8, -1).T
    scores = (signs[:, :4] * signs[:, 4:]).sum(axis=1)
    assert scores.var() == 4
    before, divisor = d_k, d_k**0.5
    after = before / divisor**2
    return {
        "right": f"{before} before, {after:g} after",
        "spread": f"{before**0.5:g} before, {after:g} after",
        "divided once": f"{before} before, {before / divisor:g} after",
    }


@computes
def softmax__shift():
    scores = np.array([2, 1, 0])
    np.testing.assert_allclose(softmax(scores), softmax(scores + 100))
    assert softmax(10 * scores)[0] > 0.99  # "when scores are multiplied"
    return {"right": "They stay the same"}


@computes
def softmax__stretch():
    scores = np.array([2, 1, 0])
    assert softmax(10 * scores)[0] > softmax(scores)[0]
    np.testing.assert_allclose(
        softmax(10 * scores), softmax(scores, temperature=0.1)
    )
    return {
        "right": "The largest takes a larger share",
        "ten times": 10 * softmax(scores).sum(),
    }


@computes
def softmax__maximum():
    scores = np.array([1000.0, 999.0, -5.0])
    exponents = scores - scores.max()
    assert np.exp(exponents).max() == 1
    assert np.exp(exponents).sum() >= 1
    assert softmax(scores)[2] == 0  # by rounding alone:
    assert softmax([10, 9, -5])[2] > 0
    return {
        "right": "So that no exponential overflows; the weights stay the same",
        "smallest": "To push small scores down to a weight of 0",
    }


@computes
def softmax__zero():
    """Bug bank A19: a masked score of 0 is not masked."""
    weights = softmax([2, 2, 0, 0])
    return {
        "right": f"{weights[0]:.2f}",
        "masked": f"{softmax([2, 2, -np.inf, -np.inf])[0]:.2f}",
        "unchanged": f"{softmax([2, 2, 2, 2])[0]:.2f}",
        "hidden": f"{weights[2]:.2f}",
        "exp of 0": int(np.exp(0)),
    }


@computes
def weighted_sum__shape():
    """Fact A05."""
    rng = np.random.default_rng(0)
    Q, K, V = rng.normal(size=(2, 4, 2)), None, rng.normal(size=(4, 3))
    Q, K = Q
    output, weights = scaled_dot_product_attention(Q, K, V)

    def shape(array):
        return " × ".join(map(str, array.shape))

    return {
        "right": shape(output),
        "weights": shape(weights),
        "queries": shape(Q),
    }


@computes
def weighted_sum__inside():
    values = np.array([1, 2, 4])
    weights = {"low": [0.6, 0.35, 0.05], "high": [0.2, 0.2, 0.6]}
    for some in weights.values():
        np.testing.assert_allclose(sum(some), 1)
    low, high = (f"{np.dot(w, values):g}" for w in weights.values())
    right = 5
    assert right > values.max() > float(high) > float(low) > values.min()
    return {
        "right": f"{right}",
        "low": low,
        "high": high,
        "low weights": " ".join(f"{w:.2f}" for w in weights["low"]),
        "high weights": " ".join(f"{w:.1f}" for w in weights["high"]),
    }


@computes
def weighted_sum__diagonal():
    """Facts B01 and B13."""
    own, other, _ = workflow("abc")["weights"][0]
    return {
        "right": f"No: token A of the example on paper gives itself {own:.2f}",
        "others": f"{other:.2f}",
    }


@computes
def masks__padding():
    weights = attention_weights([[1, 2]], [[3, 1], [0, 0]])
    assert weights[0, 1] > 0  # a key of zeros still takes its share
    return {
        "right": "Their columns, for every query",
        "score of a key of zeros": 0,
    }


@computes
def masks__after():
    """Bug bank A19."""
    after = softmax(np.zeros(4)) * [1, 1, 0, 0]
    before = softmax([0, 0, -np.inf, -np.inf])
    return {
        "right": f"{after.sum():g}",
        "before softmax": f"{before.sum():g}, as every row of softmax does",
        "all hidden": f"{0 * after.sum():g}",
        "each": f"{after[0]:g}",
    }


@computes
def masks__filler():
    """Bug bank A01 and A21: the four answers of the chapter."""
    scores = np.array([1.2, 2.5, 1.0, 2.0], dtype=np.float32)
    filled = np.full_like(scores, -1e9)
    np.testing.assert_array_equal(softmax(filled), [0.25] * 4)
    np.testing.assert_array_equal(
        softmax(scores + np.float32(-1e9)), [0.25] * 4
    )
    nothing = softmax(np.full(4, -np.inf)).sum()
    return {
        "right": "Equal shares, as if every key were allowed",
        "helper": f"All {nothing:g}, since nothing is allowed",
        "minus infinity": "NaN, from 0 divided by 0",
    }


@computes
def masks__cache():
    """Bug bank A06."""
    must = int(causal_mask(1, 5).sum())
    sees = int(np.tri(1, 5).sum())
    return {
        "right": f"It must see {must}; it sees {sees}",
        "own key forgotten": f"It must see {must - 1}; it sees {sees}",
        "turned over": f"It must see {sees}; it sees {must}",
    }


@computes
def positional_encoding__row_zero():
    """Fact A17; the other layout is bug bank A26."""
    encoded = sinusoidal_encoding(1, 4)[0]
    return {
        "right": row(encoded),
        "sines only": row(np.sin([0, 0, 0, 0])),
        "sines first": row(encoded[[0, 2, 1, 3]]),
    }


@computes
def positional_encoding__distance():
    """Fact A18."""
    q, k = np.array([1, 2, 3, 4]), np.array([2, -1, 0.5, 1])

    def score(m, n):
        return rotate(q, m) @ rotate(k, n)

    np.testing.assert_allclose(score(105, 103), score(5, 3))
    assert abs(score(3, 5) - score(5, 3)) > 0.1
    assert abs(score(10, 6) - score(5, 3)) > 0.1
    return {
        "right": f"{5 + 100} and {3 + 100}",
        "turned round": "3 and 5",
        "ratio": f"{2 * 5} and {2 * 3}",
        "moved by": 105 - 5,
    }


@computes
def architectures__split():
    """Bug bank A11."""
    tokens = np.arange(8).reshape(2, 4)

    def rows(head):
        return " and ".join(map(row, head))

    return {
        "right": rows(split_heads(tokens, 2)[0]),
        "view alone": rows(tokens.reshape(2, 2, 2)[0]),
        "a token a head": f"{row(tokens[0])} alone",
    }


@computes
def architectures__cross():
    """Fact A23."""
    rng = np.random.default_rng(0)
    target, source = rng.normal(size=(6, 8)), rng.normal(size=(4, 8))
    W = rng.normal(size=(4, 8, 8))

    def shape(asking, asked):
        weights = multi_head_attention(asking, asked, *W, 2)[1]
        return " × ".join(map(str, weights.shape[-2:]))

    return {
        "right": shape(target, source),
        "turned round": shape(source, target),
        "target alone": shape(target, target),
    }


@computes
def complexity__double():
    """Facts A25 and B07."""
    N, longer = 1000, 2000
    factor = longer // N
    assert (10 * N) ** 2 // N**2 == 100  # "a hundred times the pairs"
    return {
        "right": f"{comma(longer**2)}, four times as many",
        "linear": f"{comma(factor * N**2)}, twice as many",
        "cubic": f"{comma(factor**3 * N**2)}, eight times as many",
    }


@computes
def complexity__parameters():
    """Fact B06."""
    count = 4 * 768**2 + 4 * 768
    return {
        "right": comma(count),
        "tokens": comma(10 * count),
        "pairs": comma(100 * count),
    }


@computes
def complexity__bytes():
    """Fact B05."""
    entries, size = 8192**2, np.dtype(np.float16).itemsize
    assert size == 2  # "two bytes"
    return {
        "right": f"about {entries * size / 1e6:.0f} MB",
        "one byte": f"about {entries / 1e6:.0f} MB",
        "one row": f"about {8192 * size / 1e3:.0f} kB",
    }


@computes
def in_pytorch__mask():
    """Bug bank A04 and A05; fact B10."""
    import torch

    layer = torch.nn.MultiheadAttention(4, 1, batch_first=True)
    x = torch.zeros(1, 4, 4)

    def weights(mask):
        return layer(x, x, x, attn_mask=mask)[1][0].detach().numpy()

    masks = {
        "right": "torch.ones(4, 4).triu(1).bool()",
        "other meaning": "torch.ones(4, 4).tril().bool()",
        "added": "torch.ones(4, 4).tril()",
    }
    seen = {}
    for name, code in masks.items():
        seen[name] = weights(eval(code, {"torch": torch}))
    allowed = np.tri(4, dtype=bool)
    assert ((seen["right"] > 0) == allowed).all()
    assert (seen["other meaning"][:3][allowed[:3]] == 0).all()
    assert (seen["added"] > 0).all()
    return {name: f"`{code}`" for name, code in masks.items()}


@computes
def in_pytorch__average():
    """Bug bank A30."""
    import torch

    torch.manual_seed(0)
    layer = torch.nn.MultiheadAttention(8, 2, batch_first=True)
    x = torch.randn(3, 5, 8)
    shown = layer(x, x, x)[1]
    each = layer(x, x, x, average_attn_weights=False)[1]
    assert tuple(shown.shape) == (3, 5, 5)
    torch.testing.assert_close(shown, each.mean(dim=1))
    return {"right": "The mean of the two heads"}


@computes
def in_pytorch__dropout():
    """Bug bank A29."""
    import torch
    from torch.nn import functional as F

    torch.manual_seed(0)
    q, v = torch.zeros(1, 8, 4), torch.ones(1, 8, 1)
    output = F.scaled_dot_product_attention(q, q, v, dropout_p=0.5)
    assert not torch.equal(output, torch.ones_like(output))
    return {
        "right": "It goes on dropping weights at random",
        "off": 0.0,
    }


def seen_by(Q, K, V, weigh):
    """Which outputs move when the last token changes."""
    before = weigh(Q, K, V)
    after = weigh(*(np.vstack([M[:3], M[3:] + 1]) for M in (Q, K, V)))
    return (np.abs(before - after) > 1e-9).any(axis=1)


@computes
def break_it__unheard():
    """Bug bank A11: the outputs that move under each of the three."""
    Q, K, V = np.random.default_rng(0).normal(size=(3, 4, 4))

    def views(Q, K, V):
        heads = (M.reshape(2, 4, 2) for M in (Q, K, V))
        return scaled_dot_product_attention(*heads)[0].reshape(4, 4)

    def wrong_axis(Q, K, V):
        return softmax(Q @ K.T / 2, axis=0) @ V

    def flat(Q, K, V):
        return softmax(Q @ K.T / 16) @ V

    assert seen_by(Q, K, V, views).tolist() == [False, False, True, True]
    assert seen_by(Q, K, V, wrong_axis).all()
    assert seen_by(Q, K, V, flat).all()
    return {
        "right": "The heads were cut and joined by views, without a transpose",
        "sum of a row": 1,
    }


@computes
def break_it__first_row():
    """Bug bank A17 and A04."""
    empty = ~np.tri(4, k=-1, dtype=bool).any(axis=1)
    assert empty.tolist() == [True, False, False, False]
    upside_down = ~(~np.tri(4, dtype=bool)).any(axis=1)
    assert upside_down.tolist() == [False, False, False, True]
    return {"right": "The mask leaves out the diagonal", "nothing": 0}


@computes
def break_it__values():
    return {
        "right": "The output equals that of a slow loop on random numbers",
        "sums": "The rows of the weights sum to 1",
    }
