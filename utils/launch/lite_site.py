"""JupyterLite for this book: chapters, helpers and extensions in one folder.

Not jupyterlite-sphinx: it embeds a frame where a directive stands, and would
build again on every run; here one command is all there is.
"""

import hashlib
import json
import shutil
import subprocess
import sys
import tempfile
from importlib import metadata
from pathlib import Path

from utils.launch import pyodide, wheels

__all__ = ["write_lite"]

PLUGIN = "@jupyterlite/pyodide-kernel-extension:kernel"
# comm is wanted before the kernel starts; the rest is what ipywidgets asks
# for and Pyodide's distribution lacks
EXTRA = ("comm", "ipywidgets", "jupyterlab_widgets", "widgetsnbextension")
EXTENSIONS = {
    "jupyterlab_widgets": "@jupyter-widgets/jupyterlab-manager",
    "jupyterlite-pyodide-kernel": "@jupyterlite/pyodide-kernel-extension",
}
KERNEL = {
    "display_name": "Python (Pyodide)",
    "language": "python",
    "name": "python",
}
# of each font, the kind that today's browsers take stays
OLD_FONTS = (".svg", ".eot", ".ttf", ".woff")
FIRST = {
    "cell_type": "code",
    "execution_count": None,
    "id": "first",
    "metadata": {},
    "outputs": [],
    "source": f"%pip install -q {wheels.NAME}",
}


def write_lite(root, pages, setting, target, stamp):
    """Write JupyterLite into a folder, unless it is there already.

    Parameters
    ----------
    root : Path
        Of the repository.
    pages : list of Path
        The notebooks and texts to open in it.
    setting : str
        Where Pyodide comes from.
    target, stamp : Path
        The folder, and the file that keeps a hash of what went in.

    Returns
    -------
    bool
        Whether it was written.

    Raises
    ------
    ValueError
        If the setting, or an installed package, is not what is needed.
    """
    with tempfile.TemporaryDirectory(prefix="lite-") as name:
        stage = Path(name)
        _fill(stage, root, pages, setting)
        key = _key(stage)
        done = (target / "notebooks" / "index.html").is_file()
        if done and stamp.is_file() and stamp.read_bytes() == key.encode():
            return False
        stamp.unlink(missing_ok=True)
        _run(stage)
        for file in (stage / "_output" / "build").glob("fa-*"):
            if file.suffix in OLD_FONTS:
                file.unlink()
        shutil.rmtree(target, ignore_errors=True)
        shutil.move(stage / "_output", target)
        stamp.write_text(key, "ascii")
    return True


def _fill(stage, root, pages, setting):
    """Lay out what JupyterLite is to be built from."""
    files, packages = stage / "files", stage / "pypi"
    files.mkdir()
    packages.mkdir()
    for page in sorted(pages):
        _copy(page, files / page.name)
    shutil.copytree(root / "book" / "data", files / "data")
    wheels.pack_book(root, packages)
    for name in EXTRA:
        wheels.pack_installed(name, packages)
    url, folder = pyodide.place(setting)
    if folder:
        pyodide.copy_needed(folder, stage / "static" / "pyodide")
    _write(stage / "jupyter-lite.json", _page_settings(url))
    _write(stage / "jupyter_lite_config.json", _build_settings())


def _copy(path, target):
    """Copy a page; a notebook gets its kernel and a first cell of its own.

    The stored first cell is Colab's: here the helpers come from the site.
    """
    if path.suffix == ".ipynb":
        notebook = json.loads(path.read_text("utf-8"))
        notebook["metadata"]["kernelspec"] = KERNEL
        cells = notebook["cells"]
        cells[:] = [cell for cell in cells if cell.get("id") != FIRST["id"]]
        place = [cell["cell_type"] for cell in cells].index("code")
        cells.insert(place, FIRST)
        _write(target, notebook)
        shutil.copystat(path, target)
    else:
        shutil.copy2(path, target)


def _page_settings(url):
    settings = {"litePluginSettings": {PLUGIN: {}}}
    if url:
        settings["litePluginSettings"][PLUGIN]["pyodideUrl"] = url
    return {
        "jupyter-lite-schema-version": 0,
        "jupyter-config-data": {
            "appName": "Self-Attention in Motion",
            # asks nobody for news
            "disabledExtensions": [
                "@jupyterlab/apputils-extension:announcements"
            ],
            **settings,
        },
    }


def _build_settings():
    """One application, only its files, only the extensions it uses."""
    return {
        "LiteBuildConfig": {
            "apps": ["notebooks"],
            "no_sourcemaps": True,
            "no_unused_shared_packages": True,
            "ignore_sys_prefix": ["federated_extensions"],
            "federated_extensions": [
                str(_extension(*pair)) for pair in EXTENSIONS.items()
            ],
        }
    }


def _extension(package, name):
    """The folder that a package has put into share/jupyter/labextensions."""
    try:
        found = metadata.distribution(package)
    except metadata.PackageNotFoundError:
        raise ValueError(
            f"{package!r} is not installed: pip install -r requirements.txt"
        ) from None
    end = f"labextensions/{name}/package.json"
    for path in found.files or ():
        if path.as_posix().endswith(end):
            return Path(found.locate_file(path)).resolve().parent
    raise ValueError(f"{package!r} holds no {end}")


def _key(stage):
    """A hash of all that goes in, and of the program that builds."""
    digest = hashlib.sha256()
    for name in ("jupyterlite-core", "jupyterlite-pyodide-kernel"):
        digest.update(metadata.version(name).encode())
    digest.update(Path(__file__).read_bytes())
    for path in sorted(stage.rglob("*")):
        if path.is_file():
            digest.update(f"{path.relative_to(stage)}\0".encode())
            digest.update(path.read_bytes())
    return digest.hexdigest()


def _run(stage):
    """Run JupyterLite's own build; say what it said only if it failed."""
    done = subprocess.run(
        [sys.executable, "-m", "jupyterlite_core", "build"],
        cwd=stage,
        capture_output=True,
        encoding="utf-8",
        errors="replace",
    )
    if done.returncode:
        raise ValueError(
            f"jupyter lite build failed:\n{done.stdout}\n{done.stderr}"
        )


def _write(path, content):
    text = json.dumps(content, ensure_ascii=False, indent=1, sort_keys=False)
    path.write_text(text + "\n", "utf-8")
