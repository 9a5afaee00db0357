"""Softmax in pictures: one row of scores becomes shares of one whole.

The row is the query "deployed" of *The developer deployed the application*,
in the document's four-token version. The other rows of SCORES are made up.
"""

import numpy as np
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from utils.attention import softmax
from utils.explore import Explorable, Slider
from utils.explore.palette import (
    GRID,
    GROUND,
    INK,
    KEY,
    MUTED,
    OTHER,
    QUERY,
    WEIGHT,
)

__all__ = [
    "axis",
    "draw_axis",
    "draw_overflow",
    "draw_shift",
    "draw_temperature",
    "overflow",
    "say_axis",
    "say_overflow",
    "say_shift",
    "say_temperature",
    "shift",
    "softmax_in",
    "temperature",
]

TOKENS = ("The", "developer", "deployed", "application")
ROW = (1.2, 2.5, 1.0, 2.0)
SCORES = ((1.5, 0.5, -0.5, 0), (0.5, 1, 2, -1), ROW, (-1, 0.5, 2.5, 1))
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
    figure = Figure(figsize=(4.8, 4.1))
    ax = figure.add_axes([0.1, 0.46, 0.87, 0.47])
    ax.set_title(f"1. Take exp of every score{_added(shift)}")
    line = np.linspace(-2.9, 3.04, 80)
    ax.plot(line, np.exp(line), color=MUTED, lw=1.2)
    ax.vlines(scores, 0, heights, color=WEIGHT, lw=5)
    ax.plot(scores, heights, "o", color=WEIGHT, mec=INK, ms=6)
    # names in two rows, numbers at different heights: none overlap
    places = ((-4.4, 14), (-4.4, 10), (-3, 2), (-3, 4))
    for i, (low, lift) in enumerate(places):
        x, y = scores[i], heights[i]
        ax.vlines(x, low + 0.6, 0, color=GRID, lw=1, clip_on=False, zorder=0)
        _write(ax, x, low, TOKENS[i], KEY, ha="right" if i == 2 else "center")
        shifted = {"xytext": (-5, lift), "textcoords": "offset points"}
        ax.annotate(f"{y:.2f}", (x, y), ha="right", **shifted)
    ax.set(xlim=(-2.9, 3.6), ylim=(0, 21), ylabel="exp(score)")
    ax.set(xticks=range(-2, 4), yticks=range(0, 21, 5))
    for label in ax.get_xticklabels():
        label.set_bbox({"fc": GROUND, "ec": "none", "pad": 0})
    _write(ax, -2.9, -1.4, "score", ha="left")

    strip = figure.add_axes([0.1, 0.1, 0.87, 0.12])
    strip.set_title(
        f"2. Divide by their sum, {heights.sum():.2f}: the weights"
    )
    strip.set(xlim=(0, 1), ylim=(0, 1), xticks=[], yticks=[])
    strip.spines[:].set_visible(False)
    start = 0.0
    for token, weight in zip(TOKENS, softmax(scores), strict=True):
        _cell(strip, (start, 0), weight, 1, fc=WEIGHT, ec=GROUND, lw=2)
        middle = start + weight / 2
        _write(strip, middle, 0.5, _share(weight), size=10)
        _write(strip, middle, -0.3, token, KEY)
        start += weight
    return figure


def say_shift(shift):
    """Say what `draw_shift` draws, for the same values."""
    scores = np.add(ROW, shift)
    exponentials = np.exp(scores)
    return (
        f"The exponentials of every score{_added(shift)} are "
        f"{_listed(f'{e:.2f}' for e in exponentials)}, with sum "
        f"{exponentials.sum():.2f}. The weights are {_named(softmax(scores))}."
    )


def draw_temperature(temperature, score):
    """Draw the four weights as bars, over the scores they come from.

    Parameters
    ----------
    temperature : float
    score : float
        The score of "developer".

    Returns
    -------
    Figure
    """
    scores = (ROW[0], score, *ROW[2:])
    weights = softmax(scores, temperature=temperature)
    figure = Figure(figsize=(4.8, 3.6))
    ax = figure.add_axes([0.17, 0.26, 0.81, 0.65])
    ax.set_title("Weights of “deployed”")
    ax.set(xlim=(-0.5, 3.5), ylim=(0, 1.1), ylabel="weight")
    ax.set(xticks=[], yticks=[0, 0.25, 0.5, 0.75, 1])
    ax.spines["left"].set_bounds(0, 1)
    places = range(len(TOKENS))
    ax.bar(places, softmax(scores), 0.84, color=GRID)
    ax.bar(places, weights, 0.56, color=WEIGHT)
    for x, weight in zip(places, weights, strict=True):
        ax.text(x, weight + 0.02, _share(weight), ha="center", va="bottom")
    note = "wide grey bars: at temperature 1"
    _write(ax, 3.5, 1.16, note, MUTED, ha="right")
    divided = [_number(s / temperature) for s in scores]
    rows = {"score": map(_number, scores), f"÷ {temperature:g}": divided}
    _write_table(ax, places, 0.11, {"": TOKENS, **rows})
    return figure


