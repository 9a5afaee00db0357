"""A stand-in for Pyodide's network: the same files, from PyPI.

Pyodide with NumPy and matplotlib lies inside the wheel of another project.
The pure Python wheels that it lacks are on PyPI. Pyodide packs those again,
so their hashes differ: this copy's lock file gets the hashes of what was
fetched. Everything is kept in the user's cache folder, none of it here.
"""

import hashlib
import json
import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import platformdirs

from utils.launch.pyodide import needed_files

WHEEL = "open-webui==0.12.4"
INSIDE = "open_webui/frontend/pyodide/"
PYTHON = "3.14"


def pyodide_folder():
    """The folder with all that a chapter needs; fetched the first time."""
    cache = os.environ.get("BOOK_LAUNCH_CACHE") or platformdirs.user_cache_dir(
        "self-attention-in-motion"
    )
    folder = Path(cache) / WHEEL.replace("==", "-")
    if not (folder / "complete").is_file():
        folder.mkdir(parents=True, exist_ok=True)
        _unpack(folder)
        _complete(folder)
        (folder / "complete").touch()
    return folder


def _unpack(folder):
    downloads = folder / "downloads"
    _download(downloads, WHEEL, "--ignore-requires-python")
    (wheel,) = downloads.glob("open_webui-*.whl")
    with zipfile.ZipFile(wheel) as archive:
        for name in archive.namelist():
            inside = name.removeprefix(INSIDE)
            if inside != name and re.fullmatch(r"[\w.+-]+", inside):
                (folder / inside).write_bytes(archive.read(name))
    wheel.unlink()


def _complete(folder):
    """Fetch the wheels that the lock file names and the folder lacks."""
    path = folder / "pyodide-lock.json"
    lock = json.loads(path.read_text("utf-8"))
    missing = {
        name for name in needed_files(lock) if not (folder / name).is_file()
    }
    entries = [
        entry
        for entry in lock["packages"].values()
        if entry["file_name"] in missing
    ]
    _download(
        folder,
        *(f"{entry['name']}=={entry['version']}" for entry in entries),
        f"--python-version={PYTHON}",
        "--only-binary=:all:",
    )
    for entry in entries:
        fetched = (folder / entry["file_name"]).read_bytes()
        entry["sha256"] = hashlib.sha256(fetched).hexdigest()
    path.write_text(json.dumps(lock), "utf-8")


def _download(folder, *arguments):
    command = [sys.executable, "-m", "pip", "--quiet", "download"]
    command += ["--disable-pip-version-check", "--no-deps", "--dest"]
    subprocess.run([*command, str(folder), *arguments], check=True)
