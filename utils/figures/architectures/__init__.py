"""Heads, masks and sources: how one attention makes three architectures."""

from utils.figures.architectures.board import (
    LEAST_PRINTED,
    board,
    board_weights,
    draw_board,
    say_board,
)
from utils.figures.architectures.example import (
    ARCHITECTURES,
    SENTENCE,
    SOURCE,
    TARGET,
    first_heard,
    may_attend,
    names_of,
)
from utils.figures.architectures.groups import (
    D_MODEL,
    draw_groups,
    groups,
    say_groups,
    sharers,
    sizes,
)
from utils.figures.architectures.models import (
    STACKS,
    draw_models,
    models,
    say_models,
)
from utils.figures.architectures.reach import (
    cone,
    draw_reach,
    reach,
    say_reach,
)
from utils.figures.architectures.split import (
    WAYS,
    draw_split,
    one_head,
    say_split,
    split,
)
