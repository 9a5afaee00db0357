"""Reading a prompt at once, then writing one token after another."""

import numpy as np

from utils.cost import cache_numbers, decoding_step, multiply_adds
from utils.explore import Explorable, Slider
from utils.explore.palette import INK, KEY, MUTED, QUERY, WEIGHT
from utils.figures.complexity.cells import fill_runs, outline_grid
from utils.figures.drawing import blank_page, write
from utils.figures.wording import counted

PROMPT, WRITTEN = 6, 6
D_MODEL, HEADS = 512, 8
_STEP, _LEFT, _TOP = 0.19, 0.32, 0.72


def step_costs(step, cache, num_key_heads):
    """Count one step of one layer: queries, multiply-adds, numbers read.

    Parameters
    ----------
    step : int
        0 reads the prompt, each later one writes a token.
    cache : bool
        Whether keys and values of earlier tokens are kept.
    num_key_heads : int

    Returns
    -------
    num_queries, pairs, work, read : int
        Pairs that the causal mask lets through; multiply-adds of scores and
        weighted sum, all heads; numbers of keys and values, read once.

    Examples
    --------
    >>> step_costs(0, True, 8)
    (6, 21, 21504, 6144)
    >>> step_costs(1, True, 8)
    (1, 7, 7168, 7168)
    """
    tokens = PROMPT + step
    if step and cache:
        work, read = decoding_step(tokens, D_MODEL, HEADS, num_key_heads)
        return 1, tokens, work, read
    pairs = tokens * (tokens + 1) // 2
    work = pairs * sum(multiply_adds(1, D_MODEL))
    read = cache_numbers(tokens, D_MODEL, HEADS, num_key_heads)
    return tokens, pairs, work, read


def draw_serving(cache, num_key_heads, step):
    """Draw the pairs of this step among all, and what it costs.

    Parameters
    ----------
    cache : bool
    num_key_heads, step : int

    Returns
    -------
    Figure
    """
    queries, pairs, work, read = step_costs(step, cache, num_key_heads)
    tokens, most = PROMPT + step, PROMPT + WRITTEN
    figure, axes = blank_page(3.9)
    title = _title(step)
    write(axes, 0.1, 0.18, title, ha="left", size=11, bold=True)
    side = most * _STEP
    write(axes, _LEFT + side / 2, 0.52, "keys", KEY)
    write(axes, 0.17, _TOP + side / 2, "queries", QUERY, rotation=90)
    i, j = np.arange(most)[:, None], np.arange(most)
    known = (j <= i) & (i < tokens)
    now = known & (i >= tokens - queries)
    corner = (_LEFT, _TOP)
    fill_runs(axes, known & ~now, corner, _STEP, WEIGHT, 0.25)
    fill_runs(axes, now, corner, _STEP, WEIGHT)
    outline_grid(axes, known.shape, corner, _STEP)
    edge = _TOP + PROMPT * _STEP
    axes.plot([_LEFT, _LEFT + side], [edge, edge], color=INK, lw=1, ls="--")
    x = _LEFT + side + 0.14
    for n, (name, value, ink) in enumerate(
        (
            ("queries now", f"{queries}", QUERY),
            ("pairs now", f"{pairs}", INK),
            ("multiply-adds", f"{work:,}", INK),
            ("numbers of K, V read", f"{read:,}", KEY),
            ("multiply-adds for each", f"{work / read:g}", INK),
        )
    ):
        y = 0.75 + 0.48 * n
        write(axes, x, y, name, MUTED, ha="left")
        bold = n in (0, 4)
        write(axes, x, y + 0.2, value, ink, ha="left", size=12, bold=bold)
    notes = (
        "full: computed in this step; pale: done, and not needed again",
        "above the dashed line: the prompt’s queries",
    )
    for n, note in enumerate(notes):
        write(axes, 0.1, 3.42 + 0.22 * n, note, MUTED, ha="left")
    return figure


def say_serving(cache, num_key_heads, step):
    """Say what the step computes and reads.

    >>> say_serving(True, 8, 1)[:54]
    'Writing token 1 with a cache, 8 heads of keys for 8 of'
    """
    queries, pairs, work, read = step_costs(step, cache, num_key_heads)
    with_cache = "with a cache" if cache else "without a cache"
    return (
        f"{_title(step)} {with_cache}, {counted(num_key_heads, 'head')} of "
        f"keys for {HEADS} of queries: {counted(queries, 'query')} and "
        f"{counted(pairs, 'pair')}, {work:,} multiply-adds of attention, "
        f"{read:,} numbers of keys and values read, {work / read:g} "
        "multiply-adds for each number."
    ).replace("querys", "queries")


def _title(step):
    return "Reading the prompt" if step == 0 else f"Writing token {step}"


serving = Explorable(
    "complexity-serving",
    draw_serving,
    say_serving,
    Slider("cache", [False, True], True, label="keep keys and values"),
    Slider("num_key_heads", [8, 4, 2, 1], 8, label="heads of keys"),
    Slider("step", list(range(WRITTEN + 1)), 0, play=True),
)
