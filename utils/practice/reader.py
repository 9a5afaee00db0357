"""Run a reader's function: with which arrays, and whose mistake an error is.

Torch is never imported here unless the reader's own function names it.
"""

import contextlib
import functools
import inspect
import io
import linecache
import sys
import warnings
from pathlib import Path

import numpy as np

from utils.practice.arrays import (
    copy_for,
    describe,
    same,
    to_numpy,
    torch_if_named,
)

__all__ = ["Failed", "Reader"]

_REVERSES = (
    ".T turns all axes around; .mT, or swapaxes(-1, -2), only the last two."
)
_HERE = str(Path(__file__).parent)


class Failed(Exception):  # noqa: N818, not an error of ours
    """A reader's function gave no answer; holds what to tell the reader."""

    def __init__(self, headline, lines=(), error=None):
        super().__init__(headline)
        self.headline, self.lines, self.error = headline, lines, error


class Reader:
    """A reader's function, called with the arrays that it understands.

    Parameters
    ----------
    function : callable
        Takes NumPy arrays or torch tensors.
    arguments : sequence of str
        What its arguments hold, in order.

    Raises
    ------
    ValueError
        If it is not a function.
    """

    def __init__(self, function, arguments):
        if not callable(function):
            raise ValueError(
                "a check takes the function itself, such as my_softmax and "
                f"not my_softmax(...); received {type(function).__name__}"
            )
        self.function = function
        self.arguments = arguments
        self.name = _name(function)
        self.torch = torch_if_named(function)
        self.settled = False

    def takes(self, count):
        """Tell whether it can be called with so many arguments."""
        try:
            inspect.signature(self.function).bind(*range(count))
        except TypeError:
            return False
        except ValueError:  # a builtin that does not say
            return True
        return True

    def __call__(self, *values):
        """Call it, and read the answer as NumPy arrays.

        Returns
        -------
        list of ndarray
            One for each array of a tuple; one in all otherwise.

        Raises
        ------
        Failed
            If it raises, gives nothing or no numbers, changes its input, or
            answers the same question in two ways.
        """
        if not self.takes(len(values)):
            raise Failed(
                f"it cannot be called as {self._call(len(values))}",
                ["Give it just these arguments, in this order."],
            )
        if not self.settled:
            self._settle(values)
        given = [copy_for(value, self.torch) for value in values]
        answer = _as_arrays(self._run(given))
        for name, value, now in zip(
            self.arguments, values, given, strict=False
        ):
            if not same(np.asarray(value), to_numpy(now)):
                raise Failed(
                    f"it changes its input {name}",
                    [
                        "The caller's array is not the same after the call. "
                        "Work on a copy, or write the steps without +=, *= "
                        "and assignments into the input."
                    ],
                )
        again = _as_arrays(
            self._run([copy_for(value, self.torch) for value in values])
        )
        if not all(map(same, answer, again)):
            raise Failed(
                "it answers the same question in two ways",
                [
                    "Two calls with equal input gave different numbers. Is "
                    "something random in it, such as dropout?"
                ],
            )
        return [self._as_wide_as_given(array) for array in answer]

    def _as_wide_as_given(self, array):
        """No result is more exact than the tensors that it came from."""
        if self.torch is None or array.dtype.kind != "f":
            return array
        given = to_numpy(self.torch.empty(0)).dtype
        return array.astype(min(array.dtype, given, key=lambda t: t.itemsize))

    def _settle(self, values):
        """Find out whether it wants arrays or tensors, by its first call."""
        self.settled = True
        try:
            self._run([copy_for(value, self.torch) for value in values])
        except Failed as failure:
            first, other = self.torch, None
            if first is None:
                other = sys.modules.get("torch")
            if first is not other:
                self.torch = other
                try:
                    self._run([copy_for(value, other) for value in values])
                except Failed:
                    self.torch = first
                    raise failure from None

    def _run(self, given):
        try:
            with (
                warnings.catch_warnings(),
                np.errstate(all="ignore"),
                contextlib.redirect_stdout(io.StringIO()),  # it runs often
            ):
                warnings.simplefilter("ignore")
                return self.function(*given)
        except Exception as error:
            raise Failed(
                f"your code raised {type(error).__name__}",
                self._trace(error, given),
                error,
            ) from None

    def _trace(self, error, given):
        """Where in the reader's own code, and for which input."""
        code = getattr(self.function, "__code__", None)
        frames = []
        trace = error.__traceback__
        while trace is not None:
            frames.append((trace.tb_frame.f_code.co_filename, trace))
            trace = trace.tb_next
        frames = [f for f in frames if not f[0].startswith(_HERE)]
        own = [f for f in frames if code and f[0] == code.co_filename]
        lines = [f"{type(error).__name__}: {error}"]
        if own or frames:
            path, trace = (own or frames[:1])[-1]
            source = linecache.getline(path, trace.tb_lineno).strip()
            where = f"In {trace.tb_frame.f_code.co_name}"
            lines.append(f"{where}, line {trace.tb_lineno}: {source}")
            if ".T" in source and any(np.ndim(one) > 2 for one in given):
                lines.append(_REVERSES)
        names = zip(self.arguments, given, strict=False)
        shapes = [f"{name} {describe(value)}" for name, value in names]
        return [*lines, f"It was called with {', '.join(shapes)}."]

    def _call(self, count):
        return f"{self.name}({', '.join(self.arguments[:count])})"


def _name(function):
    while isinstance(function, functools.partial):
        function = function.func
    name = getattr(function, "__name__", type(function).__name__)
    return "your function" if name == "<lambda>" else name


def _as_arrays(answer):
    if answer is None:
        raise Failed(
            "it gives nothing yet (None)",
            ["Write its steps; if they are written, the return is missing."],
        )
    parts = answer if isinstance(answer, tuple) else (answer,)
    arrays = []
    for part in parts:
        try:
            array = to_numpy(part)
        except (ValueError, TypeError, RuntimeError):
            array = np.array(None, dtype=object)
        if array.dtype.kind not in "fiub":
            raise Failed(
                "it gives no numbers",
                [f"It gave {type(part).__name__}, not an array of numbers."],
            )
        arrays.append(np.array(array))
    return arrays
