"""Reports about timing: what each would do to our numbers.

Nothing here asserts how long anything takes on this machine. Clocks are read
in the code, calls counted; times are those of the stored
records.
"""

import ast
from types import SimpleNamespace

import pytest
import torch

from tests.conftest import ROOT, stored_notebooks
from utils import contestants, records, roofline
from utils.clocks import HostClock
from utils.measuring import measure
from utils.timing import Shape, TorchMachine

CLOCKS = {
    f"{name}{unit}"
    for name in ("perf_counter", "time", "monotonic", "process_time")
    for unit in ("", "_ns")
} | {"thread_time", "thread_time_ns"}
# where a clock may be read in what times a device, and why
MAY_READ = {
    ("utils/clocks.py", "HostClock"): "waits for the device before it",
    ("tools/timing_runs.py", "_host_seconds"): "shows this very mistake",
    ("tools/measure_timing.py", "record"): "how long the whole run may take",
    ("tools/measure_timing.py", "Bar"): "the progress that is shown",
}
TIMERS = sorted([*ROOT.glob("utils/*.py"), *ROOT.glob("tools/*timing*.py")])
MEASURED = [r for r in records.load_all() if r.kind == "measured"]
# those of tools/measure_timing.py; tools/measure_tiles.py measures no peak
WITH_PEAKS = [r for r in MEASURED if r.about["calibration"]]


def clock_reads(source):
    """The outermost function or class of each read of a clock."""
    for outer in ast.parse(source).body:
        for node in ast.walk(outer):
            if (
                isinstance(node, ast.Attribute)
                and node.attr in CLOCKS
                and isinstance(node.value, ast.Name)
                and node.value.id == "time"
            ) or (
                isinstance(node, ast.ImportFrom)
                and node.module == "time"
                and {name.name for name in node.names} & CLOCKS
            ):
                yield getattr(outer, "name", "the module itself")


@pytest.mark.bug(id="A44")
def test_every_clock_that_times_a_device_waits_for_it():
    found = set()
    for path in TIMERS:
        name = path.relative_to(ROOT).as_posix()
        reads = {(name, who) for who in clock_reads(path.read_text("utf-8"))}
        assert reads <= MAY_READ.keys(), f"{reads - MAY_READ.keys()}: a clock?"
        found |= reads
    assert found == MAY_READ.keys(), "a read of a clock is gone"
    for notebook in stored_notebooks():
        for cell in notebook.code():
            for word in ("time.", "import time", "timeit"):
                assert word not in cell["source"], (notebook, cell["id"])


@pytest.mark.bug(id="A44")
def test_the_host_s_clock_is_read_right_after_the_device_is_done():
    order = []
    clock = HostClock(
        lambda: order.append("done"), lambda: order.append("read") or 0
    )
    clock.mark()
    clock.mark()
    assert order == ["done", "read"] * 2


