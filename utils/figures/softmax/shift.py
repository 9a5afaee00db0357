"""exp at four scores, and the shares of their sum."""

import numpy as np
from matplotlib.figure import Figure

from utils.attention import softmax
from utils.explore import Explorable, Slider
from utils.explore.palette import (
    GRID,
    GROUND,
    INK,
    KEY,
    MUTED,
    WEIGHT,
)
from utils.figures.drawing import (
    WIDTH,
    add_cell,
    write,
)
from utils.figures.softmax.example import ROW, TOKENS, added
from utils.figures.wording import listed, named, share


def draw_shift(shift):
    """Draw exp at the four shifted scores, and the shares of their sum.

    Parameters
    ----------
    shift : float
        Added to every score.

    Returns
    -------
    Figure
    """
    scores = np.add(ROW, shift)
    heights = np.exp(scores)
    figure = Figure(figsize=(WIDTH, 4.1))
    ax = figure.add_axes([0.1, 0.46, 0.87, 0.47])
    ax.set_title(f"1. Take exp of every score{added(shift)}")
    line = np.linspace(-2.9, 3.04, 80)
    ax.plot(line, np.exp(line), color=MUTED, lw=1.2)
    ax.vlines(scores, 0, heights, color=WEIGHT, lw=5)
    ax.plot(scores, heights, "o", color=WEIGHT, mec=INK, ms=6)
    # names in two rows, numbers at different heights: none overlap
    places = ((-4.4, 14), (-4.4, 10), (-3, 2), (-3, 4))
    for i, (low, lift) in enumerate(places):
        x, y = scores[i], heights[i]
        ax.vlines(x, low + 0.6, 0, color=GRID, lw=1, clip_on=False, zorder=0)
        write(ax, x, low, TOKENS[i], KEY, ha="right" if i == 2 else "center")
        shifted = {"xytext": (-5, lift), "textcoords": "offset points"}
        ax.annotate(f"{y:.2f}", (x, y), ha="right", **shifted)
    ax.set(xlim=(-2.9, 3.6), ylim=(0, 21), ylabel="exp(score)")
    ax.set(xticks=range(-2, 4), yticks=range(0, 21, 5))
    for label in ax.get_xticklabels():
        label.set_bbox({"fc": GROUND, "ec": "none", "pad": 0})
    write(ax, -2.9, -1.4, "score", ha="left")

    strip = figure.add_axes([0.1, 0.1, 0.87, 0.12])
    strip.set_title(
        f"2. Divide by their sum, {heights.sum():.2f}: the weights"
    )
    strip.set(xlim=(0, 1), ylim=(0, 1), xticks=[], yticks=[])
    strip.spines[:].set_visible(False)
    start = 0.0
    for token, weight in zip(TOKENS, softmax(scores), strict=True):
        add_cell(strip, (start, 0), weight, 1, fc=WEIGHT, ec=GROUND, lw=2)
        middle = start + weight / 2
        write(strip, middle, 0.5, share(weight), size=10)
        write(strip, middle, -0.3, token, KEY)
        start += weight
    return figure


def say_shift(shift):
    """Say what `draw_shift` draws, for the same values."""
    scores = np.add(ROW, shift)
    exponentials = np.exp(scores)
    weights = named(TOKENS, softmax(scores))
    return (
        f"The exponentials of every score{added(shift)} are "
        f"{listed(f'{e:.2f}' for e in exponentials)}, with sum "
        f"{exponentials.sum():.2f}. The weights are {weights}."
    )


_QUARTERS = [i / 4 for i in range(-12, 3)]

shift = Explorable(
    "softmax-shift",
    draw_shift,
    say_shift,
    Slider("shift", _QUARTERS, 0, label="add to every score"),
)
