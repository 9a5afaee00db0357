"""One layer of attention learns an order, with and without positions.

The task: a sequence holds one A, one B and other tokens. Does A come before
B? The model is one head of self-attention, the mean of its output rows, and
one number read from that mean. It is trained by gradients worked out by hand.
"""

from typing import NamedTuple

import numpy as np

from utils.attention import softmax
from utils.positions import rotate, sinusoidal_encoding

KINDS = ("none", "sinusoidal", "learned", "rotary")
A, B = 0, 1
NUM_TOKENS = 8  # how long a sequence is
VOCABULARY = 10  # A, B and eight others
D_MODEL, D_K = 16, 8


class Result(NamedTuple):
    """What a trained model does with sequences it has not seen."""

    kind: str
    accuracy: float
    parameters: dict


def order_task(num_pairs, rng):
    """Make sequences in pairs: in each, A and B have changed places.

    Parameters
    ----------
    num_pairs : int
    rng : numpy.random.Generator

    Returns
    -------
    tokens : ndarray of int, shape (2 num_pairs, 8)
        Sequence i and sequence num_pairs + i hold the same tokens.
    before : ndarray of bool, shape (2 num_pairs,)
        Whether A comes before B: in one half of the sequences.

    Examples
    --------
    >>> tokens, before = order_task(3, np.random.default_rng(0))
    >>> tokens.shape, int(before.sum())
    ((6, 8), 3)
    """
    tokens = rng.integers(2, VOCABULARY, (num_pairs, NUM_TOKENS))
    places = rng.permuted(
        np.tile(np.arange(NUM_TOKENS), (num_pairs, 1)), axis=1
    )[:, :2]
    twins, rows = tokens.copy(), np.arange(num_pairs)
    for sequences, (a, b) in ((tokens, places.T), (twins, places.T[::-1])):
        sequences[rows, a], sequences[rows, b] = A, B
    before = places[:, 0] < places[:, 1]
    return np.concatenate([tokens, twins]), np.concatenate([before, ~before])


def new_parameters(kind, rng):
    """Start a model: small random numbers, and a table of positions.

    Parameters
    ----------
    kind : str
        One of KINDS: how the model is told where a token stands.
    rng : numpy.random.Generator

    Returns
    -------
    dict of str to ndarray
        E (10, 16), W_Q and W_K (16, 8), W_V (16, 16), w (16,), b (); and,
        where positions are learned, P (8, 16).

    Raises
    ------
    ValueError
        If there is no such kind.
    """
    if kind not in KINDS:
        raise ValueError(f"kind must be one of {KINDS}, received {kind!r}")
    shapes = {
        "E": (VOCABULARY, D_MODEL),
        "W_Q": (D_MODEL, D_K),
        "W_K": (D_MODEL, D_K),
        "W_V": (D_MODEL, D_MODEL),
        "w": (D_MODEL,),
        "b": (),
    }
    if kind == "learned":
        shapes["P"] = (NUM_TOKENS, D_MODEL)
    return {
        name: rng.normal(0, 0.3, shape) if name != "b" else np.zeros(())
        for name, shape in shapes.items()
    }


def forward(parameters, tokens, kind):
    """Read sequences: one number each, above 0 for "A comes before B".

    Parameters
    ----------
    parameters : dict of str to ndarray
    tokens : ndarray of int, shape (batch, N)
    kind : str
        One of KINDS.

    Returns
    -------
    logits : ndarray, shape (batch,)
    steps : dict of str to ndarray
        What the way there left behind, for `gradients`.
    """
    p, N = parameters, tokens.shape[1]
    X = p["E"][tokens]  # (batch, N, d_model)
    if kind == "sinusoidal":
        X = X + sinusoidal_encoding(N, D_MODEL)
    elif kind == "learned":
        X = X + p["P"][:N]
    Q, K, V = X @ p["W_Q"], X @ p["W_K"], X @ p["W_V"]
    if kind == "rotary":
        places = np.arange(N)
        Q, K = rotate(Q, places), rotate(K, places)
    weights = softmax(Q @ K.mT / D_K**0.5)  # (batch, N, N)
    pooled = (weights @ V).mean(axis=1)  # (batch, d_model)
    logits = pooled @ p["w"] + p["b"]
    steps = {"X": X, "Q": Q, "K": K, "V": V}
    return logits, steps | {"weights": weights, "pooled": pooled}


