"""Sphinx extension: leaves out of each page what it does not use.

jupyter-book always loads Thebe, which would ask another host for a kernel's
client; this book's figures need no kernel. The theme ships all of Font
Awesome (half a megabyte, compressed) for the dozen icons that a page shows.
"""

import re
from pathlib import Path

ICON = re.compile(
    r'(?:"(?P<quoted>[\w-]+)"|(?P<plain>[\w$]+))'
    r':\[\d+,\d+,\[(?P<aliases>[^\]]*)\],"[0-9a-f]*",'
    r'(?:"[^"]*"|\[[^\]]*\])\],?'
)
USED = re.compile(r"\bfa-([a-z0-9-]+)")


def setup(app):
    """Register with Sphinx."""
    app.connect("config-inited", leave_out_thebe)
    app.connect("html-page-context", leave_out_thebe_style)
    app.connect("build-finished", keep_used_icons)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def leave_out_thebe(app, config):
    """Disconnect what the Thebe extension connected."""
    for listeners in list(app.events.listeners.values()):
        for listener in list(listeners):
            if listener.handler.__module__ == "sphinx_thebe":
                app.disconnect(listener.id)


def leave_out_thebe_style(app, pagename, templatename, context, doctree):
    """Drop its style sheet, which is added before it can be disconnected."""
    context["css_files"] = [
        file
        for file in context["css_files"]
        if "thebe" not in str(getattr(file, "filename", file))
    ]


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
