"""The pictures of queries, keys and values show what the helper computes."""

import itertools
import math
import re

import numpy as np
import pytest
from matplotlib.colors import to_hex

from tests.figures import draw, number, states, texts
from utils import trained
from utils.explore import palette
from utils.figures import qkv as chapter

EXPLORABLES = (chapter.meet, chapter.pull, chapter.training, chapter.ask)
TOKENS = ["The", "developer", "deployed", "application"]
# By hand: article, noun, verb, actor; each asks for, or offers, noun and verb.
SENTENCE = [[1, 0, 0, 0], [0, 1, 0, 1], [0, 0, 1, 0], [0, 1, 0, 0]]
QUERIES = [[1, 0], [0, 2], [3, 0], [0, 1]]
KEYS = {
    "same": [[0, 0], [1, 0], [0, 1], [1, 0]],
    "other": [[1, 0], [0, 1], [1, 0]],
}
NAMES = {"same": TOKENS, "other": ["bank", "approved", "loan"]}


def at(axes):
    """The texts of an axes by their rounded place."""
    return {
        tuple(round(float(z), 3) for z in text.get_position()): (
            text.get_text()
        )
        for text in axes.texts
    }


def cells(axes, shape):
    """The numbers in the cells of a drawn matrix."""
    found = at(axes)
    return [
        [found[j + 0.5, i + 0.5] for j in range(shape[1])]
        for i in range(shape[0])
    ]


def shown(weight):
    if weight < 0.0005:
        return "<0.001"
    return ">0.999" if weight > 0.9995 else f"{weight:.3f}"


def dot(u, v):
    return sum(a * b for a, b in zip(u, v, strict=True))


def by_hand(Q, K):
    """Softmax of the scaled scores of each row, in plain Python."""
    weights = []
    for q in Q:
        row = [math.exp(dot(q, k) / math.sqrt(len(q))) for k in K]
        weights.append([e / sum(row) for e in row])
    return np.array(weights)


# --- all of them -----------------------------------------------------------


