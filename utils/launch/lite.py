"""Sphinx extension: "Run in your browser", in the site's own JupyterLite.

A plain `jupyter-book build .` puts JupyterLite, the chapters and the book's
helpers into the site's folder `lite`, and a link to it under the title of
each chapter that can run there. When nothing that goes in has changed, what
stands there is left alone.

The folder is made by `lite_site.py`.
"""

import html
import json
import os
import re
from pathlib import Path

from sphinx.errors import ExtensionError

from utils.launch import pyodide
from utils.launch.lite_site import write_lite

__all__ = ["can_run", "link_html"]

HERE = Path(__file__).resolve().parent
FOLDER = "lite"
# a chapter that only asks whether PyTorch is there goes on without it
NEEDS_TORCH = re.compile(
    r"^(?:import|from) torch\b|\bTorchIsMissing\b", re.MULTILINE
)


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
        False for one that stops without PyTorch, which no browser has.
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
        f'href="{html.escape(address)}" title="{html.escape(words)}">'
        'Run in your browser</a> <span class="launch-lite-note">sliders live, '
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
