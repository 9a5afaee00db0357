"""The chapter's sentences, and made-up queries, keys and values for them."""

import numpy as np

from utils.attention import project
from utils.explore.palette import MUTED
from utils.figures.drawing import write

TOKENS = ("The", "developer", "deployed", "the", "application")
PAD = "[PAD]"

_WORDS = (
    *("the", "developer", "deployed", "application", "writes", "code"),
    *("engineer", "builds", "software", "today", PAD),
)
_D_MODEL, _HEADS, _D_K = 8, 2, 4


def embed(tokens):
    """Look up a made-up vector for each token; The is the.

    Parameters
    ----------
    tokens : sequence of str, length N

    Returns
    -------
    ndarray, shape (N, 8)
        The same word has the same vector everywhere, [PAD] too.

    Raises
    ------
    ValueError
        If a token has no vector.

    Examples
    --------
    >>> embed(["The", "developer", "[PAD]"]).shape
    (3, 8)
    """
    table = np.random.default_rng(0).normal(size=(len(_WORDS), _D_MODEL))
    rows = []
    for token in tokens:
        word = token if token == PAD else token.lower()
        if word not in _WORDS:
            raise ValueError(f"no vector for {token!r}, only for {_WORDS}")
        rows.append(_WORDS.index(word))
    return table[rows]


def queries_keys_values(X):
    """Project tokens to the queries, keys and values of two heads.

    Parameters
    ----------
    X : ndarray, shape (..., N, 8)

    Returns
    -------
    Q, K, V : ndarray, shape (..., 2, N, 4)
        By made-up matrices, the same at every call.
    """
    rng = np.random.default_rng(1)
    W = rng.normal(size=(3, _HEADS, _D_MODEL, _D_K)) / _D_MODEL**0.5
    return tuple(project(X[..., None, :, :], W_i) for W_i in 1.4 * W)


def name_axes(axes, x, y):
    """Write at the corner of a matrix which way queries and keys run."""
    write(axes, x, y - 0.42, "keys →", MUTED, ha="right")
    write(axes, x, y - 0.2, "queries ↓", MUTED, ha="right")
