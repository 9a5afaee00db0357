"""Several heads side by side: split the width, attend in each, merge.

Axes in front (batch) are welcome. Heads get the axis before the tokens, so
that the last two axes are (tokens, width of one head) as in utils.attention.
Inputs are never changed.
"""

import numpy as np

from utils.attention import project, scaled_dot_product_attention
from utils.border import count


def split_heads(X, num_heads):
    """Give each head its share of every token's numbers.

    Parameters
    ----------
    X : array_like, shape (..., N, num_heads * d_head)
    num_heads : int

    Returns
    -------
    ndarray, shape (..., num_heads, N, d_head)
        Head h of token i holds the numbers h * d_head to (h + 1) * d_head of
        row i. The array is a copy.

    Raises
    ------
    ValueError
        If X has fewer than two axes, or its width is not num_heads times a
        whole number.

    Notes
    -----
    The width is cut first and the axes are swapped second. Cutting straight
    into (num_heads, N, d_head) has the same shape and mixes tokens.

    Examples
    --------
    >>> split_heads([[0, 1, 2, 3], [4, 5, 6, 7]], num_heads=2)
    array([[[0, 1],
            [4, 5]],
    <BLANKLINE>
           [[2, 3],
            [6, 7]]])
    """
    X = np.asarray(X)
    count("num_heads", num_heads)
    if X.ndim < 2:
        raise ValueError(f"X (..., N, width) has too few axes: {X.shape}")
    *front, N, width = X.shape
    if width % num_heads:
        raise ValueError(
            f"width {width} of X {X.shape} cannot be cut into {num_heads} "
            "equal heads"
        )
    cut = X.reshape(*front, N, num_heads, width // num_heads)
    return cut.swapaxes(-2, -3).copy()


def merge_heads(heads):
    """Put the numbers of each token's heads side by side again.

    Parameters
    ----------
    heads : array_like, shape (..., num_heads, N, d_head)

    Returns
    -------
    ndarray, shape (..., N, num_heads * d_head)
        What split_heads was given, if nothing happened in between. The array
        is a copy.

    Raises
    ------
    ValueError
        If heads has fewer than three axes.

    Examples
    --------
    >>> merge_heads([[[0, 1], [4, 5]], [[2, 3], [6, 7]]])
    array([[0, 1, 2, 3],
           [4, 5, 6, 7]])
    """
    heads = np.asarray(heads)
    if heads.ndim < 3:
        raise ValueError(
            "heads (..., num_heads, N, d_head) has too few axes: "
            f"{heads.shape}"
        )
    *front, num_heads, N, d_head = heads.shape
    swapped = heads.swapaxes(-2, -3)
    return swapped.reshape(*front, N, num_heads * d_head).copy()


def multi_head_attention(
    X_queries,
    X_keys_values,
    W_Q,
    W_K,
    W_V,
    W_O,
    num_heads,
    mask=None,
    num_key_heads=None,
):
    """Attend in several heads at once, and mix what they found.

    Parameters
    ----------
    X_queries : array_like, shape (..., N, d_model)
        The tokens that ask.
    X_keys_values : array_like, shape (..., M, d_source)
        The tokens that are asked: the same array for self-attention, another
        one for cross-attention.
    W_Q : array_like, shape (d_model, num_heads * d_k)
    W_K : array_like, shape (d_source, num_key_heads * d_k)
    W_V : array_like, shape (d_source, num_key_heads * d_v)
    W_O : array_like, shape (num_heads * d_v, d_out)
    num_heads : int
        Heads of queries.
    mask : array_like of bool, shape (..., N, M), optional
        True where the query may attend to the key, the same for every head.
        Its axes in front are those of X_queries: there is none for the heads.
    num_key_heads : int, optional
        Heads of keys and values, num_heads unless told. Fewer means that
        num_heads / num_key_heads neighbouring heads of queries share one.

    Returns
    -------
    output : ndarray, shape (..., N, d_out)
    weights : ndarray, shape (..., num_heads, N, M)

    Raises
    ------
    ValueError
        If the shapes or the counts of heads do not fit, and as
        utils.attention.scaled_dot_product_attention.

    Notes
    -----
    Section 3.2.2 of Vaswani et al. (2017); shared heads of keys are the
    grouped queries of Ainslie et al. (2023). No biases.

    Examples
    --------
    >>> I = np.eye(4)
    >>> X = [[1, 0, 0, 1], [0, 1, 1, 0]]
    >>> output, weights = multi_head_attention(X, X, I, I, I, I, num_heads=2)
    >>> weights.shape, output.round(2)
    ((2, 2, 2), array([[0.67, 0.33, 0.33, 0.67],
           [0.33, 0.67, 0.67, 0.33]]))
    """
    if num_key_heads is None:
        num_key_heads = num_heads
    _check_heads(W_Q, W_K, W_V, W_O, num_heads, num_key_heads)
    Q = split_heads(project(_tokens("X_queries", X_queries), W_Q), num_heads)
    X = _tokens("X_keys_values", X_keys_values)
    shared = num_heads // num_key_heads
    K, V = (
        np.repeat(split_heads(project(X, W), num_key_heads), shared, axis=-3)
        for W in (W_K, W_V)
    )
    if mask is not None:
        mask = np.expand_dims(np.atleast_2d(mask), -3)  # for every head
    output, weights = scaled_dot_product_attention(Q, K, V, mask)
    return project(merge_heads(output), W_O), weights


def _tokens(name, X):
    X = np.asarray(X)
    if X.ndim < 2:
        raise ValueError(f"{name} (..., N, d_model) has shape {X.shape}")
    return X


def _check_heads(W_Q, W_K, W_V, W_O, num_heads, num_key_heads):
    """Refuse widths that would be cut in the wrong places."""
    count("num_heads", num_heads)
    count("num_key_heads", num_key_heads)
    if num_heads % num_key_heads:
        raise ValueError(
            f"num_heads {num_heads} is not a multiple of num_key_heads "
            f"{num_key_heads}: the heads of queries share keys evenly"
        )
    shapes = {
        name: np.shape(W)
        for name, W in zip(
            ("W_Q", "W_K", "W_V", "W_O"), (W_Q, W_K, W_V, W_O), strict=True
        )
    }
    for name, shape in shapes.items():
        if len(shape) != 2:
            raise ValueError(f"{name} must have two axes, received {shape}")
    d_k, spare_k = divmod(shapes["W_Q"][1], num_heads)
    d_v, spare_v = divmod(shapes["W_V"][1], num_key_heads)
    if (
        spare_k
        or spare_v
        or shapes["W_K"][1] != num_key_heads * d_k
        or shapes["W_O"][0] != num_heads * d_v
    ):
        raise ValueError(
            "the widths do not fit the heads. Pattern: "
            "W_Q (d_model, num_heads d_k), W_K (d_source, num_key_heads d_k), "
            "W_V (d_source, num_key_heads d_v), W_O (num_heads d_v, d_out). "
            f"Received: {shapes}, num_heads {num_heads}, num_key_heads "
            f"{num_key_heads}."
        )
