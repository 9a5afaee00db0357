"""Measure the book against its budgets and print one table.

    make bench                                   # all of it
    python tools/bench.py --only page,bytes      # parts of it

The parts: page (slider move to picture, requests), bytes (explorables and
pages), lab (against a live JupyterLab), panel (against Panel's embedded
states), frames, nbval. The site must have been built (`make book`). Exit
code 1 if something could not be measured; a budget that does not hold is
said in the table.
"""

import argparse
import contextlib
import datetime
import importlib.metadata
import os
import platform
import signal
import sys
import time
from pathlib import Path

import bench_lab
import bench_page
import bench_panel
import bench_work
from bench_table import Row, Unmeasured, render
from processor import processor

__all__ = ["header", "measure", "parts_of"]

PARTS = ("page", "lab", "bytes", "panel", "frames", "nbval")
ROOT = Path(__file__).resolve().parent.parent
SITE = ROOT / "_build" / "html"
PEERS_SHOW = "softmax-temperature"  # the figure that the peers show too
VERSIONS = ("numpy", "matplotlib", "ipywidgets", "jupyterlab", "panel")


def parts_of(text):
    """The parts that `--only` names, in the order of the table.

    >>> parts_of("bytes,page")
    ('page', 'bytes')
    """
    asked = [part.strip() for part in text.split(",") if part.strip()]
    unknown = sorted(set(asked) - set(PARTS))
    if unknown or not asked:
        raise argparse.ArgumentTypeError(
            f"got {text!r}; the parts are {', '.join(PARTS)}"
        )
    return tuple(part for part in PARTS if part in asked)


def measure(parts, measures):
    """Measure each part; one that fails leaves a row that says why.

    Parameters
    ----------
    parts : sequence of str
    measures : dict of str to callable
        Each returns the rows of its part.

    Returns
    -------
    rows : list of Row
    whole : bool
        Whether every part was measured.
    """
    rows, whole = [], True
    for part in parts:
        _say(f"{part} ...")
        start = time.perf_counter()
        try:
            rows += measures[part]()
        except Exception as error:
            whole = False
            rows.append(Row(part, holds=f"not measured: {_reason(error)}"))
        _say(f"{part}: {time.perf_counter() - start:.0f} s")
    return rows, whole


def header(browser):
    """Say on what and when this is measured, a line each."""
    date = datetime.datetime.now(datetime.UTC)
    versions = ", ".join(filter(None, map(_version, VERSIONS)))
    lines = [
        f"Bench of {date:%Y-%m-%d %H:%M} UTC",
        f"{processor()}, {os.cpu_count()} cores, {platform.system()}",
        f"Python {platform.python_version()}, {versions}",
    ]
    if browser:
        step = bench_page.clock_step(browser)
        lines.append(
            f"Chromium {browser.version}, headless, its clock in steps of "
            f"{step:.2g} ms"
        )
    if hasattr(os, "getloadavg"):
        lines.append(
            f"Load when begun: {os.getloadavg()[0]:.1f} (others at work make "
            "times longer)"
        )
    return "\n".join(lines)


@contextlib.contextmanager
def _opened_browser(wanted):
    """The browser of this machine, or None if no part wants it."""
    if not wanted:
        yield None
        return
    from playwright.sync_api import sync_playwright

    from find_browser import browser_path

    path = browser_path()
    if path is None:
        sys.exit("No browser: python tools/find_browser.py --install")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path)
        try:
            yield browser
        finally:
            browser.close()


def _peers_figure():
    try:
        return bench_work.explorables()[PEERS_SHOW]
    except KeyError:
        raise Unmeasured(f"no explorable is named {PEERS_SHOW}") from None


def _measures(browser):
    return {
        "page": lambda: bench_page.move_rows(browser, SITE),
        "lab": lambda: bench_lab.lab_rows(
            browser, SITE, ROOT, _peers_figure()
        ),
        "bytes": lambda: bench_page.bytes_rows(browser, SITE),
        "panel": lambda: bench_panel.panel_rows(SITE, _peers_figure()),
        "frames": bench_work.frames_rows,
        "nbval": lambda: bench_work.nbval_rows(ROOT),
    }


def _version(package):
    try:
        return f"{package} {importlib.metadata.version(package)}"
    except importlib.metadata.PackageNotFoundError:
        return None


def _reason(error):
    """An error in one line, without what would break the table."""
    words = str(error).strip().splitlines() or [""]
    kind = type(error).__name__
    said = words[0] if isinstance(error, Unmeasured) else f"{kind}: {words[0]}"
    return said.replace("|", "/")


def _say(words):
    print(f"bench: {words}", file=sys.stderr, flush=True)


def main():
    """Measure and print; exit 1 if a part could not be measured."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument(
        "--only",
        type=parts_of,
        default=PARTS,
        metavar="PARTS",
        help=f"some of {','.join(PARTS)}",
    )
    parts = parser.parse_args().only
    for end in (signal.SIGINT, signal.SIGTERM):
        # an end from outside still ends the server and the browser
        signal.signal(end, lambda *_: sys.exit(1))
    with _opened_browser({"page", "lab", "bytes"} & set(parts)) as browser:
        words = header(browser)
        rows, whole = measure(parts, _measures(browser))
    print(f"{words}\n\n{render(rows)}")
    sys.exit(0 if whole else 1)


if __name__ == "__main__":
    main()
