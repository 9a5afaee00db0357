"""Positions in pictures: reordered tokens, clock hands, turned arrows."""

from utils.figures.positional_encoding.clocks import (
    D_MODEL,
    NUM_POSITIONS,
    clocks,
    draw_clocks,
    say_clocks,
    similarity,
)
from utils.figures.positional_encoding.order import (
    POSITIONS,
    TOKENS,
    W_K,
    W_Q,
    X,
    attend,
    draw_order,
    order,
    say_order,
)
from utils.figures.positional_encoding.rope import (
    BASE,
    KEY_VECTOR,
    QUERY_VECTOR,
    draw_rope,
    pair_scores,
    rope,
    say_rope,
)
