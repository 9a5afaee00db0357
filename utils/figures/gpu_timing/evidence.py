"""The records that this chapter's figures are drawn from, and their signs.

A measured record is drawn filled, what others published hollow. Each
contestant has a colour, a stroke and a marker of its own in every figure.
"""

from dataclasses import dataclass
from functools import cache

from utils.explore import Slider
from utils.explore.palette import KEY, MUTED, OTHER, QUERY, VALUE
from utils.records import load_all

CASES = (
    ("none", "forward"),
    ("causal", "forward"),
    ("none", "forward+backward"),
    ("causal", "forward+backward"),
)
MASKS = {"none": "no mask", "causal": "causal mask"}
DIRECTIONS = {
    "forward": "forward",
    "forward+backward": "forward and backward",
}


@dataclass(frozen=True)
class Sign:
    """How a contestant is drawn and called."""

    ink: str
    stroke: str
    marker: str
    name: str


SIGNS = {
    "naive": Sign(OTHER, "-", "o", "naive"),
    "naive, preallocated": Sign(KEY, "--", "v", "naive, memory kept"),
    "math": Sign(MUTED, ":", "D", "PyTorch math"),
    "flash": Sign(VALUE, "-", "s", "PyTorch flash"),
    "efficient": Sign(QUERY, "--", "^", "PyTorch efficient"),
    "cudnn": Sign(QUERY, ":", "P", "PyTorch cuDNN"),
    "flex": Sign(QUERY, "-", "X", "FlexAttention"),
}


def shown_case(mask, direction):
    """A mask and a direction, in words.

    >>> shown_case("causal", "forward")
    'forward, causal mask'
    """
    return f"{DIRECTIONS[direction]}, {MASKS[mask]}"


@cache
def measured():
    """Every whole record of attention along N, by the name of its device.

    Returns
    -------
    dict of str to Record
        The latest run of each device, a card before a processor.
    """
    found = [r for r in load_all() if r.kind == "measured"]
    found = [r for r in found if not r.about["quick"]]
    found = [r for r in found if r.select(experiment="length")]
    found.sort(key=lambda r: r.about["started_utc"])
    found.sort(key=lambda r: r.about["device"]["type"] == "cpu")
    return {r.about["device"]["name"]: r for r in found}


@cache
def published():
    """The points that others published, of all records."""
    records = [r for r in load_all() if r.kind == "published"]
    return tuple(point for record in records for point in record.points)


def the_record(device=None):
    """The record of a device, or the first if no device is named.

    Raises
    ------
    ValueError
        If there is none.
    """
    found = measured()
    if device is None and found:
        return next(iter(found.values()))
    if device not in found:
        raise ValueError(f"no record of {device!r}; there are {list(found)}")
    return found[device]


def points(record, contestant, N=None, **wanted):
    """The points of one contestant that have times, at N or along N.

    Parameters
    ----------
    record : Record
    contestant : str
    N : int, optional
    **wanted
        Mask, direction and whatever else a point must have.

    Returns
    -------
    list of Point
        By N, each N once.
    """
    if N is not None:
        wanted["queries"] = N
    found = record.select(
        experiment="length",
        contestant=contestant,
        clock="right",
        status="ok",
        **wanted,
    )
    return sorted(found, key=lambda p: p.queries)


def lengths(record, **wanted):
    """The lengths N at which naive attention was timed."""
    return [point.queries for point in points(record, "naive", **wanted)]


def shown_contestants(record, N=None, **wanted):
    """The contestants that have times there, in the order of SIGNS."""
    return [name for name in SIGNS if points(record, name, N, **wanted)]


def case_sliders(with_length=True):
    """The sliders that choose device, mask, pass and, if asked, N.

    The device is asked for only if there is more than one; N is any length
    that was timed in every case.
    """
    found, devices = [], list(measured())
    if len(devices) > 1:
        texts = [short_device(name) for name in devices]
        found.append(Slider("device", devices, texts=texts))
    found.append(Slider("mask", list(MASKS), texts=list(MASKS.values())))
    texts = list(DIRECTIONS.values())
    found.append(
        Slider("direction", list(DIRECTIONS), label="pass", texts=texts)
    )
    if with_length:
        every = common_lengths()
        text = "{:,}".format
        found.append(Slider("N", every, every[-1], label="tokens", texts=text))
    return found


@cache
def common_lengths():
    """The lengths N that every record has in every case.

    Returns
    -------
    list of int
    """
    found = [
        set(lengths(record, mask=mask, direction=direction))
        for record in measured().values()
        for mask, direction in CASES
    ]
    return sorted(set.intersection(*found))


def short_device(name):
    """A processor's name without what all of them say.

    >>> short_device("AMD EPYC 7B13 64-Core Processor")
    'AMD EPYC 7B13'
    """
    words = name.replace("(R)", "").replace("(TM)", "").split()
    dull = ("CPU", "Processor", "@", "NVIDIA")
    kept = [w for w in words if w not in dull and not w.endswith("-Core")]
    return " ".join(kept)


def name_of(record):
    """The name of a record's device, as the figures write it."""
    return short_device(record.about["device"]["name"])


def duration(seconds):
    """A time with three digits in the unit that fits.

    >>> duration(0.0123), duration(0.00004), duration(1.5)
    ('12.3 ms', '40.0 µs', '1.50 s')
    """
    for unit, size in (("s", 1), ("ms", 1e-3)):
        if seconds >= size:
            return f"{_three(seconds / size)} {unit}"
    return f"{_three(seconds / 1e-6)} µs"


def times(value):
    """How many times, with digits as far as they say something.

    >>> times(3.456), times(31.4), times(110.2)
    ('3.5', '31', '110')
    """
    return f"{value:.1f}" if value < 9.95 else f"{value:.0f}"


def memory(number):
    """Bytes with three digits, in MiB.

    >>> memory(9.3 * 2**20), memory(1024 * 2**20)
    ('9.30 MiB', '1,024 MiB')
    """
    size = number / 2**20
    if size >= 1000:
        return f"{size:,.0f} MiB"
    return f"{_three(size)} MiB"


def _three(number):
    """Three digits, as far as they are behind the point."""
    whole = len(str(int(number)))
    return f"{number:.{max(0, 3 - whole)}f}"
