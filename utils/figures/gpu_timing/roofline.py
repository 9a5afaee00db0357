"""Three roofs: matrix products, bytes and exponentials; who sits where."""

import numpy as np
from matplotlib.figure import Figure

from utils.explore import Explorable, Slider
from utils.explore.palette import GROUND, INK, KEY, MUTED, OTHER, QUERY, VALUE
from utils.figures.drawing import WIDTH, write
from utils.figures.gpu_timing.evidence import (
    DIRECTIONS,
    common_lengths,
    measured,
    points,
    published,
    short_device,
    the_record,
)
from utils.roofline import (
    Peaks,
    data_sheet,
    exponentials,
    flops,
    least_bytes,
    pass_bytes,
    seconds,
)

# Passes by which naive attention's bytes are counted (see passes.py).
PASSES = {"forward": 6, "forward+backward": 17}
SHEETS = {"H100": "H100 SXM5", "A100": "A100 80GB SXM"}


def pair(where, direction, N, d=64):
    """Naive and fused attention on a device, and the device's peaks.

    Parameters
    ----------
    where : str
        A recorded device, or H100 or A100 for the published bars.
    direction : str
    N : int
    d : int, optional

    Returns
    -------
    naive, fused : Point or None
    peaks : Peaks
    """
    if where in SHEETS:
        found = {
            p.contestant: p
            for p in published()
            if p.device == SHEETS[where]
            and (p.mask, p.direction) == ("none", direction)
            and (p.queries, p.d, p.status) == (N, d, "ok")
            and p.quantity == "TFLOP/s"
        }
        peaks = data_sheet(SHEETS[where])
        return found.get("naive"), found.get("FlashAttention-2"), peaks
    record = the_record(where)
    case = {"mask": "none", "direction": direction, "d": d}
    naive, fused = (
        next(iter(points(record, name, N, **case)), None)
        for name in ("naive", "flash")
    )
    return naive, fused, Peaks.measured(record, fused.dtype)


def place(point, moved):
    """Where a point stands under the roofs.

    Parameters
    ----------
    point : Point
    moved : float
        Bytes to and from the memory.

    Returns
    -------
    intensity, rate : float
        FLOP for each byte, and FLOP in a second; credited FLOP.
    """
    return flops(point) / moved, flops(point) / seconds(point)


def moved_bytes(naive, direction):
    """Bytes that naive and fused attention move, counted.

    Returns
    -------
    naive, fused : float
    """
    least = least_bytes(naive)
    return least + PASSES[direction] * pass_bytes(naive), least


def draw_roofline(direction, where, N):
    """Draw the three roofs and the way from naive to fused under them.

    Parameters
    ----------
    direction, where : str
    N : int

    Returns
    -------
    Figure
    """
    naive, fused, peaks = pair(where, direction, N)
    moved = moved_bytes(naive, direction)
    by_exponentials = (
        flops(naive) / exponentials(naive) * peaks.exponentials / peaks.matmul
    )
    figure = Figure(figsize=(WIDTH, 4.7))
    ax = figure.add_axes([0.17, 0.325, 0.78, 0.585])
    ax.set_title(f"Under three roofs: {short_device(where)}", x=-0.2)
    ax.set(xscale="log", yscale="log", xlim=(1, 1e4), ylim=(0.006, 9))
    ax.set_xticks([1, 10, 100, 1e3, 1e4], ["1", "10", "100", "1,000", "10⁴"])
    ax.set_yticks([0.01, 0.1, 1], ["1 %", "10 %", "100 %"])
    ax.minorticks_off()
    ax.set_xlabel("FLOP for each byte that is moved")
    ax.set_ylabel("share of the matrix peak")
    x = np.array([1, 1e4])
    ax.plot(x, [1, 1], color=QUERY, lw=1.8)
    write(ax, 9000, 1.35, "matrix products", QUERY, ha="right")
    ax.plot(x, x * peaks.memory / peaks.matmul, color=KEY, lw=1.8)
    ax.plot(x, [by_exponentials] * 2, "--", color=MUTED, lw=1.8)
    marks = ((naive, moved[0], OTHER, "o"), (fused, moved[1], VALUE, "s"))
    places = []
    for point, size, ink, marker in marks:
        at, rate = place(point, size)
        places.append((at, rate / peaks.matmul))
        style = {"color": ink, "ms": 9, "mec": GROUND, "zorder": 5}
        if point.kind == "published":
            style |= {"mfc": GROUND, "mec": ink, "mew": 1.8}
        ax.plot(*places[-1], marker, **style)
    arrow = {"arrowstyle": "-|>", "color": INK, "lw": 1}
    arrow |= {"shrinkA": 7, "shrinkB": 7}
    ax.annotate("", places[1], places[0], arrowprops=arrow)
    rows = (
        ("—— matrix products, their peak", QUERY, _rate(peaks.matmul)),
        ("—— bytes: memory’s peak", KEY, _speed(peaks.memory)),
        (
            "– – exponentials, at this d",
            MUTED,
            _rate(by_exponentials * peaks.matmul),
        ),
        ("● naive reaches", OTHER, _rate(places[0][1] * peaks.matmul)),
        ("■ flash reaches", VALUE, _rate(places[1][1] * peaks.matmul)),
    )
    for i, (text, ink, value) in enumerate(rows):
        y = 0.178 - 0.04 * i
        figure.text(0.02, y, text, color=ink, fontsize=9)
        figure.text(0.98, y, value, color=INK, fontsize=9, ha="right")
    return figure


