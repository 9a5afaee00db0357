"""The seven steps of self-attention, every matrix on one board."""

import numpy as np

from utils.explore import Explorable, Slider
from utils.explore.palette import GRID, INK, KEY, MUTED, QUERY, VALUE, WEIGHT
from utils.figures.drawing import add_cell, blank_page, write
from utils.figures.weighted_sum.example import EXAMPLES, workflow
from utils.figures.wording import capital, listed

# What each step makes, and from what.
STEPS = (
    ("start with the input X", ("X",), ()),
    (
        "make queries, keys and values",
        ("Q", "K", "V"),
        ("X", "W_Q", "W_K", "W_V"),
    ),
    ("compare: the scores QKᵀ", ("scores",), ("Q", "K")),
    ("scale: divide by √dₖ", ("scaled",), ("scores",)),
    ("mask", ("masked",), ("scaled",)),
    ("softmax of each row: the weights A", ("weights",), ("masked",)),
    ("mix the values: the output A V", ("output",), ("weights", "V again")),
)

# Each matrix: left and top in inches, title, its colour, the step it is from.
_BOARD = {
    "X": (0.62, 1.78, "X", INK, 1),
    "W_Q": (1.72, 1.0, "W_Q", QUERY, 2),
    "W_K": (2.78, 1.0, "W_K", KEY, 2),
    "W_V": (3.84, 1.0, "W_V", VALUE, 2),
    "Q": (1.72, 1.78, "Q = X W_Q", QUERY, 2),
    "K": (2.78, 1.78, "K = X W_K", KEY, 2),
    "V": (3.84, 1.78, "V = X W_V", VALUE, 2),
    "scores": (0.62, 3.14, "scores QKᵀ", INK, 3),
    "scaled": (2.02, 3.14, "÷ √dₖ = √2", INK, 4),
    "masked": (3.42, 3.14, "after the mask", INK, 5),
    "weights": (0.62, 4.5, "weights A", INK, 6),
    "V again": (2.5, 4.5, "V", VALUE, 7),
    "output": (3.84, 4.5, "output A V", INK, 7),
}
_WIDE, _HIGH = 0.42, 0.25


def draw_steps(example, causal, step):
    """Draw the board: what is made so far, and what this step makes.

    Parameters
    ----------
    example : str
        A name in EXAMPLES.
    causal : bool
        Mask the future.
    step : int
        1 to 7.

    Returns
    -------
    Figure
    """
    tokens, made = EXAMPLES[example][0], workflow(example, causal)
    made["V again"] = made["V"]
    title, results, sources = STEPS[step - 1]
    figure, axes = blank_page(5.68)
    head = f"Step {step} of 7: {title}"
    write(axes, 0.14, 0.2, head, ha="left", size=10.5, bold=True)
    by_hand = _by_hand(step, tokens, made, causal)
    write(axes, 0.14, 0.5, by_hand, ha="left", size=9.5)
    for name, (left, top, title, ink, first) in _BOARD.items():
        array = made[name]
        square = array.shape == (len(tokens), len(tokens)) and first > 2
        look = (name in results, name in sources, step >= first)
        _draw_block(axes, (left, top), array, look, name == "weights")
        lift = 0.36 if square and name not in ("output", "V again") else 0.13
        bold = name in results
        write(axes, left, top - lift, title, ink, ha="left", bold=bold)
        if lift > 0.2:
            for j, token in enumerate(tokens):
                x = left + (j + 0.5) * _WIDE
                write(axes, x, top - 0.12, token, KEY)
        if left == 0.62:
            for i, token in enumerate(tokens):
                y = top + (i + 0.5) * _HIGH
                write(axes, 0.54, y, token, QUERY, ha="right")
    write(axes, 2.16, 4.5 + 0.5 * _HIGH * len(tokens), "×", MUTED, size=11)
    write(axes, 3.6, 4.5 + 0.5 * _HIGH * len(tokens), "=", MUTED, size=11)
    note = "thick outline: made in this step; thin outline: what it is made of"
    write(axes, 0.14, 5.52, note, MUTED, ha="left")
    return figure


