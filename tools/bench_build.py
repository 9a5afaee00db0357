"""How long the book takes to build: from nothing, and with nothing new."""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from bench_table import Row, Unmeasured

__all__ = ["build_rows", "copy_sources"]

# what the command jupyter-book does, with this Python
COMMAND = "from jupyter_book.cli.main import main; main()"
LIMIT = 1800  # seconds for one build; a free machine needs a tenth
OPTIONS = ("build", ".", "-W", "-n", "--keep-going")


def build_rows(root):
    """Build a copy of the book as `make book` does, twice.

    Parameters
    ----------
    root : Path
        The repository.
    """
    with tempfile.TemporaryDirectory() as name:
        copy = Path(name) / "book"
        copy_sources(root, copy)
        cold, warm = _build(copy), _build(copy)
    return [
        Row(
            f"build of the book, {what}",
            f"{seconds:.0f} s",
            facts={"build": what, "seconds": round(seconds, 1)},
        )
        for what, seconds in (
            ("from nothing, every frame drawn", cold),
            ("nothing changed", warm),
        )
    ]


def copy_sources(root, copy):
    """Copy what git keeps, and what is new and not ignored.

    Raises
    ------
    Unmeasured
        If git cannot say what that is.
    """
    command = ["git", "ls-files", "-z", "-co", "--exclude-standard"]
    try:
        listed = subprocess.run(
            command, cwd=root, capture_output=True, encoding="utf-8"
        )
    except OSError as error:
        raise Unmeasured(f"git: {error}") from None
    if listed.returncode:
        raise Unmeasured(f"git: {listed.stderr.strip()}")
    for path in filter(None, listed.stdout.split("\0")):
        if (root / path).is_file():  # not one that is deleted
            target = copy / path
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(root / path, target)


def _build(copy):
    environment = {**os.environ, "PYTHONPATH": str(copy)}
    log = copy.with_name("log")
    start = time.perf_counter()
    with open(log, "w", encoding="utf-8") as said:
        process = subprocess.Popen(
            [sys.executable, "-c", COMMAND, *OPTIONS],
            cwd=copy,
            env=environment,
            stdout=said,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            code = process.wait(LIMIT)
        except subprocess.TimeoutExpired:
            raise Unmeasured(f"a build took more than {LIMIT} s") from None
        finally:
            _end(process)
    seconds = time.perf_counter() - start
    if code:
        last = log.read_text("utf-8", "replace").strip().splitlines()[-1:]
        raise Unmeasured(f"the build fails: {''.join(last).strip()}")
    return seconds


def _end(process):
    """End a build that still runs, with those who draw for it."""
    if process.poll() is None:
        if hasattr(os, "killpg"):
            os.killpg(process.pid, signal.SIGKILL)
        process.kill()
        process.wait()
