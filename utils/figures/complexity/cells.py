"""A grid of cells as few shapes: runs of filled cells in each row."""

import numpy as np
from matplotlib.collections import PolyCollection

from utils.explore.palette import GRID

__all__ = ["fill_runs", "outline_grid"]


def fill_runs(axes, chosen, corner, step, ink, alpha=1.0):
    """Fill the chosen cells of a grid.

    Parameters
    ----------
    axes : Axes
    chosen : ndarray of bool, shape (N, M)
    corner : tuple of float
        The top left of the grid.
    step : float
        The side of a cell.
    ink : str
    alpha : float
    """
    x0, y0 = corner
    boxes = []
    for i, row in enumerate(np.asarray(chosen)):
        edges = np.flatnonzero(np.diff(np.r_[False, row, False].astype(int)))
        for start, stop in edges.reshape(-1, 2):
            left, right = x0 + start * step, x0 + stop * step
            top, low = y0 + i * step, y0 + (i + 1) * step
            boxes.append(
                [(left, top), (right, top), (right, low), (left, low)]
            )
    style = {"facecolors": ink, "alpha": alpha, "linewidths": 0}
    axes.add_collection(
        PolyCollection(boxes, zorder=0.6, **style), autolim=False
    )


def outline_grid(axes, shape, corner, step):
    """Draw the lines of a grid."""
    (N, M), (x0, y0) = shape, corner
    xs, ys = x0 + step * np.arange(M + 1), y0 + step * np.arange(N + 1)
    style = {"color": GRID, "lw": 0.6, "zorder": 0.7}
    axes.vlines(xs, ys[0], ys[-1], **style)
    axes.hlines(ys, xs[0], xs[-1], **style)
