"""What a measurement leaves in a row, to the last field, on a made-up clock.

`test_timing.py` holds the rules; here the whole rows are said, of a machine
on which time passes only when it is told to.
"""

import itertools
import re

import numpy as np
import pytest

from tests.test_record_fields import MEASURED
from utils import contestants, measuring, record_format, timing
from utils.measuring import Call, Unsupported, measure
from utils.record_fields import Damaged
from utils.timing import Shape

RIGHT = {"output": np.array([3.0, 4.0])}


class Machine:
    """Its clock is a number; `observe` says what it is told."""

    def __init__(self):
        self.now, self.log, self.peak = 0.0, [], 1000
        self.clock = self

    def mark(self):
        return self.now

    def seconds(self, pairs):
        return [stop - start for start, stop in pairs]

    def prepare(self):
        self.log.append("prepare")

    def arrays(self, found):
        return found

    def observe(self, call):
        self.log.append(f"observe {call.name}")
        return {"operator": "o", "peak_bytes": self.peak, "memory_method": "m"}

    def status_of(self, error):
        return "unsupported" if isinstance(error, Unsupported) else "error"

    def call(self, name, times, output=RIGHT["output"], **how):
        """Each run takes the next of these times, the last one for ever."""
        left = itertools.chain(times, itertools.repeat(times[-1]))

        def run():
            self.log.append(name)
            self.now += next(left)
            return output

        return Call(name, run, lambda found: {"output": found}, **how)


@pytest.fixture
def machine(monkeypatch):
    class Busy:
        def so_far(self):
            return {"load": 0.5}

    faults = itertools.count(0, 3)
    monkeypatch.setattr(measuring, "Busy", Busy)
    monkeypatch.setattr(measuring, "page_faults", lambda: next(faults))
    return Machine()


def empty(name="naive", **how):
    return measuring.empty_row(Call(name, None, None, **how))


def test_before_anything_is_measured_a_row_says_whose_it_is_and_no_more():
    known = {key: v for key, v in empty().items() if v is not None}
    named = {"contestant": "naive", "clock": "right"}
    assert known == named | {"status": "ok", "samples_seconds": []}
    row = empty("flash", clock="host", fields={"tile": 8, "x": 1})
    changed = {"contestant": "flash", "clock": "host", "tile": 8, "x": 1}
    assert row == empty() | changed
    assert row["samples_seconds"] is not empty()["samples_seconds"]


def test_an_empty_row_has_the_fields_that_the_format_asks_for_and_no_other():
    row = empty()
    # the one experiment whose points have no times
    others = {"experiment": "limit", "group": "g", "load": None}
    point = Shape(4).fields() | others | row
    record_format.validate({**MEASURED, "points": [point]})
    for field in row:
        left = {key: value for key, value in point.items() if key != field}
        with pytest.raises(Damaged, match=rf"points\[0\]\.{field} is missing"):
            record_format.validate({**MEASURED, "points": [left]})


def test_what_a_call_is_unless_told():
    call = Call("naive", None, None)
    assert call.before() is None
    assert (call.clock, call.own_clock, call.reference) == (
        *("right", None, None),
    )
    assert (call.held_bytes, call.timed, call.inputs) == (0, True, None)
    assert call.fields == {}
    assert call.fields is not Call("naive", None, None).fields


def test_a_whole_row(machine):
    # the first call, the warm one (so many rounds fit), the ones that count
    call = machine.call("naive", [7.0, 2.0, 1.0, 4.0, 1.0000000004])
    [row] = measure([call], RIGHT, machine, "float32", seconds=6.9)
    assert row["samples_seconds"][:3] == [1.0, 4.0, 1.0]
    assert len(row["samples_seconds"]) == 9  # no fewer, unless told
    assert row == empty() | {
        "operator": "o",
        "peak_bytes": 1000,
        "memory_method": "m",
        "first_call_seconds": 7.0,
        "relative_error": {"output": 0.0},
        "samples_seconds": row["samples_seconds"],
        "page_faults": [3] * 9,
        "load": {"load": 0.5},
    }
    assert machine.log[:3] == ["naive", "observe naive", "naive"]
    assert machine.log[3:] == ["prepare", "naive"] * 9


