"""Time against the number of tokens, and the power by which it grows."""

from matplotlib.figure import Figure

from utils.explore import Explorable
from utils.explore.palette import GROUND, WEIGHT
from utils.figures.drawing import WIDTH
from utils.figures.gpu_timing.evidence import (
    SIGNS,
    case_sliders,
    duration,
    name_of,
    points,
    shown_case,
    shown_contestants,
    the_record,
)
from utils.figures.gpu_timing.table import room, write_rows
from utils.figures.wording import listed
from utils.roofline import exponent

ROWS = 4  # the most contestants at once


def growth(record, contestant, mask, direction, last=3):
    """The power of N by which a contestant's time grows.

    Parameters
    ----------
    record : Record
    contestant, mask, direction : str
    last : int, optional
        How many of the longest lengths are fitted.

    Returns
    -------
    float
    """
    found = points(record, contestant, mask=mask, direction=direction)[-last:]
    return exponent(
        [point.queries for point in found],
        [point.seconds.median for point in found],
    )


def draw_length(mask, direction, N, device=None):
    """Draw each contestant's median time with its band against N.

    Parameters
    ----------
    mask, direction : str
    N : int
        Marked, and told in figures.
    device : str, optional

    Returns
    -------
    Figure
    """
    record = the_record(device)
    case = {"mask": mask, "direction": direction}
    names = shown_contestants(record, **case)
    foot = room(ROWS) + 0.5
    height = 3.1 + foot
    figure = Figure(figsize=(WIDTH, height))
    ax = figure.add_axes([0.15, foot / height, 0.8, 2.75 / height])
    ax.set_title(f"Time, {shown_case(mask, direction)}", x=-0.165)
    low, high = _limits(record)
    ax.set(xscale="log", yscale="log", xlim=_ends(record), ylim=(low, high))
    ticks = [p.queries for p in points(record, "naive", **case)]
    ax.set_xticks(ticks, [f"{n:,}" for n in ticks])
    powers = [10.0**p for p in range(-7, 3) if low <= 10.0**p <= high]
    ax.set_yticks(powers, [_short(power) for power in powers])
    ax.minorticks_off()
    ax.set_xlabel("tokens N")
    ax.axvline(N, color=WEIGHT, lw=5, alpha=0.4, zorder=0.4)
    rows = {}
    for name in names:
        sign, found = SIGNS[name], points(record, name, **case)
        x = [point.queries for point in found]
        spread = [point.seconds for point in found]
        ax.fill_between(
            x,
            [s.low for s in spread],
            [s.high for s in spread],
            color=sign.ink,
            alpha=0.2,
            lw=0,
        )
        y = [s.median for s in spread]
        style = {"color": sign.ink, "marker": sign.marker, "mec": GROUND}
        ax.plot(x, y, sign.stroke, lw=1.8, ms=6, **style)
        power = f"{growth(record, name, **case):.2f}"
        rows[name] = ("not timed", "", power)
        for here in (p.seconds for p in found if p.queries == N):
            band = f"{duration(here.low)} to {duration(here.high)}"
            rows[name] = (duration(here.median), band, power)
    heads = (f"at N = {N:,}", "20 % to 80 %", "power")
    write_rows(figure, rows, heads, (0.54, 0.82, 0.99))
    return figure


def say_length(mask, direction, N, device=None):
    """Say the times at N, and how they grow.

    Parameters
    ----------
    mask, direction : str
    N : int
    device : str, optional

    Returns
    -------
    str
    """
    record = the_record(device)
    case = {"mask": mask, "direction": direction}
    told = []
    for name in shown_contestants(record, N, **case):
        (point,) = points(record, name, N, **case)
        told.append(
            f"{SIGNS[name].name} {duration(point.seconds.median)} "
            f"(power {growth(record, name, **case):.2f})"
        )
    return (
        f"{name_of(record)}, recorded "
        f"{record.about['started_utc'][:10]}: {shown_case(mask, direction)}, "
        f"{N:,} tokens: {listed(told)}. The power says how time grows with N "
        "over the three longest lengths; 2 is four times for twice N."
    )


def _ends(record):
    found = [p.queries for p in points(record, "naive", mask="none")]
    return min(found) / 1.35, max(found) * 1.35


def _limits(record):
    """One scale for every case, so that a slider's effect is seen."""
    times = [
        value
        for name in SIGNS
        for point in points(record, name)
        for value in (point.seconds.low, point.seconds.high)
    ]
    return min(times) / 1.5, max(times) * 1.5


def _short(seconds):
    """A power of ten of seconds in the unit that fits.

    >>> _short(1e-05), _short(0.1)
    ('10 µs', '100 ms')
    """
    for unit, size in (("s", 1), ("ms", 1e-3), ("µs", 1e-6)):
        if seconds >= 0.999 * size:
            return f"{seconds / size:.0f} {unit}"
    return f"{seconds / 1e-9:.0f} ns"


length = Explorable(
    "gpu-timing-length", draw_length, say_length, *case_sliders()
)
