"""W_K is pulled away from W_Q, and the scores may lose their symmetry."""

import numpy as np
from matplotlib.figure import Figure

from utils.attention import attention_scores, project
from utils.explore import Explorable, Slider
from utils.explore.palette import GRID, KEY, MUTED, OTHER, QUERY
from utils.figures.drawing import WIDTH, add_cell, draw_matrix, write
from utils.figures.qkv.example import (
    ABC,
    W_K_ABC,
    W_K_OURS,
    W_Q_ABC,
    X_ABC,
)
from utils.figures.wording import signed

# What W_K is pulled towards.
GOALS = {"ours": W_K_OURS, "document": W_K_ABC}
_TEXTS = ("ours: rows [0, −1] and [2, 0]", "document: rows [0, 1] and [2, 0]")
_PAIRS = ((0, 1), (0, 2), (1, 2))


def asymmetry(scores):
    """Say how far a square matrix is from symmetric.

    Parameters
    ----------
    scores : array_like, shape (N, N)

    Returns
    -------
    float
        The length of (S − Sᵀ)/2 as a share of the length of S: 0 if
        S = Sᵀ, 1 if S = −Sᵀ, and 0 for a matrix of zeros.

    Examples
    --------
    >>> asymmetry([[0, 2], [2, 0]]), asymmetry([[0, 2], [-2, 0]])
    (0.0, 1.0)
    >>> round(asymmetry([[0, 2], [0, 0]]), 3)
    0.707
    """
    S = np.asarray(scores, dtype=float)
    size = np.linalg.norm(S)
    return float(np.linalg.norm(S - S.T) / 2 / size) if size else 0.0


def draw_pull(goal, pull):
    """Draw queries and keys as arrows, their scores, and the mirror pairs.

    Parameters
    ----------
    goal : str
        A name in GOALS: what W_K becomes at pull 1.
    pull : float
        0 for W_K = W_Q, 1 for W_K = its goal.

    Returns
    -------
    Figure
    """
    W_K, Q, K, scores = _pulled(goal, pull)
    figure = Figure(figsize=(WIDTH, 4.3))
    plane = figure.add_axes([0.02, 0.37, 0.5, 0.55])
    _draw_plane(plane, Q, K)
    grid = figure.add_axes([0.62, 0.513, 0.36, 0.3])
    draw_matrix(grid, scores, _score, "", ABC, ABC)
    write(grid, -0.35, -1.36, "Scores QKᵀ", ha="left", size=10.5)
    for line, row in enumerate(W_K):
        text = ("W_K rows ", "and ")[line]
        text += f"[{', '.join(map(_score, row))}]"
        write(grid, 3, 3.45 + 0.52 * line, text, KEY, "right")
    for i, j in _PAIRS:
        equal = np.isclose(scores[i, j], scores[j, i])
        ink = GRID if equal else OTHER
        for corner in ((j + 0.04, i + 0.04), (i + 0.04, j + 0.04)):
            add_cell(grid, corner, 0.92, 0.92, fill=False, ec=ink, lw=1.8)
    low = figure.add_axes([0.02, 0.02, 0.96, 0.29])
    low.set(xlim=(0, 1), ylim=(4, 0))
    low.set_axis_off()
    for line, (i, j) in enumerate(_PAIRS):
        a, b = ABC[i], ABC[j]
        there, back = _score(scores[i, j]), _score(scores[j, i])
        equal = np.isclose(scores[i, j], scores[j, i])
        y = line + 0.45
        write(low, 0.02, y, f"{a} asks {b}: {there}", ha="left", size=10)
        write(low, 0.34, y, f"{b} asks {a}: {back}", ha="left", size=10)
        verdict = "✓ the same" if equal else "✗ not the same"
        write(low, 0.68, y, verdict, MUTED, "left", size=10)
    far = asymmetry(scores)
    write(low, 0.02, 3.5, "how far from symmetric", ha="left", size=10)
    add_cell(low, (0.44, 3.28), 0.42, 0.44, fc=GRID, lw=0)
    add_cell(low, (0.44, 3.28), 0.42 * far, 0.44, fc=OTHER, lw=0)
    write(low, 0.88, 3.5, f"{far:.3f}", ha="left", size=10)
    return figure


