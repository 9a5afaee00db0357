"""How each problem of a worksheet is laid out, blank or with its answer.

Each function takes what is given, the answer, and whether to fill it in, and
returns the problem's title and its HTML.
"""

from fractions import Fraction

from utils.practice.sheet_markup import (
    blank,
    grid,
    lines,
    matrix,
    named,
    number,
)

__all__ = ["SHOW"]

TOKENS = ("A", "B", "C")


def _scores(given, answer, filled):
    names = [f"<i>q</i><sub>{i}</sub>" for i in (1, 2, 3)]
    keys = [f"<i>k</i><sub>{i}</sub>" for i in (1, 2, 3)]
    return "Scores", (
        "<p>Every query meets every key. Fill in <i>Q K</i><sup>⊤</sup>.</p>"
        '<div class="row">'
        + named("<i>Q</i>", matrix(given["Q"]))
        + named("<i>K</i>", matrix(given["K"]))
        + grid(answer["scores"], filled, names, keys)
        + "</div>"
    )


def _scaling(given, answer, filled):
    keys = [f"<i>k</i><sub>{i}</sub>" for i in (1, 2, 3)]
    rows = answer["scores"] + answer["scaled"]
    divisor = blank(answer["divisor"], filled)
    return "Scaled scores", (
        "<p>One query, three keys. By what are the scores divided? "
        f"√<i>d</i><sub>k</sub> = {divisor}</p>"
        '<div class="row">'
        + named("<i>q</i>", matrix(given["Q"]))
        + named("<i>K</i>", matrix(given["K"]))
        + grid(rows, filled, ["score", "scaled"], keys)
        + "</div>"
    )


def _softmax(given, answer, filled):
    logs = [f"ln {n}" if n > 1 else "0" for n in given["exponentials"]]
    masked = given["masked"]
    head = [f"key {i}" for i in (1, 2, 3)]
    rows = [given["exponentials"], answer["weights"], answer["masked"]]
    names = ["exp", "weight", f"weight, key {masked + 1} masked"]
    return "Softmax", (
        f"<p>The scaled scores of one query are {', '.join(logs)}. "
        "(exp takes the logarithm away: e<sup>ln 3</sup> = 3, "
        "e<sup>0</sup> = 1.)</p>" + grid(rows, filled, names, head)
    )


def _weighted_sum(given, answer, filled):
    output = answer["output"]
    return "The weighted sum", (
        '<div class="row">'
        + named("weights", matrix([given["weights"]]))
        + named("<i>V</i>", matrix(given["V"]))
        + named("output", grid([output], filled))
        + "</div>"
    )


def _attention(given, answer, filled):
    inputs = "".join(
        named(symbol, matrix(given[name]))
        for symbol, name in (
            ("<i>X</i>", "X"),
            ("<i>W</i><sub>Q</sub>", "W_Q"),
            ("<i>W</i><sub>K</sub>", "W_K"),
            ("<i>W</i><sub>V</sub>", "W_V"),
        )
    )
    projected = "".join(
        named(f"<i>{name}</i>", grid(answer[name], filled, TOKENS))
        for name in "QKV"
    )
    met = "".join(
        f"<div><p class='label'>{label}</p>"
        f"{grid(answer[name], filled, TOKENS, TOKENS)}</div>"
        for label, name in (
            ("<i>Q K</i><sup>⊤</sup>", "products"),
            ("exponentials, 2<sup><i>s</i></sup>", "powers"),
            ("weights", "weights"),
        )
    )
    output = grid(answer["output"], filled, TOKENS)
    return "The whole calculation", (
        "<p>Three tokens, from <i>X</i> to the output. To keep exp simple, a "
        "factor √2 · ln 2 belongs to every key and is not written: divided by "
        "√<i>d</i><sub>k</sub> = √2, a product <i>s</i> becomes "
        "<i>s</i> · ln 2, and its exponential is 2<sup><i>s</i></sup> "
        "(1, 2, 4, 8, 16 for <i>s</i> = 0, 1, 2, 3, 4).</p>"
        f'<div class="row">{inputs}</div><div class="row">{projected}</div>'
        f'<div class="row even">{met}</div>'
        + named("output", output)
        + lines(2, filled)
    )


