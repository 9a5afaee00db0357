"""The whole calculation with its shapes, on one page."""

from utils.explore import Explorable
from utils.explore.palette import GROUND, INK, KEY, MUTED, QUERY, VALUE, WEIGHT
from utils.figures.drawing import add_cell, blank_page, write

# Each box: its middle, the step it belongs to, words, shape, colour.
BOXES = (
    ((2.72, 0.35), 1, "input X", "N × d_model", INK),
    ((1.12, 1.6), 2, "Q = X W_Q", "N × dₖ", QUERY),
    ((2.72, 1.6), 2, "K = X W_K", "N × dₖ", KEY),
    ((4.02, 1.6), 2, "V = X W_V", "N × dᵥ", VALUE),
    ((1.92, 2.55), 3, "scores QKᵀ", "N × N", INK),
    ((1.92, 3.3), 4, "scaled scores ÷ √dₖ", "N × N", INK),
    ((1.92, 4.05), 5, "mask, if there is one", "N × N", INK),
    ((1.92, 4.8), 6, "softmax: weights A", "N × N", WEIGHT),
    ((1.92, 5.65), 7, "output A V", "N × dᵥ", INK),
)


def draw_flow():
    """Draw the seven steps as boxes, each with the shape of what it makes.

    Returns
    -------
    Figure
    """
    figure, axes = blank_page(6.05)
    projections = zip(
        (1.12, 2.72, 4.02),
        ("W_Q", "W_K", "W_V"),
        ("d_model × dₖ", "d_model × dₖ", "d_model × dᵥ"),
        (QUERY, KEY, VALUE),
        strict=True,
    )
    for x, matrix, shape, ink in projections:
        _draw_arrow(axes, (2.72, 0.6), (2.72, 0.75), (x, 0.75), (x, 1.33))
        add_cell(axes, (x - 0.3, 0.84), 0.6, 0.37, fc=GROUND, lw=0, zorder=3)
        write(axes, x, 0.93, matrix, ink, zorder=4)
        write(axes, x, 1.12, shape, MUTED, zorder=4)
    for x in (1.12, 2.72):
        _draw_arrow(axes, (x, 1.85), (x, 2.05), (1.92, 2.05), (1.92, 2.28))
    for top in (2.8, 3.55, 4.3, 5.05):
        low = 5.38 if top > 5 else top + 0.23
        _draw_arrow(axes, (1.92, top), (1.92, low))
    axes.plot((4.02, 4.02, 2.86), (1.85, 5.65, 5.65), color=VALUE, lw=1.2)
    axes.plot(2.9, 5.65, "<", color=VALUE, ms=5)
    for (x, y), step, words, shape, ink in BOXES:
        half = {1: 0.6, 2: 0.56}.get(step, 0.88)
        box = {"fc": GROUND, "ec": ink, "lw": 1.6}
        add_cell(axes, (x - half, y - 0.25), 2 * half, 0.5, zorder=3, **box)
        dark = INK if ink == WEIGHT else ink
        write(axes, x, y - 0.1, words, dark, zorder=4)
        write(axes, x, y + 0.11, shape, MUTED, zorder=4)
    first = {step: y for (_, y), step, *_ in reversed(BOXES)}
    for step, y in first.items():
        write(axes, 0.12, y, f"{step}.", MUTED, ha="left", size=10, bold=True)
    return figure


def say_flow():
    """Say the seven steps with their shapes."""
    return (
        "X, N × d_model, is multiplied by W_Q, W_K and W_V into Q and K, "
        "N × dₖ, and V, N × dᵥ. QKᵀ gives the scores, N × N; they are divided "
        "by √dₖ, masked if need be, and softmax of each row makes them the "
        "weights A, still N × N. A V is the output, N × dᵥ."
    )


def _draw_arrow(axes, *corners):
    axes.plot(*zip(*corners, strict=True), color=MUTED, lw=1.2)
    x, y = corners[-1]
    axes.plot(x, y - 0.02, "v", color=MUTED, ms=5)


flow = Explorable("weighted-sum-flow", draw_flow, say_flow)
