"""Predict naive attention's time from three numbers, then see the bar."""

from matplotlib.figure import Figure

from utils.explore import Explorable, Slider
from utils.explore.palette import GRID, GROUND, INK, KEY, MUTED, OTHER, QUERY
from utils.figures.drawing import WIDTH, write
from utils.figures.gpu_timing.evidence import (
    DIRECTIONS,
    duration,
    published,
)
from utils.figures.wording import listed
from utils.roofline import (
    DATA_SHEETS,
    Peaks,
    naive_flops,
    pass_bytes,
    predicted_seconds,
    seconds,
)

N = 4096
MATMUL = (65, 312, 989, 2250)  # TFLOP/s
MEMORY = (0.32, 2.0, 3.35, 4.8, 8.0)  # TB/s
PASSES = {
    "forward": (4, 5, 5.5, 6, 8),
    "forward+backward": (12, 15, 16, 17, 20),
}
_LOW, _HIGH = 1e-4, 3


def cards(matmul, memory):
    """The cards whose data sheet has these two peaks.

    Parameters
    ----------
    matmul : float
        TFLOP/s, 16-bit.
    memory : float
        TB/s.

    Returns
    -------
    list of str

    Examples
    --------
    >>> cards(989, 4.8)
    ['H200']
    """
    return [
        name
        for name, sheet in DATA_SHEETS.items()
        if (sheet.matmul, sheet.memory) == (matmul * 1e12, memory * 1e12)
    ]


def bars(direction, card=None):
    """The published bars of naive attention at N = 4,096, no mask, by d.

    Parameters
    ----------
    direction : str
    card : str, optional
        How the device's name starts; any, if not said.

    Returns
    -------
    dict of int to Point
        Without a card, of the H100.
    """
    return {
        p.d: p
        for p in published()
        if (p.contestant, p.queries, p.mask) == ("naive", N, "none")
        and (p.direction, p.quantity) == (direction, "TFLOP/s")
        and p.d in (64, 128)
        and p.device.startswith(card or "H100")
    }


def draw_predict(direction, matmul, memory, passes, reveal):
    """Draw the predicted times of both head widths, then the published.

    Parameters
    ----------
    direction : str
    matmul, memory : float
        TFLOP/s and TB/s.
    passes : float
    reveal : bool

    Returns
    -------
    Figure
    """
    peaks = Peaks("mine", matmul * 1e12, memory * 1e12, 1.0)
    figure = Figure(figsize=(WIDTH, 3.9))
    ax = figure.add_axes([0.16, 0.36, 0.8, 0.53])
    ax.set_title(f"Naive attention, {DIRECTIONS[direction]}", x=-0.19)
    ax.set(xscale="log", xlim=(_LOW, _HIGH), ylim=(2, 0))
    ax.set_xticks([1e-4, 1e-3, 1e-2, 1e-1, 1])
    ax.set_xticklabels(["0.1 ms", "1 ms", "10 ms", "100 ms", "1 s"])
    ax.set_yticks([0.5, 1.5], ["d = 64", "d = 128"])
    ax.tick_params(axis="y", length=0)
    ax.minorticks_off()
    ax.grid(axis="x", color=GRID, lw=0.6)
    ax.set_axisbelow(True)
    ax.axhline(1, color=GRID, lw=0.8)
    seen = _revealed(direction, matmul, memory) if reveal else {}
    for i, (d, point) in enumerate(bars(direction).items()):
        time = predicted_seconds(point, peaks, passes)
        parts = _parts(point, peaks, passes)
        y = i + 0.36
        for part, ink in zip(parts, (QUERY, KEY), strict=True):
            ax.plot([part] * 2, [y - 0.16, y + 0.16], color=ink, lw=3)
        ax.plot(time, y, "o", color=OTHER, ms=10, mec=GROUND, zorder=4)
        write(ax, time * 1.35, y, duration(time), OTHER, ha="left")
        for shown in seen.get(d, ()):
            y = i + 0.74
            found = seconds(shown)
            style = {"mfc": GROUND, "color": INK, "ms": 9, "mew": 1.6}
            ax.plot(found, y, "o", **style)
            text = f"{duration(found)}, published"
            write(ax, found * 1.35, y, text, ha="left")
    names = listed(cards(matmul, memory)) if cards(matmul, memory) else "none"
    rows = (
        ("● predicted: products and passes, one after the other", OTHER),
        ("┃ matrix products alone", QUERY),
        (f"┃ {passes:g} passes over the N × N scores alone", KEY),
        (f"A card with these two peaks: {names}", MUTED),
    )
    for i, (text, ink) in enumerate(rows):
        y = 0.185 - 0.05 * i
        figure.text(0.02, y, text, color=ink, fontsize=9)
    return figure


def say_predict(direction, matmul, memory, passes, reveal):
    """Say the predictions, and how the published bars compare.

    Parameters
    ----------
    direction : str
    matmul, memory : float
    passes : float
    reveal : bool

    Returns
    -------
    str
    """
    peaks = Peaks("mine", matmul * 1e12, memory * 1e12, 1.0)
    mine = {
        d: predicted_seconds(point, peaks, passes)
        for d, point in bars(direction).items()
    }
    told = [f"{duration(t)} for d = {d}" for d, t in mine.items()]
    text = (
        f"{matmul:,} TFLOP/s, {memory:g} TB/s, {passes:g} passes, {N:,} "
        f"tokens: predicted {listed(told)}."
    )
    if not reveal:
        return text
    seen = _revealed(direction, matmul, memory)
    if not seen:
        names = cards(matmul, memory)
        who = listed(names) if names else "a card with these two peaks"
        return f"{text} No bar of {who} was published for this pass."
    for d, found in seen.items():
        (point,) = found
        off = mine[d] / seconds(point)
        text += (
            f" Published for {point.device}, d = {d}: "
            f"{duration(seconds(point))}; predicted is {off:.2f} of it."
        )
    return text


def _revealed(direction, matmul, memory):
    found = {}
    for card in cards(matmul, memory):
        for d, point in bars(direction, card).items():
            found.setdefault(d, []).append(point)
    return found


def _parts(point, peaks, passes):
    """Seconds of the products alone, and of the passes alone."""
    products = naive_flops(point) / peaks.matmul
    return products, passes * pass_bytes(point) / peaks.memory


def _sliders():
    texts = list(DIRECTIONS.values())
    yield Slider("direction", list(DIRECTIONS), label="pass", texts=texts)
    yield Slider(
        "matmul",
        MATMUL,
        989,
        label="matrix products",
        texts="{:,} TFLOP/s".format,
    )
    text = "{:g} TB/s".format
    yield Slider("memory", MEMORY, 2.0, texts=text)
    yield Slider(
        "passes",
        {key: list(values) for key, values in PASSES.items()},
        {"forward": 5, "forward+backward": 15},
        given="direction",
        label="passes over the scores",
    )
    yield Slider("reveal", [False, True], label="show the published bar")


predict = Explorable(
    "gpu-timing-predict", draw_predict, say_predict, *_sliders()
)
