"""Decoding with a cache: where the triangle is aligned."""

import numpy as np

from utils.explore import Explorable, Slider
from utils.explore.palette import GRID, INK, KEY, MUTED, QUERY, WEIGHT
from utils.figures.drawing import add_cell, blank_page, write
from utils.figures.masks.example import name_axes
from utils.figures.wording import counted, listed
from utils.masks import causal_mask

SENTENCE = (
    *("The", "developer", "deployed", "the", "application"),
    *("because", "it", "was", "ready"),
)
ALIGNMENTS = ("bottom right", "top left")
MOST_CACHED, MOST_NEW = 6, 3
_WIDE, _HIGH, _LEFT, _TOP = 0.4, 0.29, 0.98, 1.0


def aligned_mask(new, cached, alignment):
    """Build the causal mask of the new queries, in either convention.

    Parameters
    ----------
    new, cached : int
        New queries, and keys that a cache holds already.
    alignment : str
        "bottom right" or "top left".

    Returns
    -------
    ndarray of bool, shape (new, cached + new)

    Examples
    --------
    >>> aligned_mask(1, 3, "bottom right").astype(int)
    array([[1, 1, 1, 1]])
    >>> aligned_mask(1, 3, "top left").astype(int)
    array([[1, 0, 0, 0]])
    """
    if alignment == "bottom right":
        return causal_mask(new, cached + new)
    return np.tri(new, cached + new, dtype=bool)


def draw_cache(alignment, new, cached):
    """Draw which keys the new queries see.

    Parameters
    ----------
    alignment, new, cached
        As for aligned_mask.

    Returns
    -------
    Figure
    """
    mask = aligned_mask(new, cached, alignment)
    most, size = len(SENTENCE), cached + new
    figure, ax = blank_page(4.3)
    write(ax, 0.08, 0.2, _title(new, cached), ha="left", size=10.5)
    name_axes(ax, _LEFT - 0.1, _TOP)
    for i, token in enumerate(SENTENCE[:size]):
        # keys in two rows, or long names would touch
        up = _TOP - (0.42 if i % 2 else 0.2)
        write(ax, _LEFT + (i + 0.5) * _WIDE, up, token, KEY)
        ink, bold = (MUTED, False) if i < cached else (QUERY, True)
        y = _TOP + (i + 0.5) * _HIGH
        write(ax, _LEFT - 0.1, y, token, ink, ha="right", bold=bold)
    top = _TOP + cached * _HIGH
    for i in range(cached):
        step = (_LEFT, _TOP + i * _HIGH)
        add_cell(ax, step, (i + 1) * _WIDE, _HIGH, fc=GRID, alpha=0.6, lw=0)
    for (i, j), allowed in np.ndenumerate(mask):
        corner = (_LEFT + j * _WIDE, top + i * _HIGH)
        alpha = 0.8 if allowed else 0
        add_cell(ax, corner, _WIDE, _HIGH, fc=WEIGHT, alpha=alpha, lw=0)
        x, y = corner[0] + _WIDE / 2, corner[1] + _HIGH / 2
        mark, ink = ("✓", INK) if allowed else ("×", MUTED)
        write(ax, x, y, mark, ink)
    xs, bottom = _LEFT + np.arange(size + 1) * _WIDE, top + new * _HIGH
    ax.vlines(xs, top, bottom, color=GRID, lw=0.8)
    ys = top + np.arange(new + 1) * _HIGH
    ax.hlines(ys, xs[0], xs[-1], color=GRID, lw=0.8)
    block = (_LEFT, top), size * _WIDE, new * _HIGH
    add_cell(ax, *block, fill=False, ec=INK, lw=1.6, zorder=3)
    foot = _TOP + most * _HIGH + 0.22
    note = "grey rows: computed earlier; their keys and values are kept"
    write(ax, 0.08, foot, note if cached else "", MUTED, ha="left")
    write(ax, 0.08, foot + 0.24, _verdict(mask, cached), ha="left")
    return figure


def say_cache(alignment, new, cached):
    """Say what `draw_cache` draws, for the same values."""
    mask = aligned_mask(new, cached, alignment)
    rows = [
        f"“{SENTENCE[cached + i]}” sees {counted(int(row.sum()), 'key')}"
        for i, row in enumerate(mask)
    ]
    return (
        f"{_title(new, cached)}, aligned to the {alignment}: {listed(rows)} "
        f"of {cached + new}. {_verdict(mask, cached)[2:]}."
    )


def _title(new, cached):
    queries = counted(new, "new query").replace("querys", "queries")
    return f"{queries}, {counted(cached, 'key')} from the cache"


def _verdict(mask, cached):
    last = cached + len(mask)
    if mask[-1].all():
        return f"✓ “{SENTENCE[last - 1]}” sees itself and all before it"
    missed = int((~mask[-1]).sum())
    return (
        f"✗ “{SENTENCE[last - 1]}” misses the last "
        f"{counted(missed, 'key')}, its own too"
    )


cache = Explorable(
    "masks-cache",
    draw_cache,
    say_cache,
    Slider("alignment", ALIGNMENTS, label="triangle aligned to the"),
    Slider("new", range(1, MOST_NEW + 1), label="new queries"),
    Slider(
        "cached",
        range(MOST_CACHED + 1),
        5,
        label="keys from the cache",
        play=True,
    ),
)
