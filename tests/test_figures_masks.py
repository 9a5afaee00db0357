"""The mask chapter's pictures show what the helpers compute."""

import itertools
import math
import re

import numpy as np
import pytest
from matplotlib.patches import Rectangle

from tests.figures import draw, states
from utils.attention import attention_weights
from utils.explore import palette
from utils.figures import masks as chapter

WORDS = ["The", "developer", "deployed", "the", "application"]


def shown(weight):
    """A weight as the book prints it in this chapter's figures."""
    if math.isnan(weight):
        return "NaN"
    if weight in (0, 1):
        return str(int(weight))
    if weight > 0.9995:
        return ">0.999"
    return "<0.001" if weight < 0.0005 else f"{weight:.3f}"


def at(axes, x, y):
    """The one text whose middle or end stands at a place, and its colour."""
    found = [
        (text.get_text(), text.get_color())
        for text in axes.texts
        if np.allclose(text.get_position(), (x, y), atol=1e-6)
    ]
    assert len(found) <= 1
    return found[0] if found else (None, None)


def patches(axes, colour=None):
    """The filled rectangles of one colour."""
    return [
        patch
        for patch in axes.patches
        if isinstance(patch, Rectangle)
        and patch.get_fill()
        and hexadecimal(patch.get_facecolor()) == colour
    ]


def hexadecimal(colour):
    return "#" + "".join(f"{round(255 * part):02x}" for part in colour[:3])


# --- the example -----------------------------------------------------------


def test_a_word_has_one_vector_and_no_other_word_has_it():
    X = chapter.embed(["The", "the", "code", "[PAD]", "code"])
    np.testing.assert_array_equal(X[0], X[1])
    np.testing.assert_array_equal(X[2], X[4])
    assert len(np.unique(X, axis=0)) == 3
    with pytest.raises(ValueError, match="no vector for 'cat'"):
        chapter.embed(["cat"])


def test_queries_keys_and_values_are_of_two_heads_that_differ():
    X = chapter.embed(WORDS)
    found = chapter.queries_keys_values(X)
    assert [array.shape for array in found] == [(2, 5, 4)] * 3
    for one, other in itertools.combinations([a for b in found for a in b], 2):
        assert not np.allclose(one, other)
    batch = chapter.queries_keys_values(np.stack([X, X]))
    for array, of_batch in zip(found, batch, strict=True):
        np.testing.assert_allclose(of_batch[1], array, atol=1e-12)


# --- builder ---------------------------------------------------------------


def allowed(kind, tokens, i, j):
    """The six masks in words, for one pair."""
    real = tokens[j] != "[PAD]"
    return {
        "none": True,
        "padding": real,
        "causal": j <= i,
        "causal and padding": j <= i and real,
        "window of 2": j in (i, i - 1),
        "window of 3": j in (i, i - 1, i - 2),
    }[kind]


def tokens_mask_and_weights(kind, pads, side, head):
    pad = ["[PAD]"] * pads
    tokens = WORDS + pad if side == "end" else pad + WORDS
    N = len(tokens)
    mask = np.array(
        [[allowed(kind, tokens, i, j) for j in range(N)] for i in range(N)]
    )
    Q, K, _ = chapter.queries_keys_values(chapter.embed(tokens))
    exponentials = mask * np.exp(Q[head - 1] @ K[head - 1].T / 2)
    total = exponentials.sum(axis=1, keepdims=True)
    return tokens, mask, exponentials / np.where(total == 0, 1, total)


@states(chapter.builder)
def test_builder_s_mask_is_its_definition(state):
    given = {k: v for k, v in state.items() if k != "head"}
    _, mask, _ = tokens_mask_and_weights(**state)
    np.testing.assert_array_equal(chapter.build_mask(**given), mask)


