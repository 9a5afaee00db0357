"""What torch's profiler saw: the kernel that ran, the memory it held."""

import contextlib
import json
import os
import sys
import tempfile
from pathlib import Path


@contextlib.contextmanager
def quiet():
    """Keep what torch's profiler writes past Python from the terminal."""
    sys.stderr.flush()
    kept = os.dup(2)
    try:
        with open(os.devnull, "wb") as nowhere:
            os.dup2(nowhere.fileno(), 2)
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)


def trace(profile):
    """The events of a profile, in order of time."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "trace.json"
        profile.export_chrome_trace(str(path))
        events = json.loads(path.read_text("utf-8"))["traceEvents"]
    return sorted(
        (e for e in events if "ts" in e), key=lambda event: event["ts"]
    )


def peak_of(events):
    """The highest of the running sum: the profiler's table adds all up."""
    held = peak = 0
    for event in events:
        if event.get("name") == "[memory]":
            held += event["args"]["Bytes"]
            peak = max(peak, held)
    return peak


def operator(events):
    """The kernel that ran, by the names that the profiler saw."""
    names = list(dict.fromkeys(event.get("name", "") for event in events))
    fused = [n for n in names if n.startswith("aten::_scaled_dot_product")]
    if fused:
        return fused[0]
    if any("CompiledFxGraph" in name for name in names):
        return "compiled by torch.compile"
    plain = [n for n in names if n in ("aten::bmm", "aten::_softmax")]
    return " + ".join(plain) or None
