"""All heads of a trained encoder at once: how much each gives one token."""

import numpy as np

from utils import trained
from utils.explore import Explorable, Slider
from utils.explore.palette import KEY, MUTED, QUERY, WEIGHT
from utils.figures.architectures.cells import fill_cells, outline_cells
from utils.figures.drawing import blank_page, write
from utils.figures.wording import share

SENTENCES = (
    "The animal crossed the road because it was frightened.",
    "The developer deployed the application because it was ready.",
    "The developer deployed the application.",
    "The bank approved the loan.",
    "She sat on the bank and watched the river.",
)
LAYERS, HEADS = 6, 12
_LEFT, _TOP, _WIDE, _TALL = 0.72, 1.42, 0.33, 0.3
LEAST_PRINTED = 0.05


def board_weights(sentence):
    """Collect the row of the asking token from every head.

    Parameters
    ----------
    sentence : str

    Returns
    -------
    ndarray, shape (6, 12, N)
    """
    asking = trained.tokens(sentence).index(trained.focus_word(sentence))
    return np.array(
        [
            [
                trained.head_weights(sentence, layer, head)[asking]
                for head in range(HEADS)
            ]
            for layer in range(LAYERS)
        ]
    )


def draw_board(sentence, target):
    """Draw how much each head gives one token, and where it is the most.

    Parameters
    ----------
    sentence : str
        One of SENTENCES.
    target : int
        The place of the token looked at.

    Returns
    -------
    Figure
    """
    tokens, asking = trained.tokens(sentence), trained.focus_word(sentence)
    rows = board_weights(sentence)
    weights, most = rows[..., target], rows.argmax(axis=-1) == target
    figure, axes = blank_page(3.95)
    _write_sentence(axes, tokens, tokens.index(asking), target)
    title = f"How much “{asking}” takes from “{tokens[target]}”, head by head"
    write(axes, 0.1, 0.93, title, ha="left", size=10)
    for head in range(HEADS):
        x = _LEFT + (head + 0.5) * _WIDE
        write(axes, x, _TOP - 0.12, str(head), MUTED)
    write(axes, 0.1, _TOP - 0.12, "head", MUTED, ha="left")
    for layer in range(LAYERS):
        y = _TOP + (layer + 0.5) * _TALL
        write(axes, 0.1, y, f"layer {layer}", MUTED, ha="left")
    xs = _LEFT + _WIDE * np.arange(HEADS + 1)
    ys = _TOP + _TALL * np.arange(LAYERS + 1)
    fill_cells(axes, xs, ys, WEIGHT, weights)
    outline_cells(axes, xs, ys, most)
    for (layer, head), weight in np.ndenumerate(weights):
        text = f"{weight:.2f}" if weight >= LEAST_PRINTED else "·"
        write(axes, xs[head] + _WIDE / 2, ys[layer] + _TALL / 2, text)
    y = _TOP + LAYERS * _TALL + 0.2
    outlined = f"outlined: {tokens[target]} gets the most of this head’s row"
    note = f"{outlined} ({int(most.sum())} of {most.size})"
    write(axes, 0.1, y, note, ha="left")
    write(axes, 0.1, y + 0.19, "a dot: less than 0.05", MUTED, ha="left")
    return figure


def say_board(sentence, target):
    """Say which head gives the most, and how many give most to the token."""
    tokens, asking = trained.tokens(sentence), trained.focus_word(sentence)
    rows = board_weights(sentence)
    weights, most = rows[..., target], rows.argmax(axis=-1) == target
    layer, head = np.unravel_index(weights.argmax(), weights.shape)
    give, their = ("gives", "its") if most.sum() == 1 else ("give", "their")
    return (
        f"Asking: “{asking}”, in “{sentence}” Of {most.size} heads, "
        f"{most.sum()} {give} “{tokens[target]}” the largest weight of "
        f"{their} row. Layer {layer}, head {head} gives it the most, "
        f"{share(weights.max())}; the average over all heads is "
        f"{share(weights.mean())}."
    )


def _write_sentence(axes, tokens, asking, target):
    """Write the sentence in two lines, the two tokens marked."""
    half = (len(tokens) + 1) // 2
    step = 4.6 / half
    for i, token in enumerate(tokens):
        line, place = divmod(i, half)
        x, y = 0.1 + (place + 0.5) * step, 0.22 + 0.34 * line
        ink = QUERY if i == asking else KEY if i == target else MUTED
        write(axes, x, y, token, ink, bold=i in (asking, target))
        for marked, colour, low in (
            (asking, QUERY, 0.11),
            (target, KEY, 0.15),
        ):
            if i == marked:
                ends = [x - 0.3, x + 0.3]
                axes.plot(ends, [y + low] * 2, color=colour, lw=1.6)


_PLACES = {s: list(range(len(trained.tokens(s)))) for s in SENTENCES}
_NAMED = {
    s: [f"{i}: {token}" for i, token in enumerate(trained.tokens(s))]
    for s in SENTENCES
}
_STARTS = dict(
    zip(
        SENTENCES,
        (
            trained.tokens(s).index(word)
            for s, word in zip(
                SENTENCES,
                ("animal", "application", "application", "loan", "river"),
                strict=True,
            )
        ),
        strict=True,
    )
)

board = Explorable(
    "architectures-board",
    draw_board,
    say_board,
    Slider("sentence", list(SENTENCES)),
    Slider(
        "target",
        _PLACES,
        _STARTS,
        given="sentence",
        texts=_NAMED,
        label="token looked at",
    ),
)
