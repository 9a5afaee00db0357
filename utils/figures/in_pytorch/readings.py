"""One boolean mask, and the weights under each library's reading of it."""

import numpy as np
from matplotlib.figure import Figure

from utils.explore import Explorable, Slider
from utils.explore.palette import GRID, INK
from utils.figures.drawing import (
    WIDTH,
    add_cell,
    draw_matrix,
    fill_weights,
    write,
)
from utils.figures.in_pytorch.conventions import (
    READINGS,
    mask_weights,
)
from utils.figures.wording import counted, exact_share, listed

_CAUSAL = np.tri(5, dtype=bool)
_REAL = np.broadcast_to(np.arange(5) < 4, (5, 5))
_DEPLOYED = ("The", "developer", "deployed", "the", "application")
_PADDED = ("The", "developer", "writes", "code", "[PAD]")

# name: tokens, the mask, how it reads, what may be seen, what else is
MASKS = {
    "causal": (_DEPLOYED, _CAUSAL, "True for itself and the past"),
    "future": (_DEPLOYED, ~_CAUSAL, "True for the future"),
    "real": (_PADDED, _REAL, "True for the real tokens"),
    "padding": (_PADDED, ~_REAL, "True for the padding"),
}


def draw_readings(mask, reading, query):
    """Draw a mask, and the weights under one reading of it.

    Parameters
    ----------
    mask : str
        A name in MASKS.
    reading : str
        A name in READINGS.
    query : int
        The query whose row is outlined.

    Returns
    -------
    Figure
    """
    tokens, given, words = MASKS[mask]
    weights = mask_weights(given, reading)
    leaks = _leaks(mask, weights)
    figure = Figure(figsize=(WIDTH, 5.1))
    top = figure.add_axes([0.192, 0.605, 0.79, 0.27])
    low = figure.add_axes([0.192, 0.085, 0.79, 0.34])
    names = {"rows": tokens, "columns": tokens}
    draw_matrix(top, given, _truth(reading), **names)
    draw_matrix(low, weights, exact_share, **names)
    top.set_title(f"Mask: {words}", x=-0.23, pad=24)
    low.set_title(READINGS[reading], x=-0.23, pad=24)
    for (i, j), true in np.ndenumerate(given):
        style = {"fc": GRID, "alpha": 0.7 if true else 0.0, "lw": 0}
        add_cell(top, (j, i), 1, 1, zorder=0, **style)
    fill_weights(low, np.nan_to_num(weights))
    for text, leak in zip(low.texts, leaks.flat, strict=False):
        text.set_weight("bold" if leak else "normal")
        text.set_text(text.get_text() + (" ✗" if leak else ""))
    for ax in (top, low):
        add_cell(ax, (0, query), 5, 1, fill=False, ec=INK, lw=2, clip_on=False)
    write(low, -1.15, 5.45, _verdict(mask, weights), ha="left", size=10)
    return figure


def say_readings(mask, reading, query):
    """Say what `draw_readings` draws, for the same values."""
    tokens, given, words = MASKS[mask]
    weights = mask_weights(given, reading)
    row = listed(
        f"{token} {exact_share(weight)}"
        for token, weight in zip(tokens, weights[query], strict=True)
    )
    return (
        f"Mask: {words}. {READINGS[reading]}. The query “{tokens[query]}” "
        f"has the weights {row}. {_verdict(mask, weights)[2:]}."
    )


def _truth(reading):
    """How a mask's entry is given: as a truth value, or as a number."""
    texts = ("0.0", "1.0") if reading == "added" else ("False", "True")
    return lambda true: texts[int(true)]


def _leaks(mask, weights):
    """Tell which weights are not 0 and lie where none was wanted."""
    wanted = _REAL if MASKS[mask][0] is _PADDED else _CAUSAL
    return ~wanted & (weights > 0)


def _verdict(mask, weights):
    leaks = _leaks(mask, weights).sum()
    where = "on the padding" if MASKS[mask][0] is _PADDED else "on the future"
    if not leaks:
        return f"✓ No weight lies {where}"
    verdict = f"✗ {counted(leaks, 'weight')} lie {where}"
    if not (weights[-1] > 0).any():
        verdict += ", and the last query sees no key"
    return verdict


readings = Explorable(
    "in-pytorch-readings",
    draw_readings,
    say_readings,
    Slider(
        "mask",
        list(MASKS),
        texts=[words for _, _, words in MASKS.values()],
    ),
    Slider(
        "reading", list(READINGS), texts=list(READINGS.values()), label="given"
    ),
    Slider(
        "query",
        {name: range(5) for name in MASKS},
        dict.fromkeys(MASKS, 2),
        texts={name: tokens for name, (tokens, *_) in MASKS.items()},
        given="mask",
    ),
)
