"""The PyTorch chapter's pictures show what PyTorch itself computes."""

import json
import os
import re
import sys
import warnings

import nbformat
import numpy as np
import pytest
import torch
from matplotlib.colors import to_hex
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError
from torch import nn
from torch.nn import functional as F
from torch.nn.attention.bias import causal_lower_right

from tests.figures import draw, states, texts
from utils.attention import project, scaled_dot_product_attention
from utils.explore import palette
from utils.figures import in_pytorch as chapter

DEPLOYED = ["The", "developer", "deployed", "the", "application"]
PADDED = ["The", "developer", "writes", "code", "[PAD]"]
MASKS = {
    "causal": np.tril(np.ones((5, 5), dtype=bool)),
    "future": np.triu(np.ones((5, 5), dtype=bool), 1),
    "real": np.array([[True] * 4 + [False]] * 5),
    "padding": np.array([[False] * 4 + [True]] * 5),
}


def shown(weight):
    """A weight as the book prints it in a figure."""
    if np.isnan(weight):
        return "NaN"
    return f"{weight:g}" if weight in (0, 1) else f"{weight:.3f}"


def listed(words):
    return ", ".join(words[:-1]) + " and " + words[-1]


# --- PyTorch itself, in float64 --------------------------------------------


def function_weights(mask, num_queries=None, **options):
    """What F.scaled_dot_product_attention weighs equal scores with."""
    if mask is not None:
        options["attn_mask"] = mask
    num_keys = options.pop("num_keys", None) or mask.shape[1]
    num_queries = num_queries or mask.shape[0]
    q = torch.zeros(num_queries, 2, dtype=torch.float64)
    k = torch.zeros(num_keys, 2, dtype=torch.float64)
    v = torch.eye(num_keys, dtype=torch.float64)
    return F.scaled_dot_product_attention(q, k, v, **options).numpy()


def layer_weights(mask):
    """What nn.MultiheadAttention weighs equal scores with."""
    layer = nn.MultiheadAttention(4, 2, batch_first=True, dtype=torch.float64)
    x = torch.zeros(1, mask.shape[0], 4, dtype=torch.float64)
    return layer(x, x, x, attn_mask=mask)[1][0].detach().numpy()


def torch_weights(mask, reading):
    mask = torch.from_numpy(np.array(mask))
    if reading == "added":
        by_function = function_weights(mask.double())
        np.testing.assert_allclose(
            layer_weights(mask.double()), by_function, atol=1e-12
        )
        return by_function
    return {"keeps": function_weights, "blocks": layer_weights}[reading](mask)


def close(ours, theirs):
    np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-12)


random_masks = np.random.default_rng(0).random((12, 4, 4)) < 0.5


@pytest.mark.bug(id="A04")
@pytest.mark.bug(id="A05")
@pytest.mark.parametrize("reading", ["keeps", "blocks", "added"])
def test_masks_are_read_as_pytorch_reads_them(reading):
    for mask in [*MASKS.values(), *random_masks]:
        ours = chapter.mask_weights(mask, reading)
        close(ours, torch_weights(mask, reading))


@pytest.mark.bug(id="A06")
@pytest.mark.parametrize("num_keys", range(1, 7))
@pytest.mark.parametrize("num_queries", range(1, 6))
def test_triangles_hang_where_pytorch_hangs_them(num_queries, num_keys):
    top = chapter.aligned(num_queries, num_keys, "top-left")
    low = chapter.aligned(num_queries, num_keys, "bottom-right")
    assert top.dtype == low.dtype == bool
    theirs = function_weights(
        None, num_queries, num_keys=num_keys, is_causal=True
    )
    close(chapter.mask_weights(top, "keeps"), theirs)
    with warnings.catch_warnings():
        # for more queries than keys PyTorch warns of NaN, and gives zeros
        warnings.simplefilter("ignore", UserWarning)
        bias = causal_lower_right(num_queries, num_keys)
    theirs = function_weights(bias, num_queries, num_keys=num_keys)
    close(chapter.mask_weights(low, "keeps"), theirs)


