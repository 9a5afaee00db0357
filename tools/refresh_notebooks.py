"""Run notebooks and store their outputs in one canonical form.

    python tools/refresh_notebooks.py                      # all of book/
    python tools/refresh_notebooks.py book/04_softmax.ipynb
    python tools/refresh_notebooks.py --check              # write nothing

The same notebook gives the same bytes on every run: no widget state, no
timing, no editor's marks, execution counts 1..n. A notebook of which a cell
fails, or writes to stderr, is not written.
"""

import argparse
import hashlib
import importlib
import json
import os
import re
import sys
import tempfile
import time
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import (
    CellExecutionError,
    CellTimeoutError,
    DeadKernelError,
)

__all__ = ["Refused", "canonical", "refresh"]

ROOT = Path(__file__).resolve().parent.parent
CELL_SECONDS = 600
KERNEL = {"display_name": "Python 3", "language": "python", "name": "python3"}
WIDGETS = (
    "application/vnd.jupyter.widget-view+json",
    "application/vnd.jupyter.widget-state+json",
)
VALID_ID = re.compile(r"[a-zA-Z0-9_-]{1,64}")


class Refused(Exception):
    """A notebook that must not be written, and why."""


def canonical(text):
    """Write a notebook's text in the one form the repository keeps.

    Parameters
    ----------
    text : str
        A notebook, format 4, as JSON.

    Returns
    -------
    str
        The same cells and outputs; applied twice, it changes nothing.

    Raises
    ------
    Refused
        If the text is not a notebook of format 4.

    Examples
    --------
    >>> empty = canonical('{"nbformat": 4, "cells": [], "metadata": {}}')
    >>> canonical(empty) == empty
    True
    """
    return _written(_read(text))


def refresh(path):
    """Run a notebook in a fresh kernel, in its own folder.

    Parameters
    ----------
    path : Path

    Returns
    -------
    str
        The notebook with its new outputs, canonical.

    Raises
    ------
    Refused
        If it is not a notebook, a cell fails that is not tagged
        `raises-exception`, or a cell writes to stderr.
    """
    notebook = _read(path.read_text(encoding="utf-8"))
    for cell in _code_cells(notebook):
        cell.outputs, cell.execution_count = [], None
    client = NotebookClient(
        notebook,
        timeout=CELL_SECONDS,
        kernel_name=KERNEL["name"],
        resources={"metadata": {"path": str(path.parent)}},
        record_timing=False,
        store_widget_state=False,
    )
    _execute(client, notebook)
    loud = _first_cell(notebook, "stream", "stderr")
    if loud:
        raise Refused(f"{loud} writes to stderr")
    return _written(notebook)


def _execute(client, notebook):
    """Run every cell; what the kernel itself says is shown if it dies."""
    with (
        tempfile.TemporaryDirectory() as profile,
        tempfile.TemporaryFile("w+", encoding="utf-8") as log,
    ):
        try:
            client.execute(env=_plain_environment(profile), stderr=log)
        except CellExecutionError as error:
            why = f"{error.ename}: {error.evalue}"
            where = _first_cell(notebook, "error")
            raise Refused(f"{where} fails: {why}") from None
        except CellTimeoutError as error:
            raise Refused(str(error).split("\n")[0]) from None
        except DeadKernelError:
            log.seek(0)
            raise Refused(f"the kernel died\n{log.read()}") from None


def _read(text):
    """Parse a notebook and give every cell an id of its own."""
    try:
        raw = json.loads(text)
        version, cells = raw["nbformat"], raw["cells"]
    except (ValueError, TypeError, KeyError):
        raise Refused("not a notebook") from None
    if version != 4:
        raise Refused(f"notebook format {version}, expected 4")
    raw["nbformat_minor"] = 5
    taken = set()
    for place, cell in enumerate(cells):
        name = cell.get("id")
        if not isinstance(name, str) or not VALID_ID.fullmatch(name):
            name = None
        if name is None or name in taken:
            name = _new_id(cell, place, taken)
        cell["id"] = name
        taken.add(name)
    return nbformat.reads(json.dumps(raw), as_version=4)


def _new_id(cell, place, taken):
    """An id that depends on the cell alone, so that it is stable."""
    content = cell["cell_type"] + "".join(cell["source"])
    for attempt in range(place + 1):
        seed = f"{attempt}\n{content}".encode()
        name = hashlib.sha256(seed).hexdigest()[:8]
        if name not in taken:
            return name
    raise AssertionError("more ids taken than there are cells")


