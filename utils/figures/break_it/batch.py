"""Which position each token of a batch gets."""

import numpy as np

from utils.explore import Explorable, Slider
from utils.explore.palette import GRID, INK, MUTED
from utils.figures.drawing import add_cell, blank_page, write
from utils.figures.wording import counted, listed
from utils.practice.on_positions import ADDED_POSITIONS

SENTENCES = (
    ("The", "bank", "lent", "the", "money"),
    ("We", "sat", "on", "the", "bank"),
    ("The", "loan", "is", "paid", "back"),
    ("It", "rains", "on", "the", "river"),
)
WAYS = {
    "to the tokens": ADDED_POSITIONS.answers[""],
    "along the batch": ADDED_POSITIONS.mutants[0].run,
}
_LEFT, _TOP, _WIDE, _HIGH = 0.85, 0.62, 0.75, 0.52


def positions_given(way, batch):
    """Read off which row of the table each token gets.

    Parameters
    ----------
    way : str
        A name in WAYS.
    batch : int
        How many sentences.

    Returns
    -------
    ndarray of int, shape (batch, 5)

    Examples
    --------
    >>> positions_given("along the batch", 2)
    array([[0, 0, 0, 0, 0],
           [1, 1, 1, 1, 1]])
    """
    X = np.zeros((batch, len(SENTENCES[0]), 1), dtype=int)
    table = np.arange(8)[:, None]  # row i holds the number i
    return WAYS[way](X, table)[..., 0]


def draw_batch(way, batch):
    """Draw the tokens of a batch, each with the position that it gets.

    Parameters
    ----------
    way, batch
        As for positions_given.

    Returns
    -------
    Figure
    """
    given = positions_given(way, batch)
    figure, axes = blank_page(3.3)
    title = f"Positions added {way}: {counted(batch, 'sentence')}"
    write(axes, 0.08, 0.2, title, ha="left", size=10.5)
    for b, row in enumerate(given):
        y = _TOP + b * _HIGH
        name = f"text {b}"
        write(axes, _LEFT - 0.1, y + _HIGH / 2, name, MUTED, ha="right")
        for i, position in enumerate(row):
            corner = (_LEFT + i * _WIDE, y)
            add_cell(axes, corner, _WIDE, _HIGH, fc="none", ec=GRID, lw=1)
            x = corner[0] + _WIDE / 2
            write(axes, x, y + 0.15, SENTENCES[b][i], INK)
            wrong = position != i
            text = f"+ p{position}{' ✗' if wrong else ''}"
            write(axes, x, y + 0.36, text, size=10, bold=bool(wrong))
    write(axes, 0.08, 3.05, _verdict(given), ha="left")
    return figure


def say_batch(way, batch):
    """Say what `draw_batch` draws, for the same values."""
    given = positions_given(way, batch)
    rows = [
        f"text {b} gets {listed(map(str, row.tolist()))}"
        for b, row in enumerate(given)
    ]
    return f"Positions added {way}: {listed(rows)}. {_verdict(given)[2:]}."


def _verdict(given):
    if (given == np.arange(given.shape[1])).all():
        return "✓ Each token gets its place in its own sentence"
    return "✗ All tokens of a sentence get one position: the order is lost"


batch = Explorable(
    "break-it-batch",
    draw_batch,
    say_batch,
    Slider("way", list(WAYS), "along the batch", label="positions added"),
    Slider("batch", [1, 2, 3, 4], 3, label="sentences in the batch"),
)
