"""Softmax in pictures: one row of scores becomes shares of one whole."""

from utils.figures.softmax.axis import axis, draw_axis, say_axis
from utils.figures.softmax.example import ROW, SCORES, TOKENS
from utils.figures.softmax.overflow import (
    LADDER,
    draw_overflow,
    overflow,
    say_overflow,
    softmax_in,
)
from utils.figures.softmax.shift import draw_shift, say_shift, shift
from utils.figures.softmax.temperature import (
    draw_temperature,
    say_temperature,
    temperature,
)
