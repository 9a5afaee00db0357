"""Queries, keys and values in pictures: who asks, who is asked."""

from utils.figures.qkv.ask import (
    HEADS,
    SENTENCES,
    ask,
    draw_ask,
    say_ask,
)
from utils.figures.qkv.example import (
    ABC,
    FEATURES,
    OFFERS,
    OTHER_TOKENS,
    OTHER_X,
    TOKENS,
    W_K,
    W_K_ABC,
    W_K_OURS,
    W_Q,
    W_Q_ABC,
    W_V,
    X_ABC,
    X,
)
from utils.figures.qkv.meet import draw_meet, meet, say_meet
from utils.figures.qkv.pull import asymmetry, draw_pull, pull, say_pull
from utils.figures.qkv.training import (
    STEPS,
    WANTED,
    draw_training,
    history,
    say_training,
    training,
)
