"""Scores of one query and eight keys as d_k grows, and their weights."""

import numpy as np
from matplotlib.figure import Figure

from utils.attention import softmax
from utils.explore import Explorable, Slider
from utils.explore.palette import GRID, INK, KEY, MUTED, WEIGHT
from utils.figures.drawing import WIDTH, write, write_table
from utils.figures.scaling.experiment import (
    DIMENSIONS,
    DIVISORS,
    KEYS,
    divisor,
    effective_keys,
    gradient_norm,
    random_scores,
    typical_row,
)
from utils.figures.wording import power, share, signed

_TICKS = (-100, -30, -10, -3, -1, 0, 1, 3, 10, 30, 100)


def draw_row(d_k, divide_by):
    """Draw the scores of eight random keys over the weights they get.

    Parameters
    ----------
    d_k : int
        One of DIMENSIONS.
    divide_by : str
        One of DIVISORS.

    Returns
    -------
    Figure
    """
    raw, scores, everyone = _scores(d_k, divide_by)
    weights = softmax(scores)
    figure = Figure(figsize=(WIDTH, 5.3))
    top = figure.add_axes([0.125, 0.575, 0.865, 0.36])
    low = figure.add_axes([0.125, 0.145, 0.865, 0.3])
    places = np.arange(KEYS)

    top.set_title(f"Scores, divided by {_named(d_k, divide_by)}", x=-0.13)
    top.set(xlim=(-0.6, KEYS - 0.4), ylim=(-5.6, 5.6), xticks=[])
    top.set_yticks(np.arcsinh(_TICKS), [signed(tick, 0) for tick in _TICKS])
    top.spines["bottom"].set_visible(False)
    for edge, alpha in ((2.5, 0.55), (25, 1)):
        ends = np.percentile(everyone, [edge, 100 - edge])
        top.axhspan(*np.arcsinh(ends), color=GRID, alpha=alpha, lw=0)
    top.axhline(0, color=MUTED, lw=0.8)
    heights = np.arcsinh(scores)  # squeezed far out, even near 0
    top.vlines(places, 0, heights, color=KEY, lw=2)
    top.plot(places, heights, "o", color=KEY, mec=INK, mew=0.8, ms=7)
    note = "grey: half and 95% of all scores; axis squeezed far out"
    write(top, 1, -0.06, note, MUTED, ha="right", transform=top.transAxes)

    low.set_title("Weights: softmax of these eight", x=-0.13)
    low.set(xlim=(-0.6, KEYS - 0.4), ylim=(0, 1.12), xticks=[])
    low.set_yticks([0, 1 / KEYS, 0.5, 1], ["0", f"1/{KEYS}", "0.5", "1"])
    low.spines["left"].set_bounds(0, 1)
    low.bar(places, weights, 0.62, color=WEIGHT)
    for x, weight in zip(places, weights, strict=True):
        write(low, x, weight + 0.02, share(weight), va="bottom")
    rows = {
        "key": [str(i + 1) for i in places],
        "score": map(_short, raw),
        "divided": map(_short, scores),
    }
    write_table(low, places, 0.155, rows, rows["key"])
    return figure


def say_row(d_k, divide_by):
    """Say what `draw_row` draws, for the same values."""
    _, scores, everyone = _scores(d_k, divide_by)
    weights = softmax(scores)
    low, high = np.percentile(everyone, [2.5, 97.5])
    return (
        f"With dₖ = {d_k:,} and scores divided by {_named(d_k, divide_by)}, "
        f"95% of all scores lie between {_short(low)} and {_short(high)}, "
        f"their variance is {power(everyone.var())}. In this row the largest "
        f"weight is {share(weights.max())}, the row is as undecided as "
        f"{effective_keys(weights):.2f} equal keys, and the gradient of "
        f"softmax has norm {power(gradient_norm(weights))}."
    )


def _scores(d_k, divide_by):
    """The row's scores, undivided and divided, and everyone's divided."""
    everyone = random_scores()[DIMENSIONS.index(d_k)]
    by = divisor(divide_by, d_k)
    raw = everyone[typical_row()]
    return raw, raw / by, everyone / by


def _named(d_k, divide_by):
    if divide_by == "nothing":
        return "nothing"
    number = f"{divisor(divide_by, d_k):,.4g}"
    return f"{DIVISORS[divide_by]} = {number}"


def _short(value):
    text = signed(value, 1 if abs(value) >= 9.995 else 2)
    return "0.00" if text == "−0.00" else text


row = Explorable(
    "scaling-row",
    draw_row,
    say_row,
    Slider("d_k", DIMENSIONS, 1, label="dₖ", texts=lambda d: f"{d:,}"),
    Slider(
        "divide_by",
        list(DIVISORS),
        label="divide scores by",
        texts=list(DIVISORS.values()),
    ),
)
