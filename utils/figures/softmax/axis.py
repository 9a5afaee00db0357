"""A score matrix and its weights, by softmax of each row or column."""

import numpy as np
from matplotlib.figure import Figure

from utils.attention import softmax
from utils.explore import Explorable, Slider
from utils.explore.palette import (
    INK,
    MUTED,
)
from utils.figures.drawing import (
    WIDTH,
    add_cell,
    draw_matrix,
    fill_weights,
    write,
)
from utils.figures.softmax.example import (
    SCORE_VALUES,
    SCORES,
    TOKENS,
)
from utils.figures.wording import brief, listed, share


def draw_axis(axis, score):
    """Draw scores and their weights, by softmax of each row or column.

    Parameters
    ----------
    axis : str
        "row" or "column": what sums to 1.
    score : float
        The score of the query "deployed" and the key "developer".

    Returns
    -------
    Figure
    """
    scores, weights = _matrices(axis, score)
    figure = Figure(figsize=(WIDTH, 5.0))
    top = figure.add_axes([0.2, 0.58, 0.66, 0.29])
    low = figure.add_axes([0.2, 0.09, 0.66, 0.29])
    draw_matrix(top, scores, brief, "Scores", TOKENS, TOKENS)
    title = f"Weights: softmax of each {axis}"
    draw_matrix(low, weights, share, title, TOKENS, TOKENS)
    fill_weights(low, weights)
    moved = ((0, 2), 4, 1) if axis == "row" else ((1, 0), 1, 4)
    for ax, place in ((top, ((1, 2), 1, 1)), (low, moved)):
        add_cell(ax, *place, fill=False, ec=INK, lw=2, clip_on=False)
    note = "outlined: the slider’s score, and the weights it moves"
    write(top, 0, 4.45, note, MUTED, ha="left")
    write(low, -0.1, 4.45, "sum", MUTED, ha="right")
    write(low, 4.1, -0.27, "sum", MUTED, ha="left")
    for i, (across, down) in enumerate(zip(*_sums(weights), strict=True)):
        mark = "✓" if across == "1.000" else "✗"
        write(low, 4.1, i + 0.5, f"{across} {mark}", ha="left")
        write(low, i + 0.5, 4.45, down, MUTED)
    return figure


def say_axis(axis, score):
    """Say what `draw_axis` draws, for the same values."""
    rows, columns = _sums(_matrices(axis, score)[1])
    return (
        f"With softmax of each {axis}, and a score of {brief(score)} for "
        f"deployed and developer, the rows of weights sum to {listed(rows)}, "
        f"the columns to {listed(columns)}."
    )


def _matrices(axis, score):
    scores = np.array(SCORES)
    scores[2, 1] = score
    return scores, softmax(scores, axis={"row": -1, "column": -2}[axis])


def _sums(weights):
    """The sums of the rows, and of the columns, as texts."""
    return [[f"{total:.3f}" for total in weights.sum(axis)] for axis in (1, 0)]


axis = Explorable(
    "softmax-axis",
    draw_axis,
    say_axis,
    Slider("axis", ["row", "column"], label="softmax of each"),
    Slider(
        "score", SCORE_VALUES, 2.5, label="score of “developer” for “deployed”"
    ),
)
