"""What each field of a timing record must be, said once more, field by field.

The smallest record of each kind passes. Without any one field, or with one
that is not what it must be, it is refused in words that name the file, the
place, what must be there and what was received.
"""

import copy
import math
import re

import pytest

from utils import record_fields as must
from utils.record_fields import Damaged
from utils.record_format import validate

SHAPE = {
    "contestant": "naive",
    "dtype": "float32",
    "mask": "none",
    "direction": "forward",
    "status": "ok",
    "reason": None,
    **{"batch": 1, "heads": 4, "kv_heads": 2, "queries": 8, "keys": 8, "d": 2},
}
POINT = {
    **SHAPE,
    "experiment": "length",
    "group": "one",
    "clock": "right",
    "operator": None,
    "first_call_seconds": None,
    "mask_seconds": None,
    "peak_bytes": None,
    "memory_method": None,
    "relative_error": {"output": 0.0},
    "load": None,
    "tile": None,
    "density": None,
    "budget_bytes": None,
    "page_faults": None,
    "samples_seconds": [0.5],
}
BOTH = {
    **POINT,
    "direction": "forward+backward",
    "group": "two",
    "relative_error": dict.fromkeys(("output", "dq", "dk", "dv"), 0.0),
}
MEASURED = {
    "schema": "attn-timing/1",
    "kind": "measured",
    "run": "r",
    "started_utc": "then",
    "finished_utc": None,
    "quick": False,
    "script": {"path": "p", "sha256": {}},
    "device": {"type": "cpu", "name": "n"},
    "software": {"python": "3", "torch": "2", "numpy": "2"},
    "method": {"clock": "c", "seed": 0, "threads": 1},
    "capabilities": [
        {
            "contestant": "flash",
            "dtype": "float16",
            "direction": "forward",
            "ok": True,
            "operator": None,
            "reason": None,
        }
    ],
    "calibration": [
        {
            "what": "copy",
            "dtype": "float32",
            "work": 1,
            "samples_seconds": [1.0],
        }
    ],
    "points": [POINT, BOTH],
}
PUBLISHED = {
    "schema": "attn-timing/1",
    "kind": "published",
    "run": "r",
    "title": "t",
    "points": [
        {
            **SHAPE,
            "device": "A100",
            "quantity": "seconds",
            "baseline": None,
            "source_url": "https://example.org",
            "figure": "1",
            "read_by": "eye",
            "note": None,
            "value": 1.5,
        }
    ],
}

TEXT = ("must be a text that is not empty", ["", " ", None, 3])
TABLE = ("must be a table", [None, [], "x"])
ARRAY = ("must be a list", [None, {}, "x"])
COUNTS = (
    "must be a list of whole numbers from 0 on",
    [None, {}, "x", [-1], [0.5], [True]],
)
TRUTH = ("must be true or false", [None, 0, "x"])
ABOVE = ("must be a number above 0", [0, -1, math.inf, math.nan, True, "1"])
FROM_0 = ("must be a number from 0 on", [-0.1, math.inf, None, False, "1"])
WHOLE = ("must be a whole number from 0 on", [-1, 0.5, None, True, "1"])
POSITIVE = ("must be a whole number from 1 on", [0, -1, 1.5, None, True])
SHARE = ("must be above 0 and at most 1", [0, 1.01, math.nan, True, "1"])
TIMES = ("must be a list of 1 or more numbers above 0", [[], [0], None, [""]])
MASK_MUST = "must be 'none', 'causal' or 'window:<keys>'"
MASK = (MASK_MUST, ["full", "window:", "window:x", "Window:3", "window:-3"])


def one_of(*names):
    wrong = ["", "other", names[0].upper() + "?", 3]
    return " or ".join(map(repr, names)).join(["must be ", ""]), wrong


def or_none(kind):
    words, wrong = kind
    return words, [value for value in wrong if value is not None]


