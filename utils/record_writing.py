"""A timing record is checked, then written whole, or not at all."""

import json
import os
import tempfile
from pathlib import Path

from utils.record_format import validate

__all__ = ["try_place", "write"]


def try_place(path):
    """Find out whether a file could be written, before the work is done.

    Parameters
    ----------
    path : str or Path
        Its folder is made, if it is not there.

    Raises
    ------
    OSError
        If it could not: names the folder.
    """
    folder = Path(path).parent
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=folder, suffix=".part"):
        pass


def write(fields, path):
    """Check a record and write it whole, or not at all.

    The file at `path` is the old one until the new one is complete.

    Parameters
    ----------
    fields : dict
    path : str or Path

    Raises
    ------
    Damaged
        If it is not a record; nothing is written then.
    """
    path = Path(path)
    validate(fields, path.name)
    text = _as_text(fields)
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, suffix=".part")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(name, 0o644)  # mkstemp's is the owner's alone
        os.replace(name, path)
    except BaseException:
        os.unlink(name)
        raise


def _as_text(fields):
    """JSON with a point a line, so that a change is a line of a diff."""
    lines = []
    for key, value in fields.items():
        if isinstance(value, list) and value:
            rows = ",\n  ".join(_line(item) for item in value)
            lines.append(f"{_line(key)}: [\n  {rows}\n ]")
        else:
            lines.append(f"{_line(key)}: {_line(value)}")
    return "{\n " + ",\n ".join(lines) + "\n}\n"


def _line(value):
    return json.dumps(value, ensure_ascii=False, allow_nan=False)
