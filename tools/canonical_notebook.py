"""The one form in which the repository keeps a notebook.

No widget state, no timing, no editor's marks, and every cell has an id: the
same cells and outputs are the same bytes.
"""

import hashlib
import json
import re

import nbformat

__all__ = ["KERNEL", "Refused", "canonical", "parsed", "written"]

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
    return written(parsed(text))


def parsed(text):
    """Parse a notebook and give every cell an id of its own.

    Parameters
    ----------
    text : str

    Returns
    -------
    nbformat.NotebookNode

    Raises
    ------
    Refused
        If the text is not a notebook of format 4.
    """
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


def written(notebook):
    """Drop what is not content, then write as JSON.

    Parameters
    ----------
    notebook : nbformat.NotebookNode
        It is changed.

    Returns
    -------
    str

    Raises
    ------
    Refused
        If it is not a valid notebook.
    """
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
