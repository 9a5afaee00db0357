"""Fresh problems for paper: small whole numbers, answers from the helpers.

Each maker takes a `random.Random` and returns a `Problem`: what is given, and
the answer as the book's helpers compute it. Nothing needs a calculator: where
exp or sine comes in, the numbers are chosen, or a table is given.
"""

from dataclasses import dataclass
from random import Random

import numpy as np

from utils.attention import (
    attention_scores,
    attention_weights,
    project,
    scaled_dot_product_attention,
    scaled_scores,
    softmax,
)
from utils.border import count
from utils.heads import multi_head_attention
from utils.masks import causal_mask, combine_masks, padding_mask
from utils.positions import angular_speeds, sinusoidal_encoding
from utils.practice.paper_numbers import fractions, two_places, whole

__all__ = ["Problem", "make_problems"]


@dataclass(frozen=True)
class Problem:
    """A problem and its answer, as plain numbers and nested lists."""

    name: str
    given: dict
    answer: dict


def make_problems(seed):
    """Make the problems of one worksheet.

    Parameters
    ----------
    seed : int
        The same seed gives the same problems, 0 or above.

    Returns
    -------
    list of Problem
        One of each kind, in the order of the book.

    Raises
    ------
    ValueError
        If seed is not a whole number from 0 on.

    Examples
    --------
    >>> [problem.name for problem in make_problems(7)][:3]
    ['scores', 'scaling', 'softmax']
    """
    seed = count("seed", seed, least=0)
    makers = (
        *(_scores, _scaling, _softmax, _weighted_sum, _attention),
        *(_masks, _positions, _shapes, _cost),
    )
    problems = []
    for make in makers:
        # a generator for each problem: one more problem moves no other
        name = make.__name__[1:]
        given, answer = make(Random(f"{name} {seed}"))
        problems.append(Problem(name, given, answer))
    return problems


def _scores(random):
    Q, K = _matrix(random, 3, 2, 0, 4), _matrix(random, 3, 2, -2, 3)
    if np.linalg.matrix_rank(Q) < 2 or np.linalg.matrix_rank(K) < 2:
        return _scores(random)
    return {"Q": Q, "K": K}, {"scores": whole(attention_scores(Q, K))}


def _scaling(random):
    """One query, three keys, d_k = 4, so the divisor is 2."""
    Q, K = _matrix(random, 1, 4, -2, 3), _matrix(random, 3, 4, -1, 3)
    scores = attention_scores(Q, K)
    empty = not np.any(K, axis=1).all()
    if empty or (scores % 2).any() or len(set(scores[0])) < 3:
        return _scaling(random)
    answer = {
        "divisor": int(4**0.5),
        "scores": whole(scores),
        "scaled": whole(scaled_scores(Q, K)),
    }
    return {"Q": Q, "K": K}, answer


def _softmax(random):
    """Scores that are logarithms of small numbers, one of them masked."""
    total = random.choice([4, 5, 8, 10])
    first = random.randint(1, total - 3)
    second = random.randint(1, total - first - 1)
    row = [first, second, total - first - second]
    if len(set(row)) < 2:
        return _softmax(random)
    masked = random.randrange(3)
    scores = np.log(row)
    blocked = np.where(np.arange(3) == masked, -np.inf, scores)
    answer = {
        "weights": fractions(softmax(scores)),
        "masked": fractions(softmax(blocked)),
    }
    return {"exponentials": row, "masked": masked}, answer


def _weighted_sum(random):
    shares = [2, 1, 1]
    random.shuffle(shares)
    V = [[4 * v for v in row] for row in _matrix(random, 3, 2, -2, 3)]
    if len({tuple(row) for row in V}) < 3:
        return _weighted_sum(random)
    weights = np.array(shares) / 4
    given = {"weights": fractions(weights), "V": V}
    return given, {"output": whole(weights @ np.array(V))}


