"""Attention without the N × M matrix: a tile of it at a time, merged.

What is known of a row after some of its keys is three things: the largest
score m, the sum l of exp(score - m), and O, the values added up by the same
exponentials. Two such parts, over different keys, merge into one.
"""

from typing import NamedTuple

import numpy as np

from utils.border import count, read_arrays

__all__ = ["Part", "attention_by_tiles", "finish", "merge", "part_of"]


class Part(NamedTuple):
    """What is known of some rows after some of the keys.

    m : ndarray, shape (..., N, 1)
        The largest scaled score; -inf where no key could be seen.
    l : ndarray, shape (..., N, 1)
        The sum of exp(score - m); 0 where no key could be seen.
    O : ndarray, shape (..., N, d_v)
        The sum of exp(score - m) times the value.
    """

    m: np.ndarray
    l: np.ndarray  # noqa: E741 (the papers' letter)
    O: np.ndarray  # noqa: E741


def part_of(Q, K, V, mask=None):
    """Gather what these keys say to these queries, not yet divided.

    Parameters
    ----------
    Q : array_like, shape (..., N, d_k)
    K : array_like, shape (..., M, d_k)
    V : array_like, shape (..., M, d_v)
    mask : array_like of bool, shape (..., N, M), optional
        True where the query may attend to the key.

    Returns
    -------
    Part

    Raises
    ------
    ValueError
        As scaled_dot_product_attention.

    Examples
    --------
    >>> part = part_of([[0]], [[1], [2]], [[10], [30]])
    >>> part.m.item(), part.l.item(), part.O.item()
    (0.0, 2.0, 40.0)
    """
    Q, K, V, mask, _ = _read(Q, K, V, mask)
    return _part(Q * _scale(Q), K, V, mask)


def merge(first, second):
    """Put together what two sets of keys say to the same queries.

    Parameters
    ----------
    first, second : Part

    Returns
    -------
    Part
        As if all the keys had come at once. Which comes first does not
        matter, nor does how several parts are paired.

    Raises
    ------
    ValueError
        If the two parts do not hold the same queries.

    Notes
    -----
    Milakov and Gimelshein (2018), section 3.1. No exponent is above 0.

    Examples
    --------
    >>> low = part_of([[1]], [[0]], [[10]])
    >>> high = part_of([[1]], [[1000]], [[20]])
    >>> finish(merge(low, high))
    array([[20.]])
    """
    if first.O.shape != second.O.shape:
        raise ValueError(
            "parts of the same queries are merged; received O "
            f"{first.O.shape} and {second.O.shape}"
        )
    m = np.maximum(first.m, second.m)
    level = np.where(np.isneginf(m), 0, m).astype(m.dtype)
    a, b = np.exp(first.m - level), np.exp(second.m - level)
    return Part(m, a * first.l + b * second.l, a * first.O + b * second.O)


def finish(part):
    """Divide by the sum: the output of attention.

    Parameters
    ----------
    part : Part

    Returns
    -------
    ndarray, shape (..., N, d_v)
        Zeros for a query that saw no key, as in utils.attention.

    Examples
    --------
    >>> finish(part_of([[0]], [[1], [2]], [[10], [30]]))
    array([[20.]])
    >>> finish(part_of([[0]], [[1]], [[10]], mask=[[False]]))
    array([[0.]])
    """
    return part.O / np.where(part.l == 0, 1, part.l)