def say_temperature(temperature, score):
    """Say what `draw_temperature` draws, for the same values.

    >>> say_temperature(1, 2.5)[-65:]
    'The 0.130, developer 0.476, deployed 0.106 and application 0.289.'
    """
    scores = (ROW[0], score, *ROW[2:])
    return (
        f"At temperature {temperature:g}, with a score of {_number(score)} "
        "for developer, the weights are "
        f"{_named(softmax(scores, temperature=temperature))}."
    )


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
    figure = Figure(figsize=(4.8, 5.2))
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
        "exponent": [*map(_number, exponents), ""],
        "exp": map(_power, stored),
        "weight": [*map(_share, weights), sum_of_weights],
    }
    _write_table(ax, places, 0.075, rows)
    return figure


def say_overflow(number, subtract, shift):
    """Say what `draw_overflow` draws, for the same values."""
    _, exponentials, total, weights = softmax_in(
        number, np.add(ROW, shift), subtract
    )
    return (
        f"In {number}, the exponentials of every score{_added(shift)}"
        f"{' − the maximum' if subtract else ''} are "
        f"{_listed(map(_power, exponentials))}, with sum {_power(total)}, "
        f"and the weights {_named(weights)}. "
        f"{_verdict(number, total, weights)[2:]}."
    )


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
    figure = Figure(figsize=(4.8, 5.0))
    top = figure.add_axes([0.2, 0.58, 0.66, 0.29])
    low = figure.add_axes([0.2, 0.09, 0.66, 0.29])
    _draw_matrix(top, "Scores", scores, _number)
    _draw_matrix(low, f"Weights: softmax of each {axis}", weights, _share)
    for (i, j), weight in np.ndenumerate(weights):
        _cell(low, (j, i), 1, 1, fc=WEIGHT, alpha=weight, lw=0, zorder=0)
    moved = ((0, 2), 4, 1) if axis == "row" else ((1, 0), 1, 4)
    for ax, place in ((top, ((1, 2), 1, 1)), (low, moved)):
        _cell(ax, *place, fill=False, ec=INK, lw=2, clip_on=False)
    note = "outlined: the slider’s score, and the weights it moves"
    _write(top, 0, 4.45, note, MUTED, ha="left")
    _write(low, -0.1, 4.45, "sum", MUTED, ha="right")
    _write(low, 4.1, -0.27, "sum", MUTED, ha="left")
    for i, (across, down) in enumerate(zip(*_sums(weights), strict=True)):
        mark = "✓" if across == "1.000" else "✗"
        _write(low, 4.1, i + 0.5, f"{across} {mark}", ha="left")
        _write(low, i + 0.5, 4.45, down, MUTED)
    return figure


def say_axis(axis, score):
    """Say what `draw_axis` draws, for the same values."""
    rows, columns = _sums(_matrices(axis, score)[1])
    return (
        f"With softmax of each {axis}, and a score of {_number(score)} for "
        f"deployed and developer, the rows of weights sum to {_listed(rows)}, "
        f"the columns to {_listed(columns)}."
    )


def _matrices(axis, score):
    scores = np.array(SCORES)
    scores[2, 1] = score
    return scores, softmax(scores, axis={"row": -1, "column": -2}[axis])


def _sums(weights):
    """The sums of the rows, and of the columns, as texts."""
    return [[f"{total:.3f}" for total in weights.sum(axis)] for axis in (1, 0)]


def _draw_matrix(ax, title, array, show):
    ax.set_title(title, x=-0.3, pad=24)
    ax.set(xlim=(0, 4), ylim=(4, 0), xticks=[], yticks=[])
    ax.spines[:].set_visible(False)
    edges = {"color": GRID, "lw": 1, "clip_on": False, "zorder": 0.5}
    ax.hlines(range(5), 0, 4, **edges)
    ax.vlines(range(5), 0, 4, **edges)
    for (i, j), value in np.ndenumerate(array):
        _write(ax, j + 0.5, i + 0.5, show(value), size=10)
    for i, token in enumerate(TOKENS):
        _write(ax, -0.1, i + 0.5, token, QUERY, ha="right")
        _write(ax, i + 0.5, -0.27, token, KEY)


def _rung(power):
    """Where a power of ten stands: even near 1, squeezed far away."""
    return np.arcsinh(power)


