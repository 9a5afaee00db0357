"""Attention in NumPy: queries meet keys, scores become weights, values mix.

Rows are queries, columns are keys. Axes in front (batch, heads) are welcome
and broadcast as in NumPy. Everything is computed in float64 at least and
rounded once, to the common float dtype of the inputs (integers count as
float64). Inputs are never changed and outputs never share their memory.
"""

from numbers import Integral, Real

import numpy as np

from utils.border import as_floats, read_arrays, refuse


def softmax(scores, axis=-1, temperature=1.0):
    """Turn scores into weights: never negative, with sum 1 along an axis.

    Parameters
    ----------
    scores : array_like, shape (..., M)
        -inf means "may not be chosen".
    axis : int, optional
        The axis that sums to 1; the last, the keys, unless told.
    temperature : float, optional
        Divides the scores: small sharpens, large flattens.

    Returns
    -------
    ndarray, shape (..., M)
        Exactly 0 where the score is -inf. A row of nothing but -inf gives
        zeros: nothing may be chosen, so nothing is.

    Raises
    ------
    ValueError
        If scores is a single number or holds NaN, +inf or anything that is
        not a real number; if there is no such axis; if temperature is not
        above 0 and finite.

    Notes
    -----
    The largest score of each row is taken off first. No weight changes by
    that, and exp cannot overflow.

    Examples
    --------
    >>> softmax([1.2, 2.5, 1.0, 2.0]).round(4)
    array([0.1296, 0.4757, 0.1061, 0.2885])
    """
    scores, dtype = as_floats("scores", scores)
    if scores.ndim == 0:
        raise ValueError(f"scores needs an axis, received a single {scores}")
    if not (isinstance(axis, Integral) and -scores.ndim <= axis < scores.ndim):
        raise ValueError(f"axis {axis!r} is not in shape {scores.shape}")
    if not (isinstance(temperature, Real) and 0 < temperature < np.inf):
        raise ValueError(
            f"temperature must be above 0 and finite, received {temperature!r}"
        )
    refuse("scores", scores, np.isnan(scores) | np.isposinf(scores))

    with np.errstate(over="ignore", under="ignore"):
        largest = scores.max(axis=axis, keepdims=True, initial=-np.inf)
        largest = np.where(np.isneginf(largest), 0, largest)
        weights = np.exp((scores - largest) / float(temperature))
        total = weights.sum(axis=axis, keepdims=True)
        return (weights / np.where(total == 0, 1, total)).astype(dtype)


def project(X, W):
    """Read every token through the same matrix: X W.

    Parameters
    ----------
    X : array_like, shape (..., N, d_model) or (d_model,)
    W : array_like, shape (..., d_model, d_out)

    Returns
    -------
    ndarray, shape (..., N, d_out) or (..., d_out)
        Row i depends on token i alone.

    Raises
    ------
    ValueError
        If the shapes do not fit, or an entry is not a finite real number, or
        a result is too large for the dtype.

    Notes
    -----
    Section 3.2.2 of Vaswani et al. (2017). torch.nn.Linear stores Wᵀ.

    Examples
    --------
    >>> project([[1, 0], [0, 1], [1, 1]], [[0, 1], [2, 0]])
    array([[0., 1.],
           [2., 0.],
           [2., 1.]])
    """
    arrays, dtype = read_arrays(X=X, W=W)
    return _product("X W", *arrays.values(), dtype)


def attention_scores(Q, K):
    """Compare every query with every key: Q Kᵀ.

    Parameters
    ----------
    Q : array_like, shape (..., N, d_k)
    K : array_like, shape (..., M, d_k)

    Returns
    -------
    ndarray, shape (..., N, M)
        Entry (i, j) is the dot product of query i and key j.

    Raises
    ------
    ValueError
        If the shapes do not fit, or an entry is not a finite real number, or
        a score is too large for the dtype (float16 ends at 65504).

    Notes
    -----
    Section 3.2.1 of Vaswani et al. (2017). For d_k = 0 every score is an
    empty sum, 0.

    Examples
    --------
    >>> attention_scores([[1, 0], [0, 2]], [[0, 1], [2, 0], [2, 1]])
    array([[0., 2., 2.],
           [2., 0., 2.]])
    """
    arrays, dtype = read_arrays(Q=Q, K=K)
    return _product("Q Kᵀ", arrays["Q"], arrays["K"].mT, dtype)


