"""What a commit must not bring: refused here before CI refuses it.

    python tools/check_commit.py text FILE...        # spaces, line ends, marks
    python tools/check_commit.py size FILE...        # no large files
    python tools/check_commit.py notebooks FILE...   # stored as `make refresh`

Prints a line for each fault and exits with 1 if there is one. Cheap: nothing
is executed. .pre-commit-config.yaml calls it, and tests/test_pre_commit.py
runs it over the whole tree.
"""

import argparse
import json
import re
import sys
from pathlib import Path

from canonical_notebook import Refused, canonical

__all__ = ["notebook_faults", "size_faults", "text_faults"]

MOST_BYTES = 1_500_000  # the largest chapter has two thirds of it
CONFLICT = re.compile(r"^(<{7}|>{7}|={7})( |$)")


def text_faults(content):
    r"""Find what an editor or a merge leaves behind in a text.

    Parameters
    ----------
    content : bytes

    Returns
    -------
    list of str
        Each fault with its line; none for what is no text.

    Examples
    --------
    >>> text_faults(b"a \nb")
    ['line 1: space at the end', 'line 2: no line end at the end of the file']
    """
    if b"\0" in content:
        return []
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as error:
        return [f"byte {error.start}: not UTF-8"]
    faults = []
    lines = text.split("\n")
    for number, line in enumerate(lines, 1):
        if line.endswith("\r"):
            faults.append(f"line {number}: a line end of Windows")
        elif line != line.rstrip(" \t"):
            faults.append(f"line {number}: space at the end")
        if CONFLICT.match(line):
            faults.append(f"line {number}: a merge that was not finished")
    if lines[-1]:
        faults.append(f"line {len(lines)}: no line end at the end of the file")
    elif len(lines) > 2 and not lines[-2]:
        faults.append(f"line {len(lines) - 1}: an empty line at the end")
    return faults


def size_faults(content):
    """Refuse a file that every clone would carry for ever.

    Parameters
    ----------
    content : bytes

    Returns
    -------
    list of str

    Examples
    --------
    >>> size_faults(b"small")
    []
    """
    if len(content) <= MOST_BYTES:
        return []
    return [f"{len(content):,} bytes, {MOST_BYTES:,} at most"]


def notebook_faults(content):
    """Find what says that a notebook was saved, and not refreshed.

    Parameters
    ----------
    content : bytes

    Returns
    -------
    list of str

    Examples
    --------
    >>> notebook_faults(b"[]")
    ['not a notebook']
    """
    text = content.decode("utf-8")
    try:
        same = canonical(text) == text
    except Refused as refused:
        return [str(refused)]
    cells = json.loads(text)["cells"]
    code = [cell for cell in cells if cell["cell_type"] == "code"]
    counts = [cell["execution_count"] for cell in code]
    faults = []
    if counts != list(range(1, len(counts) + 1)):
        faults.append(f"cells were not run once, in order: {counts}")
    for cell in code:
        if any(out.get("name") == "stderr" for out in cell["outputs"]):
            faults.append(f"cell {cell['id']} writes to stderr")
    if not same:
        faults.append("not as `make refresh` stores it")
    return faults


KINDS = {
    "text": text_faults,
    "size": size_faults,
    "notebooks": notebook_faults,
}


def main():
    """Check the files; say each fault."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("kind", choices=KINDS)
    parser.add_argument("files", nargs="*", type=Path)
    options = parser.parse_args()
    faults = [
        f"{path}: {fault}"
        for path in options.files
        for fault in KINDS[options.kind](path.read_bytes())
    ]
    print("\n".join(faults), end="\n" if faults else "")
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