def _masks(given, answer, filled):
    padding, at_start = given["padding"], given["at_start"]
    real = [
        "<i>t</i><sub>" + str(i + 1) + "</sub>" for i in range(5 - padding)
    ]
    pads = ["[PAD]"] * padding
    names = pads + real if at_start else real + pads
    some = "one [PAD]" if padding == 1 else f"{padding} [PAD]"
    row = given["row"]
    allowed = [
        ["✓" if may else "" for may in row] for row in answer["allowed"]
    ]
    weights = grid([answer["row_weights"]], filled, (), names)
    return "A mask", (
        f"<p>Five places, {some} at the {'start' if at_start else 'end'}. The "
        "mask is causal and hides the padding. Tick the pairs that may "
        f"attend: {blank(answer['pairs'], filled)} of 25.</p>"
        '<div class="row">'
        + grid(allowed, filled, names, names, "query ↓ key →")
        + f"<div><p class='label'>All scores are equal. The weights of row "
        f"{row + 1}:</p>{weights}</div></div>"
    )


def _positions(given, answer, filled):
    table = given["table"]
    head = "".join(f"<th>{key}</th>" for key in table)
    sines = "".join(f"<td>{number(sine)}</td>" for sine, _ in table.values())
    cosines = "".join(f"<td>{number(c)}</td>" for _, c in table.values())
    columns = ["feature 0", "feature 1", "feature 2", "feature 3"]
    names = [f"position {p}" for p in (0, *given["positions"])]
    return "Positions", (
        "<p>The sinusoidal encoding for <i>d</i><sub>model</sub> = 4: the "
        "first pair turns by 1 a step, the second by "
        "1/10000<sup>2/4</sup> = 0.01 a step. Sine first, then cosine, in "
        "each pair.</p>"
        f'<table class="table"><tr><th>angle</th>{head}</tr>'
        f"<tr><th>sin</th>{sines}</tr><tr><th>cos</th>{cosines}</tr></table>"
        + grid([answer["zero"], *answer["rows"]], filled, names, columns)
    )


def _shapes(given, answer, filled):
    rows = (
        ("width of one head, <i>d</i><sub>k</sub>", "d_k"),
        ("<i>W</i><sub>Q</sub>", "W_Q"),
        ("<i>Q</i>, all heads together", "Q"),
        ("<i>K</i>, all heads together", "K"),
        ("weights: heads, queries, keys", "weights"),
        ("output", "output"),
    )
    body = "".join(
        f"<tr><th>{label}</th><td>{blank(answer[name], filled, 'long')}</td>"
        "</tr>"
        for label, name in rows
    )
    return "Shapes", (
        f"<p>Cross-attention: {given['N']} tokens ask, {given['M']} tokens "
        f"are asked, <i>d</i><sub>model</sub> = {given['d_model']}, "
        f"{given['heads']} heads.</p><table class='list'>{body}</table>"
    )


def _cost(given, answer, filled):
    longer = given["factor"] * given["N"]
    rows = (
        ("scores of one head", "scores"),
        ("multiplications for these scores", "multiplications"),
        (f"scores for {longer:,} tokens", "longer"),
        ("pairs that a causal mask allows", "causal"),
        ("scores for one more token, with a cache", "one_more"),
    )
    body = "".join(
        f"<tr><th>{label}</th><td>{blank(answer[name], filled, 'long')}</td>"
        "</tr>"
        for label, name in rows
    )
    share = Fraction(1, given["factor"] ** 2)
    ask = (
        f"<p>How would one count the scores of {longer:,} tokens from those "
        f"of {given['N']}?</p>"
    )
    said = (
        f"<p><b>{given['factor']} times the tokens are {1 / share} times the "
        "pairs.</b></p>"
    )
    return "Counting", (
        f"<p>{given['N']} tokens attend to one another, "
        f"<i>d</i><sub>k</sub> = {given['d_k']}.</p>"
        f"<table class='list'>{body}</table>{ask}"
        + (said if filled else lines(2, filled))
    )


SHOW = {
    "scores": _scores,
    "scaling": _scaling,
    "softmax": _softmax,
    "weighted_sum": _weighted_sum,
    "attention": _attention,
    "masks": _masks,
    "positions": _positions,
    "shapes": _shapes,
    "cost": _cost,
}
