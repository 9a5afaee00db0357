"""The sinusoidal encoding as clock hands, waves and a similarity."""

import numpy as np

from utils.explore import Explorable, Slider
from utils.explore.palette import GRID, GROUND, INK, MUTED, OTHER
from utils.figures.drawing import blank_page, write
from utils.figures.wording import listed, signed
from utils.positions import angular_speeds, sinusoidal_encoding

D_MODEL, NUM_POSITIONS = 16, 64
NUM_WAVES, SWING = 4, 0.09  # inches, so that the dots of two rows stay apart
HEIGHT = 5.7
TITLE = {"ha": "left", "size": 10.5}
RADIUS, MIDDLE = 0.22, 0.82  # of the clocks, in inches


def similarity(distance):
    """Compare the encodings of two positions: the mean cosine of a pair.

    Parameters
    ----------
    distance : int or ndarray of int
        How many positions lie between them.

    Returns
    -------
    float or ndarray
        Their dot product over its largest value, d_model / 2.

    Examples
    --------
    >>> round(float(similarity(0)), 3), round(float(similarity(-1)), 3)
    (1.0, 0.936)
    """
    angles = np.multiply.outer(distance, angular_speeds(D_MODEL))
    return np.cos(angles).mean(axis=-1)


def draw_clocks(position):
    """Draw the encoding of one position, and how like it the others are.

    Parameters
    ----------
    position : int

    Returns
    -------
    Figure
    """
    figure, page = blank_page(HEIGHT)
    _draw_hands(page, position)
    _draw_waves(page, position)
    _draw_similarity(figure, position)
    return figure


def say_clocks(position):
    """Say two of the pairs, and how like this position its neighbours are."""
    encoding = sinusoidal_encoding(NUM_POSITIONS, D_MODEL)
    first, last = (
        f"({signed(pair[0])}, {signed(pair[1])})"
        for pair in (encoding[position, :2], encoding[position, -2:])
    )
    others = [
        position + step if position + step < NUM_POSITIONS else position - step
        for step in (1, 10, 30)
    ]
    near = listed(
        f"{signed(similarity(other - position))} to position {other}"
        for other in others
    )
    return (
        f"At position {position} the first pair, sine and cosine, is {first}, "
        f"the last {last}. The similarity is 1 to itself, {near}."
    )


def _draw_hands(page, position):
    speeds = angular_speeds(D_MODEL)
    encoding = sinusoidal_encoding(NUM_POSITIONS, D_MODEL)[position]
    title = f"Position {position}: eight clock hands, 16 features"
    write(page, 0.18, 0.2, title, **TITLE)
    places = np.linspace(0.78, 4.44, len(speeds))
    for name, y in (("pair", 0.47), ("sin", 1.2), ("cos", 1.38)):
        write(page, 0.18, y, name, MUTED, ha="left")
    write(page, 0.18, 1.6, "a turn", MUTED, ha="left")
    page.plot(*_circles(places), color=MUTED, lw=1)
    page.plot(*_spokes(places, 0, 1, 0.15, 0.22), color=MUTED, lw=1)
    sines, cosines = encoding[0::2], encoding[1::2]
    page.plot(*_spokes(places, sines, cosines, 0, 0.2), color=OTHER, lw=2.4)
    for i, x in enumerate(places):
        turn = 2 * np.pi / speeds[i]
        write(page, x, 0.47, f"{i}", MUTED)
        write(page, x, 1.2, signed(sines[i], 2))
        write(page, x, 1.38, signed(cosines[i], 2))
        write(page, x, 1.6, f"{turn:.1f}" if i == 0 else f"{turn:,.0f}", MUTED)
    note = "a turn: how many positions a hand takes to go round"
    write(page, 0.18, 1.81, note, MUTED, ha="left")


def _circles(places):
    """Draw the rims of all clocks as one line, broken between them."""
    angle = np.append(np.linspace(0, 2 * np.pi, 37), np.nan)
    x = np.add.outer(places, RADIUS * np.sin(angle))
    y = np.tile(MIDDLE - RADIUS * np.cos(angle), (len(places), 1))
    return x.ravel(), y.ravel()


def _spokes(places, sines, cosines, start, end):
    """Draw a spoke in each clock, from one radius to another."""
    radii = np.array([start, end, np.nan])
    sines, cosines = (
        np.broadcast_to(a, len(places)) for a in (sines, cosines)
    )
    x = places[:, None] + np.multiply.outer(sines, radii)
    y = MIDDLE - np.multiply.outer(cosines, radii)
    return x.ravel(), y.ravel()


def _draw_waves(page, position):
    left, step, top, gap = 0.672, 0.0632, 2.42, 0.28
    write(page, left, 2.12, "The sines, over all positions", **TITLE)
    line = np.linspace(0, NUM_POSITIONS - 1, 253)
    speeds = angular_speeds(D_MODEL)[:NUM_WAVES]
    rows = top + gap * np.arange(NUM_WAVES)
    here = left + step * position
    page.plot([here] * 2, [top - 0.15, rows[-1] + 0.15], color=GRID, lw=3)
    for i, y in enumerate(rows):
        wave = y - SWING * np.sin(speeds[i] * line)
        page.plot(left + step * line, wave, color=MUTED, lw=1.2)
        write(page, left - 0.1, y, f"pair {i}", MUTED, ha="right")
    dots = rows - SWING * np.sin(speeds * position)
    style = {"color": OTHER, "mec": GROUND, "ms": 7}
    page.plot([here] * NUM_WAVES, dots, "o", **style)


def _draw_similarity(figure, position):
    axes = figure.add_axes([0.14, 0.1, 0.83, 0.22])
    axes.set_title(f"How similar to position {position}")
    axes.set(xlim=(0, NUM_POSITIONS - 1), ylim=(0, 1.08))
    axes.set(xticks=range(0, 64, 10), yticks=[0, 0.5, 1])
    axes.set_xlabel("position")
    axes.axvline(position, color=GRID, lw=3, zorder=0)
    others = np.arange(NUM_POSITIONS)
    axes.plot(others, similarity(others - position), ".-", color=INK, ms=4)
    style = {"color": OTHER, "mec": GROUND, "ms": 7}
    axes.plot(position, 1, "o", clip_on=False, **style)


clocks = Explorable(
    "positional-encoding-clocks",
    draw_clocks,
    say_clocks,
    Slider("position", range(NUM_POSITIONS), 3, play=True),
)
