"""No time before the value; all in turns; the device is waited for.

Nothing here asserts how long anything takes on this machine: the clocks are
tried on a device that is made up, whose times are known exactly.
"""

import argparse
import json
import sys

import numpy as np
import pytest
import torch

import measure_timing
import timing_plan
import timing_runs
from utils import contestants, measuring, records, timing
from utils.attention import scaled_dot_product_attention
from utils.clocks import EventClock, HostClock
from utils.masks import causal_mask
from utils.measuring import Call, measure
from utils.record_fields import Damaged
from utils.record_writing import write
from utils.timing import Shape, TorchMachine

MILLISECOND = 1_000_000


class FakeDevice:
    """It computes while the host goes on: a launch takes a microsecond."""

    def __init__(self):
        self.host = self.busy_until = 0

    def launch(self, nanoseconds):
        self.host += 1000
        self.busy_until = max(self.busy_until, self.host) + nanoseconds

    def now(self):
        return self.host

    def synchronize(self):
        self.host = max(self.host, self.busy_until)

    def event(device):  # noqa: N805 (self is the event's)
        class Event:
            def record(self):
                device.host += 1000
                self.at = max(device.busy_until, device.host)

            def elapsed_time(self, other):
                if device.host < other.at:  # it has not got there yet
                    return 1e-3
                return (other.at - self.at) / 1e6

        return Event()


class FakeMachine:
    """A machine with a made-up device, and either kind of clock."""

    def __init__(self, clock):
        self.fake = FakeDevice()
        if clock == "host":
            self.clock = HostClock(self.fake.synchronize, self.fake.now)
        else:
            self.clock = EventClock(self.fake.event, self.fake.synchronize)

    def prepare(self):
        pass

    def arrays(self, found):
        return found

    def observe(self, call):
        return {"operator": "fake", "peak_bytes": 5, "memory_method": "fake"}

    def status_of(self, error):
        return "error"

    def call(self, name, milliseconds, output, log=None, **fields):
        def run():
            self.fake.launch(round(milliseconds * MILLISECOND))
            if log is not None:
                log.append(name)
            return output

        return Call(name, run, lambda found: {"output": found}, **fields)


RIGHT = {"output": np.array([3.0, 4.0])}


def off(error):
    """The right output with this relative error."""
    return RIGHT["output"] + np.array([0.0, 5.0 * error])


@pytest.fixture(params=["host", "events"])
def machine(request):
    return FakeMachine(request.param)


@pytest.mark.bug(id="A44")
def test_the_device_is_waited_for(machine):
    calls = [
        machine.call("naive", 3, off(1e-7)),
        machine.call("flash", 1, off(1e-7)),
    ]
    naive, flash = measure(calls, RIGHT, machine, "float32", rounds=(5, 5))
    assert naive["samples_seconds"] == pytest.approx([3e-3] * 5, rel=0.01)
    assert flash["samples_seconds"] == pytest.approx([1e-3] * 5, rel=0.01)
    assert naive["first_call_seconds"] == pytest.approx(3e-3, rel=0.01)


@pytest.mark.bug(id="A44")
def test_a_clock_that_does_not_wait_times_the_launch():
    """What the mistake looks like: all take a microsecond."""
    fake = FakeDevice()
    blind = HostClock(now=fake.now)
    taken = []
    for milliseconds in (3, 1):
        start = blind.mark()
        fake.launch(milliseconds * MILLISECOND)
        taken += blind.seconds([(start, blind.mark())])
    assert taken == [1e-6, 1e-6]


def test_a_clock_of_its_own_leaves_nothing_running(machine):
    """What a misleading clock left undone must not fall on the next."""
    log = []

    def own_clock(run):
        before = machine.fake.now()
        run()
        return (machine.fake.now() - before) / 1e9

    calls = [
        machine.call("naive", 3, off(0)),
        machine.call("flash", 1, off(0), log, own_clock=own_clock),
    ]
    naive, flash = measure(calls, RIGHT, machine, "float32", rounds=(4, 4))
    assert flash["samples_seconds"] == [1e-6] * 4
    assert naive["samples_seconds"] == pytest.approx([3e-3] * 4, rel=0.01)


