"""What an author waits for: drawing every frame, running every notebook."""

import contextlib
import importlib
import os
import pkgutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from bench_table import Row, Unmeasured, at_most

__all__ = ["explorables", "frames_rows", "nbval_rows"]

CORES = 2
COLD_BAR = 180  # seconds
WARM_BAR = 5
NBVAL_BAR = 120


def explorables():
    """Every explorable of the book, by name."""
    from utils import figures
    from utils.explore import Explorable

    found = {}
    for module in pkgutil.walk_packages(figures.__path__, "utils.figures."):
        for item in vars(importlib.import_module(module.name)).values():
            if isinstance(item, Explorable):
                found[item.name] = item
    return found


def frames_rows():
    """Draw all frames with an empty cache, then with a full one."""
    from utils.explore.frames import draw_all

    items = list(explorables().values())
    states = sum(len(item.states()) for item in items)
    if not states:
        raise Unmeasured("no explorable in utils.figures")
    with tempfile.TemporaryDirectory() as folder, _few_cores() as cores:
        cache = Path(folder)
        cold = _seconds(lambda: draw_all(items, cache))
        warm = _seconds(lambda: draw_all(items, cache))
    what = f"{states} frames of {len(items)} explorables"
    return [
        _seconds_row(f"{what}, cold, {cores} cores", cold, COLD_BAR, states),
        _seconds_row(f"{what}, unchanged code", warm, WARM_BAR, states),
    ]


def nbval_rows(root):
    """Run every notebook and compare its outputs, as the tests do."""
    notebooks = sorted((root / "book").glob("*.ipynb"))
    if not notebooks:
        raise Unmeasured("book/ holds no notebook")
    sanitize = root / "tests" / "nbval_sanitize.cfg"
    command = [sys.executable, "-B", "-m", "pytest", "-q", "--nbval"]
    command += ["-p", "no:cacheprovider"]
    if sanitize.exists():
        command += ["--nbval-sanitize-with", str(sanitize)]
    command += map(str, notebooks)
    with tempfile.TemporaryDirectory() as profile:
        environment = {**os.environ, "IPYTHONDIR": profile}
        environment["PYTHONPATH"] = str(root)
        start = time.perf_counter()
        run = subprocess.run(
            command,
            cwd=root,
            env=environment,
            capture_output=True,
            encoding="locale",
        )
        seconds = time.perf_counter() - start
    last = (run.stdout + run.stderr).strip().splitlines()[-1:]
    if run.returncode:
        raise Unmeasured(f"nbval fails: {''.join(last)}")
    return [
        Row(
            f"nbval over {len(notebooks)} notebooks",
            f"{seconds:.1f} s",
            f"< {NBVAL_BAR} s",
            holds=at_most(seconds, NBVAL_BAR),
        )
    ]


@contextlib.contextmanager
def _few_cores():
    """Let this process and its children use two cores, where that can be.

    Yields
    ------
    int
        How many cores they use.
    """
    if not hasattr(os, "sched_setaffinity"):
        yield os.cpu_count()
        return
    before = os.sched_getaffinity(0)
    few = set(sorted(before)[:CORES])
    os.sched_setaffinity(0, few)
    try:
        yield len(few)
    finally:
        os.sched_setaffinity(0, before)


def _seconds(act):
    start = time.perf_counter()
    act()
    return time.perf_counter() - start


def _seconds_row(what, seconds, bar, states):
    return Row(
        what,
        f"{seconds:.2f} s, {1000 * seconds / states:.2f} ms a state",
        f"< {bar} s",
        holds=at_most(seconds, bar),
    )
