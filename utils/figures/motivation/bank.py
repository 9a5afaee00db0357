"""Where seven vectors of "bank" go, layer by layer."""

from functools import lru_cache

import numpy as np
from matplotlib.figure import Figure

from utils import trained
from utils.explore import Explorable, Slider
from utils.explore.palette import (
    GRID,
    GROUND,
    INK,
    MUTED,
    OTHER,
)
from utils.figures.drawing import WIDTH, blank_page, write
from utils.figures.wording import signed

# Each sentence with "bank": its short label.
BANKS = {
    "He opened an account at the bank.": "account",
    "The bank approved the loan.": "loan",
    "The bank raised its interest rates.": "interest",
    "Wild flowers grew along the muddy bank.": "muddy",
    "They fished from the bank of the stream.": "stream",
    "We sat beside the river bank.": "river bank",
    "She sat on the bank and watched the river.": "she sat",
}


@lru_cache(maxsize=1)
def bank_plane():
    """Project the vectors of "bank" on the plane where they spread most.

    Returns
    -------
    places : ndarray, shape (7, 7, 2)
        Depth, sentence in the order of BANKS, and the two coordinates.
    shares : ndarray, shape (2,)
        How much of the spread of all 49 vectors each coordinate holds.

    Notes
    -----
    Every vector is scaled to length 1, so that distance means angle, and at
    every depth the seven are taken around their own mean. The plane is that
    of the first two principal components of all 49, the same at each depth.
    """
    around = _bank_directions()
    around = around - around.mean(axis=1, keepdims=True)
    flat = around.reshape(-1, around.shape[-1])
    _, spreads, axes = np.linalg.svd(flat, full_matrices=False)
    axes = axes[:2]
    # a component has no sign of its own: "account" is left and up
    places = around @ axes.T
    places = places * np.where(places[-1, 0] * [-1, 1] < 0, -1, 1)
    places.flags.writeable = False
    return places, spreads[:2] ** 2 / (spreads**2).sum()


def bank_cosines():
    """Compare the vectors of "bank", each sentence with each other.

    Returns
    -------
    same, different : ndarray, shape (7, 9) and (7, 12)
        Depth, and the pairs of one sense and of two senses.
    """
    directions = _bank_directions()
    cosines = directions @ directions.swapaxes(1, 2)
    senses = np.array(_senses())
    one, other = np.triu_indices(len(senses), 1)
    pairs, alike = cosines[:, one, other], senses[one] == senses[other]
    return pairs[:, alike], pairs[:, ~alike]


def draw_bank(view, layer):
    """Draw where seven vectors of "bank" stand after a layer.

    Parameters
    ----------
    view : str
        "plane" or "cosine".
    layer : int
        How many layers have been passed, 0 to 6.

    Returns
    -------
    Figure
    """
    return _draw_plane(layer) if view == "plane" else _draw_cosine(layer)


def say_bank(view, layer):
    """Say how far the two senses have parted.

    Parameters
    ----------
    view : str
    layer : int

    Returns
    -------
    str
    """
    if view == "plane":
        across = bank_plane()[0][layer, :, 0]
        river = np.array(_senses()) == "river"
        money, water = (
            f"{signed(group.min())} to {signed(group.max())}"
            for group in (across[~river], across[river])
        )
        return (
            f"{_when(layer)}, the money banks stand from {money} along the "
            f"horizontal axis, the river banks from {water}."
        )
    same, different = (pairs[layer] for pairs in bank_cosines())
    return (
        f"{_when(layer)}, two banks of the same sense have a cosine of "
        f"{same.mean():.3f} on average, {same.min():.3f} at the lowest. For "
        f"different senses it is {different.mean():.3f} on average, "
        f"{different.max():.3f} at the highest."
    )