def _written(notebook):
    """Drop what is not content, then write as JSON."""
    for cell in notebook.cells:
        tags = cell.metadata.get("tags")
        cell.metadata = {"tags": tags} if tags else {}
        cell.source = _unix(cell.source)
        if cell.cell_type == "code":
            cell.outputs = _merged(filter(None, map(_kept, cell.outputs)))
    notebook.metadata = {
        "kernelspec": KERNEL,
        "language_info": {"name": "python"},
    }
    clean = nbformat.from_dict(notebook)
    try:
        nbformat.validate(clean)
    except nbformat.ValidationError as error:
        raise Refused(f"not a valid notebook: {error.message}") from None
    return nbformat.writes(clean, ensure_ascii=False, indent=1).strip() + "\n"


def _kept(output):
    """An output without what only a running kernel can show."""
    if output.output_type == "stream":
        output.text = _unix(output.text)
    elif output.output_type == "error":
        # The frames name folders of the machine that ran them.
        output.traceback = [f"{output.ename}: {output.evalue}"]
    else:
        for widget in WIDGETS:
            output.data.pop(widget, None)
        if not output.data:
            return None
        output.metadata = {
            kind: output.metadata[kind]
            for kind in output.data
            if kind in output.metadata
        }
    return output


def _merged(outputs):
    """Join streams that follow each other: how they split is chance."""
    merged = []
    for output in outputs:
        last = merged[-1] if merged else None
        if (
            output.output_type == "stream"
            and last is not None
            and last.output_type == "stream"
            and last.name == output.name
        ):
            last.text += output.text
        else:
            merged.append(output)
    return merged


def _unix(text):
    return text.replace("\r\n", "\n")


def _plain_environment(profile):
    """The environment without what would change outputs."""
    environment = {**os.environ, "IPYTHONDIR": profile}
    environment.pop("PYTHONWARNINGS", None)
    return environment


def _code_cells(notebook):
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def _first_cell(notebook, output_type, stream=None):
    """Name the first cell with such an output that no tag excuses."""
    for place, cell in enumerate(notebook.cells):
        if cell.cell_type != "code":
            continue
        for output in cell.outputs:
            if output.output_type != output_type:
                continue
            excused = "raises-exception" in cell.metadata.get("tags", [])
            if stream is None and excused:
                continue
            if stream is not None and output.name != stream:
                continue
            first = cell.source.strip().split("\n")[0]
            return f"cell {place} ({cell.id}: {first})"
    return None


def _differing_cell(old, new):
    """Say where two texts of a notebook part."""
    before, after = (json.loads(text)["cells"] for text in (old, new))
    if len(before) != len(after):
        return f"{len(before)} cells stored, {len(after)} expected"
    for place, (one, other) in enumerate(zip(before, after, strict=True)):
        if one != other:
            return f"cell {place} ({other['id']}) differs"
    return "the cells agree; the notebook's form differs"


def _write(path, text):
    """Replace a file in one step: a crash leaves the old one whole."""
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with open(handle, "w", encoding="utf-8", newline="\n") as file:
            file.write(text)
        os.chmod(name, path.stat().st_mode)
        os.replace(name, path)
    except BaseException:
        os.unlink(name)
        raise


def _one(path, check):
    """Refresh one notebook; say what came of it. True if all is well."""
    start = time.perf_counter()
    print(f"{path} ... ", end="", flush=True)
    try:
        old = path.read_bytes().decode("utf-8")
        if not check:  # or it would be run for nothing
            tempfile.NamedTemporaryFile(dir=path.parent).close()
        new = refresh(path)
        if not check and new != old:
            _write(path, new)
    except (Refused, OSError, UnicodeDecodeError) as error:
        print(f"refused: {error}", flush=True)
        return False
    seconds = time.perf_counter() - start
    if new == old:
        print(f"unchanged, {seconds:.1f} s", flush=True)
        return True
    if check:
        print(f"stale: {_differing_cell(old, new)}", flush=True)
        return False
    print(f"written, {seconds:.1f} s", flush=True)
    return True


def main():
    """Refresh, or check, the notebooks named; exit 1 if one was refused."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("files", nargs="*", type=Path)
    parser.add_argument(
        "--check", action="store_true", help="compare, write nothing"
    )
    options = parser.parse_args()
    files = options.files or sorted((ROOT / "book").glob("*.ipynb"))
    if not files:
        sys.exit("no notebooks found")
    # Looks for fonts now, or the first chapter would, and say so on stderr.
    importlib.import_module("matplotlib.font_manager")
    results = [_one(path, options.check) for path in files]
    sys.exit(0 if all(results) else 1)


if __name__ == "__main__":
    main()
