"""Ten cases for the lab: queries, keys and values, and what went wrong."""

from dataclasses import dataclass

import numpy as np

from utils.masks import causal_mask
from utils.practice.on_attention import ATTENTION, SELF_ATTENTION
from utils.practice.on_decode import DECODE_STEP
from utils.practice.recipe import attend
from utils.practice.task import Mutant

# short, so that they stand over narrow cells
TOKENS = ("The", "bank", "lent", "it")
WIDTHS = (4, 16, 64)


@dataclass(frozen=True)
class Case:
    """A mistake, with the mask under which it shows and its queries."""

    mutant: Mutant
    mask: object = None
    new: int = len(TOKENS)  # how many of the tokens ask


def _named(task, name):
    return next(m for m in task.mutants if m.name == name)


def _nothing_for_it():
    mask = np.ones((4, 4), dtype=bool)
    mask[3] = False
    return mask


def _causal():
    return causal_mask(4)


CASES = {
    "A": Case(_named(ATTENTION, "softmax over the wrong axis")),
    "B": Case(_named(ATTENTION, "no scale")),
    "C": Case(_named(ATTENTION, "the mask upside down"), _causal),
    "D": Case(_named(ATTENTION, "keys mixed in place of values")),
    "E": Case(_named(ATTENTION, "divided by d_k")),
    "F": Case(_named(ATTENTION, "the mask after softmax"), _causal),
    "G": Case(
        _named(ATTENTION, "−1e9 for a query that sees nothing"),
        _nothing_for_it,
    ),
    "H": Case(_named(SELF_ATTENTION, "divided by √d_model")),
    "I": Case(
        _named(DECODE_STEP, "the triangle at the top left"),
        lambda: causal_mask(2, 4),
        new=2,
    ),
    "J": Case(_named(ATTENTION, "the mask added as 0 and 1"), _causal),
}


def compute(case, d_k):
    """Attend in the right way and in the wrong one.

    Parameters
    ----------
    case : str
        A letter in CASES.
    d_k : int
        The length of queries, keys and values.

    Returns
    -------
    right, wrong : tuple of ndarray
        Output (N, d_k) and weights (N, 4) of each.

    Examples
    --------
    >>> right, wrong = compute("A", 16)
    >>> wrong[1].sum(axis=0).round(3)
    array([1., 1., 1., 1.])
    """
    one = CASES[case]
    rng = np.random.default_rng(1)
    Q, K, V = rng.normal(size=(3, len(TOKENS), max(WIDTHS)))[..., :d_k]
    Q = Q[-one.new :]
    mask = one.mask() if one.mask else None
    right = attend(Q, K, V, mask)
    if one.mutant.changes:
        return right, attend(Q, K, V, mask, **one.mutant.changes)
    return right, one.mutant.run(Q, K, V)