def test_all_run_in_turns_and_back(machine):
    log = []
    calls = [
        machine.call(name, 1, off(0), log)
        for name in ("naive", "math", "flash")
    ]
    measure(calls, RIGHT, machine, "float32", rounds=(2, 2))
    turns = ["naive", "math", "flash", "flash", "math", "naive"]
    assert log[-6:] == turns


def test_the_time_to_measure_sets_the_rounds(machine):
    def rounds(seconds):
        calls = [machine.call("naive", 10, off(0))]
        rows = measure(calls, RIGHT, machine, "float32", seconds, (3, 50))
        return len(rows[0]["samples_seconds"])

    assert rounds(0.0) == 3
    assert rounds(0.205) == 20
    assert rounds(100) == 50


@pytest.mark.parametrize(
    ("plain", "other", "status"),
    [
        (4e-7, 7e-7, "ok"),
        (4e-7, 9e-7, "wrong"),  # more than twice as bad
        (0.0, 2e-7, "ok"),  # but the dtype's own grain is allowed
        (4e-7, np.nan, "wrong"),
        (4e-7, 1.4, "wrong"),  # a mask the wrong way round
    ],
)
def test_what_is_wrong_gets_no_time(machine, plain, other, status):
    log = []
    calls = [
        machine.call("naive", 3, off(plain)),
        machine.call("flash", 1, off(other), log),
    ]
    naive, flash = measure(calls, RIGHT, machine, "float32", rounds=(5, 5))
    assert naive["status"] == "ok"
    assert flash["status"] == status
    if status == "wrong":
        assert flash["samples_seconds"] == []
        assert "relative error" in flash["reason"]
        assert log == ["flash"], "it ran again after it was found wrong"


def test_the_plain_program_is_checked_too(machine):
    calls = [machine.call("naive", 3, off(1e-5))]
    (row,) = measure(calls, RIGHT, machine, "float32")
    assert row["status"] == "wrong"
    assert row["reason"] == "output: relative error 1e-05, allowed 2e-06"
    (row,) = measure(calls, RIGHT, machine, "float16", rounds=(1, 1))
    assert row["status"] == "ok"


def test_each_array_is_checked():
    assert not measuring.gate(
        {"output": 1.0, "dq": 2.0}, {"output": 1, "dq": 2}
    )
    said = measuring.gate({"output": 1.0, "dq": 3.0}, {"output": 1, "dq": 2})
    assert said == "dq: relative error 3, allowed 2"


def test_a_missing_array_or_another_shape_is_an_error(machine):
    calls = [
        machine.call("naive", 1, off(0)),
        machine.call("flash", 1, np.zeros(3)),
    ]
    assert measure(calls, RIGHT, machine, "float32")[1]["status"] == "error"
    calls[1].outputs = lambda found: {}
    row = measure(calls, RIGHT, machine, "float32")[1]
    assert row["reason"] == "ValueError: flash did not give ['output']"


def test_a_call_that_fails_is_a_row(machine):
    def fail():
        raise RuntimeError("no\n luck")

    broken = Call("flash", fail, lambda found: found)
    calls = [machine.call("naive", 1, off(0)), broken]
    naive, flash = measure(calls, RIGHT, machine, "float32", rounds=(2, 2))
    assert (flash["status"], flash["reason"]) == (
        "error",
        "RuntimeError: no luck",
    )
    assert len(naive["samples_seconds"]) == 2


def test_without_the_plain_program_nothing_is_measured(machine):
    with pytest.raises(ValueError, match="first call must be 'naive'"):
        measure([machine.call("flash", 1, off(0))], RIGHT, machine, "float32")


