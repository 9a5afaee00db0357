"""Points, spreads and selections of a record that fits on a screen."""

import json
import os
import re
import stat

import numpy as np
import pytest

from tests.test_record_fields import MEASURED, PUBLISHED
from utils import record_writing, records
from utils.record_fields import Damaged
from utils.records import Spread


@pytest.fixture
def record(tmp_path):
    path = tmp_path / "mine.json"
    path.write_text(json.dumps(MEASURED), "utf-8")
    return records.load(str(path))


def says(error, words):
    return pytest.raises(error, match=rf"\A{re.escape(words)}\Z")


def test_a_record_is_its_file_read(record, tmp_path):
    assert record.name == "mine"
    assert record.kind == "measured"
    assert dict(record.about) == {
        key: value for key, value in MEASURED.items() if key != "points"
    }
    assert [dict(point.fields) for point in record.points] == (
        MEASURED["points"]
    )
    point = record.points[0]
    assert (point.kind, point.device, point.source) == (
        *("measured", "n", "mine.json"),
    )
    assert repr(point) == "<naive forward mask none float32 N 8 d 2: ok>"
    with says(AttributeError, "a measured point has no 'colour'"):
        _ = point.colour


def test_what_is_published_names_its_own_device(tmp_path):
    path = tmp_path / "theirs.json"
    path.write_text(json.dumps(PUBLISHED), "utf-8")
    [point] = records.load(path).points
    assert (point.kind, point.device) == ("published", "A100")
    assert point.seconds is None


def test_records_of_a_folder_come_by_name(tmp_path):
    for name in ("b", "a"):
        path = tmp_path / f"{name}.json"
        path.write_text(json.dumps(PUBLISHED), "utf-8")
    (tmp_path / "note.txt").write_text("no record", "utf-8")
    found = records.load_all(tmp_path)
    assert [record.name for record in found] == ["a", "b"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "is not whole JSON: Expecting value: line 1 column 1 (char 0)"),
        ('{"a": NaN}', "is not whole JSON: NaN is not a number"),
        ('{"a": -Infinity}', "is not whole JSON: -Infinity is not a number"),
        ("[]", "must be a table, received []"),
    ],
)
def test_a_file_that_is_no_record_is_named(tmp_path, text, words):
    path = tmp_path / "half.json"
    path.write_text(text, "utf-8")
    with says(Damaged, f"half.json: {words}") as refusal:
        records.load(path)
    assert refusal.value.__cause__ is None


def test_a_file_that_is_not_there_is_named(tmp_path):
    path = tmp_path / "none.json"
    with says(Damaged, f"none.json: there is no file {path}"):
        records.load(path)


def test_a_spread_is_the_median_and_a_fifth_from_either_end():
    samples = [1.0, 2.0, 3.0, 4.0, 10.0, 11.0]
    spread = Spread.of(samples)
    assert spread == Spread(2.0, 3.5, 10.0)
    assert {type(value) for value in vars(spread).values()} == {float}
    assert spread.low == np.quantile(samples, 0.2)


def test_points_are_found_by_their_fields(record):
    first, second = record.points
    assert record.select() == record.points
    assert record.select(group="one") == (first,)
    assert record.select(group=("two", "one")) == record.points
    assert record.select(group=("two",), d=2) == (second,)
    assert record.select(group="one", direction="forward+backward") == ()
    assert record.one(group="two") is second
    assert (first.seconds, first.samples_seconds) == (
        Spread(0.5, 0.5, 0.5),
        [0.5],
    )
    with says(ValueError, "mine: no point has 'colour'"):
        record.select(group="one", colour="red")
    with says(ValueError, "mine: 2 points have {'d': 2}, not one"):
        record.one(d=2)
    with says(ValueError, "mine: 0 points have {'d': 3}, not one"):
        record.one(d=3)