@pytest.mark.bug(id="A44")
@pytest.mark.parametrize("record", MEASURED, ids=lambda r: r.name)
def test_four_times_the_tokens_take_about_sixteen_times_as_long(record):
    """A clock that does not wait would say once. The longest pair counts.

    NumPy computes head by head, whose scores a cache still holds at N = 1024:
    its ratio may be larger.
    """
    alike = {"mask": "none", "direction": "forward", "d": 64}
    tried = 0
    for experiment in ("length", "tiles"):
        plain = {
            point.queries: point.seconds.median
            for point in record.select(
                experiment=experiment, contestant="naive", **alike
            )
        }
        longest = max(plain, default=0)
        if longest >= 4096:
            ratio = plain[longest] / plain[longest // 4]
            assert 8 <= ratio <= (24 if experiment == "length" else 40)
            tried += 1
    assert tried


@pytest.mark.bug(id="A44")
@pytest.mark.parametrize("record", WITH_PEAKS, ids=lambda r: r.name)
def test_no_program_is_faster_than_the_device_multiplies(record):
    tried = 0
    for point in record.points:
        right = point.clock in ("right", "again") and point.status == "ok"
        if right and point.seconds and point.dtype == "float32":
            peak = record.rate("matmul", point.dtype).high
            assert roofline.flops(point) / point.seconds.median < peak, point
            tried += 1
    assert tried > 50


@pytest.mark.bug(id="A44")
def test_the_work_is_counted_as_four_l_l_d_h():
    point = SimpleNamespace(**Shape(1024, heads=8, d=64).fields())
    assert roofline.flops(point) == 4 * 1024 * 1024 * 64 * 8 == 2147483648


# --- warming up ------------------------------------------------------------


@pytest.fixture
def cpu():
    return TorchMachine("cpu")


@pytest.mark.bug(id="A45")
def test_three_calls_come_before_the_first_that_counts(cpu):
    shape = Shape(16, heads=1, d=4)
    calls, right = contestants.torch_calls(cpu, shape, ["naive", "flash"])
    counts = [0, 0]

    def counted(place, run):
        def call():
            counts[place] += 1
            return run()

        return call

    for place, call in enumerate(calls):
        call.run = counted(place, call.run)
    rows = measure(calls, right, cpu, "float32", 0.0, (10, 10))
    for row, count in zip(rows, counts, strict=True):
        assert len(row["samples_seconds"]) == 10
        assert count - 10 >= 3
        assert row["first_call_seconds"] > 0


@pytest.mark.bug(id="A45")
@pytest.mark.parametrize("record", MEASURED, ids=lambda r: r.name)
def test_a_first_call_stands_beside_its_samples_and_not_among_them(record):
    tried = 0
    for point in record.points:
        if point.status == "ok" and point.clock in ("right", "again"):
            if point.experiment in ("limit", "wrong clocks"):
                continue
            assert point.first_call_seconds > 0, point
            assert point.first_call_seconds not in point.samples_seconds
            assert len(point.samples_seconds) >= 5, point
            tried += 1
    assert tried or record.select(clock="thread_time_ns")


@pytest.mark.bug(id="A45")
def test_each_shape_of_flex_attention_is_compiled_anew(cpu, monkeypatch):
    """And what it is given is the compiled function, never the eager one."""
    done = []

    def compile(function, **options):
        done.append("compile")
        return "compiled", function

    monkeypatch.setattr("shutil.which", lambda name: name)
    monkeypatch.setattr(torch, "compile", compile)
    monkeypatch.setattr(torch.compiler, "reset", lambda: done.append("reset"))
    for _ in range(2):
        module, compiled = cpu.flex()
        assert compiled == ("compiled", module.flex_attention)
    assert done == ["reset", "compile"] * 2


@pytest.mark.bug(id="A47")
def test_flex_attention_s_mask_is_made_before_its_time_is_taken(
    cpu, monkeypatch
):
    made = {"masks": 0, "compiled": 0}

    def create_block_mask(rule, batch, heads, queries, keys, device):
        made["masks"] += 1
        i, j = torch.meshgrid(
            torch.arange(queries), torch.arange(keys), indexing="ij"
        )
        kept = rule(0, 0, i, j)
        kept.sparsity = lambda: 100 * (1 - kept.float().mean().item())
        return kept

    def compiled(Q, K, V, block_mask):
        made["compiled"] += 1
        return torch.nn.functional.scaled_dot_product_attention(
            Q, K, V, attn_mask=block_mask
        )

    def eager(*args, **options):
        raise AssertionError("eager FlexAttention was called")

    module = SimpleNamespace(
        create_block_mask=create_block_mask, flex_attention=eager
    )
    monkeypatch.setattr(cpu, "flex", lambda: (module, compiled))
    shape = Shape(32, heads=2, d=8, mask="window:5")
    calls, right = contestants.torch_calls(cpu, shape, ["naive", "flex"])
    _, row = measure(calls, right, cpu, "float32", 0.0, (10, 10))
    assert row["status"] == "ok", row["reason"]
    assert made == {"masks": 1, "compiled": 13}
    assert row["mask_seconds"] > 0
    assert len(row["samples_seconds"]) == 10