def say_roofline(direction, where, N):
    """Say the roofs, and what naive and flash reach of them.

    Parameters
    ----------
    direction, where : str
    N : int

    Returns
    -------
    str
    """
    naive, fused, peaks = pair(where, direction, N)
    moved = moved_bytes(naive, direction)
    told = []
    for name, point, size in (
        ("naive", naive, moved[0]),
        ("flash", fused, moved[1]),
    ):
        at, rate = place(point, size)
        roof = min(at * peaks.memory, peaks.matmul)
        told.append(
            f"{name} does {at:,.0f} FLOP a byte and reaches {_rate(rate)}, "
            f"{100 * rate / roof:.0f} % of the roof above it"
        )
    source = "published" if naive.kind == "published" else "recorded"
    return (
        f"{short_device(where)}, {source}, {DIRECTIONS[direction]}, "
        f"{N:,} tokens, d = 64: {'; '.join(told)}. The matrix peak is "
        f"{_rate(peaks.matmul)}, the memory’s {_speed(peaks.memory)}."
    )


def _rate(value):
    """A rate of FLOP in the unit that fits.

    >>> _rate(7.2e13), _rate(1.2e12), _rate(1.07e11)
    ('72 TFLOP/s', '1.2 TFLOP/s', '107 GFLOP/s')
    """
    if value >= 1e12:
        digits = 1 if value < 1e13 else 0
        return f"{value / 1e12:.{digits}f} TFLOP/s"
    return f"{value / 1e9:.0f} GFLOP/s"


def _speed(value):
    """A rate of bytes in the unit that fits.

    >>> _speed(3.35e12), _speed(1.2e10)
    ('3.35 TB/s', '12 GB/s')
    """
    if value >= 1e12:
        return f"{value / 1e12:.2f} TB/s"
    return f"{value / 1e9:.0f} GB/s"


def _sliders():
    devices = list(measured())
    where = {
        "forward": [*devices, "H100"],
        "forward+backward": [*devices, "H100", "A100"],
    }
    texts = list(DIRECTIONS.values())
    yield Slider("direction", list(where), label="pass", texts=texts)
    texts = {
        key: [_called(name) for name in names] for key, names in where.items()
    }
    yield Slider(
        "where", where, label="device", texts=texts, given="direction"
    )
    every = [N for N in common_lengths() if N >= 512]
    text = "{:,}".format
    yield Slider("N", every, every[-1], label="tokens", texts=text)


def _called(name):
    kind = "published" if name in SHEETS else "recorded"
    return f"{short_device(name)}, {kind}"


roofline = Explorable(
    "gpu-timing-roofline", draw_roofline, say_roofline, *_sliders()
)