def _draw_plane(layer):
    places, shares = bank_plane()
    figure, axes = blank_page(3.7)
    spots = [2.38, 1.95] + places[: layer + 1] * [3.4, -3.4]  # in inches
    write(axes, 2.38, 0.24, _when(layer), INK, bold=True, size=10)
    write(axes, 0.98, 0.6, "■ money", OTHER, "right", bold=True, size=10)
    write(axes, 3.88, 0.6, "○ river", INK, "left", bold=True, size=10)
    slots = [1.3, 1.9, 2.5, 1.1, 1.7, 2.3, 2.9]
    for trail, name, sense, slot in zip(
        spots.swapaxes(0, 1), BANKS.values(), _senses(), slots, strict=True
    ):
        money = sense == "money"
        colour, x, side = (
            (OTHER, 0.98, "right") if money else (INK, 3.88, "left")
        )
        write(axes, x, slot, name, colour, side, size=10)
        end = x + (0.07 if money else -0.07)
        axes.plot([end, trail[-1, 0]], [slot, trail[-1, 1]], color=GRID, lw=1)
        axes.plot(*trail.T, ".-", color=colour, lw=1.3, ms=4, alpha=0.4)
        shape = (
            {"marker": "s", "ms": 10, "mfc": OTHER, "mec": GROUND}
            if money
            else {"marker": "o", "ms": 6, "mfc": GROUND, "mec": INK}
        )
        axes.plot(*trail[-1], mew=1.5, zorder=3 if money else 4, **shape)
    across, up = (f"{100 * share:.0f}%" for share in shares)
    spread = f"The plane holds {across} (across) and {up} (up) of the spread."
    write(axes, WIDTH / 2, 3.44, spread, MUTED, size=10)
    return figure


def _draw_cosine(layer):
    figure = Figure(figsize=(WIDTH, 3.7))
    axes = figure.add_axes([0.135, 0.14, 0.845, 0.62])
    axes.set(xlim=(-0.2, 6.2), ylim=(0.63, 1.02), xticks=range(7))
    axes.set(xlabel="layers passed", ylabel="cosine of a pair")
    figure.text(0.5, 0.935, _when(layer), ha="center", weight="bold")
    axes.axvline(layer, color=GRID, lw=7, solid_capstyle="butt")
    so_far = slice(layer + 1)
    kinds = (
        ("same sense", OTHER, "-", 0.0),
        ("different senses", INK, (0, (3, 1.2)), 0.45),
    )
    for pairs, (name, colour, dashes, x) in zip(
        bank_cosines(), kinds, strict=True
    ):
        mean, look = pairs.mean(axis=1), {"color": colour, "ls": dashes}
        axes.plot(range(7)[so_far], pairs[so_far], lw=0.8, alpha=0.35, **look)
        axes.plot(range(7)[so_far], mean[so_far], lw=2.6, **look)
        axes.plot(layer, mean[layer], "o", color=colour, ms=7.5, mec=GROUND)
        axes.plot(
            [x + 0.01, x + 0.09],
            [1.12, 1.12],
            lw=2.6,
            clip_on=False,
            transform=axes.transAxes,
            **look,
        )
        axes.text(
            x + 0.11,
            1.12,
            f"{name} {mean[layer]:.3f}",
            color=colour,
            transform=axes.transAxes,
            va="center",
        )
    return figure


def _senses():
    senses = trained.bank_sentences()
    return [senses[text] for text in BANKS]


def _bank_directions():
    """Vectors of "bank" scaled to length 1: depth, sentence, 384."""
    vectors = np.stack([trained.layer_vectors(text) for text in BANKS], axis=1)
    return vectors / np.linalg.norm(vectors, axis=-1, keepdims=True)


def _when(layer):
    return f"After layer {layer}" if layer else "Before the first layer"


bank = Explorable(
    "motivation-bank",
    draw_bank,
    say_bank,
    Slider(
        "view",
        ["plane", "cosine"],
        texts=["the seven vectors in a plane", "cosines of all pairs"],
    ),
    Slider(
        "layer",
        range(7),
        start=0,
        label="layers passed",
        play=True,
    ),
)
