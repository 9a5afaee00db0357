"""Sphinx extension: puts the moving figure where a notebook shows one.

A plain `jupyter-book build .` finds each explorable in the stored outputs
of the notebooks (and in `{explorable}` directives of Markdown pages), draws
all their states, writes one flipbook script for each, and puts picture,
controls and sentence into the page.
"""

import hashlib
import importlib
import re
import shutil
from pathlib import Path

from docutils import nodes
from docutils.parsers.rst import Directive
from sphinx.errors import ExtensionError
from sphinx.util import logging
from sphinx.util.display import status_iterator

from utils.explore import frames, palette
from utils.explore.explorable import find
from utils.explore.markup import figure_html

log = logging.getLogger(__name__)

HERE = Path(__file__).resolve().parent
FOLDER = "_static/explorables"
STORED = re.compile(
    r'<figure data-explorable="([a-z0-9-]+)" data-module="([A-Za-z0-9_.]+)"'
)


class explorable_node(nodes.General, nodes.Element):
    """The place of an explorable in a page."""


class ExplorableDirective(Directive):
    """`{explorable} softmax-temperature utils.figures.softmax`."""

    required_arguments = 2

    def run(self):
        """Mark the place; what stands there is drawn later."""
        name, module = self.arguments
        return [explorable_node(name=name, module=module)]


def setup(app):
    """Register with Sphinx."""
    app.add_node(
        explorable_node,
        html=(visit_html, lambda self, node: None),
        **{
            builder: (visit_text, lambda self, node: None)
            for builder in ("text", "latex", "man", "texinfo")
        },
    )
    app.add_directive("explorable", ExplorableDirective)
    # Sphinx copies no style sheet if no page is to be written: so they are
    app.add_config_value("assets_of_the_book", assets_digest(), "html")
    app.connect("builder-inited", prepare_assets)
    app.connect("env-get-outdated", find_outdated)
    app.connect("env-purge-doc", forget_page)
    app.connect("env-merge-info", merge_pages)
    app.connect("doctree-read", find_explorables)
    app.connect("env-updated", draw_explorables)
    app.connect("build-finished", write_flipbooks)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def cache_folder(app):
    """Where what was drawn is kept between builds."""
    return Path(app.outdir).parent / "explorables"


def assets_digest():
    """A hash of all scripts and style sheets of ours."""
    digest = hashlib.sha256(palette.css().encode("utf-8"))
    for path in sorted(HERE.parent.rglob("*.[cj]s*")):
        if path.suffix in (".css", ".js"):
            digest.update(path.read_bytes())
    return digest.hexdigest()


def prepare_assets(app):
    """Offer the script and, with the palette in it, the style sheet."""
    if app.builder.format != "html":
        return
    assets = cache_folder(app) / "assets"
    assets.mkdir(parents=True, exist_ok=True)
    style = (HERE / "explore.css").read_text("utf-8")
    (assets / "explore.css").write_text(palette.css() + "\n" + style, "utf-8")
    for name in ("explore.js", "projector.js", "projector.css"):
        shutil.copy(HERE / name, assets / name)
    app.config.html_static_path.append(str(assets))
    for name in ("explore.css", "projector.css"):
        app.add_css_file(name)
    for name in ("explore.js", "projector.js"):
        app.add_js_file(name, loading_method="defer")


def find_explorables(app, doctree):
    """Replace each stored figure by the place of its moving one."""
    for raw in list(doctree.findall(nodes.raw)):
        match = STORED.search(raw.astext())
        if match:
            name, module = match.groups()
            raw.replace_self(explorable_node(name=name, module=module))
    page = {}
    for node in doctree.findall(explorable_node):
        explorable = _load(node["name"], node["module"])
        if node["name"] in page:
            raise ExtensionError(
                f"{app.env.docname} shows explorable {node['name']!r} twice"
            )
        page[explorable.name] = (explorable.module, frames.key(explorable))
    if page:
        _pages(app.env)[app.env.docname] = page


def find_outdated(app, env, added, changed, removed):
    """Pages whose pictures would come out otherwise now."""
    return [
        docname
        for docname, page in _pages(env).items()
        if docname in env.found_docs
        and any(_changed(name, *entry) for name, entry in page.items())
    ]


def _changed(name, module, key):
    """Whether a figure that a page showed would be another now, or none."""
    try:
        return frames.key(_load(name, module)) != key
    except ExtensionError:
        return True  # reading the page again will say what is wrong, if it is


def forget_page(app, env, docname):
    """A page is about to be read again."""
    _pages(env).pop(docname, None)


def merge_pages(app, env, docnames, other):
    """Bring together what parallel readers found."""
    for docname in docnames:
        if docname in _pages(other):
            _pages(env)[docname] = _pages(other)[docname]


def draw_explorables(app, env):
    """Draw what the pages show, before any of them is written."""
    wanted = {
        name: module
        for page in _pages(env).values()
        for name, (module, _) in page.items()
    }
    explorables = [_load(name, module) for name, module in wanted.items()]

    def progress(chunks, total):
        return status_iterator(
            chunks,
            "drawing the figures... ",
            "blue",
            total,
            app.verbosity,
            stringify_func=lambda chunk: "",
        )

    try:
        app.explorable_frames = frames.draw_all(
            explorables, cache_folder(app), progress
        )
    except ValueError as error:
        raise ExtensionError(str(error)) from error


def visit_html(self, node):
    """Write the figure into the page."""
    app = self.builder.app
    drawn = app.explorable_frames[node["name"]]
    depth = self.builder.current_docname.count("/")
    script = f"{'../' * depth}{FOLDER}/{node['name']}.js?v={drawn.key}"
    explorable = _load(node["name"], node["module"])
    self.body.append(figure_html(explorable, drawn, script))


def visit_text(self, node):
    """Where nothing can move, the sentence stands for the figure."""
    explorable = _load(node["name"], node["module"])
    self.add_text(explorable.sentence(**explorable.start()))
    raise nodes.SkipNode


def write_flipbooks(app, error):
    """Write the scripts beside the pages, and no others."""
    if error or app.builder.format != "html":
        return
    folder = Path(app.outdir) / FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob("*.js"):
        if old.stem not in app.explorable_frames:
            old.unlink()
    for name, drawn in app.explorable_frames.items():
        (folder / f"{name}.js").write_text(drawn.script, "utf-8")


def _pages(env):
    if not hasattr(env, "explorable_pages"):
        env.explorable_pages = {}
    return env.explorable_pages


def _load(name, module):
    try:
        importlib.import_module(module)
        return find(name)
    except (ImportError, ValueError) as error:
        raise ExtensionError(
            f"cannot show explorable {name!r} of {module}: {error}"
        ) from error