DTYPE = one_of("float64", "float32", "float16", "bfloat16", "float8")
DIRECTION = one_of("forward", "forward+backward")
SHAPES = {
    "contestant": TEXT,
    "dtype": DTYPE,
    "mask": MASK,
    "direction": DIRECTION,
    "status": one_of("ok", "wrong", "unsupported", "oom", "error", "skipped"),
    "reason": or_none(TEXT),
    **dict.fromkeys(
        ("batch", "heads", "kv_heads", "queries", "keys", "d"), POSITIVE
    ),
}
PLACES = {
    ("measured", ""): {
        "run": TEXT,
        "started_utc": TEXT,
        "finished_utc": or_none(TEXT),
        "quick": TRUTH,
        "script": TABLE,
        "device": TABLE,
        "software": TABLE,
        "method": TABLE,
        "capabilities": ARRAY,
        "calibration": ARRAY,
        "points": ARRAY,
    },
    ("measured", "device"): {
        "type": one_of("cpu", "cuda", "mps"),
        "name": TEXT,
    },
    ("measured", "script"): {"path": TEXT, "sha256": TABLE},
    ("measured", "software"): dict.fromkeys(
        ("python", "torch", "numpy"), TEXT
    ),
    ("measured", "method"): {
        "clock": TEXT,
        "seed": WHOLE,
        "threads": POSITIVE,
    },
    ("measured", "capabilities[0]"): {
        "contestant": TEXT,
        "dtype": DTYPE,
        "direction": DIRECTION,
        "ok": TRUTH,
        "operator": or_none(TEXT),
        "reason": or_none(TEXT),
    },
    ("measured", "calibration[0]"): {
        "what": one_of("matmul", "copy", "exp", "launch"),
        "dtype": DTYPE,
        "work": POSITIVE,
        "samples_seconds": TIMES,
    },
    ("measured", "points[1]"): {
        **SHAPES,
        "experiment": one_of(
            *("noise", "wrong clocks", "length", "limit"),
            *("precision", "window", "decoding", "tiles"),
        ),
        "group": TEXT,
        "clock": TEXT,
        "operator": or_none(TEXT),
        "first_call_seconds": ABOVE,
        "mask_seconds": ABOVE,
        "peak_bytes": or_none(WHOLE),
        "memory_method": or_none(TEXT),
        "relative_error": TABLE,
        "load": or_none(TABLE),
        "tile": or_none(POSITIVE),
        "density": SHARE,
        "budget_bytes": or_none(POSITIVE),
        "page_faults": or_none(COUNTS),
        "samples_seconds": TIMES,
    },
    ("measured", "points[1].relative_error"): dict.fromkeys(
        ("output", "dq", "dk", "dv"), FROM_0
    ),
    ("published", ""): {"run": TEXT, "title": TEXT, "points": ARRAY},
    ("published", "points[0]"): {
        **{name: or_none(kind) for name, kind in SHAPES.items()},
        "contestant": TEXT,
        "status": SHAPES["status"],
        "device": TEXT,
        "quantity": one_of("TFLOP/s", "ratio", "seconds", "bytes"),
        "baseline": or_none(TEXT),
        "source_url": (
            "must be an https:// address",
            ["", "http://example.org", None, 3],
        ),
        "figure": TEXT,
        "read_by": one_of("eye", "text"),
        "note": or_none(TEXT),
        "value": (ABOVE[0], [*ABOVE[1], None]),
    },
}
FIELDS = [
    (kind, path, field)
    for (kind, path), fields in PLACES.items()
    for field in fields
]


def record_and_table(kind, path):
    """A record of that kind, its own, and the table in it at that path."""
    record = copy.deepcopy(MEASURED if kind == "measured" else PUBLISHED)
    table = record
    for step in re.findall(r"\w+", path):
        table = table[int(step) if step.isdigit() else step]
    return record, table


def refused(record, words):
    with pytest.raises(Damaged, match=rf"\A{re.escape(words)}\Z"):
        validate(record, "mine.json")


@pytest.mark.parametrize("record", [MEASURED, PUBLISHED])
def test_the_smallest_record_passes(record):
    assert validate(record) is record


@pytest.mark.parametrize(("kind", "path", "field"), FIELDS)
def test_a_field_that_is_missing_is_named(kind, path, field):
    record, table = record_and_table(kind, path)
    del table[field]
    place = f"{path}.{field}" if path else field
    refused(record, f"mine.json: {place} is missing")


@pytest.mark.parametrize(("kind", "path", "field"), FIELDS)
def test_a_field_that_is_not_what_it_must_be_is_named(kind, path, field):
    words, wrong = PLACES[kind, path][field]
    place = f"{path}.{field}" if path else field
    for value in wrong:
        record, table = record_and_table(kind, path)
        table[field] = value
        refused(record, f"mine.json: {place} {words}, received {value!r}")