@states(chapter.builder)
def test_builder_says_the_weights_of_deployed(state):
    sentence = chapter.builder.sentence(**state)
    tokens, mask, weights = tokens_mask_and_weights(**state)
    i = tokens.index("deployed")
    pairs = [
        f"{tokens[j]} {shown(weights[i, j])}"
        for j in range(len(tokens))
        if mask[i, j]
    ]
    *first, last = pairs
    said = ", ".join(first) + f" and {last}" if first else last
    assert f"“deployed” takes from {said}." in sentence
    assert f"{(~mask).sum()} of {mask.size} cells are blocked" in sentence
    empty = int((mask.sum(axis=1) == 0).sum())
    assert ("all zeros" in sentence) is (empty > 0)
    if empty:
        assert f"{empty} row" in sentence
    assert f"head {state['head']}" in sentence


@pytest.mark.bug(id="A40")
@states(chapter.builder, 5)
def test_builder_draws_each_weight_or_a_cross(state):
    (axes,) = draw(chapter.builder, state).axes
    tokens, mask, weights = tokens_mask_and_weights(**state)
    opacity = {}
    for colour in (palette.WEIGHT, palette.GRID):
        for patch in patches(axes, colour):
            place = patch.get_x(), patch.get_y()
            opacity[tuple(np.round(place, 6))] = (colour, patch.get_alpha())
    assert len(opacity) == mask.size
    corners = sorted(opacity, key=lambda place: (place[1], place[0]))
    wide = corners[1][0] - corners[0][0]
    high = corners[len(tokens)][1] - corners[0][1]
    crosses = [
        tuple(point)
        for line in axes.lines
        if line.get_marker() == "x"
        for point in line.get_xydata().round(6)
    ]
    for (i, j), corner in zip(np.ndindex(mask.shape), corners, strict=True):
        colour, alpha = opacity[corner]
        x, y = corner[0] + wide / 2, corner[1] + high / 2
        text, ink = at(axes, x, y)
        if mask[i, j]:
            assert colour == palette.WEIGHT
            assert alpha == pytest.approx(weights[i, j], abs=1e-12)
            assert text == shown(weights[i, j])
            assert ink == palette.INK
        else:
            assert colour == palette.GRID
            assert text is None
        assert ((round(x, 6), round(y, 6)) in crosses) is not mask[i, j]
    sums = [t.get_text() for t in axes.texts if t.get_text().endswith(".000")]
    assert sums == [f"{row.sum():.3f}" for row in weights]
    names = [t.get_text() for t in axes.texts if t.get_text() in tokens]
    assert names == [name for name in tokens for _ in range(2)]
    pads = [t for t in axes.texts if t.get_text() == "[PAD]"]
    assert len(pads) == 2 * state["pads"]
    assert all(t.get_color() == palette.MUTED for t in pads)


def test_fact_A19_the_pad_takes_part_without_a_mask_and_not_with_it():
    for head in (1, 2):
        state = {"pads": 1, "side": "end", "head": head}
        tokens, _, plain = tokens_mask_and_weights("none", **state)
        assert tokens[-1] == "[PAD]"
        assert (plain[:, -1] > 0).all()
        Q, K, _ = chapter.queries_keys_values(chapter.embed(tokens))
        mask = chapter.build_mask("padding", 1, "end")
        weights = attention_weights(Q[head - 1], K[head - 1], mask)
        np.testing.assert_array_equal(weights[:, -1], 0)


def test_padding_at_the_end_is_hidden_by_the_causal_mask_already():
    for side, same in (("end", True), ("start", False)):
        for pads in (1, 2):
            rows = slice(0, 5) if side == "end" else slice(pads, None)
            both, causal = (
                chapter.build_mask(kind, pads, side)[rows]
                for kind in ("causal and padding", "causal")
            )
            assert (both == causal).all() is np.bool_(same)


# --- filler ----------------------------------------------------------------


