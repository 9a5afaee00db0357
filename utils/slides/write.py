"""Sphinx extension: writes the slides of every chapter beside the book.

nbconvert makes reveal.js slides of a notebook whose cells say which slide
they are on; `deck.py` says it for them. The figures on the slides are those
of the pages, played from the same flipbooks.
"""

import hashlib
import importlib.util
import os
import re
import shutil
from html import escape
from pathlib import Path

from docutils import nodes
from docutils.parsers.rst import Directive

from utils.explore import palette
from utils.explore.explorable import find
from utils.explore.markup import figure_html
from utils.slides.deck import slides

HERE = Path(__file__).resolve().parent
STORED = re.compile(r'<figure data-explorable="([a-z0-9-]+)"')
LINK = re.compile(r"\]\((?P<page>[\w-]+)\.(?:ipynb|md)(?P<place>#[^)]*)?\)")
REVEAL = ("reveal.css", "reveal.js")


class SlidesDirective(Directive):
    """`{slides}`: a list of links to the slides of every chapter."""

    def run(self):
        """Name each by its chapter's title."""
        env = self.state.document.settings.env
        up = "../" * env.docname.count("/")
        rows = []
        for path in chapters(env):
            env.note_dependency(str(path))
            notebook = _read(path)
            title = escape(slides(notebook)[0].title)
            link = f"{up}slides/{path.stem}.html"
            rows.append(f'<li><a href="{link}">{title}</a></li>')
        return [nodes.raw("", f"<ul>{''.join(rows)}</ul>", format="html")]


def setup(app):
    """Register with Sphinx."""
    app.add_directive("slides", SlidesDirective)
    # after the flipbooks are written
    app.connect("build-finished", write_slides, priority=900)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def chapters(env):
    """The notebooks of the book, in order."""
    paths = [Path(env.doc2path(name)) for name in env.found_docs]
    return sorted(path for path in paths if path.suffix == ".ipynb")


def write_slides(app, error):
    """Write `slides/<chapter>.html`, those whose chapter has changed."""
    if error or app.builder.name != "html":
        return
    folder = Path(app.outdir) / "slides"
    folder.mkdir(exist_ok=True)
    copy_assets(Path(app.outdir))
    found = chapters(app.env)
    for old in folder.glob("*.html"):
        if old.stem not in {path.stem for path in found}:
            old.unlink()
    for path in found:
        target = folder / f"{path.stem}.html"
        key = _key(path, app.explorable_frames)
        if target.exists() and key in target.read_text("utf-8")[:2000]:
            continue
        # whole or not at all: the key in its head must not vouch for a half
        unfinished = target.with_suffix(".part")
        unfinished.write_text(html(path, app.explorable_frames, key), "utf-8")
        os.replace(unfinished, target)


def copy_assets(site):
    """reveal.js, the script and the style sheet, into the site's folder."""
    target = site / "_static" / "slides"
    target.mkdir(parents=True, exist_ok=True)
    reveal = reveal_folder()
    for name in REVEAL:
        shutil.copy(reveal / "dist" / name, target / name)
    shutil.copy(reveal / "plugin/notes/notes.js", target / "notes.js")
    shutil.copy(reveal / "LICENSE", target / "LICENSE")
    shutil.copy(HERE / "slides.js", target / "slides.js")
    style = (HERE / "slides.css").read_text("utf-8")
    (target / "slides.css").write_text(colours() + style, "utf-8")


def reveal_folder():
    """Where the package that brings reveal.js keeps it.

    Only the files are used: the package itself stays out of the build.
    """
    package = importlib.util.find_spec("sphinx_revealjs").origin
    return Path(package).parent / "_static" / "revealjs"


def colours():
    """Ink and ground of a whole slide, in both themes."""
    rules = []
    for selector, column in ((":root", 0), ('html[data-theme="dark"]', 1)):
        lines = "".join(
            f"{palette.css_variable(role)}:{pair[column]};"
            for role, pair in palette.COLOURS.items()
        )
        rules.append(f"{selector}{{{lines}}}\n")
    return "".join(rules)


def html(path, frames, key=""):
    """The slides of a chapter as one HTML page.

    Parameters
    ----------
    path : Path
        The notebook.
    frames : dict of str to Frames
        What was drawn for each figure of the book.
    key : str, optional
        Written into the page's head: from what the page was made.

    Returns
    -------
    str
    """
    # not above: it changes Python's warning filters when it is imported
    from nbconvert.exporters import SlidesExporter

    notebook = _read(path)
    deck = slides(notebook)
    title = deck[0].title
    notebook.cells = [cell for slide in deck for cell in _cells(slide, frames)]
    for place, cell in enumerate(notebook.cells):
        cell.id = f"cell-{place}"  # not by chance: the same bytes each time
    notebook.metadata["title"] = title
    notebook.metadata["made_from"] = key
    notebook.metadata["chapter"] = path.stem
    exporter = SlidesExporter(
        template_name="template",
        extra_template_basedirs=[str(HERE)],
        exclude_input_prompt=True,
        exclude_output_prompt=True,
        exclude_anchor_links=True,
        reveal_url_prefix="../_static/slides",
    )
    body, _ = exporter.from_notebook_node(notebook)
    return body


def _cells(slide, frames):
    """The slide's cells, with the metadata that nbconvert understands."""
    mark = "#" if slide.begins == "slide" and not slide.section else "##"
    cells = [_markdown(f"{mark} {slide.title}", slide.begins)]
    if slide.section and slide.section != slide.title:
        kicker = f'<p class="section">{slide.section}</p>'
        cells[0].source = f"{kicker}\n\n{cells[0].source}"
    for cell in slide.cells:
        if isinstance(cell, str):
            cells.append(_markdown(cell, "-"))
        else:
            cells.append(_shown(cell, frames))
    if slide.notes:
        cells.append(_markdown("\n\n".join(slide.notes), "notes"))
    return cells


def _read(path):
    """The notebook; not above, since its schema's packages read files."""
    import nbformat

    return nbformat.read(path, as_version=4)


def _markdown(source, kind):
    from nbformat.v4 import new_markdown_cell

    source = LINK.sub(_to_book, source)
    return new_markdown_cell(
        source, metadata={"slideshow": {"slide_type": kind}}
    )


def _to_book(link):
    return f"](../book/{link['page']}.html{link['place'] or ''})"


def _shown(cell, frames):
    """A code cell; a figure's stored picture becomes the moving one."""
    kind = cell.metadata.get("slideshow", {}).get("slide_type", "-")
    cell.metadata["slideshow"] = {
        "slide_type": "fragment" if kind == "fragment" else "-"
    }
    for output in cell.outputs:
        stored = STORED.search(output.get("data", {}).get("text/html", ""))
        if stored:
            name = stored[1]
            drawn = frames[name]
            script = f"../_static/explorables/{name}.js?v={drawn.key}"
            figure = figure_html(find(name), drawn, script)
            output.data = {"text/html": figure}
            cell.metadata["figure"] = True
    return cell


def _key(path, frames):
    """A mark of all that goes into the slides of a chapter."""
    made = hashlib.sha256(path.read_bytes())
    for file in sorted(HERE.rglob("*")):
        if file.suffix in (".py", ".j2"):
            made.update(file.read_bytes())
    markup = importlib.util.find_spec("utils.explore.markup").origin
    made.update(Path(markup).read_bytes())
    text = path.read_text("utf-8")
    for name in sorted(set(re.findall(r"data-explorable=\\\"([\w-]+)", text))):
        made.update(frames[name].key.encode())
    return made.hexdigest()[:20]
