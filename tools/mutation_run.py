"""What `tools/mutate.py` has mutmut do, in a folder for each group."""

import contextlib
import io
import json
import os
import shutil
import signal
import subprocess
import sys
import threading
from pathlib import Path

from mutation_record import ROOT, TESTS, modules_of

__all__ = ["FOLDER", "change", "generate", "lay_out", "run", "verdicts"]

FOLDER = ROOT / "_build" / "mutation"
COPIED = ("utils", "tests", "tools", "book")
SPINNER = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
SETTINGS = """\
[tool.mutmut]
source_paths = ["utils"]
only_mutate = {modules}
also_copy = {copied}
pytest_add_cli_args = ["-p", "mutation_tests", "-p", "no:cacheprovider"]
pytest_add_cli_args_test_selection = {tests}
use_git_change_detection = false
on_dependency_change = "ignore"
process_isolation = "forkserver"
timeout_multiplier = 3.0
timeout_constant = 1.0

[tool.pytest.ini_options]
pythonpath = [".", "tools"]
addopts = ["--import-mode=importlib", "--strict-markers", "-p", "no:nbval"]
filterwarnings = [
  "error",
  # a text read or written without its encoding is an error, but of ours alone
  "ignore::EncodingWarning",
  'error::EncodingWarning:utils\\..*',
]
# a test is asked for by its name in the process that has collected it, where
# pytest does not find one that it has escaped
disable_test_id_escaping_and_forfeit_all_rights_to_community_support = true
markers = ["bug(id): see pyproject.toml", "browser: a real browser"]
"""
RUN = """\
import json, pathlib, signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
from mutmut.__main__ import _run
names = json.loads(pathlib.Path("names.json").read_text("utf-8"))
_run(names, int(sys.argv[1]))
"""


def lay_out(group):
    """Copy what mutmut works on for a group, with settings of its own.

    Returns
    -------
    Path
        The folder.
    """
    folder = FOLDER / group
    folder.mkdir(parents=True, exist_ok=True)
    for name in COPIED:
        shutil.rmtree(folder / name, ignore_errors=True)
        shutil.copytree(
            ROOT / name,
            folder / name,
            ignore=shutil.ignore_patterns("__pycache__", "*.pyc"),
        )
        # what was taken away here must not stay there
        if name != "utils":
            shutil.rmtree(folder / "mutants" / name, ignore_errors=True)
    modules = modules_of(group)
    for module in modules:
        # copied as it is when it was none of these: mutmut would leave it
        if not (folder / "mutants" / f"{module}.meta").is_file():
            (folder / "mutants" / module).unlink(missing_ok=True)
    beside = [
        path.relative_to(folder).as_posix()
        for path in sorted((folder / "utils").rglob("*"))
        if path.is_file() and path.suffix != ".py"
    ]
    tests = [f"tests/test_{name}.py" for name in TESTS[group]]
    settings = SETTINGS.format(
        modules=json.dumps(modules),
        copied=json.dumps([*COPIED[2:], *beside]),
        tests=json.dumps([*tests, *modules]),
    )
    (folder / "pyproject.toml").write_text(settings, "utf-8")
    return folder


def verdicts(group):
    """What is known of each mutant of a group.

    Returns
    -------
    dict of str to dict of str to str
        By module, by mutant: "killed", "survived", "not checked", ...
    """
    from mutmut.stats import status_by_exit_code

    found = {}
    for module in modules_of(group):
        meta = FOLDER / group / "mutants" / f"{module}.meta"
        if meta.is_file():
            codes = json.loads(meta.read_text("utf-8"))["exit_code_by_key"]
            found[module] = {
                mutant: status_by_exit_code[code if code != 255 else None]
                for mutant, code in codes.items()  # 255: no test could run
            }
    return found


def change(mutant, module, folder):
    """What a mutant changes.

    Returns
    -------
    function, line, becomes : str
        The lines that differ, joined, with single spaces.
    """
    from mutmut.mutation.diff_apply import get_diff_for_mutant
    from mutmut.utils.format_utils import (
        orig_function_and_class_names_from_key,
    )

    with _in(folder):
        diff = get_diff_for_mutant(mutant, path=module).splitlines()
    function, class_name = orig_function_and_class_names_from_key(mutant)
    name = f"{class_name}.{function}" if class_name else function
    was = " ".join(line[1:] for line in diff[2:] if line.startswith("-"))
    now = " ".join(line[1:] for line in diff[2:] if line.startswith("+"))
    return name, " ".join(was.split()), " ".join(now.split())


def generate(folder, cores=None):
    """Write the mutants; what did not change keeps its verdict."""
    with _in(folder), contextlib.redirect_stdout(io.StringIO()):
        # reads its settings where it is imported
        from mutmut import __main__ as mutmut
        from mutmut.configuration import reset_config

        reset_config()
        Path("mutants").mkdir(exist_ok=True)
        mutmut.copy_src_dir()
        mutmut.copy_also_copy_files()
        mutmut.create_mutants(cores or os.cpu_count())


def run(names, folder, minutes=None, cores=None):
    """Let mutmut try the mutants; its progress line is shown.

    Parameters
    ----------
    names : sequence of str
    folder : Path
    minutes : float, optional
        Stop then; what was found out is kept.
    cores : int, optional
        All of them unless said.

    Raises
    ------
    SystemExit
        If mutmut could not: the tests fail without any mutant, say.
    """
    # too many names for a command line
    (folder / "names.json").write_text(json.dumps(list(names)), "utf-8")
    # tests beside tests: each on one core
    # and Python says where an encoding is left to the machine
    # (outside the tests mutmut's own are nobody's business here)
    encodings = {
        "PYTHONWARNDEFAULTENCODING": "1",
        "PYTHONWARNINGS": "ignore::EncodingWarning",
    }
    threads = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    plugin = {"PYTHONPATH": str(folder / "tools")}
    work = subprocess.Popen(
        [sys.executable, "-c", RUN, str(cores or os.cpu_count())],
        cwd=folder,
        env={**os.environ, **threads, **encodings, **plugin},
        start_new_session=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
    )

    def stop(*_):
        work.send_signal(signal.SIGINT)

    before = signal.signal(signal.SIGINT, stop)
    timer = threading.Timer(60 * minutes, stop) if minutes else None
    if timer:
        timer.daemon = True
        timer.start()
    shown = True
    for line in work.stdout:
        shown = shown and not line.startswith("Mutant results")
        if shown and line.strip():
            moves = line[0] in SPINNER and "/" in line
            print(line.rstrip(), end="\r" if moves else "\n", flush=True)
    code = work.wait()
    if timer:
        timer.cancel()
    signal.signal(signal.SIGINT, before)
    print()
    if code not in (0, -signal.SIGINT):
        sys.exit(f"mutmut could not go on, exit code {code}")


@contextlib.contextmanager
def _in(folder):
    before = Path.cwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)
