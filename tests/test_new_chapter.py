"""A stranger adds a chapter by the eight steps of CONTRIBUTING.md.

The steps are taken in a copy of the repository, with the commands that stand
there: what is no longer true there fails here.
"""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import nbformat
import numpy as np
import pytest
import yaml

import new_chapter
from canonical_notebook import canonical
from tests.browse import caption, load
from tests.conftest import ROOT, Notebook
from tests.git import NOT_IGNORED, listed
from tests.visitor import Visitor
from utils.figures.wording import share

IDEA, TITLE = "dropout", "Dropout: what is left out"
NAME = "13_dropout"
STEP = re.compile(r"^(\d)\. \*\*", re.MULTILINE)
FENCE = re.compile(r"^ *```(\w+)\n(.*?)^ *```$", re.MULTILINE | re.DOTALL)
SCRIPTS = Path(sys.executable).parent


def steps():
    """The fences of each step, by its number: pairs (language, text)."""
    text = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    section = text.split("## Add a chapter\n")[1].split("\n## ")[0]
    parts = STEP.split(section)[1:]
    return {
        int(number): FENCE.findall(words)
        for number, words in zip(parts[::2], parts[1::2], strict=True)
    }


def copy_tree(folder):
    """The repository's files, as a clone of what stands here would be."""
    for name in listed(*NOT_IGNORED):
        source = ROOT / name
        if source.is_file() and not source.is_symlink():
            target = folder / name
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(source.read_bytes())
    return folder


@pytest.fixture
def tree(tmp_path):
    return copy_tree(tmp_path)


