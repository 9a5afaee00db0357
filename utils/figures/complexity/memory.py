"""How much memory a text asks for, against what devices have."""

from functools import lru_cache
from pathlib import Path

from matplotlib.figure import Figure

from utils import record_fields as must
from utils.cost import cache_numbers, number_of_scores, parameters
from utils.explore import Explorable, Slider
from utils.explore.palette import GROUND, KEY, MUTED, OTHER, WEIGHT
from utils.figures.complexity.words import in_bytes
from utils.figures.drawing import WIDTH, write
from utils.figures.wording import counted, listed

LENGTHS = tuple(2**power for power in range(7, 21))
_DATA = Path(__file__).resolve().parents[3] / "book" / "data"
_LOW, _HIGH = 1e4, 1e17
_ROLES = (("scores", OTHER, "-"), ("K and V", KEY, "--"))
_ROLES += (("parameters", MUTED, ":"),)


@lru_cache
def devices(path=_DATA / "devices.json"):
    """Read what memories devices have, the smallest first.

    Parameters
    ----------
    path : Path, optional

    Returns
    -------
    tuple of dict
        label, name, bytes (int), what and source of each.

    Raises
    ------
    ValueError
        If the file is missing or damaged: names it and what is wrong.
    """
    top = must.Place(path.name, "", {"devices": must.read(path)})
    top.fields(devices=must.array)
    for place in top.items("devices"):
        place.fields(
            **dict.fromkeys(("label", "name", "what"), must.text),
            bytes=must.positive,
            source=must.url,
        )
    return tuple(top.value["devices"])


def sizes(N, d_model, num_heads, num_layers, bytes_per_number):
    """Count the bytes of what a text of N tokens asks for.

    Parameters
    ----------
    N, d_model, num_heads, num_layers, bytes_per_number : int

    Returns
    -------
    dict of str to int
        "scores", all heads and layers at once; "K and V", the cache; and
        the "parameters" of the attention layers.

    Examples
    --------
    >>> sizes(8192, 512, 1, 1, 2)["scores"]
    134217728
    """
    scores = number_of_scores(N, num_heads, num_layers)
    cache = num_layers * cache_numbers(N, d_model, num_heads)
    learned = num_layers * parameters(d_model, num_heads)
    found = {"scores": scores, "K and V": cache, "parameters": learned}
    return {name: n * bytes_per_number for name, n in found.items()}


def draw_memory(N, d_model, num_heads, num_layers, bytes_per_number):
    """Draw the three sizes against N, and the memories of devices.

    Parameters
    ----------
    N, d_model, num_heads, num_layers, bytes_per_number : int

    Returns
    -------
    Figure
    """
    rest = (d_model, num_heads, num_layers, bytes_per_number)
    curves = [sizes(n, *rest) for n in LENGTHS]
    here = sizes(N, *rest)
    figure = Figure(figsize=(WIDTH, 4.9))
    ax = figure.add_axes([0.145, 0.245, 0.46, 0.68])
    ax.set_title("What one text asks for, and what devices have", x=-0.26)
    ax.set(xscale="log", yscale="log", xlim=(100, 1.4e6), ylim=(_LOW, _HIGH))
    ax.set_xticks([128, 1024, 8192, 65536, 524288])
    ax.set_xticklabels(["128", "1K", "8K", "64K", "512K"])
    ax.set_yticks([10.0**p for p in (4, 6, 9, 12, 15)])
    ax.set_yticklabels(["10 KB", "1 MB", "1 GB", "1 TB", "1 PB"])
    ax.minorticks_off()
    ax.set_xlabel("tokens N (1K is 1,024)")
    for device in devices():
        y = device["bytes"]
        ax.axhline(y, color=MUTED, lw=0.9, zorder=0.5)
        text = f"{in_bytes(y)}  {device['label']}"
        write(ax, 1.7e6, y, text, ha="left")
    ax.axvline(N, color=WEIGHT, lw=5, alpha=0.4, zorder=0.4)
    for name, ink, style in _ROLES:
        line = [curve[name] for curve in curves]
        ax.plot(LENGTHS, line, style, color=ink, lw=2)
        dot = {"ms": 8, "mfc": ink, "mec": GROUND, "zorder": 4}
        ax.plot(N, here[name], "o", **dot)
    for i, (name, ink, style) in enumerate(_ROLES):
        y = 0.098 - 0.036 * i
        figure.text(0.02, y, f"{_STROKES[style]} {name}", color=ink, size=10)
        figure.text(0.3, y, in_bytes(here[name]), size=10)
        grows = _GROWTH[name]
        figure.text(0.46, y, grows, color=MUTED, size=9)
    return figure


def say_memory(N, d_model, num_heads, num_layers, bytes_per_number):
    """Say the sizes, and which devices could hold all the scores.

    >>> say_memory(8192, 512, 1, 1, 2)[:63]
    '8,192 tokens, 1 head, 1 layer, 2 bytes a number. Memory: scores'
    """
    rest = (d_model, num_heads, num_layers, bytes_per_number)
    found = sizes(N, *rest)
    fits = [d["name"] for d in devices() if d["bytes"] >= found["scores"]]
    if not fits:
        verdict = "None of the devices could hold all the scores at once"
    else:
        verdict = f"The smallest that could hold the scores: {fits[0]}"
    parts = [f"{k} {in_bytes(v)}" for k, v in found.items()]
    return (
        f"{N:,} tokens, {counted(num_heads, 'head')}, "
        f"{counted(num_layers, 'layer')}, "
        f"{counted(bytes_per_number, 'byte')} a number. "
        f"Memory: {listed(parts)}. {verdict}."
    )


_STROKES = {"-": "——", "--": "– –", ":": "·····"}
_GROWTH = {
    "scores": "× 4 when N doubles",
    "K and V": "× 2 when N doubles",
    "parameters": "stay, whatever N is",
}

memory = Explorable(
    "complexity-memory",
    draw_memory,
    say_memory,
    Slider("N", list(LENGTHS), 8192, label="tokens N", texts="{:,}".format),
    Slider("d_model", [512, 2048, 8192], 512, label="width d_model"),
    Slider("num_heads", [1, 8, 64], 1, label="heads"),
    Slider("num_layers", [1, 32], 1, label="layers"),
    Slider("bytes_per_number", [1, 2, 4], 2, label="bytes a number"),
)
