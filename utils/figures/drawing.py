"""Parts that the chapters' figures are drawn with: pages, words, matrices."""

import numpy as np
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from utils.explore.palette import GRID, INK, KEY, MUTED, QUERY, WEIGHT
from utils.explore.picture import WIDTH

__all__ = [
    "WIDTH",
    "add_cell",
    "blank_page",
    "draw_matrix",
    "fill_weights",
    "write",
    "write_table",
]


def blank_page(height):
    """Make a figure whose only axes count inches from the top left.

    Parameters
    ----------
    height : float
        In inches. The width is that of every figure in the book.

    Returns
    -------
    figure : Figure
    axes : Axes
        Invisible, x from 0 to WIDTH, y from 0 at the top to `height`.
    """
    figure = Figure(figsize=(WIDTH, height))
    axes = figure.add_axes([0, 0, 1, 1])
    axes.set(xlim=(0, WIDTH), ylim=(height, 0))
    axes.set_axis_off()
    return figure, axes


def write(axes, x, y, text, ink=INK, ha="center", size=9, bold=False, **more):
    """Write words with their middle at a height, 9 points unless told."""
    style = {"va": "center", "weight": "bold" if bold else "normal", **more}
    axes.text(x, y, text, color=ink, ha=ha, fontsize=size, **style)


def add_cell(axes, corner, width, height, **style):
    """Add a rectangle, `corner` its least x and least y."""
    axes.add_patch(Rectangle(corner, width, height, **style))


def draw_matrix(axes, array, show, title="", rows=(), columns=()):
    """Draw a grid with a number in each cell, named rows and columns.

    Parameters
    ----------
    axes : Axes
        Its x and y count columns and rows from the top left.
    array : ndarray, shape (N, M)
    show : callable
        How a number reads.
    title : str
    rows, columns : sequence of str
        Names of the queries, on the left, and of the keys, on top.
    """
    N, M = array.shape
    if title:
        axes.set_title(title, x=-0.3, pad=24)
    axes.set(xlim=(0, M), ylim=(N, 0), xticks=[], yticks=[])
    axes.spines[:].set_visible(False)
    edges = {"color": GRID, "lw": 1, "clip_on": False, "zorder": 0.5}
    axes.hlines(range(N + 1), 0, M, **edges)
    axes.vlines(range(M + 1), 0, N, **edges)
    for (i, j), value in np.ndenumerate(array):
        write(axes, j + 0.5, i + 0.5, show(value), size=10)
    for i, name in enumerate(rows):
        write(axes, -0.1, i + 0.5, name, QUERY, ha="right")
    for j, name in enumerate(columns):
        write(axes, j + 0.5, -0.27, name, KEY)


def fill_weights(axes, weights):
    """Fill the cells of a drawn matrix: opacity is the weight, 0 to 1."""
    for (i, j), weight in np.ndenumerate(weights):
        add_cell(axes, (j, i), 1, 1, fc=WEIGHT, alpha=weight, lw=0, zorder=0)


def write_table(axes, places, step, rows, keys=()):
    """Write named rows of texts under the places of an axes.

    Parameters
    ----------
    axes : Axes
    places : sequence of float, length M
        Where the columns stand, in the data of the x axis.
    step : float
        From row to row, as a share of the height of the axes.
    rows : dict of str to iterable of str
        Each row's name and its M texts.
    keys : sequence of str
        Texts that name keys: they get the colour of keys.
    """
    under = {"transform": axes.get_xaxis_transform()}
    edge = axes.get_xlim()[0]
    for i, (name, texts) in enumerate(rows.items()):
        y = -step * (i + 0.5)
        write(axes, edge - 0.1, y, name, MUTED, ha="right", **under)
        for x, text in zip(places, texts, strict=True):
            ink = KEY if text in keys else INK
            write(axes, x, y, text, ink, **under)
