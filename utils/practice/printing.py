"""From HTML to a PDF by a Chromium that is at hand, the same bytes each time.

The browser writes the time into a PDF; here it is set to the first second of
2000. Fonts and the browser's version still show in the bytes: the same
machine gives the same file, another one the same page.
"""

import re
import subprocess
import sys
import tempfile
from pathlib import Path

__all__ = ["NoBrowser", "find_browser", "print_pdf"]

FINDER = Path(__file__).resolve().parents[2] / "tools" / "find_browser.py"
NODE = re.compile(rb"\(node\d{8}\)")
DATE = re.compile(rb"\(D:\d{14}([+\-Z][\d']*)?\)")
SECONDS = 120


class NoBrowser(Exception):
    """There is nothing here that can print."""


def find_browser():
    """Ask the book's own finder for a Chromium.

    Returns
    -------
    str

    Raises
    ------
    NoBrowser
        If there is none, or the book's tools are not beside this package.
    """
    if not FINDER.is_file():
        raise NoBrowser(
            "PDFs are printed from the book's own folder, where tools/ is; "
            "the HTML can be printed from any browser"
        )
    asked = subprocess.run(
        [sys.executable, str(FINDER)], capture_output=True, encoding="locale"
    )
    if asked.returncode:
        raise NoBrowser(asked.stderr.strip())
    return asked.stdout.strip()


def print_pdf(html, browser):
    """Print a document.

    Parameters
    ----------
    html : str
        A whole document that needs no other file.
    browser : str
        Path of a Chromium.

    Returns
    -------
    bytes

    Raises
    ------
    NoBrowser
        If it fails, with what it said.
    """
    with tempfile.TemporaryDirectory() as folder:
        page, pdf = Path(folder, "sheet.html"), Path(folder, "sheet.pdf")
        page.write_text(html, "utf-8")
        command = [
            *(browser, "--headless", "--no-sandbox", "--disable-gpu"),
            *("--no-first-run", "--disable-background-networking"),
            *(f"--user-data-dir={folder}/profile", "--no-pdf-header-footer"),
            *(f"--print-to-pdf={pdf}", page.as_uri()),
        ]
        try:
            done = subprocess.run(
                command,
                capture_output=True,
                encoding="locale",
                timeout=SECONDS,
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            raise NoBrowser(f"{browser} does not print: {error}") from None
        if done.returncode or not pdf.is_file():
            raise NoBrowser(f"{browser} does not print: {done.stderr[-500:]}")
        return renumbered(undated(pdf.read_bytes()))


def undated(pdf):
    """Set every date of a PDF to one that never changes, length kept.

    >>> undated(b"(D:20261129233000+00'00')")
    b"(D:20000101000000+00'00')"
    """

    def fixed(match):
        zone = re.sub(rb"\\d", b"0", match[1] or b"")
        return b"(D:20000101000000" + zone + b")"

    return DATE.sub(fixed, pdf)


def renumbered(pdf):
    """Number a PDF's cells from 1 on: Chromium counts from another start.

    Their order stays, in which a reader looks them up.

    >>> renumbered(b"(node00000463) (node00000454) (node00000463)")
    b'(node00000002) (node00000001) (node00000002)'
    """
    known = sorted(set(NODE.findall(pdf)))
    numbers = {name: number for number, name in enumerate(known, start=1)}
    return NODE.sub(lambda match: b"(node%08d)" % numbers[match[0]], pdf)