def pytorch_call(call, pieces):
    """The output of a call on values (text, token, head), scores equal."""
    B, L, H = pieces.shape
    if call in ("first", "default"):
        layer = nn.MultiheadAttention(
            H, H, batch_first=call == "first", dtype=torch.float64
        )
        eye = torch.eye(H, dtype=torch.float64)
        layer.load_state_dict(
            {
                # no queries, no keys: all scores are 0
                "in_proj_weight": torch.cat([0 * eye, 0 * eye, eye]),
                "in_proj_bias": torch.zeros(3 * H),
                "out_proj.weight": eye,
                "out_proj.bias": torch.zeros(H),
            }
        )
        return layer(pieces, pieces, pieces)[0]
    v = pieces[..., None]  # B, L, H, D
    if call == "BHLD":
        v = v.transpose(1, 2)
    out = F.scaled_dot_product_attention(0 * v, 0 * v, v)
    return (out.transpose(1, 2) if call == "BHLD" else out)[..., 0]


@states(chapter.layout)
def test_pieces_take_from_where_pytorch_takes(state):
    B, L, H = (3, 5, 2)
    values = torch.rand(B, L, H, dtype=torch.float64, requires_grad=True)
    asks = state["sentence"], state["token"], state["head"]
    pytorch_call(state["call"], values)[asks].backward()
    axis = {"first": 1, "default": 0, "BHLD": 1, "BLHD": 2}[state["call"]]
    close(chapter.axis_weights((B, L, H), asks, axis), values.grad.numpy())


@pytest.mark.parametrize(
    ("function", "args", "message"),
    [
        (chapter.mask_weights, [np.eye(2), "keeps"], "float64 of shape (2,"),
        (chapter.mask_weights, [[True], "keeps"], "bool of shape (1,)"),
        (chapter.mask_weights, [[[True]], "hides"], "received 'hides'"),
        (chapter.aligned, [2, 3, "top"], "received 'top'"),
    ],
)
def test_a_refusal_names_what_it_refuses(function, args, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        function(*args)


# --- the facts -------------------------------------------------------------


def test_fact_B08_the_layer_is_the_helper_between_projections():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(2, 4, 6))
    W_Q, W_K, W_V, W_O = rng.normal(size=(4, 6, 6))
    layer = nn.MultiheadAttention(6, 3, batch_first=True, dtype=torch.float64)
    stacked = np.concatenate([W_Q.T, W_K.T, W_V.T])
    layer.load_state_dict(
        {
            "in_proj_weight": torch.from_numpy(stacked),
            "in_proj_bias": torch.zeros(18),
            "out_proj.weight": torch.from_numpy(W_O.T),
            "out_proj.bias": torch.zeros(6),
        }
    )
    x = torch.from_numpy(X)
    theirs, each = layer(x, x, x, average_attn_weights=False)
    merged = np.empty((2, 4, 6))
    for b, h in np.ndindex(2, 3):
        part = slice(2 * h, 2 * h + 2)  # the columns of one head
        Q, K, V = (project(X[b], W[:, part]) for W in (W_Q, W_K, W_V))
        merged[b, :, part], weights = scaled_dot_product_attention(Q, K, V)
        close(weights, each[b, h].detach().numpy())
    np.testing.assert_allclose(
        theirs.detach().numpy(), project(merged, W_O), rtol=0, atol=1e-11
    )


def test_fact_B09_is_causal_is_a_triangle():
    Q, K, V = np.random.default_rng(4).normal(size=(3, 2, 5, 4))
    triangle = np.tri(5, dtype=bool)
    q, k, v = map(torch.from_numpy, (Q, K, V))
    ours, _ = scaled_dot_product_attention(Q, K, V, triangle)
    for options in (
        {"is_causal": True},
        {"attn_mask": torch.from_numpy(triangle)},
    ):
        theirs = F.scaled_dot_product_attention(q, k, v, **options)
        close(theirs.numpy(), ours)


@pytest.mark.bug(id="A04")
def test_fact_B10_true_keeps_in_one_and_blocks_in_the_other():
    causal, future = MASKS["causal"], MASKS["future"]
    right = scaled_dot_product_attention(*[np.zeros((5, 2))] * 3, causal)[1]
    close(torch_weights(causal, "keeps"), right)
    close(torch_weights(future, "blocks"), right)
    for name in ("causal", "future"):
        for reading in ("keeps", "blocks"):
            figure = draw(
                chapter.readings,
                {"mask": name, "reading": reading, "query": 0},
            )
            drawn = alphas(figure.axes[1])
            leaks = drawn[np.triu_indices(5, 1)].any()
            assert leaks == ((name, reading) in WRONG)


WRONG = [("causal", "blocks"), ("future", "keeps")]


# --- readings --------------------------------------------------------------