def loss(logits, before):
    """Take the mean surprise at the right answers (cross-entropy).

    Parameters
    ----------
    logits : ndarray, shape (batch,)
    before : ndarray of bool, shape (batch,)

    Returns
    -------
    float
        log 2, about 0.693, for a model that always says "half and half".
    """
    return float(np.logaddexp(0, np.where(before, -logits, logits)).mean())


def gradients(parameters, tokens, before, kind):
    """Work out how the loss changes with each parameter.

    Parameters
    ----------
    parameters, tokens, kind
        As for `forward`.
    before : ndarray of bool, shape (batch,)

    Returns
    -------
    dict of str to ndarray
        The shapes of the parameters. The chain rule, step by step backwards.
    """
    p, N = parameters, tokens.shape[1]
    logits, s = forward(p, tokens, kind)
    d_logits = (1 / (1 + np.exp(-logits)) - before) / len(logits)
    d_pooled = d_logits[:, None] * p["w"]
    d_output = np.repeat(d_pooled[:, None] / N, N, axis=1)
    d_weights = d_output @ s["V"].mT
    d_V = s["weights"].mT @ d_output
    # softmax: each score moves its own weight up and the others down
    along = (d_weights * s["weights"]).sum(axis=-1, keepdims=True)
    d_scores = s["weights"] * (d_weights - along) / D_K**0.5
    d_Q, d_K = d_scores @ s["K"], d_scores.mT @ s["Q"]
    if kind == "rotary":  # a rotation is undone by the opposite one
        places = -np.arange(N)
        d_Q, d_K = rotate(d_Q, places), rotate(d_K, places)
    d_X = d_Q @ p["W_Q"].T + d_K @ p["W_K"].T + d_V @ p["W_V"].T
    d_E = np.zeros_like(p["E"])
    np.add.at(d_E, tokens, d_X)
    found = {
        "E": d_E,
        "W_Q": np.einsum("bnd,bnk->dk", s["X"], d_Q),
        "W_K": np.einsum("bnd,bnk->dk", s["X"], d_K),
        "W_V": np.einsum("bnd,bnk->dk", s["X"], d_V),
        "w": s["pooled"].T @ d_logits,
        "b": d_logits.sum(),
    }
    if kind == "learned":
        found["P"] = np.zeros_like(p["P"])
        found["P"][:N] = d_X.sum(axis=0)
    return found


def train(kind, seed=0, steps=300, num_pairs=64):
    """Train a model on fresh sequences, then ask it about unseen ones.

    Parameters
    ----------
    kind : str
        One of KINDS.
    seed : int, optional
    steps : int, optional
    num_pairs : int, optional
        Half the number of sequences in each step.

    Returns
    -------
    Result
        The accuracy is the share of right answers on 2,000 sequences.

    Raises
    ------
    ValueError
        If there is no such kind.

    Notes
    -----
    The steps are Adam's: Kingma and Ba (2014), algorithm 1.
    """
    rng = np.random.default_rng(seed)
    parameters = new_parameters(kind, rng)
    mean = {name: np.zeros_like(a) for name, a in parameters.items()}
    square = {name: np.zeros_like(a) for name, a in parameters.items()}
    for step in range(1, steps + 1):
        found = gradients(parameters, *order_task(num_pairs, rng), kind)
        for name, slope in found.items():
            mean[name] = 0.9 * mean[name] + 0.1 * slope
            square[name] = 0.99 * square[name] + 0.01 * slope**2
            size = np.sqrt(square[name] / (1 - 0.99**step)) + 1e-8
            move = mean[name] / (1 - 0.9**step) / size
            parameters[name] = parameters[name] - 0.02 * move
    tokens, before = order_task(1000, rng)
    logits, _ = forward(parameters, tokens, kind)
    accuracy = float(np.mean((logits > 0) == before))
    return Result(kind, accuracy, parameters)
