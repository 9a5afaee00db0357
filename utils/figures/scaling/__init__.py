"""Scaling in pictures: what √d_k is for, measured."""

from utils.figures.scaling.curves import curves, draw_curves, say_curves
from utils.figures.scaling.experiment import (
    DIMENSIONS,
    DIVISORS,
    divisor,
    effective_keys,
    gradient_norm,
    measured,
    random_scores,
    typical_row,
)
from utils.figures.scaling.heads import (
    draw_heads,
    head_measures,
    heads,
    say_heads,
    trained_rows,
)
from utils.figures.scaling.row import draw_row, row, say_row
from utils.figures.scaling.runaway import (
    draw_runaway,
    exact_slope,
    first_dead,
    runaway,
    say_runaway,
    steps_in,
)
