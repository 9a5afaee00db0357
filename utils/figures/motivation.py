"""Why self-attention: who looks at whom, where "bank" goes, how far it is."""

from functools import lru_cache

import numpy as np
from matplotlib.figure import Figure
from matplotlib.patches import PathPatch, Rectangle
from matplotlib.path import Path

from utils import trained
from utils.explore import Explorable, Slider
from utils.explore.palette import (
    GRID,
    GROUND,
    INK,
    KEY,
    MUTED,
    OTHER,
    QUERY,
    WEIGHT,
)

__all__ = [
    "bank",
    "bank_cosines",
    "bank_plane",
    "convolution_layers",
    "draw_bank",
    "draw_gaze",
    "draw_path",
    "gaze",
    "path",
    "say_bank",
    "say_gaze",
    "say_path",
]

WIDTH = 4.8

# A name in a state link: the sentence, and the token that looks first.
SENTENCES = {
    "animal": ("The animal crossed the road because it was frightened.", 7),
    "ready": (
        "The developer deployed the application because it was ready.",
        7,
    ),
    "loan": ("The bank approved the loan.", 2),
    "river": ("We sat beside the river bank.", 6),
    "watched": ("She sat on the bank and watched the river.", 5),
    "deployed": ("The developer deployed the application.", 3),
}

# Layer, head, and what a search among all 72 heads found it to do.
HEADS = {
    "L5H11": (5, 11, "found for it → animal"),
    "L4H4": (4, 4, "found for it → application"),
    "L2H8": (2, 8, "found for it → ready"),
    "L5H7": (5, 7, "found for bank → loan"),
    "L5H4": (5, 4, "found for bank → approved"),
    "L0H4": (0, 4, "found for bank → river"),
    "L0H2": (0, 2, "looks one token back"),
}

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

NUMBERS = (2, 3, 5, 9, 17, 33, 65, 129, 257, 513, 1000)
KERNELS = (3, 5, 9, 17, 33)
MOST_ARCS = 128
MOST_TOKENS = 12


# --- who looks at whom ------------------------------------------------------


def draw_gaze(sentence, head, token):
    """Draw one token's weights as ribbons to the tokens it looks at.

    Parameters
    ----------
    sentence : str
        A name in SENTENCES.
    head : str
        A name in HEADS.
    token : int
        The place of the token that looks, [CLS] being 0.

    Returns
    -------
    Figure
        Ribbon widths are the weights on one fixed scale: together they are
        the height of the bar they leave from.
    """
    names, weights = _gaze(sentence, head, token)
    figure, axes = _page(5.15)
    unit = 0.7  # inches for a weight of 1: twice the least distance of rows
    left, right = 1.32, 2.95
    rows = np.linspace(0.86, 4.71, len(names))
    starts = rows[token] + unit * (np.cumsum(weights) - (1 + weights) / 2)
    _note(axes, 1.02, 0.22, "who looks", QUERY, "right")
    _note(axes, right + 0.12, 0.22, "at whom", KEY, "left")
    _note(axes, WIDTH - 0.2, 0.22, "weight", INK, "right")
    bar = (left - 0.06, rows[token] - unit / 2), 0.06, unit
    axes.add_patch(Rectangle(*bar, facecolor=QUERY))
    for place in range(MOST_TOKENS):
        # blank rows end a short sentence, so that all pictures are one tree
        there = place < len(names)
        name, weight, row, start = (
            (names[place], weights[place], rows[place], starts[place])
            if there
            else (" ", 0, rows[-1], rows[-1])
        )
        looks, most = place == token, place == np.argmax(weights)
        number = f"{weight:.3f}" if there else " "
        asker = (f"{name} ▸", QUERY) if looks else (name, MUTED)
        _draw_ribbon(axes, (left, start), (right, row), 72 * unit * weight)
        _note(axes, 1.02, row, *asker, "right", bold=looks)
        _note(axes, right + 0.12, row, name, INK, "left", bold=most)
        _note(axes, WIDTH - 0.2, row, number, INK, "right", bold=most)
    return figure


def say_gaze(sentence, head, token):
    """Say the two largest weights of one token, and what is left.

    Parameters
    ----------
    sentence, head : str
    token : int

    Returns
    -------
    str
    """
    names, weights = _gaze(sentence, head, token)
    layer, number, found = HEADS[head]
    first, second = np.argsort(-weights, kind="stable")[:2]
    rest = max(0, 1 - weights[first] - weights[second])
    return (
        f"Layer {layer}, head {number} ({found}): "
        f"{_whole(names, token)} takes {weights[first]:.3f} of its mixture "
        f"from {_other(names, first, token)}, {weights[second]:.3f} from "
        f"{_other(names, second, token)} and "
        f"{rest:.3f} from the other "
        f"{len(names) - 2} tokens together."
    )


def _draw_ribbon(axes, start, end, width):
    middle = (start[0] + end[0]) / 2
    curve = Path(
        [start, (middle, start[1]), (middle, end[1]), end],
        [Path.MOVETO, *3 * [Path.CURVE4]],
    )
    look = {"edgecolor": WEIGHT, "linewidth": width, "capstyle": "butt"}
    axes.add_patch(PathPatch(curve, fill=False, **look))


