"""The chapter's pictures show what the helper computes."""

import numpy as np
import pytest

from tests.figures import draw, states, texts
from utils.figures import __idea__ as chapter


def by_hand(lead):
    """The two weights from the textbook formula, not from the helper."""
    exponentials = np.exp([lead, 0])
    return exponentials / exponentials.sum()


@states(chapter.lead)
def test_the_point_stands_at_the_weight_of_the_first_key(state):
    (axes,) = draw(chapter.lead, state).axes
    curve, point = axes.lines
    first, _ = by_hand(state["lead"])
    np.testing.assert_allclose(point.get_xdata(), [state["lead"]])
    np.testing.assert_allclose(point.get_ydata(), [first])
    wanted = [by_hand(x)[0] for x in curve.get_xdata()]
    np.testing.assert_allclose(curve.get_ydata(), wanted)


@states(chapter.lead)
def test_picture_and_sentence_give_the_same_two_weights(state):
    (axes,) = draw(chapter.lead, state).axes
    first, second = (f"{w:.3f}" for w in by_hand(state["lead"]))
    assert texts(axes) == [f"first {first}, second {second}"]
    sentence = chapter.lead.sentence(**state)
    assert f"the first {first} and the second {second}." in sentence


@pytest.mark.parametrize("lead", chapter.lead.sliders[0].values())
def test_only_the_lead_counts(lead):
    np.testing.assert_allclose(
        chapter.two_weights(lead), chapter.two_weights(-lead)[::-1]
    )
