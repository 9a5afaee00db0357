"""The weighted sum's pictures show what the helpers compute."""

import math
import re

import numpy as np
import pytest
from matplotlib.patches import Polygon, Rectangle

from tests.figures import draw, number, shown, states, texts
from utils import trained
from utils.explore import palette
from utils.figures import weighted_sum as chapter

TOKENS = ["The", "developer", "deployed", "application"]


def by_loops(X, W_Q, W_K, W_V, causal=False):
    """Self-attention as the definition has it, on plain Python numbers."""

    def product(A, B):
        return [
            [sum(a * b for a, b in zip(row, col, strict=True)) for col in B]
            for row in A
        ]

    def transposed(A):
        return [list(column) for column in zip(*A, strict=True)]

    Q, K, V = (product(X, transposed(W)) for W in (W_Q, W_K, W_V))
    scores = product(Q, K)
    scaled = [[s / math.sqrt(len(Q[0])) for s in row] for row in scores]
    masked = [
        [-math.inf if causal and j > i else s for j, s in enumerate(row)]
        for i, row in enumerate(scaled)
    ]
    exp = [[math.exp(s) for s in row] for row in masked]
    weights = [[e / sum(row) for e in row] for row in exp]
    output = product(weights, transposed(V))
    return {
        **{"X": X, "W_Q": W_Q, "W_K": W_K, "W_V": W_V, "Q": Q, "K": K, "V": V},
        **{"scores": scores, "scaled": scaled, "masked": masked},
        **{"weights": weights, "output": output},
    }


EYE = [[1, 0], [0, 1]]
ABC = ([[1, 0], [0, 1], [1, 1]], [[1, 0], [0, 2]], [[0, 1], [2, 0]], EYE)
INPUTS = {"learn": (EYE, EYE, EYE, EYE), "abc": ABC}
NAMES = {"learn": ["I", "learn"], "abc": ["A", "B", "C"]}


def entry(value):
    """A number as the board prints it."""
    if value == -math.inf:
        return "−∞"
    return str(int(value)) if value == int(value) else f"{value:.3f}"


def heights(axes):
    return [bar.get_width() for bar in axes.containers[0]]


# --- the facts -------------------------------------------------------------


def test_fact_A12_the_output_adds_up_weighted_values():
    assert chapter.WEIGHTS == (0.10, 0.50, 0.15, 0.25)
    weights, parts = chapter.pulled(length=1, weight=0.5)
    np.testing.assert_allclose(weights, [0.10, 0.50, 0.15, 0.25])
    v1, v2, v3, v4 = np.array(chapter.PULL_VALUES)
    np.testing.assert_allclose(
        parts.sum(axis=0), 0.10 * v1 + 0.50 * v2 + 0.15 * v3 + 0.25 * v4
    )


def test_fact_A13_the_two_tokens_of_I_learn():
    made = chapter.workflow("learn")
    np.testing.assert_array_equal(made["scores"], EYE)
    np.testing.assert_allclose(made["scaled"], np.eye(2) * 0.7071, atol=5e-5)
    expected = [[0.6698, 0.3302], [0.3302, 0.6698]]
    for name in ("weights", "output"):
        np.testing.assert_allclose(made[name], expected, atol=5e-5)


def test_fact_B01_every_number_of_the_three_tokens():
    made = chapter.workflow("abc")
    np.testing.assert_array_equal(made["X"], [[1, 0], [0, 1], [1, 1]])
    np.testing.assert_array_equal(made["Q"], [[1, 0], [0, 2], [1, 2]])
    np.testing.assert_array_equal(made["K"], [[0, 1], [2, 0], [2, 1]])
    np.testing.assert_array_equal(made["V"], made["X"])
    assert made["scaled"][2].round(2).tolist() == [1.41, 1.41, 2.83]
    assert made["weights"].round(2).tolist() == [
        [0.11, 0.45, 0.45],
        [0.45, 0.11, 0.45],
        [0.16, 0.16, 0.67],
    ]
    assert made["output"].round(2).tolist() == [
        [0.55, 0.89],
        [0.89, 0.55],
        [0.84, 0.84],
    ]


