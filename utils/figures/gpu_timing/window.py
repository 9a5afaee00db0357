"""Time against the share of pairs that a mask keeps."""

from matplotlib.figure import Figure

from utils.explore import Explorable
from utils.explore.palette import GRID, GROUND, KEY, MUTED, QUERY, VALUE
from utils.figures.drawing import WIDTH
from utils.figures.gpu_timing.evidence import (
    duration,
    name_of,
    the_record,
)
from utils.figures.gpu_timing.table import STEP
from utils.figures.wording import listed
from utils.roofline import average_keys

SHOWN = {
    "flash": (VALUE, "s", "■ flash"),
    "flash, dense mask": (KEY, "v", "▼ flash, mask as a tensor"),
    "flex": (QUERY, "X", "✖ FlexAttention, block mask"),
}


def by_share(record, contestant):
    """Times by the share of pairs that the mask keeps.

    Parameters
    ----------
    record : Record
    contestant : str

    Returns
    -------
    dict of float to Point
        From the fewest pairs on.
    """
    found = record.select(
        experiment="window", contestant=contestant, status="ok"
    )
    shares = {average_keys(p) / p.keys: p for p in found}
    return dict(sorted(shares.items()))


def draw_window(device=None):
    """Draw each program's time against the share of pairs kept.

    Parameters
    ----------
    device : str, optional

    Returns
    -------
    Figure
    """
    record = the_record(device)
    figure = Figure(figsize=(WIDTH, 4.1))
    ax = figure.add_axes([0.15, 0.33, 0.8, 0.57])
    found = {name: by_share(record, name) for name in SHOWN}
    (N,) = {p.queries for row in found.values() for p in row.values()}
    ax.set_title(f"Time against pairs kept, N = {N:,}", x=-0.17)
    ax.set(xscale="log", yscale="log", xlim=(0.012, 1.3))
    ax.set_xlabel("share of pairs that the mask keeps")
    shares = sorted({s for row in found.values() for s in row})
    ax.set_xticks([0.02, 0.05, 0.1, 0.2, 0.5, 1])
    ax.set_xticklabels(["2 %", "5 %", "10 %", "20 %", "50 %", "100 %"])
    times_ms = [
        p.seconds.median for row in found.values() for p in row.values()
    ]
    ax.set_ylim(min(times_ms) / 1.6, max(times_ms) * 1.6)
    ticks = [
        t
        for t in (0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 3)
        if min(times_ms) / 1.6 < t < max(times_ms) * 1.6
    ]
    ax.set_yticks(ticks, [duration(t) for t in ticks])
    ax.minorticks_off()
    ax.grid(color=GRID, lw=0.5)
    ax.set_axisbelow(True)
    widest = max(found["flex"])
    most = found["flex"][widest].seconds.median
    line = [most * share / widest for share in shares]
    ax.plot(shares, line, ":", color=MUTED, lw=1.2)
    for name, (ink, marker, _) in SHOWN.items():
        row = found[name]
        y = [p.seconds.median for p in row.values()]
        style = {"color": ink, "marker": marker, "ms": 7, "mec": GROUND}
        ax.plot(list(row), y, lw=1.6, **style)
    lines = [(text, ink) for ink, _, text in SHOWN.values()]
    lines.append(
        ("····· in proportion to the pairs, from flex at its most", MUTED)
    )
    for i, (text, ink) in enumerate(lines):
        y = (STEP * (len(lines) - 1 - i) + 0.1) / 4.1
        figure.text(0.02, y, text, color=ink, fontsize=9)
    return figure


def say_window(device=None):
    """Say what the narrowest window gains, and by which program.

    Parameters
    ----------
    device : str, optional

    Returns
    -------
    str
    """
    record = the_record(device)
    found = {name: by_share(record, name) for name in SHOWN}
    told = []
    for name, row in found.items():
        each = [
            f"{duration(p.seconds.median)} at {100 * share:.1f} %"
            for share, p in row.items()
        ]
        told.append(f"{SHOWN[name][2][2:]} {listed(each)}")
    device = name_of(record)
    return f"{device}, by the share of pairs kept: {'; '.join(told)}."


window = Explorable("gpu-timing-window", draw_window, say_window)
