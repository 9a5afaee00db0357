"""The first chapter's pictures show the trained encoder's own numbers."""

import itertools
import re

import numpy as np
import pytest
from matplotlib.patches import PathPatch, Rectangle

from tests.figures import states
from utils import trained
from utils.attention import attention_weights
from utils.figures import motivation
from utils.figures.motivation import BANKS, HEADS, SENTENCES


def row(state):
    """The tokens, and the weights to three places, of a gaze state."""
    text, _ = SENTENCES[state["sentence"]]
    layer, head, _ = HEADS[state["head"]]
    weights = trained.head_weights(text, layer, head)[state["token"]]
    return trained.tokens(text), [f"{weight:.3f}" for weight in weights]


def texts(figure):
    """Every text of the figure, top to bottom in the order drawn."""
    found = [text for axes in figure.axes for text in axes.texts]
    return [text.get_text() for text in [*figure.texts, *found]]


def column(axes, side, x):
    """The texts that stand at one place across, below the header."""
    return [
        text
        for text in axes.texts
        if text.get_ha() == side
        and np.isclose(text.get_position()[0], x)
        and text.get_position()[1] > 0.5
        and text.get_text().strip()
    ]


# --- who looks at whom -------------------------------------------------------


def test_the_reader_first_sees_it_looking_at_the_animal():
    start = motivation.gaze.start()
    assert start == {"sentence": "animal", "head": "L5H11", "token": 7}
    names, weights = row(start)
    assert names[start["token"]] == "it"
    assert weights[names.index("animal")] == "0.625"


def test_each_sentence_starts_at_the_word_it_is_there_for():
    for text, token in SENTENCES.values():
        assert trained.tokens(text)[token] == trained.focus_word(text)


@states(motivation.gaze)
def test_gaze_says_the_two_largest_weights_and_the_rest(state):
    names, weights = row(state)
    sentence = motivation.gaze.sentence(**state)
    said = re.findall(r"\d\.\d{3}", sentence)
    assert said[:2] == sorted(weights, reverse=True)[:2]
    assert sum(map(float, said)) == pytest.approx(1, abs=0.0011)
    layer, head, found = HEADS[state["head"]]
    assert sentence.startswith(f"Layer {layer}, head {head} ({found}): ")
    assert f"“{names[state['token']]}” takes" in sentence
    first = max(range(len(names)), key=lambda i: float(weights[i]))
    if first == state["token"]:
        assert f"{weights[first]} of its mixture from itself" in sentence
    else:
        assert re.search(
            rf"{weights[first]} of its mixture from (the \w+ )?"
            rf"“{re.escape(names[first])}”",
            sentence,
        )
    assert f"the other {len(names) - 2} tokens" in sentence


def test_gaze_tells_two_equal_words_apart():
    sentence = motivation.say_gaze("animal", "L0H2", 5)
    assert "1.000 of its mixture from the second “the”" in sentence


@states(motivation.gaze, 5)
def test_gaze_draws_ribbons_as_wide_as_the_weights(state):
    names, weights = row(state)
    (axes,) = motivation.gaze.draw(**state).axes
    ribbons = [p for p in axes.patches if isinstance(p, PathPatch)]
    (bar,) = [p for p in axes.patches if isinstance(p, Rectangle)]
    inches = np.array([ribbon.get_linewidth() / 72 for ribbon in ribbons])
    drawn = inches / bar.get_height()
    expected = np.zeros(motivation.MOST_TOKENS)
    expected[: len(names)] = list(map(float, weights))
    np.testing.assert_allclose(drawn, expected, atol=1e-12)

    # side by side they leave from the bar, from its top to its bottom
    ends = [ribbon.get_path().vertices[[0, -1]] for ribbon in ribbons]
    tops = [
        start[1] - width / 2
        for (start, _), width in zip(ends, inches, strict=True)
    ]
    edges = bar.get_y() + np.append(0, np.cumsum(inches))
    count = len(names)
    np.testing.assert_allclose(tops[:count], edges[:count], atol=0.7 * 0.006)
    # each ends at the row of its token, and the bar stands at the asker's
    keys = column(axes, "left", ends[0][1][0] + 0.12)
    for (_, end), key in zip(ends, keys, strict=False):
        assert end[1] == key.get_position()[1]
    middle = bar.get_y() + bar.get_height() / 2
    assert middle == pytest.approx(keys[state["token"]].get_position()[1])


