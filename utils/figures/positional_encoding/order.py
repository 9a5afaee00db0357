"""Three tokens in any order, and where their outputs go."""

from itertools import permutations

import numpy as np
from matplotlib.figure import Figure

from utils.attention import project, scaled_dot_product_attention
from utils.explore import Explorable, Slider
from utils.explore.palette import (
    GROUND,
    INK,
    MUTED,
    QUERY,
    VALUE,
)
from utils.figures.drawing import WIDTH, draw_matrix, fill_weights, write
from utils.figures.wording import listed, share
from utils.positions import rotate, sinusoidal_encoding

TOKENS = "ABC"
X = ((1, 0), (0, 1), (1, 1))
W_Q = ((1, 0), (0, 2))
W_K = ((0, 1), (2, 0))  # the values are the tokens themselves

# A name in a state link, and how it reads.
POSITIONS = {
    "none": "none",
    "added": "added to the tokens",
    "rotated": "queries and keys turned",
}
MARKS = {"A": "o", "B": "s", "C": "^"}
SMALL = {"ms": 4.5, "mfc": GROUND, "mec": MUTED, "mew": 0.9}
LARGE = {"ms": 8.5, "color": VALUE, "mec": INK}
ORDERS = tuple("".join(order) for order in permutations(TOKENS))


def attend(order, positions):
    """Let the three tokens attend to one another, in some order.

    Parameters
    ----------
    order : str
        "CAB": token C first, then A, then B.
    positions : str
        A name in POSITIONS.

    Returns
    -------
    inputs : ndarray, shape (3, 2)
        What the attention layer is given, a row for each place.
    output : ndarray, shape (3, 2)
    weights : ndarray, shape (3, 3)

    Examples
    --------
    >>> attend("CAB", "none")[1].round(2)
    array([[0.84, 0.84],
           [0.55, 0.89],
           [0.89, 0.55]])
    """
    inputs = np.array([X[TOKENS.index(token)] for token in order], float)
    if positions == "added":
        inputs += sinusoidal_encoding(3, 2)
    Q, K = project(inputs, W_Q), project(inputs, W_K)
    if positions == "rotated":
        Q, K = rotate(Q, range(3)), rotate(K, range(3))
    return inputs, *scaled_dot_product_attention(Q, K, inputs)


def draw_order(order, positions):
    """Draw the weights of three tokens in an order, and their outputs.

    Parameters
    ----------
    order : str
        "CAB": token C first, then A, then B.
    positions : str
        A name in POSITIONS.

    Returns
    -------
    Figure
    """
    inputs, output, weights = attend(order, positions)
    figure = Figure(figsize=(WIDTH, 5.3))
    table = figure.add_axes([0.44, 0.665, 0.33, 0.2])
    table.set_title("Weights", pad=24)
    draw_matrix(table, weights, share, columns=order)
    fill_weights(table, weights)
    write(table, -3.3, -0.27, "place", MUTED)
    write(table, -1.2, -0.27, "input")
    write(table, 4.0, -0.27, "output", VALUE)
    for i, token in enumerate(order):
        write(table, -3.3, i + 0.5, f"{i}", MUTED)
        write(table, -2.5, i + 0.5, token, QUERY, size=10)
        write(table, -1.2, i + 0.5, _vector(inputs[i]))
        write(table, 4.0, i + 0.5, _vector(output[i]), VALUE)

    plane = figure.add_axes([0.1, 0.08, 0.5, 0.453])
    plane.set_title("Outputs in the plane")
    plane.set(xlim=(0, 2.1), ylim=(0, 2.1), aspect="equal")
    plane.set(xticks=[0, 1, 2], yticks=[0, 1, 2])
    plane.grid()
    for token in TOKENS:
        spots = [attend(o, positions)[1][o.index(token)] for o in ORDERS]
        plane.plot(*np.transpose(spots), MARKS[token], **SMALL)
    for token in TOKENS:  # one drawing order, so that a flipbook stays small
        place = output[order.index(token)]
        plane.plot(*place, MARKS[token], **LARGE)
    _draw_legend(plane, order)
    return figure


def say_order(order, positions):
    """Say the outputs, and which are those of the order A, B, C."""
    output = attend(order, positions)[1]
    first = attend(TOKENS, positions)[1]
    same = [
        token
        for token, row in zip(order, output, strict=True)
        if np.allclose(row, first[TOKENS.index(token)])
    ]
    how = {
        "none": "without positions",
        "added": "with positions added",
        "rotated": "with queries and keys turned",
    }[positions]
    outputs = (
        f"{token} {_vector(row)}"
        for token, row in zip(order, output, strict=True)
    )
    if order == TOKENS:
        verdict = "This is the order to compare others with"
    elif len(same) == 3:
        verdict = "Each token has the output it has in the order A, B, C"
    else:
        kept = listed(sorted(same)) if same else "No token"
        verb = "keep" if len(same) > 1 else "keeps"
        verdict = f"{kept} {verb} the output of the order A, B, C"
    return (
        f"In the order {', '.join(order)}, {how}, the outputs are "
        f"{listed(outputs)}. {verdict}."
    )


def _vector(row):
    parts = (f"{value:.2f}".replace("-", "−") for value in row)
    return f"[{', '.join(parts)}]"


def _draw_legend(plane, order):
    for i, token in enumerate(TOKENS):
        y = 1.85 - 0.24 * i
        plane.plot(2.32, y, MARKS[token], clip_on=False, **LARGE)
        write(plane, 2.5, y, f"token {token}", ha="left")
    shown = ", ".join(order)
    write(plane, 2.24, 0.96, f"large: the order {shown}", ha="left")
    plane.plot(2.28, 0.72, "o", clip_on=False, **SMALL)
    write(plane, 2.37, 0.72, "small: all six orders", MUTED, ha="left")


order = Explorable(
    "positional-encoding-order",
    draw_order,
    say_order,
    Slider("order", ORDERS, texts=[", ".join(order) for order in ORDERS]),
    Slider("positions", list(POSITIONS), texts=list(POSITIONS.values())),
)
