"""What Binder builds its image from: one list, no GPU, fonts found before.

That repo2docker reads it so is tried each week in .github/workflows/book.yml;
how much memory a chapter takes, in tests/launch/test_jupyterlab.py.
"""

import os
import re
import subprocess
import sys
import tomllib

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet


@pytest.fixture
def binder(root):
    return root / "binder"


def lines(path):
    """The lines of a list of requirements, without comments."""
    text = path.read_text("utf-8")
    found = (
        re.sub(r"(^|\s)#.*", "", line).strip() for line in text.split("\n")
    )
    return [line for line in found if line]


@pytest.mark.bug(id="B28")
def test_it_adds_nothing_but_pytorch_to_the_book_s_list(binder):
    own = lines(binder / "requirements.txt")
    assert "-r ../requirements.txt" in own
    packages = [line for line in own if not line.startswith("-")]
    assert [Requirement(line).name for line in packages] == ["torch"]
    assert not (binder.parent / ".binder").exists()
    assert sorted(path.name for path in binder.iterdir()) == [
        "postBuild",
        "requirements.txt",
        "runtime.txt",
    ]


@pytest.mark.bug(id="B26")
def test_its_pytorch_is_the_one_that_is_tested_and_has_no_gpu(binder, root):
    [own] = [x for x in lines(binder / "requirements.txt") if "torch=" in x]
    [tested] = [
        line
        for line in lines(root / "tests" / "requirements.txt")
        if line.startswith("torch==")
    ]
    # a build with NVIDIA's packages has no such name: pip would stop
    assert own == f"{tested}+cpu"
    index = "--extra-index-url https://download.pytorch.org/whl/cpu"
    assert index in lines(binder / "requirements.txt")


@pytest.mark.bug(id="B27")
def test_its_python_is_the_one_that_is_tested(binder, root):
    whole = (binder / "runtime.txt").read_text("utf-8")
    version = re.fullmatch(r"python-(3\.(10|11|12))\n", whole)[1]
    text = (root / ".github/workflows/book.yml").read_text("utf-8")
    jobs = yaml.safe_load(text)["jobs"]
    tested = {
        step.get("with", {}).get("python-version")
        for step in jobs["test"]["steps"]
    }
    assert tested - {None} == {version}
    [image] = [s["run"] for s in jobs["binder"]["steps"] if "run" in s]
    assert f'= "Python {version}"' in image  # and the image is asked
    project = tomllib.loads((root / "pyproject.toml").read_text("utf-8"))
    assert version in SpecifierSet(project["project"]["requires-python"])


@pytest.mark.bug(id="B11")
def test_its_script_finds_the_fonts_before_the_reader(binder, tmp_path):
    path = os.path.dirname(sys.executable) + os.pathsep + os.environ["PATH"]
    cache = {"MPLCONFIGDIR": str(tmp_path), "PATH": path}
    done = subprocess.run(
        ["bash", binder / "postBuild"],
        env={**os.environ, **cache},
        capture_output=True,
        encoding="locale",
    )
    assert done.returncode == 0, done.stderr
    assert list(tmp_path.glob("fontlist-*.json"))
    again = subprocess.run(
        [sys.executable, "-c", "import matplotlib.font_manager"],
        env={**os.environ, **cache},
        capture_output=True,
        encoding="locale",
    )
    assert (again.returncode, again.stderr) == (0, "")


@pytest.mark.bug(id="B11")
def test_its_script_may_be_run(binder):
    assert os.access(binder / "postBuild", os.X_OK)
