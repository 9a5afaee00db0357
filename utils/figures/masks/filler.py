"""What a blocked score is filled with, and what comes out."""

import numpy as np
from matplotlib.figure import Figure

from utils.attention import softmax
from utils.explore import Explorable, Slider
from utils.explore.palette import GRID, INK, VALUE, WEIGHT
from utils.figures.drawing import WIDTH, add_cell, write, write_table
from utils.figures.wording import brief, counted, exact_share, listed

TOKENS = ("The", "developer", "deployed", "application")
ROW = (1.2, 2.5, 1.0, 2.0)
VALUES = (1.0, 2.0, 3.0, 6.0)

FILLERS = (
    "−∞, plain formula",
    "−∞, the book’s helper",
    "−1e9",
    "the most negative float",
    "0, after softmax",
)


def fill_row(filler, blocked, number):
    """Fill the last scores of the row and take the softmax in one type.

    Parameters
    ----------
    filler : str
        One of FILLERS.
    blocked : int
        How many keys are blocked, from the last.
    number : str
        "float16" or "float32".

    Returns
    -------
    scores : ndarray, shape (4,)
        What goes into softmax.
    weights : ndarray, shape (4,)
    output : float
        The sum of weights times values.

    Examples
    --------
    >>> fill_row("−1e9", 4, "float32")[2]
    3.0
    """
    scores = np.array(ROW, dtype=number)
    first = len(ROW) - blocked
    with np.errstate(all="ignore"):
        if "softmax" not in filler:
            low = {"−1e9": -1e9, FILLERS[3]: np.finfo(number).min}
            scores[first:] = low.get(filler, -np.inf)
        if filler == FILLERS[1]:
            weights = softmax(scores)
        else:
            exact = (scores - scores.max()).astype(float)
            weights = (np.exp(exact) / np.exp(exact).sum()).astype(number)
        if "softmax" in filler:
            weights[first:] = 0
    return scores, weights, float(weights.astype(float) @ VALUES)


def draw_filler(filler, number, blocked):
    """Draw the row of weights that a filler gives, and the output.

    Parameters
    ----------
    filler, number, blocked
        As for fill_row.

    Returns
    -------
    Figure
    """
    scores, weights, output = fill_row(filler, blocked, number)
    first = len(ROW) - blocked
    figure = Figure(figsize=(WIDTH, 3.9))
    ax = figure.add_axes([0.17, 0.36, 0.81, 0.53])
    ax.set_title(_verdict(filler, number, blocked), x=-0.19, pad=8)
    ax.set(xlim=(-0.5, 3.5), ylim=(0, 1.1), ylabel="weight")
    ax.set(xticks=[], yticks=[0, 0.25, 0.5, 0.75, 1])
    ax.spines["left"].set_bounds(0, 1)
    places = range(len(ROW))
    for x, weight in zip(places, weights, strict=True):
        grey = GRID if x >= first else "none"
        add_cell(ax, (x - 0.48, 0), 0.96, 1, fc=grey, alpha=0.5, lw=0)
        height = 0 if np.isnan(weight) else float(weight)
        add_cell(ax, (x - 0.28, 0), 0.56, height, fc=WEIGHT, lw=0)
        write(ax, x, height + 0.06, exact_share(weight), size=10)
    marks = ["× blocked" if x >= first else "" for x in places]
    rows = {
        "": TOKENS,
        " ": marks,
        "score": [_score_text(score) for score in scores],
        "value": [f"{value:g}" for value in VALUES],
    }
    write_table(ax, places, 0.12, rows, TOKENS)
    under = {"transform": ax.get_xaxis_transform()}
    text = f"sum of the weights {_sum(weights)}"
    write(ax, -0.5, -0.6, text, INK, ha="left", **under)
    text = f"output {_output(output)}"
    write(ax, 3.5, -0.6, text, VALUE, ha="right", size=10, **under)
    return figure


def say_filler(filler, number, blocked):
    """Say what `draw_filler` draws, for the same values."""
    _, weights, output = fill_row(filler, blocked, number)
    pairs = zip(TOKENS, weights, strict=True)
    each = listed(f"{token} {exact_share(weight)}" for token, weight in pairs)
    return (
        f"With {counted(blocked, 'key')} blocked by {filler}, in {number}, "
        f"the weights are {each}, with sum "
        f"{_sum(weights)}, and the output is {_output(output)}. "
        f"{_verdict(filler, number, blocked)[2:]}."
    )


def _sum(weights):
    return f"{weights.sum(dtype=float):.3f}".replace("nan", "NaN")


def _output(output):
    return f"{output:.3f}".replace("nan", "NaN")


def _score_text(score):
    """A score with as many digits as its column has room for."""
    score = float(score)
    if np.isneginf(score):
        return "−∞"
    if abs(score) < 1e5:
        return brief(score)
    digits, exponent = f"{-score:.2g}".split("e+")
    return f"−{digits}e{int(exponent)}"


def _verdict(filler, number, blocked):
    _, weights, _ = fill_row(filler, blocked, number)
    first = len(ROW) - blocked
    if np.isnan(weights).any():
        return "✗ 0 ÷ 0: every weight is NaN, and so is the output"
    if not blocked:
        return "✓ Nothing is blocked: a plain softmax"
    if weights[first:].any():
        return "✗ Every key is blocked, and every key gets a quarter"
    if not first:
        return "✓ Nothing may be seen: all zeros, by decision"
    if abs(weights.sum(dtype=float) - 1) > 0.002:
        return "✗ The blocked keys are gone, their share is lost"
    return "✓ Blocked keys get exactly 0, the others share 1"


filler = Explorable(
    "masks-filler",
    draw_filler,
    say_filler,
    Slider("filler", FILLERS, label="a blocked score becomes"),
    Slider("number", ["float32", "float16"], label="type of number"),
    Slider("blocked", range(len(ROW) + 1), 2, label="blocked keys"),
)