def test_fact_B13_the_diagonal_may_be_small():
    made = chapter.workflow("abc")
    assert made["weights"][0].argmin() == 0
    assert f"{made['weights'][0, 0]:.2f}" == "0.11"
    assert made["scores"][0, 0] == 0


def test_fact_A14_the_same_bank_goes_in_and_two_come_out():
    account, muddy = map(
        trained.layer_vectors,
        (
            "He opened an account at the bank.",
            "Wild flowers grew along the muddy bank.",
        ),
    )
    np.testing.assert_array_equal(account[0], muddy[0])
    u, v = account[6], muddy[6]
    cosine = u @ v / math.sqrt((u @ u) * (v @ v))
    assert cosine == pytest.approx(0.690, abs=5e-4)


def test_fact_A15_one_head_looks_back_whatever_stands_there():
    before = set()
    for sentence in trained.sentences():
        tokens = trained.tokens(sentence)
        weights = trained.head_weights(sentence, 0, 2)
        for i in range(1, len(tokens)):
            assert weights[i].argmax() == i - 1
            assert weights[i, i - 1] > 0.99
            assert np.delete(weights[i], i - 1).max() < 0.01
            before.add(tokens[i - 1])
    assert len(before) > 30


def test_fact_A28_seven_steps_stand_in_both_diagrams_and_on_the_board():
    assert [step for _, step, *_ in chapter.BOXES] == [
        1,
        2,
        2,
        2,
        *range(3, 8),
    ]
    assert len(chapter.STEPS) == 7
    shapes = {words: shape for _, _, words, shape, _ in chapter.BOXES}
    assert shapes["input X"] == "N × d_model"
    assert shapes["Q = X W_Q"] == shapes["K = X W_K"] == "N × dₖ"
    assert shapes["V = X W_V"] == shapes["output A V"] == "N × dᵥ"
    square = [words for words, shape in shapes.items() if shape == "N × N"]
    assert len(square) == 4
    (axes,) = draw(chapter.flow, {}).axes
    found = texts(axes)
    for words, shape in shapes.items():
        assert found[found.index(words) + 1] == shape
    assert {f"{step}." for step in range(1, 8)} <= set(found)


# --- the idea --------------------------------------------------------------


def test_the_idea_shows_scores_weights_and_shares_of_one_row():
    scores = [1.2, 2.5, 1.0, 2.0]
    exp = [math.exp(s) for s in scores]
    weights = [e / sum(exp) for e in exp]
    (axes,) = draw(chapter.idea, {}).axes
    found = texts(axes)
    assert found.index("query of “deployed”") == 0
    for token, score, weight in zip(TOKENS, scores, weights, strict=True):
        assert found.count(token) == 2  # a key and a value
        assert f"{score:.1f}" in found
        assert f"{weight:.3f}" in found
        assert f"{weight:.3f}" in found[-1]
    alphas = [p.get_alpha() for p in axes.patches if p.get_alpha() is not None]
    np.testing.assert_allclose(alphas, weights)
    widths = [
        line.get_linewidth()
        for line in axes.lines
        if line.get_color() == palette.WEIGHT
    ]
    np.testing.assert_allclose(widths, np.repeat(weights, 2) * 14)
    sentence = chapter.idea.sentence()
    for token, weight in zip(TOKENS, weights, strict=True):
        assert f"{token} {weight:.3f}" in sentence


def test_the_diagram_of_shapes_says_every_shape():
    sentence = chapter.flow.sentence()
    for shape in ("N × d_model", "N × dₖ", "N × dᵥ", "N × N"):
        assert shape in sentence


