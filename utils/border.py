"""What the ground floor asks of its input, at the border, in one voice.

Each check names what it received; nothing is computed on bad input.
"""

from numbers import Integral, Real

import numpy as np

_AXES = {
    "X": ("N", "d_model"),
    "W": ("d_model", "d_out"),
    "Q": ("N", "d_k"),
    "K": ("M", "d_k"),
    "V": ("M", "d_v"),
    "mask": ("N", "M"),
}


def as_floats(name, array, least=float):
    """Read an array of real numbers, at least as wide as a float type.

    Parameters
    ----------
    name : str
        What the caller calls it.
    array : array_like
    least : dtype
        float64 unless told: narrower results are rounded once, at the end.

    Returns
    -------
    array : ndarray of float
    dtype : dtype
        The float type to give results in: that of the input, or float64.

    Raises
    ------
    ValueError
        If it holds anything but real numbers.

    Examples
    --------
    >>> as_floats("X", [1, 2])
    (array([1., 2.]), dtype('float64'))
    """
    array = np.asarray(array)
    if array.dtype.kind not in "fiu":
        hint = "; a mask goes in as mask=" if array.dtype == bool else ""
        raise ValueError(
            f"{name} must hold real numbers, received dtype "
            f"{array.dtype}{hint}"
        )
    dtype = array.dtype if array.dtype.kind == "f" else np.dtype(float)
    return array.astype(np.result_type(dtype, least), copy=False), dtype


def refuse(name, array, bad):
    """Refuse an array where `bad` is True, naming the first such entry.

    Raises
    ------
    ValueError

    Examples
    --------
    >>> refuse("X", np.array([1.0, np.inf]), np.array([False, True]))
    Traceback (most recent call last):
        ...
    ValueError: X holds inf at (1,)
    """
    if bad.any():
        index = tuple(int(i) for i in np.argwhere(bad)[0])
        raise ValueError(f"{name} holds {array[index]} at {index}")


def count(name, value, least=1):
    """Read a whole number.

    Returns
    -------
    int

    Raises
    ------
    ValueError
        If it is not whole, or below `least`.

    Examples
    --------
    >>> count("num_heads", 2.5)
    Traceback (most recent call last):
        ...
    ValueError: num_heads must be a whole number from 1 on, received 2.5
    """
    whole = isinstance(value, Integral) and not isinstance(value, bool)
    if not (whole and value >= least):
        raise ValueError(
            f"{name} must be a whole number from {least} on, "
            f"received {value!r}"
        )
    return int(value)


def is_real(value):
    """Tell whether a value is one real number, and not a truth value.

    >>> is_real(0.5), is_real(True), is_real("0.5")
    (True, False, False)
    """
    return isinstance(value, Real) and not isinstance(value, bool)


def read_arrays(mask=None, least=float, **arrays):
    """Read what attention takes, by its letters, and check that it fits.

    Parameters
    ----------
    mask : array_like of bool, shape (..., N, M), optional
    least : dtype
        The float type that the arrays are widened to, at least.
    **arrays : array_like
        Some of X, W, Q, K and V.

    Returns
    -------
    arrays : dict of str to ndarray
        At least as wide as `least`, in the order given; the mask last.
    dtype : dtype
        The common float type of the inputs, to give results in.

    Raises
    ------
    ValueError
        If an entry is not a finite real number, the mask is not boolean, or
        the shapes do not fit: then the pattern and the shapes are named.

    Examples
    --------
    >>> arrays, dtype = read_arrays(Q=[[1, 0]], K=[[0, 1], [2, 0]])
    >>> list(arrays), dtype
    (['Q', 'K'], dtype('float64'))
    """
    dtypes = []
    for name, array in arrays.items():
        arrays[name], dtype = as_floats(name, array, least)
        dtypes.append(dtype)
        refuse(name, arrays[name], ~np.isfinite(arrays[name]))
    if mask is not None:
        arrays["mask"] = mask = np.asarray(mask)
        if mask.dtype != bool:
            raise ValueError(
                "mask must be boolean, where True means may attend; "
                f"received dtype {mask.dtype}"
            )
    _check_shapes(arrays)
    return arrays, np.result_type(*dtypes)


def _check_shapes(arrays):
    """Name what does not fit, the pattern and the shapes, as einops does."""
    why, seen = "", {}
    for name, array in arrays.items():
        if array.ndim < (1 if name in ("X", "mask") else 2):
            why = why or f"{name} has too few axes"
        ends = zip(_AXES[name][::-1], array.shape[::-1], strict=False)
        for axis, size in ends:
            known, owner = seen.setdefault(axis, (size, name))
            if size != known and not (name == "mask" and size == 1):
                why = why or f"{axis} is {known} in {owner}, {size} in {name}"
    try:
        np.broadcast_shapes(*(array.shape[:-2] for array in arrays.values()))
    except ValueError:
        why = why or "the axes in front (batch, heads) do not broadcast"
    if why:
        pattern = ", ".join(
            f"{n} (..., {', '.join(_AXES[n])})" for n in arrays
        )
        received = ", ".join(f"{n} {a.shape}" for n, a in arrays.items())
        raise ValueError(f"{why}. Pattern: {pattern}. Received: {received}.")
