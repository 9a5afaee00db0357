"""The most memory a call holds, and what counting predicts."""

from matplotlib.figure import Figure

from utils.explore import Explorable, Slider
from utils.explore.palette import GROUND, MUTED, WEIGHT
from utils.figures.drawing import WIDTH
from utils.figures.gpu_timing.evidence import (
    DIRECTIONS,
    SIGNS,
    common_lengths,
    name_of,
    points,
    the_record,
    times,
)
from utils.figures.gpu_timing.evidence import (
    memory as shown_bytes,
)
from utils.figures.gpu_timing.table import room, write_rows
from utils.figures.wording import listed
from utils.roofline import pass_bytes

SHOWN = ("naive", "math", "flash")
# Matrices of N × N numbers that naive attention holds at once.
MATRICES = {"forward": 2, "forward+backward": 3}


def peaks(record, contestant, direction):
    """Peak bytes along N, without a mask.

    Parameters
    ----------
    record : Record
    contestant, direction : str

    Returns
    -------
    dict of int to int
    """
    found = points(record, contestant, mask="none", direction=direction)
    return {p.queries: p.peak_bytes for p in found if p.peak_bytes}


def predicted(record, direction):
    """What naive attention must hold: its N × N matrices and no more.

    Parameters
    ----------
    record : Record
    direction : str

    Returns
    -------
    dict of int to int
    """
    found = points(record, "naive", mask="none", direction=direction)
    number = MATRICES[direction]
    return {p.queries: number * pass_bytes(p) for p in found}


def draw_memory(direction, N, device=None):
    """Draw the peaks against N, and the predicted line.

    Parameters
    ----------
    direction : str
    N : int
    device : str, optional

    Returns
    -------
    Figure
    """
    record = the_record(device)
    rows = {}
    foot = room(len(SHOWN)) + 0.5
    height = 2.95 + foot
    figure = Figure(figsize=(WIDTH, height))
    ax = figure.add_axes([0.17, foot / height, 0.78, 2.6 / height])
    ax.set_title(f"Peak memory, {DIRECTIONS[direction]}", x=-0.2)
    line = predicted(record, direction)
    ax.set(xscale="log", yscale="log", ylim=(1e5, 4e9))
    ax.set_xlim(min(line) / 1.35, max(line) * 1.35)
    ax.set_xticks(list(line), [f"{n:,}" for n in line])
    ax.set_yticks([2.0**20, 2.0**25, 2.0**30])
    ax.set_yticklabels(["1 MiB", "32 MiB", "1 GiB"])
    ax.minorticks_off()
    ax.set_xlabel("tokens N")
    ax.axvline(N, color=WEIGHT, lw=5, alpha=0.4, zorder=0.4)
    ax.plot(list(line), list(line.values()), color=MUTED, lw=1, zorder=1)
    for name in SHOWN:
        sign, found = SIGNS[name], peaks(record, name, direction)
        style = {"color": sign.ink, "marker": sign.marker, "mec": GROUND}
        ax.plot(list(found), list(found.values()), sign.stroke, ms=6, **style)
        if N in found:
            flash = peaks(record, "flash", direction)[N]
            rows[name] = (
                shown_bytes(found[N]),
                f"{times(found[N] / flash)}×",
            )
        else:
            rows[name] = ("not measured", "")
    heads = (f"at N = {N:,}", "of flash’s")
    write_rows(figure, rows, heads, (0.7, 0.95))
    return figure


def say_memory(direction, N, device=None):
    """Say the peaks at N, and what was predicted.

    Parameters
    ----------
    direction : str
    N : int
    device : str, optional

    Returns
    -------
    str
    """
    record = the_record(device)
    every = {name: peaks(record, name, direction) for name in SHOWN}
    found = {name: row[N] for name, row in every.items() if N in row}
    told = [f"{SIGNS[k].name} {shown_bytes(v)}" for k, v in found.items()]
    fewer = times(found["naive"] / found["flash"])
    counted = shown_bytes(predicted(record, direction)[N])
    return (
        f"{name_of(record)}, "
        f"{DIRECTIONS[direction]}, {N:,} tokens: {listed(told)}. Flash holds "
        f"{fewer} times less than naive. {MATRICES[direction]} matrices of "
        f"N × N numbers, the thin line, are {counted}."
    )


def _sliders():
    texts, every = list(DIRECTIONS.values()), common_lengths()
    yield Slider("direction", list(DIRECTIONS), label="pass", texts=texts)
    text = "{:,}".format
    yield Slider("N", every, every[-1], label="tokens", texts=text)


memory = Explorable("gpu-timing-memory", draw_memory, say_memory, *_sliders())
