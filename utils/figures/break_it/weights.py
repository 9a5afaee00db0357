"""Weights and output, right above wrong, for ten famous mistakes."""

import textwrap

import numpy as np

from utils.explore import Explorable, Slider
from utils.explore.palette import GRID, INK, KEY, MUTED, QUERY, WEIGHT
from utils.figures.break_it.cases import CASES, TOKENS, WIDTHS, compute
from utils.figures.drawing import add_cell, blank_page, write
from utils.figures.wording import exact_share, listed, signed

_LEFT, _CELL, _HIGH = 0.5, 0.54, 0.265
_OUT, _WIDE = 3.44, 0.64


def draw_weights(case, d_k, cause):
    """Draw the weights and the output of a right and of a wrong function.

    Parameters
    ----------
    case : str
        A letter in CASES.
    d_k : int
    cause : bool
        Name the mistake.

    Returns
    -------
    Figure
    """
    figure, axes = blank_page(4.98)
    right, wrong = compute(case, d_k)
    _draw_block(axes, 0.18, "Right", right, right)
    _draw_block(axes, 2.2, f"Case {case}", wrong, right)
    note = "bold: not what it should be"
    write(axes, 0.08, 4.12, note, MUTED, ha="left")
    for i, line in enumerate(_words(case, cause)):
        write(axes, 0.08, 4.47 + 0.2 * i, line, ha="left", bold=i == 0)
    return figure


def say_weights(case, d_k, cause):
    """Say what `draw_weights` draws, for the same values."""
    right, wrong = compute(case, d_k)
    output, weights = wrong
    sums, columns = (
        listed(f"{total:.3f}" for total in weights.sum(axis=axis))
        for axis in (1, 0)
    )
    off = np.abs(weights - right[1])
    i, j = np.unravel_index(off.argmax(), off.shape)
    query = TOKENS[len(TOKENS) - len(weights) + i]
    if off.max() < 1e-12:
        text = "Every weight is right"
    else:
        text = (
            f"The weight of “{query}” for “{TOKENS[j]}” is "
            f"{exact_share(weights[i, j])} and should be "
            f"{exact_share(right[1][i, j])}"
        )
    same = np.allclose(output, right[0], rtol=0, atol=1e-12)
    shown = " ".join(_words(case, cause)) if cause else ""
    return (
        f"Case {case}, dₖ = {d_k}: the rows of weights sum to "
        f"{sums}, the columns to {columns}. {text}. The "
        f"output is {'right' if same else 'wrong'}. {shown}"
    ).strip()


def _words(case, cause):
    if not cause:
        return ["What went wrong? Name it, then show the cause."]
    mutant = CASES[case].mutant
    name = f"{mutant.name[0].upper()}{mutant.name[1:]}."
    reason = f"{mutant.cause[0].upper()}{mutant.cause[1:]}."
    lines = [name, *textwrap.wrap(reason, 62)]
    return [line.replace("d_k", "dₖ") for line in lines]


def _draw_block(axes, y, title, given, right):
    output, weights = given
    write(axes, 0.08, y, title, ha="left", size=10.5, bold=True)
    write(axes, _LEFT + 2 * _CELL, y, "weights", size=10)
    write(axes, _OUT + _WIDE, y, "output, first two", size=10)
    for j, token in enumerate(TOKENS):
        write(axes, _middle(j), y + 0.23, token, KEY)
    write(axes, _middle(4), y + 0.23, "sum", MUTED)
    first, top = len(TOKENS) - len(weights), y + 0.37
    for i in range(len(TOKENS)):
        line = top + (i + 0.5) * _HIGH
        if i < first:
            write(axes, _middle(1.5), line, "kept in the cache", MUTED)
            continue
        write(axes, _LEFT - 0.08, line, TOKENS[i], QUERY, ha="right")
        query = i - first
        _draw_row(axes, line, weights[query], right[1][query])
        shown = zip(output[query, :2], right[0][query, :2], strict=True)
        for j, (value, true) in enumerate(shown):
            place = (_OUT + j * _WIDE, line, _WIDE)
            _draw_cell(axes, place, signed(value), signed(true))
    foot = top + (len(TOKENS) + 0.5) * _HIGH
    write(axes, _LEFT - 0.08, foot, "sum", MUTED, ha="right")
    for j, total in enumerate(weights.sum(axis=0)):
        write(axes, _middle(j), foot, f"{total:.3f}", MUTED)


def _draw_row(axes, line, row, right):
    for j, (weight, true) in enumerate(zip(row, right, strict=True)):
        place = (_LEFT + j * _CELL, line, _CELL)
        shade = (WEIGHT, min(weight, 1))
        _draw_cell(axes, place, exact_share(weight), exact_share(true), shade)
    total = f"{row.sum():.3f}"
    mark = "✓" if total == f"{right.sum():.3f}" else "✗"
    x = _LEFT + 4.1 * _CELL
    write(axes, x, line, f"{total} {mark}", INK, ha="left")


def _draw_cell(axes, place, text, true, fill="none"):
    x, line, wide = place
    corner = (x, line - _HIGH / 2)
    add_cell(axes, corner, wide, _HIGH, fc=fill, ec=GRID, lw=1)
    write(axes, x + wide / 2, line, text, bold=text != true)


def _middle(column):
    return _LEFT + (column + 0.5) * _CELL


weights = Explorable(
    "break-it-weights",
    draw_weights,
    say_weights,
    Slider("case", list(CASES), label="case"),
    Slider("d_k", WIDTHS, 16, label="length of a query, dₖ"),
    Slider("cause", [False, True], label="show the cause"),
)
