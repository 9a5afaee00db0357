"""Splitting and merging heads, with the known mistakes."""

import numpy as np

from utils.heads import merge_heads, split_heads
from utils.practice.task import Mutant, Task

__all__ = ["JOIN", "MERGE_HEADS", "SPLIT_HEADS", "VIEW", "join", "view"]

VIEW = (
    "Head 0 holds pieces of the first tokens alone",
    "the width was cut straight into (heads, tokens, width of a head)",
    "Cut to (tokens, heads, width of a head) first, then swap the first "
    "two axes. No shape shows the difference.",
    "https://github.com/reczoo/FuxiCTR/issues/30",
)
JOIN = (
    "A token's row holds pieces of several tokens",
    "the heads were joined without swapping the axes back",
    "Swap to (tokens, heads, width of a head) first, then join.",
    "https://github.com/jsbaan/transformer-from-scratch/pull/6",
)


def view(X, num_heads):
    """Cut the width straight into heads, tokens first: wrong."""
    *front, N, width = X.shape
    return X.reshape(*front, num_heads, N, width // num_heads)


def join(heads):
    """Join the heads without swapping the axes back: wrong."""
    *front, num_heads, N, d = heads.shape
    return heads.reshape(*front, N, num_heads * d)


def _shapes():
    return ((2, 3, 4, 2), (1, 5, 6, 3), (3, 4, 8, 4))


def _split_stages():
    rng = np.random.default_rng(10)
    return [[(rng.normal(size=(b, n, d)), h) for b, n, d, h in _shapes()]]


def _merge_stages():
    rng = np.random.default_rng(11)
    return [[(rng.normal(size=(b, h, n, d)),) for b, n, d, h in _shapes()]]


def _dealt(X, num_heads):
    *front, N, width = X.shape
    dealt = X.reshape(*front, N, width // num_heads, num_heads)
    return np.moveaxis(dealt, -1, -3)


SPLIT_HEADS = Task(
    arguments=("X", "num_heads"),
    answers={"": split_heads},
    stages=_split_stages,
    promise="Each head has its own columns of every token.",
    mutants=(
        Mutant("view without transpose", view, *VIEW),
        Mutant(
            "heads after tokens",
            lambda X, h: split_heads(X, h).swapaxes(-2, -3),
            "The shape is (…, tokens, heads, width of a head)",
            "the axes were not swapped",
            "Attention runs over the last two axes: they must be tokens and "
            "the width of a head.",
            "https://github.com/nshepperd/flash_attn_jax/issues/3",
        ),
        Mutant(
            "columns dealt out in turn",
            _dealt,
            "Head 0 holds every second, third, … column",
            "the width was cut into (width of a head, heads)",
            "Head h holds the columns from h · d_head on, side by side.",
            "",  # no public report found
        ),
    ),
)

MERGE_HEADS = Task(
    arguments=("heads",),
    answers={"": merge_heads},
    stages=_merge_stages,
    promise="The heads of each token stand side by side.",
    mutants=(
        Mutant("heads joined without swapping", join, *JOIN),
        Mutant(
            "heads added up",
            lambda heads: heads.sum(axis=-3),
            "A row is as wide as one head",
            "the heads were summed",
            "Put them side by side; W_O does the mixing.",
            "https://github.com/awf/functional-transformer/issues/8",
        ),
    ),
)
