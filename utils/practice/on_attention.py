"""Attention from queries, keys and values, with its known mistakes."""

import numpy as np

from utils.masks import causal_mask
from utils.practice import recipe
from utils.practice.on_weights import (
    BY_D_K,
    BY_D_MODEL,
    NO_SCALE,
    scale_mutant,
)
from utils.practice.task import Mutant, Task

__all__ = ["ATTENTION", "SELF_ATTENTION", "STEPS", "draw_inputs"]


def _model_width(Q, K):
    """The book's heads here are half as wide as the model."""
    return (2 * Q.shape[-1]) ** 0.5


# each as a change of recipe.attend: name, symptom, cause, why, report
STEPS = (
    (
        {"axis": -2},
        "softmax over the wrong axis",
        "Your weights sum to 1 down the columns",
        "softmax ran over queries",
        "Each query shares out one whole among the keys: softmax runs along "
        "the last axis.",
        "https://github.com/nerminnuraydogan/vision-transformer/issues/1",
    ),
    (
        {"divisor": lambda Q, K: 1},
        NO_SCALE[0],
        "Your weights are too sharp",
        *NO_SCALE[1:],
    ),
    (
        {"divisor": lambda Q, K: Q.shape[-1]},
        BY_D_K[0],
        "Your weights are too flat",
        *BY_D_K[1:],
    ),
    (
        {"mix": lambda weights, K, V: weights @ K},
        "keys mixed in place of values",
        "Your weights are right and your output is not",
        "the weights were multiplied with K",
        "Keys are what a token is found by; what it passes on is its value.",
        "https://github.com/snu-comparch/InfiniGen/issues/5",
    ),
    (
        {"hide": recipe.inverted},
        "the mask upside down",
        "All weight goes to the keys that should be hidden",
        "True was read as “hide”",
        "True means may attend here. Some libraries mean the opposite: block "
        "one key, and look.",
        "https://github.com/rasbt/LLMs-from-scratch/issues/1061",
    ),
    (
        {"hide": recipe.after_softmax},
        "the mask after softmax",
        "Rows with a hidden key sum to less than 1",
        "weights were set to 0 after softmax had shared out the whole",
        "Hide scores, by −inf, before softmax: the keys that are left then "
        "share the whole.",
        "https://github.com/huggingface/pytorch-image-models/pull/2236",
    ),
    (
        {"hide": recipe.to_zero},
        "hidden scores set to 0",
        "Hidden keys still get weight",
        "their scores became 0, a score like any other",
        "exp(0) is 1. Only a score of −inf has the weight 0.",
        "https://github.com/samgoldman97/mist/issues/17",
    ),
    (
        {"hide": recipe.added},
        "the mask added as 0 and 1",
        "Hidden keys still get weight",
        "True was added to the scores as 1",
        "An added mask holds 0 where a query may attend and −inf elsewhere; "
        "a mask of True and False goes through where().",
        "https://github.com/pytorch/pytorch/issues/21518",
    ),
    (
        {"hide": recipe.ignored},
        "the mask ignored",
        "Hidden keys get as much weight as without a mask",
        "the mask is never used",
        "Set the scores of hidden keys to −inf before softmax.",
        "https://github.com/keras-team/keras/issues/23038",
    ),
    (
        {"hide": recipe.just_large},
        "−1e9 for a query that sees nothing",
        "A query that may see nothing gets the mean of all values",
        "its scores are all −1e9, and softmax shares out among equals",
        "−1e9 is a number, not minus infinity. In this book such a query "
        "gets zeros.",
        "https://github.com/pytorch/pytorch/pull/131060",
    ),
    (
        {"hide": recipe.unguarded},
        "NaN for a query that sees nothing",
        "A query that may see nothing gets NaN, and all else is right",
        "its row divides 0 by 0",
        "Decide what it gets: zeros in this book, and in PyTorch's "
        "scaled_dot_product_attention by now.",
        "https://github.com/pytorch/pytorch/issues/103963",
    ),
)


def _mutants(run, steps):
    def one(changes, name, *rest):
        return Mutant(name, _with(run, changes), *rest, changes)

    return tuple(one(*step) for step in steps)


