"""What the ground floor asks of its input, at the border, in one voice.

Each check names what it received; nothing is computed on bad input.
"""

from numbers import Integral, Real

import numpy as np


def as_floats(name, array):
    """Read an array of real numbers, at least as wide as float64.

    Parameters
    ----------
    name : str
        What the caller calls it.
    array : array_like

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
    return array.astype(np.result_type(dtype, float), copy=False), dtype


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
