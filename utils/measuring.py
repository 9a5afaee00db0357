"""How attention is timed here: no time before the value, all in turns.

Nothing in here knows torch. A machine (`utils.timing` has those of torch and
NumPy) tells how to mark a moment (`utils.clocks`) and what a call used;
`measure` holds the rules. They are rules against the ways in which published
comparisons go wrong: `book/10_gpu_timing.ipynb` shows each.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from utils.busy import Busy, page_faults

# Relative Frobenius errors that the plain program may have, by dtype.
LIMITS = {"float64": 1e-13, "float32": 2e-6, "float16": 2e-3, "bfloat16": 1e-2}
BASELINE = "naive"


class Unsupported(Exception):
    """A contestant does not run on this machine, or at this shape."""


@dataclass
class Call:
    """One contestant at one shape, ready to run.

    Parameters
    ----------
    name : str
    run : callable
        What is timed.
    outputs : callable
        Takes what `run` returned, gives arrays by name, to be checked.
    before : callable
        Done before each run, outside the clock.
    clock : str
        "right", or the name of the mistake that is shown.
    own_clock : callable, optional
        Takes the `run`, gives seconds: a clock that misleads.
    reference : dict of str to ndarray, optional
        What is right, if not what is right for the others.
    held_bytes : int
        Memory that it keeps between runs: a part of its peak.
    timed : bool
        False if it is there for its values alone.
    inputs : optional
        What it computes on.
    fields : dict
        What the record says of it besides.
    """

    name: str
    run: Callable
    outputs: Callable
    before: Callable = lambda: None
    clock: str = "right"
    own_clock: Callable | None = None
    reference: dict | None = None
    held_bytes: int = 0
    timed: bool = True
    inputs: object = None
    fields: dict = field(default_factory=dict)


def relative_error(array, reference):
    """Distance from the reference by its length (Frobenius norms).

    The distance itself, if the reference is all zeros.
    """
    array = np.asarray(array, np.float64)
    if array.shape != reference.shape:
        raise ValueError(f"shape {array.shape}, expected {reference.shape}")
    length = np.linalg.norm(reference)
    return float(np.linalg.norm(array - reference) / (length or 1.0))


def gate(errors, allowed):
    """Say why the values are wrong, or nothing if they are right.

    Parameters
    ----------
    errors, allowed : dict of str to float

    Returns
    -------
    str or None

    Examples
    --------
    >>> gate({"output": 1.2}, {"output": 2e-6})
    'output: relative error 1.2, allowed 2e-06'
    """
    for name, error in errors.items():
        if not error <= allowed[name]:  # NaN is not allowed either
            return (
                f"{name}: relative error {error:.2g}, "
                f"allowed {allowed[name]:.2g}"
            )
    return None


def measure(calls, reference, machine, dtype, seconds=5.0, rounds=(9, 60)):
    """Check the values of all calls, then time them in turns.

    Each call runs once and its arrays are compared with the reference. The
    plain program, first in `calls`, must be right to its dtype's limit, and
    every other as good as it, within a factor of 2. What is wrong gets no
    time. Then all run in turns, A B C, C B A, so that a busy moment falls on
    all of them alike.

    Parameters
    ----------
    calls : sequence of Call
    reference : dict of str to ndarray
        The right arrays, computed in float64.
    machine : object
        `clock`, `observe(call)`, `prepare()`, `arrays(dict)` and
        `status_of(error)`, as those of `utils.timing`.
    dtype : str
    seconds : float
        About how long to measure.
    rounds : (int, int)
        At least and at most so many.

    Returns
    -------
    list of dict
        For each call the fields of a record's point that were measured.
    """
    if not calls or calls[0].name != BASELINE:
        raise ValueError(f"the first call must be {BASELINE!r}")
    busy = Busy()
    rows, ready, allowed = [], [], dict.fromkeys(reference, LIMITS[dtype])
    for place, call in enumerate(calls):
        row = empty_row(call)
        rows.append(row)
        try:
            row["relative_error"] = _first_call(call, row, reference, machine)
            wrong = gate(row["relative_error"], allowed)
            if wrong:
                row.update(status="wrong", reason=wrong)
                continue
            if place == 0:
                plain = row["relative_error"]
                least = np.finfo("f4" if "16" in dtype else dtype).eps
                allowed = {k: 2 * max(v, least) for k, v in plain.items()}
            if not call.timed:
                row.update(status="skipped", reason="only its values count")
                continue
            row.update(machine.observe(call))
            if row["peak_bytes"] is not None:
                row["peak_bytes"] += call.held_bytes
            ready.append((call, row, _once(call, machine)))
        except Exception as error:  # a row that says so, and the next
            status = machine.status_of(error)
            text = " ".join(str(error).split())[:300]
            row.update(status=status, reason=f"{type(error).__name__}: {text}")
    if ready:
        _in_turns(ready, machine, seconds, rounds)
    load = busy.so_far()
    for row in rows:
        row["load"] = load
    return rows


def empty_row(call):
    """The measured fields of a record's point, before anything is."""
    return {
        "contestant": call.name,
        "clock": call.clock,
        "status": "ok",
        "reason": None,
        "operator": None,
        "samples_seconds": [],
        "first_call_seconds": None,
        "mask_seconds": None,
        "page_faults": None,
        "peak_bytes": None,
        "memory_method": None,
        "relative_error": None,
        "tile": None,
        "density": None,
        "budget_bytes": None,
        **call.fields,
    }


def _first_call(call, row, reference, machine):
    """Errors of the first call; its time is kept for those that pass."""
    call.before()
    start = machine.clock.mark()
    result = call.run()
    stop = machine.clock.mark()
    right = call.reference or reference
    found = machine.arrays(call.outputs(result))
    missing = right.keys() - found.keys()
    if missing:
        raise ValueError(f"{call.name} did not give {sorted(missing)}")
    errors = {k: relative_error(found[k], right[k]) for k in right}
    row["first_call_seconds"] = machine.clock.seconds([(start, stop)])[0]
    return errors


def _once(call, machine):
    """A warm call, to know how many rounds there is time for."""
    call.before()
    start = machine.clock.mark()
    call.run()
    return machine.clock.seconds([(start, machine.clock.mark())])[0]


def _in_turns(ready, machine, seconds, rounds):
    one_round = sum(taken for _, _, taken in ready)
    count = int(np.clip(seconds / one_round, *rounds))
    marks = [[] for _ in ready]
    faults = [[] for _ in ready]
    own = [[] for _ in ready]
    for turn in range(count):
        order = range(len(ready))
        for i in order if turn % 2 == 0 else reversed(order):
            call = ready[i][0]
            call.before()
            machine.prepare()
            if call.own_clock:
                own[i].append(call.own_clock(call.run))
                continue
            before = page_faults()
            start = machine.clock.mark()
            kept = call.run()
            marks[i].append((start, machine.clock.mark()))
            faults[i].append(page_faults() - before)
            del kept
    for (_, row, _), pairs, counted, mine in zip(
        ready, marks, faults, own, strict=True
    ):
        taken = mine or machine.clock.seconds(pairs)
        row["samples_seconds"] = [round(s, 9) for s in taken]
        row["page_faults"] = counted or None
