"""Masks in pictures: who may look at whom, and what blocked scores become."""

from utils.figures.masks.builder import (
    KINDS,
    build_mask,
    builder,
    draw_builder,
    say_builder,
)
from utils.figures.masks.cache import (
    ALIGNMENTS,
    SENTENCE,
    aligned_mask,
    cache,
    draw_cache,
    say_cache,
)
from utils.figures.masks.example import (
    PAD,
    TOKENS,
    embed,
    queries_keys_values,
)
from utils.figures.masks.filler import (
    FILLERS,
    ROW,
    VALUES,
    draw_filler,
    fill_row,
    filler,
    say_filler,
)