def contents(folder):
    return {
        path.relative_to(folder): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


def run(tree, command):
    """Run a command line of CONTRIBUTING.md in the copy."""
    program, *arguments = shlex.split(command)
    assert program.startswith(".venv/bin/"), command
    program = str(SCRIPTS / program.removeprefix(".venv/bin/"))
    done = subprocess.run(
        [program, *arguments],
        cwd=tree,
        # not the package that this environment was installed with
        env={**os.environ, "PYTHONPATH": str(tree)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
    )
    assert done.returncode == 0, f"{command}\n{done.stdout[-3000:]}"
    return done.stdout


def recipe(target):
    """The commands of a target of the Makefile that are no make or echo."""
    text = (ROOT / "Makefile").read_text("utf-8")
    lines = re.search(rf"^{target}:.*\n((?:\t.*\n)+)", text, re.MULTILINE)[1]
    lines = lines.replace("$(VENV)", ".venv").split("\n")
    return [one.strip() for one in lines if one.startswith("\t.venv/bin/")]


def build_its_page(tree):
    """`make book` of the new chapter alone; what it links to is a stub."""
    page = tree / "book" / f"{NAME}.ipynb"
    links = set(
        re.findall(r"\]\((\w+\.(?:ipynb|md))\)", page.read_text("utf-8"))
    )
    for name in links:
        stub = f"# {name}\n"
        if name.endswith(".ipynb"):
            cells = [
                nbformat.v4.new_markdown_cell(stub, id="title"),
                nbformat.v4.new_code_cell("pass", id="one"),
            ]
            stub = nbformat.writes(nbformat.v4.new_notebook(cells=cells))
            stub = canonical(stub)
        (tree / "book" / name).write_text(stub, "utf-8")
    chapters = [{"file": f"book/{Path(name).stem}"} for name in sorted(links)]
    toc = {"format": "jb-book", "root": f"book/{NAME}", "chapters": chapters}
    (tree / "_toc.yml").write_text(yaml.safe_dump(toc), "utf-8")
    (command,) = recipe("book")
    run(tree, command)


def style_of(tree):
    """Of `make test`, what no step before has run."""
    style = [one for one in recipe("test") if "ruff" in one]
    assert len(style) == 2
    for command in style:
        run(tree, command)


MADE = {"make book": build_its_page, "make test": style_of}


def add_to_the_list(tree, line):
    """Put a line behind the last chapter of the landing page."""
    page = tree / "book" / "intro.md"
    head, mark, rest = page.read_text("utf-8").partition("\nA question of")
    assert mark, "where the list of book/intro.md ends"
    page.write_text(f"{head.rstrip()}\n{line.strip()}\n{mark}{rest}", "utf-8")


def test_eight_steps_have_a_command_each():
    found = steps()
    assert list(found) == [1, 2, 3, 4, 5, 6, 7, 8]
    for number, fences in found.items():
        assert any(language == "sh" for language, _ in fences), number


@pytest.mark.browser
def test_a_stranger_adds_a_chapter_in_eight_steps(tree, browser):
    before = contents(tree)
    for number, fences in steps().items():
        for language, text in fences:
            if language == "markdown":
                add_to_the_list(tree, text)
                continue
            for command in re.split(r"(?<!\\)\n", text.strip()):
                command = command.replace("\\\n", " ").strip()
                if command in MADE:
                    MADE[command](tree)
                elif "pytest" in command:
                    passed = re.search(r"(\d+) passed", run(tree, command))
                    assert passed, f"step {number} tests nothing: {command}"
                else:
                    run(tree, command)
        if number == 1:
            check_what_was_made(tree, before)
    check_that_it_moves(tree / "_build" / "html", browser)


def check_what_was_made(tree, before):
    after = contents(tree)
    new = {str(path) for path in after.keys() - before.keys()}
    assert {path for path in new if "__pycache__" not in path} == {
        f"book/{NAME}.ipynb",
        f"tests/test_figures_{IDEA}.py",
        f"utils/figures/{IDEA}/__init__.py",
        f"utils/figures/{IDEA}/lead.py",
        f"utils/practice/questions/{IDEA}.toml",
    }
    changed = [str(path) for path in before if before[path] != after[path]]
    assert changed == ["_toc.yml"]
    lines = after[Path("_toc.yml")].decode().split("\n")
    lines.remove(f"      - file: book/{NAME}")
    assert "\n".join(lines).encode() == before[Path("_toc.yml")]
    chapter = Notebook(tree / "book" / f"{NAME}.ipynb")
    assert chapter.cells[0]["source"].startswith(f"# {TITLE}\n")
    other = Notebook(ROOT / "book" / "04_softmax.ipynb")
    (first,) = (c for c in other.cells if c["id"] == "first")
    assert chapter.cells[1]["id"] == "first"
    assert chapter.cells[1]["source"] == first["source"]
    assert chapter.cells[1]["metadata"] == first["metadata"]


def check_that_it_moves(site, browser):
    """The figure on the built page, by its slider's own keys."""
    visitor = Visitor(browser, site)
    tab = visitor.open(f"book/{NAME}.html", mathematics=False)
    name = f"{IDEA}-lead"
    load(tab, name)
    slider = tab.locator(f"#{name} [name='lead']")
    read = "name => document.querySelector(`#${name} svg`).innerHTML"
    pictures = set()
    for key, lead in (("Home", -4), ("End", 4)):
        slider.press(key)
        weights = np.exp([lead, 0]) / np.exp([lead, 0]).sum()
        for weight in weights:
            assert share(weight) in caption(tab, name)
        pictures.add(tab.evaluate(read, name))
    assert len(pictures) == 2
    assert visitor.wrong == []
    tab.context.close()


# --- the tool --------------------------------------------------------------

REFUSED = [
    ("", "Title"),
    ("Dropout", "Title"),
    ("drop-out", "Title"),
    ("drop out", "Title"),
    ("_dropout", "Title"),
    ("dropout_", "Title"),
    ("13_dropout", "Title"),
    ("../dropout", "Title"),
    ("class", "Title"),
    ("match", "Title"),
    ("a" * 25, "Title"),
    ("softmax", "Title"),
    ("drawing", "Title"),
    ("dropout", ""),
    ("dropout", " Title"),
    ("dropout", "two\nlines"),
    ("dropout", "a $w$ in it"),
    ("dropout", "a [link]"),
    ("dropout", "a \x1b in it"),
    ("dropout", "a" * 81),
]


@pytest.mark.parametrize(("idea", "title"), REFUSED)
def test_a_name_that_cannot_be_one_is_named(idea, title):
    wrong = title if idea == "dropout" else idea
    with pytest.raises(ValueError, match=re.escape(repr(wrong))):
        new_chapter.planned(ROOT, idea, title)


def test_the_number_is_the_next_one(tmp_path):
    with pytest.raises(ValueError, match=r"no number after .*: \[\]"):
        new_chapter.next_number(tmp_path)
    (tmp_path / "book").mkdir()
    for name, following in (("01_a", 2), ("07_b", 8), ("03_c", 8)):
        (tmp_path / "book" / f"{name}.ipynb").touch()
        assert new_chapter.next_number(tmp_path) == following
    (tmp_path / "book" / "99_z.ipynb").touch()
    with pytest.raises(ValueError, match="99"):
        new_chapter.next_number(tmp_path)


def test_the_book_has_the_chapters_before_the_example():
    assert f"{new_chapter.next_number(ROOT):02}_{IDEA}" == NAME, (
        "write the next number into CONTRIBUTING.md, and here"
    )


@pytest.mark.parametrize("title", ['“Left” and "right"', "Q & A: it’s − 1"])
def test_a_title_stands_in_the_notebook_as_it_was_given(title):
    new, _ = new_chapter.planned(ROOT, IDEA, title)
    (path,) = (path for path in new if path.suffix == ".ipynb")
    assert f"# {title}\\n".replace('"', '\\"') in new[path]
    for text in new.values():
        assert not re.search(r"__(idea|anchor|title)__", text)


@pytest.mark.parametrize(
    "taken",
    [
        f"utils/figures/{IDEA}",
        f"utils/figures/{IDEA}.py",
        f"tests/test_figures_{IDEA}.py",
        f"utils/practice/questions/{IDEA}.toml",
    ],
)
def test_nothing_is_written_over(tree, taken):
    (tree / taken).mkdir(parents=True)
    (tree / taken / "mine").write_text("mine", "utf-8")
    before = contents(tree)
    with pytest.raises(ValueError, match=re.escape(f"there is {taken}")):
        new_chapter.planned(tree, IDEA, TITLE)
    assert contents(tree) == before


def test_a_folder_that_cannot_be_written_is_said(monkeypatch):
    def read_only(*_):
        raise PermissionError(13, "Permission denied", "utils/figures")

    monkeypatch.setattr(new_chapter, "write", read_only)
    monkeypatch.setattr(sys, "argv", ["new_chapter.py", IDEA, TITLE])
    with pytest.raises(SystemExit, match="denied: 'utils/figures'"):
        new_chapter.main()


def test_what_cannot_be_finished_leaves_nothing(tree, monkeypatch):
    """Stopped at each file in turn, at the last by a file come between."""
    before = contents(tree)
    folders = {path for path in tree.rglob("*") if path.is_dir()}
    new, toc = new_chapter.planned(tree, IDEA, TITLE)
    for last in new:
        last.parent.mkdir(exist_ok=True)
        last.write_text("come between", "utf-8")
        with pytest.raises(FileExistsError):
            new_chapter.write(tree, new, toc)
        assert last.read_text("utf-8") == "come between"
        last.unlink()
        if last.parent not in folders:
            last.parent.rmdir()
        assert contents(tree) == before

    def stopped(*arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr(new_chapter.os, "replace", stopped)
    with pytest.raises(KeyboardInterrupt):
        new_chapter.write(tree, new, toc)
    assert contents(tree) == before
    assert {path for path in tree.rglob("*") if path.is_dir()} == folders
