"""A trained encoder's scores under other divisors than its own."""

from functools import cache, lru_cache

import numpy as np
from matplotlib.figure import Figure

from utils import trained
from utils.attention import attention_scores, softmax
from utils.explore import Explorable, Slider
from utils.explore.palette import GRID, INK, KEY, MUTED, WEIGHT
from utils.figures.drawing import WIDTH, add_cell, write
from utils.figures.scaling.experiment import effective_keys, gradient_norm
from utils.figures.wording import listed

D_K, D_MODEL = 32, 384


@lru_cache(maxsize=1)
def trained_rows():
    """Collect the raw scores of the heads whose Q and K are stored.

    Returns
    -------
    dict of str to list of ndarray, shape (N,)
        For each head, L0H2 and so on, one row a query, of every sentence.
    """
    return {
        f"L{layer}H{head}": [
            row
            for sentence in trained.sentences()
            for row in attention_scores(
                *trained.queries_and_keys(sentence, layer, head)
            )
        ]
        for layer, head in trained.query_key_heads()
    }


@cache
def head_measures(divisor):
    """Measure the divided scores and the weights of each stored head.

    Parameters
    ----------
    divisor : float

    Returns
    -------
    dict of str to dict of str to float
        For each head the "spread", the standard deviation of a score from
        its row's mean; and of the typical row (the median) the share of
        keys that it uses, "keys", 1 for all alike; and the "gradient".
    """
    found = {}
    for name, rows in trained_rows().items():
        away = np.concatenate([row - row.mean() for row in rows])
        weights = [softmax(row / divisor) for row in rows]
        shares = [float(effective_keys(w)) / len(w) for w in weights]
        found[name] = {
            "spread": float(away.std() / divisor),
            "keys": float(np.median(shares)),
            "gradient": float(np.median([gradient_norm(w) for w in weights])),
        }
    return found


def draw_heads(divisor):
    """Draw each head's spread of scores and how many keys a row uses.

    Parameters
    ----------
    divisor : float

    Returns
    -------
    Figure
    """
    measures = head_measures(divisor)
    figure = Figure(figsize=(WIDTH, 3.7))
    left = figure.add_axes([0.13, 0.15, 0.37, 0.66])
    right = figure.add_axes([0.6, 0.15, 0.37, 0.66])
    places = range(len(measures))
    for ax in (left, right):
        ax.set(ylim=(len(measures) - 0.4, -0.6), yticks=[])
        ax.spines["left"].set_visible(False)
    left.set_title("Spread of scores\naround their row’s mean")
    left.set_xscale("log")
    left.set(xlim=(0.1, 1500))
    left.set_xticks([0.1, 1, 10, 100], ["0.1", "1", "10", "100"])
    left.set_xticks([], minor=True)
    left.axvline(1, color=MUTED, lw=1, ls=(0, (3, 2)))
    right.set_title("Effective number of\nkeys, as a share of all")
    right.set(xlim=(0, 1.25), xticks=[0, 0.5, 1])
    right.spines["bottom"].set_bounds(0, 1)
    for y, (name, found) in zip(places, measures.items(), strict=True):
        write(left, 0.08, y, name, ha="right")
        left.plot([0.1, found["spread"]], [y, y], color=GRID, lw=5)
        left.plot(found["spread"], y, "o", color=KEY, mec=INK, ms=7)
        spread = f"{found['spread']:.2f}"
        write(left, 1500, y, spread, ha="right")
        add_cell(right, (0, y - 0.3), found["keys"], 0.6, fc=WEIGHT)
        write(
            right, found["keys"] + 0.03, y, f"{found['keys']:.2f}", ha="left"
        )
    return figure


def say_heads(divisor):
    """Say what `draw_heads` draws, for the same values."""
    measures = head_measures(divisor)
    spreads = listed(f"{n} {m['spread']:.2f}" for n, m in measures.items())
    keys = listed(f"{n} {m['keys']:.2f}" for n, m in measures.items())
    return (
        f"With scores divided by {_text(divisor)}, they spread around their "
        f"row’s mean by {spreads}. The typical row uses this share of its "
        f"keys: {keys}."
    )


def _text(divisor):
    named = {D_K**0.5: "√dₖ", D_K: "dₖ", D_MODEL**0.5: "√d_model"}
    name = f" = {named[divisor]}" if divisor in named else ""
    return f"{divisor:.3g}{name}"


_DIVISORS = [1, 2, 3, 4, D_K**0.5, 8, 12, 16, D_MODEL**0.5, 24, D_K]

heads = Explorable(
    "scaling-heads",
    draw_heads,
    say_heads,
    Slider("divisor", _DIVISORS, D_K**0.5, texts=_text),
)
