"""The last queries against a cache, with the known mistakes."""

import numpy as np

from utils.masks import causal_mask
from utils.practice import recipe
from utils.practice.on_attention import draw_inputs
from utils.practice.task import Mutant, Task

__all__ = ["DECODE_STEP"]


def _decode(Q, K, V, mask=None):
    if mask is None:
        mask = causal_mask(len(Q), len(K))
    return recipe.attend(Q, K, V, mask)


def _decode_stages():
    rng = np.random.default_rng(7)
    sizes = ((1, 4, 4, 3), (1, 6, 9, 4), (2, 5, 4, 4), (3, 7, 16, 2))
    return [[draw_inputs(rng, *size) for size in sizes]]


def _decode_with(make_mask):
    return lambda Q, K, V: _decode(Q, K, V, make_mask(len(Q), len(K)))


DECODE_STEP = Task(
    arguments=("Q", "K", "V"),
    answers={"": _decode},
    stages=_decode_stages,
    promise="The last queries see the cache, themselves and no future.",
    mutants=(
        Mutant(
            "the triangle at the top left",
            _decode_with(lambda n, m: np.tri(n, m, dtype=bool)),
            "A single new query sees the first key alone",
            "the mask is pinned to the first query and the first key",
            "With a cache the queries are the last ones: align the triangle "
            "to the bottom right.",
            "https://github.com/pytorch/pytorch/issues/108108",
        ),
        Mutant(
            "no mask among the new queries",
            _decode_with(lambda n, m: np.ones((n, m), dtype=bool)),
            "One new query is right; of several, the first see the future",
            "there is no mask",
            "A mask is needless for one query and needed for two.",
            "https://github.com/Mikyx-1/TinyLLM/issues/17",
        ),
        Mutant(
            "its own token hidden",
            _decode_with(lambda n, m: np.tri(n, m, m - n - 1, dtype=bool)),
            "A new query does not see its own key",
            "the diagonal is one step too far to the left",
            "A token may attend to itself and to what came before it.",
            "https://github.com/harvard-edge/cs249r_book/pull/1953",
        ),
        Mutant(
            "the cache left out",
            _decode_with(
                lambda n, m: (
                    np.tri(n, m, m - n, dtype=bool) & (np.arange(m) >= m - n)
                )
            ),
            "A single new query gives all weight to itself",
            "only the new keys were used",
            "The cache holds the keys and values of what came before; new "
            "queries need them all.",
            "https://github.com/deepspeedai/DeepSpeed/pull/7428",
        ),
    ),
)
