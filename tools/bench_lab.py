"""The same figure, live in a real JupyterLab, driven by the keyboard.

The server has its own token, port and folders; nothing of the user's is read
or written, and it ends with the bench, whatever happens.
"""

import contextlib
import json
import os
import secrets
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

from bench_page import opened, pages_of, time_moves
from bench_table import Row, Unmeasured, at_least, spread

__all__ = ["lab_rows"]

MOVES = 40
RATIO_BAR = 20
START_SECONDS = 60
IDLE_SECONDS = 600
FOLDERS = (
    "JUPYTER_CONFIG_DIR",
    "JUPYTER_DATA_DIR",
    "JUPYTER_RUNTIME_DIR",
    "JUPYTERLAB_SETTINGS_DIR",
    "JUPYTERLAB_WORKSPACES_DIR",
    "IPYTHONDIR",
)

READY = """async () => {
  const panel = jupyterapp.shell.currentWidget;
  await panel.context.ready;
  await panel.sessionContext.ready;
  await panel.sessionContext.session.kernel.info;
}"""
RUN = "() => { jupyterapp.commands.execute('notebook:run-all-cells'); }"
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
        tab = context.new_page()
        tab.goto(address)
        tab.wait_for_function(
            "window.jupyterapp?.shell.currentWidget?.context"
        )
        tab.evaluate(READY)
        tab.evaluate(RUN)
        tab.wait_for_selector(PICTURE, timeout=60_000)
        tab.evaluate(WATCH)
        handles = tab.locator(".jp-OutputArea-output .noUi-handle")
        for move in range(MOVES):
            _press(tab, handles.nth(move % handles.count()))
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


def _press(tab, handle):
    """One step: up the slider, and back down once at its end."""
    now, top = (
        float(handle.get_attribute(f"aria-value{end}"))
        for end in ("now", "max")
    )
    handle.focus()
    tab.keyboard.press("ArrowLeft" if now >= top else "ArrowRight")


@contextlib.contextmanager
def _server(root, explorable):
    """A JupyterLab on a free port, over a notebook that shows the figure.

    Yields
    ------
    str
        The address of the notebook, with the token.
    """
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name:
        folder = Path(name)
        environment = _environment(folder, root)
        (folder / "work").mkdir()
        _write_notebook(folder / "work" / "bench.ipynb", explorable)
        token, port = secrets.token_hex(16), _free_port()
        command = [
            *(sys.executable, "-m", "jupyterlab", "--no-browser"),
            *("--allow-root", "--expose-app-in-browser"),
            f"--ServerApp.root_dir={folder / 'work'}",
            "--ServerApp.ip=127.0.0.1",
            f"--ServerApp.port={port}",
            "--ServerApp.port_retries=0",
            f"--IdentityProvider.token={token}",
            # even if the bench is killed outright, these end by themselves
            f"--MappingKernelManager.cull_idle_timeout={IDLE_SECONDS}",
            f"--MappingKernelManager.cull_interval={IDLE_SECONDS}",
            f"--ServerApp.shutdown_no_activity_timeout={IDLE_SECONDS}",
        ]
        with open(folder / "log", "w", encoding="utf-8") as log:
            process = subprocess.Popen(
                command,
                env=environment,
                cwd=folder / "work",
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        try:
            address = f"http://127.0.0.1:{port}"
            _wait(process, f"{address}/api/status?token={token}", folder)
            yield f"{address}/lab/tree/bench.ipynb?token={token}"
        finally:
            _end(process)


def _environment(folder, root):
    environment = {**os.environ, "PYTHONPATH": str(root)}
    for name in FOLDERS:
        (folder / name).mkdir()
        environment[name] = str(folder / name)
    # no question about news, no look for updates
    settings = folder / "JUPYTERLAB_SETTINGS_DIR" / "@jupyterlab"
    file = settings / "apputils-extension" / "notification.jupyterlab-settings"
    file.parent.mkdir(parents=True)
    file.write_text(
        json.dumps({"fetchNews": "false", "checkForUpdates": False})
    )
    return environment


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


def _free_port():
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        return server.getsockname()[1]


def _wait(process, status, folder):
    end = time.monotonic() + START_SECONDS
    while time.monotonic() < end and process.poll() is None:
        try:
            urllib.request.urlopen(status, timeout=2).close()
            return
        except OSError:
            time.sleep(0.2)
    words = (folder / "log").read_text("utf-8", "replace").strip()
    last = words.splitlines()[-1] if words else "it said nothing"
    raise Unmeasured(f"JupyterLab did not start: {last}")


def _end(process):
    """End the server, which ends its kernels; by force if it lingers."""
    process.terminate()
    try:
        process.wait(20)
    except subprocess.TimeoutExpired:
        if hasattr(os, "killpg"):
            os.killpg(process.pid, signal.SIGKILL)
        process.kill()
        process.wait()