def alphas(axes):
    """The opacity of each cell filled with the colour of weights."""
    found = np.full((5, 5), np.nan)
    for patch in axes.patches:
        if patch.get_fill() and (
            to_hex(patch.get_facecolor()) == palette.WEIGHT
        ):
            found[int(patch.get_y()), int(patch.get_x())] = patch.get_alpha()
    return found


def expected(state):
    weights = torch_weights(MASKS[state["mask"]], state["reading"])
    padded = state["mask"] in ("real", "padding")
    wanted = MASKS["real"] if padded else MASKS["causal"]
    leaks = (weights > 0) & ~wanted
    tokens = PADDED if padded else DEPLOYED
    return tokens, weights, leaks, "padding" if padded else "future"


def verdict(state):
    _, weights, leaks, where = expected(state)
    if not leaks.any():
        return f"No weight lies on the {where}"
    words = f"{leaks.sum()} weights lie on the {where}"
    if not np.nan_to_num(weights)[4].any():
        words += ", and the last query sees no key"
    return words


@states(chapter.readings)
def test_readings_says_one_row_and_what_leaks(state):
    sentence = chapter.readings.sentence(**state)
    tokens, weights, _, _ = expected(state)
    query = state["query"]
    row = [
        f"{token} {shown(weight)}"
        for token, weight in zip(tokens, weights[query], strict=True)
    ]
    said = f"The query “{tokens[query]}” has the weights {listed(row)}. "
    assert said in sentence
    assert sentence.endswith(f"{verdict(state)}.")
    meant = {"keeps": "True keeps", "blocks": "True blocks", "added": "added"}
    assert meant[state["reading"]] in sentence
    true = {"causal": "itself and the past", "real": "the real tokens"}
    assert true.get(state["mask"], "the " + state["mask"]) in sentence


@pytest.mark.bug(id="A40")
@states(chapter.readings)
def test_readings_draws_the_mask_and_pytorchs_weights(state):
    top, low = draw(chapter.readings, state).axes
    tokens, weights, leaks, _ = expected(state)
    close(alphas(low), np.nan_to_num(weights))
    cells = {text.get_position(): text.get_text() for text in low.texts}
    given = {text.get_position(): text.get_text() for text in top.texts}
    numbers = state["reading"] == "added"
    for (i, j), true in np.ndenumerate(MASKS[state["mask"]]):
        place = j + 0.5, i + 0.5
        cross = " ✗" if leaks[i, j] else ""
        assert cells[place] == shown(weights[i, j]) + cross
        assert given[place] == str(float(true) if numbers else bool(true))
    for axes in (top, low):
        assert texts(axes)[25:35] == [*tokens, *tokens]
        outline = axes.patches[-1].get_bbox()
        assert (outline.y0, outline.height) == (state["query"], 1)
        assert (outline.x0, outline.x1) == (0, 5)
    mark = "✗" if leaks.any() else "✓"
    assert texts(low)[-1] == f"{mark} {verdict(state)}"
    assert low.get_title(loc="left") in chapter.readings.sentence(**state)


# --- alignment -------------------------------------------------------------


def seen(corner, num_keys, num_queries):
    """How many keys each query sees, by counting."""
    shift = num_keys - num_queries if corner == "bottom-right" else 0
    return [
        sum(j <= i + shift for j in range(num_keys))
        for i in range(num_queries)
    ]


@states(chapter.alignment)
def test_alignment_says_what_each_query_sees(state):
    sentence = chapter.alignment.sentence(**state)
    found = re.findall(
        r"query (\d) sees (no key|key 0|keys 0 to \d)", sentence
    )
    for i, (query, keys) in enumerate(found):
        assert int(query) == i
        count = seen(**state)[i]
        if count > 1:
            assert keys == f"keys 0 to {count - 1}"
        else:
            assert keys == ("key 0" if count else "no key")
    assert len(found) == state["num_queries"]
    many = "y" if state["num_queries"] == 1 else "ies"
    assert f"With {state['num_queries']} quer{many} and " in sentence
    assert f" and {state['num_keys']} key" in sentence
    square = state["num_queries"] == state["num_keys"]
    assert ("both corners give the same" in sentence) is square
    assert ("no key at all" in sentence) is (0 in seen(**state))


