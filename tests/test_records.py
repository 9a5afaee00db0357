"""Every stored record is whole, and what is drawn from it has a source."""

import copy
import json
import os
import tempfile

import numpy as np
import pytest

from utils import records, roofline
from utils.record_fields import Damaged
from utils.record_format import EXPERIMENTS, validate
from utils.record_writing import try_place, write

FILES = sorted(records.FOLDER.glob("*.json"))
ALL = records.load_all()
MEASURED = [r for r in ALL if r.kind == "measured"]
# those of tools/measure_timing.py; tools/measure_tiles.py knows NumPy alone
ALONG = [r for r in MEASURED if r.select(experiment="length")]
PUBLISHED = [r for r in ALL if r.kind == "published"]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_every_stored_record_is_whole(path):
    record = records.load(path)
    assert record.points
    assert record.about["run"] == path.stem


def test_there_is_a_record_of_each_kind():
    assert MEASURED
    assert PUBLISHED


def timed(record):
    return [p for p in record.points if p.status == "ok"]


@pytest.mark.parametrize("record", ALL, ids=lambda r: r.name)
def test_each_point_that_can_be_drawn_has_samples_or_a_source(record):
    for point in timed(record):
        if point.kind == "measured" and point.experiment != "limit":
            assert len(point.samples_seconds) >= 1
            assert point.relative_error["output"] >= 0
        elif point.kind == "published":
            assert point.source_url.startswith("https://")
            assert "samples_seconds" not in point.fields


@pytest.mark.bug(id="A45")
@pytest.mark.parametrize("record", ALL, ids=lambda r: r.name)
def test_nothing_that_follows_from_the_samples_is_stored(record):
    stored = {field for point in record.points for field in point.fields}
    told = ("median", "tflop", "ratio", "speed", "floor", "roof", "exponent")
    assert not [f for f in stored for word in told if word in f.lower()]


@pytest.mark.parametrize("record", MEASURED, ids=lambda r: r.name)
def test_no_program_is_timed_that_is_worse_than_twice_the_plain_one(record):
    groups = {}
    for point in timed(record):
        if point.experiment != "limit":
            groups.setdefault(point.group, []).append(point)
    assert groups
    for group in groups.values():
        plain = [p for p in group if p.contestant == "naive"]
        for point in group if plain else ():
            for name, error in point.relative_error.items():
                # float32's own grain is allowed to all: N = 1 sums little
                allowed = 2 * max(plain[0].relative_error[name], 1.2e-7)
                assert error <= allowed, (point, name)


@pytest.mark.parametrize("record", ALONG, ids=lambda r: r.name)
def test_a_cpu_record_names_no_card(record):
    about = record.about
    if about["device"]["type"] == "cpu":
        assert about["method"]["clock"] == "perf_counter_ns"
        assert "capability" not in about["device"]


@pytest.mark.parametrize("record", ALONG, ids=lambda r: r.name)
def test_a_fused_kernel_is_what_ran_under_its_name(record):
    seen = set()
    for point in timed(record):
        if point.contestant in ("flash", "math") and point.samples_seconds:
            assert point.contestant in point.operator, point
            seen.add(point.contestant)
    assert seen == {"flash", "math"}


@pytest.mark.bug(id="A46")
@pytest.mark.parametrize("record", ALONG, ids=lambda r: r.name)
def test_memory_follows_its_laws(record):
    """Naive holds the scores twice; flash nothing that grows with N²."""
    longest = max(p.queries for p in record.select(experiment="length"))
    shape = {
        "experiment": "length",
        "direction": "forward",
        "mask": "none",
        "clock": "right",
        "queries": longest,
        "d": 64,
    }
    naive = record.one(contestant="naive", **shape)
    flash = record.one(contestant="flash", **shape)
    scores = roofline.pass_bytes(naive)
    assert 2 * scores <= naive.peak_bytes < 2.2 * scores
    assert flash.peak_bytes < 0.2 * scores


# --- what is published -----------------------------------------------------


