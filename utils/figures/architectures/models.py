"""BERT, GPT-2 and the original Transformer as three stacks of blocks."""

import numpy as np

from utils.explore import Explorable
from utils.explore.palette import (
    GRID,
    GROUND,
    INK,
    MUTED,
    OTHER,
    QUERY,
)
from utils.figures.drawing import add_cell, blank_page, write

_WIDE = 0.92
_TALL = {
    "self": 0.66,
    "cross": 0.66,
    "feed": 0.3,
    "norm": 0.23,
    "add": 0.23,
    "add+norm": 0.23,
    "end": 0.27,
}
_TEXT = {
    "self": "self-attention",
    "cross": "cross-att.",
    "feed": "feed-forward",
    "norm": "norm",
    "add": "add",
    "add+norm": "add, norm",
}
_SELF, _CROSS, _FEED = (
    (kind, "add+norm") for kind in ("self", "cross", "feed")
)
_PRE = ("norm", "self", "add", "norm", "feed", "add")

# Each stack: what goes in, one layer from the bottom up, what is put on top
# of all layers, what comes out, how many layers, and the kind of its mask.
STACKS = {
    "BERT": ("all tokens", _SELF + _FEED, (), "hidden tokens", 12, "all"),
    "GPT-2": ("tokens so far", _PRE, ("norm",), "next token", 12, "causal"),
    "encoder": ("source", _SELF + _FEED, (), "", 6, "all"),
    "decoder": (
        "target so far",
        _SELF + _CROSS + _FEED,
        (),
        "next token",
        6,
        "causal",
    ),
}
_CENTRES = dict(zip(STACKS, (0.63, 1.79, 2.95, 4.13), strict=True))
_FLOOR, _HEIGHT = 4.3, 5.25


def draw_models():
    """Draw the stacks side by side, with the mask of each attention.

    Returns
    -------
    Figure
    """
    figure, axes = blank_page(_HEIGHT)
    tops = {name: _draw_stack(axes, name) for name in STACKS}
    for name, x, kind, year in (
        ("BERT (base)", _CENTRES["BERT"], "post-norm", "encoder only"),
        ("GPT-2 (small)", _CENTRES["GPT-2"], "pre-norm", "decoder only"),
        ("Transformer (base)", 3.54, "post-norm", "encoder and decoder"),
    ):
        write(axes, x, 0.16, name, size=10, bold=True)
        write(axes, x, 0.35, year, MUTED)
        write(axes, x, 0.52, kind, MUTED)
    # the last vectors of the encoder are the source of the decoder
    top, cross = tops["encoder"]["top"], tops["decoder"]["cross"]
    x, left = _CENTRES["encoder"], _CENTRES["decoder"] - _WIDE / 2
    path = [(x, top), (x, top - 0.16), (3.535, top - 0.16), (3.535, cross)]
    axes.plot(*zip(*path, strict=True), color=OTHER, lw=1.6)
    _arrow(axes, (3.535, cross), (left, cross), OTHER)
    for i, note in enumerate(
        (
            "small squares: who (row) may attend to whom (column)",
            "thin line beside a block: the residual, added to what comes out",
        )
    ):
        write(axes, 0.1, 4.9 + 0.18 * i, note, MUTED, ha="left")
    return figure


def say_models():
    """Say what the three models share and where they differ."""
    return (
        "BERT is a stack of 12 encoder layers: self-attention with every "
        "token allowed, then a feed-forward network, each followed by a "
        "residual sum and LayerNorm. GPT-2 is a stack of 12 decoder layers "
        "with a causal mask, and LayerNorm before each block. The original "
        "Transformer has 6 encoder layers and 6 decoder layers; the decoder "
        "has a causal self-attention and a cross-attention that reads the "
        "encoder’s last vectors."
    )


