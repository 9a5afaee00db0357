"""One sentence's weights under each kind of mask."""

import numpy as np

from utils.attention import attention_weights
from utils.explore import Explorable, Slider
from utils.explore.palette import GRID, INK, KEY, MUTED, QUERY, WEIGHT
from utils.figures.drawing import add_cell, blank_page, write
from utils.figures.masks.example import (
    PAD,
    TOKENS,
    embed,
    name_axes,
    queries_keys_values,
)
from utils.figures.wording import counted, exact_share, listed
from utils.masks import (
    causal_mask,
    combine_masks,
    padding_mask,
    sliding_window_mask,
)

KINDS = (
    "none",
    "padding",
    "causal",
    "causal and padding",
    "window of 2",
    "window of 3",
)
_PADS = (0, 1, 2)
_MOST = len(TOKENS) + max(_PADS)
_WIDE, _HIGH, _LEFT, _TOP = 0.45, 0.34, 0.98, 1.0


def build_mask(kind, pads, side):
    """Build a mask for the running sentence, padded.

    Parameters
    ----------
    kind : str
        One of KINDS.
    pads : int
        How many tokens of padding are added.
    side : str
        "end" or "start": where they stand.

    Returns
    -------
    ndarray of bool, shape (N, N)
    """
    N = len(TOKENS) + pads
    padding = padding_mask([len(TOKENS)], N)[0]
    if side == "start":
        padding = padding[:, ::-1]
    parts = {
        "none": [np.ones((N, N), dtype=bool)],
        "padding": [padding],
        "causal": [causal_mask(N)],
        "causal and padding": [causal_mask(N), padding],
        "window of 2": [sliding_window_mask(N, 2)],
        "window of 3": [sliding_window_mask(N, 3)],
    }[kind]
    return combine_masks(np.ones((N, N), dtype=bool), *parts)


def draw_builder(kind, pads, side, head):
    """Draw the weights of the padded sentence under a mask.

    Parameters
    ----------
    kind, pads, side
        As for build_mask.
    head : int
        1 or 2.

    Returns
    -------
    Figure
    """
    tokens, mask, weights = _weights(kind, pads, side, head)
    N = len(tokens)
    figure, ax = blank_page(4.2)
    write(ax, 0.08, 0.2, _title(kind, head), ha="left", size=10.5)
    name_axes(ax, _LEFT - 0.1, _TOP)
    edge = _LEFT + _MOST * _WIDE + 0.3
    write(ax, edge, _TOP - 0.42, "sum", MUTED)
    for i, name in enumerate(tokens):
        x, y = _middle(i, i)
        # keys in two rows, or long names would touch
        up = _TOP - (0.42 if i % 2 else 0.2)
        write(ax, x, up, name, MUTED if name == PAD else KEY)
        query = MUTED if name == PAD else QUERY
        write(ax, _LEFT - 0.1, y, name, query, ha="right")
        write(ax, edge, y, f"{weights[i].sum():.3f}", MUTED)
    for (i, j), weight in np.ndenumerate(weights):
        x, y = _middle(i, j)
        corner = (x - _WIDE / 2, y - _HIGH / 2)
        fill, alpha = (WEIGHT, weight) if mask[i, j] else (GRID, 0.6)
        add_cell(ax, corner, _WIDE, _HIGH, fc=fill, alpha=alpha, lw=0)
        if mask[i, j]:
            write(ax, x, y, exact_share(weight), INK)
    crosses = np.array([_middle(i, j) for i, j in np.argwhere(~mask)])
    ax.plot(*crosses.reshape(-1, 2).T, "x", color=MUTED, ms=4, mew=1)
    xs, ys = _LEFT + np.arange(N + 1) * _WIDE, _TOP + np.arange(N + 1) * _HIGH
    ax.hlines(ys, xs[0], xs[-1], color=GRID, lw=0.8)
    ax.vlines(xs, ys[0], ys[-1], color=GRID, lw=0.8)
    foot = _TOP + _MOST * _HIGH + 0.25
    note = "× blocked: the score is −∞, the weight exactly 0"
    write(ax, 0.08, foot, note, MUTED, ha="left")
    note = "grey names are padding: their outputs are junk"
    write(ax, 0.08, foot + 0.22, note if pads else "", MUTED, ha="left")
    return figure


def say_builder(kind, pads, side, head):
    """Say what `draw_builder` draws, for the same values."""
    tokens, mask, weights = _weights(kind, pads, side, head)
    i = tokens.index("deployed")
    seen = [
        f"{tokens[j]} {exact_share(weights[i, j])}"
        for j in np.flatnonzero(mask[i])
    ]
    count, size = int((~mask).sum()), mask.size
    sentence = (
        f"{_title(kind, head)}, {counted(pads, 'token')} of padding"
        f"{f' at the {side}' if pads else ''}: {count} of {size} cells are "
        f"blocked, and “deployed” takes from {listed(seen)}."
    )
    empty = int((~mask.any(axis=1)).sum())
    if empty:
        sentence += (
            f" {counted(empty, 'row')} of padding may see nothing: all zeros."
        )
    return sentence


def _middle(i, j):
    return _LEFT + (j + 0.5) * _WIDE, _TOP + (i + 0.5) * _HIGH


def _title(kind, head):
    name = {"none": "No mask", "padding": "Padding mask"}
    name |= {"causal": "Causal mask"}
    name |= {"causal and padding": "Causal and padding mask"}
    return f"{name.get(kind, kind.capitalize())}, head {head}"


def _weights(kind, pads, side, head):
    padding = [PAD] * pads
    tokens = [*TOKENS, *padding] if side == "end" else [*padding, *TOKENS]
    Q, K, _ = queries_keys_values(embed(tokens))
    mask = build_mask(kind, pads, side)
    weights = attention_weights(Q[head - 1], K[head - 1], mask)
    return tokens, mask, weights


builder = Explorable(
    "masks-builder",
    draw_builder,
    say_builder,
    Slider("kind", KINDS, label="mask"),
    Slider("pads", _PADS, 1, label="tokens of padding"),
    Slider("side", ["end", "start"], label="padding stands at the"),
    Slider("head", [1, 2]),
)
