"""The chapter's experiment: random queries and keys, longer and longer.

One set of random vectors of 1,024 entries is drawn. For a smaller d_k their
first d_k entries are taken, so that each score is a sum which goes on.
"""

from functools import cache, lru_cache

import numpy as np

from utils.attention import softmax

DIMENSIONS = tuple(2**i for i in range(11))
QUERIES, KEYS, HEADS = 2000, 8, 8
SEED = 0

# how each divisor reads
DIVISORS = {
    "nothing": "nothing",
    "root": "√dₖ",
    "d_k": "dₖ",
    "d_model": "√d_model",
}


def divisor(name, d_k, heads=HEADS):
    """Look up the number that a way of scaling divides by.

    Parameters
    ----------
    name : str
        One of DIVISORS.
    d_k : int
    heads : int, optional
        The model is as wide as its heads together: d_model = heads · d_k.

    Returns
    -------
    float

    Examples
    --------
    >>> [divisor(name, 64) for name in DIVISORS]
    [1.0, 8.0, 64.0, 22.627416997969522]
    """
    squared = {
        "nothing": 1,
        "root": d_k,
        "d_k": d_k**2,
        "d_model": heads * d_k,
    }
    return squared[name] ** 0.5


def effective_keys(weights):
    """Say how many equal weights are as undecided as these: exp(entropy).

    Parameters
    ----------
    weights : array_like, shape (..., M)
        Rows that sum to 1.

    Returns
    -------
    ndarray, shape (...)
        1 if one key takes all, M if all weights are equal.

    Examples
    --------
    >>> effective_keys([[0.25, 0.25, 0.25, 0.25], [0, 1, 0, 0]])
    array([4., 1.])
    """
    weights = np.asarray(weights, dtype=float)
    logs = np.log(np.where(weights > 0, weights, 1))
    return np.exp(-(weights * logs).sum(-1))


def gradient_norm(weights):
    """Measure how much softmax reacts: its Jacobian's Frobenius norm.

    Parameters
    ----------
    weights : array_like, shape (..., M)
        What softmax gave.

    Returns
    -------
    ndarray, shape (...)

    Notes
    -----
    The Jacobian is diag(w) - w wᵀ. In it, 1 - w is summed up from the other
    weights: subtracted, it would lose its digits where w is close to 1.

    Examples
    --------
    >>> gradient_norm([[0.5, 0.5], [1, 0]])
    array([0.5, 0. ])
    """
    weights = np.asarray(weights, dtype=float)
    others = 1 - np.eye(weights.shape[-1])
    diagonal = weights * (weights @ others)
    beside = weights**2 * (weights**2 @ others)
    return np.sqrt((diagonal**2 + beside).sum(-1))


@lru_cache(maxsize=1)
def random_scores():
    """Draw the scores q·k of random queries and keys, for each d_k.

    Returns
    -------
    ndarray, shape (11, 2000, 8)
        d_k as in DIMENSIONS, queries, keys. Entries of q and k are standard
        normal and independent.
    """
    rng = np.random.default_rng(SEED)
    scores = np.empty((len(DIMENSIONS), QUERIES, KEYS))
    starts = [0, *DIMENSIONS[:-1]]
    for part in np.split(np.arange(QUERIES), 20):
        q = rng.standard_normal((len(part), 1, DIMENSIONS[-1]))
        k = rng.standard_normal((len(part), KEYS, DIMENSIONS[-1]))
        pieces = np.add.reduceat(q * k, starts, axis=-1)
        scores[:, part] = np.moveaxis(pieces.cumsum(-1), -1, 0)
    scores.flags.writeable = False
    return scores


@cache
def measured(name, heads=HEADS):
    """Measure what a divisor makes of the random scores.

    Parameters
    ----------
    name : str
        One of DIVISORS.
    heads : int, optional

    Returns
    -------
    dict of str to ndarray, shape (11,)
        For each d_k: the "variance" of all scores, and for the typical row
        (the median of all) its "keys", the effective number, and its
        "gradient", the norm.
    """
    divisors = [divisor(name, d_k, heads) for d_k in DIMENSIONS]
    scores = random_scores() / np.reshape(divisors, (-1, 1, 1))
    weights = softmax(scores)
    return {
        "variance": scores.var(axis=(1, 2)),
        "keys": np.median(effective_keys(weights), axis=1),
        "gradient": np.median(gradient_norm(weights), axis=1),
    }


@lru_cache(maxsize=1)
def typical_row():
    """Find the query whose row comes closest to the typical one.

    Returns
    -------
    int
        Over all d_k, undivided and divided by the root, its effective number
        of keys lies nearest to the median of all rows.
    """
    distance = np.zeros(QUERIES)
    for name in ("nothing", "root"):
        divisors = [divisor(name, d_k) for d_k in DIMENSIONS]
        scores = random_scores() / np.reshape(divisors, (-1, 1, 1))
        found = effective_keys(softmax(scores))
        distance += ((found - measured(name)["keys"][:, None]) ** 2).sum(0)
    return int(distance.argmin())
