"""A public repository by its address: what a git remote says, read.

A folder, or this very machine, is no address that others can reach.
"""

import ipaddress
import re
from dataclasses import dataclass
from urllib.parse import unquote, urlsplit

__all__ = ["Repository", "parse_remote"]

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
