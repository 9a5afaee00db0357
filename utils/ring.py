"""Ring attention: each machine keeps its queries, keys and values go round."""

from pathlib import Path

import numpy as np

from utils import record_fields as must
from utils.border import count
from utils.tiled import finish, merge, part_of

__all__ = ["held", "recorded_run", "ring_attention"]

_RUN = Path(__file__).resolve().parent.parent / "book" / "data"
_RUN = _RUN / "ring_attention.json"


def held(rank, turn, num_ranks):
    """Say whose keys and values a rank holds after some turns.

    Parameters
    ----------
    rank, turn, num_ranks : int

    Returns
    -------
    int
        At each turn everybody passes on to the next rank.

    Examples
    --------
    >>> [held(2, turn, 4) for turn in range(4)]
    [2, 1, 0, 3]
    """
    return (rank - turn) % num_ranks


def ring_attention(Q, K, V, num_ranks, mask=None):
    """Simulate attention over machines in a ring, each with a piece.

    Parameters
    ----------
    Q : array_like, shape (N, d_k)
    K : array_like, shape (N, d_k)
    V : array_like, shape (N, d_v)
    num_ranks : int
        Divides N. Rank r holds the r-th piece of the tokens.
    mask : array_like of bool, shape (N, N), optional
        True where the query may attend to the key.

    Returns
    -------
    output : ndarray, shape (N, d_v)
        The ranks' outputs, one below the other: equal to attention on one
        machine, up to rounding.
    sent : int
        Numbers that each rank passes on in all: its own keys and values
        and those of others, never a score.

    Raises
    ------
    ValueError
        If num_ranks does not divide N, or as part_of.

    Notes
    -----
    Liu, Zaharia and Abbeel (2023).

    Examples
    --------
    >>> output, sent = ring_attention(*[np.eye(4)] * 3, num_ranks=2)
    >>> output[0].round(3), sent
    (array([0.355, 0.215, 0.215, 0.215]), 16)
    """
    ranks = count("num_ranks", num_ranks)
    N = np.shape(Q)[0]
    if N % ranks or len(K) != N:
        raise ValueError(
            f"{ranks} ranks cannot hold equal pieces of {N} queries and "
            f"{len(K)} keys"
        )
    seen = None if mask is None else np.broadcast_to(mask, (N, N))
    pieces = np.arange(N).reshape(ranks, -1)
    K, V = np.asarray(K), np.asarray(V)
    outputs, sent = [], 0
    for rank, own in enumerate(pieces):
        known = None
        for turn in range(ranks):
            others = pieces[held(rank, turn, ranks)]
            part = part_of(
                np.asarray(Q)[own],
                K[others],
                V[others],
                None if seen is None else seen[np.ix_(own, others)],
            )
            known = part if known is None else merge(known, part)
            if turn and not rank:
                sent += K[others].size + V[others].size
        outputs.append(finish(known))
    return np.concatenate(outputs), sent


def recorded_run():
    """Read what two real processes computed, each on its own.

    Returns
    -------
    dict
        "seed" and "shape" of the inputs, the versions, and "outputs": for
        "full" and "causal" the rows of each rank.

    Raises
    ------
    ValueError
        If the file is missing or damaged: names it and what is wrong.

    Notes
    -----
    Written by tools/ring_on_two.py, with torch.distributed and gloo.
    """
    run = must.read(_RUN)
    top = must.Place(_RUN.name, "", run)
    top.fields(
        world_size=must.positive,
        seed=must.whole,
        shape=must.counts,
        outputs=must.table,
    )
    top.at("outputs").fields(full=must.array, causal=must.array)
    return run
