"""What a timing record may hold, checked field by field.

A record is one JSON file in book/data/timing/. A **measured** one comes from
one device and one run of tools/measure_timing.py and holds raw samples. A
**published** one holds figures that others printed, each with the page it is
from. What can be computed from them (medians, TFLOP/s, ratios, floors) is in
neither: `utils.records` and `utils.roofline` compute it on load.
"""

from utils import record_fields as must

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
    utils.record_fields.Damaged: mine.json: schema must be 'attn-timing/1', \
received 'attn-timing/0'
    """
    top = must.Place(name, "", record)
    top.fields(schema=must.one_of(SCHEMA), kind=must.one_of(*_KINDS))
    _KINDS[record["kind"]](top)
    return record


def _measured(top):
    top.fields(
        run=must.text,
        started_utc=must.text,
        finished_utc=must.or_none(must.text),
        quick=must.truth,
        script=must.table,
        device=must.table,
        software=must.table,
        method=must.table,
        capabilities=must.array,
        calibration=must.array,
        points=must.array,
    )
    top.at("device").fields(
        type=must.one_of("cpu", "cuda", "mps"), name=must.text
    )
    top.at("script").fields(path=must.text, sha256=must.table)
    top.at("software").fields(
        python=must.text, torch=must.text, numpy=must.text
    )
    top.at("method").fields(
        clock=must.text, seed=must.whole, threads=must.positive
    )
    for place in top.items("capabilities"):
        place.fields(
            contestant=must.text,
            dtype=must.one_of(*DTYPES),
            direction=must.one_of(*DIRECTIONS),
            ok=must.truth,
            operator=must.or_none(must.text),
            reason=must.or_none(must.text),
        )
    for place in top.items("calibration"):
        place.fields(
            what=must.one_of("matmul", "copy", "exp", "launch"),
            dtype=must.one_of(*DTYPES),
            work=must.positive,
            samples_seconds=must.samples(1),
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
        contestant=must.text,
        dtype=known(must.one_of(*DTYPES)),
        mask=known(must.mask),
        direction=known(must.one_of(*DIRECTIONS)),
        status=must.one_of(*STATUSES),
        reason=must.or_none(must.text),
        **dict.fromkeys(shape, known(must.positive)),
    )
    point = place.value
    shared = None not in (point["heads"], point["kv_heads"]) and (
        point["heads"] % point["kv_heads"]
    )
    place.refuse(shared, "kv_heads must divide heads", point["kv_heads"])
    if point["status"] != "ok":
        place.fields(reason=must.text)


def _measured_point(place):
    _shape(place)
    place.fields(
        experiment=must.one_of(*EXPERIMENTS),
        group=must.text,
        clock=must.text,
        operator=must.or_none(must.text),
        first_call_seconds=must.or_none(must.above_zero),
        mask_seconds=must.or_none(must.above_zero),
        peak_bytes=must.or_none(must.whole),
        memory_method=must.or_none(must.text),
        relative_error=must.or_none(must.table),
        load=must.or_none(must.table),
        tile=must.or_none(must.positive),
        density=must.or_none(must.share),
        budget_bytes=must.or_none(must.positive),
        page_faults=must.or_none(must.counts),
    )
    point = place.value
    if point["status"] != "ok" or point["experiment"] == "limit":
        place.fields(samples_seconds=must.samples(0, 0))
        return
    place.fields(samples_seconds=must.samples(1), relative_error=must.table)
    errors = place.at("relative_error")
    names = ["output"]
    if point["direction"] == "forward+backward":
        names += ["dq", "dk", "dv"]
    errors.fields(**dict.fromkeys(names, must.not_negative))


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
    top.fields(run=must.text, title=must.text, points=must.array)
    for place in top.items("points"):
        _shape(place, known=must.or_none)
        place.fields(
            device=must.text,
            quantity=must.one_of(*QUANTITIES),
            baseline=must.or_none(must.text),
            source_url=must.url,
            figure=must.text,
            read_by=must.one_of("eye", "text"),
            note=must.or_none(must.text),
        )
        if place.value["status"] == "ok":
            place.fields(value=must.above_zero)
        else:
            place.fields(value=must.null)


_KINDS = {"measured": _measured, "published": _published}
