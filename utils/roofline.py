"""What a device's peaks say about the time that attention must take.

Three roofs: the matrix products, the bytes that must move, the exponentials.
The work is **credited**: what exact attention asks for, not what a program
does. Naive attention does more in its backward pass, and all of a causal
mask's forbidden half; it is credited the same, so that a rate compares times.
"""

from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

BYTES = MappingProxyType(
    {"float64": 8, "float32": 4, "float16": 2, "bfloat16": 2, "float8": 1}
)
# A forward pass has two matrix products, a backward pass five.
_FACTOR = MappingProxyType({"forward": 1.0, "forward+backward": 3.5})


@dataclass(frozen=True)
class Peaks:
    """The most that a device can do in a second."""

    name: str
    matmul: float  # FLOP
    memory: float  # bytes
    exponentials: float

    @classmethod
    def measured(cls, record, dtype="float32"):
        """The peaks that a record's own calibration reached (medians).

        A card's exponentials are those of its data sheet: it cannot be asked
        for them without asking its memory too.
        """
        name = record.about["device"]["name"]
        if record.about["device"]["type"] == "cpu":
            exponentials = record.rate("exp").median
        else:
            sheet = data_sheet(name)
            exponentials = sheet.exponentials if sheet else np.inf
        matmul = record.rate("matmul", dtype).median
        return cls(name, matmul, record.rate("copy").median, exponentials)


def _sheet(name, tflops, terabytes, multiprocessors, gigahertz):
    """Each multiprocessor of these computes 16 exponentials a clock."""
    exponentials = 16 * multiprocessors * gigahertz * 1e9
    return Peaks(name, tflops * 1e12, terabytes * 1e12, exponentials)


# Data sheets, 16-bit, dense. Peaks: benchmarks/benchmark_attn.py of
# github.com/Dao-AILab/flash-attention (T4: NVIDIA's data sheet). 16
# exponentials a clock: FlashAttention-3, arXiv 2407.08608, section 3.2.
DATA_SHEETS = MappingProxyType(
    {
        "T4": _sheet("T4", 65, 0.32, 40, 1.59),
        "A100": _sheet("A100", 312, 2.0, 108, 1.41),
        "H100": _sheet("H100", 989, 3.35, 132, 1.83),
        "H200": _sheet("H200", 989, 4.8, 132, 1.83),
        "B200": _sheet("B200", 2250, 8.0, 148, 1.85),
    }
)


def data_sheet(device):
    """The data sheet of a device by its name, or None.

    Examples
    --------
    >>> data_sheet("H100 SXM5").memory
    3350000000000.0
    """
    for name, peaks in DATA_SHEETS.items():
        if name in device.replace("-", " ").split():
            return peaks
    return None


def average_keys(point):
    """How many keys a query may attend to, on average, exactly.

    A causal mask is aligned to the bottom right; a window counts the query's
    own key.
    """
    queries, keys = point.queries, point.keys
    if point.mask == "none":
        return float(keys)
    seen = keys - queries + 1 + np.arange(queries)
    if point.mask.startswith("window:"):
        seen = np.minimum(seen, int(point.mask.removeprefix("window:")))
    return float(seen.mean())


def exponentials(point):
    """Exponentials of the forward pass, again for a fused backward pass."""
    rows = point.batch * point.heads * point.queries
    times = 2 if point.direction == "forward+backward" else 1
    return times * rows * average_keys(point)


def flops(point):
    """Credited floating-point operations: 4 B h N² d, times 3.5 with backward.

    Returns
    -------
    float
        Under a mask only the pairs that it keeps count.

    Notes
    -----
    The convention of FlashAttention's benchmarks.
    """
    rows = point.batch * point.heads * point.queries
    forward = 4 * rows * average_keys(point) * point.d
    return _FACTOR[point.direction] * forward


def naive_flops(point):
    """What a naive program computes: all pairs, whatever the mask keeps.

    Its backward pass has four products, not five: it stored the weights.
    """
    pairs = point.batch * point.heads * point.queries * point.keys
    products = 6 if point.direction == "forward+backward" else 2
    return products * 2 * pairs * point.d


def least_bytes(point):
    """Bytes of the inputs and outputs, each moved once."""
    numbers = point.batch * point.d
    queries = numbers * point.heads * point.queries
    keys = numbers * point.kv_heads * point.keys
    times = 2 if point.direction == "forward+backward" else 1
    return times * 2 * (queries + keys) * BYTES[point.dtype]


def pass_bytes(point):
    """Bytes of one pass: all N × N scores read, or written, once."""
    pairs = point.batch * point.heads * point.queries * point.keys
    return pairs * BYTES[point.dtype]


@dataclass(frozen=True)
class Floors:
    """Seconds that each roof alone would take."""

    matmul: float
    memory: float
    exponentials: float

    @property
    def highest(self):
        """No program is faster, if all three overlap."""
        return max(self.matmul, self.memory, self.exponentials)

    @property
    def serial(self):
        """What it takes if nothing overlaps."""
        return self.matmul + self.memory + self.exponentials


def floors(point, peaks):
    """The least time for a point's work on a device with these peaks.

    Returns
    -------
    Floors
    """
    return Floors(
        flops(point) / peaks.matmul,
        least_bytes(point) / peaks.memory,
        exponentials(point) / peaks.exponentials,
    )


def seconds(point):
    """The time of a point: the median measured, or the one published.

    Raises
    ------
    ValueError
        If it has no time, or only a ratio was published.
    """
    if point.kind == "measured" and point.seconds:
        return point.seconds.median
    if point.kind == "published" and point.status == "ok":
        if point.quantity == "seconds":
            return point.value
        if point.quantity == "TFLOP/s":
            return flops(point) / (point.value * 1e12)
    raise ValueError(f"{point!r} has no time")


def tflops_per_second(point):
    """Credited work by time. Compare it within one direction only."""
    return flops(point) / seconds(point) / 1e12


def effective_passes(point, peaks):
    """How often the N × N scores crossed the memory, to explain the time.

    What is left of a naive program's time beyond its matrix products, in
    units of the time of one pass.

    Returns
    -------
    float
    """
    left = seconds(point) - naive_flops(point) / peaks.matmul
    return left / (pass_bytes(point) / peaks.memory)


def predicted_seconds(point, peaks, passes):
    """The time of naive attention from the peaks and a count of passes.

    The inverse of `effective_passes`.
    """
    matmul = naive_flops(point) / peaks.matmul
    return matmul + passes * pass_bytes(point) / peaks.memory


def exponent(lengths, values):
    """The power of N by which values grow: a line fitted to the logarithms.

    Parameters
    ----------
    lengths, values : array_like, shape (M,)

    Returns
    -------
    float

    Raises
    ------
    ValueError
        If there are fewer than two, or one is not above 0.

    Examples
    --------
    >>> round(exponent([256, 512, 1024], [1.0, 4.0, 16.0]), 6)
    2.0
    """
    lengths, values = np.asarray(lengths, float), np.asarray(values, float)
    if lengths.shape != values.shape or lengths.size < 2:
        raise ValueError(
            f"two or more pairs are needed, received {lengths.size} lengths "
            f"and {values.size} values"
        )
    if not (np.all(lengths > 0) and np.all(values > 0)):
        raise ValueError(f"all must be above 0, received {lengths}, {values}")
    return float(np.polyfit(np.log(lengths), np.log(values), 1)[0])
