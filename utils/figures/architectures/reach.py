"""Of which tokens one token has heard, layer by layer."""

import numpy as np

from utils.explore import Explorable, Slider
from utils.explore.palette import GRID, INK, KEY, MUTED, OTHER, QUERY
from utils.figures.architectures.cells import fill_cells
from utils.figures.architectures.example import (
    ARCHITECTURES,
    BOTH,
    NARROW_ENCODER,
    SOURCE,
    first_heard,
    may_attend,
    names_of,
)
from utils.figures.drawing import add_cell, blank_page, write
from utils.figures.wording import counted, listed

MOST_LAYERS = 4
_LEFT, _RIGHT = 1.02, 4.7
_FLOOR, _RISE, _TOP, _BOTTOM = 1.95, 0.36, 2.9, 5.375


def cone(architecture, asking, layers):
    """Follow the asking token's last vector down to where it comes from.

    Parameters
    ----------
    architecture : str
    asking : int
    layers : int
        Of the stack; an encoder-decoder has as many on both sides.

    Returns
    -------
    nodes : set of (int, int)
        Tokens and layers whose vectors went into it.
    edges : list of list
        For each layer from 1 on, pairs of nodes: who asked, who was asked.
    """
    mask = may_attend(architecture)
    n = len(SOURCE) if architecture == BOTH else len(mask)
    nodes, waiting = set(), [(asking, layers)]
    edges = [[] for _ in range(MOST_LAYERS)]
    while waiting:
        token, layer = node = waiting.pop()
        if node in nodes:
            continue
        nodes.add(node)
        if layer == 0:
            continue
        for asked in np.flatnonzero(mask[token]).tolist():
            # the decoder reads what the encoder's last layer gave
            crosses = token >= n > asked
            below = (asked, layers if crosses else layer - 1)
            edges[layer - 1].append((node, below))
            waiting.append(below)
    return nodes, [sorted(row) for row in edges]


def draw_reach(architecture, layers, asking):
    """Draw whom a token has heard of, as a cone and as a matrix.

    Parameters
    ----------
    architecture : str
        One of ARCHITECTURES.
    layers, asking : int

    Returns
    -------
    Figure
    """
    names, first = (
        names_of(architecture),
        first_heard(may_attend(architecture)),
    )
    N = len(names)
    step, tall = (_RIGHT - _LEFT) / N, (_BOTTOM - _TOP) / N
    figure, axes = blank_page(6.0)
    title = f"{_HEADS[architecture]}: “{names[asking]}” after"
    title = f"{title} {counted(layers, 'layer')}"
    write(axes, 0.1, 0.15, title, ha="left", size=10)
    _draw_cone(axes, architecture, layers, asking, step)
    xs, ys = (
        np.linspace(_LEFT, _RIGHT, N + 1),
        np.linspace(_TOP, _BOTTOM, N + 1),
    )
    heard = (first >= 0) & (first <= layers)
    crossed = np.zeros((N, N), bool)
    if architecture == BOTH:
        crossed[len(SOURCE) :, : len(SOURCE)] = True
    inks = [OTHER if crosses else KEY for crosses in crossed.flat]
    fill_cells(axes, xs, ys, inks, 0.28 * heard)
    for (i, j), layer in np.ndenumerate(first):
        text = "–" if layer < 0 else str(layer)
        ink = INK if heard[i, j] else MUTED
        write(axes, xs[j] + step / 2, ys[i] + tall / 2, text, ink)
    for i, name in enumerate(names):
        x, y = _LEFT + (i + 0.5) * step, _TOP + (i + 0.5) * tall
        write(axes, x, _TOP - 0.06, name, KEY, rotation=90, va="bottom")
        bold = i == asking
        write(axes, _LEFT - 0.08, y, name, QUERY, ha="right", bold=bold)
    corner, style = (_LEFT, ys[asking]), {"ec": INK, "lw": 2, "zorder": 3}
    add_cell(axes, corner, _RIGHT - _LEFT, tall, fill=False, **style)
    notes = _NOTES + (_CROSSED if architecture == BOTH else ())
    for i, note in enumerate(notes):
        write(axes, 0.1, _BOTTOM + 0.17 * (i + 1), note, MUTED, ha="left")
    return figure