def _draw_ladder(ax, number):
    left, right = -0.42, 4.3
    ax.set(xlim=(left, right), ylim=(-8.8, 8.8), xticks=[], yticks=[])
    note = "size of exp, squeezed towards both ends"
    _write(ax, -2.43, 0, note, MUTED, rotation=90)
    _write(ax, left - 0.1, 0, "1", ha="right")
    rungs = [0]
    for name, ends in LADDER.items():
        for power, text in ends.items():
            rungs.append(_rung(power))
            _write(ax, left - 0.1, rungs[-1], f"{name}  {text}", ha="right")
    ax.hlines(rungs, left, right, color=MUTED, lw=0.6, zorder=0.5)
    low, high = map(_rung, LADDER[number])
    ax.hlines((low, high), left, right, color=INK, lw=1.8)
    for start, height, word in (
        (-8.8, low + 8.8, "too small: 0"),
        (high, 8.8 - high, "too large: inf"),
    ):
        _cell(ax, (left, start), right - left, height, fc=GRID, alpha=0.6)
        _write(ax, 1.94, np.sign(start) * 8.27, f"{word} in {number}")


def _verdict(number, total, weights):
    if np.isnan(weights).any():
        parts = f"{_power(total)} ÷ {_power(total)}"
        return f"✗ It breaks: {parts} is NaN, not a number"
    if np.isinf(total):
        return "✗ It breaks: the sum is inf, so every weight is 0"
    error = np.abs(weights - softmax(ROW)).max()
    if error > 0.001:
        return (
            f"✗ {number} has rounded too much: a weight is off by {error:.3f}"
        )
    return "✓ It works: every weight is right to within 0.001"


def _cell(ax, *place, **style):
    ax.add_patch(Rectangle(*place, **style))


def _write(ax, x, y, text, ink=INK, ha="center", size=9, **place):
    style = {"color": ink, "ha": ha, "va": "center", "fontsize": size}
    ax.text(x, y, text, **style, **place)


def _write_table(ax, places, step, rows):
    """Write named rows of texts under the places of an axes, tokens first."""
    under = {"transform": ax.get_xaxis_transform()}
    edge = ax.get_xlim()[0]
    for i, (name, texts) in enumerate(rows.items()):
        y = -step * (i + 0.5)
        _write(ax, edge - 0.1, y, name, MUTED, ha="right", **under)
        for x, text in zip(places, texts, strict=True):
            ink = INK if i or text == "sum" else KEY
            _write(ax, x, y, text, ink, **under)


def _share(weight):
    """Three places, and never 0 or 1 where the weight is neither."""
    if weight == 0 or np.isnan(weight):
        return "0" if weight == 0 else "NaN"
    if weight > 0.9995:
        return ">0.999"
    return "<0.001" if weight < 0.0005 else f"{weight:.3f}"


def _power(value):
    """A number of any size: 12.2, 3×10³⁸, inf, 0."""
    if value == 0 or np.isinf(value) or 0.01 <= value < 1000:
        return f"{value:.3g}"
    digit, power = f"{value:.0e}".split("e")
    raised = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
    return f"{digit}×10{str(int(power)).translate(raised)}"


def _number(value):
    return f"{value:.5g}".replace("-", "−")


def _added(shift):
    return f" {'−' if shift < 0 else '+'} {abs(shift):g}" if shift else ""


def _named(weights):
    pairs = zip(TOKENS, weights, strict=True)
    return _listed(f"{token} {_share(weight)}" for token, weight in pairs)


def _listed(texts):
    *first, last = texts
    return f"{', '.join(first)} and {last}"


# The types end near + 8, + 86 and + 707.
_UP = (5, 8, 9, 10, 20, 50, 86, 87, 100, 200, 500, 707, 708, 1000)
_DOWN = (1000, 700, 500, 200, 110, 100, 50, 20, 18, 10, 5)
_SHIFTS = [*(-down for down in _DOWN), 0, *_UP]
_QUARTERS = [i / 4 for i in range(-12, 3)]
_HALVES = [i / 2 for i in range(-8, 13)]
_TEMPERATURES = [0.1, 0.15, 0.2, 0.3, 0.5, 0.7, 1, 1.5, 2, 3, 5, 7, 10]
_ADDED = "add to every score"
_MOVED = "score of “developer”"

shift = Explorable(
    "softmax-shift",
    draw_shift,
    say_shift,
    Slider("shift", _QUARTERS, 0, label=_ADDED),
)
temperature = Explorable(
    "softmax-temperature",
    draw_temperature,
    say_temperature,
    Slider("temperature", _TEMPERATURES, 1),
    Slider("score", _HALVES, 2.5, label=_MOVED),
)
overflow = Explorable(
    "softmax-overflow",
    draw_overflow,
    say_overflow,
    Slider("number", list(LADDER), "float32", label="type of number"),
    Slider("subtract", [False, True], label="subtract the maximum"),
    Slider("shift", _SHIFTS, 0, label=_ADDED),
)
axis = Explorable(
    "softmax-axis",
    draw_axis,
    say_axis,
    Slider("axis", ["row", "column"], label="softmax of each"),
    Slider("score", _HALVES, 2.5, label=f"{_MOVED} for “deployed”"),
)
