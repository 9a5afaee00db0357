"""Time attention on this machine and write a record of it.

    python tools/measure_timing.py            # the best device at hand
    python tools/measure_timing.py --quick    # N up to 512, half a minute
    python tools/measure_timing.py --again    # a new record for the old one

The record is written whole after each group of programs. A run that was
stopped, or was out of time, goes on where it was when it is called again.
torch is needed (tests/requirements.txt). Let nothing else run meanwhile: how
busy the machine was with others is in the record.
"""

import argparse
import datetime
import hashlib
import json
import re
import sys
import time
from pathlib import Path

from timing_device import Calibration, capabilities, device_report, software
from timing_plan import plan
from timing_runs import run_group
from utils.record_format import SCHEMA
from utils.record_writing import try_place, write
from utils.records import FOLDER, load

__all__ = ["main", "record"]

ROOT = Path(__file__).resolve().parent.parent
OUT_OF_TIME = "out of time: call again to go on"
SOURCES = (
    "tools/measure_timing.py",
    "tools/timing_child.py",
    "tools/timing_device.py",
    "tools/timing_plan.py",
    "tools/timing_runs.py",
    "utils/busy.py",
    "utils/clocks.py",
    "utils/contestants.py",
    "utils/measuring.py",
    "utils/timing.py",
    "utils/trace.py",
)


def main(arguments=None):
    """Measure what is at hand, as the options say."""
    options = _options(arguments)
    try:
        import torch
    except ImportError:
        sys.exit("torch is needed: pip install -r tests/requirements.txt")
    from utils.timing import TorchMachine

    device = options.device or _best(torch)
    threads = options.threads or torch.get_num_threads()
    torch.set_num_threads(threads)
    path = options.out or FOLDER / _file_name(device, options.quick)
    try:
        try_place(path)
    except OSError as error:
        sys.exit(f"no record can be written: {error}")
    record(TorchMachine(device), path, threads, options)
    return 0


def record(machine, path, threads, options, groups=None):
    """Measure group by group into the record at `path`.

    Returns
    -------
    dict
        The record as written.
    """
    start = time.monotonic()
    fields, done = _begin(machine, path, threads, options)
    dtype = "float32" if machine.device == "cpu" else _half(machine)
    if groups is None:
        groups = list(plan(machine.device, dtype, options.quick))
    dtypes = sorted({group.shape.dtype for group in groups})
    bar = Bar(len(groups), options.minutes, start)
    if not fields["capabilities"]:
        fields["capabilities"] = capabilities(machine, dtypes, bar.say)
    earlier = fields["calibration"]
    calibration = Calibration(machine, dtypes, options.quick)
    late = 0
    for place, group in enumerate(groups):
        bar.step(place, group.name)
        if group.name in done:
            continue
        if time.monotonic() - start > 60 * options.minutes:
            late += 1
            continue
        calibration.sample((group.shape.dtype,))
        fields["points"] += run_group(group, machine, threads, bar.say)
        fields["calibration"] = calibration.stored(earlier)
        write(fields, path)
    if late == 0:
        fields["device"]["at_end"] = device_report(machine.device)
        fields["finished_utc"] = _now()
    write(fields, path)
    bar.end(f"{path}: {len(groups) - late} of {len(groups)} groups")
    if late:
        print(f"{late} groups are {OUT_OF_TIME}", file=sys.stderr)
    return fields


def _begin(machine, path, threads, options):
    """An unfinished record of the same machine goes on; else a new one."""
    device, versions = device_report(machine.device), software()
    if Path(path).exists() and not options.again:
        load(path)  # refuses a damaged one
        fields = json.loads(Path(path).read_text("utf-8"))
        if fields["finished_utc"]:
            sys.exit(f"{path} is finished: --again writes a new one over it")
        if fields["script"]["sha256"] != _hashes():
            sys.exit(f"{path} was begun by other code: --again begins anew")
        same = fields["device"]["name"] == device["name"]
        if not same or fields["software"]["torch"] != versions["torch"]:
            sys.exit(f"{path} is another machine's: --again begins anew")
        return fields, {point["group"] for point in fields["points"]}
    fields = {
        "schema": SCHEMA,
        "kind": "measured",
        "run": Path(path).stem,
        "started_utc": _now(),
        "finished_utc": None,
        "quick": options.quick,
        "script": {"path": "tools/measure_timing.py", "sha256": _hashes()},
        "device": device,
        "software": versions,
        "method": {
            "clock": machine.clock.name,
            "order": "in turns: A B C, C B A",
            "inputs": "random normal",
            "seed": 0,
            "threads": threads,
            "cache": "as it is"
            if machine.device == "cpu"
            else "emptied before each run",
        },
        "capabilities": [],
        "calibration": [],
        "points": [],
    }
    return fields, set()


class Bar:
    """One line on stderr that says how far it is."""

    def __init__(self, total, minutes, start):
        self._total, self._minutes, self._start = total, minutes, start
        self._place, self._alive = 0, sys.stderr.isatty()

    def step(self, place, text):
        """Say which group is next."""
        self._place = place
        self.say(text, line=True)

    def say(self, text, line=False):
        """Say what is being done; without a terminal, groups alone."""
        taken = int(time.monotonic() - self._start)
        full = round(20 * self._place / max(self._total, 1))
        shown = (
            f"[{'#' * full:20}] {self._place}/{self._total} "
            f"{taken // 60}:{taken % 60:02} of {self._minutes:g}:00  {text}"
        )
        if self._alive:
            print(
                f"\r\033[K{shown[:110]}", end="", file=sys.stderr, flush=True
            )
        elif line:
            print(shown, file=sys.stderr, flush=True)

    def end(self, text):
        """Say that it is over."""
        self._place = self._total
        self.say(text, line=True)
        if self._alive:
            print(file=sys.stderr)


def _best(torch):
    if torch.cuda.is_available():
        return "cuda"
    return "mps" if torch.backends.mps.is_available() else "cpu"


def _half(machine):
    """bfloat16 where it is computed, not imitated: from Ampere on.

    `torch.cuda.is_bf16_supported()` says yes on a T4 too.
    """
    if machine.device != "cuda":
        return "float16"
    major = machine.torch.cuda.get_device_capability()[0]
    return "bfloat16" if major >= 8 else "float16"


def _file_name(device, quick):
    name = device_report(device)["name"].lower().replace("(r)", "")
    slug = re.sub(r"[^a-z0-9]+", "-", name).strip("-")
    return f"{device}-{slug}{'-quick' if quick else ''}.json"


def _hashes():
    """sha256 of what decides how it is measured."""
    return {
        source: hashlib.sha256((ROOT / source).read_bytes()).hexdigest()
        for source in SOURCES
    }


def _now():
    now = datetime.datetime.now(datetime.UTC)
    return now.isoformat(timespec="seconds").replace("+00:00", "Z")


def _options(arguments):
    parser = argparse.ArgumentParser(
        description="Time attention on this machine and write a record of it."
    )
    parser.add_argument("--quick", action="store_true", help="N up to 512")
    parser.add_argument(
        "--again", action="store_true", help="write over a finished record"
    )
    parser.add_argument("--out", type=Path, help="where to write the record")
    parser.add_argument("--device", choices=("cpu", "cuda", "mps"))
    parser.add_argument("--threads", type=int, help="of torch, on a processor")
    parser.add_argument(
        "--minutes",
        type=float,
        default=7.5,
        help="after so many no group is begun (7.5)",
    )
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(main())