def say_reach(architecture, layers, asking):
    """Say of whom the token has heard."""
    names = names_of(architecture)
    first = first_heard(may_attend(architecture))[asking]
    heard = [
        i for i, n in enumerate(first) if 0 <= n <= layers and i != asking
    ]
    later = [i for i, n in enumerate(first) if n > layers]
    never = [i for i, n in enumerate(first) if n < 0]
    parts = [_said(names, heard) if heard else "itself alone"]
    if later:
        parts.append(f"more layers would add {_said(names, later)}")
    if never:
        parts.append(f"it will never hear of {_said(names, never)}")
    return (
        f"{_HEADS[architecture]}: after {counted(layers, 'layer')}, "
        f"“{_said(names, [asking])}” has heard of {'; '.join(parts)}."
    )


def _said(names, places):
    """Names, with a number where a name comes twice."""
    return listed(
        names[i] if names.count(names[i]) == 1 else f"{names[i]} ({i + 1})"
        for i in places
    )


def _draw_cone(axes, architecture, layers, asking, step):
    names = names_of(architecture)
    n = len(SOURCE) if architecture == BOTH else len(names)
    nodes, edges = cone(architecture, asking, layers)

    def place(node):
        token, layer = node
        # the decoder stands half a step higher, to keep its lines apart
        lift = layer + (0.5 if token >= n else 0)
        return _LEFT + (token + 0.5) * step, _FLOOR - _RISE * lift

    for crosses, ink, style in ((False, KEY, "-"), (True, OTHER, "--")):
        for row in edges:
            line = [(np.nan, np.nan)]
            for one, other in row:
                if (one[0] >= n > other[0]) is crosses:
                    line += [place(one), place(other), (np.nan, np.nan)]
            axes.plot(*zip(*line, strict=True), style, color=ink, lw=0.9)
    for layer in range(MOST_LAYERS + 1):
        y = _FLOOR - _RISE * layer
        write(axes, 0.1, y, f"layer {layer}", MUTED, ha="left")
    every = {(i, n) for i in range(len(names)) for n in range(MOST_LAYERS + 1)}
    for dots, size, ink in (
        (every - nodes, 3.5, GRID),
        ({node for node in nodes if node[0] < n}, 5.5, KEY),
        ({node for node in nodes if node[0] >= n}, 5.5, OTHER),
    ):
        places = np.array([place(dot) for dot in sorted(dots)]).reshape(-1, 2)
        axes.plot(*places.T, "o", ms=size, color=ink, mew=0)
    top = {"ms": 8, "mfc": "none", "mec": INK, "mew": 1.6}
    axes.plot(*place((asking, layers)), "o", **top)


_HEADS = {
    ARCHITECTURES[0]: "Encoder",
    ARCHITECTURES[1]: "Decoder",
    ARCHITECTURES[2]: "Encoder with a window",
    ARCHITECTURES[3]: "Decoder with a window",
    ARCHITECTURES[4]: "Encoder-decoder",
}
_NOTES = (
    "number: the layer in which the row’s token first hears of the column’s",
    "filled: heard by now; a dash: never, however many layers",
)
_CROSSED = ("dashed, and the block in the other colour: cross-attention",)
_ASKING = {one: list(range(len(names_of(one)))) for one in ARCHITECTURES}

reach = Explorable(
    "architectures-reach",
    draw_reach,
    say_reach,
    Slider("architecture", list(ARCHITECTURES), NARROW_ENCODER),
    Slider("layers", list(range(MOST_LAYERS + 1)), 2, play=True),
    Slider(
        "asking",
        _ASKING,
        {one: 8 if one == BOTH else 6 for one in ARCHITECTURES},
        given="architecture",
        label="asking token",
        texts={one: list(names_of(one)) for one in ARCHITECTURES},
    ),
)
