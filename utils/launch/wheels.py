"""Wheels for the Python in the browser: ours, and those it lacks.

The versions in the browser are those of the environment that builds the
book: an installed package is packed again, so nothing is downloaded.
"""

import base64
import csv
import hashlib
import io
import tomllib
import zipfile
from importlib import metadata

__all__ = ["pack_book", "pack_installed"]

NAME = "self-attention-in-motion"
NEEDS = ("numpy", "matplotlib", "ipywidgets")
LONG_AGO = (1980, 1, 1, 0, 0, 0)  # the same bytes at every build
WHEEL = "Wheel-Version: 1.0\nGenerator: self-attention-in-motion\n"
WHEEL += "Root-Is-Purelib: true\nTag: py3-none-any\n"

# what a chapter needs when it runs; pages and slides are made elsewhere
KEPT = (".py", ".toml", ".js", ".css", ".json", ".npz")
LEFT_OUT = {"launch", "slides", "__pycache__"}


def pack_book(root, folder):
    """Write the book's helpers and their data as a wheel.

    The data lie beside the helpers as they do in the repository, at
    book/data, so that a chapter finds them without a file system of its own.

    Parameters
    ----------
    root : Path
        Of the repository.
    folder : Path
        Where to write.

    Returns
    -------
    Path
        The wheel. The same files give the same bytes.
    """
    project = tomllib.loads((root / "pyproject.toml").read_text("utf-8"))
    version = project["project"]["version"]
    paths = [
        path
        for path in (*root.glob("utils/**/*"), *root.glob("book/data/**/*"))
        if path.suffix in KEPT
        and not LEFT_OUT & {*path.relative_to(root).parts}
    ]
    files = {p.relative_to(root).as_posix(): p.read_bytes() for p in paths}
    about = f"Metadata-Version: 2.1\nName: {NAME}\nVersion: {version}\n"
    about += "".join(f"Requires-Dist: {name}\n" for name in NEEDS)
    return _write(folder, NAME, version, files, about)


def pack_installed(name, folder):
    """Write an installed pure Python package as a wheel, its Python alone.

    What it holds for JupyterLab is in the site already.

    Raises
    ------
    ValueError
        If it is not installed, or is not Python alone.
    """
    try:
        found = metadata.distribution(name)
    except metadata.PackageNotFoundError:
        raise ValueError(
            f"{name!r} is not installed: pip install -r requirements.txt"
        ) from None
    if "Root-Is-Purelib: true" not in (found.read_text("WHEEL") or ""):
        raise ValueError(f"{name!r} is not a pure Python package")
    files = {
        str(path): found.locate_file(path).read_bytes()
        for path in found.files or ()
        if path.suffix == ".py" and ".." not in path.parts
    }
    if not files:
        raise ValueError(f"{name!r} lists no Python file: is it editable?")
    about = found.read_text("METADATA")
    return _write(folder, name, found.version, files, about)


def _write(folder, name, version, files, about):
    """Write a wheel, with the record of what it holds."""
    stem = f"{name.replace('-', '_')}-{version}"
    info = f"{stem}.dist-info"
    files = {
        **files,
        f"{info}/METADATA": about.encode(),
        f"{info}/WHEEL": WHEEL.encode(),
    }
    record = io.StringIO()
    rows = csv.writer(record, lineterminator="\n")
    path = folder / f"{stem}-py3-none-any.whl"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for inside in sorted(files):
            content = files[inside]
            code = base64.urlsafe_b64encode(hashlib.sha256(content).digest())
            code = code.decode().rstrip("=")
            rows.writerow([inside, f"sha256={code}", len(content)])
            archive.writestr(_entry(inside), content)
        rows.writerow([f"{info}/RECORD", "", ""])
        archive.writestr(_entry(f"{info}/RECORD"), record.getvalue())
    return path


def _entry(inside):
    entry = zipfile.ZipInfo(inside, LONG_AGO)
    entry.compress_type = zipfile.ZIP_DEFLATED
    return entry
