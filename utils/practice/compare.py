"""Tell whether two answers are the same, up to rounding."""

import numpy as np

__all__ = ["as_list", "equal", "matches", "quiet"]

# by the width of the float type: what the steps of a right function may
# round to, relative and absolute
_TOLERANCE = {2: (2e-2, 2e-2), 4: (1e-4, 1e-5), 8: (1e-8, 1e-10)}


def equal(right, array):
    """Equal up to the rounding of the coarser of two float types.

    Truth values equal truth values alone: a mask of numbers is no mask.

    >>> equal(np.array([1 / 3]), np.array([1 / 3], dtype=np.float32))
    True
    >>> equal(np.array([True]), np.array([1]))
    False
    """
    if right.shape != array.shape:
        return False
    if right.dtype == bool or array.dtype == bool:
        return right.dtype == array.dtype and np.array_equal(right, array)
    sizes = [a.dtype.itemsize for a in (right, array) if a.dtype.kind == "f"]
    rtol, atol = _TOLERANCE[min([*sizes, 8])]
    right, array = right.astype(float), array.astype(float)
    return bool(np.allclose(array, right, rtol, atol, equal_nan=True))


def as_list(answer):
    """The parts of an answer, as arrays."""
    parts = answer if isinstance(answer, tuple) else (answer,)
    return [np.asarray(part) for part in parts]


def matches(expected, arrays):
    """As many parts as are given must be equal: weights may be left out."""
    return len(arrays) <= len(expected) and all(map(equal, expected, arrays))


def quiet(run, trial):
    """What a function of ours gives for a trial, without NumPy's warnings."""
    with np.errstate(all="ignore"):
        return as_list(run(*trial))
