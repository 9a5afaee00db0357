"""Which pairs a sparse pattern keeps, and how far word travels."""

from utils.explore import Explorable, Slider
from utils.explore.palette import GRID, KEY, MUTED, OTHER, QUERY, WEIGHT
from utils.figures.complexity.cells import fill_runs, outline_grid
from utils.figures.drawing import blank_page, write
from utils.figures.wording import counted
from utils.masks import causal_mask, sliding_window_mask
from utils.sparse import first_tokens_mask, reached, strided_mask

N = 24
FULL, WINDOW, STRIDED, FIRST = PATTERNS = (
    "full (causal)",
    "sliding window",
    "window and stride",
    "window and first token",
)
MOST_LAYERS = 8
_STEP, _LEFT, _TOP = 0.115, 0.32, 0.62


def mask_of(pattern, window):
    """Give the pattern's mask for 24 tokens.

    Parameters
    ----------
    pattern : str
        One of PATTERNS.
    window : int

    Returns
    -------
    ndarray of bool, shape (24, 24)
    """
    if pattern == FULL:
        return causal_mask(N)
    makers = {
        WINDOW: lambda: sliding_window_mask(N, window),
        STRIDED: lambda: strided_mask(N, window),
        FIRST: lambda: first_tokens_mask(N, window),
    }
    return makers[pattern]()


def draw_patterns(pattern, window, layers):
    """Draw the pairs that are kept, and whom the last token has heard.

    Parameters
    ----------
    pattern : str
    window, layers : int

    Returns
    -------
    Figure
    """
    mask = mask_of(pattern, window)
    full = causal_mask(N)
    heard = [reached(mask, layer)[-1] for layer in range(layers + 1)]
    figure, axes = blank_page(5.42)
    title = f"{pattern[0].upper()}{pattern[1:]}"
    write(axes, 0.1, 0.17, title, ha="left", size=11, bold=True)
    side = N * _STEP
    write(axes, _LEFT + side / 2, 0.47, "keys", KEY)
    write(axes, 0.17, _TOP + side / 2, "queries", QUERY, rotation=90)
    corner = (_LEFT, _TOP)
    fill_runs(axes, full & ~mask, corner, _STEP, GRID, 0.55)
    fill_runs(axes, mask, corner, _STEP, WEIGHT)
    outline_grid(axes, mask.shape, corner, _STEP)
    x = _LEFT + side + 0.2
    kept, all_pairs = mask.sum(), full.sum()
    for i, (text, ink) in enumerate(
        (
            ("pairs kept", MUTED),
            (f"{kept} of {all_pairs}", KEY),
            ("most keys in a row", MUTED),
            (f"{mask.sum(axis=1).max()}", KEY),
            ("last token heard of", MUTED),
            (f"{heard[-1].sum()} of {N}", OTHER),
        )
    ):
        size, gap = (9, 0) if i % 2 == 0 else (13, 0.05)
        y = 0.95 + 0.3 * i + 0.18 * (i // 2) - gap
        write(axes, x, y, text, ink, ha="left", size=size, bold=i % 2 == 1)
    y = _TOP + side + 0.28
    note = "What has reached the last token, layer by layer"
    write(axes, 0.1, y, note, ha="left")
    for layer in range(MOST_LAYERS + 1):
        row = y + 0.2 + layer * 0.155
        if layer > layers:
            break
        fill_runs(axes, heard[layer][None], (0.62, row), 0.155, OTHER, 0.75)
        outline_grid(axes, (1, N), (0.62, row), 0.155)
        text = "at first" if layer == 0 else f"after {layer}"
        write(axes, 0.1, row + 0.078, text, MUTED, ha="left")
    return figure


def say_patterns(pattern, window, layers):
    """Say how many pairs are kept, and how far the last token hears.

    >>> say_patterns("sliding window", 4, 2)[:60]
    'Sliding window of 4: 90 of the 300 pairs of 24 tokens are ke'
    """
    mask = mask_of(pattern, window)
    full = causal_mask(N)
    heard = int(reached(mask, layers)[-1].sum())
    of = "" if pattern == FULL else f" of {window}"
    name = pattern[0].upper() + pattern[1:]
    if pattern in (STRIDED, FIRST):
        name = f"{name}, the window"
    whole = "the whole text" if heard == N else f"{heard} of {N} tokens"
    return (
        f"{name}{of}: {mask.sum()} of the {full.sum()} pairs of {N} tokens "
        f"are kept. After {counted(layers, 'layer')} the last token has "
        f"heard of {whole}, itself included."
    )


patterns = Explorable(
    "complexity-patterns",
    draw_patterns,
    say_patterns,
    Slider("pattern", list(PATTERNS), WINDOW),
    Slider(
        "window",
        {one: [N] if one == FULL else [2, 3, 4, 6, 8] for one in PATTERNS},
        {one: N if one == FULL else 4 for one in PATTERNS},
        given="pattern",
    ),
    Slider("layers", list(range(MOST_LAYERS + 1)), 2, play=True),
)
