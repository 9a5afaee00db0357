"""The chapter's one row of scores, and a matrix with that row in it.

The row is the query "deployed" of *The developer deployed the application*,
in the document's four-token version. The other rows of SCORES are made up.
"""

TOKENS = ("The", "developer", "deployed", "application")
ROW = (1.2, 2.5, 1.0, 2.0)
SCORES = ((1.5, 0.5, -0.5, 0), (0.5, 1, 2, -1), ROW, (-1, 0.5, 2.5, 1))

SCORE_VALUES = [i / 2 for i in range(-8, 13)]


def added(shift):
    """How a shift of every score reads: nothing where there is none.

    >>> added(-3)
    ' − 3'
    """
    return f" {'−' if shift < 0 else '+'} {abs(shift):g}" if shift else ""
