"""Checks of positions, added to the tokens or turned into Q and K.

`checks.py` gathers them with those of the other subjects.
"""

from utils.practice.judge import judge
from utils.practice.on_positions import (
    ADDED_POSITIONS,
    POSITIONAL_ENCODING,
    ROPE,
)

__all__ = [
    "check_added_positions",
    "check_positional_encoding",
    "check_rope",
]


def check_positional_encoding(function):
    """Check `function(num_positions, d_model)`: the sinusoidal table.

    Parameters
    ----------
    function : callable
        Takes two whole numbers, the second even, gives that shape.

    Returns
    -------
    Verdict
    """
    return judge(POSITIONAL_ENCODING, function)


def check_added_positions(function):
    """Check `function(X, E)`: tokens with their positions added.

    Parameters
    ----------
    function : callable
        Takes X (B, N, d_model) and a longer table E (L, d_model), gives the
        shape of X.

    Returns
    -------
    Verdict
    """
    return judge(ADDED_POSITIONS, function)


def check_rope(function):
    """Check `function(Q, positions)`: queries turned, in either pairing.

    Parameters
    ----------
    function : callable
        Takes Q (N, d_k) and positions (N,), gives the shape of Q; base
        10,000.

    Returns
    -------
    Verdict
        It says which pairing the function uses.
    """
    return judge(ROPE, function)