def _with(run, changes):
    return lambda *trial: run(*trial, **changes)


def draw_inputs(rng, n, m, d_k, d_v):
    """Draw random queries, keys and values."""
    return tuple(
        rng.normal(size=shape) for shape in ((n, d_k), (m, d_k), (m, d_v))
    )


def _attention_stages():
    rng = np.random.default_rng(5)
    sizes = ((4, 6, 4, 3), (5, 5, 9, 9), (3, 4, 16, 2))
    plain = [draw_inputs(rng, *size) for size in sizes]
    hiding = []
    for n, m, *widths in sizes:
        mask = rng.random((n, m)) < 0.6
        mask[:, 0] = True
        mask[0, 1] = mask[1, -1] = False
        hiding.append((*draw_inputs(rng, n, m, *widths), mask))
    hiding.append((*draw_inputs(rng, 5, 5, 4, 2), causal_mask(5)))
    nothing = np.array([[True, True, True], [False, False, False]])
    return [plain, hiding, [(*draw_inputs(rng, 2, 3, 4, 2), nothing)]]


ATTENTION = Task(
    arguments=("Q", "K", "V", "mask"),
    answers={"": recipe.attend},
    stages=_attention_stages,
    promise="softmax(Q Kᵀ / √d_k) V on every trial.",
    recipe=recipe.attend,
    mutants=(
        *_mutants(recipe.attend, STEPS),
        Mutant(
            "no softmax",
            lambda Q, K, V, mask=None: Q @ K.mT / Q.shape[-1] ** 0.5 @ V,
            "Your output leaves the range of the values",
            "scores were multiplied with V",
            "An output is an average of values: the shares must be positive "
            "and sum to 1, and softmax makes them so.",
            "https://github.com/ArchipLab-LinfengZhang/"
            "Object-Detection-Knowledge-Distillation-ICLR2021/issues/11",
        ),
    ),
)


def _self_attention(X, W_Q, W_K, W_V, **changes):
    return recipe.attend(X @ W_Q, X @ W_K, X @ W_V, **changes)


def _self_stages():
    rng = np.random.default_rng(6)
    return [
        [
            (rng.normal(size=(n, 2 * d)), *rng.normal(size=(3, 2 * d, d)))
            for n, d in ((4, 3), (5, 4), (6, 2))
        ]
    ]


_UNMASKED = tuple(s for s in STEPS if "hide" not in s[0] and "mix" not in s[0])

SELF_ATTENTION = Task(
    arguments=("X", "W_Q", "W_K", "W_V"),
    answers={"": _self_attention},
    stages=_self_stages,
    promise="softmax(Q Kᵀ / √d_k) V, with Q, K and V from X.",
    recipe=_self_attention,
    mutants=(
        *_mutants(_self_attention, _UNMASKED),
        scale_mutant(
            BY_D_MODEL,
            "Your weights are too flat",
            _with(_self_attention, {"divisor": _model_width}),
            {"divisor": _model_width},
        ),
        Mutant(
            "V projected by W_K",
            lambda X, W_Q, W_K, W_V: _self_attention(X, W_Q, W_K, W_K),
            "Your weights are right and your output is not",
            "the values were made with W_K",
            "Three matrices make three things; V is X W_V. No shape shows "
            "the slip when d_k = d_v.",
            "https://github.com/snu-comparch/InfiniGen/issues/5",
            {"mix": lambda weights, K, V: weights @ K},
        ),
        Mutant(
            "queries and keys exchanged",
            lambda X, W_Q, W_K, W_V: _self_attention(X, W_K, W_Q, W_V),
            "Your scores are the transpose of the right ones",
            "W_Q made the keys and W_K the queries",
            "Row i of the scores belongs to the query of token i.",
            "https://github.com/poloclub/transformer-explainer/issues/19",
        ),
        Mutant(
            "tokens mixed in place of values",
            lambda X, W_Q, W_K, W_V: recipe.attend(X @ W_Q, X @ W_K, X),
            "Your output is as wide as a token",
            "X itself was mixed, and W_V left out",
            "What a token passes on is its value, X W_V.",
            "https://github.com/facebookresearch/Motionformer/pull/6",
        ),
    ),
)
