"""Reports about notebooks, and proof that our tests would see each of them.

Most promises about stored notebooks are kept in test_notebooks.py. Here a
copy of a chapter is damaged as the report says: the promise must break.
"""

import ast
import copy
import json
import os
import shutil
import subprocess
import sys

import pytest
import yaml
from IPython.core.inputtransformer2 import TransformerManager

from tests import test_notebooks as promises
from tests.conftest import stored_notebooks

CHAPTER = "04_softmax"
# what live widgets would be made with in a cell
WIDGETS = {"interact", "interactive", "interact_manual", "Output"}


@pytest.fixture
def chapter():
    """A copy that may be damaged."""
    [found] = [nb for nb in stored_notebooks() if nb.name == CHAPTER]
    return copy.deepcopy(found)


def picture(notebook):
    """The first output with a picture."""
    return next(
        output
        for _, output in notebook.outputs()
        if "base64," in "".join(output.get("data", {}).get("text/html", ""))
    )


def printing(notebook, word=""):
    """The first cell that prints and uses this word."""
    return next(
        cell
        for cell, output in notebook.outputs()
        if output["output_type"] == "stream" and word in cell["source"]
    )


def nbval(path, **environment):
    """What `make test` does with a notebook; its return code, what it says."""
    command = [sys.executable, "-m", "pytest", "-q", "--nbval", str(path)]
    done = subprocess.run(
        [*command, "-p", "no:cacheprovider", "-c", os.devnull],
        env={**os.environ, **environment},
        capture_output=True,
        encoding="locale",
    )
    return done.returncode, done.stdout + done.stderr


# --- a chapter that is damaged is noticed ----------------------------------


@pytest.mark.bug(id="B05")
@pytest.mark.parametrize("line", ["1;", "ax.plot([1]);", "1;  # quiet"])
def test_a_semicolon_is_noticed(chapter, line):
    chapter.code()[-1]["source"] += f"\n{line}"
    with pytest.raises(AssertionError, match=CHAPTER):
        promises.test_no_semicolon_silences_a_value(chapter)


@pytest.mark.bug(id="B06")
@pytest.mark.parametrize(
    "text",
    ["<object object at 0x7efc563e5ee0>", "<Line2D at 0x7FF6A4B5C6D0>"],
    ids=["Linux", "Windows"],
)
def test_a_memory_address_is_noticed(chapter, text):
    printing(chapter)["outputs"][0]["text"] = text
    with pytest.raises(AssertionError, match="0x"):
        promises.test_no_output_wobbles(chapter, ADDRESS)


ADDRESS = promises.test_no_output_wobbles.pytestmark[0].args[1][0]


@pytest.mark.bug(id="B08")
@pytest.mark.parametrize("wrong", ["TOTALLYWRONG", "another picture"])
def test_a_wrong_picture_is_noticed(chapter, wrong):
    html = picture(chapter)["data"]["text/html"]
    text = "".join(html)
    before, _, rest = text.partition("base64,")
    code, quote, after = rest.partition('"')
    if wrong == "another picture":
        [other] = [nb for nb in stored_notebooks() if nb.name == "03_scaling"]
        text = "".join(picture(other)["data"]["text/html"])
        wrong = text.partition("base64,")[2].partition('"')[0]
    picture(chapter)["data"]["text/html"] = f"{before}base64,{wrong}" + (
        quote + after
    )
    with pytest.raises((AssertionError, ValueError, OSError)):
        promises.test_every_stored_picture_is_what_its_explorable_draws_now(
            chapter
        )


@pytest.mark.bug(id="B10")
def test_a_warning_on_stderr_is_noticed(chapter):
    printing(chapter)["outputs"][0]["name"] = "stderr"
    with pytest.raises(AssertionError, match=CHAPTER):
        promises.test_nothing_is_written_to_stderr(chapter)


@pytest.mark.bug(id="B14")
@pytest.mark.parametrize("count", [None, 2])
def test_a_cell_that_never_ran_is_noticed(chapter, count):
    chapter.code()[0]["execution_count"] = count
    with pytest.raises(AssertionError):
        promises.test_every_cell_was_run_once_in_order(chapter)