def test_what_may_be_null_may_be():
    for kind, path, field in FIELDS:
        words, wrong = PLACES[kind, path][field]
        record, table = record_and_table(kind, path)
        if table[field] is None:
            assert None not in wrong, (path, field)


@pytest.mark.parametrize(
    "field", [f for f in SHAPES if f not in ("contestant", "status")]
)
def test_what_is_published_may_leave_its_shape_unsaid(field):
    record, table = record_and_table("published", "points[0]")
    table[field] = None
    assert validate(record) is record


def test_the_head_of_a_record_says_what_it_is():
    refused({}, "mine.json: schema is missing")
    refused([], "mine.json: must be a table, received []")
    head = {"schema": "attn-timing/1", "kind": "guessed"}
    words = "must be 'measured' or 'published', received 'guessed'"
    refused(head, f"mine.json: kind {words}")
    with pytest.raises(Damaged, match=r"\Arecord: kind is missing\Z"):
        validate({"schema": "attn-timing/1"})


@pytest.mark.parametrize("index", [0, 1])
def test_a_group_of_keys_serves_as_many_heads_each(index):
    record, table = record_and_table("measured", f"points[{index}]")
    table["kv_heads"] = 3
    must = "kv_heads must divide heads, received 3"
    refused(record, f"mine.json: points[{index}] {must}")
    table.update(heads=6)
    validate(record)


@pytest.mark.parametrize("kind", ["measured", "published"])
def test_what_did_not_run_has_a_reason_and_no_number(kind):
    record, table = record_and_table(kind, "points[0]")
    table["status"] = "oom"
    words = f"{TEXT[0]}, received None"
    refused(record, f"mine.json: points[0].reason {words}")
    table["reason"] = "too large"
    if kind == "measured":
        words = "samples_seconds must be a list of no numbers above 0"
        refused(record, f"mine.json: points[0].{words}, received [0.5]")
        table["samples_seconds"] = []
    else:
        words = "value must be null, received 1.5"
        refused(record, f"mine.json: points[0].{words}")
        table["value"] = None
    validate(record)


def test_a_limit_has_no_samples_and_needs_no_error():
    record, table = record_and_table("measured", "points[0]")
    table.update(experiment="limit", relative_error=None)
    words = "samples_seconds must be a list of no numbers above 0"
    refused(record, f"mine.json: points[0].{words}, received [0.5]")
    table["samples_seconds"] = []
    validate(record)
    table["relative_error"] = "none"
    words = "relative_error must be a table, received 'none'"
    refused(record, f"mine.json: points[0].{words}")


def test_a_forward_pass_has_one_error():
    record, table = record_and_table("measured", "points[0]")
    del table["relative_error"]["output"]
    words = "mine.json: points[0].relative_error.output is missing"
    refused(record, words)


def test_no_point_is_there_twice():
    record, table = record_and_table("measured", "points[1]")
    table["group"] = "one"
    key = ("one", "naive", "right")
    refused(record, f"mine.json: points[1] is there twice, received {key}")
    for field in ("contestant", "clock"):
        validate({**record, "points": [POINT, {**table, field: "other"}]})


def test_a_group_has_as_many_samples_of_each():
    record, table = record_and_table("measured", "points[1]")
    table.update(group="one", clock="again", samples_seconds=[1.0, 2.0])
    words = "must have 1 samples like the rest of its group, received 2"
    refused(record, f"mine.json: points[1] {words}")
    table.update(status="oom", reason="r", samples_seconds=[])
    validate(record)


@pytest.mark.parametrize("name", ["none", "causal", "window:1", "window:4096"])
def test_the_names_of_masks(name):
    assert must.mask(name) == ""
    assert must.mask(3) == MASK_MUST


def test_samples_are_counted():
    check = must.samples(2, 3)
    assert [check([1.0] * n) == "" for n in range(5)] == [
        *(False, False, True, True, False)
    ]
    assert check((1.0, 1.0)) == "must be a list of 2 or more numbers above 0"


def test_the_edges_of_what_a_number_may_be():
    assert must.above_zero(1e-300) == must.not_negative(0) == ""
    assert must.share(1) == must.share(1e-9) == ""
    assert must.whole(0) == must.positive(1) == ""
    assert must.null(None) == ""
    assert must.null(0) == "must be null"
