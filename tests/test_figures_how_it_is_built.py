"""The picture of the house shows the imports that the sources hold."""

import json
import re
import sys
from collections import Counter

import pytest
from matplotlib.colors import to_hex
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch

from tests.conftest import ROOT, stored_notebooks
from tests.figures import draw, states
from tests.test_layers import MODULES, floor
from tests.test_layers import imported as imported_by
from utils.explore import frames, palette
from utils.explore.imports import imported, imports
from utils.figures import how_it_is_built as chapter
from utils.figures.how_it_is_built.floors import ALL, BOXES, LANES

PARTS = chapter.PARTS
FROM_LINE = re.compile(
    r"^ *(?:from (?P<base>utils[\w.]*) import (?P<names>\([^)]*\)|.*)"
    r"|import (?P<whole>utils[\w.]*))",
    re.MULTILINE,
)


def floor_of(module):
    return {"ground": chapter.GROUND_FLOOR}.get(floor(module), floor(module))


def counted_again():
    """The imports once more: modules by the layers' test, cells by line."""
    found = Counter()
    for module in MODULES:
        for other in imported_by(module) & MODULES.keys() - {"utils"}:
            found[floor_of(module), floor_of(other)] += 1
    for notebook in stored_notebooks():
        names = set()
        for cell in notebook.code():
            for match in FROM_LINE.finditer(cell["source"]):
                base = match["base"] or match["whole"]
                taken = re.findall(r"\w+(?= as)|\w+", match["names"] or "")
                below = {f"{base}.{name}" for name in taken} & MODULES.keys()
                names |= below or {base}
        for name in names & MODULES.keys() - {"utils"}:
            found["book", floor_of(name)] += 1
    return {pair: n for pair, n in found.items() if pair[0] != pair[1]}


def parts_of(figure):
    (axes,) = figure.axes
    arrows = [p for p in axes.patches if isinstance(p, FancyArrowPatch)]
    boxes = [p for p in axes.patches if isinstance(p, FancyBboxPatch)]
    return axes, arrows, boxes


def ends(arrow):
    """What an arrow joins, told by where it begins and ends."""
    (x, tail), (_, tip) = arrow._posA_posB

    def at(y):
        (name,) = (
            name
            for name, (left, top, width, _) in BOXES.items()
            if left < x < left + width and abs(y - top) < 0.05
        )
        return name

    high = 0.76
    return at(tail - high), at(tip)


def test_the_survey_counts_what_the_sources_import():
    found = chapter.survey()
    assert found.arrows == counted_again()
    chapters = [one.name for one in stored_notebooks()]
    assert list(found.contents["book"]) == chapters
    for part in PARTS[1:]:
        files = [
            path
            for module, path in MODULES.items()
            if floor_of(module) == part and path.name != "__init__.py"
        ]
        assert found.sizes[part] == len(files)
    numpy = {
        module
        for module in MODULES
        if floor(module) == "ground"
        and any(name.split(".")[0] == "numpy" for name in imported_by(module))
    }
    ground = found.packages[chapter.GROUND_FLOOR]
    assert ground["numpy"] == len(numpy)
    assert ground["torch"] == 1
    assert not set(ground) & sys.stdlib_module_names


@states(chapter.floors)
def test_there_is_an_arrow_with_its_number_for_each_import(state):
    found = chapter.survey()
    numpy = found.packages[chapter.GROUND_FLOOR]["numpy"]
    wanted = {**found.arrows, (chapter.GROUND_FLOOR, "NumPy"): numpy}
    axes, arrows, _ = parts_of(draw(chapter.floors, state))
    assert {ends(arrow) for arrow in arrows} == set(wanted)
    assert len(arrows) == len(wanted)
    for arrow in arrows:
        (x, tail), (_, tip) = arrow._posA_posB
        assert tip > tail, "an arrow that points up"
        near = [
            text.get_text()
            for text in axes.texts
            if 0 < text.get_position()[0] - x < 0.1
            and tail < text.get_position()[1] < tip
        ]
        assert near[0] == str(wanted[ends(arrow)])


@states(chapter.floors)
def test_the_chosen_part_stands_out_and_not_by_colour_alone(state):
    part = state["part"]
    _, arrows, boxes = parts_of(draw(chapter.floors, state))
    thick = [box.get_linewidth() > 2 for box in boxes]
    assert sum(thick) == (part != ALL)
    filled = [to_hex(box.get_facecolor()) == palette.WEIGHT for box in boxes]
    assert filled == thick
    widths = {ends(arrow): arrow.get_linewidth() for arrow in arrows}
    for arrow in arrows:
        start, end = pair = ends(arrow)
        plain = arrow.get_linestyle() in ("-", "solid")
        assert plain != (part == end)
        if part != ALL and part not in pair:
            assert widths[pair] < 1
        else:
            assert widths[pair] > (2 if part == start else 1)


