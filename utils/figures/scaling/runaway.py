"""One score runs away from another: its weight, and the slope that is left."""

import numpy as np
from matplotlib.figure import Figure

from utils.explore import Explorable, Slider
from utils.explore.palette import GRID, GROUND, INK, MUTED, OTHER, WEIGHT
from utils.figures.drawing import WIDTH, write
from utils.figures.wording import power

NUMBERS = ("float16", "float32", "float64")
FLOOR = -18  # where 0 stands among the powers of ten


def steps_in(number, lead):
    """Take softmax of the scores lead and 0, rounded at each step.

    Parameters
    ----------
    number : str
        "float16", "float32" or "float64".
    lead : float
        How far the first score is ahead, 0 or more.

    Returns
    -------
    small : float
        The exponential of the second score, the maximum subtracted. The
        first one's is 1.
    weight, slope : float
        The weight of the first score, and w (1 - w).

    Notes
    -----
    exp is computed in float64 and rounded once, so that every machine draws
    the same.

    Examples
    --------
    >>> steps_in("float32", 20)[1:]
    (1.0, 0.0)
    """
    kind = np.dtype(number).type
    one = kind(1)
    small = kind(np.exp(-float(lead)))
    weight = kind(one / kind(one + small))
    slope = kind(weight * kind(one - weight))
    return float(small), float(weight), float(slope)


def exact_slope(lead):
    """The slope w (1 - w) without rounding, w = 1 / (1 + exp(-lead))."""
    small = np.exp(-np.asarray(lead, dtype=float))
    return small / (1 + small) ** 2


def draw_runaway(lead, number):
    """Draw the weight of a score that leads, and the slope of the weight.

    Parameters
    ----------
    lead : float
    number : str
        One of NUMBERS.

    Returns
    -------
    Figure
    """
    _, weight, slope = steps_in(number, lead)
    line = np.linspace(0, 40, 201)
    figure = Figure(figsize=(WIDTH, 4.9))
    top = figure.add_axes([0.15, 0.585, 0.82, 0.33])
    low = figure.add_axes([0.15, 0.105, 0.82, 0.33])
    ends = {"xlim": (-1, 41), "xticks": range(0, 41, 10)}

    top.set_title("Weight w of the score that leads", x=-0.16)
    top.set(ylim=(0.45, 1.12), yticks=[0.5, 0.75, 1], **ends)
    top.plot(line, 1 / (1 + np.exp(-line)), color=MUTED, lw=1.4)
    reach = np.array([-2.2, 2.2])
    tangent = weight + float(exact_slope(lead)) * reach
    top.plot(lead + reach, tangent, color=INK, lw=2.4)
    top.plot(lead, weight, "o", color=WEIGHT, mec=INK, ms=9)
    text = "w = 1, no room left" if weight == 1 else f"w = {_digits(weight)}"
    write(top, 40, 0.62, text, ha="right", size=10)

    low.set_title("Slope w (1 − w): how much a nudge still moves w", x=-0.16)
    low.set(ylim=(-19.5, 0.5), xlabel="lead of the first score", **ends)
    low.set_yticks([0, -6, -12, FLOOR], ["1", "10⁻⁶", "10⁻¹²", "0"])
    low.axhline(FLOOR, color=GRID, lw=1)
    first = first_dead(number)
    low.axvspan(first, 41, color=GRID, alpha=0.6, lw=0)
    low.plot(line, np.log10(exact_slope(line)), color=MUTED, lw=1.4)
    alive = slope > 0
    low.plot(
        lead,
        np.log10(slope) if alive else FLOOR,
        "o" if alive else "X",
        color=WEIGHT if alive else OTHER,
        mec=GROUND if not alive else INK,
        ms=9 if alive else 11,
    )
    word = f"slope {power(slope)}"
    write(low, 40, -0.9, word, ha="right", size=10)
    note = f"grey ground: 0 in {number}"
    write(low, -0.4, -15, note, ha="left")
    return figure


def say_runaway(lead, number):
    """Say what `draw_runaway` draws, for the same values."""
    small, weight, slope = steps_in(number, lead)
    if slope:
        end = (
            f"the weight is {_digits(weight)} and its slope "
            f"w (1 − w) is {power(slope)}."
        )
    else:
        end = (
            "the weight is rounded to 1 and its slope w (1 − w) to 0: "
            "nothing has overflowed, and no gradient is left."
        )
    return (
        f"The first score leads by {lead}. With the maximum subtracted, the "
        f"exponentials in {number} are 1 and {power(small)}; {end}"
    )


def first_dead(number):
    """The lead from which on the weight is rounded to 1.

    >>> round(first_dead("float32"), 2)
    16.64
    """
    return -float(np.log(np.finfo(number).eps / 2))


def _digits(weight):
    """Enough digits to see what is missing from 1."""
    missing = 1 - weight
    if missing > 0.0005:
        return f"{weight:.3f}"
    return f"1 − {power(missing)}"


_LEADS = [*range(21), *range(22, 41, 2)]

runaway = Explorable(
    "scaling-runaway",
    draw_runaway,
    say_runaway,
    Slider("lead", _LEADS, 1, label="lead of the first score", play=True),
    Slider("number", list(NUMBERS), "float32", label="type of number"),
)