def _draw_stack(axes, name):
    below, layer, above, out, count, mask = STACKS[name]
    x, y, found, gap = _CENTRES[name], _FLOOR, {}, 0.11
    right = name == "decoder"
    write(axes, x, y + 0.34, below, MUTED)
    _draw_box(axes, x, y, "end", "+ positions", GRID)
    y -= _TALL["end"] / 2
    if name == "BERT":
        y = _next_box(axes, x, y, gap, "norm")
    frame = y - 0.07
    start = y - gap * 0.5
    for kind in layer:
        tall = _TALL[kind]
        low, y = y - gap, y - gap - tall
        middle = (low + y) / 2
        _arrow(axes, (x, low + gap), (x, low), INK)
        if kind.startswith("add"):
            _draw_residual(axes, x, start, middle, right)
        fill = (
            QUERY if kind == "self" else OTHER if kind == "cross" else GROUND
        )
        _draw_box(axes, x, middle, kind, _TEXT[kind], fill)
        if kind in ("self", "cross"):
            kind_of_mask = mask if kind == "self" else "cross"
            _draw_mask(axes, x, middle + 0.13, kind_of_mask, fill)
        found[kind] = middle
        if kind.startswith("add"):
            start = y - gap * 0.5
    side, tall = _WIDE / 2 + 0.1, frame - y + 0.07
    corner = (x - side, y - 0.07)
    add_cell(
        axes, corner, 2 * side, tall, fill=False, ec=GRID, lw=1.2, zorder=0
    )
    y -= 0.07
    write(axes, x - side, y - 0.1, f"× {count}", ha="left", bold=True)
    for kind in above:
        y = _next_box(axes, x, y, 0.19, kind)
    found["top"] = y
    if out:
        _arrow(axes, (x, y), (x, y - 0.19), INK)
        write(axes, x, y - 0.28, out, MUTED)
    return found


def _next_box(axes, x, y, gap, kind):
    _arrow(axes, (x, y), (x, y - gap), INK)
    middle = y - gap - _TALL[kind] / 2
    _draw_box(axes, x, middle, kind, _TEXT[kind], GROUND)
    return middle - _TALL[kind] / 2


def _draw_box(axes, x, y, kind, text, fill):
    tall = _TALL[kind]
    corner = (x - _WIDE / 2, y - tall / 2)
    add_cell(axes, corner, _WIDE, tall, fc=GROUND, lw=0, zorder=2)
    alpha = 0.18 if fill in (QUERY, OTHER) else 1
    add_cell(axes, corner, _WIDE, tall, fc=fill, alpha=alpha, lw=0, zorder=2)
    edge = fill if fill in (QUERY, OTHER) else MUTED
    add_cell(axes, corner, _WIDE, tall, fill=False, ec=edge, lw=1, zorder=3)
    lift = 0.2 if kind in ("self", "cross") else 0
    write(axes, x, y - lift, text, zorder=4)


def _draw_residual(axes, x, start, end, right):
    side = (_WIDE / 2 + 0.05) * (1 if right else -1)
    edge = (_WIDE / 2) * (1 if right else -1)
    path = [(x, start), (x + side, start), (x + side, end), (x + edge, end)]
    axes.plot(*zip(*path, strict=True), color=MUTED, lw=1, zorder=1)


def _draw_mask(axes, x, y, kind, ink):
    mask = {
        "all": np.ones((4, 4), bool),
        "causal": np.tri(4, dtype=bool),
        "cross": np.ones((4, 5), bool),
    }[kind]
    N, M = mask.shape
    size = 0.085
    left, top = x - M * size / 2, y - N * size / 2
    for (i, j), may in np.ndenumerate(mask):
        corner = (left + j * size, top + i * size)
        fill = ink if may else GROUND
        add_cell(
            axes, corner, size, size, fc=fill, ec=GROUND, lw=0.6, zorder=4
        )
    corner = (left, top)
    edge = {"ec": MUTED, "lw": 0.6, "zorder": 5}
    add_cell(axes, corner, M * size, N * size, fill=False, **edge)


def _arrow(axes, start, end, ink):
    style = {"arrowstyle": "-|>", "color": ink, "lw": 1}
    style |= {"shrinkA": 0, "shrinkB": 0, "mutation_scale": 7}
    axes.annotate("", end, start, arrowprops=style, zorder=3)


models = Explorable("architectures-models", draw_models, say_models)
