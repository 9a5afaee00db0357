"""Reports about where the book is run: fonts, folders, packages."""

import importlib.metadata
import os
import re
import shutil
import subprocess
import sys

import nbformat
import pytest
import sphinx
import yaml
from nbclient import NotebookClient
from packaging.requirements import Requirement

from tests.conftest import ROOT, stored_notebooks
from tests.git import listed
from tests.test_layers import MODULES

TORCH, TIMING = "11_in_pytorch", "10_gpu_timing"


def tracked(*patterns):
    """The files of the repository."""
    return [ROOT / name for name in listed("--", *patterns)]


def python(*arguments, **environment):
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=ROOT,
        env={**os.environ, **environment},
        capture_output=True,
        encoding="locale",
    )


# --- fonts -----------------------------------------------------------------


@pytest.mark.bug(id="B11")
def test_fonts_are_found_before_a_chapter_could_say_so(tmp_path):
    """On stderr, for which `make refresh` refuses a chapter."""
    path, cache = tmp_path / "fonts.ipynb", tmp_path / "cache"
    notebook = nbformat.v4.new_notebook()
    look = f"import os\nprint(sorted(os.listdir({str(cache)!r})))"
    notebook.cells = [nbformat.v4.new_code_cell(look)]
    nbformat.write(notebook, path)
    done = python(
        "tools/refresh_notebooks.py", str(path), MPLCONFIGDIR=str(cache)
    )
    assert done.returncode == 0, done.stdout + done.stderr
    [cell] = nbformat.read(path, as_version=4).cells
    assert "fontlist-" in cell.outputs[0].text


@pytest.mark.bug(id="B11")
def test_nobody_stored_or_published_the_search_for_fonts(built_site):
    for notebook in stored_notebooks():
        assert "font cache" not in notebook.text
    for page in built_site.glob("book/*.html"):
        assert "font cache" not in page.read_text("utf-8")


# --- folders ---------------------------------------------------------------


@pytest.mark.bug(id="B25")
@pytest.mark.parametrize("name", ["01_motivation", "10_gpu_timing"])
@pytest.mark.parametrize("place", ["the root", "an unpacked ZIP"])
def test_a_chapter_that_reads_data_runs_from(
    name, place, tmp_path, monkeypatch
):
    """Its own folder is nbval's; an empty one is Colab's (first cell)."""
    home = ROOT
    if place == "an unpacked ZIP":
        home = tmp_path / "the book (1)"
        for part in ("utils", "book"):
            shutil.copytree(ROOT / part, home / part)
        monkeypatch.setenv("PYTHONPATH", str(home))
    [stored] = [nb for nb in stored_notebooks() if nb.name == name]
    assert run_and_compare(stored, home).startswith(str(home))


def make(folder, *arguments, **environment):
    """Run the book's Makefile in a folder of its own."""
    if not shutil.which("make"):
        pytest.skip("there is no make")
    # as from a shell, not from the make that runs these tests
    ours = {k: v for k, v in os.environ.items() if "MAKE" not in k}
    return subprocess.run(
        ["make", "-f", ROOT / "Makefile", *arguments],
        cwd=folder,
        env={**ours, **environment},
        capture_output=True,
        encoding="locale",
    )


def test_make_says_that_a_folder_cannot_be_written(tmp_path):
    tmp_path.chmod(0o500)
    if os.access(tmp_path, os.W_OK):
        pytest.skip("who runs this may write anywhere")
    done = make(tmp_path, "book", f"PYTHON={sys.executable}")
    assert done.returncode
    assert done.stdout.startswith("This folder cannot be written to")


def test_warnings_of_others_do_not_stop_the_build(tmp_path):
    """jupyter-book uses what its packages have begun to give up."""
    program = tmp_path / ".venv" / "bin" / "jupyter-book"
    program.parent.mkdir(parents=True)
    program.write_text('#!/bin/sh\necho "[$PYTHONWARNINGS]"\n', "utf-8")
    program.chmod(0o755)
    known = ("-o", ".venv/.book", "-o", ".venv/bin/python")
    done = make(tmp_path, *known, "book", PYTHONWARNINGS="error")
    assert done.stdout.endswith("\n[]\n"), done.stdout + done.stderr


def run_and_compare(stored, folder):
    """It prints what is stored; return where its helpers come from."""
    notebook = nbformat.reads(stored.text, as_version=4)
    probe = "import utils; print(utils.__file__)"
    notebook.cells.append(nbformat.v4.new_code_cell(probe))
    where = {"metadata": {"path": str(folder)}}
    NotebookClient(notebook, timeout=300, resources=where).execute()
    for cell, before in zip(notebook.cells, stored.cells, strict=False):
        if cell.cell_type == "code":
            assert streams(cell.outputs) == streams(before["outputs"])
    return notebook.cells[-1].outputs[0].text