@pytest.mark.bug(id="A47")
def test_what_is_prepared_is_outside_the_clock(machine):
    call = machine.call("naive", 2, off(0))
    call.before = lambda: machine.fake.launch(50 * MILLISECOND)
    (row,) = measure([call], RIGHT, machine, "float32", rounds=(3, 3))
    assert row["samples_seconds"] == pytest.approx([2e-3] * 3, rel=0.01)


def test_memory_that_is_kept_is_a_part_of_the_peak(machine):
    call = machine.call("naive", 1, off(0), held_bytes=100)
    (row,) = measure([call], RIGHT, machine, "float32", rounds=(1, 1))
    assert row["peak_bytes"] == 105


def test_how_busy_others_were_is_a_share():
    found = measuring.Busy().so_far()
    if sys.platform == "linux":
        assert 0 <= found["others_percent"] <= 100
        assert 0 <= found["stolen_percent"] <= 100
    else:
        assert found is None


# --- the clocks, to the last digit ------------------------------------------


def test_the_host_waits_looks_and_counts_nanoseconds():
    did, moments = [], iter([5, 2_000_000_005])
    clock = HostClock(
        lambda: did.append("waited"),
        lambda: did.append("looked") or next(moments),
    )
    pair = clock.mark(), clock.mark()
    assert did == ["waited", "looked"] * 2
    assert pair == (5, 2_000_000_005)
    assert clock.seconds([pair, (0, 1)]) == [2.0, 1e-9]


def test_the_hosts_own_clock_goes_on():
    clock = HostClock()
    start = clock.mark()
    assert clock.mark() >= start > 0


def test_a_device_notes_moments_and_is_waited_for_once():
    did = []

    class Event:
        def record(self):
            did.append("record")

        def elapsed_time(self, other):
            did.append("asked")
            return 250.0 if other is not self else 0.0

    clock = EventClock(Event, lambda: did.append("waited"))
    start, stop = clock.mark(), clock.mark()
    assert did == ["record", "record"]
    assert start is not stop
    assert clock.seconds([(start, stop), (stop, stop)]) == [0.25, 0.0]
    assert did[2:] == ["waited", "asked", "asked"]


# --- the programs ----------------------------------------------------------


@pytest.fixture(scope="module")
def cpu():
    return TorchMachine("cpu")


