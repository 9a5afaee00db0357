"""The rows of values under this chapter's figures."""

from matplotlib.lines import Line2D

from utils.explore.palette import GROUND, INK, MUTED
from utils.figures.gpu_timing.evidence import SIGNS

STEP = 0.2  # inches from row to row
SIGN = 0.062  # how wide a sign is, as a share of the figure's width


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
            _draw_sign(figure, sign, first, y + 0.045 / height)
            x = first + SIGN + 0.018
            figure.text(x, y, sign.name, color=sign.ink, fontsize=9)
        ink = MUTED if name is None else INK
        for x, text in zip(places, texts, strict=True):
            figure.text(x, y, text, color=ink, fontsize=9, ha="right")


def _draw_sign(figure, sign, x, y):
    """The stroke and the marker that stand for a contestant in a chart."""
    look = {"color": sign.ink, "transform": figure.transFigure}
    stroke = Line2D([x, x + SIGN], [y, y], ls=sign.stroke, lw=1.6, **look)
    look |= {"marker": sign.marker, "ms": 5, "mec": GROUND, "mew": 0.5}
    figure.add_artist(stroke)
    figure.add_artist(Line2D([x + SIGN / 2], [y], ls="", **look))


def room(count):
    """Inches that so many rows and their heads take."""
    return STEP * (count + 1) + 0.1
