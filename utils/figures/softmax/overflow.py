"""How large the exponentials get, on a ladder of what types hold."""

import numpy as np
from matplotlib.figure import Figure

from utils.attention import softmax
from utils.explore import Explorable, Slider
from utils.explore.palette import (
    GRID,
    GROUND,
    INK,
    MUTED,
    OTHER,
    WEIGHT,
)
from utils.figures.drawing import (
    WIDTH,
    add_cell,
    write,
    write_table,
)
from utils.figures.softmax.example import ROW, TOKENS, added
from utils.figures.wording import brief, listed, named, power, share

# The smallest number above 0 and the largest, as powers of ten and in words.
LADDER = {
    "float16": {-7.22: "6.0×10⁻⁸", 4.82: "65504"},
    "float32": {-44.85: "1.4×10⁻⁴⁵", 38.53: "3.4×10³⁸"},
    "float64": {-323.31: "4.9×10⁻³²⁴", 308.25: "1.8×10³⁰⁸"},
}


def softmax_in(number, scores, subtract):
    """Take the steps of softmax, each rounded to one type of number.

    Parameters
    ----------
    number : str
        "float16", "float32" or "float64".
    scores : array_like, shape (M,)
    subtract : bool
        Take the largest score off before exp.

    Returns
    -------
    exponents, exponentials : ndarray, shape (M,)
        What goes into exp, and what comes out: inf where it is too large.
    total : scalar
        The sum of the exponentials.
    weights : ndarray, shape (M,)
        NaN or 0 where the steps break.

    Notes
    -----
    exp and the sum are computed in float64 and then rounded once, so that
    every machine draws the same.

    Examples
    --------
    >>> softmax_in("float32", [101, 100], subtract=False)[-1]
    array([nan, nan], dtype=float32)
    >>> softmax_in("float32", [101, 100], subtract=True)[-1].round(3)
    array([0.731, 0.269], dtype=float32)
    """
    with np.errstate(all="ignore"):
        exponents = np.asarray(scores).astype(number)
        if subtract:
            exponents = exponents - exponents.max()
        exponentials = np.exp(exponents.astype(float)).astype(number)
        total = exponentials.sum(dtype=float).astype(number)
        return exponents, exponentials, total, exponentials / total


def draw_overflow(number, subtract, shift):
    """Draw how large the exponentials get, on a ladder of what types hold.

    Parameters
    ----------
    number : str
        "float16", "float32" or "float64".
    subtract : bool
        Take the largest score off before exp.
    shift : float
        Added to every score.

    Returns
    -------
    Figure
    """
    exponents, exponentials, total, weights = softmax_in(
        number, np.add(ROW, shift), subtract
    )
    figure = Figure(figsize=(WIDTH, 5.2))
    ax = figure.add_axes([0.31, 0.235, 0.68, 0.695])
    ax.set_title(_verdict(number, total, weights), x=-0.44)
    _draw_ladder(ax, number)
    places = (0, 0.95, 1.98, 3.05, 3.93)
    exact = exponents.astype(float)
    logs = [*exact, np.logaddexp.reduce(exact)]
    stored = [*exponentials, total]
    for x, log, value in zip(places, logs, stored, strict=True):
        y = _rung(log / np.log(10))
        kept = 0 < value < np.inf
        ax.vlines(x, *sorted((0, y)), color=INK if kept else OTHER, lw=1.2)
        fill = WEIGHT if kept else OTHER
        ax.plot(x, y, "o" if kept else "X", ms=10, color=fill, mec=GROUND)
    sum_of_weights = f"{weights.sum(dtype=float):.3f}".replace("nan", "NaN")
    rows = {
        "": [*TOKENS, "sum"],
        "exponent": [*map(brief, exponents), ""],
        "exp": map(power, stored),
        "weight": [*map(share, weights), sum_of_weights],
    }
    write_table(ax, places, 0.075, rows, TOKENS)
    return figure


def say_overflow(number, subtract, shift):
    """Say what `draw_overflow` draws, for the same values."""
    _, exponentials, total, weights = softmax_in(
        number, np.add(ROW, shift), subtract
    )
    return (
        f"In {number}, the exponentials of every score{added(shift)}"
        f"{' − the maximum' if subtract else ''} are "
        f"{listed(map(power, exponentials))}, with sum {power(total)}, "
        f"and the weights {named(TOKENS, weights)}. "
        f"{_verdict(number, total, weights)[2:]}."
    )


def _rung(power):
    """Where a power of ten stands: even near 1, squeezed far away."""
    return np.arcsinh(power)


def _draw_ladder(ax, number):
    left, right = -0.42, 4.3
    ax.set(xlim=(left, right), ylim=(-8.8, 8.8), xticks=[], yticks=[])
    note = "size of exp, squeezed towards both ends"
    write(ax, -2.43, 0, note, MUTED, rotation=90)
    write(ax, left - 0.1, 0, "1", ha="right")
    rungs = [0]
    for name, ends in LADDER.items():
        for exponent, text in ends.items():
            rungs.append(_rung(exponent))
            write(ax, left - 0.1, rungs[-1], f"{name}  {text}", ha="right")
    ax.hlines(rungs, left, right, color=MUTED, lw=0.6, zorder=0.5)
    low, high = map(_rung, LADDER[number])
    ax.hlines((low, high), left, right, color=INK, lw=1.8)
    for start, height, word in (
        (-8.8, low + 8.8, "too small: 0"),
        (high, 8.8 - high, "too large: inf"),
    ):
        add_cell(ax, (left, start), right - left, height, fc=GRID, alpha=0.6)
        write(ax, 1.94, np.sign(start) * 8.27, f"{word} in {number}")


def _verdict(number, total, weights):
    if np.isnan(weights).any():
        parts = f"{power(total)} ÷ {power(total)}"
        return f"✗ It breaks: {parts} is NaN, not a number"
    if np.isinf(total):
        return "✗ It breaks: the sum is inf, so every weight is 0"
    error = np.abs(weights - softmax(ROW)).max()
    if error > 0.001:
        return (
            f"✗ {number} has rounded too much: a weight is off by {error:.3f}"
        )
    return "✓ It works: every weight is right to within 0.001"


# The types end near + 8, + 86 and + 707.
_UP = (5, 8, 9, 10, 20, 50, 86, 87, 100, 200, 500, 707, 708, 1000)
_DOWN = (1000, 700, 500, 200, 110, 100, 50, 20, 18, 10, 5)
_SHIFTS = [*(-down for down in _DOWN), 0, *_UP]

overflow = Explorable(
    "softmax-overflow",
    draw_overflow,
    say_overflow,
    Slider("number", list(LADDER), "float32", label="type of number"),
    Slider("subtract", [False, True], label="subtract the maximum"),
    Slider("shift", _SHIFTS, 0, label="add to every score"),
)
