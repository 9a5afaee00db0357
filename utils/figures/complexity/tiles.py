"""One row of attention, a tile of keys at a time: m, l and O step by step."""

import math

import numpy as np

from utils.explore import Explorable, Slider
from utils.explore.palette import (
    GRID,
    INK,
    KEY,
    MUTED,
    OTHER,
    QUERY,
    VALUE,
    WEIGHT,
)
from utils.figures.drawing import add_cell, blank_page, write
from utils.figures.wording import counted, signed
from utils.tiled import finish, merge, part_of

TOKENS = ("The", "dev.", "depl.", "the", "app.", "bec.", "it", "was")
SCORES = (1.2, 2.5, 1.0, 2.0, 4.0, 0.5, 3.0, 1.5)
VALUES = (2.0, 8.0, 4.0, 6.0, 1.0, 3.0, 7.0, 5.0)
OPEN, FUTURE, NOTHING = MASKS = (
    "nothing masked",
    "future masked",
    "everything masked",
)
_SEEN = {OPEN: 8, FUTURE: 3, NOTHING: 0}  # the query is token 2, "deployed"
_LEFT, _STEP = 0.72, 0.49


def parts(tile, step, mask):
    """Compute what is known before a step, in its tile, and after it.

    Parameters
    ----------
    tile : int
        How many keys a tile has.
    step : int
        How many tiles are done; 0 is before the first.
    mask : str
        One of MASKS.

    Returns
    -------
    before, new, after : Part or None
        None where nothing has been seen, or no tile is new.
    """
    keep = np.arange(8)[None] < _SEEN[mask]
    scores, values = np.array([SCORES]).T, np.array([VALUES]).T
    before = new = after = None
    for i in range(step):
        at = slice(i * tile, (i + 1) * tile)
        # a query of 1 and keys of one number: the scores are the keys
        new = part_of([[1.0]], scores[at], values[at], keep[:, at])
        before = after
        after = new if before is None else merge(before, new)
    return before, new, after


def draw_tiles(tile, step, mask):
    """Draw the row, the tile that is in hand, and the merge.

    Parameters
    ----------
    tile, step : int
    mask : str

    Returns
    -------
    Figure
    """
    before, new, after = parts(tile, step, mask)
    figure, axes = blank_page(5.1)
    done = f"tile {step} of {8 // tile}" if step else "before the first tile"
    title = f"“deployed” asks: {done}"
    write(axes, 0.1, 0.18, title, ha="left", size=11, bold=True)
    _draw_row(axes, tile, step, mask)
    columns = (
        ("", 0.5, INK),
        ("before", 1.45, MUTED),
        ("this tile", 2.75, KEY),
        ("merged", 4.05, INK),
    )
    for text, x, ink in columns:
        write(axes, x, 1.98, text, ink, bold=text == "merged")
    for row, letter in enumerate("mlO"):
        y = 2.3 + 0.3 * row
        write(axes, 0.1, y, _MEANING[letter], MUTED, ha="left", size=9)
        write(axes, 0.9, y, letter, size=11, bold=True)
        for part, x, ink in (
            (before, 1.45, INK),
            (new, 2.75, KEY),
            (after, 4.05, INK),
        ):
            write(axes, x, y, _number(part, row), ink, size=11)
    for x, words in (
        (1.45, _factor(before, after)),
        (2.75, _factor(new, after)),
    ):
        write(axes, x, 3.2, words, OTHER)
    write(axes, 0.1, 3.2, "× factor", OTHER, ha="left")
    _draw_output(axes, after, mask)
    return figure


def say_tiles(tile, step, mask):
    """Say the numbers before and after the step.

    >>> say_tiles(2, 1, "nothing masked")[:52]
    'Tiles of 2 keys, nothing masked. Tile 1 of 4 is in: '
    """
    _, new, after = parts(tile, step, mask)
    head = f"Tiles of {counted(tile, 'key')}, {mask}. "
    if after is None:
        return f"{head}No tile is in yet: m, l and O are not known."
    m, l, O = (_number(after, row) for row in range(3))  # noqa: E741
    told = f"{head}Tile {step} of {8 // tile} is in: m is {m}, l {l}, O {O}"
    if after.l.item() == 0:
        return f"{told}. No key may be seen, so the output is 0."
    last = step * tile == 8
    return (
        f"{told}, and O divided by l is {finish(after).item():.3f}"
        f"{', the output' if last else ', not yet the output'}."
    )


