"""What a field of a record may be: checks that say what it must be.

A check takes a value and returns what it must be, or "" if it is that. A
`Place` is a table of the record, and the way to it, for the message.
"""

import json
import math
from numbers import Integral

from utils.border import is_real


class Damaged(ValueError):
    """A record that does not say what a record must say."""


def read(path):
    """Read a JSON file of the book's data.

    Parameters
    ----------
    path : Path

    Returns
    -------
    object
        As it stands there, not yet checked.

    Raises
    ------
    Damaged
        A ValueError that names the file, if it is missing or not whole.
    """
    try:
        return json.loads(path.read_text("utf-8"), parse_constant=_refuse)
    except FileNotFoundError:
        raise Damaged(f"{path.name}: there is no file {path}") from None
    except OSError as error:
        raise Damaged(f"{path.name}: cannot be read: {error}") from None
    except (ValueError, RecursionError) as error:
        raise Damaged(f"{path.name}: is not whole JSON: {error}") from None


def _refuse(constant):
    raise ValueError(f"{constant} is not a number")


class Place:
    """One table of the record, and the way to it."""

    def __init__(self, name, path, value):
        self.name, self.path, self.value = name, path, value
        if not isinstance(value, dict):
            self.refuse(True, "must be a table", value)

    def refuse(self, bad, must, value):
        """Refuse the record if `bad`, naming place and value."""
        if bad:
            where = f"{self.path} " if self.path else ""
            raise Damaged(f"{self.name}: {where}{must}, received {value!r}")

    def fields(self, **checks):
        """Check the fields of this table by their names."""
        for field, check in checks.items():
            path = f"{self.path}.{field}" if self.path else field
            there = Place(self.name, path, {})
            if field not in self.value:
                raise Damaged(f"{self.name}: {path} is missing")
            value = self.value[field]
            must = check(value)
            there.refuse(must, must, value)

    def at(self, field):
        """Go to a table below."""
        path = f"{self.path}.{field}" if self.path else field
        return Place(self.name, path, self.value[field])

    def items(self, field):
        """Go to each table of a list."""
        for i, value in enumerate(self.value[field]):
            yield Place(self.name, f"{field}[{i}]", value)


def one_of(*allowed):
    """Give the check for one of these values."""
    shown = " or ".join(map(repr, allowed))
    return lambda v: "" if v in allowed else f"must be {shown}"


def or_none(check):
    """Give the check that lets null through, too."""
    return lambda v: "" if v is None else check(v)


def null(value):
    """Check for null."""
    return "" if value is None else "must be null"


def text(value):
    """Check for words."""
    good = isinstance(value, str) and value.strip()
    return "" if good else "must be a text that is not empty"


def url(value):
    """Check for an address."""
    good = isinstance(value, str) and value.startswith("https://")
    return "" if good else "must be an https:// address"


def table(value):
    """Check for a table."""
    return "" if isinstance(value, dict) else "must be a table"


def array(value):
    """Check for a list."""
    return "" if isinstance(value, list) else "must be a list"


def truth(value):
    """Check for true or false."""
    return "" if isinstance(value, bool) else "must be true or false"


def _number(value):
    try:
        return is_real(value) and math.isfinite(value)
    except OverflowError:  # JSON's whole numbers have no end
        return False


def above_zero(value):
    """Check for a finite number above 0."""
    good = _number(value) and value > 0
    return "" if good else "must be a number above 0"


def not_negative(value):
    """Check for a finite number from 0 on."""
    good = _number(value) and value >= 0
    return "" if good else "must be a number from 0 on"


def share(value):
    """Check for a share of a whole, but not of none of it."""
    good = _number(value) and 0 < value <= 1
    return "" if good else "must be above 0 and at most 1"


def whole(value):
    """Check for a whole number from 0 on."""
    good = _number(value) and isinstance(value, Integral) and value >= 0
    return "" if good else "must be a whole number from 0 on"


def positive(value):
    """Check for a whole number from 1 on."""
    good = not whole(value) and value > 0
    return "" if good else "must be a whole number from 1 on"


def counts(value):
    """Check for a list of whole numbers from 0 on."""
    good = isinstance(value, list) and not any(map(whole, value))
    return "" if good else "must be a list of whole numbers from 0 on"


def mask(value):
    """Check for the name of a mask."""
    good = value in ("none", "causal") or (
        isinstance(value, str)
        and value.startswith("window:")
        and value[7:].isdecimal()
    )
    return "" if good else "must be 'none', 'causal' or 'window:<keys>'"


def samples(least, most=math.inf):
    """Give the check for so many times, in seconds."""

    def check(value):
        good = isinstance(value, list) and least <= len(value) <= most
        if good and not any(map(above_zero, value)):
            return ""
        count = "no" if most == 0 else f"{least} or more"
        return f"must be a list of {count} numbers above 0"

    return check
