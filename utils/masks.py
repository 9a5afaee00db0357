"""Masks: which keys each query may attend to. True means may attend, always.

Rows are queries, columns are keys. A mask goes to the helpers of
utils.attention as mask=, and axes in front (batch, heads) broadcast there. A
mask made here knows places only: it never looks at what a token holds.
"""

import numpy as np

from utils.border import count


def padding_mask(lengths, num_keys=None):
    """Let every query see the real tokens of its sentence, and no padding.

    Parameters
    ----------
    lengths : array_like of int, shape (B,)
        How many real tokens each sentence has. They stand first.
    num_keys : int, optional
        The length after padding, M; that of the longest sentence unless told.

    Returns
    -------
    ndarray of bool, shape (B, 1, M)
        True where the key is a real token. The axis of length 1 is the
        queries': it broadcasts against scores of shape (B, N, M).

    Raises
    ------
    ValueError
        If lengths is not one row of whole numbers, or one of them is below 0
        or above num_keys.

    Notes
    -----
    With heads the scores have shape (B, heads, N, M): write mask[:, None].
    The lengths are those of the sentence that gives the keys. For
    cross-attention that is the source, and N need not be M. For padding in
    front of the sentences, write mask[..., ::-1].

    Examples
    --------
    >>> padding_mask([2, 3]).astype(int)
    array([[[1, 1, 0]],
    <BLANKLINE>
           [[1, 1, 1]]])
    """
    lengths = np.asarray(lengths)
    if lengths.ndim != 1 or (lengths.size and lengths.dtype.kind not in "iu"):
        raise ValueError(
            "lengths must be one row of whole numbers, one for each "
            f"sentence; received shape {lengths.shape}, dtype {lengths.dtype}"
        )
    if num_keys is None:
        num_keys = int(lengths.max(initial=0))
    num_keys = count("num_keys", num_keys, least=0)
    outside = (lengths < 0) | (lengths > num_keys)
    if outside.any():
        raise ValueError(
            f"each length must be from 0 to num_keys = {num_keys}, "
            f"received {lengths[outside][0]}"
        )
    return (np.arange(num_keys) < lengths[:, None])[:, None, :]


def causal_mask(num_queries, num_keys=None):
    """Let each query see itself and what came before.

    Parameters
    ----------
    num_queries : int
    num_keys : int, optional
        As many as queries unless told. More keys than queries means the
        queries are the last ones (a cache holds the rest), so the triangle
        is aligned to the bottom right.

    Returns
    -------
    ndarray of bool, shape (num_queries, num_keys)
        True where the query may attend to the key.

    Raises
    ------
    ValueError
        If there are fewer keys than queries: the first rows would see nothing.

    Notes
    -----
    Section 3.2.3 of Vaswani et al. (2017).

    Examples
    --------
    >>> causal_mask(3).astype(int)
    array([[1, 0, 0],
           [1, 1, 0],
           [1, 1, 1]])
    """
    num_queries, num_keys = _counts(num_queries, num_keys)
    return _up_to(num_queries, num_keys, num_keys - num_queries)


def sliding_window_mask(num_queries, window, num_keys=None):
    """Let each query see itself and the last few before it.

    Parameters
    ----------
    num_queries : int
    window : int
        How many keys a query may see at most, its own token among them.
    num_keys : int, optional
        As for causal_mask: aligned to the bottom right.

    Returns
    -------
    ndarray of bool, shape (num_queries, num_keys)
        True where the query may attend to the key.

    Raises
    ------
    ValueError
        As causal_mask, and if window is below 1: no row would see anything.

    Notes
    -----
    Section 3.1 of Beltagy et al. (2020), here looking back only.

    Examples
    --------
    >>> sliding_window_mask(4, window=2).astype(int)
    array([[1, 0, 0, 0],
           [1, 1, 0, 0],
           [0, 1, 1, 0],
           [0, 0, 1, 1]])
    """
    num_queries, num_keys = _counts(num_queries, num_keys)
    window = count("window", window)
    # a window wider than the row is as good as one just as wide
    passed = num_keys - num_queries - min(window, num_keys)
    causal = causal_mask(num_queries, num_keys)
    return causal & ~_up_to(num_queries, num_keys, passed)


def combine_masks(*masks):
    """Allow what every mask allows: logical and, with broadcasting.

    Parameters
    ----------
    *masks : array_like of bool
        One or more, for example padding (B, 1, M) and causal (N, M).

    Returns
    -------
    ndarray of bool
        Of the shape that the masks broadcast to, here (B, N, M).

    Raises
    ------
    ValueError
        If there is no mask, one is not boolean, or the shapes do not
        broadcast.

    Examples
    --------
    >>> combine_masks(padding_mask([2, 3]), causal_mask(3))[0].astype(int)
    array([[1, 0, 0],
           [1, 1, 0],
           [1, 1, 0]])
    """
    if not masks:
        raise ValueError("combine_masks needs one mask or more, received none")
    masks = [np.asarray(mask) for mask in masks]
    for i, mask in enumerate(masks):
        if mask.dtype != bool:
            raise ValueError(
                "each mask must be boolean, where True means may attend; "
                f"received dtype {mask.dtype} in mask {i}"
            )
    try:
        shape = np.broadcast_shapes(*(mask.shape for mask in masks))
    except ValueError:
        received = ", ".join(str(mask.shape) for mask in masks)
        raise ValueError(
            "the masks do not broadcast to one shape. Pattern: "
            f"(..., N or 1, M or 1). Received: {received}."
        ) from None
    combined = np.ones(shape, dtype=bool)
    for mask in masks:
        combined &= mask
    return combined


def _up_to(num_queries, num_keys, diagonal):
    """Row i is True up to and with column i + diagonal."""
    return np.tri(num_queries, num_keys, diagonal, dtype=bool)


def _counts(num_queries, num_keys):
    num_queries = count("num_queries", num_queries, least=0)
    if num_keys is None:
        return num_queries, num_queries
    num_keys = count("num_keys", num_keys, least=0)
    if num_keys < num_queries:
        raise ValueError(
            "there must be no fewer keys than queries, or the first queries "
            f"see nothing; received num_queries = {num_queries}, "
            f"num_keys = {num_keys}"
        )
    return num_queries, num_keys
