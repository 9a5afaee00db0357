"""What each token adds to the output: its weight times its value."""

import numpy as np
from matplotlib.figure import Figure

from utils.explore import Explorable, Slider
from utils.explore.palette import GRID, INK, KEY, VALUE, WEIGHT
from utils.figures.drawing import WIDTH, write
from utils.figures.weighted_sum.example import TOKENS, WEIGHTS
from utils.figures.wording import listed, signed

# Made up, each of length 1; the slider shortens the one of "developer".
PULL_VALUES = ((0.6, -0.8), (1.0, 0.0), (0.0, 1.0), (-0.6, 0.8))
_SHIFTED = 1


def pulled(length, weight):
    """Share a whole, "developer" first, and scale its value.

    Parameters
    ----------
    length : float
        Of the value of "developer"; the others have length 1.
    weight : float
        Of "developer"; the others share the rest as they do in WEIGHTS.

    Returns
    -------
    weights : ndarray, shape (4,)
    parts : ndarray, shape (4, 2)
        What each token adds: weight times value. Their sum is the output.

    Examples
    --------
    >>> weights, parts = pulled(1, 0.5)
    >>> weights.round(2), parts.sum(axis=0).round(2)
    (array([0.1 , 0.5 , 0.15, 0.25]), array([0.41, 0.27]))
    """
    weights = np.array(WEIGHTS)
    rest = 1 - weights[_SHIFTED]
    weights *= (1 - weight) / rest
    weights[_SHIFTED] = weight
    values = np.array(PULL_VALUES)
    values[_SHIFTED] *= length
    return weights, weights[:, None] * values


def draw_pull(value_length, weight):
    """Draw the parts tip to tail, and weights beside lengths of parts.

    Parameters
    ----------
    value_length : float
        Of the value of "developer".
    weight : float
        Of "developer".

    Returns
    -------
    Figure
    """
    weights, parts = pulled(value_length, weight)
    sizes = np.linalg.norm(parts, axis=1)
    output = parts.sum(axis=0)
    figure = Figure(figsize=(WIDTH, 4.75))
    ax = figure.add_axes([0.03, 0.45, 0.94, 0.48])
    ax.set_title("The parts, laid tip to tail, lead to the output")
    ax.set(xlim=(-0.7, 1.3), ylim=(-0.26, 0.75), xticks=[], yticks=[])
    ax.set_aspect("equal")
    ax.spines[:].set_visible(False)
    ax.plot((-0.7, 1.3), (0, 0), color=GRID, lw=0.8)
    ax.plot((0, 0), (-0.26, 0.75), color=GRID, lw=0.8)
    corners = np.vstack([[0, 0], np.cumsum(parts, axis=0)])
    for i in range(4):
        ends = corners[i : i + 2]
        thick = {"lw": 6 if i == _SHIFTED else 2, "solid_capstyle": "butt"}
        ax.plot(*ends.T, color=VALUE, **thick)
        ax.plot(*ends[1], "o", color=VALUE, ms=5)
    ax.plot((0, output[0]), (0, output[1]), color=INK, lw=1.2, ls=(0, (4, 2)))
    ax.plot(*output, "o", color=INK, ms=8)
    x, y = (signed(part + 0.0, 2) for part in output.round(2))
    write(ax, 1.3, 0.7, f"output ({x}, {y})", INK, "right", size=10)
    write(ax, 1.3, 0.6, "thick: the part of developer", VALUE, "right")
    _draw_table(figure, weights, sizes)
    return figure


def say_pull(value_length, weight):
    """Say each token's weight and the length of what it adds."""
    weights, parts = pulled(value_length, weight)
    sizes = np.linalg.norm(parts, axis=1)
    x, y = (signed(part + 0.0, 2) for part in parts.sum(axis=0).round(2))
    return (
        f"With a value of length {value_length:g}, developer has weight "
        f"{weights[_SHIFTED]:.2f} and adds a part of length "
        f"{sizes[_SHIFTED]:.3f}. Lengths of all parts: "
        + listed(
            f"{name} {size:.3f}"
            for name, size in zip(TOKENS, sizes, strict=True)
        )
        + f". The output is ({x}, {y})."
    )


def _draw_table(figure, weights, sizes):
    """Two bars for each token, on one scale from 0 to 1."""
    for left, title, row, ink in (
        (0.2, "weight", weights, WEIGHT),
        (0.62, "length of its part", sizes, VALUE),
    ):
        ax = figure.add_axes([left, 0.06, 0.27, 0.3])
        ax.set(xlim=(0, 1), ylim=(3.6, -0.6), yticks=[])
        ax.set_xticks([0, 0.5, 1], ["0", "0.5", "1"])
        ax.spines["left"].set_visible(False)
        ax.grid(axis="x")
        ax.set_title(title, fontsize=10)
        ax.barh(range(4), row, 0.7, color=ink)
        for y, (name, size) in enumerate(zip(TOKENS, row, strict=True)):
            write(ax, 1.06, y, f"{size:.3f}", INK, ha="left")
            if left < 0.5:
                write(ax, -0.06, y, name, KEY, ha="right")


pull = Explorable(
    "weighted-sum-pull",
    draw_pull,
    say_pull,
    Slider(
        "value_length",
        (0.1, 0.25, 0.5, 1),
        1,
        label="length of developer’s value",
    ),
    Slider(
        "weight",
        [i / 20 for i in range(1, 20)],
        0.5,
        label="weight of “developer”",
    ),
)
