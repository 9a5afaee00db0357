"""What a trained encoder attends to in the book's sentences.

The numbers are those of all-MiniLM-L6-v2 (6 layers, 12 heads, d_k 32), read
from book/data/trained_attention.npz at the first call. Layers and heads count
from 0; tokens are lower case with [CLS] and [SEP] around. Numbers are stored
in float16, and arrays come back in float64, read-only.
"""

from numbers import Integral
from pathlib import Path

import numpy as np

from utils.trained_file import load

_BOOK = Path(__file__).resolve().parent.parent / "book"
PATH = _BOOK / "data" / "trained_attention.npz"


def metadata():
    """Say where the numbers come from.

    Returns
    -------
    dict of str to str
        model, licence, source, package, version, sha256 (of the model's
        weights) and command (which writes the file again).

    Examples
    --------
    >>> metadata()["model"], metadata()["licence"]
    ('all-MiniLM-L6-v2', 'Apache-2.0')
    """
    about = load(PATH)[0]
    return {k: v for k, v in about.items() if isinstance(v, str)}


def sentences():
    """Name the sentences the encoder has read.

    Returns
    -------
    tuple of str

    Examples
    --------
    >>> sentences()[2]
    'The developer deployed the application.'
    """
    records = load(PATH)[0]["sentences"]
    return tuple(record["sentence"] for record in records)


def bank_sentences():
    """Name the sentences with "bank", and which bank it is.

    Returns
    -------
    dict of str to str
        Sentence to sense, "money" or "river".

    Examples
    --------
    >>> bank_sentences()["We sat beside the river bank."]
    'river'
    """
    records = load(PATH)[0]["sentences"]
    return {r["sentence"]: r["sense"] for r in records if r["sense"]}


def query_key_heads():
    """Name the heads whose queries and keys are stored.

    Returns
    -------
    tuple of (int, int)
        Layer and head. The weights are stored of every head.

    Examples
    --------
    >>> query_key_heads()
    ((0, 2), (0, 4), (2, 8), (4, 4), (5, 4), (5, 7), (5, 11))
    """
    return tuple(map(tuple, load(PATH)[0]["query_key_heads"]))


def tokens(sentence):
    """Split a sentence as the encoder's tokenizer did.

    Returns
    -------
    tuple of str, length N

    Raises
    ------
    ValueError
        If the sentence is not one of sentences().

    Examples
    --------
    >>> tokens("The bank approved the loan.")
    ('[CLS]', 'the', 'bank', 'approved', 'the', 'loan', '.', '[SEP]')
    """
    return tuple(_find(sentence)[0]["tokens"])


def focus_word(sentence):
    """Name the token of a sentence whose vectors are stored.

    Returns
    -------
    str
        Its place is tokens(sentence).index(focus_word(sentence)).

    Raises
    ------
    ValueError
        If the sentence is not one of sentences().

    Examples
    --------
    >>> focus_word("The bank approved the loan.")
    'bank'
    """
    return _find(sentence)[0]["focus"]


def head_weights(sentence, layer, head):
    """Look up the attention weights of one head on one sentence.

    Returns
    -------
    ndarray, shape (N, N)
        Row: the token that looks. Column: the token looked at. Each row sums
        to 1 within 0.0005, the rounding of float16.

    Raises
    ------
    ValueError
        If there is no such sentence, layer (0 to 5) or head (0 to 11).

    Examples
    --------
    >>> s = "The animal crossed the road because it was frightened."
    >>> it, animal = tokens(s).index("it"), tokens(s).index("animal")
    >>> round(float(head_weights(s, 5, 11)[it, animal]), 3)
    0.625
    """
    stored = _find(sentence)[1]["weights"]
    _check_number("layer", layer, stored.shape[0])
    _check_number("head", head, stored.shape[1])
    return _read_only(stored[layer, head])


def queries_and_keys(sentence, layer, head):
    """Look up what one head compares: its queries and keys.

    Returns
    -------
    Q, K : ndarray, shape (N, 32)
        attention_weights(Q, K) gives head_weights(...) within 0.001.

    Raises
    ------
    ValueError
        If there is no such sentence, or (layer, head) is not one of
        query_key_heads().

    Examples
    --------
    >>> Q, K = queries_and_keys("The bank approved the loan.", 5, 7)
    >>> Q.shape, K.shape
    ((8, 32), (8, 32))
    """
    arrays, stored = _find(sentence)[1], query_key_heads()
    if (layer, head) not in stored:
        raise ValueError(
            f"(layer, head) must be one of {stored}, whose queries and keys "
            f"are stored; received {(layer, head)}"
        )
    i = stored.index((layer, head))
    return _read_only(arrays["queries"][i]), _read_only(arrays["keys"][i])


def layer_vectors(sentence):
    """Follow the vector of the sentence's focus word up the layers.

    Returns
    -------
    ndarray, shape (7, 384)
        Row 0: after the embedding layer, where word and position are added
        and normalised. Row n: after n layers.

    Raises
    ------
    ValueError
        If the sentence is not one of sentences().

    Examples
    --------
    The same word at the same place goes in as the same vector. What comes
    out depends on its company.

    >>> account = layer_vectors("He opened an account at the bank.")
    >>> muddy = layer_vectors("Wild flowers grew along the muddy bank.")
    >>> [round(cosine_similarity(account[i], muddy[i]), 2) for i in (0, 6)]
    [1.0, 0.69]
    """
    return _read_only(_find(sentence)[1]["vectors"])


def cosine_similarity(u, v):
    """Compare the directions of two vectors.

    Parameters
    ----------
    u, v : array_like, shape (d,)

    Returns
    -------
    float
        1 for the same direction, 0 for a right angle, -1 for opposite ones.

    Raises
    ------
    ValueError
        If u and v are not two vectors of one length, or one has no direction.

    Examples
    --------
    >>> cosine_similarity([1, 0], [3, 4])
    0.6
    """
    u, v = np.asarray(u, dtype=float), np.asarray(v, dtype=float)
    if u.ndim != 1 or u.shape != v.shape:
        raise ValueError(
            f"u and v must both have shape (d,), received {u.shape}, {v.shape}"
        )
    lengths = np.linalg.norm(u) * np.linalg.norm(v)
    if not 0 < lengths < np.inf:
        raise ValueError("a vector of zeros, or not finite, has no direction")
    return float(u @ v / lengths)


def _find(sentence):
    """Return a sentence's record and its arrays."""
    about, arrays = load(PATH)
    for record, found in zip(about["sentences"], arrays, strict=True):
        if record["sentence"] == sentence:
            return record, found
    known = "\n  ".join(sentences())
    raise ValueError(f"received {sentence!r}, not one of\n  {known}")


def _check_number(name, value, count):
    if not (isinstance(value, Integral) and 0 <= value < count):
        raise ValueError(
            f"{name} must be 0 to {count - 1}, received {value!r}"
        )


def _read_only(stored):
    array = stored.astype(np.float64)
    array.flags.writeable = False
    return array