# --- the seven steps -------------------------------------------------------


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("example", ["learn", "abc"])
def test_the_workflow_is_the_slow_loop(example, causal):
    made = chapter.workflow(example, causal)
    expected = by_loops(*INPUTS[example], causal=causal)
    assert list(made) == list(expected)
    for name, matrix in expected.items():
        np.testing.assert_allclose(made[name], matrix, atol=1e-12)


MADE_IN = {
    1: ["X"],
    2: ["Q", "K", "V"],
    3: ["scores"],
    4: ["scaled"],
    5: ["masked"],
    6: ["weights"],
    7: ["output"],
}


@states(chapter.steps)
def test_steps_say_every_row_that_the_step_makes(state):
    made = by_loops(*INPUTS[state["example"]], causal=state["causal"])
    sentence = chapter.steps.sentence(**state)
    assert sentence.startswith(f"Step {state['step']} of 7, ")
    for name in MADE_IN[state["step"]]:
        for token, row in zip(
            NAMES[state["example"]], made[name], strict=True
        ):
            said = ", ".join(entry(value) for value in row)
            assert f"{token} [{said}]" in sentence
    if state["step"] == 5:
        masked = "the future is masked" in sentence
        assert masked is state["causal"]
        assert ("no mask" in sentence) is not state["causal"]


# left and top of each matrix, and the step from which its numbers show
PLACES = {
    "X": (0.62, 1.78, 1),
    "W_Q": (1.72, 1.0, 2),
    "W_K": (2.78, 1.0, 2),
    "W_V": (3.84, 1.0, 2),
    "Q": (1.72, 1.78, 2),
    "K": (2.78, 1.78, 2),
    "V": (3.84, 1.78, 2),
    "scores": (0.62, 3.14, 3),
    "scaled": (2.02, 3.14, 4),
    "masked": (3.42, 3.14, 5),
    "weights": (0.62, 4.5, 6),
    "output": (3.84, 4.5, 7),
}


@states(chapter.steps)
def test_the_board_holds_what_is_made_so_far_and_nothing_else(state):
    made = by_loops(*INPUTS[state["example"]], causal=state["causal"])
    made["V again"] = made["V"]
    (axes,) = draw(chapter.steps, state).axes
    cells = {
        tuple(round(part, 3) for part in text.get_position()): text.get_text()
        for text in axes.texts
    }
    places = {**PLACES, "V again": (2.5, 4.5, 7)}
    for name, (left, top, first) in places.items():
        for i, row in enumerate(made[name]):
            for j, value in enumerate(row):
                x, y = left + 0.42 * (j + 0.5), top + 0.25 * (i + 0.5)
                text = cells[round(x, 3), round(y, 3)]
                blank = state["step"] < first
                assert text == (" " if blank else entry(value)), name


@states(chapter.steps)
def test_the_board_outlines_results_and_fills_weights(state):
    made = by_loops(*INPUTS[state["example"]], causal=state["causal"])
    (axes,) = draw(chapter.steps, state).axes
    outlined = {
        (round(p.get_x(), 2), round(p.get_y(), 2))
        for p in axes.patches
        if p.get_linewidth() == 2.2
    }
    expected = {PLACES[name][:2] for name in MADE_IN[state["step"]]}
    assert outlined == expected
    fills = [p for p in axes.patches if p.get_alpha()]
    total = np.sum([p.get_alpha() for p in fills])
    rows = len(NAMES[state["example"]])
    assert total == pytest.approx(rows if state["step"] >= 6 else 0)
    for patch in fills:
        j = round((patch.get_x() - 0.62) / 0.42)
        i = round((patch.get_y() - 4.5) / 0.25)
        assert patch.get_alpha() == pytest.approx(made["weights"][i][j])


def line_by_hand(state):
    (axes,) = draw(chapter.steps, state).axes
    return axes.texts[1].get_text()