def say_steps(example, causal, step):
    """Say what this step makes, row by row."""
    tokens, made = EXAMPLES[example][0], workflow(example, causal)
    title, results, _ = STEPS[step - 1]
    masked = (
        "the future is masked" if causal else "no mask: every token may attend"
    )
    title = f"mask ({masked})" if step == 5 else title
    parts = [
        f"{_NAMES.get(name, name)}: "
        + listed(
            f"{token} [{', '.join(map(number, row))}]"
            for token, row in zip(tokens, made[name], strict=True)
        )
        for name in results
    ]
    return f"Step {step} of 7, {title}. {capital('; '.join(parts))}."


_NAMES = {
    "scaled": "scaled scores",
    "masked": "scaled scores after the mask",
}


def number(value):
    """Give three places, or a whole number as it is.

    >>> number(2.0), number(0.70711), number(-np.inf)
    ('2', '0.707', '−∞')
    """
    if np.isneginf(value):
        return "−∞"
    return f"{value:.0f}" if value == round(value) else f"{value:.3f}"


def _draw_block(axes, corner, array, look, fill):
    """Draw a grid, its numbers once they are made, and its outline."""
    made_now, used_now, shown = look
    left, top = corner
    N, M = array.shape
    for (i, j), value in np.ndenumerate(array):
        x, y = left + j * _WIDE, top + i * _HIGH
        shade = value if fill and shown else 0
        cell = {"fc": WEIGHT, "alpha": shade, "lw": 0}
        add_cell(axes, (x, y), _WIDE, _HIGH, **cell)
        text = number(value) if shown else " "
        write(axes, x + _WIDE / 2, y + _HIGH / 2, text)
    lines = {"color": GRID, "lw": 0.8}
    right, low = left + M * _WIDE, top + N * _HIGH
    axes.hlines([top + i * _HIGH for i in range(N + 1)], left, right, **lines)
    axes.vlines([left + j * _WIDE for j in range(M + 1)], top, low, **lines)
    width = 2.2 if made_now else 1 if used_now else 0
    edge = {"fill": False, "ec": INK, "lw": width, "zorder": 3}
    add_cell(axes, corner, M * _WIDE, N * _HIGH, **edge)


def _by_hand(step, tokens, made, causal):
    """One entry of this step's result, worked out for the last token."""
    last = tokens[-1]
    x, q, k = (made[name][-1] for name in ("X", "Q", "K"))
    scaled, weights = made["masked"][-1], made["weights"][-1]
    exp = np.exp(scaled)
    if step == 5 and causal:
        return f"{tokens[0]} may not look at {tokens[1]}, which comes later"
    return (
        f"one row a token: {last} is {_row(x)}",
        f"the query of {last}: {_row(x)} W_Q = {_row(q)}",
        f"{last} asks {last}: "
        + " + ".join(
            f"{number(a)}·{number(b)}" for a, b in zip(q, k, strict=True)
        )
        + f" = {number(q @ k)}",
        f"{last} asks {last}: {number(q @ k)} ÷ √2 = {number(scaled[-1])}",
        "no mask here: every token may attend to every token",
        f"{last} to {last}: exp({number(scaled[-1])}) = {number(exp[-1])}, "
        f"{number(exp[-1])} ÷ {number(exp.sum())} = {number(weights[-1])}",
        " + ".join(
            f"{number(w)} {_row(v)}"
            for w, v in zip(weights, made["V"], strict=True)
        )
        + f" = {_row(made['output'][-1])}",
    )[step - 1]


def _row(values):
    return f"[{', '.join(map(number, values))}]"


steps = Explorable(
    "weighted-sum-steps",
    draw_steps,
    say_steps,
    Slider("example", list(EXAMPLES), texts=["I learn", "A, B, C"]),
    Slider("causal", [False, True], label="mask the future"),
    Slider("step", range(1, 8), label="step", play=True),
)