def _attention(random):
    """Three tokens, from X to the output; an exponential is a power of 2.

    The keys carry a factor √2 · ln 2, so that a product s of whole numbers
    is scaled to s · ln 2.
    """
    X = [[1, 0], [0, 1], [1, 1]]
    random.shuffle(X)
    W_Q, W_K, W_V = (_matrix(random, 2, 2, 0, 2) for _ in range(3))
    if not all(a * d - b * c for (a, b), (c, d) in (W_Q, W_K, W_V)):
        return _attention(random)  # two tokens would ask or offer alike
    Q, K, V = (project(X, W) for W in (W_Q, W_K, W_V))
    products = attention_scores(Q, K)
    if products.max() > 4 or (products == products.T).all():
        return _attention(random)
    factor = 2**0.5 * np.log(2)
    output, weights = scaled_dot_product_attention(Q, factor * K, V)
    answer = {
        **{"Q": whole(Q), "K": whole(K), "V": whole(V)},
        "products": whole(products),
        "powers": whole(2**products),
        "weights": fractions(weights),
        "output": fractions(output),
    }
    return {"X": X, "W_Q": W_Q, "W_K": W_K, "W_V": W_V}, answer


def _masks(random):
    """Causal and padding at once; equal scores, so weights are shares."""
    tokens = 5
    padding = random.choice([1, 2])
    at_start = random.random() < 0.5
    mask = padding_mask([tokens - padding], tokens)[0]
    mask = mask[:, ::-1] if at_start else mask
    allowed = combine_masks(causal_mask(tokens), mask)
    weights = attention_weights(*np.zeros((2, tokens, 2)), allowed)
    # a real token's row, and more than one key in it
    first, last = (padding + 1, 4) if at_start else (2, 4 - padding)
    row = random.randint(first, last)
    answer = {
        "allowed": allowed.astype(int).tolist(),
        "pairs": int(allowed.sum()),
        "row_weights": fractions(weights[row]),
    }
    return {"padding": padding, "at_start": at_start, "row": row}, answer


def _positions(random):
    """Two rows of the table for d_model = 4, from a table of sines."""
    first, second = sorted(random.sample(range(1, 7), 2))
    encoded = sinusoidal_encoding(7, 4)
    slow = round(float(1 / angular_speeds(4)[1]))
    table = {
        **{f"{p}": [np.sin(p), np.cos(p)] for p in range(7)},
        **{
            f"{p / slow:g}": [np.sin(p / slow), np.cos(p / slow)]
            for p in range(1, 7)
        },
    }
    given = {
        "positions": [first, second],
        "table": {key: two_places(pair) for key, pair in table.items()},
    }
    rows = [two_places(encoded[p]) for p in (first, second)]
    return given, {"rows": rows, "zero": two_places(encoded[0])}


def _shapes(random):
    heads = random.choice([2, 4, 5])
    d_k = random.choice([2, 3, 4])
    N, M = random.sample([3, 4, 6, 7], 2)
    d_model = heads * d_k
    target, source = np.zeros((N, d_model)), np.zeros((M, d_model))
    W = np.zeros((4, d_model, d_model))
    output, weights = multi_head_attention(target, source, *W, heads)
    given = {"N": N, "M": M, "d_model": d_model, "heads": heads}
    answer = {
        "d_k": d_k,
        "W_Q": W[0].shape,
        "Q": project(target, W[0]).shape,
        "K": project(source, W[1]).shape,
        "weights": weights.shape,
        "output": output.shape,
    }
    return given, answer


def _cost(random):
    N = random.choice([10, 20, 30, 40, 50])
    d_k = random.choice([4, 5, 6, 8, 10])
    factor = random.choice([2, 3, 10])
    X = np.zeros((N, d_k))
    longer = np.zeros((factor * N, d_k))
    scores = attention_scores(X, X).size
    answer = {
        "scores": scores,
        "multiplications": scores * d_k,
        "longer": attention_scores(longer, longer).size,
        "causal": int(causal_mask(N).sum()),
        "one_more": attention_scores(X[:1], np.zeros((N + 1, d_k))).size,
    }
    return {"N": N, "d_k": d_k, "factor": factor}, answer


def _matrix(random, rows, columns, low, high):
    return [
        [random.randint(low, high) for _ in range(columns)]
        for _ in range(rows)
    ]