def say_pull(goal, pull):
    """Say what `draw_pull` draws, for the same values."""
    scores = _pulled(goal, pull)[3]
    pairs = (
        f"{ABC[i]} asks {ABC[j]} {_score(scores[i, j])} and {ABC[j]} asks "
        f"{ABC[i]} {_score(scores[j, i])}"
        for i, j in _PAIRS
    )
    whose = "our" if goal == "ours" else "the document’s"
    return (
        f"With W_K pulled {pull:g} of the way from W_Q to {whose} W_K, "
        f"{'; '.join(pairs)}. The matrix is {asymmetry(scores):.3f} far from "
        f"symmetric, where 0 is symmetric and 1 is the most there can be."
    )


def _pulled(goal, pull):
    """W_K, the queries, the keys and the scores."""
    W_K = (1 - pull) * W_Q_ABC + pull * GOALS[goal]
    Q, K = project(X_ABC, W_Q_ABC), project(X_ABC, W_K)
    return W_K, Q, K, attention_scores(Q, K)


def _score(value):
    return signed(round(float(value), 2) + 0.0, 2)


def _draw_plane(axes, Q, K):
    axes.set(xlim=(-0.5, 2.55), ylim=(-1.4, 2.55), xticks=[], yticks=[])
    axes.spines[:].set_visible(False)
    axes.hlines(0, -0.5, 2.55, color=GRID, lw=1, zorder=0)
    axes.vlines(0, -1.4, 2.55, color=GRID, lw=1, zorder=0)
    wide = {"width": 0.07, "head_width": 0.22, "color": QUERY, "zorder": 1}
    thin = {"width": 0.025, "head_width": 0.17, "color": KEY, "zorder": 2}
    names = _free_places([*Q, *K], [*Q, *K])
    beside_q, beside_k = names[:3], names[3:]
    for letter, tips, beside, look in (
        ("q", Q, beside_q, wide),
        ("k", K, beside_k, thin),
    ):
        for name, tip, place in zip(ABC, tips, beside, strict=True):
            end = {"length_includes_head": True, "head_length": 0.17, "lw": 0}
            axes.arrow(0, 0, *tip, **look, **end)
            write(axes, *place, f"{letter} {name}", look["color"], size=10)
    title = "Queries (wide) and keys (thin)"
    axes.set_title(title, x=0.04)


def _free_places(tips, arrows):
    """Where a name can stand near each tip, away from arrows and names."""
    found = []
    turns = np.deg2rad(np.arange(0, 360, 30))
    around = np.stack([np.cos(turns), np.sin(turns)], axis=1)
    radii = np.array([(0.28, 0.22), (0.36, 0.3), (0.46, 0.4)])
    around = (around * radii[:, None]).reshape(-1, 2)
    for tip in tips:
        room = [_room(tip + shift, arrows, found) for shift in around]
        # the first that has room enough; if none has, the roomiest
        best = next((i for i, r in enumerate(room) if r > 0.1), None)
        best = int(np.argmax(room)) if best is None else best
        found.append(tip + around[best])
    return found


def _room(place, arrows, taken):
    """How far a name there is from all arrows, and from all other names."""
    points = place + np.linspace((-0.17, 0), (0.17, 0), 7)
    along = np.linspace(0, 1.08, 28)[:, None]  # a head is wider than its line
    lines = np.concatenate([along * tip for tip in arrows])
    gaps = points[:, None] - lines
    room = np.hypot(gaps[..., 0], gaps[..., 1] * 0.76).min() - 0.06
    for other in taken:
        room = min(room, (np.abs(place - other) - (0.36, 0.26)).max())
    return room


pull = Explorable(
    "qkv-pull",
    draw_pull,
    say_pull,
    Slider("goal", list(GOALS), label="pull W_K towards", texts=_TEXTS),
    Slider("pull", [i / 20 for i in range(21)], 0, play=True),
)
