"""How PyTorch reads masks, alignments and axes, mimicked in NumPy.

The tests check each function against PyTorch itself. No score differs from
another here, so that every difference between weights comes from what the
functions are about.
"""

import numpy as np

from utils.attention import softmax

READINGS = {
    "keeps": "F.scaled_dot_product_attention: True keeps",
    "blocks": "nn.MultiheadAttention: True blocks",
    "added": "Given as 1.0 and 0.0: added to the scores",
}


def mask_weights(mask, reading):
    """Weights of equal scores under a mask, as a reading has them.

    Parameters
    ----------
    mask : array_like of bool, shape (L, S)
    reading : str
        "keeps": True lets a query see a key, as in this book and in
        F.scaled_dot_product_attention. "blocks": True hides the key, as in
        nn.MultiheadAttention. "added": the mask is turned into numbers, and
        both functions add these to the scores.

    Returns
    -------
    ndarray, shape (L, S)
        A query that sees no key has zeros under "keeps", NaN under "blocks"
        (where nn.MultiheadAttention is asked for its weights).

    Examples
    --------
    >>> causal = np.tri(2, dtype=bool)
    >>> mask_weights(causal, "keeps")
    array([[1. , 0. ],
           [0.5, 0.5]])
    >>> mask_weights(causal, "blocks")
    array([[ 0.,  1.],
           [nan, nan]])
    >>> mask_weights(causal, "added").round(3)
    array([[0.731, 0.269],
           [0.5  , 0.5  ]])
    """
    mask = np.asarray(mask)
    if mask.dtype != bool or mask.ndim != 2:
        raise ValueError(
            "mask must be boolean, of shape (L, S), received "
            f"{mask.dtype} of shape {mask.shape}"
        )
    if reading not in READINGS:
        raise ValueError(
            f"reading must be one of {list(READINGS)}, received {reading!r}"
        )
    if reading == "added":
        return softmax(mask.astype(float))
    keep = mask if reading == "keeps" else ~mask
    weights = softmax(np.where(keep, 0, -np.inf))
    if reading == "blocks":
        weights[~keep.any(axis=1)] = np.nan
    return weights


def aligned(num_queries, num_keys, corner):
    """Make a causal mask for any number of queries and keys.

    Parameters
    ----------
    num_queries, num_keys : int
    corner : str
        Where the triangle is pinned: "top-left", as is_causal=True has it,
        or "bottom-right", as causal_lower_right has it.

    Returns
    -------
    ndarray of bool, shape (num_queries, num_keys)
        True where the query may attend to the key.

    Examples
    --------
    >>> aligned(2, 4, "top-left").astype(int)
    array([[1, 0, 0, 0],
           [1, 1, 0, 0]])
    >>> aligned(2, 4, "bottom-right").astype(int)
    array([[1, 1, 1, 0],
           [1, 1, 1, 1]])
    """
    shifts = {"top-left": 0, "bottom-right": num_keys - num_queries}
    if corner not in shifts:
        raise ValueError(
            f"corner must be one of {list(shifts)}, received {corner!r}"
        )
    return np.tri(num_queries, num_keys, shifts[corner], dtype=bool)


def axis_weights(shape, place, axis):
    """Weights of one piece of an array, where attention runs along an axis.

    Parameters
    ----------
    shape : tuple of int
    place : tuple of int
        The piece that asks.
    axis : int
        The axis that a call takes for the sequence.

    Returns
    -------
    ndarray, shape `shape`
        How much the piece takes from each piece of the array, all scores
        being equal. They sum to 1.

    Examples
    --------
    >>> axis_weights((2, 4), (0, 1), axis=1)
    array([[0.25, 0.25, 0.25, 0.25],
           [0.  , 0.  , 0.  , 0.  ]])
    >>> axis_weights((2, 4), (0, 1), axis=0)
    array([[0. , 0.5, 0. , 0. ],
           [0. , 0.5, 0. , 0. ]])
    """
    weights = np.zeros(shape)
    line = list(place)
    line[axis] = slice(None)
    weights[tuple(line)] = softmax(np.zeros(shape[axis]))
    return weights