@pytest.mark.bug(id="B15")
def test_a_stored_error_is_noticed(chapter):
    error = {"output_type": "error", "ename": "E", "evalue": "", "text": ""}
    printing(chapter)["outputs"] = [error]
    with pytest.raises(AssertionError, match=CHAPTER):
        promises.test_no_cell_fails_unless_it_says_so(chapter)


@pytest.mark.bug(id="B44")
def test_stdout_in_two_pieces_is_noticed(chapter):
    printing(chapter)["outputs"] *= 2
    with pytest.raises(AssertionError, match=CHAPTER):
        promises.test_no_cell_prints_in_two_pieces(chapter)


# --- the helpers and the stored outputs ------------------------------------


@pytest.mark.bug(id="B16")
def test_the_build_runs_nothing_and_so_has_no_cache_of_its_own(root):
    config = yaml.safe_load((root / "_config.yml").read_text("utf-8"))
    assert config["execute"] == {"execute_notebooks": "off"}


@pytest.mark.bug(id="B16")
@pytest.mark.bug(id="B12")
def test_nbval_sees_that_a_helper_has_changed(chapter, root, tmp_path):
    """Also that no kernel of another name is needed."""
    shutil.copytree(root / "utils", tmp_path / "utils")
    notebook = tmp_path / "short.ipynb"
    short = copy.deepcopy(chapter.raw)
    end = chapter.cells.index(printing(chapter, "softmax(")) + 1
    short["cells"] = chapter.cells[:end]
    notebook.write_text(json.dumps(short), "utf-8")
    path = os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])
    code, said = nbval(notebook, PYTHONPATH=path)
    assert code == 0, said
    helper = tmp_path / "utils" / "attention.py"
    text = helper.read_text("utf-8")
    assert text.count("/ float(temperature))") == 1
    changed = text.replace("/ float(temperature))", "/ 2)")
    helper.write_text(changed, "utf-8")
    code, said = nbval(notebook, PYTHONPATH=path)
    assert code == 1, said


# --- what a cell may not ask for -------------------------------------------


def names_in(cell):
    """Every name and attribute that a cell uses, magics made plain."""
    plain = TransformerManager().transform_cell(cell["source"])
    for node in ast.walk(ast.parse(plain)):
        if isinstance(node, ast.Name):
            yield node.id
        elif isinstance(node, ast.Attribute):
            yield node.attr
        elif isinstance(node, ast.ImportFrom | ast.Import):
            paths = [alias.name for alias in node.names]
            for path in (*paths, getattr(node, "module", None) or ""):
                yield from path.split(".")


@pytest.mark.bug(id="B12")
def test_every_notebook_names_the_kernel_that_everybody_has(notebook):
    assert notebook.raw["metadata"]["kernelspec"] == {
        "display_name": "Python 3",
        "language": "python",
        "name": "python3",
    }


@pytest.mark.bug(id="B13")
@pytest.mark.bug(id="B30")
def test_no_cell_makes_a_widget_or_draws_by_itself(notebook):
    """A figure is an Explorable, of which every state is tested."""
    for cell in notebook.code():
        found = set(names_in(cell)) & {*WIDGETS, "ipywidgets", "pyplot"}
        assert not found, promises.place(notebook, cell)


@pytest.mark.bug(id="B13")
@pytest.mark.parametrize(
    "line",
    [
        "from ipywidgets import interact",
        "import ipywidgets as w",
        "w.interactive(draw)",
        "import matplotlib.pyplot as plt",
        "from matplotlib import pyplot",
    ],
)
def test_a_widget_in_a_cell_is_noticed(chapter, line):
    chapter.code()[-1]["source"] += f"\n{line}"
    with pytest.raises(AssertionError, match=CHAPTER):
        test_no_cell_makes_a_widget_or_draws_by_itself(chapter)


@pytest.mark.bug(id="B29")
def test_no_cell_installs_widgets(notebook):
    """In Colab version 8 stops the sliders; what is there works."""
    for cell in notebook.code():
        for line in cell["source"].split("\n"):
            if "pip" in line.split() or "%pip" in line or "!pip" in line:
                assert "widgets" not in line, promises.place(notebook, cell)