def scaled_scores(Q, K):
    """Divide the scores by √d_k: Q Kᵀ / √d_k.

    Parameters
    ----------
    Q : array_like, shape (..., N, d_k)
    K : array_like, shape (..., M, d_k)

    Returns
    -------
    ndarray, shape (..., N, M)

    Raises
    ------
    ValueError
        As attention_scores, and if d_k is 0, since √0 cannot divide.

    Notes
    -----
    Section 3.2.1 of Vaswani et al. (2017). If the entries of Q and K are
    independent with mean 0 and variance 1, a score has variance d_k and a
    scaled score has variance 1. d_k is the width of one head, not d_model.

    Examples
    --------
    >>> scaled_scores(np.ones((1, 64)), np.ones((1, 64)))
    array([[8.]])
    """
    arrays, dtype = read_arrays(Q=Q, K=K)
    return _scaled(**arrays, dtype=dtype)


def attention_weights(Q, K, mask=None):
    """Say how much each query takes from each key: softmax(Q Kᵀ / √d_k).

    Parameters
    ----------
    Q : array_like, shape (..., N, d_k)
    K : array_like, shape (..., M, d_k)
    mask : array_like of bool, shape (..., N, M), optional
        True where the query may attend to the key. N or M may be 1, axes in
        front may be missing or new. A row of keys for each batch item,
        shape (B, M), is written mask[:, None, :].

    Returns
    -------
    ndarray, shape (..., N, M)
        Rows sum to 1. A query that may attend to nothing has a row of zeros.

    Raises
    ------
    ValueError
        As scaled_scores, and if the mask is not boolean or does not fit.

    Notes
    -----
    Section 3.2.3 of Vaswani et al. (2017): masked scores become -inf before
    the softmax, so the keys that are left share the whole weight.

    Examples
    --------
    >>> attention_weights([[0]], [[1], [2], [3]], mask=[[True, True, False]])
    array([[0.5, 0.5, 0. ]])
    """
    arrays, dtype = read_arrays(Q=Q, K=K, mask=mask)
    return _weights(**arrays).astype(dtype)


def scaled_dot_product_attention(Q, K, V, mask=None):
    """Mix the values by the weights: softmax(Q Kᵀ / √d_k) V.

    Parameters
    ----------
    Q : array_like, shape (..., N, d_k)
    K : array_like, shape (..., M, d_k)
    V : array_like, shape (..., M, d_v)
    mask : array_like of bool, shape (..., N, M), optional
        As for attention_weights: True means may attend.

    Returns
    -------
    output : ndarray, shape (..., N, d_v)
        Zeros for a query that may attend to nothing, or has no keys (M = 0).
    weights : ndarray, shape (..., N, M)
        The axes in front are those of Q, K and mask; V adds none.

    Raises
    ------
    ValueError
        As attention_weights, and as attention_scores for V.

    Notes
    -----
    Equation 1 in section 3.2.1 of Vaswani et al. (2017). What a masked key
    and its value hold changes no bit of the output, but it must be finite:
    0 times NaN would still be NaN.

    Examples
    --------
    >>> output, weights = scaled_dot_product_attention(*[np.eye(2)] * 3)
    >>> output.round(2)
    array([[0.67, 0.33],
           [0.33, 0.67]])
    """
    arrays, dtype = read_arrays(Q=Q, K=K, V=V, mask=mask)
    V = arrays.pop("V")
    weights = _weights(**arrays)
    output = _product("the output", weights, V, dtype)
    return output, weights.astype(dtype)


def _scaled(Q, K, dtype):
    d_k = Q.shape[-1]
    if d_k == 0:
        raise ValueError(f"d_k is 0 in Q {Q.shape} and K {K.shape}: no √d_k")
    return _product("Q Kᵀ / √d_k", Q, K.mT, dtype, divisor=d_k**0.5)


def _weights(Q, K, mask=True):
    scores = _scaled(Q, K, np.result_type(Q, K))
    return softmax(np.where(mask, scores, -np.inf))


def _product(name, A, B, dtype, divisor=1.0):
    # Some BLAS raise floating-point flags for nothing: judge the result.
    with np.errstate(all="ignore"):
        product = (A @ B / divisor).astype(dtype)
    if not np.isfinite(product).all():
        raise ValueError(f"{name} holds a number too large for {dtype}")
    return product
