"""One query and one key meet in one cell of the score matrix."""

import numpy as np

from utils.attention import attention_scores, project
from utils.explore import Explorable, Slider
from utils.explore.palette import GRID, INK, KEY, MUTED, QUERY
from utils.figures.drawing import add_cell, blank_page, write
from utils.figures.qkv.example import (
    OFFERS,
    OTHER_TOKENS,
    OTHER_X,
    TOKENS,
    W_K,
    W_Q,
    X,
)
from utils.figures.wording import brief

# Where the keys come from: their tokens and the input they are made of.
SOURCES = {"same": (TOKENS, X), "other": (OTHER_TOKENS, OTHER_X)}
KINDS = {"same": "Self-attention", "other": "Cross-attention"}
MOST_KEYS = 4
_LOW = str.maketrans("1234", "₁₂₃₄")
# inches: the left edge, the top, the width and the height of a cell
_Q = (0.92, 1.72, 0.42, 0.36)
_K = (1.94, 0.72, 0.69, 0.36)
_S = (1.94, 1.72, 0.69, 0.36)


def draw_meet(keys, query, key):
    """Draw Q on the left, Kᵀ on top, and the scores where they cross.

    Parameters
    ----------
    keys : str
        A name in SOURCES: the sequence that the keys come from.
    query, key : int
        The places of the two tokens that meet.

    Returns
    -------
    Figure
    """
    names, Q, K, scores = _meet(keys)
    M = len(names)
    figure, axes = blank_page(4.15)
    title = f"{KINDS[keys]}: {len(TOKENS)} queries, {M} keys"
    write(axes, 0.1, 0.2, title, ha="left", size=10.5)
    _draw_grid(axes, _Q, Q, 2)
    _draw_grid(axes, _K, K.T, MOST_KEYS)
    _draw_grid(axes, _S, scores, MOST_KEYS)
    for i, name in enumerate(TOKENS):
        y = _middle(_Q, i, 0)[1]
        write(axes, 0.84, y, name, QUERY, "right", bold=i == query)
    for j in range(MOST_KEYS):
        name = names[j] if j < M else " "
        # in two rows: the longest names are wider than their columns
        x, y = _middle(_K, 0, j)[0], (0.59, 0.43)[j % 2]
        write(axes, x, y, name, KEY, bold=j == key)
    write(axes, 1.4, 1.08, f"Kᵀ, 2 × {M}", KEY, "right", size=10)
    write(axes, 0.84, 1.55, "Q, 4 × 2", QUERY, "right", size=10)
    write(axes, 1.94, 1.55, f"scores QKᵀ, 4 × {M}", ha="left", size=10)
    for c, offer in enumerate(OFFERS):
        write(axes, _middle(_Q, 0, c)[0], 1.55, offer, MUTED)
        write(axes, 1.86, _middle(_K, c, 0)[1], offer, MUTED, "right")
    for place, ink, box in (
        (_Q, QUERY, (query, 0, 1, 2)),
        (_K, KEY, (0, key, 2, 1)),
        (_S, INK, (query, key, 1, 1)),
    ):
        left, top, width, height = place
        i, j, down, across = box
        corner = (left + j * width, top + i * height)
        size = (across * width, down * height)
        add_cell(axes, corner, *size, fill=False, ec=ink, lw=2)
    q, k = Q[query], K[key]
    lines = (
        (f"{TOKENS[query]} asks for: {_offers(q)}", QUERY),
        (f"{names[key]} offers: {_offers(k)}", KEY),
        (_sum(query, key, q, k), INK),
    )
    for line, (text, ink) in enumerate(lines):
        write(axes, 0.1, 3.44 + 0.25 * line, text, ink, "left", size=10)
    return figure


def say_meet(keys, query, key):
    """Say what `draw_meet` draws, for the same values."""
    names, Q, K, _ = _meet(keys)
    return (
        f"{KINDS[keys]}, {len(TOKENS)} queries and {len(names)} keys: "
        f"“{TOKENS[query]}” asks for {_offers(Q[query])}, “{names[key]}” "
        f"offers {_offers(K[key])}, and their score is "
        f"{_sum(query, key, Q[query], K[key])}."
    )


def _meet(keys):
    """The names of the keys, the queries, the keys, the scores."""
    names, source = SOURCES[keys]
    Q, K = project(X, W_Q), project(source, W_K)
    return names, Q, K, attention_scores(Q, K)


def _offers(vector):
    pairs = zip(OFFERS, vector, strict=True)
    return ", ".join(f"{name} {brief(value)}" for name, value in pairs)


def _sum(i, j, q, k):
    """The dot product written out, s₁₁ for the first query and key."""
    name = f"s{i + 1}{j + 1}".translate(_LOW)
    terms = (f"{brief(a)} × {brief(b)}" for a, b in zip(q, k, strict=True))
    return f"{name} = {' + '.join(terms)} = {brief(q @ k)}"


def _middle(place, i, j):
    left, top, width, height = place
    return left + (j + 0.5) * width, top + (i + 0.5) * height


def _draw_grid(axes, place, array, columns):
    """Draw numbers in cells; columns that are not there stay blank."""
    left, top, width, height = place
    N, M = array.shape
    right, bottom = left + M * width, top + N * height
    edges = {"color": GRID, "lw": 1, "zorder": 0.5}
    ys = top + height * np.arange(N + 1)
    xs = left + width * np.minimum(np.arange(columns + 1), M)
    axes.hlines(ys, left, right, **edges)
    axes.vlines(xs, top, bottom, **edges)
    for i in range(N):
        for j in range(columns):
            text = brief(array[i, j]) if j < M else " "
            write(axes, *_middle(place, i, j), text, size=10)


meet = Explorable(
    "qkv-meet",
    draw_meet,
    say_meet,
    Slider(
        "keys",
        list(SOURCES),
        label="keys from",
        texts=["the same sentence", "“bank approved loan”"],
    ),
    Slider("query", range(4), 2, texts=TOKENS, label="who asks"),
    Slider(
        "key",
        {name: range(len(names)) for name, (names, _) in SOURCES.items()},
        start={"same": 1, "other": 0},
        texts={name: names for name, (names, _) in SOURCES.items()},
        given="keys",
        label="who is asked",
    ),
)
