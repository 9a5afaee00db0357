"""Softmax and the scaled scores, with their known mistakes."""

import numpy as np

from utils.attention import scaled_scores, softmax
from utils.practice.recipe import plain
from utils.practice.task import Mutant, Task

__all__ = ["SCALED_SCORES", "SOFTMAX"]


def _softmax_stages():
    rng = np.random.default_rng(4)
    shapes = ((3, 5), (4, 4), (6, 2), (1, 3))
    ordinary = [(rng.normal(size=shape),) for shape in shapes]
    masked = rng.normal(size=(4, 4))
    masked[np.triu_indices(4, 1)] = -np.inf
    large = rng.normal(size=(2, 4)) + [[2000], [-2000]]
    return [ordinary, [(masked,), (large,)]]


def _without_care(scores):
    exponentials = np.exp(scores)
    return exponentials / exponentials.sum(axis=-1, keepdims=True)


def _one_maximum(scores):
    exponentials = np.exp(scores - scores.max())
    return exponentials / exponentials.sum(axis=-1, keepdims=True)


SOFTMAX = Task(
    arguments=("scores",),
    answers={"": softmax},
    stages=_softmax_stages,
    promise="Each row sums to 1, masked scores and large ones too.",
    weights=True,
    mutants=(
        Mutant(
            "softmax over the wrong axis",
            lambda scores: plain(scores, -2),
            "Your weights sum to 1 down the columns",
            "softmax ran over queries",
            "Each query shares out one whole among the keys, so softmax "
            "runs along the last axis, and each row sums to 1.",
            "https://github.com/nerminnuraydogan/vision-transformer/issues/1",
        ),
        Mutant(
            "softmax over the whole matrix",
            lambda scores: plain(scores, None),
            "All your weights together sum to 1, not each row",
            "the sum has no axis",
            "Each query is a row by itself: sum with axis=-1 and "
            "keepdims=True.",
            "https://github.com/rickwierenga/MLFundamentals/issues/1",
        ),
        Mutant(
            "softmax twice",
            lambda scores: plain(plain(scores, -1), -1),
            "No weight of yours is e times another of its row",
            "softmax was taken of weights, not of scores",
            "Weights differ by less than 1, and softmax turns that into "
            "ratios below e.",
            "https://github.com/zyy-2001/DisKT/issues/6",
        ),
        Mutant(
            "no division",
            lambda scores: np.exp(scores),
            "Your rows do not sum to 1",
            "the exponentials were not divided by their sum",
            "Weights are shares: divide each row by its own sum.",
            "",  # no public report found
        ),
        Mutant(
            "the maximum is not subtracted",
            _without_care,
            "Large scores give NaN",
            "exp overflowed to inf, and inf / inf is NaN",
            "Subtract each row's largest score first: no weight changes, "
            "and exp cannot overflow.",
            "https://github.com/openai/baselines/issues/761",
        ),
        Mutant(
            "one maximum for all rows",
            _one_maximum,
            "A row far below the others gives NaN",
            "the maximum of the whole matrix was subtracted",
            "Each row needs its own: max with axis=-1 and keepdims=True.",
            "https://github.com/open-edge-platform/geti/pull/1507",
        ),
    ),
)


def _scores_stages():
    rng = np.random.default_rng(3)
    shapes = ((3, 5, 4, 2), (4, 4, 16, 3), (2, 6, 9, 4))
    one_head = [
        (rng.normal(size=(n, d)), rng.normal(size=(m, d)))
        for n, m, d, _ in shapes
    ]
    heads = [
        (rng.normal(size=(h, n, d)), rng.normal(size=(h, m, d)))
        for n, m, d, h in shapes
    ]
    return [heads, one_head]


def _divided(divisor):
    return lambda Q, K: Q @ K.mT / divisor(Q, K)


def _model_width(Q, K):
    """The width of all heads together: d_model."""
    heads = Q.shape[-3] if Q.ndim > 2 else 1
    return heads * Q.shape[-1]


NO_SCALE = (
    "no scale",
    "the scores were not divided by √d_k",
    "A score is a sum of d_k products, so its variance grows with d_k. "
    "Undivided, softmax gives nearly all to one key, and learning stops.",
    "https://github.com/PAIR-code/tiny-transformers/issues/71",
)
BY_D_K = (
    "divided by d_k",
    "the scores were divided by d_k and not by its root",
    "Dividing by c divides a variance by c², so √d_k brings it to 1; d_k "
    "makes all keys look alike.",
    "https://github.com/YutaroOgawa/pytorch_advanced/issues/174",
)
BY_D_MODEL = (
    "divided by √d_model",
    "the scores were divided by the root of the whole width",
    "A score sums the d_k products of one head; √d_model is too large by "
    "the root of the number of heads.",
    "https://github.com/karpathy/ng-video-lecture/pull/6",
)


def scale_mutant(words, symptom, run, changes=None):
    """Build a mutant of the divisor from its name, cause, why and report."""
    name, cause, why, report = words
    return Mutant(name, run, symptom, cause, why, report, changes or {})


SCALED_SCORES = Task(
    arguments=("Q", "K"),
    answers={"": scaled_scores},
    stages=_scores_stages,
    promise="Q Kᵀ / √d_k, with and without an axis of heads in front.",
    mutants=(
        scale_mutant(
            NO_SCALE,
            "Your scores are too large by √d_k",
            _divided(lambda Q, K: 1),
        ),
        scale_mutant(
            BY_D_K,
            "Your scores are too small by √d_k",
            _divided(lambda Q, K: Q.shape[-1]),
        ),
        scale_mutant(
            BY_D_MODEL,
            "With several heads your scores are too small by √(heads)",
            _divided(lambda Q, K: _model_width(Q, K) ** 0.5),
        ),
        Mutant(
            "divided by the root of the number of tokens",
            _divided(lambda Q, K: Q.shape[-2] ** 0.5),
            "Your scores depend on how many queries there are",
            "the size was read from the axis of tokens",
            "d_k is the last axis of Q: Q.shape[-1].",
            "",  # no public report found
        ),
        Mutant(
            "keys ask queries",
            lambda Q, K: K @ Q.mT / Q.shape[-1] ** 0.5,
            "Rows and columns have changed places",
            "it computes K Qᵀ",
            "Rows are queries and columns are keys: Q Kᵀ.",
            "https://github.com/poloclub/transformer-explainer/issues/19",
        ),
    ),
)
