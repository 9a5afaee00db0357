"""The chapter's numbers: one row of weights, and two examples on paper."""

import numpy as np

from utils.attention import (
    attention_scores,
    attention_weights,
    project,
    scaled_dot_product_attention,
    scaled_scores,
)

# The document's four tokens and the weights of one of them, "deployed".
TOKENS = ("The", "developer", "deployed", "application")
WEIGHTS = (0.10, 0.50, 0.15, 0.25)
# Its scaled scores where the document turns scores into weights.
SCALED = (1.2, 2.5, 1.0, 2.0)

_EYE = ((1, 0), (0, 1))

# Each example's tokens, and its X, W_Q, W_K and W_V.
EXAMPLES = {
    "learn": (("I", "learn"), _EYE, _EYE, _EYE, _EYE),
    "abc": (
        ("A", "B", "C"),
        ((1, 0), (0, 1), (1, 1)),
        ((1, 0), (0, 2)),
        ((0, 1), (2, 0)),
        _EYE,
    ),
}


def workflow(example, causal=False):
    """Take all seven steps of self-attention and keep every matrix.

    Parameters
    ----------
    example : str
        A name in EXAMPLES.
    causal : bool
        Let no token attend to a later one.

    Returns
    -------
    dict of str to ndarray
        X, W_Q, W_K, W_V, Q, K, V, scores, scaled, masked, weights, output.

    Examples
    --------
    >>> workflow("abc")["scores"]
    array([[0., 2., 2.],
           [2., 0., 2.],
           [2., 2., 4.]])
    """
    names = ("X", "W_Q", "W_K", "W_V")
    made = {
        name: np.array(rows, dtype=float)
        for name, rows in zip(names, EXAMPLES[example][1:], strict=True)
    }
    for name in "QKV":
        made[name] = project(made["X"], made[f"W_{name}"])
    Q, K, V = (made[name] for name in "QKV")
    mask = np.ones((len(Q), len(K)), dtype=bool)
    if causal:
        mask = np.tril(mask)
    made["scores"] = attention_scores(Q, K)
    made["scaled"] = scaled_scores(Q, K)
    made["masked"] = np.where(mask, made["scaled"], -np.inf)
    made["weights"] = attention_weights(Q, K, mask)
    made["output"] = scaled_dot_product_attention(Q, K, V, mask)[0]
    return made
