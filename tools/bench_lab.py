"""The same figure, live in a real JupyterLab, driven by the keyboard."""

import contextlib
import json
import tempfile
from pathlib import Path

from bench_peers import Showing, on_page, peer_rows, time_presses, weigh
from bench_table import Unmeasured
from drive_lab import NotStarted, lab_server, open_notebook, run

__all__ = ["HANDLES", "MOVES", "PICTURE", "lab_rows", "write_notebook"]

MOVES = 40
RATIO_BAR = 20
PICTURE = ".jp-OutputArea-output .widget-html-content svg"
HANDLES = ".jp-OutputArea-output .noUi-handle"


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
    ours = on_page(browser, site, explorable.name)
    with _server(root, explorable) as address:
        live = _in_lab(browser, address)
    return peer_rows(explorable.name, ours, live, move_bar=RATIO_BAR)


def _in_lab(browser, address):
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    try:
        asked = []
        context.on("request", lambda request: _note(asked, request))
        tab = open_notebook(context, address)
        wrong = run(tab)
        if wrong:
            raise Unmeasured(f"in JupyterLab: {wrong}")
        picture = tab.locator(PICTURE).first
        picture.wait_for(timeout=60_000)
        loaded = weigh(context, asked)
        times = time_presses(tab, picture, tab.locator(HANDLES), MOVES)
    finally:
        context.close()
    return Showing("JupyterLab, live ipywidgets", times, None, loaded)


def _note(asked, request):
    """What is stored: pages, scripts, styles; not what is said by API."""
    if request.method == "GET" and request.url.startswith("http"):
        asked.append(request.url)


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
        write_notebook(work / "bench.ipynb", explorable)
        try:
            with lab_server(root, work) as lab:
                yield lab.address("bench.ipynb")
        except NotStarted as error:
            raise Unmeasured(str(error)) from error


def write_notebook(path, explorable):
    """Write a notebook that shows the figure and nothing else."""
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