@states(chapter.alignment)
def test_alignment_draws_equal_shares_of_what_is_seen(state):
    (axes,) = draw(chapter.alignment, state).axes
    cells = np.array(axes.patches).reshape(5, 6)
    found = texts(axes)
    rows = [" "] * 5
    for i, count in enumerate(seen(**state)):
        rows[i] = f"{count} of {state['num_keys']}"
    assert [t for t in found if " of " in t] == [t for t in rows if t != " "]
    places = {text.get_position(): text.get_text() for text in axes.texts}
    for (i, j), cell in np.ndenumerate(cells):
        there = i < state["num_queries"] and j < state["num_keys"]
        count = seen(**state)[i] if there else 0
        weight = 1 / count if j < count else 0
        assert cell.get_facecolor()[3] == pytest.approx(weight)
        assert cell.get_edgecolor()[3] == float(there)
        box = cell.get_bbox()
        middle = (box.x0 + box.x1) / 2, (box.y0 + box.y1) / 2
        (text,) = [
            text for at, text in places.items() if np.allclose(at, middle)
        ]
        assert text == (shown(weight) if there else " ")
    dot = axes.lines[0]
    last = cells[state["num_queries"] - 1, state["num_keys"] - 1].get_bbox()
    first = cells[0, 0].get_bbox()
    top = state["corner"] == "top-left"
    assert dot.get_xdata()[0] == pytest.approx(first.x0 if top else last.x1)
    assert dot.get_ydata()[0] == pytest.approx(first.y0 if top else last.y1)


def test_only_a_cache_pinned_top_left_hides_its_newest_keys():
    for state in chapter.alignment.states():
        L, S = state["num_queries"], state["num_keys"]
        (axes,) = draw(chapter.alignment, state).axes
        sentence = chapter.alignment.sentence(**state)
        hidden = re.search(r"nobody sees the last (\d )?key", sentence)
        wrong = state["corner"] == "top-left" and L < S
        assert bool(hidden) is wrong
        if wrong:
            assert int(hidden[1] or 1) == S - L == S - max(seen(**state))
        assert texts(axes)[-1].lstrip("✗✓ ") in sentence


# --- layout ----------------------------------------------------------------


@states(chapter.layout)
def test_layout_says_from_whom_a_piece_takes(state):
    sentence = chapter.layout.sentence(**state)
    tokens = chapter.SENTENCES[state["sentence"]]
    who = tokens[state["token"]]
    others = {
        "default": [text[state["token"]] for text in chapter.SENTENCES],
        "BLHD": [who],
    }.get(state["call"], tokens)
    count = 2 if state["call"] == "BLHD" else len(others)
    quoted = [f"“{word}”" for word in others]
    words = listed(quoted) if len(quoted) > 1 else quoted[0]
    heads = "both heads" if count == 2 else f"head {state['head']}"
    assert (
        f"head {state['head']} of “{who}” in text {state['sentence']} takes "
        f"{shown(1 / count)} each from {heads} of {words}. It takes"
    ) in sentence
    right = state["call"] in ("first", "BHLD")
    assert ("of its own text" in sentence) is right


@pytest.mark.bug(id="A31")
@pytest.mark.bug(id="A49")
@states(chapter.layout)
def test_layout_draws_what_pytorch_takes(state):
    (axes,) = draw(chapter.layout, state).axes
    asks = state["sentence"], state["token"], state["head"]
    values = torch.zeros(3, 5, 2, dtype=torch.float64, requires_grad=True)
    pytorch_call(state["call"], values)[asks].backward()
    weights = values.grad.numpy()
    *cells, frame = axes.patches
    places = {text.get_position(): text.get_text() for text in axes.texts}
    for (b, i, h), cell in zip(np.ndindex(3, 5, 2), cells, strict=True):
        weight = weights[b, i, h]
        assert cell.get_facecolor()[3] == pytest.approx(weight)
        wrong = weight > 0 and (b, h) != (asks[0], asks[2])
        text = (shown(weight) if weight else " ") + (" ✗" if wrong else "")
        box = cell.get_bbox()
        middle = (box.x0 + box.x1) / 2, (box.y0 + box.y1) / 2
        (found,) = [t for at, t in places.items() if np.allclose(at, middle)]
        assert found == text
        if (b, i, h) == asks:
            np.testing.assert_allclose(frame.get_bbox(), box)
    for b, tokens in enumerate(chapter.SENTENCES):
        above = [cells[10 * b + 2 * i].get_bbox() for i in range(5)]
        for word, box in zip(tokens, above, strict=True):
            at = (box.x0 + box.x1) / 2, box.y0 - 0.13
            (found,) = [t for p, t in places.items() if np.allclose(p, at)]
            assert found == word
    mark = "✓" if state["call"] in ("first", "BHLD") else "✗"
    assert [t for t in texts(axes) if t.startswith(mark)]


