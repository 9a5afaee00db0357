"""Where the Python that runs in the browser comes from: one setting.

Nothing set: its public CDN, asked only after a reader's click. An address: a
mirror. A folder: the needed files of a Pyodide distribution are copied into
the site, which then asks nobody.
"""

import json
import re
import shutil
from pathlib import Path

__all__ = ["copy_needed", "needed_files", "place"]

CORE = (
    "pyodide.mjs",
    "pyodide.asm.mjs",
    "pyodide.asm.wasm",
    "python_stdlib.zip",
    "pyodide-lock.json",
)
# what the kernel installs when it starts, and what the chapters import
PACKAGES = ("micropip", "ipython", "jedi", "traitlets", "numpy", "matplotlib")


def place(setting):
    """Tell an address from a folder.

    Parameters
    ----------
    setting : str
        Empty, the address of a folder of files, or the path of one.

    Returns
    -------
    url : str or None
        The address of pyodide.mjs; None for the CDN, or for a folder.
    folder : Path or None

    Raises
    ------
    ValueError
        If it is neither an address nor a folder with Pyodide in it.

    Examples
    --------
    >>> place("https://example.org/pyodide/")
    ('https://example.org/pyodide/pyodide.mjs', None)
    >>> place("")
    (None, None)
    """
    if not setting:
        return None, None
    if re.match(r"https?://", setting):
        return f"{setting.rstrip('/')}/pyodide.mjs", None
    folder = Path(setting).expanduser()
    if not (folder / "pyodide-lock.json").is_file():
        raise ValueError(
            "Pyodide's place must be an address or a folder that holds "
            f"pyodide-lock.json, received {setting!r}"
        )
    return None, folder


def needed_files(lock, packages=PACKAGES):
    """Name the wheels of some packages and of all that these need.

    Parameters
    ----------
    lock : dict
        What pyodide-lock.json holds.
    packages : sequence of str

    Returns
    -------
    list of str
        File names, in alphabetical order.

    Raises
    ------
    ValueError
        If the distribution does not know a package.

    Examples
    --------
    >>> entry = {"file_name": "a.whl", "depends": ["B_b"]}
    >>> other = {"file_name": "b.whl", "depends": []}
    >>> needed_files({"packages": {"a": entry, "b-b": other}}, ["a"])
    ['a.whl', 'b.whl']
    """
    known = {_plain(name): it for name, it in lock["packages"].items()}
    found, left = {}, [_plain(name) for name in packages]
    while left:
        name = left.pop()
        if name in found:
            continue
        if name not in known:
            raise ValueError(f"Pyodide's distribution has no {name!r}")
        found[name] = known[name]["file_name"]
        left += map(_plain, known[name]["depends"])
    return sorted(found.values())


def copy_needed(folder, target):
    """Copy Pyodide and the wheels that the chapters need.

    Raises
    ------
    ValueError
        If files are missing, with their names.
    """
    lock = json.loads((folder / "pyodide-lock.json").read_text("utf-8"))
    names = [*CORE, *needed_files(lock)]
    missing = [name for name in names if not (folder / name).is_file()]
    if missing:
        raise ValueError(f"{folder} lacks {', '.join(missing)}")
    target.mkdir(parents=True, exist_ok=True)
    for name in names:
        shutil.copy(folder / name, target / name)


def _plain(name):
    """A package's name as PEP 503 writes it."""
    return re.sub(r"[-_.]+", "-", name).lower()
