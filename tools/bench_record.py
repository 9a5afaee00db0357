"""What a bench keeps: its rows and on what they were measured.

The README's table is written from the record; medians and percentiles are
computed when it is read.
"""

import json
import re
from pathlib import Path

from bench_table import kilobytes, spread

__all__ = ["README", "RECORD", "readme_table", "store", "write_readme"]

ROOT = Path(__file__).resolve().parent.parent
RECORD = ROOT / "tools/bench_record.json"
README = ROOT / "README.md"
BEGIN, END = "<!-- bench: begin -->", "<!-- bench: end -->"

# The parts of the README's table, and what stands for one not measured.
PEERS = {
    "plotly": "Plotly, frames",
    "panel": "Panel, embedded",
    "lite": "JupyterLite",
    "lab": "JupyterLab, live ipywidgets",
}
PARTS = (*PEERS, "page", "bytes", "frames", "build", "nbval")
HEADS = (
    "one figure, {states} states",
    "a move: median",
    "p95",
    "its own bytes",
    "loaded before the first move",
)


def readme_table(record):
    """The README's measured part, in Markdown.

    Parameters
    ----------
    record : dict
        As `store` writes it.

    Returns
    -------
    str
        A line for each way to show the figure, then the weight of a page,
        the time of a build, which bars hold and on what all that was
        measured. What could not be measured says why.
    """
    rows = record["rows"]
    pairs = [
        row["facts"] for part in PEERS for row in rows[part] if _pair(row)
    ]
    lines = ["| " + " | ".join(HEADS).format(**record) + " |"]
    lines.append("|---" + "|--:" * (len(HEADS) - 1) + "|")
    if pairs:
        ours = dict(pairs[0]["ours"])
        ours["times_ms"] = [
            time for pair in pairs for time in pair["ours"]["times_ms"]
        ]
        lines.append(_line(ours, bold="**"))
    for part, name in PEERS.items():
        lines += [
            _line(row["facts"]["peer"]) for row in rows[part] if _pair(row)
        ]
        lines += [
            f"| {name} | {row['holds']} | | | |"
            for row in rows[part]
            if _unmeasured(row)
        ]
    said = [_page(row) for row in rows["bytes"]]
    said += [_build(row) for row in rows["build"]]
    said += [_bars([row for part in PARTS for row in rows[part]])]
    lines += ["", *filter(None, said), "", _conditions(record)]
    return "\n".join(lines)


def store(rows, conditions, states, record=RECORD):
    """Write a run's rows, by part, and on what they were measured.

    Parameters
    ----------
    rows : dict of str to list of Row
    conditions : dict
    states : int
        How many the figure that all show has.
    record : Path
    """
    kept = {part: [vars(row) for row in found] for part, found in rows.items()}
    whole = {**conditions, "states": states, "rows": kept}
    text = json.dumps(whole, indent=1, ensure_ascii=False)
    # one line for each list of numbers
    text = re.sub(r"\[[\s\d.,]+\]", lambda m: " ".join(m[0].split()), text)
    record.write_text(text + "\n", "utf-8")


def write_readme(record=RECORD, readme=README):
    """Write the README's measured part anew from the record."""
    table = readme_table(json.loads(record.read_text("utf-8")))
    head, rest = readme.read_text("utf-8").split(BEGIN)
    tail = rest.split(END)[1]
    readme.write_text(f"{head}{BEGIN}\n{table}\n{END}{tail}", "utf-8")


def _pair(row):
    return row["facts"] and "peer" in row["facts"]


def _unmeasured(row):
    return row["holds"].startswith("not measured")


def _line(showing, bold=""):
    median, p95 = spread(showing["times_ms"])
    own = showing["own_bytes"]
    cells = [
        f"{bold}{showing['name']}{bold}",
        f"{median:.3g} ms",
        f"{p95:.3g} ms",
        kilobytes(own) if own is not None else "none: a kernel draws",
        kilobytes(showing["loaded_bytes"]),
    ]
    return f"| {' | '.join(cells)} |"


def _page(row):
    if _unmeasured(row):
        return f"Weight of a page: {row['holds']}."
    if row["facts"] and "page" in row["facts"]:
        return (
            f"The heaviest page, `{row['facts']['page']}`, with all that it "
            f"loads: {kilobytes(row['facts']['bytes'])}."
        )
    return None


def _build(row):
    if _unmeasured(row):
        return f"Build: {row['holds']}."
    return (
        f"A build, {row['facts']['build']}: {row['facts']['seconds']:.0f} s."
    )


def _bars(rows):
    """How many bars hold; which do not, and by how much."""
    told, held, lead = [], 0, ""
    for row in rows:
        what = row["what"].strip()
        if what == row["what"]:
            lead = what
        elif row["bar"]:
            what = f"{lead}: {what}"
        if not row["bar"] or _unmeasured(row):
            continue
        held += row["holds"] == "yes"
        if row["holds"] != "yes":
            told.append(
                f"{what}, {row['measured']} where {row['bar']} is asked: "
                f"{row['holds']}"
            )
    most = f"Of the {held + len(told)} bars of this bench {held} hold."
    return " ".join([most, *(f"Not this one: {one}." for one in told)])


def _conditions(record):
    versions = ", ".join(
        f"{name} {version}" for name, version in record["versions"].items()
    )
    busy = (
        ""
        if record["load"] is None
        else (
            f" Load from other work when begun: {record['load']}. Such work "
            "stretches every time; bytes it leaves as they are."
        )
    )
    return (
        f"Measured {record['date']} on {record['cores']} cores of "
        f"{record['processor']} ({record['system']}), Chromium "
        f"{record['chromium']}, headless; Python {record['python']}, "
        f"{versions}.{busy}"
    )
