"""Two clocks for the same moments: the processor's and the device's.

A device works through a queue, so a call returns before its work is done:
a clock that does not wait measures how fast work is handed over.
"""

import time

__all__ = ["EventClock", "HostClock"]


class HostClock:
    """The processor's clock; waits for the device before it looks.

    Parameters
    ----------
    synchronize : callable
        Returns when the device has done all that it was given.
    now : callable
        Nanoseconds.
    """

    name = "perf_counter_ns"

    def __init__(self, synchronize=lambda: None, now=time.perf_counter_ns):
        self.synchronize, self._now = synchronize, now

    def mark(self):
        """A moment: after all that the device was given so far."""
        self.synchronize()
        return self._now()

    def seconds(self, pairs):
        """The seconds between the two marks of each pair."""
        return [(stop - start) / 1e9 for start, stop in pairs]


class EventClock:
    """The device's own clock: marks that it sets itself, in its queue.

    Parameters
    ----------
    event : callable
        Makes an event with `record()` and `elapsed_time(other)`, in ms.
    synchronize : callable
    """

    name = "device events"

    def __init__(self, event, synchronize):
        self._event, self.synchronize = event, synchronize

    def mark(self):
        """A moment, which the device notes when it gets there."""
        event = self._event()
        event.record()
        return event

    def seconds(self, pairs):
        """The seconds between the two marks of each pair."""
        self.synchronize()  # once: none is noted before the device is there
        return [start.elapsed_time(stop) / 1e3 for start, stop in pairs]
