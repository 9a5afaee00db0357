"""What a class measured: its figures in words, and its record on disk."""

import json
import math
import re
from pathlib import Path

__all__ = [
    "GUIDE",
    "RECORD",
    "guide_table",
    "lines_of",
    "node_students",
    "percentile",
    "store",
]

ROOT = Path(__file__).resolve().parent.parent
RECORD = ROOT / "hub/measured.json"
GUIDE = ROOT / "hub/README.md"
BEGIN, END = "<!-- measured: begin -->", "<!-- measured: end -->"

MIB, GIB = 2**20, 2**30
# What a node keeps for the system; the hub's own memory is measured.
SYSTEM_BYTES = GIB
NODES_GIB = (4, 8, 16, 32)
STEPS = {
    "server": "own server up",
    "book": "book pulled",
    "lab": "JupyterLab loaded",
    "figure": "first figure",
}


def percentile(values, share):
    """The smallest value that at least `share` of the values do not exceed.

    Parameters
    ----------
    values : sequence of float
    share : float
        Above 0, at most 1.

    Returns
    -------
    float
        One of the values: with few students nothing is made up between two.

    Raises
    ------
    ValueError
        If there are no values or `share` is out of range.

    Examples
    --------
    >>> percentile([4, 1, 3, 2], 0.5), percentile([4, 1, 3, 2], 0.95)
    (2, 4)
    """
    if not values:
        raise ValueError("no values to take a percentile of")
    if not 0 < share <= 1:
        raise ValueError(f"share must be above 0, at most 1, got {share}")
    return sorted(values)[math.ceil(share * len(values)) - 1]


def node_students(node_bytes, student_bytes, hub_bytes):
    """How many students a node holds.

    Returns
    -------
    int
        (memory of the node - system - hub) / (peak memory of a student),
        rounded down.

    Raises
    ------
    ValueError
        If a student holds nothing: then nothing was measured.

    Examples
    --------
    >>> node_students(8 * GIB, 500 * MIB, 200 * MIB)
    13
    """
    if student_bytes <= 0:
        raise ValueError(f"a student must hold memory, got {student_bytes}")
    left = node_bytes - SYSTEM_BYTES - hub_bytes
    return max(0, int(left // student_bytes))


def lines_of(run):
    """Say a run in lines of text."""
    figure = run["seconds"]["figure"]
    moves = run["move_seconds"]
    peaks = run["peak_bytes"]
    lines = [
        f"{run['students']} students at once on {run['cores']} cores, "
        f"commit {run['commit'][:10]}, {busy(run)}",
    ]
    for step, words in STEPS.items():
        lines.append(f"  {words:18} {spread(run['seconds'][step], 's')}")
    lines += [
        f"time to first figure: median {percentile(figure, 0.5):.1f} s, "
        f"p95 {percentile(figure, 0.95):.1f} s after login",
        f"processor time to first figure: {spread(run['used_seconds'], 's')}",
        f"a slider's move:      {spread([1000 * m for m in moves], 'ms')} "
        f"({len(moves)} moves)",
        f"peak memory per student: median "
        f"{percentile(peaks, 0.5) / MIB:.0f} MiB, largest "
        f"{max(peaks) / MIB:.0f} MiB; hub and proxy "
        f"{run['hub_bytes'] / MIB:.0f} MiB",
        "students on a node = (memory - 1 GiB system - hub) / largest peak: "
        + nodes(max(peaks), run["hub_bytes"], "{} on {} GiB"),
    ]
    return lines


def nodes(student_bytes, hub_bytes, words):
    """Students on nodes of several sizes, in words."""
    return ", ".join(
        words.format(node_students(n * GIB, student_bytes, hub_bytes), n)
        for n in NODES_GIB
    )


def busy(run):
    """What else the machine did before the class began."""
    return f"load {run['load_before']:.1f} from other work"


def spread(values, unit):
    """The median and the 95th percentile in words."""
    return (
        f"median {percentile(values, 0.5):6.1f} {unit}, "
        f"p95 {percentile(values, 0.95):6.1f} {unit}"
    )


def guide_table(runs):
    """The guide's measured part, in Markdown.

    Parameters
    ----------
    runs : list of dict
        As they stand in the record, fewest students first.
    """
    rows = [
        "| students at once | first figure, median | p95 | processor time "
        "of it | a slider's move, p95 | peak memory of a student |",
        "|--:|--:|--:|--:|--:|--:|",
    ]
    for run in runs:
        figure = run["seconds"]["figure"]
        rows.append(
            f"| {run['students']} | {percentile(figure, 0.5):.0f} s "
            f"| {percentile(figure, 0.95):.0f} s "
            f"| {percentile(run['used_seconds'], 0.5):.1f} s "
            f"| {percentile(run['move_seconds'], 0.95):.1f} s "
            f"| {max(run['peak_bytes']) / MIB:.0f} MiB |"
        )
    student = max(max(run["peak_bytes"]) for run in runs)
    hub = max(run["hub_bytes"] for run in runs)
    last = runs[-1]
    holds = nodes(student, hub, "**{}** on {} GiB")
    used = max(percentile(run["used_seconds"], 0.5) for run in runs)
    loads = ", ".join(f"{run['load_before']:.1f}" for run in runs)
    rows += [
        "",
        f"Measured {last['date']} on {last['cores']} cores of {last['cpu']}, "
        f"JupyterHub {last['versions']['jupyterhub']}; load from other work "
        f"when each class began: {loads}. Such work stretches the times on "
        "the clock; processor time and memory it leaves much as they are.",
        "",
        "**Memory.** Students on a node = (its memory − 1 GiB for the system "
        f"− {hub / MIB:.0f} MiB for the hub) / {student / MIB:.0f} MiB: "
        f"{holds}. A chapter that imports torch takes more, up to the "
        "student's limit: if all run one at once, divide by the limit.",
        "",
        "**Time.** If all log in at once, the last of N students sees the "
        f"first figure after about N × {used:.1f} s / cores: "
        f"{30 * used / 4:.0f} s for 30 students on 4 free cores.",
    ]
    return "\n".join(rows)


def store(run, record=RECORD, guide=GUIDE):
    """Put a run into the record, in place of one of as many students.

    The guide's table is written anew from the record.
    """
    runs = json.loads(record.read_text("utf-8")) if record.exists() else []
    runs = [old for old in runs if old["students"] != run["students"]]
    runs = sorted([*runs, run], key=lambda one: one["students"])
    text = json.dumps(runs, indent=1)
    # one line for each list of numbers
    text = re.sub(r"\[[\s\d.,]+\]", lambda m: " ".join(m[0].split()), text)
    record.write_text(text + "\n", "utf-8")
    text = guide.read_text("utf-8")
    head, rest = text.split(BEGIN)
    tail = rest.split(END)[1]
    guide.write_text(
        f"{head}{BEGIN}\n{guide_table(runs)}\n{END}{tail}", "utf-8"
    )