@pytest.mark.parametrize("mask", ["none", "causal", "window:5"])
def test_the_reference_is_the_books_own_attention(cpu, mask):
    shape = Shape(12, heads=4, d=8, mask=mask, kv_heads=2)
    inputs = timing.torch_inputs(cpu, shape, seed=3)
    found = timing.reference(cpu, shape, inputs)["output"]
    Q, K, V = (tensor[0].double().numpy() for tensor in inputs[:3])
    K, V = np.repeat(K, 2, axis=0), np.repeat(V, 2, axis=0)
    seen = None
    if mask != "none":
        seen = causal_mask(12)
        if mask == "window:5":
            i, j = np.indices((12, 12))
            seen = seen & (i - j < 5)
    right = scaled_dot_product_attention(Q, K, V, mask=seen)[0]
    np.testing.assert_allclose(found, right, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("mask", ["none", "causal"])
def test_the_references_gradients_are_autograds(cpu, mask):
    shape = Shape(10, heads=2, d=4, mask=mask, direction="forward+backward")
    inputs = timing.torch_inputs(cpu, shape)
    right = timing.reference(cpu, shape, inputs)
    leaves = [t.detach().double().requires_grad_() for t in inputs[:3]]
    output = torch.nn.functional.scaled_dot_product_attention(
        *leaves, is_causal=mask == "causal"
    )
    output.backward(inputs[3].double())
    for name, leaf in zip(("dq", "dk", "dv"), leaves, strict=True):
        np.testing.assert_allclose(
            right[name], leaf.grad[0].numpy(), rtol=1e-12, atol=1e-12
        )


CPU_PROGRAMS = ["naive", "naive, preallocated", "math", "flash"]


@pytest.mark.parametrize("direction", ["forward", "forward+backward"])
@pytest.mark.parametrize("mask", ["none", "causal"])
def test_every_program_gives_the_right_values(cpu, mask, direction):
    shape = Shape(96, heads=2, d=16, mask=mask, direction=direction)
    names = [*CPU_PROGRAMS, "flash again"]
    if mask != "none":
        names.append("flash, dense mask")
    calls, right = contestants.torch_calls(cpu, shape, names)
    rows = measure(calls, right, cpu, "float32", rounds=(2, 2))
    for row in rows:
        refused = row["contestant"] == "naive, preallocated" and (
            direction != "forward"
        )
        expected = "unsupported" if refused else "ok"
        assert row["status"] == expected, row
        assert len(row["samples_seconds"]) == (0 if refused else 2)
    ran = {r["contestant"]: r["operator"] for r in rows if r["operator"]}
    assert "flash" in ran["flash"]
    assert ran["math"].endswith("attention_math")
    assert ran["naive"] == "aten::bmm + aten::_softmax"


@pytest.mark.bug(id="A04")
def test_a_mask_the_wrong_way_round_gets_no_time(cpu):
    shape = Shape(64, heads=2, d=16, mask="causal")
    names = ["naive", "flash", "flash, inverted mask"]
    calls, right = contestants.torch_calls(cpu, shape, names)
    rows = measure(calls, right, cpu, "float32", rounds=(1, 1))
    assert [row["status"] for row in rows] == ["ok", "ok", "wrong"]
    assert rows[2]["relative_error"]["output"] > 0.5
    assert rows[2]["samples_seconds"] == []


@pytest.mark.bug(id="A04")
@pytest.mark.parametrize(
    "name", ["naive", "naive, preallocated", "flash, dense mask"]
)
def test_swapping_the_polarity_in_one_program_is_found(cpu, monkeypatch, name):
    right_mask = contestants.torch_mask
    shape = Shape(64, heads=2, d=16, mask="causal")
    calls, right = contestants.torch_calls(cpu, shape, ["naive", name])
    swap = lambda *a: ~right_mask(*a)  # noqa: E731
    monkeypatch.setattr(contestants, "torch_mask", swap)
    swapped, _ = contestants.torch_calls(cpu, shape, ["naive", name])
    place = 0 if name == "naive" else 1
    calls[place] = swapped[place]
    rows = measure(calls, right, cpu, "float32", rounds=(1, 1))
    assert rows[place]["status"] == "wrong"


@pytest.mark.bug(id="A46")
@pytest.mark.parametrize("mask", ["none", "causal"])
def test_memory_grows_as_said(cpu, mask):
    """Naive with N²; flash with N."""
    peaks = {}
    for queries in (256, 512):
        shape = Shape(queries, heads=2, d=16, mask=mask)
        names = ["naive", "naive, preallocated", "flash"]
        calls, right = contestants.torch_calls(cpu, shape, names)
        for row in measure(calls, right, cpu, "float32", rounds=(1, 1)):
            peaks[row["contestant"], queries] = row["peak_bytes"]
    scores = 2 * 512**2 * 4
    for name in ("naive", "naive, preallocated"):
        assert 2 * scores <= peaks[name, 512] < 2.3 * scores
        assert peaks[name, 512] > 3.5 * peaks[name, 256]
    assert peaks["flash", 512] < 2.5 * peaks["flash", 256]
    assert peaks["flash", 512] < scores


def test_gradients_do_not_add_up(cpu):
    shape = Shape(16, heads=1, d=4, direction="forward+backward")
    calls, right = contestants.torch_calls(cpu, shape, ["naive", "flash"])
    for _ in range(3):
        calls[1].before()
        result = calls[1].run()
    found = cpu.arrays(calls[1].outputs(result))
    np.testing.assert_allclose(found["dq"], right["dq"], atol=1e-5)


def test_what_a_processor_cannot_run_is_a_row_with_its_reason(cpu):
    shape = Shape(32, heads=1, d=16)
    names = ["naive", "efficient", "cudnn"]
    calls, right = contestants.torch_calls(cpu, shape, names)
    rows = measure(calls, right, cpu, "float32", rounds=(1, 1))
    for row in rows[1:]:
        assert row["status"] == "unsupported"
        assert "No viable backend" in row["reason"]


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (torch.OutOfMemoryError("CUDA out of memory"), "oom"),
        (RuntimeError("DefaultCPUAllocator: can't allocate memory"), "oom"),
        (MemoryError(), "oom"),
        (NotImplementedError("backward"), "unsupported"),
        (RuntimeError("No available kernel. Aborting"), "unsupported"),
        (RuntimeError("something else"), "error"),
    ],
)
def test_failures_are_told_apart(cpu, error, status):
    assert cpu.status_of(error) == status


