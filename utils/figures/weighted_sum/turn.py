"""A query turns; its weights and its output follow."""

import numpy as np
from matplotlib.figure import Figure
from matplotlib.patches import Polygon

from utils.attention import scaled_dot_product_attention
from utils.explore import Explorable, Slider
from utils.explore.palette import (
    GRID,
    GROUND,
    INK,
    KEY,
    MUTED,
    QUERY,
    VALUE,
    WEIGHT,
)
from utils.figures.drawing import WIDTH, write
from utils.figures.weighted_sum.example import TOKENS
from utils.figures.wording import named, share, signed

# Made up. The key of "The" lies among the other three, its value does not.
KEYS = ((0.2, 0.1), (1.2, 0.8), (-1.3, 0.6), (0.2, -1.4))
VALUES = ((-1.2, -0.9), (-0.5, 1.3), (1.3, 0.7), (0.6, -1.3))
ANGLES = range(0, 360, 5)
LENGTHS = (0.5, 2, 8)


def turned(angle, length):
    """Attend with one query that points in a direction.

    Parameters
    ----------
    angle : array_like, shape (...,)
        In degrees from the horizontal.
    length : float

    Returns
    -------
    weights : ndarray, shape (..., 4)
    output : ndarray, shape (..., 2)

    Examples
    --------
    >>> turned(30, 2)[0].round(3)
    array([0.14 , 0.78 , 0.032, 0.048])
    """
    angle = np.deg2rad(angle)
    Q = length * np.stack([np.cos(angle), np.sin(angle)], axis=-1)
    output, weights = scaled_dot_product_attention(
        Q[..., None, :], KEYS, VALUES
    )
    return weights[..., 0, :], output[..., 0, :]


def draw_turn(query_length, angle):
    """Draw query and keys, the weights, and the output among the values.

    Parameters
    ----------
    query_length : float
        Of the query.
    angle : float
        Of the query, in degrees.

    Returns
    -------
    Figure
    """
    weights, output = turned(angle, query_length)
    figure = Figure(figsize=(WIDTH, 4.45))
    left = _plane(figure, 0.02, (("query ▸", QUERY), ("keys ■", KEY)))
    output_and_path = (("output ●", INK), ("its path ╌", MUTED))
    right = _plane(figure, 0.52, (("values ●", VALUE), *output_and_path))
    _draw_query(left, angle)
    under = {"fc": GROUND, "ec": "none", "pad": 0.6}
    for name, key in zip(TOKENS, KEYS, strict=True):
        left.plot(*zip((0, 0), key, strict=True), color=KEY, lw=1.6)
        left.plot(*key, "s", color=KEY, ms=6)
        place, ha = _KEY_NAMES[name]
        x, y = np.add(key, place)
        # the query passes under the name of the inner key
        write(left, x, y, name, KEY, ha, bbox=under, zorder=5)
    hull = {"fc": VALUE, "alpha": 0.12, "lw": 0}
    right.add_patch(Polygon(VALUES, **hull))
    right.add_patch(Polygon(VALUES, fill=False, ec=VALUE, lw=1))
    path = turned([*ANGLES, ANGLES[0]], query_length)[1]
    right.plot(*path.T, color=MUTED, lw=1.1, ls=(0, (3, 2)))
    for name, value, weight in zip(TOKENS, VALUES, weights, strict=True):
        ends = zip(output, value, strict=True)
        right.plot(*ends, color=WEIGHT, lw=8 * weight)
        right.plot(*value, "o", color=VALUE, ms=7)
        place, ha = _VALUE_NAMES[name]
        write(right, value[0] + place[0], value[1] + place[1], name, VALUE, ha)
    right.plot(*output, "o", color=INK, ms=9)
    _draw_bars(figure, weights)
    return figure


def say_turn(query_length, angle):
    """Say the weights and where the output is."""
    weights, output = turned(angle, query_length)
    x, y = (signed(round(part, 3) + 0.0, 3) for part in output)
    return (
        f"A query of length {query_length:g} at {angle}° gives the weights "
        f"{named(TOKENS, weights)}. The output is ({x}, {y}), inside the "
        "convex hull of the values."
    )


_KEY_NAMES = {
    "The": ((0.12, -0.13), "left"),
    "developer": ((0.1, 0.26), "center"),
    "deployed": ((0.15, 0.26), "center"),
    "application": ((0.14, 0.0), "left"),
}
_VALUE_NAMES = {
    "The": ((0.0, -0.27), "center"),
    "developer": ((0.0, 0.27), "center"),
    "deployed": ((0.0, 0.27), "center"),
    "application": ((0.0, -0.27), "center"),
}


def _plane(figure, left, legend):
    ax = figure.add_axes([left, 0.41, 0.46, 0.46 * WIDTH / 4.45])
    ax.set(xlim=(-2, 2), ylim=(-2, 2), xticks=[], yticks=[])
    ax.spines[:].set_visible(False)
    ax.plot((-2, 2), (0, 0), color=GRID, lw=0.8)
    ax.plot((0, 0), (-2, 2), color=GRID, lw=0.8)
    for x, (words, ink) in zip((-1.98, -0.72, 0.68), legend, strict=False):
        write(ax, x, 2.2, words, ink, ha="left")
    return ax


def _draw_query(ax, angle):
    """A hand of one length: the direction is what turns."""
    around = np.deg2rad(np.arange(0, 361, 5))
    ax.plot(1.05 * np.cos(around), 1.05 * np.sin(around), color=GRID, lw=0.8)
    ahead = np.array([np.cos(np.deg2rad(angle)), np.sin(np.deg2rad(angle))])
    across = np.array([-ahead[1], ahead[0]])
    ax.plot(*zip((0, 0), 0.85 * ahead, strict=True), color=QUERY, lw=3)
    neck = 0.75 * ahead
    head = [1.05 * ahead, neck + 0.14 * across, neck - 0.14 * across]
    ax.add_patch(Polygon(head, fc=QUERY, lw=0))


def _draw_bars(figure, weights):
    ax = figure.add_axes([0.2, 0.095, 0.66, 0.265])
    ax.set(xlim=(0, 1), ylim=(3.6, -0.6), yticks=[])
    ax.set_xticks([0, 0.25, 0.5, 0.75, 1], ["0", "", "0.5", "", "1"])
    ax.spines["left"].set_visible(False)
    ax.grid(axis="x")
    ax.barh(range(4), weights, 0.72, color=WEIGHT)
    for y, (name, weight) in enumerate(zip(TOKENS, weights, strict=True)):
        write(ax, -0.02, y, name, KEY, ha="right")
        write(ax, 1.03, y, share(weight), ha="left")
    write(ax, 1.03, 4.15, "weight", MUTED, ha="left")


turn = Explorable(
    "weighted-sum-turn",
    draw_turn,
    say_turn,
    Slider("query_length", LENGTHS, 2, label="length of the query"),
    Slider(
        "angle",
        ANGLES,
        30,
        label="direction of the query",
        texts=lambda angle: f"{angle}°",
        play=True,
    ),
)
