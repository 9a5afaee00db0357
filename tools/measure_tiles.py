"""Measure attention by tiles against the plain way, and keep the samples.

    python tools/measure_tiles.py            some minutes, writes a record
    python tools/measure_tiles.py --quick    N up to 512, in seconds

Plain NumPy on the processor, one thread, one head, float32. No clock starts
before a contestant's values match the float64 helper; the contestants take
turns, forwards and backwards, so that a busy moment falls on all of them.
The clock is the processor time of the one thread, which stands still while
another program has the processor; the clock on the wall is kept beside it.
Raw samples go to book/data/timing/; medians and ratios are computed on load.
"""

import argparse
import datetime
import hashlib
import os
import platform
import resource
import sys
import time
import tracemalloc
from pathlib import Path

# one thread for matrix products, set before NumPy reads it: on a machine
# that others use too, threads that wait for each other are what is measured
os.environ["OPENBLAS_NUM_THREADS"] = "1"

import numpy as np  # noqa: E402

from processor import processor  # noqa: E402
from utils import records  # noqa: E402
from utils.attention import scaled_dot_product_attention  # noqa: E402
from utils.measuring import relative_error  # noqa: E402
from utils.record_writing import try_place, write  # noqa: E402
from utils.tiled import attention_by_tiles  # noqa: E402

D, SEED = 64, 0
# how many rounds at each length: more where a call is over at once
ROUNDS = {256: 41, 512: 31, 1024: 21, 2048: 15, 4096: 9, 8192: 5}
TILES = (64, 128, 256, 512)
MOST_ERROR = 1e-5  # relative, float32


def naive(Q, K, V, keep=None):
    """Take the formula's steps, one array after another."""
    scores = Q @ K.T / np.float32(Q.shape[1] ** 0.5)
    if keep is not None:
        scores = np.where(keep, scores, np.float32(-np.inf))
    weights = np.exp(scores - scores.max(axis=1, keepdims=True))
    weights = weights / weights.sum(axis=1, keepdims=True)
    return weights @ V


def naive_in_place(Q, K, V, keep=None):
    """Take the same steps in one array of N × N."""
    scores = Q @ K.T
    scores *= np.float32(Q.shape[1] ** -0.5)
    if keep is not None:
        np.copyto(scores, np.float32(-np.inf), where=~keep)
    scores -= scores.max(axis=1, keepdims=True)
    np.exp(scores, out=scores)
    scores /= scores.sum(axis=1, keepdims=True)
    return scores @ V


def earlier(i, j):
    """Say which pairs a decoder may use, for any tile."""
    return j <= i


def contestants(Q, K, V, causal):
    """Give each contestant's name, tile and a call without arguments."""
    N = len(Q)
    keep = np.tri(N, dtype=bool) if causal else None
    yield "naive", None, lambda: naive(Q, K, V, keep)
    yield "naive in place", None, lambda: naive_in_place(Q, K, V, keep)
    rule = earlier if causal else None
    for tile in TILES:
        if tile <= N:
            yield (
                f"tiles of {tile}",
                tile,
                lambda tile=tile: attention_by_tiles(Q, K, V, rule, tile),
            )


