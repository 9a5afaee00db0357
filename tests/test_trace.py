"""What a profile says: its events in order, its peak, the kernel that ran."""

import json
import os
from pathlib import Path

import pytest

from utils import trace


def memory(ts, count):
    return {"ts": ts, "name": "[memory]", "args": {"Bytes": count}}


def named(*names):
    return [{"ts": ts, "name": name} for ts, name in enumerate(names)]


def test_events_come_in_order_of_time_and_notes_are_left_out():
    class Profile:
        def export_chrome_trace(self, path):
            self.path = path
            events = [{"ts": 2, "name": "é"}, {"name": "a note"}, {"ts": 1}]
            text = json.dumps({"traceEvents": events}, ensure_ascii=False)
            Path(path).write_text(text, "utf-8")

    profile = Profile()
    assert trace.trace(profile) == [{"ts": 1}, {"ts": 2, "name": "é"}]
    assert isinstance(profile.path, str)
    assert not Path(profile.path).parent.exists()


def test_the_peak_is_the_most_that_was_held_at_once():
    events = [
        memory(0, 100),
        {"ts": 1, "name": "aten::mm", "args": {"Bytes": 1000}},
        {"ts": 1},
        memory(2, 50),
        memory(3, -120),
        memory(4, 60),
    ]
    assert trace.peak_of(events) == 150
    assert trace.peak_of([memory(0, -5)]) == 0
    assert trace.peak_of([]) == 0


@pytest.mark.parametrize(
    ("names", "ran"),
    [
        (
            ["aten::bmm", "aten::_scaled_dot_product_flash", "aten::_softmax"],
            "aten::_scaled_dot_product_flash",
        ),
        (
            ["aten::_scaled_dot_product_b", "aten::_scaled_dot_product_a"],
            "aten::_scaled_dot_product_b",
        ),
        (
            ["aten::bmm", "## Call CompiledFxGraph f"],
            "compiled by torch.compile",
        ),
        (
            ["aten::bmm", "aten::_softmax", "aten::mul", "aten::bmm"],
            "aten::bmm + aten::_softmax",
        ),
        (["aten::_softmax"], "aten::_softmax"),
        (["aten::mul"], None),
        ([], None),
    ],
)
def test_the_kernel_that_ran_is_named(names, ran):
    assert trace.operator([*named(*names), {"ts": 9}]) == ran


def test_what_is_written_past_python_is_kept_quiet(capfd):
    with trace.quiet():
        os.write(2, b"noise of a library\n")
    os.write(2, b"heard\n")
    assert capfd.readouterr().err == "heard\n"


def test_quiet_ends_with_an_error_too_and_leaves_no_file_open(capfd):
    def opened():
        return len(list(Path("/proc/self/fd").iterdir()))

    before = opened() if Path("/proc/self/fd").exists() else None
    with pytest.raises(RuntimeError), trace.quiet():
        raise RuntimeError
    os.write(2, b"heard\n")
    assert capfd.readouterr().err == "heard\n"
    if before is not None:
        assert opened() == before


def test_what_python_had_not_written_yet_is_written_first(monkeypatch):
    flushed = []

    class Stream:
        def flush(self):
            flushed.append(True)

    monkeypatch.setattr(trace.sys, "stderr", Stream())
    with trace.quiet():
        assert flushed == [True]
