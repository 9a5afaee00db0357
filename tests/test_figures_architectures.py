"""The architectures chapter's pictures show what the helpers compute."""

import re

import numpy as np
import pytest
from matplotlib.collections import PolyCollection
from matplotlib.patches import Rectangle

from tests.figures import states
from utils import trained
from utils.explore.picture import house_style
from utils.figures import architectures as chapter
from utils.heads import multi_head_attention

FOUR = ["The", "developer", "deployed", "application"]
LONG = [
    *("The", "developer", "deployed", "the", "application"),
    *("because", "it", "was", "ready"),
]
TARGET = ["Der", "Entwickler", "stellte", "die", "Anwendung", "bereit"]


def draw(explorable, state):
    with house_style(explorable.name):
        return explorable.draw(**state).axes[0]


def texts(axes):
    return [text.get_text() for text in axes.texts if text.get_text()]


def cells(axes):
    """The alphas of the first grid of filled cells, and its corners."""
    grid = next(c for c in axes.collections if isinstance(c, PolyCollection))
    return grid.get_facecolors(), [p.vertices[0] for p in grid.get_paths()]


# --- split -----------------------------------------------------------------


def slow_head(way, num_heads, head):
    """The entries of one head, number by number."""
    d = 8 // num_heads
    if way == "view, then transpose":
        return [[8 * i + head * d + k for k in range(d)] for i in range(4)]
    line = list(range(32))[head * 4 * d : (head + 1) * 4 * d]
    return [line[i * d : (i + 1) * d] for i in range(4)]


