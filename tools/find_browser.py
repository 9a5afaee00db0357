"""Find a Chromium for the tests and the bench, or get one.

    python tools/find_browser.py             # print its path, or fail
    python tools/find_browser.py --install   # get one if there is none

The order: the path in BROWSER_PATH, a Chromium or Chrome on the PATH, the one
that Playwright has downloaded. With --install, if there is none: Playwright's
download, then Debian's package.
"""

import argparse
import importlib.util
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

__all__ = ["browser_path", "install_browser"]

NAMES = (
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
    "chrome",
)
ASK_PLAYWRIGHT = """
from playwright.sync_api import sync_playwright
with sync_playwright() as playwright:
    print(playwright.chromium.executable_path)
"""
STDERR = 2  # stdout is for the path alone
DOWNLOAD_SECONDS = 300  # a closed network may answer nothing at all
PACKAGES = ("chromium", "fonts-dejavu-core")  # a bare machine has no font


def browser_path():
    """Find a browser that is already here.

    Returns
    -------
    str or None

    Raises
    ------
    ValueError
        If BROWSER_PATH names no program: a wrong path must not be passed
        over in silence.
    """
    named = os.environ.get("BROWSER_PATH")
    if named:
        found = shutil.which(named)
        if found is None:
            raise ValueError(f"BROWSER_PATH names no program: {named}")
        return found
    on_path = (shutil.which(name) for name in NAMES)
    return next(filter(None, on_path), None) or _downloaded()


def install_browser():
    """Get a browser, by Playwright or else by Debian's package.

    Returns
    -------
    str or None
        Its path; None if both ways failed, with the reasons on stderr.
    """
    for way in (_download, _debian_package):
        if way():
            found = browser_path()
            if found:
                return found
    return None


def _downloaded():
    """The browser that Playwright keeps for itself, if it is there.

    Asked in a process of its own: Playwright starts only once in a process,
    and the tests start it too.
    """
    if importlib.util.find_spec("playwright") is None:
        return None
    asked = subprocess.run(
        [sys.executable, "-c", ASK_PLAYWRIGHT],
        capture_output=True,
        encoding="locale",
        check=True,
    )
    path = asked.stdout.strip()
    return path if Path(path).is_file() else None


def _download():
    if importlib.util.find_spec("playwright") is None:
        return _no("Playwright is not installed here, so no download by it")
    _say("no browser here: Playwright downloads one, some 150 MB")
    command = [sys.executable, "-m", "playwright", "install", "chromium"]
    return _run(command, DOWNLOAD_SECONDS)


def _debian_package():
    if shutil.which("apt-get") is None:
        return _no("no apt-get here, so no Debian package")
    _say("installing Debian's package chromium")
    root = [] if os.geteuid() == 0 else ["sudo"]
    if root and shutil.which("sudo") is None:
        return _no("apt-get needs root, and there is no sudo")
    quiet = ["env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "-qq"]
    wanted = ["install", "--yes", "--no-install-recommends", *PACKAGES]
    return _run([*root, *quiet, "update"]) and _run([*root, *quiet, *wanted])


def _run(command, seconds=None):
    """Run a command; True if it worked. Its children end with it."""
    process = subprocess.Popen(
        command, stdout=STDERR, start_new_session=seconds is not None
    )
    try:
        code = process.wait(seconds)
    except subprocess.TimeoutExpired:
        if hasattr(os, "killpg"):
            os.killpg(process.pid, signal.SIGKILL)
        process.kill()
        process.wait()
        return _no(f"gave up after {seconds} s: {' '.join(command)}")
    if code:
        return _no(f"failed with exit code {code}: {' '.join(command)}")
    return True


def _say(words):
    print(f"find_browser: {words}", file=sys.stderr, flush=True)


def _no(words):
    _say(words)
    return False


def main():
    """Print the path of a browser; exit 1 with what to do if there is none."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument(
        "--install", action="store_true", help="get one if there is none"
    )
    options = parser.parse_args()
    try:
        found = browser_path()
    except ValueError as error:
        sys.exit(str(error))
    if found is None and options.install:
        found = install_browser()
    if found is None:
        sys.exit(
            "No browser. Install Chromium or Chrome, or put its path into "
            "BROWSER_PATH."
        )
    print(found)


if __name__ == "__main__":
    main()
