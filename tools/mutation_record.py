"""The mutation score: what is mutated, who is excused, what was recorded.

Read by `make bench`, which prints the score but has no time to make it.
"""

import hashlib
import json
import tomllib
from pathlib import Path

from bench_table import Row, at_least

__all__ = [
    "digest",
    "explained",
    "modules_of",
    "mutated_modules",
    "mutation_rows",
    "rows",
    "same_everywhere",
    "store",
]

ROOT = Path(__file__).resolve().parent.parent
RECORD = ROOT / "tools/mutation_record.json"
SURVIVORS = ROOT / "tools/mutation_survivors.toml"
BAR = 90  # per cent of the mutants that can be told from the original
KILLED = {"killed", "timeout", "segfault"}
NOT_TRIED = {"not checked", "check was interrupted by user"}

# What is mutated together, and the tests that these mutants meet: of them,
# for each mutant, those that reach its function.
GROUPS = {
    "formulas": (
        *("attention", "border", "cost", "heads", "masks", "positions"),
        *("ring", "sparse", "tiled"),
    ),
    "recorded": (
        *("record_fields", "record_format", "record_writing", "records"),
        *("roofline", "trained", "trained_file"),
    ),
    "timed": (
        *("busy", "clocks", "contestants", "measuring", "timing", "trace"),
    ),
    "explore": (
        *("breakable", "explorable", "flipbook", "frames", "imports"),
        *("lean", "live", "markup", "page", "palette", "picture", "policy"),
        *("slider", "stored", "unbroken", "unfinished"),
    ),
}
TESTS = {
    "formulas": (
        *("attention", "cost", "cost_facts", "heads", "masks", "positions"),
        *("refusals", "ring", "sparse", "tiled"),
    ),
    "recorded": (
        *("record_fields", "records", "records_read", "refusals"),
        *("roofline", "trained"),
    ),
    "timed": (
        *("busy", "contestants", "measuring", "timing", "trace"),
        *("bugbank_timing", "bugbank_memory"),
    ),
    "explore": (
        *("breakable", "explore", "frames", "imports", "lean", "live"),
        *("markup", "page_steps", "picture", "policy", "refusals_explore"),
        "unbroken",
    ),
}


def modules_of(group):
    """The files of a group, relative to the root."""
    folder = "utils/explore" if group == "explore" else "utils"
    return [f"{folder}/{name}.py" for name in GROUPS[group]]


def mutated_modules():
    """Every file that is mutated: the ground floor and the lift above it.

    Returns
    -------
    list of str
        Relative to the root.
    """
    return [module for group in GROUPS for module in modules_of(group)]


def digest(module, root=ROOT):
    """What a module's record was made from, as a short hash."""
    return hashlib.sha256((root / module).read_bytes()).hexdigest()[:12]


def explained(path=SURVIVORS):
    """The survivors that no test can tell from the original.

    Parameters
    ----------
    path : Path

    Returns
    -------
    dict of tuple of str to str
        (module, function, line, what it becomes): the reason.
    """
    entries = tomllib.loads(path.read_text("utf-8"))["survivor"]
    return {
        (entry["module"], entry["function"], entry["line"], becomes): entry[
            "reason"
        ]
        for entry in entries
        for becomes in entry["becomes"]
    }


def same_everywhere(line, becomes, path=SURVIVORS):
    """Whether a change is one of a word that means the same in any line.

    Parameters
    ----------
    line, becomes : str
    path : Path

    Returns
    -------
    bool
    """
    words = tomllib.loads(path.read_text("utf-8"))["everywhere"]
    return any(
        word["becomes"] in becomes
        and becomes.replace(word["becomes"], word["word"]) == line
        for word in words
    )


def rows(counts, changed=()):
    """A line for all modules together, then for each.

    Parameters
    ----------
    counts : dict of str to dict of str to int
        By module: `mutants`, `wanted` (all or a sample), `tried`, `killed`,
        `equivalent`.
    changed : collection of str
        Modules that are not what they were.

    Returns
    -------
    list of Row
    """
    keys = ("mutants", "wanted", "tried", "killed", "equivalent")
    whole = {key: sum(c[key] for c in counts.values()) for key in keys}
    return [
        _row("mutants that the tests notice", whole, changed),
        *(
            _row(f"of {module}", count, {module} & set(changed))
            for module, count in counts.items()
        ),
    ]


def _row(what, count, changed):
    tried = count["tried"]
    apart = tried - count["equivalent"]
    if not apart:
        return Row(what, holds="not tried")
    score, raw = 100 * count["killed"] / apart, 100 * count["killed"] / tried
    of = tried if tried == count["mutants"] else f"{tried} of {{mutants}}"
    holds = at_least(score, BAR)
    if tried < count["wanted"]:
        # those with fast tests come first: not yet an even sample
        holds = f"unfinished, {count['wanted']} are to be tried"
    if changed:
        holds += f"; changed since: {', '.join(sorted(changed))}"
    return Row(
        what,
        f"{score:.1f} %, raw {raw:.1f} % of {of}".format(**count),
        f">= {BAR} %",
        holds=holds,
    )


def store(counts, path=RECORD, **conditions):
    """Write the score and on what it was made.

    A module that was not tried as far as was asked keeps the count it had.
    """
    before = {}
    if path.is_file():
        before = json.loads(path.read_text("utf-8"))["modules"]
    modules = {
        module: before.get(module, count)
        if count["tried"] < count["wanted"]
        else count
        for module, count in counts.items()
    }
    whole = {**conditions, "modules": modules}
    path.write_text(json.dumps(whole, indent=1) + "\n", "utf-8")


def mutation_rows(path=RECORD, root=ROOT):
    """The recorded score as lines of the bench's table."""
    record = json.loads(path.read_text("utf-8"))
    counts = record["modules"]
    changed = [
        module
        for module in mutated_modules()
        if counts.get(module, {}).get("sources") != digest(module, root)
    ]
    said = rows(counts, changed)
    said[0].what += f" (mutmut {record['mutmut']}, {record['date']})"
    return said
