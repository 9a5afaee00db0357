"""The name of the processor, for whatever is measured on it."""

import platform
from pathlib import Path

__all__ = ["processor"]


def processor(info="/proc/cpuinfo"):
    """Name the processor as Linux does; elsewhere as Python knows it.

    Returns
    -------
    str
        Never empty: at the least the kind of machine, such as x86_64.
    """
    try:
        lines = Path(info).read_text("utf-8", "replace").splitlines()
    except OSError:
        lines = []
    for line in lines:
        name, _, value = line.partition(":")
        if name.strip() == "model name" and value.strip():
            return " ".join(value.split())
    return platform.processor() or platform.machine()
