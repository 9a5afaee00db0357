"""What differs between a reader's answer and the right one, in words."""

import numpy as np

from utils.practice.compare import equal

__all__ = ["differences"]


def differences(task, expected, given):
    """Say what differs: kind, shape, sums, and the first entry.

    Parameters
    ----------
    task : Task
    expected, given : list of ndarray
        What a right function gives, and the reader's; fewer may be given.

    Returns
    -------
    list of str
    """
    if len(given) > len(expected):
        return [f"It gave {len(given)} arrays, not {len(expected)}."]
    for right, array in zip(expected, given, strict=False):
        lines = _of_one(task, right, array)
        if lines:
            return lines
    return []


def _of_one(task, right, array):
    if array.shape != right.shape:
        return _of_shapes(right, array)
    if task.booleans and array.dtype != bool:
        return [
            f"The mask must be boolean, and its dtype is {array.dtype}: "
            "numbers are added to the scores, and 0 and 1 hide nothing."
        ]
    if equal(right, array):
        return []
    if task.booleans:
        return _of_masks(right, array)
    lines = _of_nan(right, array)
    if lines:
        return lines
    if task.weights:
        lines = _of_sums(array)
    return [*lines, *_of_entries(right, array)]


def _of_shapes(right, array):
    line = f"Its shape is {array.shape}, and it should be {right.shape}."
    if array.ndim > 1 and array.swapaxes(-1, -2).shape == right.shape:
        line += " Rows and columns have changed places."
    elif array.size == right.size:
        line += " There are as many numbers: it is the axes that differ."
    return [line]


def _of_masks(right, array):
    missing, extra = right & ~array, array & ~right
    lines = []
    for where, word in ((missing, "hides"), (extra, "shows")):
        if where.any():
            place = tuple(int(i) for i in np.argwhere(where)[0])
            lines.append(
                f"It {word} {int(where.sum())} pairs that it should not, "
                f"the first at {place}."
            )
    return lines


def _of_nan(right, array):
    bad = ~np.isfinite(array) & np.isfinite(right)
    if not bad.any():
        return []
    place = tuple(int(i) for i in np.argwhere(bad)[0])
    word = "NaN" if np.isnan(array[place]) else "infinite"
    return [
        f"It is {word} at {place}, where {right[place]:.4g} is right. "
        "0 / 0, inf / inf and inf - inf all give NaN."
    ]


def _of_sums(array):
    if (array < 0).any():
        return ["Some weights are negative."]
    totals = array.sum(axis=-1)
    if np.allclose(totals, 1, atol=1e-4):
        return ["Each row does sum to 1."]
    if np.allclose(array.sum(axis=-2), 1, atol=1e-4):
        return ["The columns sum to 1, and the rows should."]
    return [f"The rows sum to {totals.ravel()[0]:.4g} and the like, not to 1."]


def _of_entries(right, array):
    array, right = array.astype(float), right.astype(float)
    if array.ndim > 1 and equal(right.swapaxes(-1, -2), array):
        return ["It is the transpose of what is right."]
    sure = np.abs(right) > 1e-3
    if sure.any():
        factors = array[sure] / right[sure]
        if np.allclose(factors, factors[0], rtol=1e-4):
            return [f"Every number is {factors[0]:.4g} times the right one."]
    off = array - right
    if np.allclose(off, off.flat[0], rtol=1e-4, atol=1e-6):
        return [f"Every number is off by the same {off.flat[0]:.4g}."]
    wrong = ~np.isclose(array, right, rtol=1e-4, atol=1e-5)
    place = tuple(int(i) for i in np.argwhere(wrong)[0])
    return [
        f"{int(wrong.sum())} of {wrong.size} numbers differ, the first at "
        f"{place}: {array[place]:.4f}, and {right[place]:.4f} is right."
    ]
