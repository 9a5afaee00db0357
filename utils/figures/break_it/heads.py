"""Where the numbers of each token go when the width is cut into heads."""

import numpy as np

from utils.explore import Explorable, Slider
from utils.explore.palette import GRID, MUTED, WEIGHT
from utils.figures.drawing import WIDTH, add_cell, blank_page, write
from utils.figures.wording import capital, counted, listed
from utils.heads import split_heads
from utils.practice.on_heads import view

NAMES = "ABCD"
SPLITS = {
    "cut, then swap": split_heads,
    "view alone": view,
}
_CELL, _HIGH = 0.46, 0.29


def named_numbers():
    """Name each number of four tokens by its token and its column.

    Returns
    -------
    ndarray of str, shape (4, 4)

    Examples
    --------
    >>> print(named_numbers()[1])
    ['B0' 'B1' 'B2' 'B3']
    """
    return np.array([[f"{t}{c}" for c in range(4)] for t in NAMES])


def draw_heads(split, num_heads):
    """Draw four tokens, and what each head holds of them.

    Parameters
    ----------
    split : str
        A name in SPLITS.
    num_heads : int

    Returns
    -------
    Figure
    """
    figure, axes = blank_page(3.8)
    X = named_numbers()
    left = (WIDTH - 4 * _CELL) / 2
    write(axes, left, 0.2, "X: a row for each token", ha="left", size=10.5)
    _draw_grid(axes, left, 0.38, X, X)
    for i, name in enumerate(NAMES):
        y = 0.38 + (i + 0.5) * _HIGH
        write(axes, left - 0.1, y, f"token {name}", MUTED, ha="right")
    parts = SPLITS[split](X, num_heads)
    right = split_heads(X, num_heads)
    gap = 0.36
    wide = 4 * _CELL + (num_heads - 1) * gap
    x = (WIDTH - wide) / 2
    for h, part in enumerate(parts):
        middle = x + part.shape[1] * _CELL / 2
        write(axes, middle, 2.0, f"head {h}", size=10)
        _draw_grid(axes, x, 2.17, part, right[h])
        x += part.shape[1] * _CELL + gap
    write(axes, 0.1, 3.6, _verdict(split, num_heads), ha="left")
    return figure


def say_heads(split, num_heads):
    """Say what `draw_heads` draws, for the same values."""
    parts = SPLITS[split](named_numbers(), num_heads)
    held = [
        f"head {h} holds {listed([' '.join(row) for row in part])}"
        for h, part in enumerate(parts)
    ]
    verdict = _verdict(split, num_heads)[2:]
    return (
        f"{capital(split)}, {counted(num_heads, 'head')}: "
        f"{'; '.join(held)}. {verdict}."
    )


def _draw_grid(axes, x, y, array, right):
    for (i, j), name in np.ndenumerate(array):
        corner = (x + j * _CELL, y + i * _HIGH)
        shade = 0.15 + 0.25 * NAMES.index(name[0])
        style = {"fc": (WEIGHT, shade), "ec": GRID, "lw": 1}
        add_cell(axes, corner, _CELL, _HIGH, **style)
        wrong = name != right[i, j]
        text = f"{name} ✗" if wrong else name
        middle = (corner[0] + _CELL / 2, corner[1] + _HIGH / 2)
        write(axes, *middle, text, bold=bool(wrong))


def _verdict(split, num_heads):
    X = named_numbers()
    parts = SPLITS[split](X, num_heads)
    wrong = int((parts != split_heads(X, num_heads)).sum())
    if wrong:
        return f"✗ {wrong} of 16 numbers are misplaced; the shape is right"
    return "✓ Row by row, each head holds its columns of A, B, C and D"


heads = Explorable(
    "break-it-heads",
    draw_heads,
    say_heads,
    Slider("split", list(SPLITS), "view alone"),
    Slider("num_heads", [1, 2, 4], 2, label="heads"),
)
