"""A class of two on a real JupyterHub, once as it should be, once open.

Needs the class's environment: `make test-launch` makes it.
"""

import os
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
PYTHON = Path(os.environ.get("CLASS_PYTHON", ROOT / ".venv-class/bin/python"))
IS_ROOT = os.geteuid() == 0


def hold(*options):
    assert PYTHON.exists(), f"no {PYTHON}: make test-launch makes it"
    return subprocess.run(
        [PYTHON, ROOT / "tools/simulate_class.py", "--students=2", *options],
        capture_output=True,
        encoding="locale",
        timeout=900,
        check=False,
    )


def left_over():
    """Processes of a class that still run."""
    found = []
    for place in Path("/proc").glob("[0-9]*"):
        try:
            words = (place / "environ").read_bytes().split(b"\0")
        except OSError:
            continue
        if any(w.startswith(b"CLASS_SETTINGS=") for w in words):
            found.append(place.name)
    return found


def test_a_class_of_two_runs_the_book():
    before = left_over()
    done = hold()
    assert done.returncode == 0, done.stdout + done.stderr
    assert "time to first figure: median" in done.stdout
    assert "peak memory per student: median" in done.stdout
    said = "nobody saw another's files" if IS_ROOT else "not isolated"
    assert said in done.stdout
    assert left_over() == before


@pytest.mark.skipif(not IS_ROOT, reason="only root can keep users apart")
def test_an_open_home_is_noticed():
    done = hold("--home-mode=755")
    assert done.returncode == 1, done.stdout + done.stderr
    assert "FILES WERE SEEN" in done.stdout
    for way in ("kernel: read", "kernel: list", "own server: link"):
        assert f"'s file ({way})" in done.stdout
    assert "(cookie" not in done.stdout
    assert "(token" not in done.stdout
