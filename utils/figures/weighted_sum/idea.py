"""The idea for one query token, on one page."""

from utils.attention import softmax
from utils.explore import Explorable
from utils.explore.palette import (
    GROUND,
    INK,
    KEY,
    MUTED,
    QUERY,
    VALUE,
    WEIGHT,
)
from utils.figures.drawing import add_cell, blank_page, write
from utils.figures.weighted_sum.example import SCALED, TOKENS
from utils.figures.wording import listed, named, share

_COLUMNS = (1.38, 2.32, 3.26, 4.2)
_QUERY = (2.79, 0.34)  # the middle of the query's box


def draw_idea():
    """Draw one query's way: keys, scores, softmax, weights, values, output.

    Returns
    -------
    Figure
    """
    weights = softmax(SCALED)
    figure, axes = blank_page(5.5)
    for x in _COLUMNS:
        axes.plot((_QUERY[0], x), (0.4, 1.1), color=QUERY, lw=1.2)
    _draw_box(axes, _QUERY, 2.0, "query of “deployed”", QUERY)
    rows = ((1.16, "keys"), (1.92, "scaled\nscores"), (3.3, "weights"))
    for y, name in (*rows, (4.1, "values")):
        write(axes, 0.12, y, name, MUTED, ha="left", linespacing=1.3)
    for x, token, score in zip(_COLUMNS, TOKENS, SCALED, strict=True):
        _draw_box(axes, (x, 1.16), 0.86, token, KEY)
        _draw_arrow(axes, (x, 1.36), (x, 1.74))
        write(axes, x, 1.92, f"{score:.1f}", size=11)
        _draw_arrow(axes, (x, 2.08), (x, 2.37))
        _draw_arrow(axes, (x, 2.8), (x, 3.1))
    write(axes, 0.12, 1.55, "compare", INK, ha="left")
    _draw_box(axes, (2.79, 2.61), 3.7, "softmax: shares of one whole", INK)
    for x, weight in zip(_COLUMNS, weights, strict=True):
        cell = {"fc": WEIGHT, "alpha": weight, "lw": 0}
        add_cell(axes, (x - 0.43, 3.14), 0.86, 0.32, **cell)
        write(axes, x, 3.3, share(weight), size=11)
        band = {"color": WEIGHT, "lw": 14 * weight, "solid_capstyle": "butt"}
        axes.plot((x, x), (3.46, 4.0), **band)
        axes.plot((x, 2.79), (4.16, 4.92), **band)
    for x, token in zip(_COLUMNS, TOKENS, strict=True):
        _draw_box(axes, (x, 4.1), 0.86, token, VALUE)
    _draw_box(axes, (2.79, 4.98), 2.0, "output of “deployed”", INK)
    write(axes, 0.12, 4.55, "mix", INK, ha="left")
    sum_of_parts = " + ".join(
        f"{share(weight)} V{number}"
        for weight, number in zip(weights, "₁₂₃₄", strict=True)
    )
    write(axes, 2.79, 5.33, f"= {sum_of_parts}", size=9.5)
    return figure


def say_idea():
    """Say the way of one query."""
    scores = listed(f"{score:.1f}" for score in SCALED)
    return (
        "The query of “deployed” meets four keys. The scaled scores are "
        f"{scores}; softmax turns them into the weights "
        f"{named(TOKENS, softmax(SCALED))}; the output is the mix of the four "
        "values in these shares."
    )


def _draw_box(axes, middle, width, words, ink):
    x, y = middle
    # above the lines, which end inside: no blunt end sticks out
    box = {"fc": GROUND, "ec": ink, "lw": 1.4, "zorder": 3}
    add_cell(axes, (x - width / 2, y - 0.18), width, 0.36, **box)
    write(axes, x, y, words, ink, zorder=4)


def _draw_arrow(axes, start, end):
    axes.plot(*zip(start, end, strict=True), color=MUTED, lw=1)
    axes.plot(*end, "v", color=MUTED, ms=5)


idea = Explorable("weighted-sum-idea", draw_idea, say_idea)
