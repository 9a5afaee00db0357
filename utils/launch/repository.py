"""Which repository the book is built from, so that a fork launches the fork.

The answer comes from the variables of the CI that builds (GitHub's, which
Forgejo sets too, and GitLab's), or else from the git remote. A folder that
came without git, or whose remote is a folder or this very machine, has no
public address: the answer is None, and that is no error.
"""

import ipaddress
import os
import re
import subprocess
from dataclasses import dataclass
from urllib.parse import unquote, urlsplit

__all__ = ["Repository", "find_repository", "parse_remote"]

KINDS = ("branch", "tag", "commit")
HOST = re.compile(r"(?!-)[a-z0-9-]+(\.(?!-)[a-z0-9-]+)*(:\d{1,5})?", re.I)
NAME = re.compile(r"(?!\.{1,2}$)[\w.~-]+")
# what `git check-ref-format` forbids, and a control character or a space
ODD_REF = re.compile(
    r"[\x00-\x20\x7f~^:?*\[\\]|\.\.|@\{|//|^[/-]|(\.|/|\.lock)$|(^|/)\."
)
COMMIT = re.compile(r"[0-9a-f]{40}([0-9a-f]{24})?")
# user@host:owner/name, as git writes it for ssh; C:\... is a folder
SHORT = re.compile(r"(?:[^@/\s]+@)?(?P<host>[^/:@\s]{2,}):(?P<path>[^\\].*)")


@dataclass(frozen=True)
class Repository:
    """A public repository, and which of its versions the book is.

    Parameters
    ----------
    host : str
        For instance github.com; with its port, if it has one.
    path : str
        Owner and name; GitLab's may have groups in between.
    ref : str
        Name of the branch or tag, or all 40 digits of the commit.
    kind : str
        What `ref` is: branch, tag or commit.

    Raises
    ------
    ValueError
        If one of them cannot be what it says.

    Examples
    --------
    >>> Repository("github.com", "ada/attention", "main").url
    'https://github.com/ada/attention'
    """

    host: str
    path: str
    ref: str
    kind: str = "branch"

    def __post_init__(self):
        if not HOST.fullmatch(self.host):
            raise ValueError(f"not the name of a host: {self.host!r}")
        names = self.path.split("/")
        if len(names) < 2 or not all(map(NAME.fullmatch, names)):
            raise ValueError(f"not owner/name of a repository: {self.path!r}")
        if self.kind not in KINDS:
            raise ValueError(f"{self.kind!r} is none of {', '.join(KINDS)}")
        if not self.ref or self.ref == "@" or ODD_REF.search(self.ref):
            raise ValueError(f"git allows no {self.kind} {self.ref!r}")
        if self.kind == "commit" and not COMMIT.fullmatch(self.ref):
            raise ValueError(f"not a whole commit: {self.ref!r}")

    @property
    def url(self):
        """Where a reader's browser and `git clone` find it."""
        return f"https://{self.host}/{self.path}"

    @property
    def owner(self):
        """All of the path but the name."""
        return self.path.rpartition("/")[0]

    @property
    def name(self):
        """The folder that `git clone` makes."""
        return self.path.rpartition("/")[2]


def parse_remote(address):
    """Read host and path from the address of a git remote.

    Parameters
    ----------
    address : str
        https, ssh or git, or git's short form user@host:path.

    Returns
    -------
    tuple of str or None
        Host and path, without user, password, `.git` and ssh's port. None
        for a folder or for this machine: nobody else can reach it.

    Raises
    ------
    ValueError
        If it is not such an address, or not of a repository with an owner.

    Examples
    --------
    >>> parse_remote("git@github.com:ada/attention.git")
    ('github.com', 'ada/attention')
    >>> parse_remote("/srv/git/attention.git") is None
    True
    """
    address = address.strip()
    if "://" in address:
        parts = _split(address)
        if parts.scheme == "file":
            return None
        if parts.scheme not in ("https", "http", "ssh", "git", "git+ssh"):
            raise ValueError(f"not a git remote: {_hidden(address)!r}")
        host, path = parts.hostname or "", parts.path
        port = parts.port if parts.scheme.startswith("http") else None
    else:
        short = SHORT.fullmatch(address)
        if short is None:
            if re.match(r"[./~]|[A-Za-z]:[\\/]", address):
                return None
            raise ValueError(f"not a git remote: {_hidden(address)!r}")
        host, path, port = short["host"].lower(), short["path"], None
    path = unquote(path).strip("/").removesuffix(".git")
    if _is_this_machine(host):
        return None
    host = f"{host}:{port}" if port else host
    try:
        Repository(host, path, "main")
    except ValueError as error:
        raise ValueError(f"remote {_hidden(address)!r}: {error}") from None
    return host, path


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


def _split(address):
    try:
        parts = urlsplit(address)
        parts.port  # noqa: B018 - reading it is what checks it
    except ValueError as error:
        raise ValueError(
            f"not a git remote: {_hidden(address)!r} ({error})"
        ) from None
    return parts


def _hidden(address):
    """The address without a password, for an error message."""
    return re.sub(r"(?<=//)[^/@]+@", "…@", address)


def _is_this_machine(host):
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")