@pytest.fixture
def bars():
    """Points of naive attention at N = 4096, by device, pass, mask and d."""
    return {
        (p.device[:4], p.direction, p.mask, p.d): p
        for record in PUBLISHED
        for p in record.points
        if p.contestant == "naive"
        and p.queries == 4096
        and p.quantity == "TFLOP/s"
    }


PASSES = {
    ("H100", "forward", "none"): 5.6,
    ("H100", "forward", "causal"): 11.4,
    ("H100", "forward+backward", "none"): 16.2,
    ("A100", "forward+backward", "none"): 17.6,
    ("H100", "forward+backward", "causal"): 22.1,
    ("A100", "forward+backward", "causal"): 22.7,
}


@pytest.mark.parametrize("d", [64, 128])
@pytest.mark.parametrize("case", PASSES, ids=" ".join)
def test_one_count_of_passes_explains_the_bars_at_both_d(bars, case, d):
    point = bars[*case, d]
    peaks = roofline.data_sheet(point.device)
    passes = roofline.effective_passes(point, peaks)
    assert passes == pytest.approx(PASSES[case], rel=0.03)


def test_prediction_undoes_the_count_of_passes(bars):
    for point in bars.values():
        peaks = roofline.data_sheet(point.device)
        passes = roofline.effective_passes(point, peaks)
        again = roofline.predicted_seconds(point, peaks, passes)
        assert again == pytest.approx(roofline.seconds(point), rel=1e-12)


@pytest.mark.bug(id="A44")
def test_no_published_kernel_is_faster_than_its_roofs():
    seen = 0
    for record in PUBLISHED:
        for point in record.points:
            told = point.fields.get("quantity") == "TFLOP/s"
            if told and point.status == "ok" and point.queries:
                peaks = roofline.data_sheet(point.device)
                floor = roofline.floors(point, peaks).highest
                assert floor < roofline.seconds(point), point
                seen += 1
    assert seen > 150


def test_traffic_of_flash_attention_agrees_with_passes():
    record = records.load(records.FOLDER / "published-others.json")
    point = record.one(contestant="naive", quantity="bytes")
    assert point.value / roofline.pass_bytes(point) == pytest.approx(
        18.8, abs=0.1
    )


# --- what follows from samples ---------------------------------------------


def make_point(**fields):
    shape = {
        "contestant": "flash",
        "batch": 2,
        "heads": 8,
        "kv_heads": 8,
        "queries": 6,
        "keys": 6,
        "d": 4,
        "dtype": "float32",
        "mask": "none",
        "direction": "forward",
        "status": "ok",
        "group": "g",
        "samples_seconds": [1.0],
    }
    return records.Point(shape | fields, "measured", "here", "r.json")


@pytest.mark.parametrize("mask", ["none", "causal", "window:3"])
@pytest.mark.parametrize("queries", [1, 4, 6])
def test_work_is_counted_as_a_slow_loop_counts_it(mask, queries):
    point = make_point(mask=mask, queries=queries)
    pairs = 0
    for i in range(queries):
        for j in range(6):
            back = i + 6 - queries - j
            width = 3 if mask == "window:3" else 6
            if mask == "none" or 0 <= back < width:
                pairs += 1
    pairs *= 2 * 8
    assert roofline.exponentials(point) == pairs
    assert roofline.flops(point) == 4 * pairs * 4
    both = make_point(mask=mask, queries=queries, direction="forward+backward")
    assert roofline.flops(both) == 3.5 * 4 * pairs * 4


def test_a_ratio_is_of_neighbours():
    slow = make_point(samples_seconds=[4.0, 40.0, 8.0])
    fast = make_point(samples_seconds=[2.0, 20.0, 2.0])
    spread = records.ratio(slow, fast)
    assert spread.median == 2.0  # that of medians would be 8 / 2
    assert spread.low == 2.0
    assert spread.high == pytest.approx(np.quantile([2, 2, 4], 0.8))


def test_a_ratio_across_groups_is_refused():
    with pytest.raises(ValueError, match="not measured in turns"):
        records.ratio(make_point(), make_point(group="other"))
    with pytest.raises(ValueError, match="no samples"):
        records.ratio(make_point(), make_point(samples_seconds=[]))