@states(chapter.floors)
def test_the_sentence_has_the_numbers_of_its_arrows(state):
    part, found = state["part"], chapter.survey()
    sentence = chapter.floors.sentence(**state)
    said = Counter(re.findall(r"\((\d+)\)", sentence))
    numpy = found.packages[chapter.GROUND_FLOOR]["numpy"]
    arrows = {**found.arrows, (chapter.GROUND_FLOOR, "NumPy"): numpy}
    assert said == Counter(
        str(count)
        for pair, count in arrows.items()
        if part == ALL or part in pair
    )
    if part != ALL:
        assert f"{found.sizes[part]} " in sentence
        axes = draw(chapter.floors, state).axes[0]
        words = " ".join(text.get_text() for text in axes.texts)
        for name in found.contents[part]:
            assert name in words


def test_every_lane_is_used():
    drawn = set(chapter.survey().arrows) | {(chapter.GROUND_FLOOR, "NumPy")}
    assert set(LANES) == drawn, "an arrow that is gone keeps its lane"


# --- a house that is not this one ------------------------------------------


@pytest.fixture
def small(tmp_path):
    """Two chapters, of which one has a cell for IPython; three modules."""
    files = {
        "utils/__init__.py": "",
        "utils/masks.py": "import numpy as np\nimport json\n",
        "utils/explore/__init__.py": "def f():\n    import matplotlib\n",
        "utils/figures/__init__.py": "",
        "utils/figures/a/__init__.py": "from utils.figures.a.b import c\n",
        "utils/figures/a/b.py": "from utils import explore, masks\n",
    }
    for name, text in files.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    (tmp_path / "book").mkdir()
    for name, source in (
        ("01_a", "%pip install x\nif x:\n    y = !ls\n!ls\nimport numpy"),
        ("02_b", "from utils import masks\nfrom utils.figures import a"),
    ):
        cells = [
            {"cell_type": "markdown", "source": "import utils.nothing"},
            {"cell_type": "code", "source": source},
        ]
        text = json.dumps({"cells": cells})
        (tmp_path / "book" / f"{name}.ipynb").write_text(text, "utf-8")
    return tmp_path


def test_a_small_house_is_counted_by_hand(small):
    found = chapter.survey(small)
    assert found.arrows == {
        ("book", chapter.GROUND_FLOOR): 1,
        ("book", "figures"): 1,
        ("figures", "explore"): 1,
        ("figures", chapter.GROUND_FLOOR): 1,
    }
    assert found.contents["figures"] == ("a/",)
    assert found.sizes == {"book": 2, "figures": 1, chapter.GROUND_FLOOR: 1}
    assert found.packages["book"] == {"numpy": 1}
    assert found.packages["explore"] == {"matplotlib": 1}
    assert found.packages[chapter.GROUND_FLOOR] == {"numpy": 1}


def test_a_folder_that_has_no_place_is_named(small):
    (small / "utils" / "cellar").mkdir()
    (small / "utils" / "cellar" / "a.py").touch()
    with pytest.raises(ValueError, match="utils/cellar is no part"):
        chapter.survey(small)


def test_an_import_that_has_no_lane_is_named(small, monkeypatch):
    path = small / "utils" / "explore" / "up.py"
    path.write_text("import utils.figures.a", "utf-8")
    found = chapter.survey(small)
    drawing = sys.modules["utils.figures.how_it_is_built.floors"]
    monkeypatch.setattr(drawing, "survey", lambda: found)
    with pytest.raises(ValueError, match="explore imports from figures"):
        chapter.floors.svg(part=ALL)


def test_a_new_import_draws_the_picture_anew(small, monkeypatch):
    """The cache of frames knows which files the picture reads."""
    assert chapter.floors.reads() == chapter.sources(ROOT)
    monkeypatch.setattr(
        chapter.floors, "reads", lambda: chapter.sources(small)
    )
    before = frames.key(chapter.floors)
    assert frames.key(chapter.floors) == before
    (small / "utils" / "masks.py").write_text("import utils.explore", "utf-8")
    assert frames.key(chapter.floors) != before


# --- the reader of imports -------------------------------------------------


def test_imports_are_read_wherever_they_stand():
    source = (
        "import os.path, json as j\nfrom a.b import c as d, e\n"
        "def f():\n    from g import *\n"
    )
    assert sorted(imports(source), key=str) == [
        ("a.b", "c"),
        ("a.b", "e"),
        ("g", "*"),
        ("json", None),
        ("os.path", None),
    ]
    assert imported(source, {"a.b.c"}) == {
        *("a.b", "a.b.c", "g", "json", "os.path")
    }


@pytest.mark.parametrize("text", ["from . import a", "from ..b import c"])
def test_a_relative_import_is_refused_by_its_line(text):
    with pytest.raises(ValueError, match=re.escape("line 2: ")) as told:
        imports(f"import a\n{text}\n")
    assert text in str(told.value)
