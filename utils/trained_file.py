"""The file of the trained encoder's numbers: read whole, and checked.

What it must hold is said in book/data/trained_attention.md. A file that was
cut, or is another one, is refused by name, with the way to a good one.
"""

import json
import struct
import zipfile
import zlib
from functools import lru_cache

import numpy as np

from utils import record_fields as must

__all__ = ["load"]

LAYERS, HEADS, D_MODEL, D_K = 6, 12, 384, 32
ROUNDING = 5e-4  # how far from 1 a row of float16 weights may sum
ABOUT = (
    *("model", "licence", "source", "package", "version", "sha256"),
    "command",
)
DAMAGE = (OSError, EOFError, LookupError, RuntimeError, TypeError, ValueError)
DAMAGE += (struct.error, zipfile.BadZipFile, zlib.error)


@lru_cache(maxsize=1)
def load(path):
    """Read the whole file once.

    Parameters
    ----------
    path : Path

    Returns
    -------
    about : dict
        The texts that say where the numbers come from; `query_key_heads`, a
        list of [layer, head]; `sentences`, a list of dict with sentence,
        tokens, focus and sense.
    arrays : list of dict of str to ndarray of float16
        For each sentence weights (6, 12, N, N), queries and keys (heads, N,
        32), vectors (7, 384).

    Raises
    ------
    ValueError
        If the file is missing or damaged: names it, what is wrong in it, and
        how to get a good one.
    """
    again = (
        "Write it again with `python tools/export_trained_attention.py`, or "
        "take it from the book's repository."
    )
    if not path.is_file():
        raise ValueError(f"{path} is missing. {again}")
    try:
        with zipfile.ZipFile(path) as archive:
            if damaged := archive.testzip():
                raise zipfile.BadZipFile(f"bad checksum in {damaged}")
        with np.load(path, allow_pickle=False) as stored:
            about = json.loads(str(stored["metadata"]))
            _check_about(about)
            return about, _checked_arrays(about, stored)
    except DAMAGE as error:
        raise ValueError(f"{path} is damaged ({error}). {again}") from error


def _check_about(about):
    """What the metadata must say."""
    top = must.Place("metadata", "", about)
    top.fields(
        query_key_heads=_heads,
        sentences=must.array,
        **dict.fromkeys(ABOUT, must.text),
    )
    for place in top.items("sentences"):
        place.fields(
            sentence=must.text,
            tokens=_texts,
            focus=must.text,
            sense=must.one_of("money", "river", None),
        )
        focus = place.value["focus"]
        found = place.value["tokens"].count(focus)
        place.refuse(found != 1, "focus must be one of its tokens", focus)


def _heads(value):
    """Check for a list of heads, each by its layer and number."""
    known = [[i, j] for i in range(LAYERS) for j in range(HEADS)]
    good = isinstance(value, list) and all(head in known for head in value)
    return "" if good else "must be a list of [layer, head]"


def _texts(value):
    """Check for a list of words."""
    good = isinstance(value, list) and not any(map(must.text, value))
    return "" if good else "must be a list of texts"


def _checked_arrays(about, stored):
    """The arrays of each sentence, of the shapes that the metadata ask for."""
    records, shown = about["sentences"], len(about["query_key_heads"])
    vectors = _array(stored, "vectors", (len(records), LAYERS + 1, D_MODEL))
    arrays = []
    for i, record in enumerate(records):
        N, name = len(record["tokens"]), f"weights_{i:02}"
        weights = _array(stored, name, (LAYERS, HEADS, N, N))
        sums = weights.sum(axis=-1, dtype=np.float64)
        if weights.min() < 0 or abs(sums - 1).max() > ROUNDING:
            raise ValueError(f"{name} must hold rows from 0 on that sum to 1")
        pair = {
            kind: _array(stored, f"{kind}_{i:02}", (shown, N, D_K))
            for kind in ("queries", "keys")
        }
        arrays.append({"weights": weights, "vectors": vectors[i], **pair})
    return arrays


def _array(stored, name, shape):
    """One array of the file, if it is what it must be."""
    array = stored[name]
    if (array.dtype, array.shape) != (np.float16, shape):
        raise ValueError(
            f"{name} must be float16 of shape {shape}, received "
            f"{array.dtype} of shape {array.shape}"
        )
    if not np.isfinite(array).all():
        raise ValueError(f"{name} must be finite")
    return array
