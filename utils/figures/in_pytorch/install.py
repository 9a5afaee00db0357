"""What a reader without PyTorch sees: one sentence that says what to do."""

import re
from pathlib import Path

_PINS = Path(__file__).parents[3] / "tests" / "requirements.txt"


class TorchIsMissing(ModuleNotFoundError):
    """PyTorch is not installed; says how to install the version of the book.

    A notebook shows the sentence alone, with no list of calls above it, and
    stops.

    Examples
    --------
    >>> print(TorchIsMissing("2.13.0"))
    This chapter compares the book with PyTorch, which is not installed here: \
run `pip install torch==2.13.0`, restart the kernel and run the chapter again.
    """

    def __init__(self, version=None):
        version = version or _pinned()
        wanted = f"torch=={version}" if version else "torch"
        super().__init__(
            "This chapter compares the book with PyTorch, which is not "
            f"installed here: run `pip install {wanted}`, restart the kernel "
            "and run the chapter again.",
            name="torch",
        )

    def _render_traceback_(self):
        """Give IPython all that it is to show."""
        return [str(self)]


def _pinned():
    """The version that the tests compare with, if their list is here."""
    if not _PINS.is_file():
        return None
    found = re.search(r"^torch==([\w.]+)", _PINS.read_text("utf-8"), re.M)
    return found and found[1]
