"""Pack the built site into one zip that works from a USB stick.

Usage: python tools/pack_offline.py

Reads `_build/html` (`make book`), writes
`_build/self-attention-in-motion-<version>.zip`. The same site gives the same
bytes: files in order of their names, one date, one set of permissions.
"""

import sys
import tomllib
import zipfile
from html import escape
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SITE = ROOT / "_build" / "html"
DATE = (2020, 1, 1, 0, 0, 0)
START = "START-HERE.html"
# JupyterLite needs a server, the others only serve the next build.
LEFT_OUT = ("lite/", ".buildinfo", ".doctrees/")

PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}: start here</title>
<style>
  :root {{ color-scheme: light dark; }}
  body {{ max-width: 38rem; margin: 2rem auto; padding: 0 1rem;
    font: 1.1rem/1.5 system-ui, sans-serif; }}
  li {{ margin: 0.3rem 0; }}
</style>
</head>
<body>
<h1>{title}</h1>
<p>Version {version}. Nothing to install, and no network: a browser is
enough.</p>
<p><strong>First unpack the zip, all of it.</strong> A browser that opens this
page from inside the zip finds none of the others.</p>
<ul>
<li><a href="site/book/intro.html">Read the book</a></li>
{teaching}
</ul>
{slides}
</body>
</html>
"""


def version():
    """The version of the book, as pyproject.toml says it."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    return project["project"]["version"]


def start_page(site):
    """The page at the top of the zip, which leads to all others.

    Parameters
    ----------
    site : Path
        The built site.

    Returns
    -------
    str
    """
    teaching, slides = "", ""
    if (site / "book" / "teaching.html").is_file():
        link = "site/book/teaching.html"
        teaching = f'<li><a href="{link}">Teach with it</a></li>'
    decks = sorted((site / "slides").glob("*.html"))
    if decks:
        rows = "\n".join(
            f'<li><a href="site/slides/{escape(deck.name)}">'
            f"{escape(deck.stem.replace('_', ' '))}</a></li>"
            for deck in decks
        )
        slides = f"<h2>Slides</h2>\n<ul>\n{rows}\n</ul>"
    return PAGE.format(
        title="Self-Attention in Motion",
        version=escape(version()),
        teaching=teaching,
        slides=slides,
    )


def files(site):
    """Every file of the site that goes into the zip, in order.

    Raises
    ------
    ValueError
        If there is no built site.
    """
    if not (site / "index.html").is_file():
        raise ValueError(f"no built site at {site}: run make book first")
    names = sorted(
        path.relative_to(site).as_posix()
        for path in site.rglob("*")
        if path.is_file()
    )
    return [name for name in names if not name.startswith(LEFT_OUT)]


def pack(site, target):
    """Write the zip.

    Parameters
    ----------
    site : Path
        The built site.
    target : Path
        The zip file to write; its stem names the folder inside.

    Raises
    ------
    ValueError
        If there is no built site.
    """
    content = {START: start_page(site).encode("utf-8")}
    for name in files(site):
        content[f"site/{name}"] = (site / name).read_bytes()
    part = target.with_suffix(".part")
    with zipfile.ZipFile(part, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in content.items():
            entry = zipfile.ZipInfo(f"{target.stem}/{name}", DATE)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.create_system = 3  # one system's rights, wherever it runs
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, data, compresslevel=9)
    part.replace(target)  # a zip that is there is whole


def main():
    """Pack the site of this repository."""
    target = SITE.parent / f"self-attention-in-motion-{version()}.zip"
    try:
        pack(SITE, target)
    except (ValueError, OSError) as error:
        sys.exit(f"error: {error}")
    size = target.stat().st_size / 1e6
    print(f"{target.relative_to(ROOT)}: {size:.1f} MB")


if __name__ == "__main__":
    main()
