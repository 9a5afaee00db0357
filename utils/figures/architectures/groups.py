"""Which heads of queries share keys and values, and what it saves."""

import numpy as np

from utils.explore import Explorable, Slider
from utils.explore.palette import (
    GRID,
    GROUND,
    INK,
    KEY,
    MUTED,
    QUERY,
    VALUE,
)
from utils.figures.drawing import add_cell, blank_page, write
from utils.figures.wording import counted, listed

D_MODEL = 512
_LEFT, _RIGHT, _BOX = 0.78, 4.7, 0.22
_BAR = 2.1  # inches: 512 numbers


def sharers(num_heads, num_key_heads, head):
    """Find the heads of queries that read the same keys as one of them.

    Parameters
    ----------
    num_heads, num_key_heads, head : int

    Returns
    -------
    list of int
        With `head` among them.

    Examples
    --------
    >>> sharers(8, 2, 5)
    [4, 5, 6, 7]
    """
    shared = num_heads // num_key_heads
    first = head // shared * shared
    return list(range(first, first + shared))


def sizes(num_heads, num_key_heads):
    """Count the columns of the matrices and the numbers in the cache.

    Parameters
    ----------
    num_heads, num_key_heads : int

    Returns
    -------
    dict of str to int
        "Q", "K", "V": numbers of one token in one layer. "cache": what a
        decoder keeps of it, its keys and values.

    Examples
    --------
    >>> sizes(8, 2)
    {'Q': 512, 'K': 128, 'V': 128, 'cache': 256}
    """
    keys = D_MODEL // num_heads * num_key_heads
    return {"Q": D_MODEL, "K": keys, "V": keys, "cache": 2 * keys}


def draw_groups(num_heads, num_key_heads, head):
    """Draw who shares keys with whom, and the sizes to scale.

    Parameters
    ----------
    num_heads, num_key_heads, head : int

    Returns
    -------
    Figure
    """
    figure, axes = blank_page(4.75)
    group = head * num_key_heads // num_heads
    step = (_RIGHT - _LEFT) / num_heads
    queries = _LEFT + step * (np.arange(num_heads) + 0.5)
    keys = queries.reshape(num_key_heads, -1).mean(axis=1)
    title = f"Head {head} of queries reads key head {group}"
    write(axes, 0.1, 0.2, title, ha="left", size=10)
    for h, x in enumerate(queries):
        g = h * num_key_heads // num_heads
        chosen = h == head
        ink, lw = (INK, 2.4) if chosen else (MUTED, 0.9)
        axes.plot([x, keys[g]], [0.72, 1.16], color=ink, lw=lw)
        _draw_box(axes, x, 0.61, h, QUERY, chosen)
    for g, x in enumerate(keys):
        axes.plot([x, x], [1.38, 1.6], color=MUTED, lw=0.9)
        _draw_box(axes, x, 1.27, g, KEY, g == group)
        _draw_box(axes, x, 1.71, g, VALUE, g == group)
    for y, name, ink in (
        (0.61, "queries", QUERY),
        (1.27, "keys", KEY),
        (1.71, "values", VALUE),
    ):
        write(axes, 0.1, y, name, ink, ha="left")

    size = sizes(num_heads, num_key_heads)
    heading = "Numbers of one token in one layer, to scale"
    write(axes, 0.1, 2.2, heading, ha="left")
    d_k = D_MODEL // num_heads
    for i, (name, ink, heads) in enumerate(
        (("Q", QUERY, num_heads), ("K", KEY, num_key_heads))
        + (("V", VALUE, num_key_heads),)
    ):
        y = 2.5 + 0.34 * i
        _draw_bar(axes, y, size[name], D_MODEL, 1, ink)
        write(axes, 0.4, y, name, ink, ha="right", bold=True)
        text = f"{heads} × {d_k} = {size[name]}"
        write(axes, 0.5 + _BAR + 0.12, y, text, ha="left")
    heading = "Of these a decoder keeps K and V: its cache"
    write(axes, 0.1, 3.65, heading, ha="left")
    full = 2 * D_MODEL
    _draw_bar(axes, 3.95, size["cache"], full, 2, KEY, VALUE)
    share = num_heads // num_key_heads
    text = f"{size['cache']:,} of {full:,}"
    write(axes, 0.5, 4.27, text, ha="left")
    less = "nothing saved" if share == 1 else f"1/{share} of the cache"
    write(axes, 0.5 + 2 * _BAR, 4.27, less, ha="right", bold=True)
    note = "outlined: with as many heads of keys as of queries"
    write(axes, 0.1, 4.56, note, MUTED, ha="left")
    return figure


def say_groups(num_heads, num_key_heads, head):
    """Say who shares with whom, and how large the cache is."""
    group = head * num_key_heads // num_heads
    heads = sharers(num_heads, num_key_heads, head)
    size = sizes(num_heads, num_key_heads)
    company = (
        "which no other head reads"
        if len(heads) == 1
        else f"read by the heads {listed(map(str, heads))}"
    )
    d_k = D_MODEL // num_heads
    return (
        f"{counted(num_heads, 'head')} of queries, "
        f"{counted(num_key_heads, 'head')} of keys and values, each "
        f"{d_k} wide. Head {head} reads key head {group}, {company}. The "
        f"cache keeps {size['cache']:,} numbers for each token and layer, "
        f"out of {2 * D_MODEL:,} without sharing."
    )


def _draw_box(axes, x, y, number, ink, chosen):
    corner = (x - _BOX / 2, y - _BOX / 2)
    add_cell(axes, corner, _BOX, _BOX, fc=GROUND, lw=0, zorder=2)
    edge = {"ec": ink, "lw": 2.4 if chosen else 0.9, "zorder": 3}
    fill = {"fc": ink, "alpha": 0.35 if chosen else 0.12, "zorder": 2.5}
    add_cell(axes, corner, _BOX, _BOX, lw=0, **fill)
    add_cell(axes, corner, _BOX, _BOX, fill=False, **edge)
    write(axes, x, y, str(number), bold=chosen, zorder=4)


def _draw_bar(axes, y, size, full, scale, *inks):
    """Draw a bar in parts of equal length, and the outline of a full one."""
    left, tall = 0.5, 0.22
    width = _BAR * scale
    part = width * size / full / len(inks)
    for i, ink in enumerate(inks):
        corner = (left + i * part, y - tall / 2)
        add_cell(axes, corner, part, tall, fc=ink, alpha=0.55, lw=0)
    corner = (left, y - tall / 2)
    add_cell(axes, corner, width, tall, fill=False, ec=GRID, lw=1.4)


_COUNTS = (2, 4, 8)
_KEY_COUNTS = {n: [k for k in (1, *_COUNTS) if k <= n] for n in _COUNTS}
_HEADS = {n: list(range(n)) for n in _COUNTS}

groups = Explorable(
    "architectures-groups",
    draw_groups,
    say_groups,
    Slider("num_heads", list(_COUNTS), 8, label="heads of queries"),
    Slider(
        "num_key_heads",
        _KEY_COUNTS,
        {n: 2 if n > 2 else 1 for n in _COUNTS},
        given="num_heads",
        label="heads of keys and values",
    ),
    Slider(
        "head",
        _HEADS,
        {n: min(5, n - 1) for n in _COUNTS},
        given="num_heads",
        label="asking head",
    ),
)