def test_a_program_nobody_knows_is_refused(cpu):
    with pytest.raises(ValueError, match="no program is called 'slow'"):
        contestants.torch_calls(cpu, Shape(8), ["naive", "slow"])
    with pytest.raises(ValueError, match="naive comes first"):
        contestants.torch_calls(cpu, Shape(8), ["flash"])


def test_inputs_are_random_and_the_same_for_all(cpu):
    first = timing.torch_inputs(cpu, Shape(64))
    again = timing.torch_inputs(cpu, Shape(64))
    for one, other in zip(first, again, strict=True):
        assert torch.equal(one, other)
        assert 0.9 < one.std() < 1.1
    assert not torch.equal(first[0], first[1])


# --- the tool --------------------------------------------------------------


@pytest.mark.parametrize("device", ["cpu", "cuda"])
@pytest.mark.parametrize("quick", [True, False])
def test_the_plan_has_each_group_once(device, quick):
    dtype = "float32" if device == "cpu" else "bfloat16"
    groups = list(timing_plan.plan(device, dtype, quick))
    names = [group.name for group in groups]
    assert len(names) == len(set(names))
    longest = max(max(g.shape.queries, g.shape.keys) for g in groups)
    assert longest <= 512 if quick else longest >= 16384
    assert groups[0].experiment == "noise"


def options(**changed):
    plain = {"quick": True, "again": False, "minutes": 5.0}
    return argparse.Namespace(**plain | changed)


@pytest.fixture
def small():
    """A few small groups of each kind that runs in this process."""
    at = Shape(64, heads=2, d=16)
    return [
        timing_plan.Group("noise", at, ("naive", "naive again"), "torch", 0.0),
        timing_plan.Group("length", at, ("naive", "flash"), "torch", 0.0),
        timing_plan.Group(
            "length", Shape(32, 2, 16), ("naive", "flash"), "torch", 0.0
        ),
        timing_plan.Group(
            "wrong clocks", at, ("naive", "flash"), "clocks", 0.0
        ),
    ]


def test_a_run_writes_a_whole_record(tmp_path, cpu, small, capsys):
    path = tmp_path / "mine.json"
    measure_timing.record(cpu, path, 2, options(), small)
    record = records.load(path)
    assert record.about["finished_utc"]
    assert {p.group for p in record.points} == {g.name for g in small}
    again = record.one(experiment="noise", clock="again")
    right = record.one(experiment="noise", clock="right")
    assert records.ratio(again, right).median > 0
    assert record.rate("matmul").median > 0
    clocks = record.select(experiment="wrong clocks", contestant="flash")
    assert [(p.clock, p.status) for p in clocks] == [
        ("right", "ok"),
        ("zeros", "ok"),
        ("one thread", "ok"),
        ("no synchronise", "skipped"),
    ]
    assert "[####################] 4/4" in capsys.readouterr().err


