"""Make a worksheet to print, and its answer key.

    python -m utils.practice.worksheet --seed 7

writes worksheet-7.html and worksheet-7-answers.html, and with a Chromium at
hand the same as PDF. Every seed gives other problems; the same seed gives the
same bytes. Nothing is asked of the network.
"""

import argparse
import sys
from pathlib import Path

from utils.practice.printing import NoBrowser, find_browser, print_pdf
from utils.practice.problems import make_problems
from utils.practice.sheet import PAPERS, sheet_html

__all__ = ["main", "write_worksheet"]


def write_worksheet(seed, paper="a4", folder=".", browser=None):
    """Write a worksheet and its answer key.

    Parameters
    ----------
    seed : int
        From 0 on.
    paper : str
        "a4" or "letter".
    folder : str or Path
        Where to write; made if it is not there.
    browser : str, optional
        Path of a Chromium that prints the PDFs; no PDFs without it.

    Returns
    -------
    list of Path
        The files written, the worksheet before its key.

    Raises
    ------
    ValueError
        If the seed or the paper is not a good one.
    NoBrowser
        If the browser does not print; the HTML is written by then.
    """
    problems = make_problems(seed)
    texts = {
        f"worksheet-{seed}{end}": sheet_html(problems, seed, paper, filled)
        for end, filled in (("", False), ("-answers", True))
    }
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for name, text in texts.items():
        path = folder / f"{name}.html"
        path.write_text(text, "utf-8", newline="\n")
        written.append(path)
    for name, text in texts.items() if browser else ():
        path = folder / f"{name}.pdf"
        path.write_bytes(print_pdf(text, browser))
        written.append(path)
    return written


def main(arguments=None):
    """Read the command line; exit with a sentence if it cannot be done."""
    parser = argparse.ArgumentParser(
        prog="python -m utils.practice.worksheet",
        description="Problems on self-attention to print, with answers.",
    )
    parser.add_argument(
        "--seed",
        type=_seed,
        default=1,
        help="a whole number from 0 on: another number, other problems (1)",
    )
    parser.add_argument(
        "--paper", choices=PAPERS, default="a4", help="size of the page (a4)"
    )
    parser.add_argument(
        "--output",
        default=".",
        metavar="FOLDER",
        help="where to write (the folder you are in)",
    )
    parser.add_argument(
        "--no-pdf", action="store_true", help="write the HTML alone"
    )
    options = parser.parse_args(arguments)
    try:
        browser = None if options.no_pdf else find_browser()
        problem = None
    except NoBrowser as error:
        browser, problem = None, error
    try:
        files = write_worksheet(
            options.seed, options.paper, options.output, browser
        )
    except (NoBrowser, OSError) as error:
        sys.exit(f"{parser.prog}: {error}")
    print(*files, sep="\n")
    if problem:
        sys.exit(f"No PDF: {problem}\nPrint the HTML, or say --no-pdf.")


def _seed(text):
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(
            f"a seed is a whole number from 0 on, received {text!r}"
        )
    return int(text)


if __name__ == "__main__":
    main()
