"""How often naive attention sends its N × N scores through the memory."""

from matplotlib.figure import Figure

from utils.explore import Explorable, Slider
from utils.explore.palette import GRID, GROUND, INK, KEY, MUTED, OTHER
from utils.figures.drawing import WIDTH, write
from utils.figures.gpu_timing.evidence import (
    CASES,
    measured,
    name_of,
    published,
    shown_case,
)
from utils.figures.wording import capital
from utils.roofline import Peaks, data_sheet, effective_passes

LENGTHS = (512, 1024, 2048, 4096)
_LEAST, _MOST = 3, 160


def published_passes(mask, direction, N):
    """Effective passes of every published bar of naive attention.

    Parameters
    ----------
    mask, direction : str
    N : int

    Returns
    -------
    list of (str, int, float)
        Device, d and passes, by the peaks of the data sheet.
    """
    found = []
    for point in published():
        here = (point.mask, point.direction, point.queries)
        if point.contestant != "naive" or here != (mask, direction, N):
            continue
        if point.quantity == "TFLOP/s" and point.status == "ok":
            peaks = data_sheet(point.device)
            passes = effective_passes(point, peaks)
            found.append((peaks.name, point.d, passes))
    return found


def measured_passes(mask, direction, N):
    """Effective passes of each recorded device, by the peaks it reached.

    Parameters
    ----------
    mask, direction : str
    N : int

    Returns
    -------
    list of (str, str, float)
        Device, contestant and passes.
    """
    found = []
    for record in measured().values():
        points = record.select(
            experiment="length",
            contestant=("naive", "naive, preallocated"),
            clock="right",
            mask=mask,
            direction=direction,
            queries=N,
            status="ok",
        )
        for point in points:
            peaks = Peaks.measured(record, point.dtype)
            passes = effective_passes(point, peaks)
            device = name_of(record)
            found.append((device, point.contestant, passes))
    return found


def draw_passes(N):
    """Draw published passes hollow and our own filled, case by case.

    Parameters
    ----------
    N : int

    Returns
    -------
    Figure
    """
    figure = Figure(figsize=(WIDTH, 4.7))
    ax = figure.add_axes([0.04, 0.27, 0.92, 0.64])
    ax.set_title("Passes over the N × N scores", x=0)
    ax.set(xscale="log", xlim=(_LEAST, _MOST), ylim=(4, 0), yticks=[])
    ticks = (5, 10, 20, 50, 100)
    ax.set_xticks(ticks, map(str, ticks))
    ax.minorticks_off()
    ax.set_xlabel("passes: reads and writes of all scores")
    ax.spines["left"].set_visible(False)
    ax.vlines(ticks, 0, 4, color=GRID, lw=0.7, zorder=0)
    for i, (mask, direction) in enumerate(CASES):
        if i:
            ax.axhline(i, color=GRID, lw=0.7, zorder=0)
        text = shown_case(mask, direction)
        write(ax, 3.1, i + 0.2, text, ha="left", bold=True)
        theirs = published_passes(mask, direction, N)
        for device, d, passes in theirs:
            style = {"mfc": GROUND, "color": INK, "ms": 7, "ls": ""}
            ax.plot(passes, i + 0.5, _MARKS[d], **style)
            if device == "A100":
                ax.plot(passes, i + 0.5, _MARKS[d], ms=2.5, color=INK)
        values = [passes for *_, passes in theirs]
        if values:
            text = f"{min(values):.1f} to {max(values):.1f}"
            write(ax, 1.1 * max(values), i + 0.5, text, ha="left")
        ours = measured_passes(mask, direction, N)
        for _, contestant, passes in ours:
            ink, marker = _OURS[contestant]
            style = {"color": ink, "ms": 8, "mec": GROUND, "ls": ""}
            ax.plot(passes, i + 0.79, marker, **style)
        for side, (_, contestant, passes) in _sides(ours):
            ink, _ = _OURS[contestant]
            x = passes * 1.1**side
            ha = "left" if side > 0 else "right"
            write(ax, x, i + 0.79, f"{passes:.1f}", ink, ha=ha)
    for i, (text, ink) in enumerate(_LEGEND):
        figure.text(0.04, 0.135 - 0.042 * i, text, color=ink, fontsize=9)
    return figure


def say_passes(N):
    """Say the passes of each case, published and measured here.

    Parameters
    ----------
    N : int

    Returns
    -------
    str
    """
    told = []
    for mask, direction in CASES:
        theirs = [p for *_, p in published_passes(mask, direction, N)]
        text = f"{shown_case(mask, direction)}: "
        text += f"published {min(theirs):.1f} to {max(theirs):.1f}"
        for device, contestant, passes in measured_passes(mask, direction, N):
            kept = ", memory kept" if contestant != "naive" else ""
            text += f", {device}{kept} {passes:.1f}"
        told.append(text)
    return (
        f"Naive attention, {N:,} tokens, in passes. "
        f"{capital('; '.join(told))}."
    )


def _sides(ours):
    """The least has its number on its left, the greatest on its right."""
    ordered = sorted(ours, key=lambda row: row[2])
    sides = [-1] * (len(ordered) - 1) + [1]
    return zip(sides[-len(ordered) :], ordered, strict=True)


_MARKS = {64: "o", 128: "s"}
_OURS = {"naive": (OTHER, "o"), "naive, preallocated": (KEY, "v")}
_LEGEND = (
    ("○ □  H100, published, d = 64 and d = 128; with a dot: A100", INK),
    ("●  naive, measured on the device recorded here", OTHER),
    ("▼  naive with memory kept, the same device", KEY),
    ("Peaks: of the data sheets for published bars, measured for ours", MUTED),
)

passes = Explorable(
    "gpu-timing-passes",
    draw_passes,
    say_passes,
    Slider("N", list(LENGTHS), 4096, label="tokens", texts="{:,}".format),
)
