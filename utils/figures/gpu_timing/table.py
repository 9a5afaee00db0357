"""The rows of values under this chapter's figures."""

from utils.explore.palette import INK, MUTED
from utils.figures.gpu_timing.evidence import SIGNS, STROKES

STEP = 0.2  # inches from row to row


def write_rows(figure, rows, heads, places, first=0.02):
    """Write a row for each contestant, its sign first, at the foot.

    Parameters
    ----------
    figure : Figure
    rows : dict of str to sequence of str
        A text for each column, by the contestant's name.
    heads : sequence of str
        What the columns hold.
    places : sequence of float
        Where each column ends, as a share of the figure's width.
    first : float, optional
        Where the rows begin.
    """
    height = figure.get_size_inches()[1]
    for i, (name, texts) in enumerate([(None, heads), *rows.items()]):
        y = (STEP * (len(rows) - i) + 0.08) / height
        if name is not None:
            sign = SIGNS[name]
            text = f"{STROKES[sign.stroke]} {sign.name}"
            figure.text(first, y, text, color=sign.ink, fontsize=9)
        ink = MUTED if name is None else INK
        for x, text in zip(places, texts, strict=True):
            figure.text(x, y, text, color=ink, fontsize=9, ha="right")


def room(count):
    """Inches that so many rows and their heads take."""
    return STEP * (count + 1) + 0.1
