"""A query and a key, turned by their positions, and their score."""

import numpy as np

from utils.explore import Explorable, Slider
from utils.explore.palette import GRID, GROUND, INK, KEY, MUTED, QUERY
from utils.figures.drawing import blank_page, write
from utils.figures.wording import signed
from utils.positions import angular_speeds, rotate

QUERY_VECTOR = (0.8, 0.6, 0.4, 0.8)
KEY_VECTOR = (0.3, 0.7, 0.7, 0.1)
BASE = 100.0  # smaller than the usual 10,000: both pairs are seen to turn
MOST = 12
RADIUS = 0.95  # inches for a length of 1


def pair_scores(m, n):
    """Turn the query by m and the key by n, and multiply pair by pair.

    Parameters
    ----------
    m, n : int or ndarray of int

    Returns
    -------
    ndarray, shape (..., 2)
        What each pair of features gives; the score is their sum.

    Examples
    --------
    >>> pair_scores(5, 3).round(3), pair_scores(7, 5).round(3)
    (array([0.071, 0.25 ]), array([0.071, 0.25 ]))
    """
    query, key = _turned(m, n)
    return (query * key).reshape(*query.shape[:-1], 2, 2).sum(axis=-1)


def draw_rope(m, n):
    """Draw the two arrows of each pair, and the score by distance.

    Parameters
    ----------
    m, n : int
        The positions of the query and of the key.

    Returns
    -------
    Figure
    """
    query, key = _turned(m, n)
    parts = pair_scores(m, n)
    figure, page = blank_page(5.3)
    for i, speed in enumerate(angular_speeds(4, BASE)):
        middle = np.array([1.25 + 2.3 * i, 1.36])
        step = "1 radian" if speed == 1 else f"{speed:g} radian"
        name = f"pair {i}: {step} a position"
        write(page, middle[0], 0.2, name, size=10)
        _draw_dial(page, middle)
        pair = slice(2 * i, 2 * i + 2)
        _draw_hand(page, middle, QUERY_VECTOR[pair], query[pair], QUERY, "o")
        _draw_hand(page, middle, KEY_VECTOR[pair], key[pair], KEY, "s")
        product = f"q · k = {signed(parts[i])}"
        write(page, middle[0], 2.5, product, size=10)
    page.plot(0.45, 2.82, "o", color=QUERY, ms=8)
    write(page, 0.6, 2.82, f"query at m = {m}", QUERY, "left", size=10)
    page.plot(2.05, 2.82, "s", color=KEY, ms=7)
    write(page, 2.2, 2.82, f"key at n = {n}", KEY, "left", size=10)
    write(page, 3.4, 2.82, "thin: at position 0", MUTED, "left")
    _draw_scores(figure, m, n, parts)
    return figure


def say_rope(m, n):
    """Say what each pair gives, and the score."""
    parts = pair_scores(m, n)
    return (
        f"Query at position {m}, key at position {n}, distance "
        f"m − n = {_whole(m - n)}: pair 0 gives {signed(parts[0])}, pair 1 "
        f"gives {signed(parts[1])}, and the score is {signed(parts.sum())}."
    )


def _turned(m, n):
    m, n = np.asarray(m), np.asarray(n)
    query = np.broadcast_to(QUERY_VECTOR, (*m.shape, 4))
    key = np.broadcast_to(KEY_VECTOR, (*n.shape, 4))
    return rotate(query, m, base=BASE), rotate(key, n, base=BASE)


def _draw_dial(page, middle):
    angle = np.linspace(0, 2 * np.pi, 73)
    x = [*np.cos(angle), np.nan, -1, 1, np.nan, 0, 0]
    y = [*np.sin(angle), np.nan, 0, 0, np.nan, -1, 1]
    page.plot(*_inches(middle, (x, y)), color=GRID, lw=1)


def _draw_hand(page, middle, start, turned, colour, mark):
    for vector, style in ((start, {"lw": 0.9}), (turned, {"lw": 2.6})):
        ends = [0, vector[0]], [0, vector[1]]
        page.plot(*_inches(middle, ends), color=colour, **style)
    style = {"color": colour, "mec": GROUND, "ms": 9}
    page.plot(*_inches(middle, turned), mark, **style)


def _inches(middle, vectors):
    """Where vectors end on a page that counts inches from the top."""
    x, y = vectors
    return middle[0] + RADIUS * np.array(x), middle[1] - RADIUS * np.array(y)


def _draw_scores(figure, m, n, parts):
    axes = figure.add_axes([0.13, 0.1, 0.84, 0.27])
    total = signed(parts.sum())
    axes.set_title(f"Score, both pairs: {total} at m − n = {_whole(m - n)}")
    distances = np.arange(-MOST, MOST + 1)
    line = np.linspace(-MOST, MOST, 193)
    # a query at any place will do: the curve is the same
    smooth = pair_scores(line, np.zeros(len(line))).sum(axis=-1)
    axes.plot(line, smooth, color=GRID, lw=1.5)
    whole = pair_scores(distances, np.zeros(len(distances))).sum(axis=-1)
    axes.plot(distances, whole, ".", color=MUTED, ms=5)
    axes.plot([m - n, m - n], [-1.5, parts.sum()], color=INK, lw=1)
    axes.plot(m - n, parts.sum(), "D", color=INK, mec=GROUND, ms=8)
    axes.set(xlim=(-MOST - 0.6, MOST + 0.6), ylim=(-1.5, 1.7))
    axes.set(xticks=range(-MOST, MOST + 1, 4), yticks=[-1, 0, 1])
    axes.set_xlabel("distance m − n")


def _whole(number):
    return f"{number}".replace("-", "−")


rope = Explorable(
    "positional-encoding-rope",
    draw_rope,
    say_rope,
    Slider("m", range(MOST + 1), 5, label="position m of the query"),
    Slider("n", range(MOST + 1), 2, label="position n of the key"),
)
