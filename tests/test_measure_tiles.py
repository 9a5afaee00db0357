"""The tool checks values before it starts a clock, and keeps raw samples."""

import numpy as np
import pytest

import measure_tiles
from utils.record_format import validate


def test_a_quick_run_is_a_whole_record(tmp_path, capsys):
    path = tmp_path / "record.json"
    measure_tiles.main(["--quick", "--to", str(path)])
    from utils import records

    record = records.load(path)
    assert {point.queries for point in record.points} == {256, 512}
    assert all(len(p.samples_seconds) == 3 for p in record.points)
    validate(
        dict(record.about)
        | {"points": [dict(p.fields) for p in record.points]}
    )


def test_where_nothing_can_be_written_nothing_is_timed(tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    path = tmp_path / "file" / "record.json"
    monkeypatch.setattr(measure_tiles, "run", lambda *_: pytest.fail("ran"))
    with pytest.raises(SystemExit, match="no record can be written: .*file"):
        measure_tiles.main(["--quick", "--to", str(path)])


def test_a_wrong_contestant_is_a_row_with_a_reason_and_no_time(monkeypatch):
    def inverted(Q, K, V, keep=None):
        return measure_tiles.naive_in_place(
            Q, K, V, None if keep is None else ~keep
        )

    monkeypatch.setattr(measure_tiles, "naive", inverted)
    with np.errstate(all="ignore"):
        found = measure_tiles.measure(64, causal=True, rounds=2)
    wrong, right = found[0], found[1]
    assert wrong["status"] == "wrong"
    assert "not timed" in wrong["reason"]
    assert wrong["samples_seconds"] == []
    assert len(right["samples_seconds"]) == 2
