"""Causal and padding masks, with their known mistakes."""

import numpy as np

from utils.masks import causal_mask, padding_mask
from utils.practice.task import Mutant, Task

__all__ = ["CACHE_MASK", "CAUSAL_MASK", "PADDING_MASK"]

_UPSIDE_DOWN = (
    "the mask upside down",
    "True and False have changed places",
    "True was taken to mean “hide”",
    "True means may attend here; nn.MultiheadAttention means the opposite.",
    "https://github.com/pytorch/pytorch/pull/170415",
)
_DIAGONAL = (
    "its own token hidden",
    "The diagonal is False, and the first token sees nothing",
    "the triangle starts one step too far to the left",
    "A token may attend to itself: keep the diagonal.",
    "https://github.com/pbloem/former/issues/10",
)
_NUMBERS = (
    "numbers in place of True and False",
    "The pattern is right and its dtype is not",
    "it holds 0 and 1",
    "Numbers are added to the scores, and 0 and 1 hide nothing: make it "
    "boolean.",
    "https://github.com/pytorch/pytorch/issues/21518",
)
_ADDED = (
    "numbers to add in place of True and False",
    "The pattern is right and it holds 0 and −inf",
    "it is a mask to be added to the scores",
    "That form works when it is added. The book's helpers take True and "
    "False, which cannot be added by mistake.",
    "https://github.com/mlfoundations/open_clip/issues/484",
)


def _mutant(words, run):
    name, *rest = words
    return Mutant(name, run, *rest)


def _tri(n, m=None, k=0):
    return np.tri(n, m, k, dtype=bool)


CAUSAL_MASK = Task(
    arguments=("num_tokens",),
    answers={"": causal_mask},
    stages=lambda: [[(n,) for n in (3, 5, 1, 8)]],
    promise="Each query sees itself and what came before, and no more.",
    booleans=True,
    mutants=(
        _mutant(_UPSIDE_DOWN, lambda n: ~_tri(n)),
        _mutant(_DIAGONAL, lambda n: _tri(n, k=-1)),
        Mutant(
            "the future in place of the past",
            lambda n: _tri(n).T,
            "Each query sees itself and what comes after it",
            "the triangle is the upper one",
            "Rows are queries and columns keys, so the past lies below the "
            "diagonal: tril, not triu.",
            "https://github.com/rasbt/LLMs-from-scratch/issues/1061",
        ),
        Mutant(
            "one token of the future",
            lambda n: _tri(n, k=1),
            "Each query sees one key too many",
            "the triangle starts one step too far to the right",
            "The next token is what a model is to guess: it must not see it.",
            "https://github.com/octo-models/octo/issues/75",
        ),
        Mutant(
            "nothing hidden",
            lambda n: np.ones((n, n), dtype=bool),
            "Every query sees every key",
            "the triangle is missing",
            "Keep what lies on and below the diagonal: tril.",
            "https://github.com/pytorch/tutorials/pull/2662",
        ),
        _mutant(_NUMBERS, lambda n: np.tri(n)),
        _mutant(_ADDED, lambda n: np.where(_tri(n), 0, -np.inf)),
    ),
)

CACHE_MASK = Task(
    arguments=("num_queries", "num_keys"),
    answers={"": causal_mask},
    stages=lambda: [[(2, 5), (1, 4), (3, 3), (4, 6)]],
    promise="The queries are the last ones: aligned to the bottom right.",
    booleans=True,
    mutants=(
        Mutant(
            "the triangle at the top left",
            _tri,
            "A single new query sees the first key alone",
            "the mask is pinned to the first query and the first key",
            "With a cache the queries are the last ones: move the diagonal "
            "by num_keys − num_queries.",
            "https://github.com/pytorch/pytorch/issues/108108",
        ),
        _mutant(_UPSIDE_DOWN, lambda n, m: ~_tri(n, m, m - n)),
        _mutant(_DIAGONAL, lambda n, m: _tri(n, m, m - n - 1)),
        Mutant(
            "the mask on its side",
            lambda n, m: _tri(n, m, m - n).T,
            "Its shape is that of keys by queries",
            "rows and columns have changed places",
            "Rows are queries, columns are keys.",
            "",  # no public report found
        ),
        _mutant(_NUMBERS, lambda n, m: np.tri(n, m, m - n)),
    ),
)


def _padding_stages():
    trials = [([2, 4, 1], 4), ([3, 3], 5), ([1, 0, 2], 3)]
    return [[(np.array(lengths), most) for lengths, most in trials]]


def _rows(lengths, most):
    return padding_mask(lengths, most)[:, 0]


PADDING_MASK = Task(
    arguments=("lengths", "num_keys"),
    answers={
        "": padding_mask,
        "a row for each query": lambda lengths, most: np.repeat(
            padding_mask(lengths, most), most, axis=1
        ),
    },
    stages=_padding_stages,
    promise="Every query sees the real tokens of its sentence and no other.",
    booleans=True,
    mutants=(
        _mutant(_UPSIDE_DOWN, lambda n, m: ~padding_mask(n, m)),
        Mutant(
            "rows hidden in place of columns",
            lambda n, m: padding_mask(n, m).mT,
            "The queries of padding are hidden, and its keys are not",
            "the axis of length 1 is the keys' and not the queries'",
            "Padding must not be attended to: hide its keys, the columns. "
            "Its own rows are junk that nobody reads.",
            "https://github.com/hyunwoongko/transformer/pull/40",
        ),
        Mutant(
            "rows hidden in place of columns, in full",
            lambda n, m: np.repeat(padding_mask(n, m).mT, m, axis=2),
            "The queries of padding are hidden, and its keys are not",
            "the rows of padding were set to False",
            "Padding must not be attended to: hide its keys, the columns. "
            "Its own rows are junk that nobody reads.",
            "https://github.com/hyunwoongko/transformer/pull/40",
        ),
        Mutant(
            "no axis for the queries",
            _rows,
            "The pattern is right and its shape is (batch, keys)",
            "there is no axis of length 1 between them",
            "Against scores of (batch, queries, keys) it would be read as "
            "(queries, keys): write mask[:, None, :].",
            "https://github.com/phlippe/uvadlc_notebooks/issues/67",
        ),
        Mutant(
            "one token of padding too many",
            lambda n, m: padding_mask(np.minimum(n + 1, m), m),
            "Each sentence shows one [PAD]",
            "places were compared by <= and not by <",
            "Places count from 0: token i is real if i < length.",
            "https://github.com/Wangpeiyi9979/ESD/issues/6",
        ),
        Mutant(
            "padding in front",
            lambda n, m: padding_mask(n, m)[..., ::-1],
            "The last keys of each sentence are shown, not the first",
            "the padding was taken to stand in front",
            "In this book the real tokens stand first.",
            "https://github.com/NVIDIA-NeMo/Automodel/pull/3704",
        ),
        _mutant(_NUMBERS, lambda n, m: padding_mask(n, m).astype(float)),
    ),
)
