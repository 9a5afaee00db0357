"""The timing records in pictures: what was measured, and what bounds it."""

from utils.figures.gpu_timing.clocks import clocks, draw_clocks, say_clocks
from utils.figures.gpu_timing.evidence import points, the_record
from utils.figures.gpu_timing.length import draw_length, length, say_length
from utils.figures.gpu_timing.memory import (
    draw_memory,
    memory,
    peaks,
    predicted,
    say_memory,
)
from utils.figures.gpu_timing.passes import draw_passes, passes, say_passes
from utils.figures.gpu_timing.predict import (
    bars,
    draw_predict,
    predict,
    say_predict,
)
from utils.figures.gpu_timing.ratio import (
    draw_ratio,
    measured_ratios,
    noise,
    ratio,
    say_ratio,
)
from utils.figures.gpu_timing.roofline import (
    draw_roofline,
    roofline,
    say_roofline,
)
from utils.figures.gpu_timing.samples import (
    draw_samples,
    samples,
    say_samples,
)
from utils.figures.gpu_timing.window import draw_window, say_window, window

__all__ = [
    "bars",
    "clocks",
    "draw_clocks",
    "draw_length",
    "draw_memory",
    "draw_passes",
    "draw_predict",
    "draw_ratio",
    "draw_roofline",
    "draw_samples",
    "draw_window",
    "length",
    "measured_ratios",
    "memory",
    "noise",
    "passes",
    "peaks",
    "points",
    "predict",
    "predicted",
    "ratio",
    "roofline",
    "samples",
    "say_clocks",
    "say_length",
    "say_memory",
    "say_passes",
    "say_predict",
    "say_ratio",
    "say_roofline",
    "say_samples",
    "say_window",
    "the_record",
    "window",
]
