"""Sparse patterns: masks that keep a few pairs, and how far they reach.

They look back only, as a decoder does: no query sees a later key.
"""

import numpy as np

from utils.border import count
from utils.masks import causal_mask, sliding_window_mask

__all__ = ["first_tokens_mask", "reached", "strided_mask"]


def strided_mask(num_tokens, window, stride=None):
    """Let each query see the last few and every so many-th before them.

    Parameters
    ----------
    num_tokens : int
    window : int
        As in sliding_window_mask: its own token counts.
    stride : int, optional
        From one far key to the next; as wide as the window unless told.

    Returns
    -------
    ndarray of bool, shape (num_tokens, num_tokens)
        True where the query may attend to the key.

    Raises
    ------
    ValueError
        If one of them is not a whole number from 1 on.

    Notes
    -----
    Section 4.2 of Child et al. (2019), both heads of it in one: with a
    window of √N, every query keeps about 2 √N keys.

    Examples
    --------
    >>> strided_mask(5, window=2).astype(int)[-1]
    array([1, 0, 1, 1, 1])
    """
    N = count("num_tokens", num_tokens)
    stride = window if stride is None else count("stride", stride)
    near = sliding_window_mask(N, window)
    back = np.arange(N)[:, None] - np.arange(N)
    return near | ((back >= 0) & (back % stride == 0))


def first_tokens_mask(num_tokens, window, num_first=1):
    """Let each query see the last few, and the first ones of the text.

    Parameters
    ----------
    num_tokens, window : int
        As in strided_mask.
    num_first : int
        How many tokens at the front everybody may see.

    Returns
    -------
    ndarray of bool, shape (num_tokens, num_tokens)
        True where the query may attend to the key.

    Raises
    ------
    ValueError
        If one of them is not a whole number from 1 on.

    Notes
    -----
    Xiao et al. (2023), who call the first tokens attention sinks.

    Examples
    --------
    >>> first_tokens_mask(5, window=2).astype(int)[-1]
    array([1, 0, 0, 1, 1])
    """
    N = count("num_tokens", num_tokens)
    first = np.arange(N) < count("num_first", num_first)
    return causal_mask(N) & (sliding_window_mask(N, window) | first)


def reached(mask, num_layers):
    """Say what has reached each token after some layers of attention.

    Parameters
    ----------
    mask : array_like of bool, shape (N, N)
        The same in every layer.
    num_layers : int

    Returns
    -------
    ndarray of bool, shape (N, N)
        True where a change of the column's token may change the row's.

    Raises
    ------
    ValueError
        If the mask is not a square of truth values.

    Notes
    -----
    Each layer keeps its own input too, by the residual connection.

    Examples
    --------
    >>> reached(np.eye(3, k=-1, dtype=bool), 2).astype(int)
    array([[1, 0, 0],
           [1, 1, 0],
           [1, 1, 1]])
    """
    mask = np.asarray(mask)
    if mask.dtype != bool or mask.ndim != 2 or len(set(mask.shape)) > 1:
        raise ValueError(
            "mask must be a square of truth values, received shape "
            f"{mask.shape}, dtype {mask.dtype}"
        )
    # eight tokens a byte: a product of N × N floats takes minutes in a browser
    heard = np.packbits(np.eye(len(mask), dtype=bool), axis=1)
    for _ in range(count("num_layers", num_layers, least=0)):
        asked = [np.bitwise_or.reduce(heard[row], axis=0) for row in mask]
        heard = heard | np.array(asked, np.uint8)
    return np.unpackbits(heard, axis=1, count=len(mask)).astype(bool)