def row_by_hand(filler, number, blocked):
    """One number after the other, in the type where it matters."""
    kind = np.dtype(number).type
    ends = {"float16": -65504.0, "float32": -3.4028234663852886e38}
    scores = [1.2, 2.5, 1.0, 2.0]
    kept = 4 - blocked
    if filler.startswith("0"):
        total = sum(map(math.exp, map(float, map(kind, scores))))
        weights = [math.exp(float(kind(s))) / total for s in scores]
        return [w if i < kept else 0.0 for i, w in enumerate(weights)]
    exponentials = [math.exp(float(kind(s))) for s in scores[:kept]]
    if kept:
        return [e / sum(exponentials) for e in exponentials] + [0.0] * blocked
    if filler == "−∞, the book’s helper":
        return [0.0] * 4
    fits = {
        "−∞, plain formula": False,
        "−1e9": ends[number] <= -1e9,
        "the most negative float": True,
    }[filler]
    return [0.25 if fits else math.nan] * 4


@states(chapter.filler)
def test_fill_row_is_its_definition(state):
    scores, weights, output = chapter.fill_row(**state)
    expected = row_by_hand(**state)
    assert weights.dtype == state["number"]
    tolerance = 1e-3 if state["number"] == "float16" else 1e-6
    np.testing.assert_allclose(weights, expected, rtol=0, atol=tolerance)
    kept = 4 - state["blocked"]
    np.testing.assert_array_equal(
        scores[:kept], np.array([1.2, 2.5, 1, 2], state["number"])[:kept]
    )
    if kept:
        np.testing.assert_array_equal(weights[kept:], 0)
    mean = np.dot(np.float64(weights), chapter.VALUES)
    np.testing.assert_equal(output, mean)


@pytest.mark.bug(id="A01")
def test_the_four_answers_for_a_row_that_may_see_nothing():
    assert np.mean(chapter.VALUES) == 3
    found = {
        (filler, number): chapter.fill_row(filler, 4, number)[2]
        for filler in chapter.FILLERS
        for number in ("float32", "float16")
    }
    plain, ours, billion, smallest, after = chapter.FILLERS
    assert found[smallest, "float16"] == found[smallest, "float32"] == 3
    assert found[billion, "float32"] == 3
    assert math.isnan(found[billion, "float16"])
    assert math.isnan(found[plain, "float32"])
    assert found[ours, "float32"] == found[after, "float32"] == 0


@pytest.mark.parametrize("blocked", [1, 2, 3])
@pytest.mark.parametrize("number", ["float32", "float16"])
def test_four_fillers_agree_where_a_key_is_left(blocked, number):
    rows = [
        chapter.fill_row(filler, blocked, number)[1]
        for filler in chapter.FILLERS
    ]
    said = [[shown(float(w)) for w in row] for row in rows]
    assert said[0] == said[1] == said[2] == said[3] != said[4]


@states(chapter.filler)
def test_filler_says_the_weights_and_the_output(state):
    sentence = chapter.filler.sentence(**state)
    _, weights, output = chapter.fill_row(**state)
    said = re.search(
        r"The (\S+), developer (\S+), deployed (\S+) and application (\S+), "
        r"with sum (\S+), and the output is (\S+)\. ",
        sentence,
    )
    texts = [shown(float(w)) for w in weights]
    numbers = [sum(map(float, weights)), output]
    texts += [f"{n:.3f}".replace("nan", "NaN") for n in numbers]
    assert list(said.groups()) == texts
    kept = 4 - state["blocked"]
    bad = np.isnan(weights).any() or weights[kept:].any()
    lost = kept < 4 and kept > 0 and abs(numbers[0] - 1) > 0.01
    verdict = draw(chapter.filler, state).axes[0].get_title(loc="left")
    assert (verdict[0] == "✗") is bool(bad or lost)
    assert verdict[2:] + "." in sentence


