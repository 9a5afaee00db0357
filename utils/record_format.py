"""What a timing record may hold, checked field by field.

A record is one JSON file in book/data/timing/. A **measured** one comes from
one device and one run of tools/measure_timing.py and holds raw samples. A
**published** one holds figures that others printed, each with the page it is
from. What can be computed from them (medians, TFLOP/s, ratios, floors) is in
neither: `utils.records` and `utils.roofline` compute it on load.
"""

import math
from numbers import Integral

from utils.border import is_real

SCHEMA = "attn-timing/1"
EXPERIMENTS = (
    "noise",  # the same thing twice: what is the smallest true difference?
    "wrong clocks",  # one shape, measured in the ways that mislead
    "length",  # N grows: no mask and causal, forward and with backward
    "limit",  # the largest N in a set amount of memory
    "precision",  # dtype and d, with the error
    "window",  # FlexAttention's block mask against a dense mask
    "decoding",  # one query, a long cache, shared keys
    "tiles",  # NumPy: naive, in place, in tiles
)
STATUSES = ("ok", "wrong", "unsupported", "oom", "error", "skipped")
DIRECTIONS = ("forward", "forward+backward")
QUANTITIES = ("TFLOP/s", "ratio", "seconds", "bytes")
DTYPES = ("float64", "float32", "float16", "bfloat16", "float8")


class Damaged(ValueError):
    """A record that does not say what a record must say."""


def validate(record, name="record"):
    """Check a record as it came out of its JSON file.

    Parameters
    ----------
    record : dict
    name : str, optional
        What to call it in a message: its file.

    Returns
    -------
    dict
        The record, unchanged.

    Raises
    ------
    Damaged
        A ValueError that names the file, the place in it and the value.

    Examples
    --------
    >>> validate({"schema": "attn-timing/0"}, "mine.json")
    Traceback (most recent call last):
        ...
    utils.record_format.Damaged: mine.json: schema must be 'attn-timing/1', \
received 'attn-timing/0'
    """
    top = _Place(name, "", record)
    top.fields(schema=_one_of(SCHEMA), kind=_one_of(*_KINDS))
    _KINDS[record["kind"]](top)
    return record


def _measured(top):
    top.fields(
        run=_text,
        started_utc=_text,
        finished_utc=_or_none(_text),
        quick=_truth,
        script=_table,
        device=_table,
        software=_table,
        method=_table,
        capabilities=_list,
        calibration=_list,
        points=_list,
    )
    top.at("device").fields(type=_one_of("cpu", "cuda", "mps"), name=_text)
    top.at("script").fields(path=_text, sha256=_table)
    top.at("software").fields(python=_text, torch=_text, numpy=_text)
    top.at("method").fields(clock=_text, seed=_whole, threads=_positive)
    for place in top.items("capabilities"):
        place.fields(
            contestant=_text,
            dtype=_one_of(*DTYPES),
            direction=_one_of(*DIRECTIONS),
            ok=_truth,
            operator=_or_none(_text),
            reason=_or_none(_text),
        )
    for place in top.items("calibration"):
        place.fields(
            what=_one_of("matmul", "copy", "exp", "launch"),
            dtype=_one_of(*DTYPES),
            work=_positive,
            samples_seconds=_samples(1),
        )
    seen = set()
    for place in top.items("points"):
        _measured_point(place)
        point = place.value
        key = (point["group"], point["contestant"], point["clock"])
        place.refuse(key in seen, "is there twice", key)
        seen.add(key)
    _same_rounds(top)


def _shape(place, known=lambda check: check):
    """The fields of both kinds; what is published may leave some unsaid."""
    shape = ("batch", "heads", "kv_heads", "queries", "keys", "d")
    place.fields(
        contestant=_text,
        dtype=known(_one_of(*DTYPES)),
        mask=known(_mask),
        direction=known(_one_of(*DIRECTIONS)),
        status=_one_of(*STATUSES),
        reason=_or_none(_text),
        **dict.fromkeys(shape, known(_positive)),
    )
    point = place.value
    shared = None not in (point["heads"], point["kv_heads"]) and (
        point["heads"] % point["kv_heads"]
    )
    place.refuse(shared, "kv_heads must divide heads", point["kv_heads"])
    if point["status"] != "ok":
        place.fields(reason=_text)


