"""Which keys each query sees where there are not as many of both."""

from utils.explore import Explorable, Slider
from utils.explore.palette import GRID, INK, KEY, MUTED, QUERY, WEIGHT
from utils.figures.drawing import WIDTH, add_cell, blank_page, write
from utils.figures.in_pytorch.conventions import (
    aligned,
    mask_weights,
)
from utils.figures.wording import counted, exact_share, listed

MOST_QUERIES, MOST_KEYS = 5, 6
CORNERS = {
    "top-left": "is_causal=True: query i sees keys 0 to i",
    "bottom-right": "causal_lower_right: query i sees keys 0 to i + S − L",
}
_LEFT, _TOP, _WIDE, _HIGH = 0.78, 0.9, 0.55, 0.44


def draw_alignment(corner, num_keys, num_queries):
    """Draw the weights of equal scores under a causal mask.

    Parameters
    ----------
    corner : str
        "top-left" or "bottom-right": where the triangle is pinned.
    num_keys, num_queries : int

    Returns
    -------
    Figure
    """
    mask = aligned(num_queries, num_keys, corner)
    weights = mask_weights(mask, "keeps")
    figure, axes = blank_page(3.55)
    write(axes, 0.1, 0.2, CORNERS[corner], ha="left", size=10.5)
    for j in range(MOST_KEYS):
        name = f"key {j}" if j < num_keys else " "
        write(axes, _LEFT + (j + 0.5) * _WIDE, _TOP - 0.14, name, KEY)
    for i in range(MOST_QUERIES):
        asks = i < num_queries
        y = _TOP + (i + 0.5) * _HIGH
        name = f"query {i}" if asks else " "
        write(axes, _LEFT - 0.08, y, name, QUERY, ha="right")
        for j in range(MOST_KEYS):
            there = asks and j < num_keys
            weight = weights[i, j] if there else 0
            corners = (_LEFT + j * _WIDE, _TOP + i * _HIGH)
            edge = (GRID, 1.0 if there else 0.0)
            look = {"fc": (WEIGHT, weight), "ec": edge, "lw": 1}
            add_cell(axes, corners, _WIDE, _HIGH, **look)
            text = exact_share(weight) if there else " "
            middle = corners[0] + _WIDE / 2
            write(axes, middle, y, text, INK if weight else MUTED, size=10)
        seen = f"{mask[i].sum()} of {num_keys}" if asks else " "
        write(axes, WIDTH - 0.08, y, seen, MUTED, ha="right")
    write(axes, WIDTH - 0.08, _TOP - 0.14, "sees", MUTED, ha="right")
    pinned = (0, 0) if corner == "top-left" else (num_keys, num_queries)
    axes.plot(
        _LEFT + pinned[0] * _WIDE,
        _TOP + pinned[1] * _HIGH,
        "o",
        color=INK,
        ms=8,
        zorder=3,
    )
    note = "dot: the corner where the triangle is pinned"
    write(axes, 0.1, 0.42, note, MUTED, ha="left")
    write(axes, 0.1, 3.34, _verdict(mask, corner), ha="left", size=10)
    return figure


def say_alignment(corner, num_keys, num_queries):
    """Say what `draw_alignment` draws, for the same values."""
    mask = aligned(num_queries, num_keys, corner)
    seen = listed(
        f"query {i} sees {_keys(row.sum())}" for i, row in enumerate(mask)
    )
    sizes = f"{_count(num_queries, 'query')} and {counted(num_keys, 'key')}"
    return (
        f"With {sizes}, pinned {corner.replace('-', ' ')}: {seen}. "
        f"{_verdict(mask, corner).removeprefix('✗ ').removeprefix('✓ ')}."
    )


def _count(number, thing):
    return counted(number, thing).replace("querys", "queries")


def _keys(count):
    if count == 0:
        return "no key"
    return "key 0" if count == 1 else f"keys 0 to {count - 1}"


def _verdict(mask, corner):
    num_queries, num_keys = mask.shape
    if num_queries == num_keys:
        return "As many queries as keys: both corners give the same"
    empty = (~mask.any(axis=1)).sum()
    if empty:
        return f"✗ The first {_count(empty, 'query')} may see no key at all"
    if num_queries > num_keys:
        return "✗ More queries than keys: the last ones all see every key"
    if corner == "top-left":
        missed = num_keys - num_queries
        keys = "key" if missed == 1 else f"{missed} keys"
        return f"✗ With a cache: nobody sees the last {keys}"
    return "✓ With a cache: the newest query sees every key"


alignment = Explorable(
    "in-pytorch-alignment",
    draw_alignment,
    say_alignment,
    Slider(
        "corner",
        list(CORNERS),
        label="pinned",
        texts=lambda name: name.replace("-", " "),
    ),
    Slider("num_keys", range(1, MOST_KEYS + 1), 5, label="keys S"),
    Slider("num_queries", range(1, MOST_QUERIES + 1), 2, label="queries L"),
)