def test_a_rate_is_work_by_time_of_every_sample(record):
    made = [
        {"what": "copy", "dtype": d, "work": 12, "samples_seconds": times}
        for d, times in (("float32", [1, 2]), ("float16", [9]))
    ]
    more = {"what": "copy", "dtype": "float32", "work": 60}
    made.append({**more, "samples_seconds": [1]})
    about = {**record.about, "calibration": made}
    changed = records.Record("mine", about, ())
    assert changed.rate("copy") == Spread.of([12, 6, 60])
    assert changed.rate("copy", "float16").median == pytest.approx(12 / 9)
    with says(ValueError, "mine: no calibration exp, float32"):
        changed.rate("exp")
    with says(ValueError, "mine: no calibration copy, float64"):
        records.Record("mine", {}, ()).rate("copy", "float64")


def point_of(source="r.json", **fields):
    fields = MEASURED["points"][0] | fields
    return records.Point(fields, "measured", "here", source)


def test_only_neighbours_have_a_ratio():
    none = point_of(samples_seconds=[])
    words = "<naive forward mask none float32 N 8 d 2: ok> has no samples"
    for pair in ((point_of(), none), (none, point_of())):
        with says(ValueError, words):
            records.ratio(*pair)
    for other, said in (
        (point_of(group="b"), "r.json 'b'"),
        (point_of("s.json"), "s.json 'one'"),
    ):
        words = f"not measured in turns: r.json 'one' and {said}"
        with says(ValueError, words):
            records.ratio(point_of(), other)
    slow = point_of(samples_seconds=[2.0, 9.0])
    fast = point_of(samples_seconds=[1.0, 3.0])
    assert records.ratio(slow, fast) == Spread.of([2, 3])


# --- written whole or not at all -------------------------------------------


def test_a_record_is_a_point_a_line(tmp_path):
    path = tmp_path / "a" / "b" / "mine.json"
    record_writing.write({**PUBLISHED, "title": "é"}, str(path))
    [point] = PUBLISHED["points"]
    assert path.read_text("utf-8") == (
        '{\n "schema": "attn-timing/1",\n "kind": "published",\n'
        ' "run": "r",\n "title": "é",\n "points": [\n  '
        f"{json.dumps(point)}\n ]\n}}\n"
    )
    assert json.loads(path.read_text("utf-8")) == {**PUBLISHED, "title": "é"}


def test_two_points_are_two_lines_and_an_empty_list_is_none(tmp_path):
    path = tmp_path / "mine.json"
    record_writing.write({**MEASURED, "capabilities": []}, path)
    text = path.read_text("utf-8")
    first, second = map(json.dumps, MEASURED["points"])
    assert f'"points": [\n  {first},\n  {second}\n ]' in text
    assert '\n "capabilities": [],\n' in text


@pytest.mark.skipif(os.name != "posix", reason="permissions of POSIX")
def test_what_is_written_all_may_read(tmp_path):
    path = tmp_path / "mine.json"
    record_writing.write(PUBLISHED, path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o644


def test_it_is_on_the_disk_before_it_takes_the_old_ones_place(
    tmp_path, monkeypatch
):
    path, did = tmp_path / "mine.json", []
    real = {"fsync": os.fsync, "replace": os.replace}

    def fsync(handle):
        did.append(("fsync", os.fstat(handle).st_size > 100))
        real["fsync"](handle)

    def replace(old, new):
        did.append(("replace", os.path.dirname(old) == str(tmp_path)))
        assert str(old).endswith(".part")
        real["replace"](old, new)

    monkeypatch.setattr(os, "fsync", fsync)
    monkeypatch.setattr(os, "replace", replace)
    record_writing.write(PUBLISHED, path)
    assert did == [("fsync", True), ("replace", True)]
    assert [p.name for p in tmp_path.iterdir()] == ["mine.json"]


def test_what_is_not_a_record_is_named_by_its_file(tmp_path):
    with says(Damaged, "mine.json: run is missing"):
        broken = {k: v for k, v in PUBLISHED.items() if k != "run"}
        record_writing.write(broken, tmp_path / "new" / "mine.json")
    assert not list(tmp_path.iterdir())


def test_no_number_that_json_lacks_is_written(tmp_path):
    with pytest.raises(ValueError, match="not JSON compliant|Out of range"):
        record_writing.write(
            {**PUBLISHED, "more": float("nan")}, tmp_path / "m"
        )
    assert not list(tmp_path.iterdir())