def test_the_line_under_the_title_works_one_number_out():
    def line(example, step, causal=False):
        return line_by_hand(
            {"example": example, "causal": causal, "step": step}
        )

    assert line("abc", 2) == "the query of C: [1, 1] W_Q = [1, 2]"
    assert line("abc", 3) == "C asks C: 1·2 + 2·1 = 4"
    assert line("abc", 4) == "C asks C: 4 ÷ √2 = 2.828"
    assert line("abc", 5, True) == "A may not look at B, which comes later"
    assert line("learn", 6) == (
        "learn to learn: exp(0.707) = 2.028, 2.028 ÷ 3.028 = 0.670"
    )
    assert line("abc", 7) == (
        "0.164 [1, 0] + 0.164 [0, 1] + 0.673 [1, 1] = [0.836, 0.836]"
    )


# --- a query that turns ----------------------------------------------------


def turned_by_hand(query_length, angle):
    q = (
        query_length * math.cos(math.radians(angle)),
        query_length * math.sin(math.radians(angle)),
    )
    scores = [(q[0] * x + q[1] * y) / math.sqrt(2) for x, y in chapter.KEYS]
    exp = [math.exp(s) for s in scores]
    weights = [e / sum(exp) for e in exp]
    output = [
        sum(w * v[c] for w, v in zip(weights, chapter.VALUES, strict=True))
        for c in (0, 1)
    ]
    return weights, output


def inside(point, corners):
    """On one side of every edge of a convex shape."""
    sides = []
    for (ax, ay), (bx, by) in zip(
        corners, corners[1:] + corners[:1], strict=True
    ):
        sides.append((bx - ax) * (point[1] - ay) - (by - ay) * (point[0] - ax))
    return all(side < 0 for side in sides) or all(side > 0 for side in sides)


@states(chapter.turn)
def test_turn_says_the_weights_and_an_output_inside_the_values(state):
    weights, output = turned_by_hand(**state)
    sentence = chapter.turn.sentence(**state)
    said = re.search(
        r"The (\S+), developer (\S+), deployed (\S+) and application (\S+)\.",
        sentence,
    )
    assert list(said.groups()) == shown(weights)
    place = re.search(r"output is \((\S+), (\S+)\), inside", sentence)
    np.testing.assert_allclose(
        [number(part) for part in place.groups()], output, atol=5.1e-4
    )
    assert inside(output, list(chapter.VALUES))
    assert not re.search(r"−0\.000\b", sentence)


@states(chapter.turn, 9)
def test_turn_draws_query_path_output_and_bars(state):
    weights, output = turned_by_hand(**state)
    left, right, bars = draw(chapter.turn, state).axes
    np.testing.assert_allclose(heights(bars), weights, atol=1e-12)
    assert bars.get_xlim() == (0, 1)
    found = texts(bars)
    for name, weight in zip(TOKENS, shown(weights), strict=True):
        assert found[found.index(name) + 1] == weight
    (head,) = (p for p in left.patches if isinstance(p, Polygon))
    tip = head.get_xy()[0]
    ahead = np.array([math.cos(math.radians(state["angle"]))])
    np.testing.assert_allclose(tip[0], 1.05 * ahead[0])
    keys = [
        tuple(line.get_xydata()[0])
        for line in left.lines
        if line.get_marker() == "s"
    ]
    assert keys == list(chapter.KEYS)
    (path,) = (x for x in right.lines if x.get_color() == palette.MUTED)
    expected = [
        turned_by_hand(state["query_length"], angle)[1]
        for angle in (*range(0, 360, 5), 0)
    ]
    np.testing.assert_allclose(path.get_xydata(), expected, atol=1e-12)
    point = right.lines[-1].get_xydata()[0]
    np.testing.assert_allclose(point, output, atol=1e-12)
    strings = [x for x in right.lines if x.get_color() == palette.WEIGHT]
    for string, value, weight in zip(
        strings, chapter.VALUES, weights, strict=True
    ):
        np.testing.assert_allclose(string.get_xydata(), [output, value])
        assert string.get_linewidth() == pytest.approx(8 * weight)
    for shape in right.patches:
        np.testing.assert_allclose(shape.get_xy()[:-1], chapter.VALUES)


