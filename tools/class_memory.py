"""Memory and processor time of each student's processes, from outside.

Proportional set size (PSS): a page that k processes share counts 1/k to
each, so that the sum over all students is what the machine really holds.
"""

import os
import threading
from pathlib import Path

__all__ = ["MemoryWatch", "held_bytes", "used_seconds"]

EVERY_SECONDS = 0.5


class MemoryWatch:
    """Sample while the `with` block runs; then `peaks` and `peak_total`.

    Parameters
    ----------
    names : sequence of str
        The students.
    folder : Path
        The room's folder, by which the hub and its proxy are known.
    """

    def __init__(self, names, folder):
        self.names = list(names)
        self.folder = folder
        self.peaks = dict.fromkeys(self.names, 0)
        self.peak_hub = 0
        self.peak_total = 0
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._stop.set()
        self._thread.join()
        self.sample()

    def sample(self):
        """Look once."""
        held = held_bytes(self.names, self.folder)
        hub = held.pop(None)
        for name, now in held.items():
            self.peaks[name] = max(self.peaks[name], now)
        self.peak_hub = max(self.peak_hub, hub)
        self.peak_total = max(self.peak_total, sum(held.values()))

    def _watch(self):
        while not self._stop.wait(EVERY_SECONDS):
            self.sample()


def held_bytes(names, folder, proc="/proc"):
    """What each student's processes hold now.

    Parameters
    ----------
    names : sequence of str
    folder : Path
        The room's folder.
    proc : str
        Where the system describes its processes.

    Returns
    -------
    dict of int
        PSS in bytes by name; under None that of the hub and its proxy.
    """
    owners = {f"JUPYTERHUB_USER={name}".encode(): name for name in names}
    hub = f"CLASS_SETTINGS={folder}".encode()
    held = dict.fromkeys([*names, None], 0)
    for place in Path(proc).glob("[0-9]*"):
        try:
            words = (place / "environ").read_bytes().split(b"\0")
            owner = next((owners[w] for w in words if w in owners), None)
            if owner is None and not any(w.startswith(hub) for w in words):
                continue
            rollup = (place / "smaps_rollup").read_text("utf-8")
        except OSError:  # it ended meanwhile, or it is not ours to see
            continue
        held[owner] += pss_bytes(rollup)
    return held


def used_seconds(name, proc="/proc"):
    """Processor time that a student's processes have used so far.

    Returns
    -------
    float
        Seconds, of those that ended (git, for one) as well.
    """
    mark = f"JUPYTERHUB_USER={name}".encode()
    ticks = 0
    for place in Path(proc).glob("[0-9]*"):
        try:
            if mark not in (place / "environ").read_bytes().split(b"\0"):
                continue
            stat = (place / "stat").read_text("utf-8")
        except OSError:
            continue
        # after the name in brackets: user, system, and both of the children
        ticks += sum(map(int, stat.rpartition(")")[2].split()[11:15]))
    return ticks / os.sysconf("SC_CLK_TCK")


def pss_bytes(rollup):
    r"""Read the proportional set size from a smaps_rollup.

    >>> pss_bytes("Rss:  20 kB\nPss:   5 kB\nPss_Anon:   1 kB\n")
    5120
    """
    for line in rollup.splitlines():
        if line.startswith("Pss:"):
            return int(line.split()[1]) * 1024
    return 0
