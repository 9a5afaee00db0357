"""Run notebooks and store their outputs in one canonical form.

    python tools/refresh_notebooks.py                      # all of book/
    python tools/refresh_notebooks.py book/04_softmax.ipynb
    python tools/refresh_notebooks.py --check              # write nothing

The same notebook gives the same bytes on every run: no widget state, no
timing, no editor's marks, execution counts 1..n. A notebook of which a cell
fails, or writes to stderr, is not written.
"""

import argparse
import importlib
import json
import os
import sys
import tempfile
import time
from pathlib import Path

from nbclient import NotebookClient
from nbclient.exceptions import (
    CellExecutionError,
    CellTimeoutError,
    DeadKernelError,
)

from canonical_notebook import KERNEL, Refused, parsed, written

__all__ = ["refresh"]

ROOT = Path(__file__).resolve().parent.parent
CELL_SECONDS = 600


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
    notebook = parsed(path.read_text(encoding="utf-8"))
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
    return written(notebook)


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
