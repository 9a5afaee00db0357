"""Whom one token looks at, in a trained head: ribbons of weight."""

import numpy as np
from matplotlib.patches import PathPatch, Rectangle
from matplotlib.path import Path

from utils import trained
from utils.explore import Explorable, Slider
from utils.explore.palette import INK, KEY, MUTED, QUERY, WEIGHT
from utils.figures.drawing import WIDTH, blank_page, write

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
MOST_TOKENS = 12


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
    figure, axes = blank_page(5.15)
    unit = 0.7  # inches for a weight of 1: twice the least distance of rows
    left, right = 1.32, 2.95
    rows = np.linspace(0.86, 4.71, len(names))
    starts = rows[token] + unit * (np.cumsum(weights) - (1 + weights) / 2)
    write(axes, 1.02, 0.22, "who looks", QUERY, "right", size=10)
    write(axes, right + 0.12, 0.22, "at whom", KEY, "left", size=10)
    write(axes, WIDTH - 0.2, 0.22, "weight", INK, "right", size=10)
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
        write(axes, 1.02, row, *asker, "right", bold=looks, size=10)
        write(axes, right + 0.12, row, name, INK, "left", bold=most, size=10)
        write(axes, WIDTH - 0.2, row, number, INK, "right", bold=most, size=10)
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