@states(motivation.gaze, 5)
def test_gaze_prints_every_token_twice_and_every_weight(state):
    names, weights = row(state)
    (axes,) = motivation.gaze.draw(**state).axes
    askers = [text.get_text() for text in column(axes, "right", 1.02)]
    keys = column(axes, "left", 3.07)
    numbers = column(axes, "right", 4.6)
    marked = list(names)
    marked[state["token"]] += " ▸"
    assert askers == marked
    assert [text.get_text() for text in keys] == list(names)
    assert [text.get_text() for text in numbers] == weights
    largest = max(map(float, weights))
    for key, number in zip(keys, numbers, strict=True):
        bold = number.get_weight() == "bold"
        assert (key.get_weight() == "bold") == bold
        assert not bold or float(number.get_text()) == largest
    assert sum(text.get_weight() == "bold" for text in numbers) == 1


@pytest.mark.parametrize(
    ("fact", "sentence", "head", "word", "at", "printed"),
    [
        ("A01", "ready", "L4H4", "it", "application", "0.368"),
        ("A01", "ready", "L5H11", "it", "application", "0.032"),
        ("A01", "ready", "L2H8", "it", "ready", "0.896"),
        ("A02", "loan", "L5H7", "bank", "loan", "0.565"),
        ("A02", "loan", "L5H4", "bank", "approved", "0.365"),
        ("A03", "animal", "L5H11", "it", "animal", "0.625"),
        ("B14", "watched", "L0H4", "bank", "river", "0.645"),
        ("A02", "river", "L0H2", "bank", "river", "0.999"),
    ],
)
def test_facts_A01_A02_A03_B14_are_drawn_as_measured(
    fact, sentence, head, word, at, printed
):
    names = trained.tokens(SENTENCES[sentence][0])
    figure = motivation.draw_gaze(sentence, head, names.index(word))
    numbers = column(figure.axes[0], "right", 4.6)
    assert numbers[names.index(at)].get_text() == printed, fact


# --- where "bank" goes -------------------------------------------------------


def senses():
    return [trained.bank_sentences()[text] for text in BANKS]


def test_every_sentence_with_bank_is_shown():
    assert set(BANKS) == set(trained.bank_sentences())


def test_the_plane_is_that_of_the_first_principal_components():
    rows = []
    for depth in range(7):
        vectors = [trained.layer_vectors(text)[depth] for text in BANKS]
        unit = [vector / np.linalg.norm(vector) for vector in vectors]
        rows += [vector - np.mean(unit, axis=0) for vector in unit]
    rows = np.array(rows)
    values, axes = np.linalg.eigh(rows.T @ rows)
    places, shares = motivation.bank_plane()
    np.testing.assert_allclose(
        shares, values[:-3:-1] / values.sum(), atol=1e-12
    )
    np.testing.assert_allclose(
        np.abs(places.reshape(49, 2)),
        np.abs(rows @ axes[:, :-3:-1]),
        atol=1e-9,
    )
    account = places[-1, list(BANKS.values()).index("account")]
    assert account[0] < 0 < account[1]


def test_the_same_word_at_the_same_place_starts_at_the_same_point():
    places = dict(
        zip(BANKS.values(), motivation.bank_plane()[0][0], strict=True)
    )
    for one, other in (
        ("account", "muddy"),
        ("loan", "interest"),
        ("stream", "she sat"),
    ):
        np.testing.assert_array_equal(places[one], places[other])