# --- the bug bank, in PyTorch ----------------------------------------------


@pytest.mark.bug(id="A03")
@pytest.mark.parametrize("grad", [True, False])
def test_a_text_of_padding_is_nan_or_not_by_need_weights(grad):
    layer = nn.MultiheadAttention(4, 1, batch_first=True).eval()
    x, padding = torch.ones(1, 3, 4), torch.ones(1, 3, dtype=torch.bool)
    assert not layer.out_proj.bias.any()
    with torch.no_grad():
        layer.out_proj.bias.fill_(7.0)  # what a trained one holds is no 0
    with torch.set_grad_enabled(grad):
        for need, says in ((True, torch.nan), (False, 7.0)):
            out, _ = layer(
                x, x, x, key_padding_mask=padding, need_weights=need
            )
            wanted = torch.full((1, 3, 4), says)
            assert torch.equal(out.nan_to_num(9), wanted.nan_to_num(9))


@pytest.mark.bug(id="A06")
def test_the_two_corners_in_numbers():
    V = torch.arange(1.0, 6)[:, None]
    for L, S, corner, wanted in (
        (2, 5, "bottom-right", [2.5, 3.0]),
        (5, 2, "bottom-right", [0, 0, 0, 1, 1.5]),
        (1, 4, "bottom-right", [2.5]),
        (2, 5, "top-left", [1, 1.5]),
        (5, 2, "top-left", [1, 1.5, 1.5, 1.5, 1.5]),
        (1, 4, "top-left", [1.0]),
    ):
        mask = torch.from_numpy(chapter.aligned(L, S, corner))
        out = F.scaled_dot_product_attention(
            torch.zeros(L, 2), torch.zeros(S, 2), V[:S], attn_mask=mask
        )
        np.testing.assert_allclose(out[:, 0], wanted, atol=1e-6)


# --- a reader without PyTorch ----------------------------------------------


def test_the_sentence_names_the_version_that_the_tests_compare_with(root):
    pins = (root / "tests" / "requirements.txt").read_text("utf-8")
    version = re.search(r"^torch==(\S+)", pins, re.MULTILINE)[1]
    assert f"`pip install torch=={version}`" in str(chapter.TorchIsMissing())


def test_without_the_list_of_pins_no_version_is_named(monkeypatch, tmp_path):
    module = sys.modules["utils.figures.in_pytorch.install"]
    monkeypatch.setattr(module, "_PINS", tmp_path / "requirements.txt")
    assert "`pip install torch`" in str(chapter.TorchIsMissing())


def is_the_import(cell):
    return cell["cell_type"] == "code" and "import torch" in "".join(
        cell["source"]
    )


@pytest.mark.bug(id="B41")
def test_the_chapter_without_pytorch_stops_with_one_sentence(
    root, tmp_path, monkeypatch
):
    """In a kernel that finds a torch that is not there."""
    text = (root / "book" / "11_in_pytorch.ipynb").read_text("utf-8")
    cells = json.loads(text)["cells"]
    asks = [i for i, cell in enumerate(cells) if is_the_import(cell)]
    end = asks[0] + 1
    notebook = nbformat.reads(text, as_version=4)
    notebook.cells = notebook.cells[: end + 2]
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs = []
    absent = 'raise ModuleNotFoundError("No module named torch", name="torch")'
    (tmp_path / "torch.py").write_text(absent, "utf-8")
    monkeypatch.setenv(
        "PYTHONPATH", os.pathsep.join([str(tmp_path), str(root)])
    )
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "profile"))
    client = NotebookClient(
        notebook,
        timeout=120,
        kernel_name="python3",
        resources={"metadata": {"path": str(root / "book")}},
    )
    with pytest.raises(CellExecutionError):
        client.execute()
    cell = notebook.cells[end - 1]
    (output,) = cell.outputs
    assert output.output_type == "error"
    assert output.ename == "TorchIsMissing"
    assert output.traceback == [str(chapter.TorchIsMissing())]
    after = [c for c in notebook.cells[end:] if c.cell_type == "code"]
    assert after
    assert not any(c.outputs for c in after)
