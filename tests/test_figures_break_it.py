"""The lab's pictures show what the right and the wrong functions compute."""

import re

import numpy as np
import pytest

from tests.figures import draw, texts
from utils.attention import scaled_dot_product_attention
from utils.figures import break_it as chapter
from utils.figures.break_it.batch import positions_given
from utils.figures.break_it.cases import CASES, TOKENS, WIDTHS, compute
from utils.figures.break_it.heads import SPLITS, named_numbers
from utils.figures.break_it.rope import moved
from utils.figures.wording import exact_share, signed

EXPLORABLES = (chapter.weights, chapter.heads, chapter.batch, chapter.rope)
ALL = [
    pytest.param(explorable, state, id=f"{explorable.name} {state}")
    for explorable in EXPLORABLES
    for state in explorable.states()
]
WEIGHTS = pytest.mark.parametrize(
    "state", chapter.weights.states()[::3], ids=str
)


@pytest.mark.parametrize("explorable", EXPLORABLES, ids=lambda e: e.name)
def test_every_state_says_something_of_its_own(explorable):
    said = [explorable.sentence(**state) for state in explorable.states()]
    assert len(set(said)) == len(said)


# --- weights ---------------------------------------------------------------


@pytest.mark.parametrize("d_k", WIDTHS)
@pytest.mark.parametrize("case", CASES)
def test_the_right_side_is_the_books_attention(case, d_k):
    one = CASES[case]
    rng = np.random.default_rng(1)
    Q, K, V = rng.normal(size=(3, 4, 64))[..., :d_k]
    mask = one.mask() if one.mask else None
    expected = scaled_dot_product_attention(Q[-one.new :], K, V, mask)
    right, wrong = compute(case, d_k)
    for ours, theirs in zip(right, expected, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-12)
    assert not np.allclose(wrong[0], right[0], atol=1e-3), "nothing is wrong"


@WEIGHTS
def test_every_weight_and_output_is_drawn(state):
    (axes,) = draw(chapter.weights, state).axes
    shown = texts(axes)
    right, wrong = compute(state["case"], state["d_k"])
    expected = []
    for output, weights in (right, wrong):
        for mixed, row in zip(output, weights, strict=True):
            expected += [exact_share(w) for w in row]
            total = f"{row.sum():.3f}"
            expected.append(total)
            expected += [signed(v) for v in mixed[:2]]
        expected += [f"{s:.3f}" for s in weights.sum(axis=0)]
    marked = [text.removesuffix(" ✓").removesuffix(" ✗") for text in shown]
    for text in set(expected):
        assert marked.count(text) >= expected.count(text), text
    cells = [p for p in axes.patches if abs(p.get_width() - 0.54) < 1e-9]
    alphas = [p.get_facecolor()[3] for p in cells]
    drawn = np.concatenate([right[1].ravel(), wrong[1].ravel()])
    np.testing.assert_allclose(alphas, drawn, atol=1e-12)


@WEIGHTS
def test_bold_is_what_differs_and_nothing_else(state):
    (axes,) = draw(chapter.weights, state).axes
    right, wrong = compute(state["case"], state["d_k"])
    differing = sum(
        exact_share(a) != exact_share(b)
        for a, b in zip(right[1].flat, wrong[1].flat, strict=True)
    ) + sum(
        signed(a) != signed(b)
        for a, b in zip(
            right[0][:, :2].flat, wrong[0][:, :2].flat, strict=True
        )
    )
    bold = [
        text
        for text in axes.texts
        if text.get_weight() == "bold"
        and re.fullmatch(r"[<>−]?[\d.]+", text.get_text())
    ]
    assert len(bold) == differing


@WEIGHTS
def test_the_cause_is_told_only_when_asked(state):
    mutant = CASES[state["case"]].mutant
    said = chapter.weights.sentence(**state)
    (axes,) = draw(chapter.weights, state).axes
    start = mutant.name[1:].replace("d_k", "dₖ")
    assert (start in said) is state["cause"]
    assert any(start in text for text in texts(axes)) is state["cause"]
    assert f"dₖ = {state['d_k']}" in said


@pytest.mark.bug(id="A08")
def test_columns_sum_to_one_in_case_A():
    weights = compute("A", 16)[1][1]
    np.testing.assert_allclose(weights.sum(axis=0), 1)
    assert "the columns to 1.000, 1.000, 1.000 and 1.000" in (
        chapter.weights.sentence(case="A", d_k=16, cause=False)
    )


