"""Training shapes W_Q and W_K together until the scores mean something."""

from functools import lru_cache

import numpy as np
from matplotlib.figure import Figure

from utils.attention import attention_weights
from utils.explore import Explorable, Slider
from utils.explore.palette import INK, MUTED
from utils.figures.drawing import (
    WIDTH,
    add_cell,
    draw_matrix,
    fill_weights,
    write,
)
from utils.figures.qkv.example import (
    FEATURES,
    OTHER_TOKENS,
    OTHER_X,
    TOKENS,
    X,
)
from utils.figures.wording import share, signed

STEPS = 60
RATE = 0.2
SEED = 1
# What each token should look at: half and half at both nouns, or the verb.
WANTED = np.array([[0, 1, 0, 1], [0, 0, 2, 0], [0, 1, 0, 1], [0, 0, 2, 0]]) / 2
WANTED.flags.writeable = False


@lru_cache(maxsize=1)
def history():
    """Train W_Q and W_K by gradient descent on one sentence.

    Returns
    -------
    tuple of (W_Q, W_K), each ndarray of shape (4, 2)
        After 0, 1, ... STEPS steps.

    Notes
    -----
    The loss is the cross-entropy of the weights and WANTED, summed over the
    rows, so its slope on the scaled scores is weights − WANTED.
    """
    W_Q, W_K = np.random.default_rng(SEED).normal(0, 0.5, size=(2, 4, 2))
    found = [(W_Q, W_K)]
    for _ in range(STEPS):
        Q, K = X @ W_Q, X @ W_K
        slope = (attention_weights(Q, K) - WANTED) / np.sqrt(2)
        W_Q, W_K = (
            W_Q - RATE * X.T @ slope @ K,
            W_K - RATE * X.T @ slope.T @ Q,
        )
        found.append((W_Q, W_K))
    return tuple(found)


def draw_training(step):
    """Draw the weights, W_Q W_Kᵀ, and an unseen sentence.

    Parameters
    ----------
    step : int
        0 to STEPS.

    Returns
    -------
    Figure
    """
    weights, form, unseen = _after(step)
    figure = Figure(figsize=(WIDTH, 5.5))
    low, middle, top = (
        figure.add_axes([0.22, bottom, 0.19 * count, 0.052 * count])
        for bottom, count in ((0.03, 3), (0.335, 4), (0.71, 4))
    )
    draw_matrix(top, weights, share, "", TOKENS, TOKENS)
    draw_matrix(middle, form, _one_place, "", FEATURES, FEATURES)
    draw_matrix(low, unseen, share, "", OTHER_TOKENS, OTHER_TOKENS)
    fill_weights(top, weights)
    fill_weights(low, unseen)
    for i, j in np.argwhere(WANTED > 0):
        outline = {"fill": False, "ec": INK, "lw": 1.8, "clip_on": False}
        add_cell(top, (j, i), 1, 1, **outline)
    note = "outlined: where training wants the weight"
    write(top, 0, 4.42, note, MUTED, ha="left")
    for ax, title in (
        (top, "Weights in the sentence it trains on"),
        (middle, "W_Q W_Kᵀ: what a pair of features adds"),
        (low, "Weights in a sentence it never saw"),
    ):
        write(ax, -1.05, -1.05, title, ha="left", size=10.5)
    return figure


def say_training(step):
    """Say what `draw_training` draws, for the same values."""
    weights, form, unseen = _after(step)
    return (
        f"After {step} steps, deployed gives {share(weights[2, 1])} to "
        f"developer and {share(weights[2, 3])} to application; a verb asking "
        f"a noun adds {_one_place(form[2, 1])} to the score; and in the "
        f"sentence never trained on, approved gives {share(unseen[1, 0])} to "
        f"bank and {share(unseen[1, 2])} to loan."
    )


def _after(step):
    """The weights, W_Q W_Kᵀ, and the weights in the unseen sentence."""
    W_Q, W_K = history()[step]
    weights, unseen = (
        attention_weights(x @ W_Q, x @ W_K) for x in (X, OTHER_X)
    )
    return weights, W_Q @ W_K.T, unseen


def _one_place(value):
    return signed(round(float(value), 1) + 0.0, 1)


training = Explorable(
    "qkv-training",
    draw_training,
    say_training,
    Slider(
        "step", range(0, STEPS + 1, 2), label="steps of training", play=True
    ),
)
