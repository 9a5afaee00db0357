"""The recorded run: plain attention and tiles, every sample of them."""

import numpy as np
from matplotlib.figure import Figure

from utils import records
from utils.explore import Explorable, Slider
from utils.explore.palette import GRID, INK, KEY, MUTED, OTHER, VALUE
from utils.figures.complexity.words import in_bytes
from utils.figures.drawing import WIDTH, write

LENGTHS = (256, 512, 1024, 2048, 4096, 8192)
MASKS = {"none": "no mask", "causal": "causal mask"}


_UNITS = {"thread_time_ns": "processor ms"}


def newest():
    """Load the newest record of this chapter's run.

    Returns
    -------
    Record

    Raises
    ------
    ValueError
        If there is none.
    """
    paths = sorted(records.FOLDER.glob("cpu-numpy-tiles-*.json"))
    if not paths:
        raise ValueError("no record: run tools/measure_tiles.py")
    return records.load(paths[-1])


def points(N, mask):
    """Give the record's contestants at one length, the plain way first.

    Parameters
    ----------
    N : int
    mask : str
        "none" or "causal".

    Returns
    -------
    tuple of Point
    """
    return newest().select(queries=N, mask=mask)


def draw_record(N, mask):
    """Draw every sample's time, and each contestant's peak memory.

    Parameters
    ----------
    N : int
    mask : str

    Returns
    -------
    Figure
    """
    found = points(N, mask)
    slow = found[0]
    record = newest()
    figure = Figure(figsize=(WIDTH, 5.3))
    titles = (
        f"N = {N:,}, {MASKS[mask]}: time, every sample",
        "Peak memory",
    )
    boxes = ([0.245, 0.625, 0.48, 0.31], [0.245, 0.15, 0.48, 0.31])
    rows = np.arange(len(found))
    times = np.array([point.samples_seconds for point in found])
    peaks = np.array([point.peak_bytes for point in found])
    for box, title, values, ink in zip(
        boxes, titles, (times * 1000, peaks / 1e6), (KEY, VALUE), strict=True
    ):
        ax = figure.add_axes(box)
        ax.set_title(title, x=-0.46)
        low, high = values.min(), values.max()
        ax.set(xscale="log", xlim=(low / 1.5, high * 1.5))
        ax.set(ylim=(len(found) - 0.4, -0.6))
        ax.set_yticks(rows, [point.contestant for point in found])
        ax.tick_params(axis="y", length=0)
        ticks = _ticks(low / 1.5, high * 1.5)
        ax.set_xticks(ticks, [f"{tick:,g}" for tick in ticks])
        ax.minorticks_off()
        ax.hlines(rows, low / 1.5, high * 1.5, color=GRID, lw=0.8, zorder=0)
        if values.ndim == 2:
            for y, samples in zip(rows, values, strict=True):
                style = {"color": ink, "alpha": 0.55, "mew": 0, "ms": 5}
                ax.plot(samples, np.full(len(samples), y), "o", **style)
            medians = np.median(values, axis=1)
            ax.plot(medians, rows, "|", color=OTHER, ms=15, mew=2.4)
            clock = record.about["method"]["clock"]
            unit = _UNITS.get(clock, "milliseconds")
            ax.set_xlabel(f"{unit}; the stroke is the median")
            texts = [_times(records.ratio(slow, p).median) for p in found]
            texts = [f"{text} as fast" for text in texts]
        else:
            ax.plot(values, rows, "D", color=ink, ms=7, mew=0)
            ax.set_xlabel("megabytes")
            texts = [_times(slow.peak_bytes / p.peak_bytes) for p in found]
            texts = [f"{text} less" for text in texts]
        under = {"transform": ax.get_yaxis_transform()}
        for y, text in zip(rows, texts, strict=True):
            text = "compared with" if y == 0 else text
            ink = MUTED if y == 0 else INK
            write(ax, 1.04, y, text, ink, ha="left", **under)
    day = record.about["started_utc"][:10]
    note = f"recorded {day}, one thread, float32, d = 64, not run here"
    figure.text(0.02, 0.02, note, color=MUTED, size=9)
    return figure


def say_record(N, mask):
    """Say the medians' ratios and the peaks, computed from the samples."""
    found = points(N, mask)
    slow, in_place, tiles = found[0], found[1], found[-1]
    for point in found:
        if point.tile == 256:
            tiles = point
    ratio = _times(records.ratio(slow, tiles).median)
    other = _times(records.ratio(in_place, tiles).median)
    less = _times(slow.peak_bytes / tiles.peak_bytes)
    return (
        f"{N:,} tokens, {MASKS[mask]}: the naive way took "
        f"{slow.seconds.median * 1000:.3g} ms and "
        f"{in_bytes(slow.peak_bytes)}; {tiles.contestant} took "
        f"{tiles.seconds.median * 1000:.3g} ms and "
        f"{in_bytes(tiles.peak_bytes)} (medians). Round by round, tiles were "
        f"{ratio} as fast, and {other} as fast as naive in place, with "
        f"{less} less memory than naive."
    )


def _times(ratio):
    return f"{ratio:.2f}×" if ratio < 10 else f"{ratio:.0f}×"


def _ticks(low, high):
    """Give one tick a decade; in less than two decades, more of them."""
    decades = np.arange(np.floor(np.log10(low)), np.ceil(np.log10(high)) + 1)
    ticks = [10.0**p for p in decades if low <= 10.0**p <= high]
    if len(ticks) < 2:
        steps = [m * 10.0**p for p in decades for m in (1, 2, 5)]
        ticks = [tick for tick in steps if low <= tick <= high]
    return ticks


record = Explorable(
    "complexity-record",
    draw_record,
    say_record,
    Slider("N", list(LENGTHS), 4096, label="tokens N", texts="{:,}".format),
    Slider("mask", list(MASKS), "none"),
)
