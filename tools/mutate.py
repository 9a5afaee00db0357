"""Change the helpers one spot at a time and see whether the tests notice.

    make mutate                                   # go on until all are tried
    python tools/mutate.py --only masks,cost      # some modules
    python tools/mutate.py --minutes 3            # as far as that goes
    python tools/mutate.py --again                # the survivors once more
    python tools/mutate.py --left                 # only show who survives
    python tools/mutate.py --record               # keep the score, for bench

mutmut makes the mutants, in `_build/mutation`, and runs for each the tests
that reach its function. A run that was stopped goes on where it was. A
mutant's verdict stands until its function changes; `make clean` forgets all.
Who survives is listed with its change; who cannot be told from the original
is named, with the reason, in `tools/mutation_survivors.toml`.
"""

import argparse
import datetime
import importlib.metadata
import platform
import random
from pathlib import Path

import mutation_record
from bench_table import render
from mutation_record import GROUPS, modules_of, mutated_modules
from mutation_run import FOLDER, change, generate, lay_out, run, verdicts

SEED = 20261130  # of --sample


def chosen(mutants, sample=None):
    """Some of a module's mutants, the same ones each time; or all.

    >>> chosen("abcdef", 2) == chosen("abcdef", 4)[:2]
    True
    """
    mixed = list(mutants)
    if sample is not None:
        random.Random(SEED).shuffle(mixed)
    return mixed[:sample]


def waiting(found, only, again, sample=None):
    """The mutants to try, of those known.

    Parameters
    ----------
    found : dict
        As `verdicts` gives it.
    only : sequence of str
        Modules.
    again : bool
        Try those that no test killed once more, and those that took too long
        (a busy machine may be why), instead of those not tried.
    sample : int, optional
        Try at most so many of each module, the same ones each time.

    Returns
    -------
    list of str
    """
    names = []
    for module, mutants in found.items():
        if module not in only:
            continue
        for mutant in chosen(mutants, sample):
            verdict = mutants[mutant]
            tried = verdict not in mutation_record.NOT_TRIED
            if again:
                wanted = tried and verdict != "killed"
            else:
                wanted = not tried
            if wanted:
                names.append(mutant)
    return names


def scores(found, explained, folder, sample=None):
    """Count, by module, and list who survives without a reason.

    Parameters
    ----------
    found : dict
        As `verdicts` gives it.
    explained : dict
        As `mutation_record.explained` gives it.
    folder : Path
    sample : int, optional
        Count the chosen ones alone, of a module that is not wholly tried.

    Returns
    -------
    counts : dict of str to dict
        By module, as a record keeps it.
    left : dict of str to list of tuple of str
        By module: mutant, function, line, what it becomes.
    """
    counts, left = {}, {}
    for module, every in found.items():
        whole = mutation_record.NOT_TRIED.isdisjoint(every.values())
        among = chosen(every, None if whole else sample)
        mutants = {name: every[name] for name in among}
        verdict = list(mutants.values())
        tried = [v for v in verdict if v not in mutation_record.NOT_TRIED]
        survivors = [
            (mutant, *change(mutant, module, folder))
            for mutant, v in mutants.items()
            if v not in mutation_record.NOT_TRIED | mutation_record.KILLED
        ]
        open_ = [
            s
            for s in survivors
            if (module, *s[1:]) not in explained
            and not mutation_record.same_everywhere(*s[2:])
        ]
        counts[module] = {
            "sources": mutation_record.digest(module),
            "mutants": len(every),
            "wanted": len(mutants),
            "tried": len(tried),
            "killed": len(tried) - len(survivors),
            "equivalent": len(survivors) - len(open_),
        }
        left[module] = open_
    return counts, left


def _modules(text):
    """The modules that `--only` names: `masks,slider`, or groups of them."""
    asked = [name for name in text.split(",") if name]
    known = {Path(module).stem for module in mutated_modules()}
    unknown = set(asked) - known - set(GROUPS)
    if unknown or not asked:
        raise argparse.ArgumentTypeError(
            f"got {text!r}; the groups are {', '.join(GROUPS)}, the modules "
            f"{', '.join(sorted(known))}"
        )
    return [
        module
        for group in GROUPS
        for module in modules_of(group)
        if Path(module).stem in asked or group in asked
    ]


def _say_who_is_left(survivors):
    for module, found in survivors.items():
        for mutant, function, line, becomes in found:
            print(f"{module} {function}  # {mutant.rpartition('_')[2]}")
            print(f"  - {line}\n  + {becomes}")


def main():
    """Try, count, say who survives."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    say = parser.add_argument
    say("--only", type=_modules, help="some modules or groups, by name")
    say("--minutes", type=float, help="stop then, in each group")
    say("--cores", type=int, help="so many at once; all unless said")
    say("--sample", type=int, metavar="N", help="so many of each module")
    say("--again", action="store_true", help="the survivors once more")
    say("--left", action="store_true", help="only show who survives")
    say("--record", action="store_true", help="keep the score")
    options = parser.parse_args()
    only = options.only or mutated_modules()
    counts = {}
    for group in GROUPS:
        folder = FOLDER / group
        if set(only) & set(modules_of(group)) and not options.left:
            _try(group, only, options)
        if folder.is_dir():
            new, left = scores(
                verdicts(group),
                mutation_record.explained(),
                folder,
                options.sample,
            )
            counts.update(new)
            _say_who_is_left({m: f for m, f in left.items() if m in only})
    print(render(mutation_record.rows(counts)))
    if options.record:
        mutation_record.store(
            counts,
            date=f"{datetime.datetime.now(datetime.UTC):%Y-%m-%d}",
            mutmut=importlib.metadata.version("mutmut"),
            python=platform.python_version(),
            sample=options.sample,
            seed=SEED,
        )


def _try(group, only, options):
    folder = lay_out(group)
    generate(folder, options.cores)
    names = waiting(verdicts(group), only, options.again, options.sample)
    if options.again:
        # tests were written since: which reach what is found out anew
        (folder / "mutants" / "mutmut-stats.json").unlink(missing_ok=True)
    print(f"{group}: {len(names)} mutants to try")
    if names:
        run(names, folder, options.minutes, options.cores)


if __name__ == "__main__":
    main()
