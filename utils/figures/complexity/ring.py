"""Machines in a ring: queries stay, keys and values go round."""

import numpy as np

from utils.explore import Explorable, Slider
from utils.explore.palette import GRID, INK, KEY, MUTED, QUERY, WEIGHT
from utils.figures.drawing import add_cell, blank_page, write
from utils.figures.wording import counted
from utils.ring import held

FULL, CAUSAL = MASKS = ("full", "causal")
_LEFT, _TOP, _SIDE = 2.62, 0.95, 2.0


def has_work(rank, piece, mask):
    """Tell whether a rank's queries may see any key of a piece.

    >>> has_work(1, 2, "causal"), has_work(1, 2, "full")
    (False, True)
    """
    return mask == FULL or piece <= rank


def draw_ring(num_ranks, mask, turn):
    """Draw who holds what at a turn, and which blocks are merged.

    Parameters
    ----------
    num_ranks : int
    mask : str
        "full" or "causal".
    turn : int
        1 for the first, when everybody holds its own.

    Returns
    -------
    Figure
    """
    figure, axes = blank_page(3.75)
    title = f"Turn {turn} of {num_ranks}"
    write(axes, 0.1, 0.18, title, ha="left", size=11, bold=True)
    write(axes, 0.1, 0.5, "machine", MUTED, ha="left")
    write(axes, 1.02, 0.5, "keeps", MUTED)
    write(axes, 1.72, 0.5, "holds", MUTED)
    write(axes, _LEFT + _SIDE / 2, 0.5, "keys and values of", KEY)
    step = _SIDE / num_ranks
    for piece in range(num_ranks):
        x = _LEFT + step * (piece + 0.5)
        write(axes, x, 0.78, str(piece), KEY)
    for rank in range(num_ranks):
        y = _TOP + step * (rank + 0.5)
        piece = held(rank, turn - 1, num_ranks)
        busy = has_work(rank, piece, mask)
        write(axes, 0.3, y, str(rank), bold=True, size=11)
        write(axes, 1.02, y, f"Q {rank}", QUERY, size=10)
        write(axes, 1.72, y, f"K V {piece}", KEY, size=10)
        if not busy:
            write(axes, 2.28, y, "idle", MUTED)
        for block in range(num_ranks):
            done = (rank - block) % num_ranks < turn - 1
            now = block == piece
            box = (_LEFT + step * block, y - step / 2)
            work = has_work(rank, block, mask)
            if (done or now) and work:
                alpha = 1.0 if now else 0.35
                add_cell(axes, box, step, step, fc=WEIGHT, alpha=alpha, lw=0)
            edge = {"ec": INK, "lw": 2.2, "zorder": 3}
            edge = edge if now else {"ec": GRID, "lw": 0.9, "zorder": 2}
            add_cell(axes, box, step, step, fill=False, **edge)
            text = "masked" if not work and num_ranks == 2 else ""
            text = "now" if now and work else text
            text = "✓" if done and work else text
            text = "–" if not work and not text else text
            ink = INK if work else MUTED
            write(axes, box[0] + step / 2, y, text, ink, zorder=4)
    working = _working(num_ranks, mask, turn)
    last = turn == num_ranks
    notes = (
        f"working: {working} of {num_ranks} machines",
        "then every machine divides O by l, and is done"
        if last
        else "then each hands its K and V to the next, the last to the first",
    )
    for i, note in enumerate(notes):
        write(
            axes,
            0.1,
            3.3 + 0.22 * i,
            note,
            INK if i == 0 else MUTED,
            ha="left",
        )
    return figure


def say_ring(num_ranks, mask, turn):
    """Say who holds what, and how many have work.

    >>> say_ring(2, "causal", 2)[:48]
    'Turn 2 of 2, causal mask: machine 0 holds keys a'
    """
    places = [
        f"machine {rank} holds keys and values of piece "
        f"{held(rank, turn - 1, num_ranks)}"
        for rank in range(num_ranks)
    ]
    working = _working(num_ranks, mask, turn)
    return (
        f"Turn {turn} of {num_ranks}, {mask} mask: {'; '.join(places)}. "
        f"{counted(working, 'machine')} of {num_ranks} "
        f"{'has' if working == 1 else 'have'} work at this turn."
    )


def _working(num_ranks, mask, turn):
    ranks = np.arange(num_ranks)
    pieces = [held(rank, turn - 1, num_ranks) for rank in ranks]
    pairs = zip(ranks, pieces, strict=True)
    return sum(has_work(rank, piece, mask) for rank, piece in pairs)


_RANKS = (2, 4)

ring = Explorable(
    "complexity-ring",
    draw_ring,
    say_ring,
    Slider("num_ranks", list(_RANKS), 4, label="machines"),
    Slider("mask", list(MASKS), FULL),
    Slider(
        "turn",
        {ranks: list(range(1, ranks + 1)) for ranks in _RANKS},
        given="num_ranks",
        play=True,
    ),
)
