"""Along which axis attention runs: tokens, sentences or heads."""

import numpy as np

from utils.explore import Explorable, Slider
from utils.explore.palette import GRID, MUTED, QUERY, WEIGHT
from utils.figures.drawing import WIDTH, add_cell, blank_page, write
from utils.figures.in_pytorch.conventions import axis_weights
from utils.figures.wording import exact_share, listed

SENTENCES = (
    ("The", "developer", "deployed", "the", "application"),
    ("The", "engineer", "builds", "software", "today"),
    ("The", "bank", "approved", "the", "loan"),
)
HEADS = 2
SHAPE = (len(SENTENCES), len(SENTENCES[0]), HEADS)

# name: how the call reads, the axis of (sentence, token, head) it runs along
CALLS = {
    "first": ("batch_first=True on (batch, length, features)", 1),
    "default": ("batch_first=False on (batch, length, features)", 0),
    "BHLD": ("F.scaled_dot_product_attention on (B, H, L, D)", 1),
    "BLHD": ("F.scaled_dot_product_attention on (B, L, H, D)", 2),
}
_VERDICTS = (
    "✗ It takes from other texts, at the same place",
    "✓ It takes from the tokens of its own text",
    "✗ It takes from the other head, and from no other token",
)
_LEFT, _TOP, _WIDE, _HIGH, _BLOCK = 0.72, 0.82, 0.8, 0.27, 0.98


def draw_layout(call, sentence, token, head):
    """Draw from which tokens and heads one piece of a batch takes.

    Parameters
    ----------
    call : str
        A name in CALLS.
    sentence, token, head : int
        The piece that asks.

    Returns
    -------
    Figure
    """
    title, axis = CALLS[call]
    asks = (sentence, token, head)
    weights = axis_weights(SHAPE, asks, axis)
    figure, axes = blank_page(4.0)
    write(axes, 0.1, 0.2, title, ha="left", size=10.5)
    for (b, i, h), weight in np.ndenumerate(weights):
        x, y = _corner(b, i, h)
        if i == 0:
            write(axes, x - 0.08, y + _HIGH / 2, f"head {h}", MUTED, "right")
        if h == 0:
            name = SENTENCES[b][i]
            write(axes, x + _WIDE / 2, y - 0.13, name)
        wrong = bool(weight > 0 and (b != sentence or h != head))
        text = (exact_share(weight) if weight else " ") + " ✗" * wrong
        look = {"fc": (WEIGHT, weight), "ec": GRID, "lw": 1}
        add_cell(axes, (x, y), _WIDE, _HIGH, **look)
        middle = (x + _WIDE / 2, y + _HIGH / 2)
        write(axes, *middle, text, size=10, bold=wrong)
    frame = {"fill": False, "ec": QUERY, "lw": 2.5, "zorder": 3}
    add_cell(axes, _corner(*asks), _WIDE, _HIGH, **frame)
    for b in range(len(SENTENCES)):
        y = _TOP + b * _BLOCK - 0.13
        write(axes, _LEFT - 0.08, y, f"text {b}", MUTED, "right")
    write(axes, 0.1, 3.8, _VERDICTS[axis], ha="left", size=10)
    note = "outlined: who asks"
    write(axes, WIDTH - 0.1, 0.45, note, QUERY, "right")
    return figure


def say_layout(call, sentence, token, head):
    """Say what `draw_layout` draws, for the same values."""
    title, axis = CALLS[call]
    share = exact_share(
        axis_weights(SHAPE, (sentence, token, head), axis).max()
    )
    name = SENTENCES[sentence][token]
    words = (
        [tokens[token] for tokens in SENTENCES],
        SENTENCES[sentence],
        [name],
    )[axis]
    each = "both heads of" if axis == 2 else f"head {head} of"
    return (
        f"{title}: head {head} of “{name}” in text {sentence} takes {share} "
        f"each from {each} {listed(f'“{word}”' for word in words)}. "
        f"{_VERDICTS[axis][2:]}."
    )


def _corner(b, i, h):
    """The least x and y of a cell, in inches."""
    return _LEFT + i * _WIDE, _TOP + b * _BLOCK + h * _HIGH


layout = Explorable(
    "in-pytorch-layout",
    draw_layout,
    say_layout,
    Slider("call", list(CALLS), texts=[text for text, _ in CALLS.values()]),
    Slider(
        "sentence",
        range(len(SENTENCES)),
        label="text",
        texts=[" ".join(tokens) for tokens in SENTENCES],
    ),
    Slider(
        "token",
        {b: range(SHAPE[1]) for b in range(len(SENTENCES))},
        dict.fromkeys(range(len(SENTENCES)), 2),
        texts=dict(enumerate(SENTENCES)),
        given="sentence",
    ),
    Slider("head", range(HEADS)),
)
