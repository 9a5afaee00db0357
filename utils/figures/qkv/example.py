"""The chapter's made-up matrices: small enough to be read like a table.

Each column of X is a feature of a word. The matrices are written by hand, so
that every number has a meaning; a trained layer finds its own.
"""

import numpy as np

FEATURES = ("article", "noun", "verb", "actor")
OFFERS = ("noun", "verb")  # the two columns of every query and key

# The document's shortened sentence, 4 tokens with d_model = 4.
TOKENS = ("The", "developer", "deployed", "application")
X = np.array([[1, 0, 0, 0], [0, 1, 0, 1], [0, 0, 1, 0], [0, 1, 0, 0]])

# The bank approved the loan, its articles left out.
OTHER_TOKENS = ("bank", "approved", "loan")
OTHER_X = np.array([[0, 1, 0, 0.5], [0, 0, 1, 0], [0, 1, 0, 0]])

W_Q = np.array([[1, 0], [0, 1], [3, 0], [0, 1]])  # d_k = 2
W_K = np.array([[0, 0], [1, 0], [0, 1], [0, 0]])
W_V = np.array([[0, 0, 0], [1, 0, 0], [0, 0, 1], [0, 1, 0]])  # d_v = 3

# Three tokens A, B, C of the second document, and its two projections.
ABC = ("A", "B", "C")
X_ABC = np.array([[1, 0], [0, 1], [1, 1]])
W_Q_ABC = np.array([[1, 0], [0, 2]])
W_K_ABC = np.array([[0, 1], [2, 0]])
W_K_OURS = np.array([[0, -1], [2, 0]])  # one sign is ours

for _array in (X, OTHER_X, W_Q, W_K, W_V):
    _array.flags.writeable = False
for _array in (X_ABC, W_Q_ABC, W_K_ABC, W_K_OURS):
    _array.flags.writeable = False