def test_the_values_are_corners_and_one_key_lies_among_the_others():
    assert inside(chapter.KEYS[0], list(chapter.KEYS[1:]))
    for i, corner in enumerate(chapter.VALUES):
        rest = [v for j, v in enumerate(chapter.VALUES) if j != i]
        assert not inside(corner, rest)


def test_the_never_wins_and_a_long_query_chooses_one_key():
    for state in chapter.turn.states():
        weights, _ = turned_by_hand(**state)
        assert np.argmax(weights) != 0
        if state["query_length"] == 0.5:
            assert max(weights) < 0.5
    winners = {
        int(np.argmax(turned_by_hand(8, angle)[0])) for angle in chapter.ANGLES
    }
    assert winners == {1, 2, 3}


# --- weights and lengths ---------------------------------------------------


def pulled_by_hand(value_length, weight):
    rest = (1 - weight) / 0.5
    weights = [0.10 * rest, weight, 0.15 * rest, 0.25 * rest]
    values = [(0.6, -0.8), (value_length, 0.0), (0.0, 1.0), (-0.6, 0.8)]
    parts = [(w * x, w * y) for w, (x, y) in zip(weights, values, strict=True)]
    return weights, np.array(parts)


@states(chapter.pull)
def test_pull_says_the_length_of_every_part(state):
    weights, parts = pulled_by_hand(**state)
    assert sum(weights) == pytest.approx(1)
    sentence = chapter.pull.sentence(**state)
    assert f"length {state['value_length']:g}, developer has" in sentence
    assert f"has weight {state['weight']:.2f} and" in sentence
    for name, part in zip(TOKENS, parts, strict=True):
        assert f"{name} {math.hypot(*part):.3f}" in sentence
    place = re.search(r"output is \((\S+), (\S+)\)\.", sentence)
    np.testing.assert_allclose(
        [number(text) for text in place.groups()],
        parts.sum(axis=0),
        atol=5.1e-3,
    )
    assert not re.search(r"−0\.00\b", sentence)


@states(chapter.pull, 4)
def test_pull_lays_the_parts_tip_to_tail(state):
    weights, parts = pulled_by_hand(**state)
    plane, left, right = draw(chapter.pull, state).axes
    np.testing.assert_allclose(heights(left), weights, atol=1e-12)
    lengths = np.linalg.norm(parts, axis=1)
    np.testing.assert_allclose(heights(right), lengths, atol=1e-12)
    assert left.get_xlim() == right.get_xlim() == (0, 1)
    assert [t for t in texts(left) if t in TOKENS] == TOKENS
    assert [t for t in texts(right) if t] == [f"{x:.3f}" for x in lengths]
    corners = np.vstack([[0, 0], np.cumsum(parts, axis=0)])
    segments = [
        x
        for x in plane.lines
        if x.get_color() == palette.VALUE and len(x.get_xdata()) == 2
    ]
    for i, segment in enumerate(segments):
        np.testing.assert_allclose(
            segment.get_xydata(), corners[i : i + 2], atol=1e-12
        )
        assert (segment.get_linewidth() > 5) is (i == 1)
    np.testing.assert_allclose(
        plane.lines[-1].get_xydata()[0], corners[-1], atol=1e-12
    )
    for x, y in corners:
        assert plane.get_xlim()[0] < x < plane.get_xlim()[1]
        assert plane.get_ylim()[0] < y < plane.get_ylim()[1]


def test_no_shape_is_drawn_that_is_not_a_cell_or_an_outline():
    for explorable in (chapter.idea, chapter.flow, chapter.steps):
        (axes,) = draw(explorable, explorable.start()).axes
        assert all(isinstance(patch, Rectangle) for patch in axes.patches)
