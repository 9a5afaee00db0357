"""A query and a key, moved along together, and whether their score stays."""

import numpy as np
from matplotlib.figure import Figure

from utils.explore import Explorable, Slider
from utils.explore.palette import GROUND, INK, MUTED, OTHER, QUERY
from utils.figures.drawing import WIDTH, write
from utils.figures.wording import signed
from utils.positions import rotate
from utils.practice.on_positions import mixed_rope

PAIRINGS = {
    "neighbours": rotate,
    "halves": lambda Q, positions: rotate(Q, positions, "halves"),
    "mixed": mixed_rope,
}
MOST, DISTANCE = 24, 3


def moved(pairing, start):
    """Turn a query three places after its key, both moved along.

    Parameters
    ----------
    pairing : str
        A name in PAIRINGS.
    start : int or ndarray of int
        The key's position.

    Returns
    -------
    scores, lengths : ndarray
        The score for each position, and the length of the turned query.

    Examples
    --------
    >>> scores, _ = moved("neighbours", np.arange(3))
    >>> print(np.ptp(scores).round(12))
    0.0
    """
    start = np.atleast_1d(start)
    rng = np.random.default_rng(2)
    query, key = rng.normal(size=(2, 1, 8)).repeat(len(start), axis=1)
    query = PAIRINGS[pairing](query, start + DISTANCE)
    key = PAIRINGS[pairing](key, start)
    return (query * key).sum(axis=-1), np.linalg.norm(query, axis=-1)


def draw_rope(pairing, start):
    """Draw the score for each place, and the one chosen.

    Parameters
    ----------
    pairing, start
        As for moved.

    Returns
    -------
    Figure
    """
    figure = Figure(figsize=(WIDTH, 3.5))
    axes = figure.add_axes([0.13, 0.27, 0.84, 0.6])
    places = np.arange(MOST + 1)
    scores, _ = moved(pairing, places)
    (score,), (length,) = moved(pairing, start)
    axes.set_title(f"Score, always {DISTANCE} places apart: {pairing}")
    colour = OTHER if pairing == "mixed" else QUERY
    axes.plot(places, scores, ".-", color=colour, lw=1, ms=5)
    axes.plot([start, start], [-2.6, score], color=MUTED, lw=1)
    axes.plot(start, score, "D", color=INK, mec=GROUND, ms=8)
    axes.set(xlim=(-1, MOST + 1), ylim=(-2.6, 1.4), yticks=[-2, -1, 0, 1])
    axes.set(xticks=range(0, MOST + 1, 4), ylabel="score")
    axes.set_xlabel("position of the key")
    under = {"transform": figure.transFigure}
    text = f"score {signed(score)}, length of the turned query {length:.3f}"
    write(axes, 0.02, 0.09, text, ha="left", **under)
    write(axes, 0.02, 0.035, _verdict(pairing), ha="left", **under)
    return figure


def say_rope(pairing, start):
    """Say what `draw_rope` draws, for the same values."""
    (score,), (length,) = moved(pairing, start)
    return (
        f"Pairing {pairing}, key at {start}, query at {start + DISTANCE}: "
        f"the score is {signed(score)}, the turned query has length "
        f"{length:.3f}. {_verdict(pairing)[2:]}."
    )


def _verdict(pairing):
    scores, lengths = moved(pairing, np.arange(MOST + 1))
    if max(np.ptp(scores), np.ptp(lengths)) < 1e-9:
        return "✓ The score depends on the distance alone"
    return (
        f"✗ Over these places the score runs from {signed(scores.min())} "
        f"to {signed(scores.max())}"
    )


rope = Explorable(
    "break-it-rope",
    draw_rope,
    say_rope,
    Slider("pairing", list(PAIRINGS), "mixed"),
    Slider(
        "start",
        range(MOST + 1),
        5,
        label="position of the key",
        play=True,
    ),
)
