"""Timing records: read, check, and what follows from their samples.

The form of a record is in `utils.record_format`, how one is written in
`utils.record_writing`; what physics says about a point in `utils.roofline`.
Medians and ratios are computed here, on load.
"""

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType

import numpy as np

from utils.record_fields import read
from utils.record_format import validate

_BOOK = Path(__file__).resolve().parent.parent / "book"
FOLDER = _BOOK / "data" / "timing"
BAND = (0.2, 0.8)


@dataclass(frozen=True)
class Spread:
    """A median and the quantiles below and above it (20 % and 80 %)."""

    low: float
    median: float
    high: float

    @classmethod
    def of(cls, samples):
        """The spread of these samples."""
        low, high = np.quantile(samples, BAND)
        return cls(float(low), float(np.median(samples)), float(high))


class Point:
    """One contestant at one shape; its stored fields are its attributes.

    Beside them: `kind`, the record's; `device`, the name of what it ran on;
    `source`, the file, and `source_url` if it was published.
    """

    def __init__(self, fields, kind, device, source):
        self.fields = MappingProxyType(dict(fields))
        self.kind, self.source = kind, source
        self.device = fields.get("device", device)

    def __getattr__(self, name):
        if name != "fields" and name in self.fields:
            return self.fields[name]
        raise AttributeError(f"a {self.kind} point has no {name!r}")

    def __repr__(self):
        return (
            f"<{self.contestant} {self.direction} mask {self.mask} "
            f"{self.dtype} N {self.queries} d {self.d}: {self.status}>"
        )

    @property
    def seconds(self):
        """Spread of the samples; None if there are none."""
        samples = self.fields.get("samples_seconds")
        return Spread.of(samples) if samples else None


@dataclass(frozen=True)
class Record:
    """One checked record."""

    name: str
    about: MappingProxyType  # every field of the file but the points
    points: tuple

    @property
    def kind(self):
        """`measured` or `published`."""
        return self.about["kind"]

    def select(self, **wanted):
        """Every point whose fields are as wanted, in the record's order.

        Parameters
        ----------
        **wanted
            Field to value, or to a tuple of values that will do.

        Returns
        -------
        tuple of Point

        Raises
        ------
        ValueError
            If no point of the record has such a field.
        """
        for field in wanted:
            if not any(field in p.fields for p in self.points):
                raise ValueError(f"{self.name}: no point has {field!r}")

        def fits(point):
            for field, value in wanted.items():
                allowed = value if isinstance(value, tuple) else (value,)
                if point.fields.get(field) not in allowed:
                    return False
            return True

        return tuple(filter(fits, self.points))

    def one(self, **wanted):
        """The only point whose fields are as wanted.

        Raises
        ------
        ValueError
            If there is none, or more than one.
        """
        found = self.select(**wanted)
        if len(found) != 1:
            raise ValueError(
                f"{self.name}: {len(found)} points have {wanted}, not one"
            )
        return found[0]

    def rate(self, what, dtype="float32"):
        """What the device reached in the run itself, in work per second.

        Parameters
        ----------
        what : str
            matmul (FLOP), copy (bytes read and written), exp (exponentials)
            or launch (calls that do nothing).
        dtype : str, optional

        Returns
        -------
        Spread

        Raises
        ------
        ValueError
            If it was not calibrated.
        """
        rates = [
            entry["work"] / seconds
            for entry in self.about.get("calibration", [])
            if (entry["what"], entry["dtype"]) == (what, dtype)
            for seconds in entry["samples_seconds"]
        ]
        if not rates:
            raise ValueError(f"{self.name}: no calibration {what}, {dtype}")
        return Spread.of(rates)


def load(path):
    """Read and check one record.

    Parameters
    ----------
    path : str or Path

    Returns
    -------
    Record

    Raises
    ------
    Damaged
        A ValueError that names the file, the place in it and the value.
    """
    path = Path(path)
    fields = read(path)
    validate(fields, path.name)
    about = {k: v for k, v in fields.items() if k != "points"}
    device = about.get("device", {}).get("name")
    points = tuple(
        Point(p, about["kind"], device, path.name) for p in fields["points"]
    )
    return Record(path.stem, MappingProxyType(about), points)


@lru_cache
def load_all(folder=FOLDER):
    """Read every record of a folder, in the order of their names.

    Returns
    -------
    tuple of Record
    """
    return tuple(load(path) for path in sorted(Path(folder).glob("*.json")))


def ratio(slow, fast):
    """How many times longer one took than the other, round by round.

    Parameters
    ----------
    slow, fast : Point
        Measured in turns, in the same group.

    Returns
    -------
    Spread
        Of the ratios of samples that stood side by side, so that a busy
        moment of the machine falls on both.

    Raises
    ------
    ValueError
        If the two were not measured in turns.
    """
    for point in (slow, fast):
        if not point.fields.get("samples_seconds"):
            raise ValueError(f"{point!r} has no samples")
    same = (slow.source, slow.group) == (fast.source, fast.group)
    if not same:
        raise ValueError(
            f"not measured in turns: {slow.source} {slow.group!r} and "
            f"{fast.source} {fast.group!r}"
        )
    return Spread.of(np.divide(slow.samples_seconds, fast.samples_seconds))
