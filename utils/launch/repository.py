"""Which repository the book is built from, so that a fork launches the fork.

The answer comes from the variables of the CI that builds (GitHub's, which
Forgejo sets too, and GitLab's), or else from the git remote. A folder that
came without git, or whose remote is a folder or this very machine, has no
public address: the answer is None, and that is no error.
"""

import os
import subprocess

from utils.launch.remote import Repository, parse_remote

__all__ = ["find_repository"]


def find_repository(folder, environ=None):
    """Find which public repository a folder is a version of.

    Parameters
    ----------
    folder : Path
    environ : mapping, optional
        Where the CI's variables are looked up. Default: the process's.

    Returns
    -------
    Repository or None
        None without git, without a remote, or if nobody else can reach it.

    Raises
    ------
    ValueError
        If the variables or the remote name what cannot be a repository.
    """
    environ = os.environ if environ is None else environ
    if environ.get("GITHUB_REPOSITORY"):
        return _from_github(environ)
    if environ.get("CI_PROJECT_PATH"):
        return _from_gitlab(environ)
    return _from_git(folder)


def _from_github(environ):
    """A pull request has no branch here: its commit is named instead."""
    server = environ.get("GITHUB_SERVER_URL") or "https://github.com"
    found = parse_remote(f"{server}/{environ['GITHUB_REPOSITORY']}")
    ref = environ.get("GITHUB_REF", "")
    for start, kind in (("refs/heads/", "branch"), ("refs/tags/", "tag")):
        if ref.startswith(start):
            return found and Repository(*found, ref.removeprefix(start), kind)
    return found and Repository(
        *found, environ.get("GITHUB_SHA", ""), "commit"
    )


def _from_gitlab(environ):
    server = environ.get("CI_SERVER_URL") or "https://gitlab.com"
    found = parse_remote(f"{server}/{environ['CI_PROJECT_PATH']}")
    for name, kind in (
        ("CI_COMMIT_TAG", "tag"),
        ("CI_COMMIT_BRANCH", "branch"),  # not set for a merge request
    ):
        if environ.get(name):
            return found and Repository(*found, environ[name], kind)
    return found and Repository(
        *found, environ.get("CI_COMMIT_SHA", ""), "commit"
    )


def _from_git(folder):
    if not _is_top(folder):
        return None
    branch = _git(folder, "symbolic-ref", "--quiet", "--short", "HEAD")
    remote, there = _followed(folder, branch)
    address = remote and _git(folder, "remote", "get-url", remote)
    found = address and parse_remote(address)
    if not found:
        return None
    if branch:
        return Repository(*found, there)
    tag = _git(folder, "describe", "--tags", "--exact-match", "HEAD")
    if tag:
        return Repository(*found, tag, "tag")
    commit = _git(folder, "rev-parse", "--verify", "HEAD")
    return commit and Repository(*found, commit, "commit")


def _is_top(folder):
    """Whether git's root is this folder, not a repository around it."""
    top = _git(folder, "rev-parse", "--show-toplevel")
    return bool(top) and os.path.samefile(top, folder)


def _followed(folder, branch):
    """The remote, and the branch there, that this branch follows."""
    remotes = (_git(folder, "remote") or "").split()
    if branch:
        remote = _git(folder, "config", f"branch.{branch}.remote")
        there = _git(folder, "config", f"branch.{branch}.merge")
        if remote in remotes and there:
            return remote, there.removeprefix("refs/heads/")
    if "origin" in remotes:
        return "origin", branch
    return (remotes[0] if len(remotes) == 1 else None), branch


def _git(folder, *arguments):
    """What git says; None where it says no, or where there is no git."""
    try:
        done = subprocess.run(
            ["git", "-C", str(folder), *arguments],
            capture_output=True,
            encoding="utf-8",
            check=True,
        )
    except (OSError, subprocess.CalledProcessError):
        return None
    return done.stdout.strip() or None
