"""Sphinx extension: each page forbids what it does not need.

A Content-Security-Policy stands in the page itself, so that it holds on any
host, GitHub Pages included, and on a file. No page of another host is asked
for anything; no script runs but the site's files and those few lines inside
the page whose hashes the policy names; there is no `eval`. Styles may be
inline: MathJax makes its own while it sets a formula.

The slides have none: the speaker's view of reveal.js writes a page of its
own. JupyterLite has none: it compiles Python in the browser.
"""

import base64
import hashlib
import re
from pathlib import Path

__all__ = ["policy_of", "with_policy"]

# "self" means nothing to some browsers on a file; on the web, "file:" is
# never reached
OWN = "'self' file:"
SCRIPT = re.compile(r"<script\b([^>]*)>(.*?)</script>", re.DOTALL)
META = re.compile(
    r'<meta http-equiv="Content-Security-Policy" content="[^"]*">\n'
)
CHARSET = re.compile(r"<meta charset=[^>]*>\n?")


def setup(app):
    """Register with Sphinx."""
    # last of all: nothing may be added to a page after its hashes are taken
    app.connect("build-finished", write_policies, priority=950)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def policy_of(page):
    """The policy of a page: what it needs and nothing else.

    Parameters
    ----------
    page : str
        HTML.

    Returns
    -------
    str

    Examples
    --------
    >>> policy_of('<script src="a.js"></script>').split("; ")[:2]
    ["default-src 'none'", "script-src 'self' file:"]
    """
    hashes = []
    for attributes, text in SCRIPT.findall(page):
        if "src=" not in attributes and "json" not in attributes:
            digest = hashlib.sha256(text.encode("utf-8")).digest()
            hashes.append(f"'sha256-{base64.b64encode(digest).decode()}'")
    return "; ".join(
        (
            "default-src 'none'",
            " ".join(("script-src", OWN, *dict.fromkeys(hashes))),
            f"style-src {OWN} 'unsafe-inline'",
            f"img-src {OWN} data:",
            f"font-src {OWN}",
            "connect-src 'self'",  # the search shows lines of what it found
            "base-uri 'none'",
            f"form-action {OWN}",
        )
    )


def with_policy(page):
    """The page with its policy, in place of one from an earlier build.

    Raises
    ------
    ValueError
        If the page does not say its character set: the policy stands there,
        before any script.
    """
    page = META.sub("", page)
    place = CHARSET.search(page)
    if not place:
        raise ValueError(f"no <meta charset> in the page {page[:60]!r}")
    tag = (
        '<meta http-equiv="Content-Security-Policy" '
        f'content="{policy_of(page)}">\n'
    )
    line = place.group() if place.group().endswith("\n") else place[0] + "\n"
    return page[: place.start()] + line + tag + page[place.end() :]


def write_policies(app, error):
    """Write each page's policy into it."""
    if error or app.builder.format != "html":
        return
    out = Path(app.outdir)
    for path in [*out.glob("*.html"), *out.glob("book/**/*.html")]:
        page = path.read_text("utf-8")
        if "<script" in page:
            guarded = with_policy(page)
            if guarded != page:
                path.write_text(guarded, "utf-8")