def streams(outputs):
    return "".join("".join(output.get("text", "")) for output in outputs)


# --- packages --------------------------------------------------------------


@pytest.mark.bug(id="B33")
def test_wherever_jupyter_book_is_installed_it_is_version_1():
    pinned = 0
    for path in tracked("*.md", "*.txt", "*.yml", "*.yaml", "*.ipynb", "*.sh",
                        "Makefile", ".ci/run", "binder/*"):  # fmt: skip
        for line in path.read_text("utf-8").split("\n"):
            asked = re.search(
                r"(?:install.*\s|^)[\"']?jupyter-book(?!-|\S*/)(\S*)", line
            )
            if not asked or line.lstrip().startswith("#"):
                continue
            if "install" in line or path.suffix == ".txt":
                assert re.match(r"==1\.|<2\b", asked[1]), f"{path}: {line}"
                pinned += 1
    assert pinned
    assert importlib.metadata.version("jupyter-book").startswith("1.")


@pytest.mark.bug(id="B34")
def test_the_pythons_that_are_promised_are_those_that_are_tried():
    said = (ROOT / "requirements.txt").read_text("utf-8")
    promised = set(re.findall(r"3\.\d+", said.split("\n")[0]))
    assert promised == {"3.11", "3.12", "3.13"}
    jobs = yaml.safe_load(
        (ROOT / ".github/workflows/book.yml").read_text("utf-8")
    )["jobs"]
    tried = set(jobs["readers"]["strategy"]["matrix"]["python"])
    for step in jobs["test"]["steps"]:
        tried |= {step.get("with", {}).get("python-version")} - {None}
    assert tried == promised
    asked = [
        step["with"]["python-version"]
        for step in jobs["readers"]["steps"]
        if "setup-python" in step.get("uses", "")
    ]
    assert asked == ["${{ matrix.python }}"]
    steps = [step.get("run") for step in jobs["readers"]["steps"]]
    assert "make book" in steps


def needed(path):
    """The requirements of a list, and of the lists that it names."""
    for line in path.read_text("utf-8").split("\n"):
        line = re.sub(r"(^|\s)#.*", "", line).strip()
        if line.startswith("-r "):
            yield from needed(path.parent / line[3:])
        elif line and not line.startswith("-"):
            yield Requirement(line)


@pytest.mark.bug(id="B35")
def test_every_package_has_what_it_asks_for():
    """As `pip check`, for what the lists bring: nothing pulls Sphinx up."""
    waiting = list(needed(ROOT / "tests" / "requirements.txt"))
    seen = set()
    while waiting:
        asked = waiting.pop()
        key = (asked.name.lower(), frozenset(asked.extras))
        version = importlib.metadata.version(asked.name)
        assert asked.specifier.contains(version, prereleases=True), (
            f"{asked}, installed {version}"
        )
        if key in seen:
            continue
        seen.add(key)
        for line in importlib.metadata.requires(asked.name) or ():
            more = Requirement(line)
            extras = asked.extras or {""}
            if not more.marker or any(
                more.marker.evaluate({"extra": extra}) for extra in extras
            ):
                waiting.append(more)
    assert len(seen) > 100
    assert sphinx.version_info[0] == 7


@pytest.mark.bug(id="B41")
def test_helpers_do_without_torch():
    """Torch is not there in Pyodide; `utils.timing` asks for it when used."""
    code = "import importlib, sys\nsys.modules['torch'] = None\n"
    code += f"for name in {sorted(MODULES)}: importlib.import_module(name)"
    done = python("-c", code)
    assert done.returncode == 0, done.stderr


@pytest.mark.bug(id="B41")
def test_two_chapters_ask_for_torch_and_one_needs_it(tmp_path, monkeypatch):
    """What the other prints without torch is what it prints with it."""
    asking = {
        notebook.name: notebook
        for notebook in stored_notebooks()
        for cell in notebook.code()
        if re.search(r"^\s*(import|from) torch\b", cell["source"], re.M)
    }
    assert asking.keys() == {TORCH, TIMING}
    absent = 'raise ModuleNotFoundError("No module named torch", name="torch")'
    (tmp_path / "torch.py").write_text(absent, "utf-8")
    paths = os.pathsep.join([str(tmp_path), str(ROOT)])
    monkeypatch.setenv("PYTHONPATH", paths)
    run_and_compare(asking[TIMING], ROOT / "book")
