"""Hooks that refuse a commit: each passes this tree, and refuses a fault."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from check_commit import (
    MOST_BYTES,
    notebook_faults,
    size_faults,
    text_faults,
)
from tests.conftest import ROOT, stored_notebooks
from tests.test_new_chapter import copy_tree

CONFIG = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text("utf-8"))
HOOKS = {
    hook["id"]: hook for repo in CONFIG["repos"] for hook in repo["hooks"]
}
SCRIPTS = Path(sys.executable).parent
# what each is there for
FAULTS = {
    "ruff-check": ("utils/a.py", "import os\n"),
    "ruff-format": ("utils/a.py", '"""A."""\n\na = [1,2]\n'),
    "text": ("book/a.md", "a \n"),
    "size": ("book/data/a.json", "1" * MOST_BYTES + "\n"),
    "notebooks": ("book/01_motivation.ipynb", None),
}
each_hook = pytest.mark.parametrize("name", HOOKS)


@pytest.fixture(scope="module")
def tree(tmp_path_factory):
    return copy_tree(tmp_path_factory.mktemp("tree"))


def taken(hook, tree):
    """The files that pre-commit gives to a hook: those its regex finds."""
    names = (
        path.relative_to(tree).as_posix()
        for path in sorted(tree.rglob("*"))
        if path.is_file() and ".ruff_cache" not in path.parts
    )
    return [name for name in names if re.search(hook["files"], name)]


def run(hook, tree, files):
    program, *arguments = shlex.split(hook["entry"])
    program = SCRIPTS / program.removeprefix(".venv/bin/")
    return subprocess.run(
        [program, *arguments, *files],
        cwd=tree,
        capture_output=True,
        encoding="utf-8",
    )


def refuses(hook, tree, files):
    """As pre-commit tells: a hook fails, or changes a file."""
    before = {name: (tree / name).read_bytes() for name in files}
    done = run(hook, tree, files)
    changed = [n for n in files if (tree / n).read_bytes() != before[n]]
    return (done.returncode != 0 or bool(changed)), done.stdout + done.stderr


def test_nothing_is_fetched_and_no_version_stands_here():
    assert [repo["repo"] for repo in CONFIG["repos"]] == ["local"]
    for hook in HOOKS.values():
        assert hook["language"] == "system"
        assert hook["entry"].startswith(".venv/bin/")
        assert set(hook) == {"id", "name", "entry", "language", "files"}
    listed = (ROOT / "tests" / "requirements.txt").read_text("utf-8")
    assert re.search(r"^ruff==", listed, re.MULTILINE)


@each_hook
def test_it_takes_some_files_of_this_tree_and_finds_nothing(tree, name):
    files = taken(HOOKS[name], tree)
    assert len(files) >= 12
    refused, said = refuses(HOOKS[name], tree, files)
    assert not refused, said


@each_hook
def test_it_refuses_what_it_is_there_for(tree, name):
    file, text = FAULTS[name]
    path = tree / file
    kept = path.read_bytes() if path.exists() else None
    if text is None:  # a chapter that was edited, and not run again
        text = kept.decode().replace('"execution_count": 2', "{}", 1)
        text = text.replace("{}", '"execution_count": null', 1)
    path.write_text(text, "utf-8")
    try:
        assert file in taken(HOOKS[name], tree)
        refused, said = refuses(HOOKS[name], tree, [file])
    finally:
        path.write_bytes(kept) if kept else path.unlink()
    assert refused
    assert file in said or "reformatted" in said


def test_contributing_says_how_to_switch_it_on():
    said = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    (line,) = re.findall(r"`(.+pre-commit install)`", said)
    config = (ROOT / ".pre-commit-config.yaml").read_text("utf-8")
    assert line in config


# --- the tool --------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "faults"),
    [
        (b"", []),
        (b"a\n\nb\n", []),
        (b"a  \n", ["line 1: space"]),
        (b"a\n\tb\t\n", ["line 2: space"]),
        (b"a\r\nb\n", ["line 1: a line end of Windows"]),
        (b"a", ["line 1: no line end"]),
        (b"a\n\n", ["line 2: an empty line"]),
        (b"<<<<<<< HEAD\na\n", ["line 1: a merge"]),
        (b"a\n=======\nb\n", ["line 2: a merge"]),
        (b"a\n>>>>>>> theirs\n", ["line 2: a merge"]),
        (b"========\n", []),
        (b"\xff\n", ["byte 0: not UTF-8"]),
        (b"\x89PNG\0 \n", []),
    ],
)
def test_faults_of_a_text_are_told_with_their_line(content, faults):
    found = text_faults(content)
    assert len(found) == len(faults)
    for said, expected in zip(found, faults, strict=True):
        assert said.startswith(expected)


def test_a_file_may_be_as_large_as_is_said_and_no_larger():
    assert size_faults(b"1" * MOST_BYTES) == []
    assert size_faults(b"1" * (MOST_BYTES + 1)) == [
        "1,500,001 bytes, 1,500,000 at most"
    ]


@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [
        ('"execution_count": 2', '"execution_count": 3', "run once"),
        ('"execution_count": 2', '"execution_count": null', "run once"),
        ('"name": "stdout"', '"name": "stderr"', "writes to stderr"),
        ('"name": "python"', '"name": "python", "version": "3"', "refresh"),
        ('"nbformat": 4', '"nbformat": 3', "notebook format 3"),
        ('{\n "cells"', '{\n  "cells"', "refresh"),
    ],
)
def test_a_notebook_that_was_not_refreshed_is_told(old, new, fault):
    text = stored_notebooks()[3].text
    assert notebook_faults(text.encode()) == []
    assert old in text
    faults = notebook_faults(text.replace(old, new, 1).encode())
    assert any(fault in one for one in faults), faults
