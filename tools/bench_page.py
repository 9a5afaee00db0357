"""What a reader of the built site loads, in a real browser.

Every page is opened from its file, with the browser told that it is offline.
"""

import contextlib
import os
import re
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import url2pathname

from bench_table import (
    Row,
    Unmeasured,
    at_most,
    gzipped,
    kilobytes,
)

__all__ = [
    "bytes_rows",
    "explorable_bytes",
    "file_of",
    "offline",
    "opened",
    "pages_of",
]

EXPLORABLE_BAR = 60_000  # bytes, gzipped
PAGE_BAR = 600_000  # bytes, gzipped

FIGURE = re.compile(
    r'<figure class="explorable" id="([a-z0-9-]+)".*?</figure>', re.DOTALL
)

# Scrolls through the page, so that every figure comes near the viewport.
READ = """async () => {
  const shown = () => new Promise((done) => setTimeout(done, 120));
  for (let y = 0; y < document.body.scrollHeight; y += innerHeight / 2) {
    scrollTo(0, y);
    await shown();
  }
  const figures = [...explore.figures.values()];
  for (let i = 0; i < 100 && figures.some((f) => !f.book); i++) await shown();
  await document.fonts.ready;
  return figures.filter((f) => f.book).map((f) => f.name);
}"""


def pages_of(site):
    """The pages that are read, in the book's order.

    Raises
    ------
    Unmeasured
        If the site has not been built.
    """
    pages = sorted((site / "book").glob("*.html"))
    if not pages:
        raise Unmeasured(f"no pages in {site.parent.name}/html: make book")
    return pages


@contextlib.contextmanager
def offline(browser):
    """A context on a desk, told that there is no network."""
    context = browser.new_context(viewport={"width": 1280, "height": 800})
    try:
        context.set_offline(True)
        yield context
    finally:
        context.close()


@contextlib.contextmanager
def opened(browser, page):
    """Open a page and read it to its end.

    Yields
    ------
    tab : playwright Page
    names : list of str
        The figures on the page that can be moved.
    requests : list of str
        Every address asked for; it grows while the page is used.
    """
    with offline(browser) as context:
        requests = []
        context.on("request", lambda request: _note(requests, request.url))
        tab = context.new_page()
        tab.goto(page.as_uri())
        names = tab.evaluate(READ)
        tab.wait_for_load_state("networkidle")
        yield tab, names, requests


def bytes_rows(browser, site):
    """Weigh every explorable and every page."""
    own = explorable_bytes(site)
    if not own:
        raise Unmeasured("the site shows no explorable")
    rows = _weights("one explorable", own, EXPLORABLE_BAR)
    pages = {}
    for page in pages_of(site):
        with opened(browser, page) as (_, _, requests):
            files = {file_of(url, site) for url in requests} - {None}
        pages[page.stem] = sum(gzipped(file.read_bytes()) for file in files)
    heavy = _weights("one page and all it loads", pages, PAGE_BAR)
    page = max(pages, key=pages.get)
    heavy[0].facts = {"page": page, "bytes": pages[page]}
    return rows + heavy


def explorable_bytes(site):
    """What each explorable weighs: its place in the page and its flipbook.

    Returns
    -------
    dict of str to int, bytes gzipped
    """
    own = {}
    for page in pages_of(site):
        for match in FIGURE.finditer(page.read_text("utf-8")):
            name = match.group(1)
            book = site / "_static" / "explorables" / f"{name}.js"
            weight = gzipped(match.group())
            if book.exists():
                weight += gzipped(book.read_bytes())
            own[name] = max(weight, own.get(name, 0))
    return own


def _note(requests, url):
    """What a page makes for itself (data:, blob:) is not asked of anyone."""
    if urlsplit(url).scheme not in ("data", "blob"):
        requests.append(url)


def _weights(what, weights, bar):
    """The largest with its bar, then each."""
    largest = max(weights, key=weights.get)
    first = Row(
        f"{what}, largest ({largest})",
        kilobytes(weights[largest]),
        f"< {kilobytes(bar)}",
        holds=at_most(weights[largest], bar),
    )
    return [first] + [
        Row(f"  {name}", kilobytes(weight))
        for name, weight in sorted(weights.items())
    ]


def file_of(url, site):
    """The site's own file that an address names, or None if it is another's.

    >>> file_of("https://example.org/a.js", Path("/site")) is None
    True
    """
    parts = urlsplit(url)
    if parts.scheme != "file":
        return None
    path = Path(os.path.normpath(url2pathname(parts.path)))
    return path if path.is_relative_to(site) else None
