"""The sinusoidal encoding as clock hands, waves and a similarity."""

import numpy as np

from utils.explore import Explorable, Slider
from utils.explore.palette import GRID, GROUND, INK, MUTED, OTHER
from utils.figures.drawing import blank_page, write
from utils.figures.wording import listed, signed
from utils.positions import angular_speeds, sinusoidal_encoding

D_MODEL, NUM_POSITIONS = 16, 64
NUM_WAVES = 4
HEIGHT = 5.7


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
    _draw_waves(figure, position)
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
    write(page, 0.18, 0.2, title, ha="left", size=10.5)
    places = np.linspace(0.78, 4.44, len(speeds))
    for name, y in (("pair", 0.47), ("sin", 1.2), ("cos", 1.38)):
        write(page, 0.18, y, name, MUTED, ha="left")
    write(page, 0.18, 1.6, "a turn", MUTED, ha="left")
    radius, y = 0.22, 0.82
    angle = np.linspace(0, 2 * np.pi, 49)
    for i, (x, speed) in enumerate(zip(places, speeds, strict=True)):
        sine, cosine = encoding[2 * i : 2 * i + 2]
        rim = x + radius * np.sin(angle), y - radius * np.cos(angle)
        page.plot(*rim, color=MUTED, lw=1)
        page.plot([x, x], [y - radius, y - 0.15], color=MUTED, lw=1)
        hand = [x, x + 0.2 * sine], [y, y - 0.2 * cosine]
        page.plot(*hand, color=OTHER, lw=2.4)
        write(page, x, 0.47, f"{i}", MUTED)
        write(page, x, 1.2, signed(sine, 2))
        write(page, x, 1.38, signed(cosine, 2))
        turn = 2 * np.pi / speed
        write(page, x, 1.6, f"{turn:.1f}" if i == 0 else f"{turn:,.0f}", MUTED)
    note = "a turn: how many positions a hand takes to go round"
    write(page, 0.18, 1.81, note, MUTED, ha="left")


def _draw_waves(figure, position):
    axes = figure.add_axes([0.14, 0.405, 0.83, 0.205])
    axes.set_title("The sines, over all positions")
    axes.set(xlim=(-1, NUM_POSITIONS), ylim=(2.3 * NUM_WAVES - 1, -1.3))
    axes.set(xticks=[], yticks=[2.3 * i for i in range(NUM_WAVES)])
    axes.set_yticklabels([f"pair {i}" for i in range(NUM_WAVES)])
    axes.spines[:].set_visible(False)
    axes.tick_params(length=0)
    axes.axvline(position, color=GRID, lw=3, zorder=0)
    line = np.linspace(0, NUM_POSITIONS - 1, 253)
    speeds = angular_speeds(D_MODEL)
    for i in range(NUM_WAVES):
        wave = 2.3 * i - np.sin(speeds[i] * line)
        axes.plot(line, wave, color=MUTED, lw=1.2)
        dot = 2.3 * i - np.sin(speeds[i] * position)
        axes.plot(position, dot, "o", color=OTHER, mec=GROUND, ms=7)


def _draw_similarity(figure, position):
    axes = figure.add_axes([0.14, 0.1, 0.83, 0.21])
    axes.set_title(f"How similar to position {position}")
    axes.set(xlim=(-1, NUM_POSITIONS), ylim=(0, 1.08))
    axes.set(xticks=range(0, 64, 10), yticks=[0, 0.5, 1])
    axes.set_xlabel("position")
    axes.axvline(position, color=GRID, lw=3, zorder=0)
    others = np.arange(NUM_POSITIONS)
    axes.plot(others, similarity(others - position), ".-", color=INK, ms=4)
    axes.plot(position, 1, "o", color=OTHER, mec=GROUND, ms=7)


clocks = Explorable(
    "positional-encoding-clocks",
    draw_clocks,
    say_clocks,
    Slider("position", range(NUM_POSITIONS), 3, play=True),
)