@pytest.mark.parametrize(
    ("seconds", "warm", "rounds"),
    [(5.0, 0.5, 10), (5.0, 1e-3, 60), (6.5, 0.5, 13), (6.4, 0.5, 12)],
)
def test_as_many_rounds_as_there_is_time_for(machine, seconds, warm, rounds):
    call = machine.call("naive", [9.0, warm])
    [row] = measure([call], RIGHT, machine, "float32", seconds)
    assert len(row["samples_seconds"]) == rounds


def test_a_round_is_all_that_run_in_it(machine):
    calls = [machine.call("naive", [0.2]), machine.call("flash", [0.3])]
    rows = measure(calls, RIGHT, machine, "float32")
    assert [len(row["samples_seconds"]) for row in rows] == [10, 10]
    assert rows[1]["samples_seconds"] == [0.3] * 10


def test_they_run_there_and_back(machine):
    calls = [machine.call(name, [1.0]) for name in ("naive", "b", "c")]
    measure(calls, RIGHT, machine, "float32", rounds=(3, 3))
    ran = [name for name in machine.log[-18:] if name != "prepare"]
    assert ran == [*("naive", "b", "c"), *("c", "b", "naive")] + [
        *("naive", "b", "c")
    ]


def test_a_clock_that_misleads_is_its_own_and_counts_no_pages(machine):
    def own_clock(run):
        run()
        return 0.25

    calls = [
        machine.call("naive", [1.0]),
        machine.call("flash", [1.0], clock="launch", own_clock=own_clock),
    ]
    naive, flash = measure(calls, RIGHT, machine, "float32", rounds=(2, 2))
    assert flash["samples_seconds"] == [0.25, 0.25]
    assert flash["page_faults"] is None
    assert flash["clock"] == "launch"
    assert naive["samples_seconds"] == [1.0, 1.0]
    assert naive["page_faults"] == [3, 3]


def test_what_is_there_for_its_values_gets_no_time(machine):
    calls = [
        machine.call("naive", [1.0]),
        machine.call("math", [1.0], timed=False),
        machine.call("flash", [1.0]),
    ]
    _, math, flash = measure(calls, RIGHT, machine, "float32", rounds=(1, 1))
    assert (math["status"], math["reason"]) == (
        *("skipped", "only its values count"),
    )
    assert math["samples_seconds"] == []
    assert math["operator"] is None
    assert math["relative_error"] == {"output": 0.0}
    assert flash["samples_seconds"] == [1.0]


def off(error):
    return RIGHT["output"] + np.array([0.0, 5.0 * error])


@pytest.mark.parametrize(
    ("dtype", "limit", "grain"),
    [
        ("float64", 1e-13, 2.3e-16),
        ("float32", 2e-6, 1.2e-7),
        ("float16", 2e-3, 1.2e-7),
        ("bfloat16", 1e-2, 1.2e-7),
    ],
)
def test_how_far_off_a_program_may_be(machine, dtype, limit, grain):
    def status(plain, other):
        calls = [
            machine.call("naive", [1.0], off(plain)),
            machine.call("flash", [1.0], off(other)),
        ]
        rows = measure(calls, RIGHT, machine, dtype, rounds=(1, 1))
        return [row["status"] for row in rows]

    assert status(0.9 * limit, 1.7 * limit) == ["ok", "ok"]
    assert status(0.9 * limit, 1.9 * limit) == ["ok", "wrong"]
    assert status(1.1 * limit, 0) == ["wrong", "ok"]
    if dtype != "float64":  # there 3 and 4 are too coarse to say it
        assert status(0, 1.9 * grain) == ["ok", "ok"]
        assert status(0, 2.1 * grain) == ["ok", "wrong"]


def test_what_is_wrong_says_by_how_much_and_the_next_one_runs(machine):
    calls = [
        machine.call("naive", [1.0]),
        machine.call("flash", [1.0], off(0.5)),
        machine.call("flex", [1.0]),
    ]
    _, flash, flex = measure(calls, RIGHT, machine, "float32", rounds=(1, 1))
    allowed = 2 * np.finfo("f4").eps
    words = f"output: relative error 0.5, allowed {allowed:.2g}"
    assert (flash["status"], flash["reason"]) == ("wrong", words)
    assert flash["samples_seconds"] == []
    assert flex["samples_seconds"] == [1.0]


def test_a_call_may_have_what_is_right_for_it_alone(machine):
    own = {"output": np.array([0.0, 0.0])}
    calls = [
        machine.call("naive", [1.0]),
        machine.call("flash", [1.0], own["output"], reference=own),
    ]
    rows = measure(calls, RIGHT, machine, "float32", rounds=(1, 1))
    assert [row["status"] for row in rows] == ["ok", "ok"]


