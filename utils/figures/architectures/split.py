"""Which numbers a head gets: cut and transposed, or only cut."""

import numpy as np

from utils.explore import Explorable, Slider
from utils.explore.palette import INK, MUTED, OTHER, QUERY
from utils.figures.architectures.cells import fill_cells
from utils.figures.drawing import blank_page, write
from utils.figures.wording import counted, listed
from utils.heads import split_heads

TOKENS = ("The", "developer", "deployed", "application")
WIDTH_OF_MODEL = 8
WAYS = ("view, then transpose", "view only")
_CELL, _TALL, _LEFT = 0.37, 0.29, 1.02


def one_head(way, num_heads, head):
    """Number the entries of Q, and find those that one head gets.

    Parameters
    ----------
    way : str
        One of WAYS.
    num_heads, head : int

    Returns
    -------
    ndarray of int, shape (4, 8 / num_heads)
        Entry n of Q belongs to token n // 8.
    """
    Q = np.arange(len(TOKENS) * WIDTH_OF_MODEL).reshape(len(TOKENS), -1)
    if way == WAYS[0]:
        return split_heads(Q, num_heads)[head]
    return Q.reshape(num_heads, len(TOKENS), -1)[head]


def draw_split(way, num_heads, head):
    """Draw the queries of four tokens, and what one head gets of them.

    Parameters
    ----------
    way : str
    num_heads, head : int

    Returns
    -------
    Figure
    """
    found = one_head(way, num_heads, head)
    N, d_k = found.shape
    figure, axes = blank_page(3.95)
    write(axes, 0.1, 0.2, "Q: a row of 8 numbers for each token", ha="left")
    Q = np.arange(N * WIDTH_OF_MODEL).reshape(N, -1)
    _draw_numbers(axes, 0.4, Q, np.isin(Q, found))
    for i, token in enumerate(TOKENS):
        y = 0.4 + (i + 0.5) * _TALL
        write(axes, _LEFT - 0.1, y, token, QUERY, ha="right")
    code = (
        f"Q.reshape(4, {num_heads}, {d_k}).swapaxes(0, 1)[{head}]"
        if way == WAYS[0]
        else f"Q.reshape({num_heads}, 4, {d_k})[{head}]"
    )
    write(axes, 0.1, 1.9, f"head {head}:  {code}", ha="left", bold=True)
    _draw_numbers(axes, 2.15, found, np.ones(found.shape, bool))
    for i, row in enumerate(found):
        y = 2.15 + (i + 0.5) * _TALL
        write(axes, _LEFT - 0.1, y, TOKENS[i], QUERY, ha="right")
        owner = row[0] // WIDTH_OF_MODEL
        right = owner == i
        write(
            axes,
            _LEFT + d_k * _CELL + 0.12,
            y,
            ("✓ its own" if right else f"✗ of {TOKENS[owner]}"),
            INK if right else OTHER,
            ha="left",
        )
    write(axes, 0.1, 3.58, _verdict(found), ha="left")
    note = "both results have the same shape; only one keeps tokens apart"
    write(axes, 0.1, 3.8, note, MUTED, ha="left")
    return figure


def say_split(way, num_heads, head):
    """Say whose numbers the head holds."""
    found = one_head(way, num_heads, head)
    return (
        f"{way[0].upper()}{way[1:]}, {counted(num_heads, 'head')}, "
        f"{counted(found.shape[1], 'number')} a token: the row of the first "
        f"token in head {head} begins with entry {found[0, 0]}, that of the "
        f"last with entry {found[-1, 0]}. {_verdict(found)}."
    )


def _verdict(found):
    owners = found[:, 0] // WIDTH_OF_MODEL
    if (owners == range(len(TOKENS))).all():
        return "✓ This head sees all four tokens, each in its own row"
    seen = listed(TOKENS[i] for i in sorted(set(owners.tolist())))
    return f"✗ This head sees numbers of {seen} alone"


def _draw_numbers(axes, top, numbers, picked):
    N, M = numbers.shape
    xs = _LEFT + _CELL * np.arange(M + 1)
    ys = top + _TALL * np.arange(N + 1)
    fill_cells(axes, xs, ys, QUERY, 0.25 * picked)
    for (i, j), n in np.ndenumerate(numbers):
        ink = INK if picked[i, j] else MUTED
        write(axes, xs[j] + _CELL / 2, ys[i] + _TALL / 2, str(n), ink)


_HEADS = {n: list(range(n)) for n in (1, 2, 4, 8)}

split = Explorable(
    "architectures-split",
    draw_split,
    say_split,
    Slider("way", list(WAYS)),
    Slider("num_heads", list(_HEADS), 2, label="number of heads"),
    Slider("head", _HEADS, given="num_heads"),
)
