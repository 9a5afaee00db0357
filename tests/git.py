"""What the tests ask of git; they are skipped where it, or .git, is not."""

import shutil
import subprocess

import pytest

from tests.conftest import ROOT


def git(folder, *arguments):
    """What git says in a folder, without the end of its last line."""
    if not shutil.which("git"):
        pytest.skip("there is no git on this machine")
    done = subprocess.run(
        [
            *("git", "-C", str(folder), "-c", "user.name=Ada"),
            *("-c", "user.email=ada@example.org", *arguments),
        ],
        capture_output=True,
        encoding="utf-8",
        check=True,
    )
    return done.stdout.strip()


def listed(*arguments):
    """The repository's files, as names that `git ls-files` gives."""
    if not (ROOT / ".git").exists():
        pytest.skip("no .git: an archive does not say which files are its own")
    return git(ROOT, "ls-files", "-z", *arguments).strip("\0").split("\0")


NOT_IGNORED = ("--cached", "--others", "--exclude-standard")