# --- where "bank" goes ------------------------------------------------------


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
            f"{_signed(group.min())} to {_signed(group.max())}"
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
    figure, axes = _page(3.7)
    spots = [2.38, 1.95] + places[: layer + 1] * [3.4, -3.4]  # in inches
    _note(axes, 2.38, 0.24, _when(layer), INK, bold=True)
    _note(axes, 0.98, 0.6, "■ money", OTHER, "right", bold=True)
    _note(axes, 3.88, 0.6, "○ river", INK, "left", bold=True)
    slots = [1.3, 1.9, 2.5, 1.1, 1.7, 2.3, 2.9]
    for trail, name, sense, slot in zip(
        spots.swapaxes(0, 1), BANKS.values(), _senses(), slots, strict=True
    ):
        money = sense == "money"
        colour, x, side = (
            (OTHER, 0.98, "right") if money else (INK, 3.88, "left")
        )
        _note(axes, x, slot, name, colour, side)
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
    _note(axes, WIDTH / 2, 3.44, spread, MUTED)
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


# --- how far apart two words are --------------------------------------------


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
    figure, axes = _page(4.35)
    span, reach = num_words - 1, width // 2
    layers = convolution_layers(num_words, width)
    reached = _counted(reach, "word")
    lanes = (
        (
            "recurrent network",
            "each word waits for the one before",
            _counted(span, "move"),
            1,
            MUTED,
        ),
        (
            f"stacked convolutions of width {width}",
            f"each layer reaches {reached} to either side",
            _counted(layers, "layer"),
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
        _note(axes, 0.3, ground - 0.97, name, colour, "left", bold=True)
        _note(axes, 4.5, ground - 0.97, steps, colour, "right", bold=True)
        _note(axes, 0.3, ground - 0.75, how, MUTED, "left")
        _draw_hops(axes, ground, span, hop, colour)
    _note(axes, 0.3, 4.15, "word 1", INK, "left")
    _note(axes, 4.5, 4.15, f"word {num_words:,}", INK, "right")
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
    moves = _counted(num_words - 1, "move")
    layers = _counted(convolution_layers(num_words, width), "layer")
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


# --- shared -----------------------------------------------------------------


def _gaze(sentence, head, token):
    """The tokens, and one row of weights to three places."""
    text = SENTENCES[sentence][0]
    layer, number, _ = HEADS[head]
    return (
        trained.tokens(text),
        trained.head_weights(text, layer, number)[token].round(3),
    )


def _whole(names, place):
    """Name a token, and which one it is if the word comes twice."""
    if names.count(names[place]) == 1:
        return f"“{names[place]}”"
    nth = ("first", "second")[names[:place].count(names[place])]
    return f"the {nth} “{names[place]}”"


def _other(names, place, token):
    return "itself" if place == token else _whole(names, place)


def _senses():
    senses = trained.bank_sentences()
    return [senses[text] for text in BANKS]


def _bank_directions():
    """Vectors of "bank" scaled to length 1: depth, sentence, 384."""
    vectors = np.stack([trained.layer_vectors(text) for text in BANKS], axis=1)
    return vectors / np.linalg.norm(vectors, axis=-1, keepdims=True)


def _when(layer):
    return f"After layer {layer}" if layer else "Before the first layer"


def _signed(number):
    return f"{number:.3f}".replace("-", "−")


def _counted(number, thing):
    return f"{number:,} {thing}" + ("" if number == 1 else "s")


def _page(height):
    """A figure whose only axes count inches, from the top left."""
    figure = Figure(figsize=(WIDTH, height))
    axes = figure.add_axes([0, 0, 1, 1])
    axes.set(xlim=(0, WIDTH), ylim=(height, 0))
    axes.set_axis_off()
    return figure, axes


def _note(axes, x, y, text, colour, side="center", bold=False):
    weight = "bold" if bold else "normal"
    axes.text(x, y, text, color=colour, ha=side, va="center", weight=weight)


gaze = Explorable(
    "motivation-gaze",
    draw_gaze,
    say_gaze,
    Slider(
        "sentence",
        list(SENTENCES),
        texts=[text for text, _ in SENTENCES.values()],
    ),
    Slider(
        "head",
        list(HEADS),
        texts=[
            f"{name}: {found.removeprefix('found for ')}"
            for name, (_, _, found) in HEADS.items()
        ],
    ),
    Slider(
        "token",
        {
            name: range(len(trained.tokens(text)))
            for name, (text, _) in SENTENCES.items()
        },
        start={name: first for name, (_, first) in SENTENCES.items()},
        label="who looks",
        texts={
            name: trained.tokens(text) for name, (text, _) in SENTENCES.items()
        },
        given="sentence",
    ),
)

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

path = Explorable(
    "motivation-path",
    draw_path,
    say_path,
    Slider("num_words", NUMBERS, start=33, label="words"),
    Slider("width", KERNELS, start=5, label="width of the convolution"),
)
