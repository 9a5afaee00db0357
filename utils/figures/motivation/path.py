"""How many steps lie between two words, in three kinds of network."""

import numpy as np
from matplotlib.patches import PathPatch, Rectangle
from matplotlib.path import Path

from utils.explore import Explorable, Slider
from utils.explore.palette import GRID, GROUND, INK, MUTED, OTHER, QUERY
from utils.figures.drawing import blank_page, write
from utils.figures.wording import counted

NUMBERS = (2, 3, 5, 9, 17, 33, 65, 129, 257, 513, 1000)
KERNELS = (3, 5, 9, 17, 33)
MOST_ARCS = 128


def convolution_layers(num_words, width):
    """Count the layers until the last word has met the first.

    Parameters
    ----------
    num_words : int
    width : int
        Odd: each layer reaches (width - 1) / 2 words to either side.

    Returns
    -------
    int

    Raises
    ------
    ValueError
        If there is no word, or the width is even or less than 3.

    Notes
    -----
    Table 1 of Vaswani et al. (2017) gives the order, N / width.

    Examples
    --------
    >>> convolution_layers(1000, 5)
    500
    """
    if num_words < 1 or width < 3 or width % 2 == 0:
        raise ValueError(
            "num_words must be at least 1 and width odd and at least 3, "
            f"received {num_words} and {width}"
        )
    reach = width // 2
    return (num_words - 1 + reach - 1) // reach


def draw_path(num_words, width):
    """Draw the way from the first word to the last, three times.

    Parameters
    ----------
    num_words : int
    width : int
        Of the convolution.

    Returns
    -------
    Figure
        An arc for each step; more than 128 are drawn as one band.
    """
    figure, axes = blank_page(4.35)
    span, reach = num_words - 1, width // 2
    layers = convolution_layers(num_words, width)
    reached = counted(reach, "word")
    lanes = (
        (
            "recurrent network",
            "each word waits for the one before",
            counted(span, "move"),
            1,
            MUTED,
        ),
        (
            f"stacked convolutions of width {width}",
            f"each layer reaches {reached} to either side",
            counted(layers, "layer"),
            reach,
            OTHER,
        ),
        (
            "self-attention",
            "each word reaches every word",
            "1 step",
            span,
            QUERY,
        ),
    )
    for lane, (name, how, steps, hop, colour) in enumerate(lanes):
        ground = 1.25 + 1.35 * lane
        head = {"ink": colour, "bold": True, "size": 10}
        write(axes, 0.3, ground - 0.97, name, ha="left", **head)
        write(axes, 4.5, ground - 0.97, steps, ha="right", **head)
        write(axes, 0.3, ground - 0.75, how, MUTED, "left", size=10)
        _draw_hops(axes, ground, span, hop, colour)
    write(axes, 0.3, 4.15, "word 1", INK, "left", size=10)
    write(axes, 4.5, 4.15, f"word {num_words:,}", INK, "right", size=10)
    return figure


def say_path(num_words, width):
    """Say how many steps each way takes.

    Parameters
    ----------
    num_words : int
    width : int

    Returns
    -------
    str
    """
    moves = counted(num_words - 1, "move")
    layers = counted(convolution_layers(num_words, width), "layer")
    return (
        f"From word 1 to word {num_words:,}: {moves} through a recurrent "
        f"network ({num_words:,} steps if reading word 1 is counted), "
        f"{layers} of convolutions of width {width}, 1 step of "
        "self-attention."
    )


def _draw_hops(axes, ground, span, reach, colour):
    """Draw arcs of `reach` words each until `span` words are crossed."""
    left, right = 0.35, 4.45
    stops = left + (right - left) * _stops(span, reach) / span
    tall = 0.5 * np.sqrt((stops[1] - stops[0]) / (right - left))
    tall = max(0.13, tall)  # many short arcs make a band, not a thin line
    axes.plot([left, right], [ground, ground], color=GRID, lw=1)
    if len(stops) > 1 + MOST_ARCS:
        band = (left, ground - tall), right - left, tall
        axes.add_patch(Rectangle(*band, facecolor=colour))
    else:
        points = []
        for a, b in zip(stops[:-1], stops[1:], strict=True):
            top = ground - tall * 4 / 3
            points += [(a, ground), (a, top), (b, top), (b, ground)]
        codes = [Path.MOVETO, *3 * [Path.CURVE4]] * (len(stops) - 1)
        arcs = Path(points, codes)
        axes.add_patch(PathPatch(arcs, fill=False, edgecolor=colour, lw=1.6))
    ends = [left, right], [ground, ground]
    axes.plot(*ends, "o", color=GROUND, mec=INK, mew=1.5, ms=6)


def _stops(span, reach):
    """Where a way stops that crosses `span` words, `reach` at a time."""
    return np.append(np.arange(0, span, reach), span)


path = Explorable(
    "motivation-path",
    draw_path,
    say_path,
    Slider("num_words", NUMBERS, start=33, label="words"),
    Slider("width", KERNELS, start=5, label="width of the convolution"),
)