@pytest.mark.parametrize("explorable", EXPLORABLES, ids=repr)
def test_every_state_has_the_same_parts(explorable):
    def parts(state):
        return [
            [type(artist).__name__ for artist in axes.get_children()]
            for axes in draw(explorable, state).axes
        ]

    found = explorable.states()
    first = parts(found[0])
    for state in (*found[:: max(1, len(found) // 12)], found[-1]):
        assert parts(state) == first, state


# --- the facts -------------------------------------------------------------


def test_fact_A05_shapes_of_the_documents_example():
    X, W_Q, W_K, W_V = chapter.X, chapter.W_Q, chapter.W_K, chapter.W_V
    assert X.shape == (4, 4)
    np.testing.assert_array_equal(X, SENTENCE)
    assert (X @ W_Q).shape == (X @ W_K).shape == (4, 2)
    assert (X @ W_V).shape == (4, 3)


def test_fact_A06_a_token_alone_gives_the_row_it_gives_in_its_sentence():
    for W in (chapter.W_Q, chapter.W_K, chapter.W_V):
        for i, x in enumerate(chapter.X):
            np.testing.assert_array_equal(x @ W, (chapter.X @ W)[i])


def test_fact_A07_entry_i_j_is_query_i_with_key_j():
    assert list(chapter.TOKENS) == TOKENS
    for i, j in itertools.product(range(4), range(4)):
        state = {"keys": "same", "query": i, "key": j}
        sentence = chapter.meet.sentence(**state)
        expected = dot(QUERIES[i], KEYS["same"][j])
        name = f"s{i + 1}{j + 1}".translate(str.maketrans("1234", "₁₂₃₄"))
        assert f"{name} = " in sentence
        assert sentence.endswith(f"= {expected}.")


def test_fact_B03_the_documents_scores_are_symmetric_and_ours_are_not():
    X = np.array([[1, 0], [0, 1], [1, 1]])
    W_Q, W_K = np.array([[1, 0], [0, 2]]), np.array([[0, 1], [2, 0]])
    np.testing.assert_array_equal(chapter.X_ABC, X)
    np.testing.assert_array_equal(chapter.W_Q_ABC, W_Q)
    np.testing.assert_array_equal(chapter.W_K_ABC, W_K)
    theirs = X @ W_Q @ (X @ W_K).T
    np.testing.assert_array_equal(theirs, theirs.T)
    ours = X @ W_Q @ (X @ chapter.W_K_OURS).T
    assert ours[0, 1] > 0 > ours[1, 0]
    assert (chapter.W_K_OURS != W_K).sum() == 1


def test_fact_B03_two_tokens_found_alike_pass_on_different_values():
    K, V = chapter.X @ chapter.W_K, chapter.X @ chapter.W_V
    assert (K[1] == K[3]).all()
    assert (V[1] != V[3]).any()


# --- meet ------------------------------------------------------------------


@states(chapter.meet)
def test_meet_says_who_asks_and_what_comes_of_it(state):
    sentence = chapter.meet.sentence(**state)
    q, k = QUERIES[state["query"]], KEYS[state["keys"]][state["key"]]
    names = NAMES[state["keys"]]
    kind = {"same": "Self", "other": "Cross"}[state["keys"]]
    assert sentence.startswith(
        f"{kind}-attention, 4 queries and {len(names)} keys: "
        f"“{TOKENS[state['query']]}” asks for noun {q[0]}, verb {q[1]}, "
        f"“{names[state['key']]}” offers noun {k[0]}, verb {k[1]}, "
    )
    terms = f"{q[0]} × {k[0]} + {q[1]} × {k[1]} = {dot(q, k)}."
    assert sentence.endswith(terms)


@states(chapter.meet)
def test_meet_draws_both_matrices_their_product_and_the_outlines(state):
    (axes,) = draw(chapter.meet, state).axes
    Q, K = QUERIES, KEYS[state["keys"]]
    M = len(K)
    by_place = at(axes)
    lines = {}
    for (x, y), text in by_place.items():
        if re.fullmatch(r"\d", text):
            lines.setdefault(y, []).append((x, int(text)))
    rows = [[value for _, value in sorted(lines[y])] for y in sorted(lines)]
    expected = [list(column) for column in zip(*K, strict=True)]
    expected += [[*q, *(dot(q, k) for k in K)] for q in Q]
    assert rows == expected

    boxes = [patch.get_bbox() for patch in axes.patches]
    inside = [
        [
            int(text)
            for (x, y), text in sorted(
                by_place.items(), key=lambda item: item[0][::-1]
            )
            if box.contains(x, y) and re.fullmatch(r"\d", text)
        ]
        for box in boxes
    ]
    q, k = Q[state["query"]], K[state["key"]]
    assert inside == [q, k, [dot(q, k)]]
    inks = [to_hex(patch.get_edgecolor()) for patch in axes.patches]
    assert inks == [palette.QUERY, palette.KEY, palette.INK]
    bold = [t.get_text() for t in axes.texts if t.get_weight() == "bold"]
    assert bold == [
        TOKENS[state["query"]],
        NAMES[state["keys"]][state["key"]],
    ]
    found = texts(axes)
    assert f"scores QKᵀ, 4 × {M}" in found
    assert f"Kᵀ, 2 × {M}" in found
    for name in (*TOKENS, *NAMES[state["keys"]]):
        assert name in found


# --- pull ------------------------------------------------------------------


def pulled(goal, pull):
    """Queries, keys and scores, number by number."""
    end = {"document": [[0, 1], [2, 0]], "ours": [[0, -1], [2, 0]]}[goal]
    start = [[1, 0], [0, 2]]
    W_K = [
        [start[a][b] + pull * (end[a][b] - start[a][b]) for b in (0, 1)]
        for a in (0, 1)
    ]
    Q = [[1, 0], [0, 2], [1, 2]]
    K = [W_K[0], W_K[1], [W_K[0][b] + W_K[1][b] for b in (0, 1)]]
    return W_K, Q, K, np.array([[dot(q, k) for k in K] for q in Q])


def far(S):
    apart = sum((S[i, j] - S[j, i]) ** 2 for i, j in np.ndindex(S.shape))
    return math.sqrt(apart) / 2 / math.sqrt((S**2).sum())


@states(chapter.pull)
def test_pull_says_every_pair_and_how_far_from_symmetric(state):
    sentence = chapter.pull.sentence(**state)
    S = pulled(**state)[3]
    said = re.findall(r"(.) asks (.) (−?\d\.\d\d)", sentence)
    assert len(said) == 6
    for i, j, text in said:
        assert number(text) == pytest.approx(
            S["ABC".index(i), "ABC".index(j)], abs=0.0051
        )
    (said_far,) = re.findall(r"is (\d\.\d{3}) far", sentence)
    assert float(said_far) == pytest.approx(far(S), abs=0.00051)
    if state["goal"] == "document" or state["pull"] == 0:
        assert said_far == "0.000"
    else:
        assert float(said_far) > 0.01
    assert f"pulled {state['pull']:g} of" in sentence


@states(chapter.pull, 4)
def test_pull_draws_arrows_scores_pairs_and_the_bar(state):
    plane, grid, low = draw(chapter.pull, state).axes
    W_K, Q, K, S = pulled(**state)
    tips = [
        patch.get_xy()[np.linalg.norm(patch.get_xy(), axis=1).argmax()]
        for patch in plane.patches
    ]
    np.testing.assert_allclose(tips, [*Q, *K], atol=1e-9)
    inks = [to_hex(patch.get_facecolor()) for patch in plane.patches]
    assert inks == [palette.QUERY] * 3 + [palette.KEY] * 3
    found = [[number(text) for text in row] for row in cells(grid, (3, 3))]
    np.testing.assert_allclose(found, S, atol=0.0051)
    for patch in grid.patches:
        box = patch.get_bbox()
        i, j = int(box.y0), int(box.x0)
        same = abs(S[i, j] - S[j, i]) < 1e-9
        ink = palette.GRID if same else palette.OTHER
        assert to_hex(patch.get_edgecolor()) == ink
    rows = [text for text in texts(grid) if "[" in text]
    for text, row in zip(rows, W_K, strict=True):
        said = re.findall(r"−?\d\.\d\d", text)
        np.testing.assert_allclose(list(map(number, said)), row, atol=0.0051)
    track, bar = (patch.get_width() for patch in low.patches)
    assert bar / track == pytest.approx(far(S), abs=1e-9)
    assert f"{far(S):.3f}" in texts(low)
    differ = sum(
        abs(S[i, j] - S[j, i]) > 1e-9 for i, j in ((0, 1), (0, 2), (1, 2))
    )
    assert sum("✗" in text for text in texts(low)) == differ
    assert sum("✓" in text for text in texts(low)) == 3 - differ


def test_pull_towards_ours_parts_all_three_pairs_at_once_and_for_good():
    for state in chapter.pull.states():
        S = pulled(**state)[3]
        parted = [abs(S[i, j] - S[j, i]) > 1e-9 for i, j in ((0, 1), (1, 2))]
        assert all(parted) or not any(parted)
        assert any(parted) is (state["goal"] == "ours" and state["pull"] > 0)


def test_asymmetry_of_no_scores_is_0():
    assert chapter.asymmetry(np.zeros((3, 3))) == 0


# --- training --------------------------------------------------------------


def loss(W_Q, W_K):
    X = np.array(SENTENCE, float)
    return -(chapter.WANTED * np.log(by_hand(X @ W_Q, X @ W_K))).sum()


def test_each_step_of_training_goes_down_the_true_slope():
    found = chapter.history()
    assert len(found) == 61
    for step in (0, 7, 30):
        before, after = found[step], found[step + 1]
        for which, place in itertools.product(
            (0, 1), np.ndindex(before[0].shape)
        ):
            nudged = [matrix.copy() for matrix in before]
            nudged[which][place] += 1e-5
            up = loss(*nudged)
            nudged[which][place] -= 2e-5
            slope = (up - loss(*nudged)) / 2e-5
            moved = after[which][place] - before[which][place]
            assert moved == pytest.approx(-0.2 * slope, abs=1e-7)


def test_training_starts_at_random_and_comes_to_what_it_wants():
    losses = [loss(*matrices) for matrices in chapter.history()]
    assert losses[0] > 4 * math.log(3.5)
    assert losses[-1] < 2 * math.log(2) + 0.15  # the least there can be
    assert all(b < a for a, b in itertools.pairwise(losses))


def trained_at(step):
    W_Q, W_K = chapter.history()[step]
    X, Y = np.array(SENTENCE, float), chapter.OTHER_X
    return (
        by_hand(X @ W_Q, X @ W_K),
        np.array([[dot(q, k) for k in W_K] for q in W_Q]),
        by_hand(Y @ W_Q, Y @ W_K),
    )


@states(chapter.training)
def test_training_says_the_weights_of_both_sentences(state):
    weights, form, unseen = trained_at(state["step"])
    assert chapter.training.sentence(**state) == (
        f"After {state['step']} steps, deployed gives {shown(weights[2, 1])} "
        f"to developer and {shown(weights[2, 3])} to application; a verb "
        f"asking a noun adds {form[2, 1]:.1f} to the score; and in the "
        f"sentence never trained on, approved gives {shown(unseen[1, 0])} to "
        f"bank and {shown(unseen[1, 2])} to loan."
    )


@states(chapter.training, 4)
def test_training_draws_weights_and_the_table_of_features(state):
    top, middle, low = draw(chapter.training, state).axes
    order = {id(axes): axes for axes in (top, middle, low)}
    assert len(order) == 3
    by_title = {}
    for axes in (top, middle, low):
        (title,) = [t for t in texts(axes) if "Weights" in t or "W_Q" in t]
        by_title[title.split()[-1]] = axes
    weights, form, unseen = trained_at(state["step"])
    for key, array in (("on", weights), ("saw", unseen)):
        axes = by_title[key]
        expected = [[shown(w) for w in row] for row in array]
        assert cells(axes, array.shape) == expected
        fills = [
            (int(p.get_y()), int(p.get_x()), p.get_alpha())
            for p in axes.patches
            if p.get_fill()
        ]
        assert len(fills) == array.size
        for i, j, alpha in fills:
            assert alpha == pytest.approx(array[i, j], abs=1e-12)
    found = cells(by_title["adds"], (4, 4))
    np.testing.assert_allclose(
        [[number(text) for text in row] for row in found], form, atol=0.051
    )
    outlined = {
        (int(p.get_y()), int(p.get_x()))
        for p in by_title["on"].patches
        if not p.get_fill()
    }
    assert outlined == {(0, 1), (0, 3), (1, 2), (2, 1), (2, 3), (3, 2)}


def test_the_rule_that_the_chapter_says_training_finds():
    _, form, unseen = trained_at(60)
    start = trained_at(0)
    article, noun, verb, _ = range(4)
    assert min(form[verb, noun], form[article, noun], form[noun, verb]) > 4
    assert np.abs(start[1]).max() < 0.5
    assert unseen[1, [0, 2]].min() > 0.4
    assert start[2].max() < 0.45


# --- ask -------------------------------------------------------------------


def asked(state):
    """Tokens, scaled scores and weights, one dot product at a time."""
    sentence = chapter.SENTENCES[state["sentence"]][0]
    Q, K = trained.queries_and_keys(sentence, *chapter.HEADS[state["head"]])
    scores = np.array([[dot(q, k) for k in K] for q in Q]) / math.sqrt(32)
    weights = by_hand(Q, K)
    i = state["token"]
    pick = np.s_[i, :] if state["role"] == "asks" else np.s_[:, i]
    return trained.tokens(sentence), scores[pick], weights[pick]


@states(chapter.ask)
def test_ask_says_the_two_highest_scores_and_the_sum(state):
    sentence = chapter.ask.sentence(**state)
    names, scores, weights = asked(state)
    layer, head = chapter.HEADS[state["head"]]
    assert sentence.startswith(f"Layer {layer}, head {head}: the ")
    said = re.findall(r"\(scaled score (−?\d\.\d\d), weight (\S+)\)", sentence)
    best = sorted(range(len(names)), key=lambda j: -scores[j])[:2]
    for (score, weight), j in zip(said, best, strict=True):
        assert number(score) == pytest.approx(scores[j], abs=0.0051)
        assert weight == shown(weights[j])
        name = "itself" if j == state["token"] else f"“{names[j]}” (scaled"
        assert name in sentence
    (total,) = re.findall(r"sum to (\d\.\d{3})\.", sentence)
    assert float(total) == pytest.approx(weights.sum(), abs=0.00051)
    if state["role"] == "asks":
        assert total == "1.000"
    words = {
        "asks": ("the query of", "the keys of", "along its row"),
        "asked": ("the key of", "the queries of", "down its column"),
    }[state["role"]]
    assert all(word in sentence for word in words)


@states(chapter.ask, 9)
def test_ask_draws_bars_of_scores_and_weights(state):
    (axes,) = draw(chapter.ask, state).axes
    names, scores, weights = asked(state)
    patches = axes.patches
    assert len(patches) == 36
    zero, unit = 1.78, 0.19
    for j in range(12):
        bar, slot, fill = (p.get_bbox() for p in patches[3 * j : 3 * j + 3])
        score, weight = (scores[j], weights[j]) if j < len(names) else (0, 0)
        assert bar.x0 == pytest.approx(zero + unit * min(score, 0))
        assert bar.x1 == pytest.approx(zero + unit * max(score, 0))
        assert slot.width == pytest.approx(0.72 if j < len(names) else 0)
        assert fill.width == pytest.approx(0.72 * weight)
        assert fill.x0 == slot.x0
    ticks = {number(text): x for (x, y), text in at(axes).items() if y == 0.76}
    for tick, x in ticks.items():
        assert x == pytest.approx(zero + unit * tick, abs=1e-3)
    found = texts(axes)
    start = found.index("6") + 1
    rows = [found[k : k + 3] for k in range(start, start + 36, 3)]
    for j, (name, score, weight) in enumerate(rows):
        if j >= len(names):
            assert not (name + score + weight).strip()
            continue
        mark = "▸ " if j == state["token"] else ""
        assert name == mark + names[j]
        assert number(score) == pytest.approx(scores[j], abs=0.0051)
        assert weight == shown(weights[j])
    assert found[-1] == f"sum of the weights {weights.sum():.3f}"
    theirs = palette.KEY if state["role"] == "asks" else palette.QUERY
    assert axes.texts[start].get_color() == theirs


def test_the_weights_are_those_that_the_encoder_had():
    for state in chapter.ask.states()[::7]:
        sentence = chapter.SENTENCES[state["sentence"]][0]
        head = chapter.HEADS[state["head"]]
        weights = trained.head_weights(sentence, *head)
        i = state["token"]
        pick = weights[i] if state["role"] == "asks" else weights[:, i]
        np.testing.assert_allclose(asked(state)[2], pick, atol=1e-3)


def test_every_score_fits_between_the_edges_of_the_picture():
    for state in chapter.ask.states():
        scores = asked(state)[1]
        assert scores.min() > -2.6, state
        assert scores.max() < 7.2, state