def attention_by_tiles(Q, K, V, mask=None, tile=256, skip=True):
    """Compute softmax(Q Kᵀ / √d_k) V and never hold the N × M matrix.

    Parameters
    ----------
    Q : array_like, shape (..., N, d_k)
    K : array_like, shape (..., M, d_k)
    V : array_like, shape (..., M, d_v)
    mask : array_like of bool, shape (..., N, M), or callable, optional
        True where the query may attend to the key. A callable gets the
        numbers of queries (n, 1) and keys (1, m) and says it for one tile,
        so that the mask is never held whole either.
    tile : int
        How many queries, and how many keys, a tile has at most.
    skip : bool
        Leave out tiles in which nothing may attend.

    Returns
    -------
    ndarray, shape (..., N, d_v)
        Exact, up to rounding: equal to what the plain helper gives. Zeros
        for a query that may attend to nothing.

    Raises
    ------
    ValueError
        As scaled_dot_product_attention, and if tile is not a whole number
        from 1 on.

    Notes
    -----
    Dao et al. (2022), Rabe and Staats (2021). Computed in the float type of
    the inputs, in float32 at least, as the fast kernels do; the plain helper
    takes float64 at least.

    Examples
    --------
    >>> attention_by_tiles(*[np.eye(2)] * 3, tile=1).round(2)
    array([[0.67, 0.33],
           [0.33, 0.67]])
    >>> attention_by_tiles(*[np.eye(2)] * 3, mask=lambda i, j: j <= i)[0]
    array([1., 0.])
    """
    tile = count("tile", tile)
    rule = mask if callable(mask) else None
    Q, K, V, mask, dtype = _read(Q, K, V, None if rule else mask)
    N, M = Q.shape[-2], K.shape[-2]
    ask = rule or _tiles_of(mask)
    front = np.broadcast_shapes(
        *(array.shape[:-2] for array in (Q, K, V)),
        () if mask is None else mask.shape[:-2],
    )
    output = np.empty((*front, N, V.shape[-1]), dtype)
    for i in range(0, N, tile):
        rows = slice(i, min(i + tile, N))
        asking = Q[..., rows, :] * _scale(Q)  # once for all its tiles
        known = None
        for j in range(0, M, tile):
            columns = slice(j, min(j + tile, M))
            seen = _block(ask, rows, columns)
            if skip and seen is not None and not seen.any():
                continue
            part = _part(asking, K[..., columns, :], V[..., columns, :], seen)
            known = part if known is None else merge(known, part)
        output[..., rows, :] = 0 if known is None else finish(known)
    return output


def _read(Q, K, V, mask):
    arrays, dtype = read_arrays(mask, np.float32, Q=Q, K=K, V=V)
    if arrays["Q"].shape[-1] == 0:
        raise ValueError(f"d_k is 0 in Q {arrays['Q'].shape}: no √d_k")
    wide = np.result_type(*(arrays[name] for name in "QKV"))
    Q, K, V = (arrays[name].astype(wide, copy=False) for name in "QKV")
    return Q, K, V, arrays.get("mask"), dtype


def _scale(Q):
    return np.asarray(Q.shape[-1] ** -0.5, Q.dtype)


def _part(Q, K, V, seen):
    """Make one tile's part; the tile itself is the only large array."""
    scores = Q @ K.mT
    if seen is not None:
        scores = np.where(seen, scores, np.array(-np.inf, scores.dtype))
    m = scores.max(axis=-1, keepdims=True, initial=-np.inf)
    scores -= np.where(np.isneginf(m), 0, m)
    np.exp(scores, out=scores)
    return Part(m, scores.sum(axis=-1, keepdims=True), scores @ V)


def _tiles_of(mask):
    """Cut an array as a callable mask would say it, tile by tile."""
    if mask is None:
        return None
    mask = mask if mask.ndim > 1 else mask[None]

    def cut(i, j):
        rows = i[:, 0] if mask.shape[-2] > 1 else slice(None)
        columns = j[0] if mask.shape[-1] > 1 else slice(None)
        return mask[..., rows, :][..., columns]

    return cut


def _block(ask, rows, columns):
    if ask is None:
        return None
    i = np.arange(rows.start, rows.stop)[:, None]
    j = np.arange(columns.start, columns.stop)[None]
    seen = np.asarray(ask(i, j))
    if seen.dtype != bool:
        raise ValueError(
            "mask must be boolean, where True means may attend; received "
            f"dtype {seen.dtype}"
        )
    return seen