def test_where_nothing_can_be_written_nothing_is_timed(tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    path = tmp_path / "file" / "record.json"
    monkeypatch.setattr(
        measure_timing, "record", lambda *_: pytest.fail("ran")
    )
    with pytest.raises(SystemExit, match="no record can be written: .*file"):
        measure_timing.main(["--device", "cpu", "--out", str(path)])


def test_a_run_that_was_stopped_goes_on(tmp_path, cpu, small, monkeypatch):
    path = tmp_path / "mine.json"
    run, seen = measure_timing.run_group, []

    def stops(group, *rest):
        if len(seen) == 2:
            raise KeyboardInterrupt
        seen.append(group.name)
        return run(group, *rest)

    monkeypatch.setattr(measure_timing, "run_group", stops)
    with pytest.raises(KeyboardInterrupt):
        measure_timing.record(cpu, path, 2, options(), small)
    kept = records.load(path)
    assert kept.about["finished_utc"] is None
    assert {p.group for p in kept.points} == set(seen)

    monkeypatch.setattr(
        measure_timing,
        "run_group",
        lambda group, *rest: seen.append(group.name) or run(group, *rest),
    )
    measure_timing.record(cpu, path, 2, options(), small)
    assert seen == [group.name for group in small]
    whole = records.load(path)
    assert whole.about["finished_utc"]
    for old, new in zip(kept.points, whole.points, strict=False):
        assert old.fields == new.fields
    samples = whole.about["calibration"][0]["samples_seconds"]
    assert len(samples) == 4

    with pytest.raises(SystemExit, match="is finished"):
        measure_timing.record(cpu, path, 2, options(), small)


def test_a_run_out_of_time_says_so(tmp_path, cpu, small, capsys):
    path = tmp_path / "mine.json"
    measure_timing.record(cpu, path, 2, options(minutes=0.0), small)
    assert "4 groups are out of time" in capsys.readouterr().err
    assert records.load(path).about["finished_utc"] is None


def test_other_code_does_not_go_on_with_a_record(tmp_path, cpu, small):
    path = tmp_path / "mine.json"
    measure_timing.record(cpu, path, 2, options(minutes=0.0), small)
    fields = json.loads(path.read_text("utf-8"))
    fields["script"]["sha256"]["utils/measuring.py"] = "0"
    write(fields, path)
    with pytest.raises(SystemExit, match="by other code"):
        measure_timing.record(cpu, path, 2, options(), small)
    path.write_text("{", "utf-8")
    with pytest.raises(Damaged, match="not whole JSON"):
        measure_timing.record(cpu, path, 2, options(), small)


def test_a_group_that_fails_leaves_rows(tmp_path, cpu, monkeypatch):
    def fail(*_, **__):
        raise RuntimeError("CUDA out of memory")

    monkeypatch.setattr(timing_runs, "torch_calls", fail)
    at = Shape(64, heads=2, d=16)
    group = timing_plan.Group("length", at, ("naive", "flash"))
    path = tmp_path / "mine.json"
    measure_timing.record(cpu, path, 2, options(), [group])
    points = records.load(path).points
    assert [(p.contestant, p.status) for p in points] == [
        ("naive", "oom"),
        ("flash", "oom"),
    ]


@pytest.mark.bug(id="A45")
def test_a_cold_start_and_an_end_of_memory_in_a_process_of_their_own(cpu):
    at = Shape(64)
    group = timing_plan.Group("wrong clocks", at, ("naive", "flash"), "cold")
    timing_runs.COLD_PROCESSES, processes = 1, timing_runs.COLD_PROCESSES
    try:
        cold, warm = timing_runs.run_group(group, cpu, 2)
    finally:
        timing_runs.COLD_PROCESSES = processes
    assert cold["status"] == warm["status"] == "ok", cold
    assert (cold["clock"], warm["clock"]) == ("cold first call", "right")
    if sys.platform == "linux":
        budget = 2**28  # two matrices of scores of 8 heads at N = 2048
        group = timing_plan.Group(
            "limit", at, ("naive",), "limit", budget_bytes=budget
        )
        rows = timing_runs.run_group(group, cpu, 2)
        assert [row["status"] for row in rows[:3]] == ["ok"] * 3, rows
        assert rows[-1]["status"] == "oom"
        assert rows[-1]["queries"] > 1800
