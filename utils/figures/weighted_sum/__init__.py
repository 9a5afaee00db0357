"""The weighted sum in pictures: weights mix values into the output."""

from utils.figures.weighted_sum.example import (
    EXAMPLES,
    SCALED,
    TOKENS,
    WEIGHTS,
    workflow,
)
from utils.figures.weighted_sum.flow import BOXES, draw_flow, flow, say_flow
from utils.figures.weighted_sum.idea import draw_idea, idea, say_idea
from utils.figures.weighted_sum.pull import (
    PULL_VALUES,
    draw_pull,
    pull,
    pulled,
    say_pull,
)
from utils.figures.weighted_sum.steps import (
    STEPS,
    draw_steps,
    number,
    say_steps,
    steps,
)
from utils.figures.weighted_sum.turn import (
    ANGLES,
    KEYS,
    LENGTHS,
    VALUES,
    draw_turn,
    say_turn,
    turn,
    turned,
)
