"""Begin a chapter: a small, true one, to be changed piece by piece.

    python tools/new_chapter.py dropout "Dropout: what is left out"

It takes the next free number and makes, from `tools/chapter_template/`, the
figures' folder, their tests, the notebook, the quiz, and the line in
_toc.yml. All of it passes every test of the book as it stands: whatever goes
red afterwards is what you have changed. Nothing is ever written over, and if
anything fails nothing stays behind. CONTRIBUTING.md says what to do next.
"""

import argparse
import contextlib
import json
import keyword
import os
import re
import sys
from pathlib import Path

from canonical_notebook import canonical

__all__ = ["next_number", "planned", "write"]

ROOT = Path(__file__).resolve().parent.parent
TEMPLATE = Path(__file__).resolve().parent / "chapter_template"
FIRST = "first"  # the id of the cell that makes a chapter run in Colab
LONGEST_IDEA, LONGEST_TITLE = 24, 80
TOC_LINE = re.compile(r"^( *)- file: book/\d\d_\w+\n", re.MULTILINE)


def next_number(root):
    """Find the number after the last chapter's.

    Parameters
    ----------
    root : Path
        The folder of the repository.

    Returns
    -------
    int

    Raises
    ------
    ValueError
        If there is no chapter yet, or none is left below 100.
    """
    taken = [int(path.name[:2]) for path in _notebooks(root)]
    if not taken or max(taken) == 99:
        raise ValueError(f"no number after those in book/: {sorted(taken)}")
    return max(taken) + 1


def planned(root, idea, title):
    """Plan a chapter's files, and refuse a name that cannot be one.

    Parameters
    ----------
    root : Path
        The folder of the repository.
    idea : str
        The one name of chapter, figures, quiz and tests: lower case words
        joined by underscores.
    title : str
        The chapter's heading.

    Returns
    -------
    new : dict of Path to str
        Each new file and its text.
    toc : str
        The text of _toc.yml with the chapter in it.

    Raises
    ------
    ValueError
        If idea or title are malformed, the idea is taken, a file would be
        written over, or _toc.yml lists no chapter to stand behind.

    Examples
    --------
    >>> planned(ROOT, "Drop-out", "Dropout")
    Traceback (most recent call last):
        ...
    ValueError: an idea is lower case words joined by underscores, at most \
24 characters and no word of Python's own, received 'Drop-out'
    """
    _check_idea(idea)
    _check_title(title)
    taken = {path.stem[3:] for path in _notebooks(root)}
    if idea in taken:
        raise ValueError(f"there is a chapter on {idea!r} already")
    name = f"{next_number(root):02}_{idea}"

    def filled(file):
        text = (TEMPLATE / file).read_text("utf-8")
        return _filled(text, idea, title)

    figures = root / "utils" / "figures" / idea
    new = {
        figures / "__init__.py": filled("figures/__init__.py"),
        figures / "lead.py": filled("figures/lead.py"),
        root / "tests" / f"test_figures_{idea}.py": filled("test_figures.py"),
        root / "utils/practice/questions" / f"{idea}.toml": filled(
            "quiz.toml"
        ),
        root / "book" / f"{name}.ipynb": _notebook(root, idea, title),
    }
    for path in [figures, figures.with_suffix(".py"), *new]:
        if path.exists():
            where = path.relative_to(root)
            raise ValueError(f"the idea {idea!r} is taken: there is {where}")
    return new, _toc(root, name)


def write(root, new, toc):
    """Write a planned chapter: all of it, or nothing.

    Parameters
    ----------
    root : Path
    new : dict of Path to str
    toc : str

    Raises
    ------
    OSError
        If a file cannot be written, or is there by now; what had been
        written before it is gone again.
    """
    made = []
    try:
        for path, text in new.items():
            if not path.parent.is_dir():
                path.parent.mkdir()
                made.append(path.parent)
            with open(path, "x", encoding="utf-8", newline="\n") as file:
                made.append(path)
                file.write(text)
        unfinished = root / f"_toc.yml.{os.getpid()}.tmp"
        made.append(unfinished)
        unfinished.write_text(toc, "utf-8", newline="\n")
        os.replace(unfinished, root / "_toc.yml")
    except BaseException:
        for path in reversed(made):
            with contextlib.suppress(FileNotFoundError):
                path.rmdir() if path.is_dir() else path.unlink()
        raise


def _check_idea(idea):
    well_formed = re.fullmatch(r"[a-z]+(_[a-z]+)*", idea)
    if (
        not well_formed
        or len(idea) > LONGEST_IDEA
        or keyword.iskeyword(idea)
        or keyword.issoftkeyword(idea)
    ):
        raise ValueError(
            "an idea is lower case words joined by underscores, at most "
            f"{LONGEST_IDEA} characters and no word of Python's own, "
            f"received {idea!r}"
        )


def _check_title(title):
    odd = set(title) & set("$[]<>`\\*_|")
    if (
        not title.strip()
        or title != " ".join(title.split())
        or len(title) > LONGEST_TITLE
        or not title.isprintable()
        or odd
    ):
        raise ValueError(
            f"a title is one line of 1 to {LONGEST_TITLE} characters with "
            "no mathematics and no Markdown in it ($ [ ] < > ` \\ * _ |), "
            f"received {title!r}"
        )


def _notebooks(root):
    return sorted((root / "book").glob("[0-9][0-9]_*.ipynb"))


def _filled(text, idea, title):
    for mark, words in (
        ("__idea__", idea),
        ("__anchor__", idea.replace("_", "-")),
        ("__title__", title),
    ):
        text = text.replace(mark, words)
    return text


def _notebook(root, idea, title):
    """The template's cells, and the first cell of a chapter that has it.

    Filled cell by cell: in the JSON a quotation mark in a title is no longer
    one character.
    """
    notebook = json.loads((TEMPLATE / "chapter.ipynb").read_text("utf-8"))
    for cell in notebook["cells"]:
        cell["source"] = _filled("".join(cell["source"]), idea, title)
    notebook["cells"].insert(1, _first_cell(root))
    return canonical(json.dumps(notebook))


def _first_cell(root):
    """The one first cell, so that no second copy of it can drift."""
    for path in _notebooks(root):
        for cell in json.loads(path.read_text("utf-8"))["cells"]:
            if cell["id"] == FIRST:
                return {**cell, "outputs": [], "execution_count": None}
    raise ValueError(f"no chapter in book/ has a cell with the id {FIRST!r}")


def _toc(root, name):
    """The text of _toc.yml with a line more, behind the last chapter's."""
    text = (root / "_toc.yml").read_text("utf-8")
    lines = list(TOC_LINE.finditer(text))
    if not lines:
        raise ValueError("_toc.yml has no line such as `- file: book/01_idea`")
    end, indent = lines[-1].end(), lines[-1][1]
    return f"{text[:end]}{indent}- file: book/{name}\n{text[end:]}"


def main():
    """Make the chapter, and say what was made."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("idea", help="such as dropout, or layer_norm")
    parser.add_argument("title", help="the heading, in quotation marks")
    options = parser.parse_args()
    try:
        new, toc = planned(ROOT, options.idea, options.title)
        write(ROOT, new, toc)
    except (ValueError, OSError) as error:
        sys.exit(str(error))
    for path in new:
        print(path.relative_to(ROOT))
    print("_toc.yml")


if __name__ == "__main__":
    main()
