"""How each kind of group is run; every program leaves a row."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

from utils.contestants import torch_calls
from utils.measuring import Busy, Call, empty_row, measure

__all__ = ["run_group"]

ROOT = Path(__file__).resolve().parent.parent
COLD_PROCESSES = 5
CHILD_SECONDS = 120


def run_group(group, machine, threads, say=lambda text: None):
    """Measure a group.

    Returns
    -------
    list of dict
        A record's points, one for each program. If nothing of the group can
        be run at all, each says why.
    """
    runs = {
        "torch": _torch,
        "clocks": _clocks,
        "cold": _cold,
        "limit": _limit,
    }
    try:
        rows = runs[group.kind](group, machine, threads, say)
    except Exception as error:
        text = " ".join(str(error).split())[:300]
        status = machine.status_of(error)
        rows = [
            _row(name, status, f"{type(error).__name__}: {text}")
            for name in dict.fromkeys(group.programs)
            if not name.endswith(" again")
        ]
    if machine.device == "cuda":
        machine.torch.cuda.empty_cache()
    fixed = {"experiment": group.experiment, "group": group.name}
    return [{**fixed, **group.shape.fields(), **row} for row in rows]


def _row(name, status, reason, **more):
    return empty_row(Call(name, None, None)) | {
        "status": status,
        "reason": reason,
        "load": None,
        **more,
    }


def _rounds(machine):
    return (9, 60) if machine.device == "cpu" else (30, 100)


def _torch(group, machine, threads, say):
    say("the right values, in float64")
    calls, right = torch_calls(machine, group.shape, group.programs)
    for call in calls:
        call.timed = call.name not in group.untimed
    say(group.name)
    dtype = group.shape.dtype
    return measure(
        calls, right, machine, dtype, group.seconds, _rounds(machine)
    )


def _clocks(group, machine, threads, say):
    """One program, one shape, and the clocks that mislead."""
    shape = group.shape
    calls, right = torch_calls(machine, shape, group.programs)
    flash = next(call for call in calls if call.name == "flash")
    calls += [_zeros(machine, shape), _one_thread(flash, threads)]
    rows = measure(
        calls, right, machine, shape.dtype, group.seconds, _rounds(machine)
    )
    if machine.device == "cpu":
        reason = "on a processor a call returns when it is done"
        rows.append(_row("flash", "skipped", reason, clock="no synchronise"))
        return rows
    extra = Call(
        "flash",
        flash.run,
        flash.outputs,
        clock="no synchronise",
        own_clock=_host_seconds,
    )
    again = measure(
        [*calls[:2], extra],
        right,
        machine,
        shape.dtype,
        group.seconds,
        (len(rows[0]["samples_seconds"]),) * 2,
    )
    return [*rows, again[-1]]


def _host_seconds(run):
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


def _zeros(machine, shape):
    calls, right = torch_calls(machine, shape, ["naive", "flash"])
    call = calls[1]
    for tensor in call.inputs:
        tensor.data.zero_()
    call.clock = "zeros"
    call.reference = {name: np.zeros_like(a) for name, a in right.items()}
    return call


def _one_thread(flash, threads):
    """The clock of torch.utils.benchmark, left as it comes: one thread."""
    from torch.utils.benchmark import Timer

    def timed(run):
        timer = Timer("run()", globals={"run": run})  # num_threads=1
        return timer.timeit(1).median

    return Call(
        "flash",
        flash.run,
        flash.outputs,
        clock="one thread",
        own_clock=timed,
    )


def _child(what, **arguments):
    """Run tools/timing_child.py in a fresh process."""
    script = Path(__file__).with_name("timing_child.py")
    paths = [str(ROOT), os.environ.get("PYTHONPATH", "")]
    done = subprocess.run(
        [sys.executable, str(script), what, json.dumps(arguments)],
        capture_output=True,
        encoding="locale",
        timeout=CHILD_SECONDS,
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, paths))},
    )
    if done.returncode:
        raise RuntimeError(f"the child failed: {done.stderr.strip()[-200:]}")
    return json.loads(done.stdout.splitlines()[-1])


def _cold(group, machine, threads, say):
    """The first call of a process beside the eleventh, in fresh ones."""
    shape = group.shape
    calls, right = torch_calls(machine, shape, ["naive", "flash"])
    checked = measure(calls, right, machine, shape.dtype, 0.0, (1, 1))[1]
    found = []
    busy = Busy()
    for i in range(COLD_PROCESSES):
        say(f"a cold start, {i + 1} of {COLD_PROCESSES}")
        found.append(
            _child(
                "cold",
                device=machine.device,
                queries=shape.queries,
                threads=threads,
            )
        )
    load = busy.so_far()
    return [
        checked
        | {
            "clock": clock,
            "samples_seconds": [round(one[key], 9) for one in found],
            "page_faults": None,
            "load": load,
        }
        for clock, key in (("cold first call", "first"), ("right", "eleventh"))
    ]


def _limit(group, machine, threads, say):
    """Lengths around the one that the laws of memory predict."""
    (name,) = group.programs
    lengths = _lengths(group, name)
    say(f"{name} in {group.budget_bytes / 2**20:.0f} MiB")
    tried = _child(
        "limit",
        device=machine.device,
        budget=group.budget_bytes,
        name=name,
        direction=group.shape.direction,
        dtype=group.shape.dtype,
        lengths=lengths,
    )
    return [
        _row(
            name,
            one["status"],
            one["reason"],
            queries=one["queries"],
            keys=one["queries"],
            clock=f"N {one['queries']}",
            budget_bytes=group.budget_bytes,
        )
        for one in tried
    ]


def _lengths(group, name):
    """Where it must fit, where it must not, and closely between."""
    shape = group.shape.fields()
    size = 2 if "16" in shape["dtype"] else 4
    copies = 2 if shape["direction"] == "forward" else 3
    edge = (group.budget_bytes / (copies * shape["heads"] * size)) ** 0.5
    parts = (0.5, 0.8, 0.9, 0.95, 1.05, 1.1, 1.25)
    if name != "naive":
        edge, parts = 4096, (1, 2, 3)
    return [int(round(part * edge / 64) * 64) for part in parts]
