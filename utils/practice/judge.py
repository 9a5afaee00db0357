"""Compare a reader's answers with the right ones and with known mistakes.

A mistake is named only if the reader's answers equal its answers on every
trial of a stage, and differ from the right ones on one at least. Otherwise
the verdict says what differs, and nothing more.
"""

from itertools import combinations

import numpy as np

from utils.practice.compare import matches, quiet
from utils.practice.differences import differences
from utils.practice.reader import Failed, Reader
from utils.practice.verdict import Verdict

__all__ = ["judge"]


def judge(task, function):
    """Say which mistake a function makes, or that it is right.

    Parameters
    ----------
    task : Task
    function : callable
        The reader's own.

    Returns
    -------
    Verdict

    Raises
    ------
    ValueError
        If `function` is not a function.
    """
    reader = Reader(function, task.arguments)
    answers, seen = task.answers, []
    stages = _as_far_as_taken(task, reader)
    try:
        while stages:
            seen += _answered(reader, stages.pop(0))
            right = {n: a for n, a in answers.items() if _agrees(a, seen)}
            if not right:
                return _diagnose(task, reader, answers, seen, stages)
            answers = right
    except Failed as failure:
        headline = f"{reader.name}: {failure.headline}"
        return Verdict(False, headline, failure.lines, error=failure.error)
    convention = "".join(f" ({name})" for name in answers if name)
    headline = f"{reader.name} is right{convention}"
    return Verdict(True, headline, _promise(task, reader))


def _as_far_as_taken(task, reader):
    """The trials; an argument such as a mask may be one it does not take."""
    stages = task.stages()
    taken = [
        [trial for trial in trials if reader.takes(len(trial))]
        for trials in stages
    ]
    # none at all: let the call say why
    return [trials for trials in taken if trials] or stages


def _promise(task, reader):
    if reader.takes(len(task.arguments)):
        return [task.promise]
    left_out = task.arguments[-1]
    return [task.promise, f"It takes no {left_out}: it was tried without."]


def _answered(reader, trials):
    """Pairs of a trial and the reader's answer to it."""
    return [(trial, reader(*trial)) for trial in trials]


def _agrees(run, seen):
    return all(matches(quiet(run, trial), arrays) for trial, arrays in seen)


def _diagnose(task, reader, answers, seen, later):
    """Name the mistake, the two mistakes, or else what differs."""
    for mutant in task.mutants:
        if _agrees(mutant.run, seen):
            other = _second(task, reader, mutant, seen, later)
            return (
                _two(reader, mutant, other) if other else _one(reader, mutant)
            )
    for one, other in combinations(task.mutants, 2):
        both = _both(task.recipe, one, other)
        if both and _agrees(both, seen):
            return _two(reader, one, other)
    return _unknown(task, reader, answers, seen)


def _one(reader, mutant):
    return Verdict(
        False,
        f"{reader.name}: {mutant.name}",
        [f"{mutant.symptom}: {mutant.cause}.", mutant.why],
        [mutant.name],
        mutant.report,
    )


def _two(reader, *pair):
    return Verdict(
        False,
        f"{reader.name}: two mistakes at once",
        [f"{m.name[0].upper()}{m.name[1:]}: {m.cause}. {m.why}" for m in pair],
        [m.name for m in pair],
        pair[0].report or pair[1].report,
    )


def _second(task, reader, mutant, seen, later):
    """What else it does wrong where later trials ask for more, if known."""
    if not later:
        return None
    try:
        seen = seen + _answered(reader, later[0])
    except Failed:
        return None
    if _agrees(mutant.run, seen):
        return None
    for other in task.mutants:
        both = _both(task.recipe, mutant, other)
        if both and _agrees(both, seen):
            return other
    return None


def _both(recipe, one, other):
    """Two mistakes in different steps of the recipe, as a function."""
    if not (one.changes and other.changes):
        return None
    if one.changes.keys() & other.changes.keys():
        return None
    changes = {**one.changes, **other.changes}
    return lambda *trial: recipe(*trial, **changes)


def _unknown(task, reader, answers, seen):
    # speak of the convention that the reader comes closest to
    def agreeing(answer):
        return sum(_agrees(answer, [pair]) for pair in seen)

    answer = max(answers.values(), key=agreeing)
    trial, arrays = next(p for p in seen if not _agrees(answer, [p]))
    named = zip(task.arguments, trial, strict=False)
    called = ", ".join(
        f"{name} {np.shape(value) if np.ndim(value) else value}"
        for name, value in named
    )
    return Verdict(
        False,
        f"{reader.name} is not right, and makes no mistake known here",
        [
            *differences(task, quiet(answer, trial), arrays),
            f"It was given {called}.",
        ],
    )