@states(chapter.filler, 3)
def test_filler_draws_bars_as_high_as_the_weights(state):
    (axes,) = draw(chapter.filler, state).axes
    scores, weights, _ = chapter.fill_row(**state)
    assert axes.get_ylim() == (0, 1.1)
    bars = patches(axes, palette.WEIGHT)
    heights = [bar.get_height() for bar in bars]
    np.testing.assert_allclose(heights, np.nan_to_num(weights), atol=1e-7)
    for x, (height, weight) in enumerate(zip(heights, weights, strict=True)):
        assert at(axes, x, height + 0.06)[0] == shown(float(weight))
    texts = [text.get_text() for text in axes.texts]
    grey = patches(axes, palette.GRID)
    assert len(grey) == texts.count("× blocked") == state["blocked"]
    assert sorted(p.get_x() for p in grey) == pytest.approx(
        [x - 0.48 for x in range(4 - state["blocked"], 4)]
    )
    start = texts.index("score") + 1
    for text, score in zip(texts[start : start + 4], scores, strict=True):
        value = float(text.replace("−", "-").replace("∞", "inf"))
        assert value == pytest.approx(float(score), rel=0.01)


# --- cache -----------------------------------------------------------------


@pytest.mark.bug(id="A06")
@states(chapter.cache)
def test_cache_s_mask_is_its_definition(state):
    new, cached = state["new"], state["cached"]
    mask = chapter.aligned_mask(**state)
    ahead = cached if state["alignment"] == "bottom right" else 0
    for i, j in np.ndindex(new, cached + new):
        assert mask[i, j] == (j <= i + ahead)
    if cached == 0:
        np.testing.assert_array_equal(mask, np.tril(np.ones((new, new))))


@states(chapter.cache)
def test_cache_says_how_many_keys_each_new_query_sees(state):
    sentence = chapter.cache.sentence(**state)
    new, cached = state["new"], state["cached"]
    size = cached + new
    right = state["alignment"] == "bottom right"
    for i in range(new):
        seen = i + 1 + (cached if right else 0)
        keys = "1 key" if seen == 1 else f"{seen} keys"
        name = chapter.SENTENCE[cached + i]
        assert f"“{name}” sees {keys}" in sentence
    assert f" of {size}. " in sentence
    assert f"aligned to the {state['alignment']}:" in sentence
    assert ("misses" in sentence) is (not right and cached > 0)
    if "misses" in sentence:
        missed = f"the last {cached} key{'' if cached == 1 else 's'}"
        assert missed in sentence


@states(chapter.cache, 3)
def test_cache_draws_the_mask_below_a_staircase(state):
    (axes,) = draw(chapter.cache, state).axes
    mask, cached = chapter.aligned_mask(**state), state["cached"]
    steps = patches(axes, palette.GRID)
    cells = patches(axes, palette.WEIGHT)
    assert len(steps) == cached
    assert len(cells) == mask.size
    wide, high = cells[0].get_width(), cells[0].get_height()
    left, top = cells[0].get_x(), cells[0].get_y()
    for i, step in enumerate(steps):
        assert step.get_width() == pytest.approx((i + 1) * wide)
        assert step.get_y() == pytest.approx(top - (cached - i) * high)
    for ((i, j), may), cell in zip(np.ndenumerate(mask), cells, strict=True):
        assert cell.get_xy() == pytest.approx(
            (left + j * wide, top + i * high)
        )
        assert (cell.get_alpha() > 0) is bool(may)
        x, y = cell.get_x() + wide / 2, cell.get_y() + high / 2
        assert at(axes, x, y)[0] == ("✓" if may else "×")
    (outline,) = (p for p in axes.patches if not p.get_fill())
    assert outline.get_xy() == pytest.approx((left, top))
    assert outline.get_width() == pytest.approx(mask.shape[1] * wide)
    assert outline.get_height() == pytest.approx(mask.shape[0] * high)
    names = [
        t.get_text() for t in axes.texts if t.get_text() in chapter.SENTENCE
    ]
    assert sorted(names) == sorted(2 * chapter.SENTENCE[: mask.shape[1]])
