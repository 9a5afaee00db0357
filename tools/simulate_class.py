"""A class on one JupyterHub, rehearsed on this machine: `make class`.

Starts a real JupyterHub with its proxy. Simulated students log in at once,
pull the book, run two chapters in kernels of their own and move sliders;
then each tries to see the others' files. Everything is cleared away after.
"""

import argparse
import datetime
import os
import secrets
import signal
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import version

from class_isolation import (
    attempts_of,
    problems,
    without_users,
    write_secret,
)
from class_memory import MemoryWatch
from class_report import lines_of, store
from class_room import room
from class_student import Student
from processor import processor

__all__ = ["hold_class", "main"]

CHAPTERS = ("book/04_softmax.ipynb", "book/02_qkv.ipynb")
MOVES = 5
WAIT_SECONDS = 540
PACKAGES = ("jupyterhub", "jupyterlab", "ipywidgets", "numpy", "matplotlib")
NEEDS_ROOT = (
    "not isolated: needs root. All servers belonged to one user of this "
    "system, so nothing kept a kernel from the others' files."
)


def hold_class(room, chapters):
    """Let every student of a room do all at once.

    Returns
    -------
    run : dict
        What was measured, as it is stored in the record.
    attempts : list of Attempt
        Every try to see a file.

    Raises
    ------
    Exception
        What went wrong for the first student for whom anything did.
    """
    names = list(room.passwords)
    students = [Student(n, room.passwords[n], room.url) for n in names]
    texts = {name: secrets.token_hex(16) for name in names}
    together = threading.Barrier(len(students))

    def attend(student):
        try:
            together.wait(WAIT_SECONDS)
            return student_day(student, chapters, room, texts, together)
        except BaseException:
            together.abort()
            raise
        finally:
            student.close()

    load = os.getloadavg()[0]
    with MemoryWatch(names, room.folder) as watch:
        with ThreadPoolExecutor(len(students)) as pool:
            days = [pool.submit(attend, student) for student in students]
        errors = [day.exception() for day in days if day.exception()]
    for error in sorted(
        errors, key=lambda e: isinstance(e, threading.BrokenBarrierError)
    ):
        raise error
    run = {
        "students": len(students),
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "commit": room.commit,
        "cores": len(os.sched_getaffinity(0)),
        "cpu": processor(),
        "versions": {name: version(name) for name in PACKAGES},
        "chapters": list(chapters),
        "isolated": room.isolated,
        "load_before": round(load, 1),
        "seconds": {
            step: [round(s.seconds[step], 2) for s in students]
            for step in students[0].seconds
        },
        "used_seconds": [round(s.used["figure"], 2) for s in students],
        "move_seconds": [round(m, 3) for day in days for m in day.result()[0]],
        "peak_bytes": [watch.peaks[name] for name in names],
        "hub_bytes": watch.peak_hub,
        "total_bytes": watch.peak_total,
    }
    return run, [a for day in days for a in day.result()[1]]


def student_day(student, chapters, room, texts, together):
    """All that one student does; others wait where `together` says so.

    Returns
    -------
    moves : list of float
        Seconds for each move of a slider.
    attempts : list of Attempt
    """
    student.arrive(room.repository, chapters[0])
    kernels = [student.run_chapter(chapter) for chapter in chapters]
    # the kernel runs in the chapter's folder, as the student
    commit = kernels[0].run("!git rev-parse HEAD").strip()
    if commit != room.commit:
        raise RuntimeError(f"{student.name} pulled {commit}, not the book")
    write_secret(student, texts[student.name])
    together.wait(WAIT_SECONDS)
    moves = [
        kernel.move(view)
        for kernel in kernels
        for view in kernel.views[:1]
        for _ in range(MOVES)
    ]
    together.wait(WAIT_SECONDS)
    attempts = attempts_of(student, kernels[-1], room, texts)
    together.wait(WAIT_SECONDS)
    return moves, attempts


def count_of_students(text):
    """Read the number of students from the command line."""
    if not (text.isdigit() and int(text) >= 2):
        raise argparse.ArgumentTypeError(
            f"a class has two students or more, got {text!r}"
        )
    return int(text)


def main(arguments=None):
    """Hold the class; return 0 if all is well, 1 if a file was seen."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--students", type=count_of_students, default=6)
    parser.add_argument("--chapters", nargs="+", default=CHAPTERS)
    parser.add_argument(
        "--record", action="store_true", help="store what was measured"
    )
    parser.add_argument(
        "--home-mode",
        type=lambda text: int(text, 8),
        default=0o700,
        help="permissions of a home, to see that an open one is noticed",
    )
    options = parser.parse_args(arguments)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    begin = time.perf_counter()
    print(f"Starting the hub for {options.students} students.", flush=True)
    with room(options.students, options.home_mode) as place:
        print(f"The hub runs at {place.url}; they log in.", flush=True)
        try:
            run, attempts = hold_class(place, options.chapters)
        except Exception:
            print(place.log_tail(), file=sys.stderr)
            raise
        found = problems(attempts)
    print("\n".join(lines_of(run)))
    others = [a for a in attempts if a.student != a.of]
    ways = sorted({a.way for a in others})
    if not place.isolated:
        print(NEEDS_ROOT)
        found = without_users(found)
    if found:
        print("\n".join(["FILES WERE SEEN", *found]))
    elif place.isolated:
        print(
            f"nobody saw another's files: {len(others)} tries refused, "
            f"in {len(ways)} ways ({', '.join(ways)})"
        )
    if options.record and not found and place.isolated:
        store(run)
    print(f"{time.perf_counter() - begin:.0f} s in all; all cleared away")
    return 1 if found else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        print("stopped; all cleared away", file=sys.stderr)
        sys.exit(130)
