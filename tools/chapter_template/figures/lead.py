"""Two keys share one query: a lead of scores becomes a share of weight."""

import numpy as np
from matplotlib.figure import Figure

from utils.attention import softmax
from utils.explore import Explorable, Slider
from utils.explore.palette import GRID, INK, MUTED, WEIGHT
from utils.figures.drawing import WIDTH, write
from utils.figures.wording import brief, named, share

LEADS = [i / 2 for i in range(-8, 9)]


def two_weights(lead):
    """Give the weights of two keys, one score ahead of the other.

    Parameters
    ----------
    lead : float
        The first score less the second.

    Returns
    -------
    ndarray, shape (2,)
        They sum to 1.

    Examples
    --------
    >>> two_weights(0)
    array([0.5, 0.5])
    """
    return softmax([lead, 0])


def draw_lead(lead):
    """Draw the first key's weight over its lead, and where we stand.

    Parameters
    ----------
    lead : float
        The first score less the second.

    Returns
    -------
    Figure
    """
    first, second = two_weights(lead)
    figure = Figure(figsize=(WIDTH, 3.4))
    ax = figure.add_axes([0.14, 0.17, 0.83, 0.72])
    ax.set_title("What a lead is worth")
    ax.set(xlim=(-4.3, 4.3), ylim=(0, 1), yticks=[0, 0.25, 0.5, 0.75, 1])
    ax.set(xticks=range(-4, 5, 2), xlabel="first score − second score")
    ax.set(ylabel="weight of the first key")
    ax.grid(axis="y", color=GRID)
    line = np.linspace(-4.3, 4.3, 87)
    ax.plot(line, [two_weights(x)[0] for x in line], color=MUTED, lw=1.2)
    ax.vlines(lead, 0, first, color=WEIGHT, lw=5)
    ax.plot(lead, first, "o", color=WEIGHT, mec=INK, ms=8, clip_on=False)
    # in the corner that the curve leaves free, on the side where we are not
    x, y, side = (-4.1, 0.88, "left") if lead > 0 else (4.1, 0.12, "right")
    words = f"first {share(first)}, second {share(second)}"
    write(ax, x, y, words, ha=side, size=10)
    return figure


def say_lead(lead):
    """Say what `draw_lead` draws, for the same value."""
    weights = named(("the first", "the second"), two_weights(lead))
    return f"With a lead of {brief(lead)}, the weights are: {weights}."


lead = Explorable(
    "__anchor__-lead",
    draw_lead,
    say_lead,
    Slider("lead", LEADS, 1, label="first score − second score"),
)
