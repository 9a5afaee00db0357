"""A worksheet's pages: the problems with room to write, or the answer key."""

from pathlib import Path

from utils.practice.sheet_problems import SHOW

__all__ = ["PAPERS", "sheet_html"]

STYLE = Path(__file__).resolve().parent / "sheet.css"
PAPERS = {"a4": "A4", "letter": "letter"}
PAGES = (
    ("scores", "scaling", "softmax"),
    ("weighted_sum", "attention"),
    ("masks", "positions"),
    ("shapes", "cost"),
)


def sheet_html(problems, seed, paper="a4", filled=False):
    """Lay out a worksheet, or its answer key, as one HTML page.

    Parameters
    ----------
    problems : list of Problem
        As from `make_problems(seed)`.
    seed : int
    paper : str
        "a4" or "letter".
    filled : bool
        True for the answer key.

    Returns
    -------
    str
        A whole document that needs no other file. The same arguments give
        the same text.

    Raises
    ------
    ValueError
        If there is no such paper.
    """
    if paper not in PAPERS:
        raise ValueError(f"paper must be one of {list(PAPERS)}, got {paper!r}")
    by_name = {problem.name: problem for problem in problems}
    title = "Self-attention by hand" + (": answers" if filled else "")
    pages, place = [], 0
    for names in PAGES:
        body = ""
        for name in names:
            place += 1
            body += _problem(place, by_name[name], filled)
        pages.append(f'<section class="page">{body}</section>')
    who = "" if filled else _who()
    size = (
        f"@page {{ size: {PAPERS[paper]}; @bottom-left {{ content: "
        f'"{title} · sheet {seed}"; }} }}'
    )
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f"<title>{title}, sheet {seed}</title>\n<style>\n"
        f"{STYLE.read_text('utf-8')}{size}\n</style>\n</head>\n"
        f'<body class="{"key" if filled else "sheet"}">\n'
        f"<header><h1>{title}</h1><p>Sheet {seed}</p></header>\n{who}"
        + "\n".join(pages)
        + "\n</body>\n</html>\n"
    )


def _who():
    return (
        '<p class="who">Name <span></span> Date <span></span></p>'
        "<p>No calculator is needed. Rows are queries, columns keys; weights "
        "are fractions.</p>\n"
    )


def _problem(place, problem, filled):
    title, body = SHOW[problem.name](problem.given, problem.answer, filled)
    return (
        f'<article><h2><span class="place">{place}</span> {title}</h2>'
        f"{body}</article>"
    )
