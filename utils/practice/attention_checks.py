"""Checks of attention and its steps, in one head and in several.

`checks.py` gathers them with those of the other subjects.
"""

from utils.practice.judge import judge
from utils.practice.on_attention import ATTENTION, SELF_ATTENTION
from utils.practice.on_decode import DECODE_STEP
from utils.practice.on_heads import MERGE_HEADS, SPLIT_HEADS
from utils.practice.on_multi_head import MULTI_HEAD
from utils.practice.on_projections import PROJECTIONS
from utils.practice.on_weights import SCALED_SCORES, SOFTMAX

__all__ = [
    "check_attention",
    "check_decode_step",
    "check_merge_heads",
    "check_multi_head_attention",
    "check_projections",
    "check_scaled_scores",
    "check_self_attention",
    "check_softmax",
    "check_split_heads",
]


def check_softmax(function):
    """Check `function(scores)`: weights, of which each row sums to 1.

    Parameters
    ----------
    function : callable
        Takes scores of shape (N, M), gives weights of the same shape.

    Returns
    -------
    Verdict

    Examples
    --------
    >>> import numpy as np
    >>> def down(scores):
    ...     exponentials = np.exp(scores - scores.max(axis=0))
    ...     return exponentials / exponentials.sum(axis=0)
    >>> print(check_softmax(down).lines[0])
    Your weights sum to 1 down the columns: softmax ran over queries.
    """
    return judge(SOFTMAX, function)


def check_scaled_scores(function):
    """Check `function(Q, K)`: Q Kᵀ / √d_k, also with heads in front.

    Parameters
    ----------
    function : callable
        Takes Q (..., N, d_k) and K (..., M, d_k), gives (..., N, M).

    Returns
    -------
    Verdict

    Examples
    --------
    >>> check_scaled_scores(lambda Q, K: Q @ K.mT).mistakes
    ('no scale',)
    """
    return judge(SCALED_SCORES, function)


def check_projections(function):
    """Check `function(X, W_Q, W_K, W_V)`: the three of Q, K, V.

    Parameters
    ----------
    function : callable
        Takes X (N, d_model) and three matrices (d_model, d_k), gives Q, K
        and V, each (N, d_k).

    Returns
    -------
    Verdict

    Examples
    --------
    >>> check = check_projections
    >>> check(lambda X, Q, K, V: (X @ Q, X @ K, X @ K)).mistakes
    ('V projected by W_K',)
    """
    return judge(PROJECTIONS, function)


def check_attention(function):
    """Check `function(Q, K, V, mask)`: the output, or output and weights.

    Parameters
    ----------
    function : callable
        Takes Q (N, d_k), K (M, d_k), V (M, d_v) and a mask (N, M), in which
        True means may attend. A function of Q, K and V is checked without
        one, and the verdict says so; where it has one, the mask is left out
        in some calls.

    Returns
    -------
    Verdict

    Examples
    --------
    >>> from utils.attention import scaled_dot_product_attention
    >>> check_attention(scaled_dot_product_attention)
    ✓ scaled_dot_product_attention is right
    softmax(Q Kᵀ / √d_k) V on every trial.
    """
    return judge(ATTENTION, function)


def check_self_attention(function):
    """Check `function(X, W_Q, W_K, W_V)`: output, or output and weights.

    Parameters
    ----------
    function : callable
        Takes X (N, d_model) and three matrices (d_model, d_k), gives
        (N, d_k).

    Returns
    -------
    Verdict
    """
    return judge(SELF_ATTENTION, function)


def check_split_heads(function):
    """Check `function(X, num_heads)`: an axis of heads before the tokens.

    Parameters
    ----------
    function : callable
        Takes X (B, N, width) and a whole number, gives
        (B, num_heads, N, width / num_heads).

    Returns
    -------
    Verdict
    """
    return judge(SPLIT_HEADS, function)


def check_merge_heads(function):
    """Check `function(heads)`: the heads side by side again.

    Parameters
    ----------
    function : callable
        Takes (B, num_heads, N, d_head), gives (B, N, num_heads * d_head).

    Returns
    -------
    Verdict
    """
    return judge(MERGE_HEADS, function)


def check_multi_head_attention(function):
    """Check `function(X, W_Q, W_K, W_V, W_O, num_heads)`.

    Parameters
    ----------
    function : callable
        Takes X (N, d_model) and four square matrices, gives (N, d_model),
        or that and the weights (num_heads, N, N).

    Returns
    -------
    Verdict
    """
    return judge(MULTI_HEAD, function)


def check_decode_step(function):
    """Check `function(Q, K, V)`: the last queries against all keys.

    Parameters
    ----------
    function : callable
        Takes the new queries (L, d_k), and the keys (S, d_k) and values
        (S, d_v) of the cache with the new ones at the end; gives (L, d_v).

    Returns
    -------
    Verdict
    """
    return judge(DECODE_STEP, function)
