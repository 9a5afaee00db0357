"""The same figure, live in a real JupyterLab, driven by the keyboard."""

import contextlib
import json
import tempfile
from pathlib import Path

from bench_page import opened, pages_of, time_moves
from bench_table import Row, Unmeasured, at_least, spread
from drive_lab import NotStarted, lab_server, open_notebook, press, run

__all__ = ["lab_rows"]

MOVES = 40
RATIO_BAR = 20
PICTURE = ".jp-OutputArea-output .widget-html-content svg"

# A move runs from the key to the new picture, laid out.
WATCH = """() => {
  const picture = document.querySelector(".widget-html-content:has(svg)");
  const bench = (window.bench = { times: [], seen: [] });
  document.addEventListener("keydown", () => {
    bench.start = performance.now();
  }, true);
  new MutationObserver(() => {
    const svg = picture.querySelector("svg");
    if (!svg || bench.start === undefined) return;
    svg.getBBox();
    picture.getBoundingClientRect();
    bench.times.push(performance.now() - bench.start);
    bench.seen.push(picture.innerHTML);
    bench.start = undefined;
  }).observe(picture, { childList: true, subtree: true });
}"""


def lab_rows(browser, site, root, explorable):
    """Time a figure on the page and in JupyterLab, one after the other.

    Parameters
    ----------
    browser : playwright Browser
    site : Path
    root : Path
        The repository: the notebook imports `utils` from it.
    explorable : Explorable
    """
    page = _moves_on_page(browser, site, explorable.name)
    with _server(root, explorable) as address:
        live = _moves_in_lab(browser, address)
    (median, p95), (live_median, live_p95) = spread(page), spread(live)
    ratios = live_median / median, live_p95 / p95
    return [
        Row(
            f"{explorable.name}, page against JupyterLab",
            f"{median:.2f} ms, {p95:.2f} ms",
            f"{RATIO_BAR} times faster",
            f"live: {live_median:.0f} ms, {live_p95:.0f} ms",
            f"{ratios[0]:.0f} (median), {ratios[1]:.0f} (p95)",
            at_least(min(ratios), RATIO_BAR),
        )
    ]


def _moves_on_page(browser, site, name):
    for page in pages_of(site):
        with opened(browser, page) as (tab, names, _):
            if name in names:
                return time_moves(tab, name)
    raise Unmeasured(f"no page shows {name}")


def _moves_in_lab(browser, address):
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    try:
        tab = open_notebook(context, address)
        wrong = run(tab)
        if wrong:
            raise Unmeasured(f"in JupyterLab: {wrong}")
        tab.wait_for_selector(PICTURE, timeout=60_000)
        tab.evaluate(WATCH)
        handles = tab.locator(".jp-OutputArea-output .noUi-handle")
        for move in range(MOVES):
            press(tab, handles.nth(move % handles.count()))
            tab.wait_for_function(
                "count => bench.times.length > count", arg=move
            )
            tab.wait_for_timeout(150)  # until the kernel is at rest again
        times, seen = tab.evaluate("[bench.times, bench.seen]")
    finally:
        context.close()
    if any(one == other for one, other in zip(seen, seen[1:], strict=False)):
        raise Unmeasured("a move in JupyterLab did not change the picture")
    return times


@contextlib.contextmanager
def _server(root, explorable):
    """A JupyterLab on a free port, over a notebook that shows the figure.

    Yields
    ------
    str
        The address of the notebook, with the token.
    """
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name:
        work = Path(name)
        _write_notebook(work / "bench.ipynb", explorable)
        try:
            with lab_server(root, work) as lab:
                yield lab.address("bench.ipynb")
        except NotStarted as error:
            raise Unmeasured(str(error)) from error


def _write_notebook(path, explorable):
    source = (
        f"import {explorable.module}\n"
        "from utils.explore import find\n"
        f"find({explorable.name!r})"
    )
    cell = {
        "cell_type": "code",
        "id": "figure",
        "metadata": {},
        "source": source,
        "execution_count": None,
        "outputs": [],
    }
    kernel = {"name": "python3", "display_name": "Python 3"}
    notebook = {
        "nbformat": 4,
        "nbformat_minor": 5,
        "metadata": {"kernelspec": kernel},
        "cells": [cell],
    }
    path.write_text(json.dumps(notebook), "utf-8")
