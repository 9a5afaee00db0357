"""Positions in NumPy: encodings to add, and rotations of queries and keys.

Positions count from 0. Features go in pairs, and each pair turns at a speed
of its own, the first by 1 radian a position, the later ones slower. Everything
is computed in float64 at least and rounded once, to the float dtype of the
input. Inputs are never changed and outputs never share their memory.
"""

import numpy as np

from utils.border import as_floats, count, is_real, refuse

PAIRINGS = ("neighbours", "halves")


def angular_speeds(d, base=10000.0):
    """Say how fast each pair of features turns: base^(-2i / d).

    Parameters
    ----------
    d : int
        How many features: d_model of an encoding, d_k of a rotation.
    base : float, optional
        The first pair turns by 1 radian a position; a pair numbered d / 2,
        one after the last, would turn by 1 / base.

    Returns
    -------
    ndarray, shape (pairs,)
        Radians for each position. An odd d leaves the last pair one feature.

    Raises
    ------
    ValueError
        If d is not a whole number from 1 on, or base not above 0 and finite.

    Notes
    -----
    Section 3.5 of Vaswani et al. (2017). One turn takes 2π / speed positions.

    Examples
    --------
    >>> angular_speeds(4)
    array([1.  , 0.01])
    """
    count("d", d)
    if not (is_real(base) and 0 < base < np.inf):
        raise ValueError(f"base must be above 0 and finite, received {base!r}")
    return float(base) ** (-np.arange(0, d, 2) / d)


def sinusoidal_encoding(num_positions, d_model):
    """Describe each position by sines and cosines, to add to its token.

    Parameters
    ----------
    num_positions : int
    d_model : int
        If it is odd, the last sine has no cosine.

    Returns
    -------
    ndarray, shape (num_positions, d_model)
        PE[pos, 2i] = sin(pos / 10000^(2i / d_model)), and PE[pos, 2i + 1]
        is the cosine of the same: interleaved, as the paper writes it.

    Raises
    ------
    ValueError
        If a number is not a whole one from 1 on.

    Notes
    -----
    Section 3.5 of Vaswani et al. (2017). `neighbours_to_halves` gives the
    layout of some code: all sines first, then all cosines.

    Examples
    --------
    >>> sinusoidal_encoding(2, 4).round(4)
    array([[0.    , 1.    , 0.    , 1.    ],
           [0.8415, 0.5403, 0.01  , 1.    ]])
    """
    count("num_positions", num_positions)
    count("d_model", d_model)
    speeds = angular_speeds(d_model)
    angles = np.arange(num_positions)[:, None] * speeds
    encoding = np.empty((num_positions, d_model))
    encoding[:, 0::2] = np.sin(angles)
    encoding[:, 1::2] = np.cos(angles[:, : d_model // 2])
    return encoding


def rotate(Q, positions, pairing="neighbours", base=10000.0):
    """Turn queries or keys by their positions: rotary embedding, RoPE.

    Parameters
    ----------
    Q : array_like, shape (..., N, d_k) or (d_k,)
        Queries or keys, after their projection. d_k must be even.
    positions : array_like of numbers, shape (..., N), or one number
        One for each row of Q. Axes in front may be 1 or missing; for a single
        query of shape (d_k,) it is one number.
    pairing : {"neighbours", "halves"}, optional
        Which two features turn together: 2i and 2i + 1, or i and i + d_k / 2.
        A model must be run with the one it was trained with.
    base : float, optional
        As for `angular_speeds`.

    Returns
    -------
    ndarray, shape of Q
        Every row as long as before. The score of a query at m and a key at n
        depends on their places through m - n alone.

    Raises
    ------
    ValueError
        If d_k is odd or 0, there is not one position for each row, there is
        no such pairing, or a number is not real and finite.

    Notes
    -----
    Su et al. (2021), who pair neighbours. Much code pairs halves.

    Examples
    --------
    >>> rotate([1, 0, 1, 0], 1).round(4)
    array([0.5403, 0.8415, 1.    , 0.01  ])
    >>> rotate([1, 1, 0, 0], 1, pairing="halves").round(4)
    array([0.5403, 1.    , 0.8415, 0.01  ])
    """
    Q, dtype = as_floats("Q", Q)
    _check_even("Q", Q)
    refuse("Q", Q, ~np.isfinite(Q))
    first, second = _pairs(Q.shape[-1], pairing)
    angles = _positions(Q, positions)[..., None]
    angles = angles * angular_speeds(Q.shape[-1], base)
    cos, sin = np.cos(angles), np.sin(angles)
    turned = np.empty_like(Q)
    turned[..., first] = Q[..., first] * cos - Q[..., second] * sin
    turned[..., second] = Q[..., first] * sin + Q[..., second] * cos
    return turned.astype(dtype)


def neighbours_to_halves(Q):
    """Reorder features paired as neighbours so that halves are paired.

    Parameters
    ----------
    Q : array_like, shape (..., d)
        Queries, keys, an encoding, or a projection matrix W_Q or W_K, whose
        columns make the features.

    Returns
    -------
    ndarray, shape (..., d)
        Features 0, 2, 4, ... first, then 1, 3, 5, ...

    Raises
    ------
    ValueError
        If d is odd or 0, or an entry is not a real number.

    Examples
    --------
    >>> neighbours_to_halves([0, 1, 2, 3, 4, 5])
    array([0., 2., 4., 1., 3., 5.])
    """
    Q, dtype = as_floats("Q", Q)
    _check_even("Q", Q)
    return np.concatenate([Q[..., 0::2], Q[..., 1::2]], -1).astype(dtype)


def halves_to_neighbours(Q):
    """Reorder features paired as halves so that neighbours are paired.

    Parameters
    ----------
    Q : array_like, shape (..., d)

    Returns
    -------
    ndarray, shape (..., d)
        What `neighbours_to_halves` was given.

    Raises
    ------
    ValueError
        If d is odd or 0, or an entry is not a real number.

    Examples
    --------
    >>> halves_to_neighbours([0, 2, 4, 1, 3, 5])
    array([0., 1., 2., 3., 4., 5.])
    """
    Q, dtype = as_floats("Q", Q)
    _check_even("Q", Q)
    first, second = np.split(Q, 2, axis=-1)
    return np.stack([first, second], -1).reshape(Q.shape).astype(dtype)


def _pairs(d, pairing):
    """The features that come first in their pair, and those second."""
    if pairing == "neighbours":
        return slice(0, None, 2), slice(1, None, 2)
    if pairing == "halves":
        return slice(0, d // 2), slice(d // 2, None)
    raise ValueError(f"pairing must be one of {PAIRINGS}, got {pairing!r}")


def _positions(Q, positions):
    positions, _ = as_floats("positions", positions)
    refuse("positions", positions, ~np.isfinite(positions))
    rows = Q.shape[:-1]
    # NumPy would let one position serve every token, or every item of a
    # batch take a token's: so the last axis must match in full
    if positions.shape[-1:] != rows[-1:] or positions.ndim > len(rows):
        fits = False
    else:
        ends = zip(positions.shape[::-1], rows[::-1], strict=False)
        fits = all(size in (1, row) for size, row in ends)
    if not fits:
        raise ValueError(
            "positions needs one number for each row of Q. Pattern: "
            "Q (..., N, d_k), positions (..., N). Received: "
            f"Q {Q.shape}, positions {positions.shape}."
        )
    return positions


def _check_even(name, array):
    d = array.shape[-1] if array.ndim else 0
    if d == 0 or d % 2:
        raise ValueError(
            f"{name} needs an even number of features, in pairs; received "
            f"shape {array.shape}"
        )