@states(chapter.split)
def test_split_shows_the_numbers_that_the_head_gets(state):
    expected = slow_head(**state)
    assert chapter.one_head(**state).tolist() == expected
    axes = draw(chapter.split, state)
    printed = [int(t) for t in texts(axes) if t.isdigit()]
    assert printed[:32] == list(range(32))
    assert printed[32:] == sum(expected, [])
    filled, _ = cells(axes)
    taken = {n for n in range(32) if filled[n, 3] > 0}
    assert taken == set(sum(expected, []))
    marks = [t for t in texts(axes) if t.startswith(("✓ its", "✗ of"))]
    for i, row in enumerate(expected):
        owner = FOUR[row[0] // 8]
        own = owner == FOUR[i]
        assert marks[i] == ("✓ its own" if own else f"✗ of {owner}")


@states(chapter.split)
def test_split_says_whether_the_head_sees_every_token(state):
    sentence = chapter.split.sentence(**state)
    rows = slow_head(**state)
    good = [row[0] // 8 for row in rows] == [0, 1, 2, 3]
    assert ("✓" in sentence) is good
    assert ("✗" in sentence) is not good
    assert f"begins with entry {rows[0][0]}, " in sentence
    assert f"with entry {rows[-1][0]}. " in sentence
    if not good:
        seen = {FOUR[row[0] // 8] for row in rows}
        said = sentence.split("numbers of ")[1]
        assert {t for t in FOUR if re.search(rf"\b{t}\b", said)} == seen
        # three labels of four are wrong, as the chapter says
        assert sum(row[0] // 8 != i for i, row in enumerate(rows)) == 3


def test_the_code_in_the_picture_gives_the_numbers_in_the_picture():
    Q = np.arange(32).reshape(4, 8)
    for state in chapter.split.states()[::3]:
        (line,) = [t for t in texts(draw(chapter.split, state)) if "Q." in t]
        code = line.split(":  ")[1]
        found = eval(code, {"Q": Q})
        np.testing.assert_array_equal(found, slow_head(**state))


# --- groups ----------------------------------------------------------------


@states(chapter.groups)
def test_groups_names_those_who_read_the_same_keys(state):
    H, G, head = (state[k] for k in ("num_heads", "num_key_heads", "head"))
    reads = np.repeat(np.arange(G), H // G)
    mates = [h for h in range(H) if reads[h] == reads[head]]
    assert chapter.sharers(H, G, head) == mates
    sentence = chapter.groups.sentence(**state)
    assert f"Head {head} reads key head {reads[head]}, " in sentence
    found = re.search(r"read by the heads ([\d, and]+)\.", sentence)
    said = re.findall(r"\d+", found[1]) if found else [str(head)]
    assert said == [str(h) for h in mates]
    cached = 2 * G * 512 // H
    assert f"keeps {cached:,} numbers " in sentence


@states(chapter.groups, 3)
def test_groups_draws_lines_to_the_right_keys_and_bars_to_scale(state):
    H, G, head = (state[k] for k in ("num_heads", "num_key_heads", "head"))
    axes = draw(chapter.groups, state)
    lines = axes.lines[:H]
    feet = [line.get_xdata()[1] for line in lines]
    order = sorted(set(feet))
    assert len(order) == G
    assert [order.index(x) for x in feet] == [h * G // H for h in range(H)]
    thick = [line.get_linewidth() > 2 for line in lines]
    assert thick == [h == head for h in range(H)]
    bars = [
        p.get_width()
        for p in axes.patches
        if isinstance(p, Rectangle) and p.get_alpha() == 0.55
    ]
    inch = bars[0] / 512
    k = 512 // H * G
    np.testing.assert_allclose(bars, np.array([512, k, k, k, k]) * inch)
    assert f"{2 * k:,} of 1,024" in texts(axes)


def test_the_sharing_in_the_picture_is_that_of_the_helper():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3, 8))
    for H, G in ((2, 1), (4, 2), (8, 2), (8, 8)):
        d = 8 // H
        W_Q = np.tile(rng.normal(size=(8, d)), H)  # all heads ask the same
        W_K, W_V = rng.normal(size=(2, 8, G * d))
        _, A = multi_head_attention(
            X, X, W_Q, W_K, W_V, np.eye(8), H, num_key_heads=G
        )
        for h in range(H):
            same = [g for g in range(H) if np.allclose(A[g], A[h])]
            assert same == chapter.sharers(H, G, h)


# --- reach -----------------------------------------------------------------


def allowed(architecture, i, j):
    """Whether token i may attend to token j, said in words."""
    if architecture == "encoder-decoder":
        return j < 5 if i < 5 else j < 5 or j <= i
    near = abs(i - j) <= 1 or "window" not in architecture
    return near and (j <= i or "encoder" in architecture)


def names(architecture):
    both = architecture == "encoder-decoder"
    return LONG[:5] + TARGET if both else LONG


def distances(architecture):
    """Layers from one token to another: breadth first, token by token."""
    N = len(names(architecture))
    found = np.full((N, N), -1)
    for i in range(N):
        front, layer = {i}, 0
        while front:
            for j in front:
                found[i, j] = layer
            layer += 1
            front = {
                k
                for j in front
                for k in range(N)
                if allowed(architecture, j, k) and found[i, k] < 0
            }
    return found


@pytest.mark.parametrize("architecture", chapter.ARCHITECTURES)
def test_fact_A23_masks_of_the_architectures(architecture):
    mask = chapter.may_attend(architecture)
    for (i, j), may in np.ndenumerate(mask):
        assert may == allowed(architecture, i, j)
    np.testing.assert_array_equal(
        chapter.first_heard(mask), distances(architecture)
    )
    assert list(chapter.names_of(architecture)) == names(architecture)


@states(chapter.reach)
def test_reach_says_of_whom_the_token_has_heard(state):
    row = distances(state["architecture"])[state["asking"]]
    words = names(state["architecture"])
    sentence = chapter.reach.sentence(**state)
    listed = sentence.split("has heard of ")[1]
    parts = {"later": "", "never": ""}
    if "; it will never hear of " in listed:
        listed, parts["never"] = listed.split("; it will never hear of ")
    if "; more layers would add " in listed:
        listed, parts["later"] = listed.split("; more layers would add ")
    for text, chosen in (
        (listed, (row > 0) & (row <= state["layers"])),
        (parts["later"], row > state["layers"]),
        (parts["never"], row < 0),
    ):
        said = re.split(r", | and ", text.rstrip(".")) if text else []
        expected = [w for w, c in zip(words, chosen, strict=True) if c]
        assert said == (expected or (["itself alone"] if text else []))


@states(chapter.reach, 9)
def test_reach_draws_the_layers_and_fills_what_was_heard(state):
    axes = draw(chapter.reach, state)
    first = distances(state["architecture"])
    printed = [t for t in texts(axes) if t.isdigit() or t == "–"]
    expected = ["–" if n < 0 else str(n) for n in first.flat]
    assert printed == expected
    filled, _ = cells(axes)
    heard = (first >= 0) & (first <= state["layers"])
    np.testing.assert_array_equal(filled[:, 3] > 0, heard.ravel())


@states(chapter.reach)
def test_the_foot_of_the_cone_is_what_the_row_says(state):
    nodes, edges = chapter.cone(**{k: state[k] for k in state})
    first = distances(state["architecture"])[state["asking"]]
    source = 5 if state["architecture"] == "encoder-decoder" else 0
    foot = {token for token, layer in nodes if layer == 0}
    heard = {i for i, n in enumerate(first) if 0 <= n <= state["layers"]}
    assert foot == heard
    for row in edges:
        for (i, layer), (j, below) in row:
            assert allowed(state["architecture"], i, j)
            crosses = i >= source > j
            assert below == (state["layers"] if crosses else layer - 1)


# --- board -----------------------------------------------------------------


def by_head(state):
    """The row of the asking token in every head, one after the other."""
    s = state["sentence"]
    place = trained.tokens(s).index(trained.focus_word(s))
    return [
        trained.head_weights(s, layer, head)[place]
        for layer in range(6)
        for head in range(12)
    ]


@states(chapter.board, 4)
def test_board_draws_every_heads_weight_and_outlines_the_largest(state):
    axes = draw(chapter.board, state)
    rows = by_head(state)
    weights = [row[state["target"]] for row in rows]
    filled, corners = cells(axes)
    np.testing.assert_allclose(filled[:, 3], weights)
    assert len({tuple(np.round(c, 6)) for c in corners}) == 72
    printed = [t for t in texts(axes) if re.fullmatch(r"\d\.\d\d|·", t)]
    assert printed == [f"{w:.2f}" if w >= 0.05 else "·" for w in weights]
    outline = [c for c in axes.collections if isinstance(c, PolyCollection)][1]
    most = [max(row) == row[state["target"]] for row in rows]
    widths = np.array(outline.get_linewidths())
    np.testing.assert_array_equal(widths > 0, most)


@states(chapter.board)
def test_board_says_how_many_heads_like_the_token_best(state):
    rows = by_head(state)
    weights = [row[state["target"]] for row in rows]
    best = int(np.argmax(weights))
    most = sum(int(row.argmax() == state["target"]) for row in rows)
    sentence = chapter.board.sentence(**state)
    give, their = ("gives", "its") if most == 1 else ("give", "their")
    token = trained.tokens(state["sentence"])[state["target"]]
    assert f"Of 72 heads, {most} {give} “{token}” the" in sentence
    assert f"largest weight of {their} row." in sentence
    assert f"Layer {best // 12}, head {best % 12} gives it" in sentence
    said = re.findall(r"[<>]?0\.\d{3}", sentence)
    expected = [max(weights), np.mean(weights)]
    assert said == [">0.999" if w > 0.9995 else f"{w:.3f}" for w in expected]


def test_fact_A27_no_one_head_finds_every_antecedent():
    counts = {}
    for s, word in zip(
        trained.sentences()[:2], ("animal", "application"), strict=True
    ):
        place = trained.tokens(s).index(word)
        rows = chapter.board_weights(s)
        counts[word] = {
            divmod(int(i), 12)
            for i in np.flatnonzero(rows.argmax(axis=-1).ravel() == place)
        }
        cls = (rows.argmax(axis=-1) == 0).sum()
        assert cls > 72 / 2
    assert (5, 11) in counts["animal"] - counts["application"]


# --- models ----------------------------------------------------------------


def test_the_stacks_are_those_of_the_papers():
    post = ("self", "add+norm", "feed", "add+norm")
    pre = ("norm", "self", "add", "norm", "feed", "add")
    layers = {name: stack[1] for name, stack in chapter.STACKS.items()}
    assert layers["BERT"] == layers["encoder"] == post
    assert layers["GPT-2"] == pre
    assert layers["decoder"] == (*post[:2], "cross", "add+norm", *post[2:])
    counts = {name: stack[4] for name, stack in chapter.STACKS.items()}
    assert counts == {"BERT": 12, "GPT-2": 12, "encoder": 6, "decoder": 6}
    masks = {name: stack[5] for name, stack in chapter.STACKS.items()}
    assert {n for n, kind in masks.items() if kind == "causal"} == {
        "GPT-2",
        "decoder",
    }


def test_models_draws_each_block_once():
    found = texts(draw(chapter.models, {}))
    assert found.count("self-attention") == 4
    assert found.count("cross-att.") == 1
    assert found.count("feed-forward") == 4
    assert found.count("× 12") == found.count("× 6") == 2
    assert "12 encoder layers" in chapter.models.sentence()
