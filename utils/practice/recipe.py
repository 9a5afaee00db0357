"""Attention with its steps as keywords, so that one can be done wrongly."""

import numpy as np

from utils.attention import softmax

__all__ = [
    "added",
    "after_softmax",
    "attend",
    "hidden",
    "ignored",
    "inverted",
    "just_large",
    "plain",
    "to_zero",
    "unguarded",
]


def attend(Q, K, V, mask=None, *, divisor=None, hide=None, axis=-1, mix=None):
    """Attend in steps: compare, divide, hide and share out, mix.

    Parameters
    ----------
    Q, K, V : ndarray, shapes (..., N, d_k), (..., M, d_k), (..., M, d_v)
    mask : ndarray of bool, shape (..., N, M), optional
    divisor : callable, optional
        `divisor(Q, K)` gives what divides the scores; √d_k unless told.
    hide : callable, optional
        `hide(scores, mask, axis)` gives the weights.
    axis : int
        The axis that softmax shares out along.
    mix : callable, optional
        `mix(weights, K, V)` gives the output.

    Returns
    -------
    output : ndarray, shape (..., N, d_v)
    weights : ndarray, shape (..., N, M)
    """
    scores = Q @ K.mT / (divisor or _root)(Q, K)
    if mask is None:
        mask = np.ones(scores.shape, dtype=bool)
    weights = (hide or hidden)(scores, mask, axis)
    return (mix or _mixed)(weights, K, V), weights


def _root(Q, K):
    return Q.shape[-1] ** 0.5


def _mixed(weights, K, V):
    return weights @ V


def plain(scores, axis):
    """Softmax without care for a row of nothing but -inf: NaN."""
    exponentials = np.exp(scores - scores.max(axis=axis, keepdims=True))
    return exponentials / exponentials.sum(axis=axis, keepdims=True)


def hidden(scores, mask, axis):
    """Hide by -inf before softmax: right."""
    return softmax(np.where(mask, scores, -np.inf), axis=axis)


def inverted(scores, mask, axis):
    """Hide what may be seen."""
    return hidden(scores, ~mask, axis)


def after_softmax(scores, mask, axis):
    """Let the hidden keys take their share, then throw it away."""
    return plain(scores, axis) * mask


def to_zero(scores, mask, axis):
    """Multiply hidden scores by 0: a score like any other."""
    return plain(scores * mask, axis)


def added(scores, mask, axis):
    """Add the mask's 0 and 1 to the scores."""
    return plain(scores + mask, axis)


def ignored(scores, mask, axis):
    """Take no notice of the mask."""
    return plain(scores, axis)


def just_large(scores, mask, axis):
    """Hide by -1e9: a row that sees nothing sees everything."""
    return plain(np.where(mask, scores, -1e9), axis)


def unguarded(scores, mask, axis):
    """Hide by -inf, and divide 0 by 0 in a row that sees nothing."""
    return plain(np.where(mask, scores, -np.inf), axis)
