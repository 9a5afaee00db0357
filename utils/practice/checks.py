"""Checks that name the mistake in a reader's own function.

Each takes the function itself, for NumPy arrays or torch tensors, and gives
a `Verdict`: true where the function is right, and in words which mistake it
makes where it is not. An error in the reader's code is shown as the reader's.
All raise `ValueError` if they are given anything but a function.
"""

from utils.practice.judge import judge
from utils.practice.on_attention import ATTENTION, SELF_ATTENTION
from utils.practice.on_decode import DECODE_STEP
from utils.practice.on_heads import MERGE_HEADS, SPLIT_HEADS
from utils.practice.on_masks import CACHE_MASK, CAUSAL_MASK, PADDING_MASK
from utils.practice.on_multi_head import MULTI_HEAD
from utils.practice.on_positions import (
    ADDED_POSITIONS,
    POSITIONAL_ENCODING,
    ROPE,
)
from utils.practice.on_projections import PROJECTIONS
from utils.practice.on_weights import SCALED_SCORES, SOFTMAX

__all__ = [
    "TASKS",
    "check_added_positions",
    "check_attention",
    "check_cache_mask",
    "check_causal_mask",
    "check_decode_step",
    "check_merge_heads",
    "check_multi_head_attention",
    "check_padding_mask",
    "check_positional_encoding",
    "check_projections",
    "check_rope",
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


def check_causal_mask(function):
    """Check `function(num_tokens)`: a mask, True where one may attend.

    Parameters
    ----------
    function : callable
        Takes a whole number N, gives truth values of shape (N, N).

    Returns
    -------
    Verdict

    Examples
    --------
    >>> import numpy as np
    >>> check_causal_mask(lambda n: np.triu(np.ones((n, n)), 1)).right
    False
    """
    return judge(CAUSAL_MASK, function)


def check_cache_mask(function):
    """Check `function(num_queries, num_keys)`: the queries are the last.

    Parameters
    ----------
    function : callable
        Takes two whole numbers, gives truth values of that shape.

    Returns
    -------
    Verdict
    """
    return judge(CACHE_MASK, function)


def check_padding_mask(function):
    """Check `function(lengths, num_keys)`: True where the key is real.

    Parameters
    ----------
    function : callable
        Takes lengths (B,) and a whole number M, gives truth values of shape
        (B, 1, M), or (B, M, M) with equal rows.

    Returns
    -------
    Verdict
    """
    return judge(PADDING_MASK, function)


def check_positional_encoding(function):
    """Check `function(num_positions, d_model)`: the sinusoidal table.

    Parameters
    ----------
    function : callable
        Takes two whole numbers, the second even, gives that shape.

    Returns
    -------
    Verdict
    """
    return judge(POSITIONAL_ENCODING, function)


def check_added_positions(function):
    """Check `function(X, E)`: tokens with their positions added.

    Parameters
    ----------
    function : callable
        Takes X (B, N, d_model) and a longer table E (L, d_model), gives the
        shape of X.

    Returns
    -------
    Verdict
    """
    return judge(ADDED_POSITIONS, function)


def check_rope(function):
    """Check `function(Q, positions)`: queries turned, in either pairing.

    Parameters
    ----------
    function : callable
        Takes Q (N, d_k) and positions (N,), gives the shape of Q; base
        10,000.

    Returns
    -------
    Verdict
        It says which pairing the function uses.
    """
    return judge(ROPE, function)


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


# what each check compares with, for the lab and for the tests
TASKS = {
    check_softmax: SOFTMAX,
    check_scaled_scores: SCALED_SCORES,
    check_projections: PROJECTIONS,
    check_attention: ATTENTION,
    check_self_attention: SELF_ATTENTION,
    check_causal_mask: CAUSAL_MASK,
    check_cache_mask: CACHE_MASK,
    check_padding_mask: PADDING_MASK,
    check_positional_encoding: POSITIONAL_ENCODING,
    check_added_positions: ADDED_POSITIONS,
    check_rope: ROPE,
    check_split_heads: SPLIT_HEADS,
    check_merge_heads: MERGE_HEADS,
    check_multi_head_attention: MULTI_HEAD,
    check_decode_step: DECODE_STEP,
}
