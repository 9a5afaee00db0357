"""Measure the book against its budgets and print one table.

    make bench                                   # all of it
    python tools/bench.py --only page,bytes      # parts of it
    python tools/bench.py --record               # all of it, for the README

The parts: page (slider move to picture, requests), bytes (explorables and
pages); the same figure against lab (a live JupyterLab), lite (JupyterLite),
panel (Panel's embedded states) and plotly (Plotly's frames); frames, build
(the whole book, from nothing and unchanged), nbval; mutation (as `make mutate`
recorded it: that takes too long for here). The site must have been
built (`make book`). Exit code 1 if something could not be measured; a budget
that does not hold is said in the table.
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

import bench_build
import bench_lab
import bench_lite
import bench_moves
import bench_page
import bench_panel
import bench_plotly
import bench_record
import bench_work
import mutation_record
from bench_table import Row, Unmeasured, render
from processor import processor

__all__ = ["conditions", "header", "measure", "parts_of"]

PARTS = (
    *("page", "bytes", "lab", "lite", "panel", "plotly"),
    *("frames", "build", "nbval", "mutation"),
)
NO_BROWSER = {"frames", "build", "nbval", "mutation"}
ROOT = Path(__file__).resolve().parent.parent
SITE = ROOT / "_build" / "html"
PEERS_SHOW = "softmax-temperature"  # the figure that the peers show too
VERSIONS = (
    *("numpy", "matplotlib", "ipywidgets", "jupyterlab"),
    *("jupyterlite-core", "panel", "plotly"),
)


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
    rows : dict of str to list of Row
        By part.
    whole : bool
        Whether every part was measured.
    """
    rows, whole = {}, True
    for part in parts:
        _say(f"{part} ...")
        start = time.perf_counter()
        try:
            rows[part] = measures[part]()
        except Exception as error:
            whole = False
            why = f"not measured: {_reason(error)}"
            rows[part] = [Row(part, holds=why)]
        _say(f"{part}: {time.perf_counter() - start:.0f} s")
    return rows, whole


def conditions(browser=None):
    """On what and when this is measured.

    Parameters
    ----------
    browser : playwright Browser, optional

    Returns
    -------
    dict
        As a record keeps it; `chromium`, its clock and `load` are None where
        there is none.
    """
    date = datetime.datetime.now(datetime.UTC)
    versions = {name: _version(name) for name in VERSIONS}
    has_load = hasattr(os, "getloadavg")
    return {
        "date": f"{date:%Y-%m-%d %H:%M} UTC",
        "processor": processor(),
        "cores": os.cpu_count(),
        "system": platform.system(),
        "python": platform.python_version(),
        "versions": {name: v for name, v in versions.items() if v},
        "chromium": browser and browser.version,
        "clock_ms": browser and round(bench_moves.clock_step(browser), 4),
        "load": round(os.getloadavg()[0], 1) if has_load else None,
    }


def header(found):
    """Say on what and when this is measured, a line each."""
    versions = [" ".join(pair) for pair in found["versions"].items()]
    lines = [
        f"Bench of {found['date']}",
        f"{found['processor']}, {found['cores']} cores, {found['system']}",
        f"Python {found['python']}, {', '.join(versions)}",
    ]
    if found["chromium"]:
        lines.append(
            f"Chromium {found['chromium']}, headless, its clock in steps of "
            f"{found['clock_ms']:.2g} ms"
        )
    if found["load"] is not None:
        lines.append(
            f"Load when begun: {found['load']} (others at work make times "
            "longer)"
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
    def beside(rows, *where):
        return lambda: rows(browser, SITE, *where, _peers_figure())

    return {
        "page": lambda: bench_moves.move_rows(browser, SITE),
        "bytes": lambda: bench_page.bytes_rows(browser, SITE),
        "lab": beside(bench_lab.lab_rows, ROOT),
        "lite": beside(bench_lite.lite_rows, ROOT),
        "panel": beside(bench_panel.panel_rows),
        "plotly": beside(bench_plotly.plotly_rows),
        "frames": bench_work.frames_rows,
        "build": lambda: bench_build.build_rows(ROOT),
        "nbval": lambda: bench_work.nbval_rows(ROOT),
        "mutation": mutation_record.mutation_rows,
    }


def _version(package):
    try:
        return importlib.metadata.version(package)
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
    parser.add_argument(
        "--record",
        action="store_true",
        help="keep what the README shows, and write it there",
    )
    parser.add_argument(
        "--readme",
        action="store_true",
        help="only write the README's table from the record",
    )
    options = parser.parse_args()
    parts = options.only
    if options.readme:
        bench_record.write_readme()
        return
    missing = sorted(set(bench_record.PARTS) - set(parts))
    if options.record and missing:
        parser.error(f"a record needs {', '.join(missing)} too")
    for end in (signal.SIGINT, signal.SIGTERM):
        # an end from outside still ends the server and the browser
        signal.signal(end, lambda *_: sys.exit(1))
    with _opened_browser(set(parts) - NO_BROWSER) as browser:
        found = conditions(browser)
        rows, whole = measure(parts, _measures(browser))
    every = [row for part in rows.values() for row in part]
    print(f"{header(found)}\n\n{render(every)}")
    if options.record:
        kept = {part: rows[part] for part in bench_record.PARTS}
        bench_record.store(kept, found, len(_peers_figure().states()))
        bench_record.write_readme()
    sys.exit(0 if whole else 1)


if __name__ == "__main__":
    main()
