"""What the machine is, what it can run, and what its peaks are."""

import os
import platform
import subprocess
from pathlib import Path

import numpy as np

from processor import processor
from utils.contestants import torch_calls
from utils.measuring import gate, relative_error
from utils.timing import BACKENDS, Shape

__all__ = ["Calibration", "capabilities", "device_report", "software"]

NVIDIA = (
    "driver_version",
    "power.limit",
    "clocks.sm",
    "clocks.mem",
    "clocks.max.sm",
    "temperature.gpu",
    "clocks_throttle_reasons.active",
    "mig.mode.current",
)


def device_report(device):
    """What is timed: its name, and its state now.

    Parameters
    ----------
    device : str
        cpu, cuda or mps.

    Returns
    -------
    dict
    """
    report = {"type": device, "name": processor(), "cpu": _cpu()}
    if device == "cuda":
        import torch

        card = torch.cuda.get_device_properties(0)
        report |= {
            "name": card.name,
            "capability": [card.major, card.minor],
            "multiprocessors": card.multi_processor_count,
            "memory_bytes": card.total_memory,
            "l2_bytes": getattr(card, "L2_cache_size", None),
            "nvidia_smi": nvidia_state(),
        }
    elif device == "mps":
        report["name"] = f"{platform.processor()} GPU"
    return report


def nvidia_state():
    """Driver, clocks, power and temperature as nvidia-smi says them."""
    command = ["nvidia-smi", "--format=csv,noheader", "--id=0"]
    command.append(f"--query-gpu={','.join(NVIDIA)}")
    try:
        done = subprocess.run(
            command,
            capture_output=True,
            encoding="locale",
            timeout=30,
            check=True,
        )
    except (OSError, subprocess.SubprocessError) as error:
        return {"error": str(error)[:200]}
    values = [value.strip() for value in done.stdout.strip().split(",")]
    return dict(zip(NVIDIA, values, strict=False))


def _cpu():
    import torch

    memory = None
    for line in _lines("/proc/meminfo"):
        if line.startswith("MemTotal"):
            memory = int(line.split()[1]) * 1024
    return {
        "model": processor(),
        "processors": os.cpu_count(),
        "memory_bytes": memory,
        "instructions": torch.backends.cpu.get_cpu_capability(),
        "bf16_units": bool(torch.ops.mkldnn._is_mkldnn_bf16_supported()),
    }


def _lines(path):
    try:
        return Path(path).read_text("utf-8").splitlines()
    except OSError:
        return []


def software():
    """Versions, and the settings that change times."""
    import torch

    names = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "GLIBC_TUNABLES")
    cudnn = torch.backends.cudnn
    return {
        "python": platform.python_version(),
        "torch": torch.__version__,
        "numpy": np.__version__,
        "cuda": torch.version.cuda,
        "cudnn": cudnn.version() if cudnn.is_available() else None,
        "system": f"{platform.system()} {platform.release()}",
        "environment": {name: os.environ.get(name) for name in names},
        "tf32": torch.backends.cuda.matmul.allow_tf32,
    }


def capabilities(machine, dtypes, show=lambda text: None):
    """Try each backend on a small input, forward and backward.

    Returns
    -------
    list of dict
        ok, and the operator that ran or the exact reason why none did.
    """
    rows = []
    for dtype in dtypes:
        for direction in ("forward", "forward+backward"):
            shape = Shape(64, heads=2, d=64, dtype=dtype, direction=direction)
            for name in BACKENDS:
                show(f"can it run {name} {dtype} {direction}?")
                row = {
                    "contestant": name,
                    "dtype": dtype,
                    "direction": direction,
                    "ok": False,
                    "operator": None,
                    "reason": None,
                }
                rows.append(row | _try(machine, shape, name))
    return rows


def _try(machine, shape, name):
    try:
        calls, right = torch_calls(machine, shape, ["naive", name])
        call = calls[1]
        call.before()
        found = machine.arrays(call.outputs(call.run()))
        errors = {k: relative_error(found[k], right[k]) for k in right}
        wrong = gate(errors, dict.fromkeys(right, 2e-2))
        if wrong:
            return {"reason": wrong}
        return {"ok": True, "operator": machine.observe(call)["operator"]}
    except Exception as error:
        text = " ".join(str(error).split())[:300]
        return {"reason": f"{type(error).__name__}: {text}"}


class Calibration:
    """The peaks of a device, sampled again and again between experiments.

    matmul and copy are large; exp stays in the caches of a processor (a card
    cannot be asked that way: its exponentials wait for memory); launch does
    nothing.
    """

    def __init__(self, machine, dtypes, quick=False):
        torch, device = machine.torch, machine.device
        self._machine = machine
        self.rows = []
        on_card = device != "cpu"
        side = 256 if quick else 8192 if on_card else 2048
        for dtype in dtypes:
            kind = getattr(torch, dtype)
            a = torch.randn(side, side, device=device).to(kind)
            into = torch.empty_like(a)

            def product(a=a, into=into):
                torch.matmul(a, a, out=into)

            self._add("matmul", dtype, 2 * side**3, product)
        size = 2**20 if quick else 2**28 if on_card else 2**25
        a, into = torch.zeros(2, size, device=device)
        self._add("copy", "float32", 8 * size, lambda: into.copy_(a))
        if not on_card:
            few, there = torch.randn(2, 2**18)
            again = 16

            def exponentials():
                for _ in range(again):
                    torch.exp(few, out=there)

            self._add("exp", "float32", again * 2**18, exponentials)
        one = torch.ones(1, device=device)
        self._add("launch", "float32", 1, lambda: torch.neg(one))

    def _add(self, what, dtype, work, run):
        row = {"what": what, "dtype": dtype, "work": work}
        self.rows.append((row | {"samples_seconds": []}, run))
        run()  # warm

    def sample(self, dtypes=()):
        """Add a sample of each; of products, in these dtypes and float32."""
        clock = self._machine.clock
        for row, run in self.rows:
            if row["what"] == "matmul" and row["dtype"] not in (
                "float32",
                *dtypes,
            ):
                continue
            start = clock.mark()
            run()
            pair = [(start, clock.mark())]
            row["samples_seconds"].append(round(clock.seconds(pair)[0], 9))

    def stored(self, earlier):
        """Rows for the record, after those of an earlier part of the run."""
        before = {(r["what"], r["dtype"]): r for r in earlier}
        rows = []
        for row, _ in self.rows:
            old = before.pop((row["what"], row["dtype"]), None)
            samples = [*(old or {}).get("samples_seconds", [])]
            samples += row["samples_seconds"]
            if samples:
                rows.append(row | {"samples_seconds": samples})
        return rows + list(before.values())
