"""Attention in several heads, with its known mistakes."""

import numpy as np

from utils.heads import merge_heads, multi_head_attention, split_heads
from utils.practice import recipe
from utils.practice.on_heads import JOIN, VIEW, join, view
from utils.practice.on_weights import (
    BY_D_K,
    BY_D_MODEL,
    NO_SCALE,
    scale_mutant,
)
from utils.practice.task import Mutant, Task

__all__ = ["MULTI_HEAD"]


def _heads(
    X, W_Q, W_K, W_V, W_O, num_heads, *, split=None, merge=None, **changes
):
    split, merge = split or split_heads, merge or merge_heads
    Q, K, V = (split(X @ W, num_heads) for W in (W_Q, W_K, W_V))
    output, weights = recipe.attend(Q, K, V, **changes)
    return merge(output) @ W_O, weights


def _heads_stages():
    rng = np.random.default_rng(13)
    return [
        [
            (rng.normal(size=(n, d)), *rng.normal(size=(4, d, d)), h)
            for n, d, h in ((3, 4, 2), (5, 6, 3), (4, 8, 4))
        ]
    ]


def _changed(changes):
    return lambda *trial: _heads(*trial, **changes)


def _scaled(words, symptom, divisor):
    changes = {"divisor": divisor}
    return scale_mutant(words, symptom, _changed(changes), changes)


MULTI_HEAD = Task(
    arguments=("X", "W_Q", "W_K", "W_V", "W_O", "num_heads"),
    answers={
        "": lambda X, W_Q, W_K, W_V, W_O, h: multi_head_attention(
            X, X, W_Q, W_K, W_V, W_O, h
        )
    },
    stages=_heads_stages,
    promise="Every head attends by itself, and W_O mixes them.",
    recipe=_heads,
    mutants=(
        Mutant(
            "view without transpose",
            _changed({"split": view}),
            *VIEW,
            {"split": view},
        ),
        Mutant(
            "heads joined without swapping",
            _changed({"merge": join}),
            *JOIN,
            {"merge": join},
        ),
        _scaled(NO_SCALE, "Your weights are too sharp", lambda Q, K: 1),
        _scaled(BY_D_K, "Your weights are too flat", lambda Q, K: Q.shape[-1]),
        _scaled(
            BY_D_MODEL,
            "Your weights are too flat",
            lambda Q, K: (Q.shape[-3] * Q.shape[-1]) ** 0.5,
        ),
        Mutant(
            "softmax over the wrong axis",
            _changed({"axis": -2}),
            "In each head your weights sum to 1 down the columns",
            "softmax ran over queries",
            "Each query shares out one whole among the keys: softmax runs "
            "along the last axis.",
            "https://github.com/labmlai/"
            "annotated_deep_learning_paper_implementations/issues/146",
            {"axis": -2},
        ),
        Mutant(
            "softmax over the heads",
            _changed({"axis": -3}),
            "Your weights sum to 1 over the heads",
            "softmax ran along the first axis",
            "Softmax runs along the last axis, the keys.",
            "https://github.com/facebookresearch/detr/issues/247",
            {"axis": -3},
        ),
        Mutant(
            "V projected by W_K",
            lambda X, W_Q, W_K, W_V, W_O, h: _heads(X, W_Q, W_K, W_K, W_O, h),
            "Your weights are right and your output is not",
            "the values were made with W_K",
            "Three matrices make three things; V is X W_V.",
            "https://github.com/snu-comparch/InfiniGen/issues/5",
            {"mix": lambda weights, K, V: weights @ K},
        ),
        Mutant(
            "W_O left out",
            lambda X, W_Q, W_K, W_V, W_O, h: _heads(
                X, W_Q, W_K, W_V, np.eye(len(W_O)), h
            ),
            "The heads stand side by side and are not mixed",
            "the last matrix was left out",
            "W_O mixes what the heads found.",
            "https://github.com/Kyubyong/transformer/issues/117",
        ),
        Mutant(
            "one head",
            lambda X, W_Q, W_K, W_V, W_O, h: _heads(X, W_Q, W_K, W_V, W_O, 1),
            "Your output does not depend on the number of heads",
            "the width was never cut",
            "Split Q, K and V into heads before they meet.",
            "https://github.com/feevos/ceecnet/issues/6",
        ),
    ),
)
