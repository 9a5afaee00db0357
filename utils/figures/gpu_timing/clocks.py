"""The same program, timed in the ways that mislead."""

from dataclasses import dataclass

import numpy as np
from matplotlib.figure import Figure

from utils.explore import Explorable
from utils.explore.palette import GRID, GROUND, INK, MUTED, OTHER
from utils.figures.drawing import WIDTH, write
from utils.figures.gpu_timing.evidence import (
    common_lengths,
    name_of,
    points,
    the_record,
    times,
)
from utils.figures.wording import capital

_NAMES = {
    "cold first call": "the first call of a process",
    "one thread": "torch.utils.benchmark, its one thread",
    "zeros": "zeros instead of random numbers",
    "no synchronise": "no waiting for the device",
}


@dataclass(frozen=True)
class Mistake:
    """One wrong way: its samples by the right median, or why there are none.

    `factors` is None if it was not timed; then `reason` says why.
    """

    name: str
    factors: np.ndarray | None
    reason: str | None

    @property
    def factor(self):
        """How many times the right time the median is."""
        return float(np.median(self.factors))


def gallery(record):
    """Every wrong way that the record tried.

    Parameters
    ----------
    record : Record

    Returns
    -------
    list of Mistake
    """
    found = []
    tried = record.select(experiment="wrong clocks")
    for clock, name in _NAMES.items():
        for point in tried:
            if point.clock == clock and point.contestant == "flash":
                found.append(_mistake(record, name, point))
    case = {"mask": "causal", "direction": "forward"}
    N = common_lengths()[-1]
    (plain,) = points(record, "flash", N, **case)
    for dense in points(record, "flash, dense mask", N, **case):
        factors = np.divide(dense.samples_seconds, plain.seconds.median)
        name = "the causal mask as a tensor"
        found.append(Mistake(name, factors, None))
    for point in tried:
        if point.contestant == "flash, inverted mask":
            found.append(
                Mistake("the mask inverted", None, "wrong values: not timed")
            )
    return found


def _mistake(record, name, point):
    if point.status != "ok":
        return Mistake(name, None, point.reason)
    (right,) = record.select(
        group=point.group, contestant="flash", clock="right"
    )
    factors = np.divide(point.samples_seconds, right.seconds.median)
    return Mistake(name, factors, None)


def draw_clocks(device=None):
    """Draw every sample of every wrong way, by the right median.

    Parameters
    ----------
    device : str, optional

    Returns
    -------
    Figure
    """
    record = the_record(device)
    found = gallery(record)
    height = 1.0 + 0.55 * len(found)
    figure = Figure(figsize=(WIDTH, height))
    ax = figure.add_axes([0.04, 0.5 / height, 0.92, 1 - 0.95 / height])
    ax.set_title("What a wrong clock says, by the right time", x=0)
    most = max(m.factors.max() for m in found if m.factors is not None)
    ax.set(xscale="log", xlim=(0.4, max(12, 3 * most)), ylim=(len(found), 0))
    right = max(12, 3 * most)
    powers = [t for t in (0.5, 1, 2, 5, 10, 100, 1000) if t < right]
    ax.set_xticks(powers, [f"{t:,g}×" for t in powers])
    ax.minorticks_off()
    ax.set_yticks([])
    ax.spines["left"].set_visible(False)
    lows = np.arange(len(found))
    ax.vlines([1] * len(lows), lows + 0.45, lows + 0.92, color=MUTED, lw=1)
    for i, mistake in enumerate(found):
        if i:
            ax.axhline(i, color=GRID, lw=0.7)
        write(ax, 0.42, i + 0.27, mistake.name, ha="left", bold=True)
        y = i + 0.68
        if mistake.factors is None:
            write(ax, 1.1, y, _short(mistake.reason), MUTED, ha="left")
            continue
        style = {"color": OTHER, "alpha": 0.35, "ms": 5, "mew": 0}
        ax.plot(mistake.factors, [y] * len(mistake.factors), "o", **style)
        style = {"color": INK, "ms": 9, "mec": GROUND}
        ax.plot(mistake.factor, y, "d", **style)
        x = mistake.factors.max() * 1.2
        write(ax, x, y, f"{_times(mistake.factor)}×", ha="left")
    return figure


def say_clocks(device=None):
    """Say by how much each wrong way is off, or why it has no time.

    Parameters
    ----------
    device : str, optional

    Returns
    -------
    str
    """
    record = the_record(device)
    told = []
    for mistake in gallery(record):
        if mistake.factors is None:
            told.append(f"{mistake.name}: {mistake.reason}")
        else:
            told.append(f"{mistake.name}: {_times(mistake.factor)} times")
    return (
        f"{name_of(record)}, the median of each by the right one. "
        f"{capital('; '.join(told))}."
    )


def _times(factor):
    return f"{factor:.2f}" if factor < 2 else times(factor)


def _short(reason):
    return reason if len(reason) < 48 else f"{reason[:46]}…"


clocks = Explorable("gpu-timing-clocks", draw_clocks, say_clocks)