def test_the_exponent_refuses_what_has_none():
    with pytest.raises(ValueError, match="two or more"):
        roofline.exponent([1], [1])
    with pytest.raises(ValueError, match="above 0"):
        roofline.exponent([1, 2], [0, 1])


def test_select_and_one_say_what_they_did_not_find():
    record = MEASURED[0]
    assert record.select(experiment="length", contestant=("naive", "flash"))
    with pytest.raises(ValueError, match="no point has 'colour'"):
        record.select(colour="red")
    with pytest.raises(ValueError, match="not one"):
        record.one(contestant="naive")
    with pytest.raises(AttributeError, match="has no 'colour'"):
        _ = record.points[0].colour


# --- damage ----------------------------------------------------------------


@pytest.fixture
def fields():
    path = next(p for p in FILES if not p.stem.startswith("published"))
    return json.loads(path.read_text("utf-8"))


@pytest.fixture
def published():
    path = next(p for p in FILES if p.stem.startswith("published"))
    return json.loads(path.read_text("utf-8"))


def first_ok(fields):
    return next(
        i for i, p in enumerate(fields["points"]) if p["status"] == "ok"
    )


BROKEN = {
    "schema": ("attn-timing/0", "schema must be 'attn-timing/1'"),
    "kind": ("guessed", "kind must be 'measured' or 'published'"),
    "run": ("", "run must be a text"),
    "points": ({}, "points must be a list"),
    "points.samples_seconds": ([1.0, -1.0], "samples_seconds must be a list"),
    "points.relative_error": (None, "relative_error must be a table"),
    "points.experiment": ("other", "experiment must be"),
    "points.mask": ("inverted", "mask must be"),
    "points.dtype": ("float", "dtype must be"),
    "points.page_faults": ([-1], "page_faults must be a list of whole"),
    "points.first_call_seconds": (10**400, "must be a number above 0"),
    "points.queries": (0, "queries must be a whole number from 1 on"),
    "points.peak_bytes": (0.5, "peak_bytes must be a whole number"),
    "points.kv_heads": (3, "kv_heads must divide heads"),
    "points.status": ("fine", "status must be"),
}


@pytest.mark.parametrize("place", BROKEN)
def test_a_wrong_value_is_named_with_its_place(fields, place):
    value, message = BROKEN[place]
    at, name = fields, place
    if place.startswith("points."):
        number = first_ok(fields)
        at, name = fields["points"][number], place.split(".")[1]
        message = rf"points\[{number}\]\.?{'.*'}{message}"
    at[name] = value
    with pytest.raises(Damaged, match=f"mine.json: .*{message}.*received"):
        validate(fields, "mine.json")


@pytest.mark.parametrize("name", ["device", "points", "calibration", "method"])
def test_a_missing_field_is_named(fields, name):
    del fields[name]
    with pytest.raises(Damaged, match=f"mine.json: {name} is missing"):
        validate(fields, "mine.json")


def test_a_time_of_what_did_not_run_is_refused(fields):
    point = fields["points"][first_ok(fields)]
    point |= {"status": "wrong", "reason": "output: relative error 1.4"}
    with pytest.raises(Damaged, match="list of no numbers"):
        validate(fields)
    point |= {"samples_seconds": [], "reason": None}
    with pytest.raises(Damaged, match="reason must be a text"):
        validate(fields)


def test_a_group_has_as_many_samples_of_each(fields):
    fields["points"][first_ok(fields)]["samples_seconds"].append(1.0)
    with pytest.raises(Damaged, match="like the rest of its group"):
        validate(fields)


def test_a_point_is_there_once(fields):
    fields["points"].append(copy.deepcopy(fields["points"][0]))
    with pytest.raises(Damaged, match="is there twice"):
        validate(fields)


