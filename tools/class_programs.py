"""Programs that a class needs: started with it, and ended with it."""

import contextlib
import os
import signal
import socket
import subprocess
import time
from pathlib import Path

__all__ = ["end_all", "free_port", "run", "start", "wait_for"]

START_SECONDS = 90


def start(stack, command, log, **options):
    """Start a program in a group of its own, which ends with the room."""
    with open(log, "wb") as out:
        process = subprocess.Popen(
            [str(word) for word in command],
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            **options,
        )
    stack.callback(end, process)
    return process


def end(process):
    """End a program and its group at once: there is nothing to be saved."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def end_all(folder):
    """End every process that was told of the room's folder.

    The proxy and the students' servers have sessions of their own, so that
    the group of the hub does not hold them.
    """
    ours = str(folder).encode()
    for place in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if ours in (place / "environ").read_bytes():
                os.kill(int(place.name), signal.SIGKILL)


def wait_for(answers):
    """Ask again until nothing is raised but a refused connection."""
    until = time.monotonic() + START_SECONDS
    while True:
        try:
            return answers()
        except OSError:
            if time.monotonic() > until:
                raise
            time.sleep(0.2)


def free_port():
    """A port of this machine that nothing listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def run(*words):
    """Run a program; return what it said; raise with what it complained of."""
    done = subprocess.run(
        [str(word) for word in words], capture_output=True, encoding="locale"
    )
    if done.returncode:
        raise RuntimeError(f"{words[0]} failed: {done.stderr.strip()}")
    return done.stdout
