"""Sphinx extension: leaves out of each page what it does not use.

jupyter-book always loads Thebe, which would ask another host for a kernel's
client; this book's figures need no kernel. The theme ships all of Font
Awesome twice (as a script of half a megabyte, compressed, and as a font) for
the dozen icons that a page shows. And Sphinx gives the root page MathJax
because other pages have mathematics.
"""

import re
from pathlib import Path

STYLE = Path(__file__).resolve().parent / "lean.css"
ICON = re.compile(
    r'(?:"(?P<quoted>[\w-]+)"|(?P<plain>[\w$]+))'
    r':\[\d+,\d+,\[(?P<aliases>[^\]]*)\],"[0-9a-f]*",'
    r'(?:"[^"]*"|\[[^\]]*\])\],?'
)
USED = re.compile(r"\bfa-([a-z0-9-]+)")


def setup(app):
    """Register with Sphinx."""
    app.connect("config-inited", leave_out_thebe)
    app.connect("config-inited", load_mathjax_in_parts)
    app.connect("builder-inited", add_style)
    # after the extensions that add to a page
    app.connect("html-page-context", leave_out_unused_files, priority=900)
    app.connect("build-finished", keep_used_icons)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def leave_out_thebe(app, config):
    """Disconnect what the Thebe extension connected."""
    for listeners in list(app.events.listeners.values()):
        for listener in list(listeners):
            if listener.handler.__module__ == "sphinx_thebe":
                app.disconnect(listener.id)


def load_mathjax_in_parts(app, config):
    """Start MathJax from its small loader: _config.yml names the parts.

    The extension that brings MathJax asks for all of it in one file, two
    fifths of which is a context menu.
    """
    config.mathjax_path = "mathjax/startup.js"


def add_style(app):
    """Keep the browser from asking for the font that the script spares."""
    if app.builder.format == "html":
        app.config.html_static_path.append(str(STYLE))
        app.add_css_file(STYLE.name)


def leave_out_unused_files(app, pagename, templatename, context, doctree):
    """Drop Thebe's style sheet, and MathJax where nothing is to be set."""

    def without(files, word):
        return [f for f in files if word not in str(getattr(f, "filename", f))]

    context["css_files"] = without(context["css_files"], "thebe")
    if 'class="math' not in context.get("body", ""):
        context["script_files"] = without(context["script_files"], "mathjax/")


def keep_used_icons(app, error):
    """Cut the icon script down to the icons that some page names."""
    if error or app.builder.format != "html":
        return
    out = Path(app.outdir)
    script = out / "_static" / "scripts" / "fontawesome.js"
    if not script.exists():
        return
    used = set()
    users = [*out.rglob("*.html"), *(out / "_static").rglob("*.js")]
    for file in users:
        if file != script:
            used.update(USED.findall(file.read_text("utf-8", "replace")))
    text = script.read_text("utf-8")
    script.write_text(only_icons(text, used), "utf-8")


def only_icons(script, used):
    """The icon script without the icons whose names are not in `used`.

    >>> only_icons(
    ...     '{bars:[1,2,["menu"],"f0","M0"],ant:[1,2,[],"f1","M1"]}', {"menu"}
    ... )
    '{bars:[1,2,["menu"],"f0","M0"],}'
    """

    def kept(match):
        names = {match["quoted"] or match["plain"]}
        names.update(re.findall(r'"([\w-]+)"', match["aliases"]))
        return match.group() if names & used else ""

    return ICON.sub(kept, script)
