"""Positions, added or turned, with their known mistakes."""

import numpy as np

from utils.positions import (
    angular_speeds,
    neighbours_to_halves,
    rotate,
    sinusoidal_encoding,
)
from utils.practice.task import Mutant, Task

__all__ = ["ADDED_POSITIONS", "POSITIONAL_ENCODING", "ROPE"]


def _encoding(n, d, speeds=None, cosine_speeds=None, first=0):
    speeds = angular_speeds(d) if speeds is None else speeds
    cosine = speeds if cosine_speeds is None else cosine_speeds
    places = np.arange(first, n + first)[:, None]
    encoding = np.empty((n, d))
    encoding[:, 0::2] = np.sin(places * speeds)
    encoding[:, 1::2] = np.cos(places * cosine)
    return encoding


def _doubled(n, d):
    return _encoding(n, d, 10000.0 ** (-2 * np.arange(0, d, 2) / d))


def _shifted_cosine(n, d):
    return _encoding(n, d, cosine_speeds=10000.0 ** (-np.arange(1, d, 2) / d))


POSITIONAL_ENCODING = Task(
    arguments=("num_positions", "d_model"),
    answers={"": sinusoidal_encoding},
    stages=lambda: [[(5, 8), (12, 4), (7, 16)]],
    promise="Sine and cosine of each speed, side by side, from position 0.",
    mutants=(
        Mutant(
            "the exponent doubled",
            _doubled,
            "The hands slow down too soon",
            "2i was doubled although i was counted in steps of 2",
            "The exponent is 2i / d_model for the pair numbered i, so "
            "np.arange(0, d_model, 2) / d_model.",
            "https://github.com/SamLynnEvans/Transformer/issues/25",
        ),
        Mutant(
            "the cosine at another speed",
            _shifted_cosine,
            "The two numbers of a pair turn at different speeds",
            "the exponent of the cosine was taken from its own column",
            "Sine and cosine of one pair share one angle. Only then is a "
            "shift of position a rotation.",
            "https://github.com/dmlc/gluon-nlp/issues/178",
        ),
        Mutant(
            "1,000 in place of 10,000",
            lambda n, d: _encoding(n, d, angular_speeds(d, 1000.0)),
            "The slow hands are too fast",
            "the base is 1,000",
            "The paper's base is 10,000.",
            "https://github.com/maxjcohen/transformer/issues/62",
        ),
        Mutant(
            "all sines first, then all cosines",
            lambda n, d: neighbours_to_halves(sinusoidal_encoding(n, d)),
            "The columns are right and stand in another order",
            "sines and cosines were joined, not interleaved",
            "It is the layout of some code, and works as well; but it is not "
            "the formula's, and a model needs the one it was trained with.",
            "https://github.com/tensorflow/text/issues/1122",
        ),
        Mutant(
            "positions from 1",
            lambda n, d: _encoding(n, d, first=1),
            "The first row is not 0, 1, 0, 1, …",
            "positions were counted from 1",
            "Positions count from 0, here and in the paper's code.",
            "https://github.com/facebookresearch/fairseq/issues/1177",
        ),
        Mutant(
            "cosine before sine",
            lambda n, d: (
                sinusoidal_encoding(n, d)
                .reshape(n, d // 2, 2)[..., ::-1]
                .reshape(n, d)
            ),
            "The first row is 1, 0, 1, 0, …",
            "sine and cosine have changed places",
            "Even columns hold the sine, odd ones the cosine.",
            "https://github.com/flashinfer-ai/flashinfer/pull/3819",
        ),
    ),
)


def _added_stages():
    rng = np.random.default_rng(8)
    sizes = ((3, 3, 4), (2, 5, 6), (4, 2, 8))
    return [
        [
            (rng.normal(size=size), rng.normal(size=(7, size[-1])))
            for size in sizes
        ]
    ]


ADDED_POSITIONS = Task(
    arguments=("X", "E"),
    answers={"": lambda X, E: X + E[: X.shape[1]]},
    stages=_added_stages,
    promise="Token i of every sentence gets row i of the table.",
    mutants=(
        Mutant(
            "position added along the batch axis",
            lambda X, E: X + E[: X.shape[0], None],
            "All tokens of a sentence get the same position",
            "rows of the table were counted along the batch",
            "X is (batch, tokens, width): row i of the table belongs to "
            "token i, on the middle axis.",
            "https://github.com/cmu-l3/anlp-fall2025-code/issues/1",
        ),
        Mutant(
            "one position for all",
            lambda X, E: X + E[0],
            "All tokens get the first position",
            "the table was indexed by 0",
            "Take as many rows as there are tokens: E[:X.shape[1]].",
            "https://github.com/HKU-MedAI/MGCA/issues/13",
        ),
        Mutant(
            "the last rows of the table",
            lambda X, E: X + E[-X.shape[1] :],
            "The first token gets a late position",
            "the rows were taken from the end of the table",
            "The table is longer than the sentence: take its first rows.",
            "",  # no public report found
        ),
        Mutant(
            "positions alone",
            lambda X, E: np.broadcast_to(E[: X.shape[1]], X.shape),
            "Your output does not depend on the tokens",
            "the position replaced the token",
            "Add the two: X + E[:X.shape[1]].",
            "https://github.com/jiwidi/"
            "Behavior-Sequence-Transformer-Pytorch/issues/4",
        ),
    ),
)


def mixed_rope(Q, positions):
    """Angles laid out for neighbours, features turned as halves."""
    angles = positions[:, None] * angular_speeds(Q.shape[-1])
    cos, sin = (np.repeat(f(angles), 2, axis=-1) for f in (np.cos, np.sin))
    first, second = np.split(Q, 2, axis=-1)
    return Q * cos + np.concatenate([-second, first], -1) * sin


def _mixed_other_way(Q, positions):
    """Angles laid out for halves, features turned as neighbours."""
    angles = positions[:, None] * angular_speeds(Q.shape[-1])
    cos, sin = (np.tile(f(angles), 2) for f in (np.cos, np.sin))
    turned = np.stack([-Q[..., 1::2], Q[..., 0::2]], -1).reshape(Q.shape)
    return Q * cos + turned * sin


def _rope_stages():
    rng = np.random.default_rng(9)
    return [
        [
            (rng.normal(size=(5, 8)), np.arange(5)),
            (rng.normal(size=(3, 4)), np.arange(3)),
            (rng.normal(size=(4, 16)), np.array([7, 2, 30, 11])),
        ]
    ]


ROPE = Task(
    arguments=("Q", "positions"),
    answers={
        "neighbours turn together": rotate,
        "halves turn together": lambda Q, positions: rotate(
            Q, positions, pairing="halves"
        ),
    },
    stages=_rope_stages,
    promise="Scores of what it turns depend on m − n alone.",
    mutants=(
        Mutant(
            "mixed pairings",
            mixed_rope,
            "Rows change their length, and scores depend on more than m − n",
            "the angles are laid out for neighbours, the features turned as "
            "halves",
            "Both pairings work, each by itself: repeat the angles as "
            "0 0 1 1 for neighbours, as 0 1 0 1 for halves.",
            "https://github.com/raiyanyahya/how-to-train-your-gpt/issues/6",
        ),
        Mutant(
            "mixed pairings, the other way round",
            _mixed_other_way,
            "Rows change their length, and scores depend on more than m − n",
            "the angles are laid out for halves, the features turned as "
            "neighbours",
            "Both pairings work, each by itself: repeat the angles as "
            "0 0 1 1 for neighbours, as 0 1 0 1 for halves.",
            "https://github.com/rasbt/LLMs-from-scratch/issues/838",
        ),
        Mutant(
            "turned backwards, neighbours",
            lambda Q, positions: rotate(Q, -positions),
            "Every angle has the wrong sign",
            "the two sines have changed signs",
            "A model trained so works so; with matrices from elsewhere every "
            "distance is reversed. The paper turns counterclockwise.",
            "https://github.com/karpathy/nanochat/pull/489",
        ),
        Mutant(
            "turned backwards, halves",
            lambda Q, positions: rotate(Q, -positions, "halves"),
            "Every angle has the wrong sign",
            "the two sines have changed signs",
            "A model trained so works so; with matrices from elsewhere every "
            "distance is reversed. The paper turns counterclockwise.",
            "https://github.com/karpathy/nanochat/pull/489",
        ),
        Mutant(
            "places counted, not read",
            lambda Q, positions: rotate(Q, np.arange(len(Q))),
            "Rows in order are right, others are not",
            "the given positions were not used",
            "With a cache the new query's position is not 0: turn each row "
            "by the position that is given.",
            "https://github.com/lucidrains/rotary-embedding-torch/issues/11",
        ),
    ),
)
