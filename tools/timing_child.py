"""What needs a process of its own: a cold first call, and no more memory.

Called by tools/measure_timing.py; prints one line of JSON.
"""

import json
import sys

from utils.contestants import torch_calls
from utils.timing import Shape, TorchMachine


def cold(device, queries, threads):
    """Seconds of the first call of a process, and of the eleventh."""
    machine = TorchMachine(device)
    machine.torch.set_num_threads(threads)
    calls, _ = torch_calls(machine, Shape(queries), ["naive", "flash"])
    taken = []
    for _ in range(11):
        start = machine.clock.mark()
        calls[1].run()
        pair = [(start, machine.clock.mark())]
        taken.append(machine.clock.seconds(pair)[0])
    return {"first": taken[0], "eleventh": taken[10]}


def limit(device, budget, name, direction, dtype, lengths):
    """Try growing lengths with so many bytes and no more.

    Returns
    -------
    list of dict
        queries, status and reason; the first that does not fit ends it.
    """
    machine = TorchMachine(device)
    torch = machine.torch
    rows = []
    _run(
        machine, 256, name, direction, dtype
    )  # warm: threads, code, gradients
    if device == "cuda":
        total = torch.cuda.get_device_properties(0).total_memory
    for queries in lengths:
        shape = Shape(queries, direction=direction, dtype=dtype)
        calls, _ = torch_calls(machine, shape, ["naive", name], check=False)
        call = calls[1] if name != "naive" else calls[0]
        if device == "cuda":
            torch.cuda.empty_cache()
            held = torch.cuda.memory_reserved()
            torch.cuda.set_per_process_memory_fraction((held + budget) / total)
            freed = lambda: None  # noqa: E731
        else:
            freed = _capped(budget)
        try:
            call.run()
            rows.append({"queries": queries, "status": "ok", "reason": None})
        except Exception as error:
            text = " ".join(str(error).split())[:200]
            status = machine.status_of(error)
            rows.append({"queries": queries, "status": status, "reason": text})
            break
        finally:
            freed()
        del calls, call
    return rows


def _run(machine, queries, name, direction, dtype):
    shape = Shape(queries, direction=direction, dtype=dtype)
    calls, _ = torch_calls(machine, shape, ["naive", name], check=False)
    for call in calls:
        call.run()


def _capped(budget):
    """Let this process have so many bytes more than it has now."""
    import resource

    with open("/proc/self/statm", encoding="ascii") as file:
        held = int(file.read().split()[0]) * resource.getpagesize()
    was = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (held + budget, was[1]))
    return lambda: resource.setrlimit(resource.RLIMIT_AS, was)


if __name__ == "__main__":
    what, arguments = sys.argv[1], json.loads(sys.argv[2])
    print(json.dumps({"cold": cold, "limit": limit}[what](**arguments)))
