"""What attention costs, counted: multiply-adds, numbers, bytes, parameters.

A multiply-add is one product added to a sum, two floating-point operations.
Softmax is left out: it takes N × M exponentials and as many divisions.
"""

import numpy as np

from utils.border import count, read_arrays

__all__ = [
    "BYTES_PER_NUMBER",
    "cache_numbers",
    "counted_attention",
    "decoding_step",
    "multiply_adds",
    "number_of_scores",
    "parameters",
    "projection_multiply_adds",
]

BYTES_PER_NUMBER = {
    "float64": 8,
    "float32": 4,
    "float16": 2,
    "bfloat16": 2,
    "float8": 1,
}


def counted_attention(Q, K, V):
    """Attention in the slowest loops there are, counting as they go.

    Parameters
    ----------
    Q : array_like, shape (N, d_k)
    K : array_like, shape (M, d_k)
    V : array_like, shape (M, d_v)

    Returns
    -------
    output : ndarray, shape (N, d_v)
    for_scores, for_output : int
        The multiply-adds that Q Kᵀ took, and the weighted sum.

    Raises
    ------
    ValueError
        If the shapes do not fit or have axes in front.

    Examples
    --------
    >>> counted_attention(np.eye(3), np.eye(3), np.ones((3, 2)))[1:]
    (27, 18)
    """
    arrays, _ = read_arrays(Q=Q, K=K, V=V)
    Q, K, V = arrays.values()
    if max(Q.ndim, K.ndim, V.ndim) > 2:
        raise ValueError(
            "the loops take one head of one text; received Q "
            f"{Q.shape}, K {K.shape}, V {V.shape}"
        )
    (N, d_k), (M, d_v) = Q.shape, V.shape
    scores, output = np.zeros((N, M)), np.zeros((N, d_v))
    for_scores = for_output = 0
    for i in range(N):
        for j in range(M):
            for k in range(d_k):
                scores[i, j] += Q[i, k] * K[j, k]
                for_scores += 1
    scores /= np.sqrt(d_k)
    weights = np.exp(scores - scores.max(axis=1, keepdims=True))
    weights /= weights.sum(axis=1, keepdims=True)
    for i in range(N):
        for j in range(M):
            for k in range(d_v):
                output[i, k] += weights[i, j] * V[j, k]
                for_output += 1
    return output, for_scores, for_output


def multiply_adds(num_queries, d_k, d_v=None, num_keys=None):
    """Count what the counting loops would count, without running them.

    Parameters
    ----------
    num_queries : int
        N.
    d_k : int
    d_v : int, optional
        As d_k unless told.
    num_keys : int, optional
        M; as many as queries unless told.

    Returns
    -------
    for_scores, for_output : int
        N M d_k and N M d_v, for one head.

    Raises
    ------
    ValueError
        If one of them is not a whole number from 1 on.

    Examples
    --------
    >>> multiply_adds(3, d_k=3, d_v=2)
    (27, 18)
    """
    N, d_k = count("num_queries", num_queries), count("d_k", d_k)
    d_v = d_k if d_v is None else count("d_v", d_v)
    M = N if num_keys is None else count("num_keys", num_keys)
    return N * M * d_k, N * M * d_v


def projection_multiply_adds(num_tokens, d_model):
    """Count what W_Q, W_K, W_V and W_O take, for square matrices.

    Returns
    -------
    int
        4 N d_model².

    Raises
    ------
    ValueError
        If one of them is not a whole number from 1 on.

    Examples
    --------
    >>> projection_multiply_adds(10, 8)
    2560
    """
    N, d = count("num_tokens", num_tokens), count("d_model", d_model)
    return 4 * N * d * d


def number_of_scores(num_tokens, num_heads=1, num_layers=1):
    """Count the scores of a text: every pair, in every head and layer.

    Returns
    -------
    int
        N² for each head of each layer. As many bytes as that times
        BYTES_PER_NUMBER, if all are held at once.

    Raises
    ------
    ValueError
        If one of them is not a whole number from 1 on.

    Examples
    --------
    >>> number_of_scores(1000), number_of_scores(2000)
    (1000000, 4000000)
    """
    N = count("num_tokens", num_tokens)
    heads, layers = (
        count("num_heads", num_heads),
        count("num_layers", num_layers),
    )
    return N * N * heads * layers


def cache_numbers(num_tokens, d_model, num_heads=1, num_key_heads=None):
    """Count the numbers that a cache keeps in one layer: keys and values.

    Parameters
    ----------
    num_tokens, d_model, num_heads : int
    num_key_heads : int, optional
        Heads of keys and values, as many as heads of queries unless told.

    Returns
    -------
    int
        2 N times num_key_heads times the width of a head.

    Raises
    ------
    ValueError
        If the heads do not divide the width, or the heads of keys do not
        divide the heads.

    Examples
    --------
    >>> cache_numbers(100, 512, 8), cache_numbers(100, 512, 8, 2)
    (102400, 25600)
    """
    N = count("num_tokens", num_tokens)
    d_k, key_heads = _heads(d_model, num_heads, num_key_heads)
    return 2 * N * key_heads * d_k


def parameters(d_model, num_heads=1, num_key_heads=None, biases=True):
    """Count the learned numbers of one attention layer.

    Parameters
    ----------
    d_model, num_heads : int
    num_key_heads : int, optional
        As for cache_numbers.
    biases : bool
        One bias for each output of the four matrices.

    Returns
    -------
    int
        Whatever the text's length: N does not occur.

    Raises
    ------
    ValueError
        As cache_numbers.

    Examples
    --------
    >>> parameters(768, 12)
    2362368
    """
    d_k, key_heads = _heads(d_model, num_heads, num_key_heads)
    narrow = key_heads * d_k
    matrices = 2 * d_model * d_model + 2 * d_model * narrow
    return matrices + (2 * d_model + 2 * narrow if biases else 0)


def decoding_step(num_keys, d_model, num_heads=1, num_key_heads=None):
    """Count one new token's attention over a cache, in one layer.

    Parameters
    ----------
    num_keys : int
        How many tokens the cache holds, the new one among them.
    d_model, num_heads : int
    num_key_heads : int, optional
        As for cache_numbers.

    Returns
    -------
    multiply_adds, numbers_read : int
        Their ratio is the number of heads that share a head of keys.

    Raises
    ------
    ValueError
        As cache_numbers.

    Examples
    --------
    >>> decoding_step(100, 512, 8)
    (102400, 102400)
    >>> decoding_step(100, 512, 8, 2)
    (102400, 25600)
    """
    d_k, _ = _heads(d_model, num_heads, num_key_heads)
    work = num_heads * sum(multiply_adds(1, d_k, num_keys=num_keys))
    return work, cache_numbers(num_keys, d_model, num_heads, num_key_heads)


def _heads(d_model, num_heads, num_key_heads):
    d, heads = count("d_model", d_model), count("num_heads", num_heads)
    key_heads = heads if num_key_heads is None else num_key_heads
    key_heads = count("num_key_heads", key_heads)
    if d % heads:
        raise ValueError(f"d_model {d} cannot be cut into {heads} heads")
    if heads % key_heads:
        raise ValueError(
            f"num_key_heads {key_heads} does not divide num_heads {heads}"
        )
    return d // heads, key_heads
