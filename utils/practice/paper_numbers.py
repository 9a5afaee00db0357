"""Numbers that one can write on paper: fractions, whole ones, two places."""

from fractions import Fraction

import numpy as np

__all__ = ["fractions", "two_places", "whole"]

MOST_PARTS = 400  # no fraction of a worksheet has a larger denominator


def fractions(array):
    """Read weights, or what they mix, as fractions.

    Parameters
    ----------
    array : array_like of float

    Returns
    -------
    nested lists of Fraction

    Raises
    ------
    ValueError
        If a number is not a fraction with a small denominator.

    Examples
    --------
    >>> fractions([0.25, 2 / 3])
    [Fraction(1, 4), Fraction(2, 3)]
    """
    if np.ndim(array):
        return [fractions(part) for part in array]
    number = float(array)
    near = Fraction(number).limit_denominator(MOST_PARTS)
    if abs(near - number) > 1e-12:
        raise ValueError(f"{number!r} is no fraction for paper")
    return near


def whole(array):
    """Read an array as nested lists of whole numbers.

    Raises
    ------
    ValueError
        If a number is not whole: names the array.

    Examples
    --------
    >>> whole(np.array([[1.0, 2.0]]))
    [[1, 2]]
    """
    rounded = np.rint(array)
    if not np.allclose(rounded, array, rtol=0, atol=1e-9):
        raise ValueError(f"not whole numbers: {array}")
    return rounded.astype(int).tolist()


def two_places(numbers):
    """Write numbers as a table on paper has them, without a minus zero.

    >>> two_places([0.5, -0.001])
    ['0.50', '0.00']
    """
    return [
        f"{abs(n):.2f}" if round(n, 2) == 0 else f"{n:.2f}" for n in numbers
    ]
