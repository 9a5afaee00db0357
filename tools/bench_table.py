"""The bench's one table: numbers, bars, and whether they hold."""

import gzip
from dataclasses import dataclass

import numpy as np

__all__ = [
    "Row",
    "Unmeasured",
    "at_least",
    "at_most",
    "gzipped",
    "kilobytes",
    "render",
    "spread",
]

HEADS = ("what", "measured (median, p95)", "bar", "peer", "ratio", "holds?")
LEVEL = 6  # what web servers use unless told otherwise


class Unmeasured(Exception):
    """Something could not be measured, and why."""


@dataclass
class Row:
    """One line of the table, as it is printed, and what a record keeps."""

    what: str
    measured: str = ""
    bar: str = ""
    peer: str = ""
    ratio: str = ""
    holds: str = ""
    facts: dict | None = None


def spread(values):
    """Take the median and the 95th percentile.

    Parameters
    ----------
    values : sequence of float

    Returns
    -------
    median, p95 : float

    Raises
    ------
    Unmeasured
        If there are no values.

    Examples
    --------
    >>> spread([1, 2, 3, 4, 100])
    (3.0, 80.8)
    """
    if not len(values):
        raise Unmeasured("no moves were timed")
    median, p95 = np.percentile(values, [50, 95])
    return float(median), round(float(p95), 9)


def at_most(value, bar):
    """Say whether a value stays under its bar, and if not, by how much.

    >>> at_most(7.9, 8), at_most(10, 8)
    ('yes', 'no (25 % over)')
    """
    if value < bar:
        return "yes"
    return f"no ({100 * (value / bar - 1):.3g} % over)"


def at_least(ratio, bar):
    """Say whether a ratio reaches its bar, and if not, how far it comes.

    >>> at_least(50, 50), at_least(4.68, 50)
    ('yes', 'no (4.7 of 50)')
    """
    if ratio >= bar:
        return "yes"
    return f"no ({ratio:.2g} of {bar:g})"


def gzipped(data):
    """How many bytes are sent for a text or bytes."""
    if isinstance(data, str):
        data = data.encode("utf-8")
    return len(gzip.compress(data, LEVEL))


def kilobytes(count):
    """Bytes in thousands.

    >>> kilobytes(16903), kilobytes(2187801)
    ('16.9 KB', '2,187.8 KB')
    """
    return f"{count / 1000:,.1f} KB"


def render(rows):
    """Lay the rows out as one Markdown table that reads well as plain text.

    Parameters
    ----------
    rows : sequence of Row

    Returns
    -------
    str
    """
    printed = [tuple(vars(row).values())[: len(HEADS)] for row in rows]
    lines = [HEADS, *printed]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    lines.insert(1, tuple("-" * width for width in widths))
    return "\n".join(
        "| "
        + " | ".join(
            text.ljust(width) for text, width in zip(line, widths, strict=True)
        )
        + " |"
        for line in lines
    )
