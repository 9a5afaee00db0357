"""Every raw sample of one case, in the order in which it was taken."""

from matplotlib.figure import Figure

from utils.explore import Explorable
from utils.explore.palette import GRID, GROUND
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

ROWS = 4


def draw_samples(mask, direction, N, device=None):
    """Draw each contestant's samples, round by round, and their median.

    Parameters
    ----------
    mask, direction : str
    N : int
    device : str, optional

    Returns
    -------
    Figure
    """
    record = the_record(device)
    case = {"mask": mask, "direction": direction}
    foot = room(ROWS) + 0.5
    height = 2.8 + foot
    figure = Figure(figsize=(WIDTH, height))
    ax = figure.add_axes([0.14, foot / height, 0.82, 2.45 / height])
    ax.set_title(f"Every sample in ms, {shown_case(mask, direction)}", x=-0.15)
    rows, most, longest = {}, 0, 0
    for name in shown_contestants(record, N, **case):
        sign = SIGNS[name]
        (point,) = points(record, name, N, **case)
        y = [1e3 * value for value in point.samples_seconds]
        median = 1e3 * point.seconds.median
        look = {"color": sign.ink, "ls": sign.stroke, "lw": 1.2}
        ax.plot([0, len(y) + 1], [median, median], **look)
        style = {"color": sign.ink, "mec": GROUND, "ms": 5, "mew": 0.5}
        ax.plot(range(1, len(y) + 1), y, sign.marker, **style)
        most, longest = max(most, *y), max(longest, len(y))
        rows[name] = (
            f"{len(y)}",
            duration(min(point.samples_seconds)),
            duration(point.seconds.median),
            duration(max(point.samples_seconds)),
        )
    ax.set(xlim=(0, longest + 1), ylim=(0, 1.08 * most))
    ax.set_xlabel("round; in each, every contestant ran once")
    ax.grid(axis="y", color=GRID, lw=0.6)
    ax.set_axisbelow(True)
    heads = ("samples", "least", "median", "most")
    write_rows(figure, rows, heads, (0.55, 0.7, 0.84, 0.98))
    return figure


def say_samples(mask, direction, N, device=None):
    """Say how many samples there are, and their medians and ends.

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
            f"({duration(min(point.samples_seconds))} to "
            f"{duration(max(point.samples_seconds))})"
        )
    name = name_of(record)
    return (
        f"{name}, {shown_case(mask, direction)}, {N:,} tokens, "
        f"{len(point.samples_seconds)} rounds. Median and ends: "
        f"{listed(told)}."
    )


samples = Explorable(
    "gpu-timing-samples", draw_samples, say_samples, *case_sliders()
)