def test_bank_cosines_are_those_of_every_pair():
    same, different = motivation.bank_cosines()
    assert same.shape == (7, 9)
    assert different.shape == (7, 12)
    for depth in range(7):
        found = {True: [], False: []}
        for one, other in itertools.combinations(BANKS, 2):
            alike = (
                trained.bank_sentences()[one]
                == (trained.bank_sentences()[other])
            )
            cosine = trained.cosine_similarity(
                trained.layer_vectors(one)[depth],
                trained.layer_vectors(other)[depth],
            )
            found[alike].append(cosine)
        np.testing.assert_allclose(same[depth], found[True], atol=1e-12)
        np.testing.assert_allclose(different[depth], found[False], atol=1e-12)


@pytest.mark.parametrize("layer", range(7))
def test_the_plane_is_drawn_where_it_was_computed(layer):
    (axes,) = motivation.draw_bank("plane", layer).axes
    places = motivation.bank_plane()[0]
    lines = axes.lines
    trails, marks = lines[1::3], lines[2::3]
    assert len(trails) == len(marks) == 7
    for i, (trail, mark) in enumerate(zip(trails, marks, strict=True)):
        drawn = (trail.get_xydata() - [2.38, 1.95]) / [3.4, -3.4]
        np.testing.assert_allclose(drawn, places[: layer + 1, i], atol=1e-12)
        np.testing.assert_array_equal(
            mark.get_xydata()[0], trail.get_xydata()[-1]
        )
        shape = "s" if senses()[i] == "money" else "o"
        assert mark.get_marker() == shape
    written = texts(axes.figure)
    assert set(BANKS.values()) <= set(written)
    shares = motivation.bank_plane()[1]
    assert re.findall(r"(\d+)%", written[-1]) == [
        f"{100 * share:.0f}" for share in shares
    ]


@pytest.mark.parametrize("layer", range(7))
def test_the_cosines_are_drawn_up_to_the_layer(layer):
    (axes,) = motivation.draw_bank("cosine", layer).axes
    drawn = [line for line in axes.lines if len(line.get_xdata()) == layer + 1]
    for pairs, name in zip(
        motivation.bank_cosines(),
        ("same sense", "different senses"),
        strict=True,
    ):
        for expected in [*pairs.T, pairs.mean(axis=1)]:
            assert any(
                np.array_equal(line.get_ydata(), expected[: layer + 1])
                for line in drawn
            )
        assert f"{name} {pairs[layer].mean():.3f}" in texts(axes.figure)


@states(motivation.bank)
def test_bank_says_how_far_the_senses_have_parted(state):
    sentence = motivation.bank.sentence(**state)
    layer = state["layer"]
    start = f"After layer {layer}" if layer else "Before the first layer"
    assert sentence.startswith(start)
    said = [
        float(number.replace("−", "-"))
        for number in re.findall(r"−?\d\.\d{3}", sentence)
    ]
    if state["view"] == "plane":
        across = motivation.bank_plane()[0][layer, :, 0]
        is_money = np.array(senses()) == "money"
        expected = [
            extreme(group)
            for group in (across[is_money], across[~is_money])
            for extreme in (min, max)
        ]
    else:
        same, different = (p[layer] for p in motivation.bank_cosines())
        expected = [
            same.mean(),
            same.min(),
            different.mean(),
            different.max(),
        ]
    np.testing.assert_allclose(said, expected, atol=0.00051)


def test_fact_A02_the_two_senses_part():
    across = motivation.bank_plane()[0][..., 0]
    money = np.array(senses()) == "money"
    assert across[0, money].max() > across[0, ~money].min() - 1e-9
    for depth in range(1, 7):
        assert across[depth, money].max() < across[depth, ~money].min()
    same, different = motivation.bank_cosines()
    gaps = same.mean(axis=1) - different.mean(axis=1)
    assert gaps[0] < 0.02
    assert gaps[-1] > 0.1


