"""What a machine does besides what is timed: others' work, lent pages."""

import os

import numpy as np


def page_faults():
    """Pages that this process had to ask the system for, so far."""
    if os.name != "posix":
        return 0
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt


class Busy:
    """How busy the machine was with others, from now on. Linux only."""

    def __init__(self):
        self._start = self._look()

    @staticmethod
    def _look():
        try:
            with open("/proc/stat", encoding="ascii") as file:
                ticks = [int(n) for n in file.readline().split()[1:9]]
        except (OSError, ValueError):
            return None
        own = sum(os.times()[:4]) * os.sysconf("SC_CLK_TCK")
        return np.array([*ticks, own], float)

    def so_far(self):
        """Shares of all processors' time, in percent; None if unknown.

        Returns
        -------
        dict of str to float
            `others`: spent by other processes; `stolen`: by the machine that
            this one is a guest of; `load`: the mean load of the last minute.
        """
        now = self._look()
        if now is None or self._start is None:
            return None
        *ticks, own = now - self._start
        user, nice, system, idle, wait, irq, soft, stolen = ticks
        total = max(sum(ticks), 1.0)
        others = user + nice + system + irq + soft - own
        return {
            "others_percent": round(float(100 * max(others, 0) / total), 1),
            "stolen_percent": round(float(100 * stolen / total), 2),
            "load": round(os.getloadavg()[0], 2),
        }
