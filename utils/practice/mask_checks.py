"""Checks of masks: True where a query may attend to a key.

`checks.py` gathers them with those of the other subjects.
"""

from utils.practice.judge import judge
from utils.practice.on_masks import CACHE_MASK, CAUSAL_MASK, PADDING_MASK

__all__ = [
    "check_cache_mask",
    "check_causal_mask",
    "check_padding_mask",
]


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
