"""Reports about heat maps: rows are queries, columns are keys, and say so."""

import numpy as np
import pytest
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from utils.attention import attention_weights
from utils.explore import palette
from utils.figures.drawing import draw_matrix, fill_weights


@pytest.mark.bug(id="A40")
def test_queries_name_the_rows_and_keys_the_columns():
    weights = attention_weights([[1], [-2]], [[0], [1], [2]])
    assert weights.shape == (2, 3)
    np.testing.assert_allclose(weights.sum(axis=1), 1)
    axes = Figure().add_subplot()
    draw_matrix(axes, weights, "{:.2f}".format, "", "ab", "xyz")
    fill_weights(axes, weights)
    opacity = np.full(weights.shape, np.nan)
    for patch in axes.patches:
        assert isinstance(patch, Rectangle)
        assert to_hex(patch.get_facecolor()) == palette.WEIGHT
        opacity[int(patch.get_y()), int(patch.get_x())] = patch.get_alpha()
    np.testing.assert_array_equal(opacity, weights)
    # y grows downwards: the first row is on top
    assert axes.get_ylim() == (2, 0)
    assert axes.get_xlim() == (0, 3)
    found = {
        text.get_text(): (*text.get_position(), text.get_color())
        for text in axes.texts
    }
    for i, name in enumerate("ab"):
        x, y, colour = found[name]
        assert x < 0
        assert (y, colour) == (i + 0.5, palette.QUERY)
    for j, name in enumerate("xyz"):
        x, y, colour = found[name]
        assert y < 0
        assert (x, colour) == (j + 0.5, palette.KEY)
    for (i, j), weight in np.ndenumerate(weights):
        assert found[f"{weight:.2f}"][:2] == (j + 0.5, i + 0.5)
