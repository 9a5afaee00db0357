"""The sentences and what each architecture's tokens may attend to."""

import numpy as np

SENTENCE = (
    "The",
    "developer",
    "deployed",
    "the",
    "application",
    "because",
    "it",
    "was",
    "ready",
)
SOURCE = SENTENCE[:5]
TARGET = ("Der", "Entwickler", "stellte", "die", "Anwendung", "bereit")

ENCODER, DECODER = "encoder", "decoder"
NARROW_ENCODER, NARROW_DECODER = "encoder, window", "decoder, window"
BOTH = "encoder-decoder"
ARCHITECTURES = (ENCODER, DECODER, NARROW_ENCODER, NARROW_DECODER, BOTH)


def names_of(architecture):
    """Name the tokens: the source first, then the target if there is one."""
    return SOURCE + TARGET if architecture == BOTH else SENTENCE


def may_attend(architecture):
    """Say which token may attend to which in one layer.

    Parameters
    ----------
    architecture : str
        One of ARCHITECTURES. A window lets a token see itself and its
        neighbours: on both sides in an encoder, before it in a decoder.

    Returns
    -------
    ndarray of bool, shape (N, N)
        Rows ask. For the encoder-decoder the tokens of the source come
        first, and each of its three attentions is one block; the fourth
        block, source asks target, is empty.

    Examples
    --------
    >>> may_attend("decoder, window")[:3, :3].astype(int)
    array([[1, 0, 0],
           [1, 1, 0],
           [0, 1, 1]])
    """
    N = len(names_of(architecture))
    if architecture == BOTH:
        n, m = len(SOURCE), len(TARGET)
        return np.block(
            [
                [np.ones((n, n), bool), np.zeros((n, m), bool)],
                [np.ones((m, n), bool), np.tri(m, dtype=bool)],
            ]
        )
    mask = np.ones((N, N), bool)
    if architecture in (DECODER, NARROW_DECODER):
        mask &= np.tri(N, dtype=bool)
    if architecture in (NARROW_ENCODER, NARROW_DECODER):
        i, j = np.indices((N, N))
        mask &= abs(i - j) <= 1
    return mask


def first_heard(mask):
    """Count the layers until one token has heard of another.

    Parameters
    ----------
    mask : array_like of bool, shape (N, N)

    Returns
    -------
    ndarray of int, shape (N, N)
        0 on the diagonal, -1 where no number of layers is enough.

    Examples
    --------
    >>> first_heard([[1, 0, 0], [1, 1, 0], [0, 1, 1]])
    array([[ 0, -1, -1],
           [ 1,  0, -1],
           [ 2,  1,  0]])
    """
    step = np.asarray(mask, bool)
    N = len(step)
    heard = np.eye(N, dtype=bool)
    first = np.where(heard, 0, -1)
    for layer in range(1, N + 1):
        # the residual connection keeps what the token already holds
        heard = heard | (step.astype(int) @ heard > 0)
        first[heard & (first < 0)] = layer
    return first