def peak_bytes(call):
    """Measure what NumPy holds at most, above what it held before."""
    tracemalloc.start()
    try:
        call()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def timed(call):
    """Give processor seconds, seconds on the wall, and pages handed out."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    wall, start = time.perf_counter_ns(), time.thread_time_ns()
    call()
    seconds = (time.thread_time_ns() - start) / 1e9
    wall = (time.perf_counter_ns() - wall) / 1e9
    faults = resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before
    return seconds, wall, faults


def measure(N, causal, rounds):
    """Measure one length: check everybody, then let them take turns."""
    rng = np.random.default_rng(SEED)
    Q, K, V = rng.normal(size=(3, N, D)).astype(np.float32)
    keep = np.tri(N, dtype=bool) if causal else None
    exact, _ = scaled_dot_product_attention(
        *(array.astype(float) for array in (Q, K, V)), keep
    )
    running, points = [], []
    for name, tile, call in contestants(Q, K, V, causal):
        first, *_ = timed(call)
        error = relative_error(call(), exact)
        point = {
            "experiment": "tiles",
            "group": f"tiles {'causal ' if causal else ''}N={N}",
            "contestant": name,
            "tile": tile,
            "batch": 1,
            "heads": 1,
            "kv_heads": 1,
            "queries": N,
            "keys": N,
            "d": D,
            "dtype": "float32",
            "mask": "causal" if causal else "none",
            "direction": "forward",
            "clock": "thread_time_ns",
            "operator": "numpy",
            "status": "ok",
            "reason": None,
            "first_call_seconds": first,
            "mask_seconds": None,
            "peak_bytes": peak_bytes(call),
            "memory_method": "tracemalloc",
            "relative_error": {"output": error},
            "load": {"loadavg": os.getloadavg()[0]},
            "density": None,
            "budget_bytes": None,
            "samples_seconds": [],
            "wall_seconds": [],
            "page_faults": [],
        }
        points.append(point)
        if not error <= MOST_ERROR:
            point["status"] = "wrong"
            point["reason"] = f"relative error {error:.1e}: not timed"
            continue
        running.append((call, point))
    for turn in range(rounds):
        for call, point in running if turn % 2 == 0 else running[::-1]:
            seconds, wall, faults = timed(call)
            point["samples_seconds"].append(seconds)
            point["wall_seconds"].append(wall)
            point["page_faults"].append(faults)
    return points


def run(rounds, quick):
    """Measure all lengths and make the record."""
    started = now()
    points = []
    jobs = [(N, causal) for causal in (False, True) for N in rounds]
    for done, (N, causal) in enumerate(jobs):
        show(f"[{done}/{len(jobs)}] N = {N}{' causal' if causal else ''}")
        points += measure(N, causal, rounds[N])
    show(f"[{len(jobs)}/{len(jobs)}] done\n")
    script = Path(__file__).resolve()
    root = script.parent.parent
    parts = [script, root / "utils" / "tiled.py"]
    return {
        "schema": "attn-timing/1",
        "kind": "measured",
        "run": f"cpu-numpy-tiles-{started[:10]}",
        "started_utc": started,
        "finished_utc": now(),
        "quick": quick,
        "script": {
            "path": script.relative_to(root).as_posix(),
            "sha256": {
                part.relative_to(root).as_posix(): hashlib.sha256(
                    part.read_bytes()
                ).hexdigest()
                for part in parts
            },
        },
        "device": {
            "type": "cpu",
            "name": processor(),
            "cores": os.cpu_count(),
        },
        "software": {
            "python": platform.python_version(),
            "numpy": np.__version__,
            "torch": "not used",
            "system": platform.system(),
        },
        "method": {
            "clock": "thread_time_ns",
            "order": "interleaved, every other round backwards",
            "rounds": {str(N): count for N, count in rounds.items()},
            "seed": SEED,
            "threads": 1,
            "inputs": "randn",
        },
        "capabilities": [],
        "calibration": [],
        "points": points,
    }


def now():
    """Give the time as a record has it."""
    return datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")


def show(text):
    """Show progress in one line."""
    print(f"\r{text:40}", end="", file=sys.stderr, flush=True)


def main(arguments=None):
    """Run as a command."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="N up to 512")
    parser.add_argument("--to", type=Path, help="where to write the record")
    options = parser.parse_args(arguments)
    try:
        try_place(options.to or records.FOLDER / "any.json")
    except OSError as error:
        sys.exit(f"no record can be written: {error}")
    rounds = {256: 3, 512: 3} if options.quick else ROUNDS
    record = run(rounds, options.quick)
    path = options.to or records.FOLDER / f"{record['run']}.json"
    write(record, path)
    print(path.name)


if __name__ == "__main__":
    main()