def test_fact_B14_sat_on_the_bank_goes_to_the_river_and_the_loan_does_not():
    across = motivation.bank_plane()[0][-1, :, 0]
    where = dict(zip(BANKS, across, strict=True))
    assert where["She sat on the bank and watched the river."] > 0
    assert where["The bank approved the loan."] < 0


# --- how far apart two words are ---------------------------------------------


@pytest.mark.parametrize("width", [3, 5, 7, 9, 33])
@pytest.mark.parametrize("num_words", [1, 2, 3, 4, 5, 9, 34, 100])
def test_convolution_layers_is_what_a_stack_of_layers_needs(num_words, width):
    met, layers = np.zeros(num_words, bool), 0
    met[0] = True
    while not met[-1]:
        met = np.array(
            [
                met[max(0, i - width // 2) : i + width // 2 + 1].any()
                for i in range(num_words)
            ]
        )
        layers += 1
    assert motivation.convolution_layers(num_words, width) == layers


@pytest.mark.parametrize(
    ("num_words", "width"), [(0, 3), (10, 1), (10, 4), (-5, 5)]
)
def test_convolution_layers_refuses_what_has_no_answer(num_words, width):
    with pytest.raises(ValueError, match=f"received {num_words} and {width}"):
        motivation.convolution_layers(num_words, width)


@states(motivation.path)
def test_path_draws_an_arc_for_each_step_it_counts(state):
    (axes,) = motivation.path.draw(**state).axes
    num_words, width = state["num_words"], state["width"]
    layers = motivation.convolution_layers(num_words, width)
    counts = (num_words - 1, layers, 1)
    shapes = list(axes.patches)
    assert len(shapes) == 3
    for shape, count in zip(shapes, counts, strict=True):
        if count > motivation.MOST_ARCS:
            assert isinstance(shape, Rectangle)
            ends = shape.get_x(), shape.get_x() + shape.get_width()
        else:
            points = shape.get_path().vertices[:, 0].reshape(count, 4)
            starts, stops = points[:, 0], points[:, 3]
            np.testing.assert_array_equal(starts[1:], stops[:-1])
            ends = starts[0], stops[-1]
            hops = np.diff(np.append(starts, stops[-1]))
            longest = min(1, width // 2 / (num_words - 1))
            reach = {0: 1 / (num_words - 1), 1: longest, 2: 1}
            place = shapes.index(shape)
            assert hops[0] / (ends[1] - ends[0]) == pytest.approx(reach[place])
            assert (hops <= hops[0] + 1e-9).all()
        assert ends == pytest.approx((0.35, 4.45))
    written = texts(axes.figure)
    for count, thing in zip(counts, ("move", "layer", "step"), strict=True):
        assert f"{count:,} {thing}{'' if count == 1 else 's'}" in written
    assert f"word {num_words:,}" in written


@states(motivation.path)
def test_path_says_the_three_counts(state):
    sentence = motivation.path.sentence(**state)
    num_words, width = state["num_words"], state["width"]
    layers = -(-(num_words - 1) // (width // 2))
    plural = "" if layers == 1 else "s"
    assert f"to word {num_words:,}: {num_words - 1:,} move" in sentence
    assert f"({num_words:,} steps if" in sentence
    assert f"{layers:,} layer{plural} of convolutions" in sentence
    assert sentence.endswith(f"width {width}, 1 step of self-attention.")


def test_fact_B04_the_thousandth_word_is_one_step_from_the_first():
    sentence = motivation.say_path(1000, 3)
    assert "999 moves" in sentence
    assert "1,000 steps" in sentence
    assert "1 step of self-attention" in sentence

    X = np.random.default_rng(0).normal(size=(1000, 8))
    changed = X.copy()
    changed[0] += 1
    before, after = (attention_weights(x, x) @ x for x in (X, changed))
    assert not np.array_equal(before[-1], after[-1])
    one_by_one = [attention_weights(x[None], X) @ X for x in X]
    np.testing.assert_allclose(np.concatenate(one_by_one), before, rtol=1e-12)