def _measured_point(place):
    _shape(place)
    place.fields(
        experiment=_one_of(*EXPERIMENTS),
        group=_text,
        clock=_text,
        operator=_or_none(_text),
        first_call_seconds=_or_none(_above_zero),
        mask_seconds=_or_none(_above_zero),
        peak_bytes=_or_none(_whole),
        memory_method=_or_none(_text),
        relative_error=_or_none(_table),
        load=_or_none(_table),
        tile=_or_none(_positive),
        density=_or_none(_share),
        budget_bytes=_or_none(_positive),
        page_faults=_or_none(_list),
    )
    point = place.value
    if point["status"] != "ok" or point["experiment"] == "limit":
        place.fields(samples_seconds=_samples(0, 0))
        return
    place.fields(samples_seconds=_samples(1), relative_error=_table)
    errors = place.at("relative_error")
    names = ["output"]
    if point["direction"] == "forward+backward":
        names += ["dq", "dk", "dv"]
    errors.fields(**dict.fromkeys(names, _not_negative))


def _same_rounds(top):
    """Paired samples need as many rounds for each of a group."""
    rounds = {}
    for place in top.items("points"):
        point = place.value
        if point["status"] == "ok":
            found = len(point["samples_seconds"])
            first = rounds.setdefault(point["group"], found)
            place.refuse(
                found != first,
                f"must have {first} samples like the rest of its group",
                found,
            )


def _published(top):
    top.fields(run=_text, title=_text, points=_list)
    for place in top.items("points"):
        _shape(place, known=_or_none)
        place.fields(
            device=_text,
            quantity=_one_of(*QUANTITIES),
            baseline=_or_none(_text),
            source_url=_url,
            figure=_text,
            read_by=_one_of("eye", "text"),
            note=_or_none(_text),
        )
        if place.value["status"] == "ok":
            place.fields(value=_above_zero)
        else:
            place.fields(value=_none)


_KINDS = {"measured": _measured, "published": _published}


class _Place:
    """One table of the record, and the way to it."""

    def __init__(self, name, path, value):
        self.name, self.path, self.value = name, path, value
        if not isinstance(value, dict):
            self.refuse(True, "must be a table", value)

    def refuse(self, bad, must, value):
        if bad:
            where = f"{self.path} " if self.path else ""
            raise Damaged(f"{self.name}: {where}{must}, received {value!r}")

    def fields(self, **checks):
        for field, check in checks.items():
            path = f"{self.path}.{field}" if self.path else field
            there = _Place(self.name, path, {})
            if field not in self.value:
                raise Damaged(f"{self.name}: {path} is missing")
            value = self.value[field]
            must = check(value)
            there.refuse(must, must, value)

    def at(self, field):
        path = f"{self.path}.{field}" if self.path else field
        return _Place(self.name, path, self.value[field])

    def items(self, field):
        for i, value in enumerate(self.value[field]):
            yield _Place(self.name, f"{field}[{i}]", value)


# A check returns what the value must be, or nothing if it is.


def _one_of(*allowed):
    shown = " or ".join(map(repr, allowed))
    return lambda v: "" if v in allowed else f"must be {shown}"


def _or_none(check):
    return lambda v: "" if v is None else check(v)


def _none(value):
    return "" if value is None else "must be null"


def _text(value):
    good = isinstance(value, str) and value.strip()
    return "" if good else "must be a text that is not empty"


def _url(value):
    good = isinstance(value, str) and value.startswith("https://")
    return "" if good else "must be an https:// address"


def _table(value):
    return "" if isinstance(value, dict) else "must be a table"


def _list(value):
    return "" if isinstance(value, list) else "must be a list"


def _truth(value):
    return "" if isinstance(value, bool) else "must be true or false"


def _number(value):
    return is_real(value) and math.isfinite(value)


def _above_zero(value):
    good = _number(value) and value > 0
    return "" if good else "must be a number above 0"


def _not_negative(value):
    good = _number(value) and value >= 0
    return "" if good else "must be a number from 0 on"


def _share(value):
    good = _number(value) and 0 < value <= 1
    return "" if good else "must be above 0 and at most 1"


def _whole(value):
    good = _number(value) and isinstance(value, Integral) and value >= 0
    return "" if good else "must be a whole number from 0 on"


def _positive(value):
    good = not _whole(value) and value > 0
    return "" if good else "must be a whole number from 1 on"


def _mask(value):
    good = value in ("none", "causal") or (
        isinstance(value, str)
        and value.startswith("window:")
        and value[7:].isdecimal()
    )
    return "" if good else "must be 'none', 'causal' or 'window:<keys>'"


def _samples(least, most=math.inf):
    def check(value):
        good = isinstance(value, list) and least <= len(value) <= most
        if good and not any(map(_above_zero, value)):
            return ""
        count = "no" if most == 0 else f"{least} or more"
        return f"must be a list of {count} numbers above 0"

    return check
