"""Sphinx extension: "Run in your browser", in the site's own JupyterLite.

A plain `jupyter-book build .` puts JupyterLite, the chapters and the book's
helpers into the site's folder `lite`, and a link to it under the title of
each chapter that can run there. When nothing that goes in has changed, what
stands there is left alone.

Not jupyterlite-sphinx: it embeds a frame where a directive stands, and would
build again on every run; here a link and one command are all there is.
"""

import hashlib
import html
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from importlib import metadata
from pathlib import Path

from sphinx.errors import ExtensionError

from utils.launch import pyodide, wheels

__all__ = ["can_run", "link_html", "write_lite"]

HERE = Path(__file__).resolve().parent
FOLDER = "lite"
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
NEEDS_TORCH = re.compile(r"^\s*(?:import|from) torch\b", re.MULTILINE)


def setup(app):
    """Register with Sphinx."""
    place = os.environ.get("BOOK_PYODIDE", "")
    app.add_config_value("lite_pyodide", place, "html", [str])
    app.connect("config-inited", prefer_environment)
    app.connect("builder-inited", add_style)
    # after the extensions that write the page's body
    app.connect("html-page-context", add_link, priority=600)
    app.connect("build-finished", build_lite)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def prefer_environment(app, config):
    """Let BOOK_PYODIDE, for one build, go before _config.yml."""
    config.lite_pyodide = os.environ.get("BOOK_PYODIDE") or config.lite_pyodide
    try:
        pyodide.place(config.lite_pyodide)
    except ValueError as error:
        raise ExtensionError(f"lite_pyodide: {error}") from error


def add_style(app):
    """Offer the link's style sheet."""
    if app.builder.format == "html":
        app.config.html_static_path.append(str(HERE / "lite.css"))
        app.add_css_file("lite.css")


def add_link(app, pagename, templatename, context, doctree):
    """Put the link under the title of a chapter."""
    if pagename not in app.env.found_docs:
        return
    path = Path(app.env.doc2path(pagename))
    if path.suffix != ".ipynb" or not context.get("body"):
        return
    link = link_html(
        f"{'../' * pagename.count('/')}{FOLDER}/notebooks/index.html"
        f"?path={path.name}",
        can_run(path),
        own=pyodide.place(app.config.lite_pyodide)[1] is not None,
    )
    context["body"] = context["body"].replace("</h1>", f"</h1>\n{link}", 1)


def can_run(path):
    """Whether all of a chapter can run in the browser.

    Returns
    -------
    bool
        False for one that imports PyTorch, which no browser can.
    """
    cells = json.loads(path.read_text("utf-8"))["cells"]
    return not any(
        NEEDS_TORCH.search("".join(cell["source"]))
        for cell in cells
        if cell["cell_type"] == "code"
    )


def link_html(address, runs, own=False):
    """The paragraph under a chapter's title.

    It is hidden until a script finds that the page was not opened from a
    file, where JupyterLite cannot start.

    Parameters
    ----------
    address : str
    runs : bool
        Whether the chapter can run there.
    own : bool
        Whether the site has a Pyodide of its own, so that nobody is asked.
    """
    if not runs:
        return (
            '<p class="launch-lite"><span class="launch-lite-note">This '
            "chapter runs PyTorch, which does not run in a browser: open it "
            "in Colab or on your own machine.</span></p>"
        )
    source = "this site" if own else "its public network, cdn.jsdelivr.net"
    words = (
        "Opens this chapter live in JupyterLite. Nothing to install, no "
        f"account. Python (about 25 MB) comes from {source}."
    )
    return (
        '<p class="launch-lite" hidden><a class="launch-lite-link" '
        f'href="{html.escape(address)}" title="{html.escape(words)}">Run in '
        'your browser</a> <span class="launch-lite-note">sliders live, '
        "nothing to install; ready in about half a minute</span></p>"
        '<p class="launch-lite" hidden><span class="launch-lite-note">To run '
        "this chapter in your browser, open the book over the web or with "
        "<code>make serve</code>: it cannot run from a file.</span></p>"
        "<script>document.querySelectorAll('.launch-lite')"
        "[+(location.protocol === 'file:')].hidden = false;</script>"
    )


def build_lite(app, error):
    """Build JupyterLite into the site, if anything in it is new."""
    if error or app.builder.format != "html":
        return
    root = Path(app.srcdir).resolve()
    pages = [Path(app.env.doc2path(name)) for name in app.env.found_docs]
    try:
        write_lite(
            root,
            [page for page in pages if page.parent == root / "book"],
            app.config.lite_pyodide,
            Path(app.outdir) / FOLDER,
            Path(app.outdir).parent / "lite.key",
        )
    except (OSError, ValueError) as problem:
        raise ExtensionError(f"JupyterLite: {problem}") from problem


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
        if done and stamp.is_file() and stamp.read_text("ascii") == key:
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