def test_the_symptoms_are_those_that_the_chapter_tells():
    """Too sharp, too flat, short rows, right weights: as the prose says."""
    for d_k in WIDTHS:
        sharp, flat, flatter = (compute(c, d_k) for c in "BHE")
        for (_, right), (_, wrong), sign in (
            (*sharp, 1),
            (*flat, -1),
            (*flatter, -1),
        ):
            largest = wrong.max(axis=1) - right.max(axis=1)
            assert (largest * sign > 0).all()
        right, wrong = compute("F", d_k)
        assert (wrong[1].sum(axis=1)[:-1] < 1).all()
        np.testing.assert_allclose(wrong[1][-1], right[1][-1])
        ratio = wrong[0] / right[0]
        np.testing.assert_allclose(ratio, ratio[:, :1] + 0 * ratio)
        right, wrong = compute("D", d_k)
        np.testing.assert_array_equal(right[1], wrong[1])
        right, wrong = compute("J", d_k)
        np.testing.assert_allclose(wrong[1][-1], right[1][-1])
        seen = compute("I", d_k)[1][1] > 0
        assert seen.sum(axis=1).tolist() == [1, 2]
    right, wrong = compute("G", 16)
    np.testing.assert_allclose(wrong[1][3], 0.25)
    assert (right[1][3] == 0).all()
    far = [abs(compute("B", d)[0][1] - compute("B", d)[1][1]) for d in WIDTHS]
    means = [one.mean() for one in far]
    assert means == sorted(means), "a wrong scale grows worse with d_k"


# --- heads, batch, RoPE ----------------------------------------------------


@pytest.mark.bug(id="A11")
def test_the_view_gives_head_0_the_first_tokens():
    held = SPLITS["view alone"](named_numbers(), 2)
    assert held[0].tolist() == [
        ["A0", "A1"],
        ["A2", "A3"],
        ["B0", "B1"],
        ["B2", "B3"],
    ]


@pytest.mark.parametrize("state", chapter.heads.states(), ids=str)
def test_heads_draws_what_each_head_holds(state):
    (axes,) = draw(chapter.heads, state).axes
    held = SPLITS[state["split"]](named_numbers(), state["num_heads"])
    cells = [t for t in texts(axes) if re.fullmatch(r"[A-D]\d( ✗)?", t)]
    assert [t[:2] for t in cells[16:]] == held.ravel().tolist()
    for cell, h, i in zip(
        cells[16:],
        np.indices(held.shape)[0].ravel(),
        np.indices(held.shape)[1].ravel(),
        strict=True,
    ):
        width = 4 // state["num_heads"]
        at_home = cell[0] == "ABCD"[i] and int(cell[1]) // width == h
        assert ("✗" in cell) is not at_home
    said = chapter.heads.sentence(**state)
    for h, part in enumerate(held):
        assert f"head {h} holds {' '.join(part[0])}" in said


@pytest.mark.parametrize("state", chapter.batch.states(), ids=str)
def test_batch_draws_the_position_of_each_token(state):
    (axes,) = draw(chapter.batch, state).axes
    given = positions_given(**state)
    drawn = [t for t in texts(axes) if t.startswith("+ p")]
    assert [int(t[3]) for t in drawn] == given.ravel().tolist()
    right = np.tile(np.arange(5), state["batch"])
    wrong = [("✗" in t) for t in drawn]
    assert wrong == (given.ravel() != right).tolist()
    if state["way"] == "along the batch":
        assert (given == np.arange(state["batch"])[:, None]).all()
    else:
        assert (given.ravel() == right).all()


@pytest.mark.bug(id="A27")
@pytest.mark.parametrize("state", chapter.rope.states()[::3], ids=str)
def test_rope_draws_the_score_of_each_place(state):
    (axes,) = draw(chapter.rope, state).axes
    scores, _ = moved(state["pairing"], np.arange(25))
    line, _, point = axes.lines
    np.testing.assert_allclose(line.get_ydata(), scores)
    assert point.get_xdata()[0] == state["start"]
    np.testing.assert_allclose(point.get_ydata()[0], scores[state["start"]])
    low, high = axes.get_ylim()
    assert low < scores.min()
    assert scores.max() < high
    assert f"score is {signed(scores[state['start']])}" in (
        chapter.rope.sentence(**state)
    )
    assert (np.ptp(scores) < 1e-9) == (state["pairing"] != "mixed")


@pytest.mark.bug(id="A27")
def test_both_customs_keep_lengths_and_the_mixture_does_not():
    for pairing, kept in (
        ("neighbours", True),
        ("halves", True),
        ("mixed", False),
    ):
        _, lengths = moved(pairing, np.arange(20))
        assert (np.ptp(lengths) < 1e-9) == kept


def test_ten_cases_and_no_mistake_twice():
    names = [case.mutant.name for case in CASES.values()]
    assert len(names) == len(set(names)) == 10
    assert len(TOKENS) == 4
