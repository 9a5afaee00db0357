"""How many times faster without the N × N matrix: ours, and published."""

from matplotlib.figure import Figure

from utils.explore import Explorable
from utils.explore.palette import GROUND, INK, KEY, MUTED, OTHER, WEIGHT
from utils.figures.drawing import WIDTH
from utils.figures.gpu_timing.evidence import (
    case_sliders,
    name_of,
    points,
    published,
    shown_case,
    the_record,
    times,
)
from utils.figures.wording import listed
from utils.records import ratio as paired
from utils.roofline import seconds

LENGTHS = (256, 512, 1024, 2048, 4096, 8192, 16384)
_LOW, _HIGH = 0.7, 24
_HOLLOW = (("A100", "o"), ("H100", "s"))


def published_ratios(mask, direction, device, d):
    """Published naive time by FlashAttention-2 time, along N.

    Parameters
    ----------
    mask, direction : str
    device : str
        How its name starts.
    d : int

    Returns
    -------
    dict of int to float
        By N, where both were published for the same shape.
    """
    found = {}
    for point in published():
        here = (point.mask, point.direction, point.d)
        if here != (mask, direction, d) or point.status != "ok":
            continue
        if point.quantity == "TFLOP/s" and point.device.startswith(device):
            by_name = found.setdefault(point.queries, {})
            by_name[point.contestant] = seconds(point)
    return {
        N: by_name["naive"] / by_name["FlashAttention-2"]
        for N, by_name in sorted(found.items())
        if {"naive", "FlashAttention-2"} <= by_name.keys()
    }


def measured_ratios(record, slow, mask, direction):
    """How many times longer one took than flash, along N, round by round.

    Parameters
    ----------
    record : Record
    slow, mask, direction : str

    Returns
    -------
    dict of int to Spread
    """
    case = {"mask": mask, "direction": direction}
    fast = {p.queries: p for p in points(record, "flash", **case)}
    return {
        point.queries: paired(point, fast[point.queries])
        for point in points(record, slow, **case)
        if point.queries in fast and point.queries >= LENGTHS[0]
    }


def noise(record):
    """Flash against flash again, all cases: what no difference looks like.

    Returns
    -------
    (float, float)
        The ratio of medians that is furthest from 1, and its inverse, the
        smaller first: which of two equal runs stands on top is chance.

    Raises
    ------
    ValueError
        If the record has no second run of flash beside its first.
    """
    wanted = {"contestant": "flash", "status": "ok"}
    found = [
        paired(
            again, record.one(group=again.group, clock="right", **wanted)
        ).median
        for again in record.select(clock="again", **wanted)
    ]
    if not found:
        raise ValueError(
            f"{record.name}: no second run of flash, so its noise is unknown"
        )
    widest = max(*found, *(1 / one for one in found))
    return 1 / widest, widest


def draw_ratio(mask, direction, N, device=None):
    """Draw our ratios with their bands, and the published ones hollow.

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
    figure = Figure(figsize=(WIDTH, 4.6))
    ax = figure.add_axes([0.1, 0.315, 0.86, 0.6])
    ax.set_title(
        f"Times faster than naive, {shown_case(mask, direction)}", x=-0.11
    )
    ax.set(xscale="log", yscale="log", xlim=(200, 21000), ylim=(_LOW, _HIGH))
    ax.set_xticks(LENGTHS, [f"{n:,}" for n in LENGTHS])
    ticks = (1, 2, 3, 5, 10, 20)
    ax.set_yticks(ticks, [f"{t}×" for t in ticks])
    ax.minorticks_off()
    ax.set_xlabel("tokens N")
    ax.axvline(N, color=WEIGHT, lw=5, alpha=0.4, zorder=0.4)
    ax.axhspan(*noise(record), color=MUTED, alpha=0.35, lw=0, zorder=0.5)
    ax.axhline(1, color=MUTED, lw=0.8, zorder=0.6)
    for name, ink, stroke, marker in _OURS:
        found = measured_ratios(record, name, mask, direction)
        low, middle, high = (
            zip(
                *[(s.low, s.median, s.high) for s in found.values()],
                strict=True,
            )
            if found
            else ((), (), ())
        )
        ax.fill_between(list(found), low, high, color=ink, alpha=0.2, lw=0)
        style = {"color": ink, "marker": marker, "ms": 6, "mec": GROUND}
        ax.plot(list(found), middle, stroke, lw=1.8, **style)
    for name, marker in _HOLLOW:
        found = published_ratios(mask, direction, name, 64)
        style = {"color": INK, "marker": marker, "mfc": GROUND, "ms": 6}
        ax.plot(list(found), list(found.values()), ":", lw=1, **style)
    _write_key(figure, record, mask, direction, N)
    return figure


def say_ratio(mask, direction, N, device=None):
    """Say the ratios at N, ours and the published ones.

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
    name = name_of(record)
    ours = [
        f"{times(found[N].median)} times faster than {called} "
        f"({found[N].low:.1f} to {found[N].high:.1f})"
        for called, found in (
            ("naive", measured_ratios(record, "naive", mask, direction)),
            (
                "naive with memory kept",
                measured_ratios(
                    record, "naive, preallocated", mask, direction
                ),
            ),
        )
        if N in found
    ]
    theirs = [
        f"{device} {times(found[N])}"
        for device, _ in _HOLLOW
        if N in (found := published_ratios(mask, direction, device, 64))
    ]
    low, high = noise(record)
    told = (
        f"Published for FlashAttention-2 at this length, d = 64: "
        f"{listed(theirs)}."
        if theirs
        else "Nothing was published for this length and pass."
    )
    return (
        f"{shown_case(mask, direction).capitalize()}, {N:,} tokens. "
        f"{name}: flash is {listed(ours)}. {told} Flash against itself, "
        f"either way up, gave {low:.2f} to {high:.2f}."
    )


_OURS = (
    ("naive", OTHER, "-", "o"),
    ("naive, preallocated", KEY, "--", "v"),
)


def _write_key(figure, record, mask, direction, N):
    """Each line of the picture with its value at N."""
    name = name_of(record)
    rows = []
    for slow, ink, text in (
        ("naive", OTHER, f"● naive / flash, {name}"),
        ("naive, preallocated", KEY, "▼ the same, memory kept"),
    ):
        found = measured_ratios(record, slow, mask, direction)
        value = found[N].median if N in found else None
        rows.append((text, ink, value))
    for device, sign in (("A100", "○"), ("H100", "□")):
        found = published_ratios(mask, direction, device, 64)
        text = f"{sign} {device}, FlashAttention-2, published"
        rows.append((text, INK, found.get(N)))
    for i, (text, ink, value) in enumerate(rows):
        y = 0.175 - 0.045 * i
        figure.text(0.02, y, text, color=ink, fontsize=9)
        told = "none" if value is None else f"{times(value)}×"
        figure.text(0.98, y, told, color=INK, fontsize=9, ha="right")


ratio = Explorable("gpu-timing-ratio", draw_ratio, say_ratio, *case_sliders())