def test_an_error_is_a_row_of_one_line_and_not_a_long_one(machine):
    def fail():
        raise KeyError("a \n b" + "c" * 400)

    def refuse():
        raise Unsupported("not here")

    calls = [
        machine.call("naive", [1.0]),
        Call("flash", fail, None),
        Call("flex", refuse, None),
    ]
    rows = measure(calls, RIGHT, machine, "float32", rounds=(1, 1))
    text = " ".join(str(KeyError("a \n b" + "c" * 400)).split())[:300]
    assert rows[1]["status"] == "error"
    assert rows[1]["reason"] == f"KeyError: {text}"
    assert rows[2]["status"] == "unsupported"
    assert rows[2]["reason"] == "Unsupported: not here"
    assert [row["load"] for row in rows] == [{"load": 0.5}] * 3


def test_unknown_memory_stays_unknown(machine):
    machine.peak = None
    call = machine.call("naive", [1.0], held_bytes=7)
    [row] = measure([call], RIGHT, machine, "float32", rounds=(1, 1))
    assert row["peak_bytes"] is None


@pytest.mark.parametrize("names", [(), ("flash", "naive")])
def test_the_plain_program_comes_first(machine, names):
    calls = [machine.call(name, [1.0]) for name in names]
    with pytest.raises(
        ValueError, match=r"\Athe first call must be 'naive'\Z"
    ):
        measure(calls, RIGHT, machine, "float32")


def test_before_is_done_before_each_run_outside_the_clock(machine):
    def before():
        machine.log.append("before")
        machine.now += 100

    call = machine.call("naive", [1.0], before=before)
    [row] = measure([call], RIGHT, machine, "float32", rounds=(2, 2))
    assert row["samples_seconds"] == [1.0, 1.0]
    assert row["first_call_seconds"] == 1.0
    assert machine.log[:2] == ["before", "naive"]
    assert machine.log.count("before") == 4


def test_an_error_is_relative_to_the_right_ones_length():
    error = measuring.relative_error
    assert error([3.0, 5.0], np.array([3.0, 4.0])) == 0.2
    assert error([0.0, 2.0], np.zeros(2)) == 2.0
    assert error(np.float32([[1]]), np.array([[1.0]])) == 0.0
    assert type(error([1.0], np.ones(1))) is float
    words = re.escape("shape (2,), expected (1,)")
    with pytest.raises(ValueError, match=rf"\A{words}\Z"):
        error([1, 2], np.ones(1))


def test_the_gate_names_the_first_that_is_wrong():
    allowed = {"output": 0.5, "dq": 0.5}
    assert measuring.gate({"output": 0.5, "dq": 0.5}, allowed) is None
    words = "dq: relative error 0.51, allowed 0.5"
    assert measuring.gate({"output": 0.1, "dq": 0.51}, allowed) == words
    said = measuring.gate({"output": float("nan")}, allowed)
    assert said == "output: relative error nan, allowed 0.5"


# --- shapes and programs, without a device ---------------------------------


def test_a_shape_says_its_keys_and_their_heads():
    assert Shape(6).fields() == {
        "queries": 6,
        "heads": 8,
        "d": 64,
        "batch": 1,
        "dtype": "float32",
        "mask": "none",
        "direction": "forward",
        "keys": 6,
        "kv_heads": 8,
    }
    fields = Shape(6, heads=4, keys=9, kv_heads=2).fields()
    assert (fields["keys"], fields["kv_heads"]) == (9, 2)


def test_a_program_that_is_not_known_is_named():
    cpu = timing.TorchMachine("cpu")
    with pytest.raises(ValueError, match=r"\Ano program is called 'fast'\Z"):
        contestants.torch_calls(cpu, Shape(4), ["naive", "fast"])
    for names in ([], ["flash", "naive"]):
        words = re.escape(f"naive comes first, received {names}")
        with pytest.raises(ValueError, match=rf"\A{words}\Z"):
            contestants.torch_calls(cpu, Shape(4), tuple(names))


def test_the_heads_that_are_checked_are_spread_evenly():
    assert timing.checked_heads(1) == [0]
    assert timing.checked_heads(8) == list(range(8))
    assert timing.checked_heads(9) == [0, 1, 2, 3, 5, 6, 7, 8]
    assert all(type(i) is int for i in timing.checked_heads(40))
