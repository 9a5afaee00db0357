"""Why self-attention: who looks at whom, where "bank" goes, how far it is."""

from utils.figures.motivation.bank import (
    BANKS,
    bank,
    bank_cosines,
    bank_plane,
    draw_bank,
    say_bank,
)
from utils.figures.motivation.gaze import (
    HEADS,
    MOST_TOKENS,
    SENTENCES,
    draw_gaze,
    gaze,
    say_gaze,
)
from utils.figures.motivation.path import (
    MOST_ARCS,
    convolution_layers,
    draw_path,
    path,
    say_path,
)
