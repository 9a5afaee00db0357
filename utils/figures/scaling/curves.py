"""Variance, choice and gradient against d_k, for four divisors."""

import numpy as np
from matplotlib.figure import Figure

from utils.explore import Explorable, Slider
from utils.explore.palette import GRID, INK, MUTED, OTHER, WEIGHT
from utils.figures.drawing import WIDTH, write
from utils.figures.scaling.experiment import (
    DIMENSIONS,
    DIVISORS,
    KEYS,
    divisor,
    measured,
)
from utils.figures.wording import counted, power

# colour, dashes, marker: told apart without colour too
_STYLES = {
    "nothing": (OTHER, "-", "X"),
    "root": (INK, "-", "o"),
    "d_k": (MUTED, (0, (4, 2)), "s"),
    "d_model": (WEIGHT, (0, (1, 1.2)), "D"),
}
_PANELS = {
    "variance": "Variance of the scores",
    "keys": f"Effective number of keys, of {KEYS}",
    "gradient": "Norm of the gradient of softmax",
}
_TEXTS = {
    "variance": power,
    "keys": lambda value: f"{value:.2f}",
    "gradient": power,
}


def draw_curves(d_k, heads):
    """Draw what each divisor makes of the scores, against d_k.

    Parameters
    ----------
    d_k : int
        One of DIMENSIONS: marked.
    heads : int
        d_model = heads · d_k.

    Returns
    -------
    Figure
    """
    figure = Figure(figsize=(WIDTH, 6.2))
    place = DIMENSIONS.index(d_k)
    bottoms = (0.725, 0.405, 0.085)
    for (what, title), bottom in zip(_PANELS.items(), bottoms, strict=True):
        ax = figure.add_axes([0.14, bottom, 0.5, 0.225])
        ax.set_title(title, x=-0.24)
        _prepare(ax, what)
        ax.axvline(place, color=GRID, lw=5)
        for i, name in enumerate(DIVISORS):
            values = measured(name, heads)[what]
            heights = np.log10(values) if what == "variance" else values
            colour, dashes, marker = _STYLES[name]
            wide = 3.4 if name == "root" else 2
            ax.plot(heights, color=colour, ls=dashes, lw=wide)
            dot = {"color": colour, "mec": INK, "mew": 0.8, "ms": 7}
            ax.plot(place, heights[place], marker, zorder=5, **dot)
            beside = {"transform": ax.transAxes, "clip_on": False}
            y = 0.82 - 0.22 * i
            ax.plot(1.09, y, marker, **dot, **beside)
            at = {"transform": ax.transAxes}
            write(ax, 1.14, y, f"÷ {DIVISORS[name]}", ha="left", **at)
            number = _TEXTS[what](values[place])
            write(ax, 1.69, y, number, ha="right", **at)
    ax.set_xlabel("dₖ", labelpad=1)
    return figure


def say_curves(d_k, heads):
    """Say what `draw_curves` draws, for the same values."""
    place = DIMENSIONS.index(d_k)
    parts = []
    for name, text in DIVISORS.items():
        found = {
            what: _TEXTS[what](values[place])
            for what, values in measured(name, heads).items()
        }
        by = f"{divisor(name, d_k, heads):,.4g}"
        named = "nothing" if name == "nothing" else f"{text} = {by}"
        parts.append(
            f"Divided by {named}: variance {found['variance']}, effective "
            f"number of keys {found['keys']}, gradient {found['gradient']}."
        )
    start = f"With dₖ = {d_k:,} and {counted(heads, 'head')}."
    return " ".join([start, *parts])


def _prepare(ax, what):
    """Set up a panel: each doubling of d_k is one step to the right."""
    places = range(0, len(DIMENSIONS), 2)
    ax.set(xlim=(-0.23, len(DIMENSIONS) - 0.77))
    ax.set_xticks(places, [f"{DIMENSIONS[i]:,}" for i in places], fontsize=9)
    if what == "variance":
        ax.set(ylim=(-3.5, 3.5))
        ax.set_yticks([-3, 0, 3], ["0.001", "1", "1,000"])
    elif what == "keys":
        ax.set(ylim=(0.6, KEYS + 0.4), yticks=[1, 2, 4, 6, 8])
    else:
        ax.set(ylim=(-0.02, 0.48), yticks=[0, 0.2, 0.4])


curves = Explorable(
    "scaling-curves",
    draw_curves,
    say_curves,
    Slider("d_k", DIMENSIONS, 64, label="dₖ", texts=lambda d: f"{d:,}"),
    Slider(
        "heads",
        [1, 2, 4, 8, 16],
        8,
        label="heads (d_model = heads · dₖ)",
    ),
)
