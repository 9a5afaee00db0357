"""The same figure, live in JupyterLite: Python itself in the browser.

Pyodide comes from a folder of the served site, so nobody else is asked; it is
fetched once, 106 MB, as for `make test-launch`.
"""

import subprocess
import tempfile
from pathlib import Path
from urllib.parse import unquote, urlsplit

import drive_lite
from bench_lab import HANDLES, MOVES, PICTURE, write_notebook
from bench_peers import Showing, on_page, peer_rows, time_presses
from bench_table import Unmeasured, gzipped
from pyodide_mirror import pyodide_folder

__all__ = ["lite_rows", "loaded_bytes"]

NOTEBOOK = "bench"


def lite_rows(browser, site, root, explorable):
    """Time and weigh the figure on our page, then in the site's JupyterLite.

    Raises
    ------
    Unmeasured
        If Pyodide cannot be fetched.
    """
    from utils.launch.lite import write_lite

    try:
        pyodide = pyodide_folder()
    except (OSError, subprocess.CalledProcessError) as error:
        raise Unmeasured("Pyodide could not be downloaded") from error
    ours = on_page(browser, site, explorable.name)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "site"
        notebook = Path(name) / f"{NOTEBOOK}.ipynb"
        write_notebook(notebook, explorable)
        write_lite(
            root, [notebook], str(pyodide), folder / "lite", Path(name) / "key"
        )
        with drive_lite.serving_files(folder) as server:
            peer = _in_lite(browser, server, folder)
    return peer_rows(explorable.name, ours, peer)


def loaded_bytes(asked, folder):
    """What a server gave, each file once.

    Parameters
    ----------
    asked : iterable of str
        Paths as a browser asks for them.
    folder : Path
        Whose files the server gives.

    Returns
    -------
    int
        Bytes gzipped.
    """
    paths = {unquote(urlsplit(path).path).lstrip("/") for path in asked}
    files = [folder / path for path in paths]
    return sum(gzipped(f.read_bytes()) for f in files if f.is_file())


def _in_lite(browser, server, folder):
    tab = drive_lite.open_chapter(browser, server.url, NOTEBOOK)
    try:
        drive_lite.run_all(tab)
        picture = tab.locator(PICTURE).first
        picture.wait_for()
        loaded = loaded_bytes(list(server.asked), folder)
        times = time_presses(tab, picture, tab.locator(HANDLES), MOVES)
    finally:
        tab.context.close()
    return Showing("JupyterLite", times, None, loaded)
