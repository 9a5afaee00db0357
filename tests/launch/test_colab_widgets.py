"""The live figures with the widgets that Colab comes with.

Colab has ipywidgets 7.7.1, the book's list 8: the same tests for both.
"""

import os
import subprocess
import sys

import pytest

from tests.conftest import ROOT

# without their own dependencies, which are those of version 8 too
COLAB = ("ipywidgets==7.7.1", "ipython_genutils==0.2.0")


@pytest.mark.bug(id="B29")
def test_sliders_move_under_the_widgets_of_colab(tmp_path):
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps"]
    subprocess.run([*pip, "--target", tmp_path, *COLAB], check=True)
    paths = os.pathsep.join([str(tmp_path), str(ROOT)])
    tests = ["-m", "pytest", "-q", "-p", "no:cacheprovider"]
    # version 7 is older than the ipykernel that we pin, and is told so
    tests += ["-W", "ignore::DeprecationWarning", "tests/test_live.py"]
    asked = "import ipywidgets; print(ipywidgets.__version__)"
    for arguments, answer in ((["-c", asked], "7.7.1"), (tests, " passed")):
        done = subprocess.run(
            [sys.executable, *arguments],
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": paths},
            capture_output=True,
            encoding="locale",
        )
        assert done.returncode == 0, done.stdout + done.stderr
        assert answer in done.stdout