_MEANING = {"m": "maximum", "l": "sum", "O": "values"}


def _draw_row(axes, tile, step, mask):
    lines = (
        (0.5, TOKENS, KEY, None),
        (0.82, SCORES, INK, "scores"),
        (1.2, VALUES, VALUE, "values"),
    )
    write(axes, 0.1, 0.5, "keys", KEY, ha="left")
    for y, row, ink, name in lines:
        if name:
            write(axes, 0.1, y + 0.03, name, ink, ha="left")
        for j, item in enumerate(row):
            x = _LEFT + _STEP * (j + 0.5)
            shown = item if isinstance(item, str) else f"{item:g}"
            if name == "scores" and j >= _SEEN[mask]:
                shown = "−∞"
            seen = j < step * tile
            write(
                axes,
                x,
                y + (0.03 if name else 0),
                shown,
                ink if seen or not name else MUTED,
            )
    for j in range(8):
        done, now = j < (step - 1) * tile, j // tile == step - 1
        box = (_LEFT + _STEP * j, 0.66)
        # light enough for the values' ink on it: 4.5 to 1
        fill = {"fc": WEIGHT if now else GRID, "alpha": 0.28 if now else 0.45}
        if done or now:
            add_cell(axes, box, _STEP, 0.76, lw=0, zorder=0.3, **fill)
        add_cell(axes, box, _STEP, 0.76, fill=False, ec=GRID, lw=0.8)
    for start in range(0, 8, tile):
        now = start // tile == step - 1
        style = {"ec": INK if now else MUTED, "lw": 2.4 if now else 0.9}
        box = (_LEFT + _STEP * start, 0.66)
        width = _STEP * tile
        add_cell(axes, box, width, 0.76, fill=False, zorder=3, **style)
    note = f"in memory: {tile} of 8 scores at a time"
    write(axes, 0.1, 1.62, note, MUTED, ha="left")


def _draw_output(axes, after, mask):
    left, right, y = 0.72, 4.5, 4.3
    axes.plot([left, right], [y, y], color=MUTED, lw=1)
    for value in range(9):
        x = left + (right - left) * value / 8
        axes.plot([x, x], [y, y + 0.06], color=MUTED, lw=1)
        write(axes, x, y + 0.18, str(value), MUTED)
    exact = finish(parts(8, 1, mask)[2]).item()
    x = left + (right - left) * exact / 8
    axes.plot([x, x], [y - 0.32, y], color=QUERY, lw=2, ls=":")
    side = "left" if exact < 4 else "right"
    gap = 0.06 if side == "left" else -0.06
    text = f"softmax of the whole row: {exact:.3f}"
    write(axes, x + gap, y - 0.3, text, QUERY, ha=side)
    if after is not None:
        here = finish(after).item()
        x = left + (right - left) * here / 8
        axes.plot(x, y, "o", ms=10, color=VALUE, zorder=4)
        write(
            axes,
            0.1,
            4.8,
            f"●  O / l so far: {here:.3f}",
            VALUE,
            ha="left",
            size=10,
        )
    write(axes, 0.1, 3.68, "Output", ha="left")


def _number(part, row):
    if part is None:
        return "–"
    value = part[row].item()
    if math.isinf(value):
        return "−∞"
    return signed(value)


def _factor(part, after):
    if part is None:
        return ""
    m, level = part.m.item(), after.m.item()
    if math.isinf(level):
        return "–"
    gap = m - level
    shown = "−∞" if math.isinf(gap) else f"{gap:g}".replace("-", "−")
    return f"× exp({shown}) = {math.exp(gap):.3f}"


_SIZES = (1, 2, 4, 8)

tiles = Explorable(
    "complexity-tiles",
    draw_tiles,
    say_tiles,
    Slider("tile", list(_SIZES), 2, label="keys in a tile"),
    Slider(
        "step",
        {tile: list(range(8 // tile + 1)) for tile in _SIZES},
        dict.fromkeys(_SIZES, 1),
        given="tile",
        label="tiles done",
        play=True,
    ),
    Slider("mask", list(MASKS), OPEN),
)