def test_a_published_value_needs_its_page(published):
    published["points"][0]["source_url"] = "somewhere"
    with pytest.raises(Damaged, match="https:// address"):
        validate(published)
    del published["points"][0]["source_url"]
    with pytest.raises(Damaged, match="source_url is missing"):
        validate(published)


@pytest.mark.parametrize(
    "text", ["", "{", '{"schema": NaN}', "[]", '"x"'], ids=repr
)
def test_a_half_written_file_is_a_clear_error(tmp_path, text):
    path = tmp_path / "half.json"
    path.write_text(text, "utf-8")
    with pytest.raises(Damaged, match="half.json: "):
        records.load(path)


def test_a_file_cut_anywhere_is_refused(tmp_path):
    whole = FILES[0].read_bytes()
    path = tmp_path / "cut.json"
    for end in np.linspace(0, len(whole) - 3, 25).astype(int):
        path.write_bytes(whole[:end])
        with pytest.raises(Damaged, match="cut.json: is not whole JSON"):
            records.load(path)


@pytest.mark.parametrize(
    "content", [b"\xff\x00" * 99, b"[" * 100_000], ids=["bytes", "depth"]
)
def test_what_is_no_record_at_all_is_refused(tmp_path, content):
    path = tmp_path / "other.json"
    path.write_bytes(content)
    with pytest.raises(Damaged, match="other.json: is not whole JSON"):
        records.load(path)


def test_a_folder_is_no_record(tmp_path):
    path = tmp_path / "folder.json"
    path.mkdir()
    with pytest.raises(Damaged, match="folder.json: cannot be read"):
        records.load(path)


def test_no_file_is_a_clear_error(tmp_path):
    with pytest.raises(Damaged, match="there is no file"):
        records.load(tmp_path / "none.json")


# --- writing ---------------------------------------------------------------


def test_what_is_written_is_what_is_read(tmp_path, fields):
    path = tmp_path / "new" / "mine.json"
    write(fields, path)
    assert json.loads(path.read_text("utf-8")) == fields
    assert [p.name for p in path.parent.iterdir()] == ["mine.json"]
    lines = path.read_text("utf-8").splitlines()
    assert sum(
        line.startswith('  {"experiment"') or '"contestant"' in line
        for line in lines
    ) >= len(fields["points"])


def test_a_write_that_fails_leaves_the_old_record(
    tmp_path, fields, monkeypatch
):
    path = tmp_path / "mine.json"
    write(fields, path)
    before = path.read_bytes()

    def no_disk(*_):
        raise OSError("no space left")

    monkeypatch.setattr(os, "replace", no_disk)
    with pytest.raises(OSError, match="no space"):
        write(fields | {"run": "other"}, path)
    assert path.read_bytes() == before
    assert [p.name for p in tmp_path.iterdir()] == ["mine.json"]


def test_what_is_not_a_record_is_not_written(tmp_path, fields):
    fields["points"][0]["samples_seconds"] = [float("nan")]
    with pytest.raises(Damaged):
        write(fields, tmp_path / "mine.json")
    assert not list(tmp_path.iterdir())


def test_every_experiment_is_in_the_record_or_said_to_be_left_out():
    whole = [r for r in ALONG if not r.about["quick"]]
    for record in whole:
        if record.about["finished_utc"]:
            found = {p.experiment for p in record.points}
            wanted = set(EXPERIMENTS) - {"tiles"}  # tools/measure_tiles.py's
            assert wanted <= found, record.name


def test_a_place_is_tried_where_the_file_will_be(tmp_path, monkeypatch):
    tried = []
    real = tempfile.NamedTemporaryFile

    def remembered(**how):
        tried.append(how["dir"])
        return real(**how)

    monkeypatch.setattr(tempfile, "NamedTemporaryFile", remembered)
    for _ in range(2):  # once it is not there, and once it is
        try_place(tmp_path / "so" / "new" / "mine.json")
    assert tried == [tmp_path / "so" / "new"] * 2
    assert list((tmp_path / "so" / "new").iterdir()) == []


def test_a_file_is_no_folder_to_write_into(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(OSError, match="file"):
        try_place(tmp_path / "file" / "mine.json")
