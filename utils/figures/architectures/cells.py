"""Many cells as one artist: a board of heads, a matrix of who hears whom."""

import numpy as np
from matplotlib.collections import PolyCollection
from matplotlib.colors import to_rgba

from utils.explore.palette import GRID, INK


def fill_cells(axes, xs, ys, inks, alphas):
    """Fill a grid, row by row.

    Parameters
    ----------
    axes : Axes
    xs, ys : sequence of float, length M + 1 and N + 1
        Where the columns and the rows begin and end.
    inks : str, or sequence of str, length N * M
    alphas : ndarray, shape (N, M)
        How opaque each cell is.
    """
    flat = np.ravel(alphas)
    inks = [inks] * len(flat) if isinstance(inks, str) else inks
    colours = [to_rgba(ink, a) for ink, a in zip(inks, flat, strict=True)]
    _add_cells(axes, _corners(xs, ys), facecolors=colours, linewidths=0)
    axes.vlines(xs, ys[0], ys[-1], color=GRID, lw=0.8)
    axes.hlines(ys, xs[0], xs[-1], color=GRID, lw=0.8)


def outline_cells(axes, xs, ys, chosen, inset=0.025):
    """Outline the chosen cells of a grid.

    Parameters
    ----------
    axes : Axes
    xs, ys : sequence of float, length M + 1 and N + 1
    chosen : ndarray of bool, shape (N, M)
    inset : float
    """
    cells = _corners(xs, ys, inset)
    widths = np.where(np.ravel(chosen), 1.6, 0)
    style = {"facecolors": "none", "edgecolors": INK, "linewidths": widths}
    _add_cells(axes, cells, zorder=3, **style)


def _corners(xs, ys, inset=0.0):
    return [
        [(x, y), (right, y), (right, low), (x, low)]
        for y, low in zip(ys[:-1] + inset, ys[1:] - inset, strict=True)
        for x, right in zip(xs[:-1] + inset, xs[1:] - inset, strict=True)
    ]


def _add_cells(axes, corners, **style):
    axes.add_collection(
        PolyCollection(corners, **{"zorder": 0.4, **style}), autolim=False
    )
