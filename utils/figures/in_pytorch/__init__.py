"""PyTorch's conventions in pictures, drawn with NumPy alone."""

from utils.figures.in_pytorch.alignment import (
    alignment,
    draw_alignment,
    say_alignment,
)
from utils.figures.in_pytorch.conventions import (
    aligned,
    axis_weights,
    mask_weights,
)
from utils.figures.in_pytorch.install import TorchIsMissing
from utils.figures.in_pytorch.layout import (
    SENTENCES,
    draw_layout,
    layout,
    say_layout,
)
from utils.figures.in_pytorch.readings import (
    draw_readings,
    readings,
    say_readings,
)
