"""Queries, keys and values from tokens, with the known mistakes."""

import numpy as np

from utils.practice.task import Mutant, Task

__all__ = ["PROJECTIONS"]


def _project(X, W_Q, W_K, W_V):
    return X @ W_Q, X @ W_K, X @ W_V


def _project_stages():
    rng = np.random.default_rng(12)
    sizes = ((3, 4, 4), (5, 6, 2), (4, 8, 3))
    return [
        [
            (rng.normal(size=(n, d)), *rng.normal(size=(3, d, k)))
            for n, d, k in sizes
        ]
    ]


PROJECTIONS = Task(
    arguments=("X", "W_Q", "W_K", "W_V"),
    answers={"": _project},
    stages=_project_stages,
    promise="Q, K and V, each by its own matrix.",
    mutants=(
        Mutant(
            "V projected by W_K",
            lambda X, W_Q, W_K, W_V: _project(X, W_Q, W_K, W_K),
            "Your values equal your keys",
            "the values were made with W_K",
            "Three matrices make three things; V is X W_V. No shape shows "
            "the slip when d_k = d_v.",
            "https://github.com/snu-comparch/InfiniGen/issues/5",
        ),
        Mutant(
            "queries and keys exchanged",
            lambda X, W_Q, W_K, W_V: _project(X, W_K, W_Q, W_V),
            "Your queries equal the right keys",
            "W_Q made the keys and W_K the queries",
            "Each matrix has its letter: Q is X W_Q, and K is X W_K.",
            "https://github.com/poloclub/transformer-explainer/issues/19",
        ),
        Mutant(
            "keys and values exchanged",
            lambda X, W_Q, W_K, W_V: _project(X, W_Q, W_V, W_K),
            "Your keys equal the right values",
            "K and V were returned, or made, in the wrong order",
            "Return Q, K and V in this order.",
            "https://github.com/jsbaan/transformer-from-scratch/issues/1",
        ),
        Mutant(
            "one matrix for all",
            lambda X, W_Q, W_K, W_V: _project(X, W_Q, W_Q, W_Q),
            "Queries, keys and values are equal",
            "all three were made with W_Q",
            "With W_Q = W_K a token's score for itself is never below 0, "
            "and what A asks of B, B asks of A.",
            "https://github.com/stevezheng23/sequence_labeling_tf/pull/81",
        ),
    ),
)
