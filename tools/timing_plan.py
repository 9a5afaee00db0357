"""What is timed, in which order: the experiments of a run.

A group is a set of programs on one shape, timed in turns. What the chapter
leans on comes first: a run that is out of time has it.
"""

from dataclasses import dataclass

from utils.timing import Shape

__all__ = ["Group", "plan"]

SDPA = ("math", "flash", "flash again", "efficient", "cudnn")


@dataclass(frozen=True)
class Group:
    """One set of programs on one shape.

    `kind` says how it is run: torch, clocks, cold or limit.
    """

    experiment: str
    shape: Shape
    programs: tuple
    kind: str = "torch"
    seconds: float = 3.0
    budget_bytes: int | None = None
    untimed: tuple = ()

    @property
    def name(self):
        """The group's name in the record."""
        s = self.shape
        shared = f" kv {s.kv_heads}" if s.kv_heads else ""
        keys = f" keys {s.keys}" if s.keys else ""
        what = self.programs[0] if self.kind == "limit" else self.kind
        return (
            f"{self.experiment}: {what} {s.direction} mask {s.mask} "
            f"{s.dtype} d {s.d} N {s.queries}{keys}{shared}"
        )


def plan(device, dtype="float32", quick=False, compiler=True):
    """The groups of a run on a device, in order.

    Parameters
    ----------
    device : str
        cpu, cuda or mps.
    dtype : str
        float32 on a processor, a 16-bit type on a card.
    quick : bool
        Nothing longer than 512, for a look and for tests.
    compiler : bool
        Whether FlexAttention can be compiled.

    Returns
    -------
    list of Group
    """
    if device != "cpu":
        return list(_on_card(dtype, quick))
    groups = list(_on_processor(dtype, quick))
    if compiler and not quick:
        groups += _windows(dtype)
    return groups


def _on_processor(dtype, quick):
    longest = 512 if quick else 4096
    lengths = [n for n in (64, 256, 512, 1024, 2048, 4096) if n <= longest]
    middle = min(1024, longest)
    pace = 0.3 if quick else 3.0

    def shape(queries, **more):
        return Shape(queries, dtype=dtype, **more)

    def group(experiment, at, programs, kind="torch", **more):
        return Group(experiment, at, ("naive", *programs), kind, pace, **more)

    plain = ("naive, preallocated", *SDPA)
    yield group("noise", shape(middle), ("naive again", *SDPA[1:3]))
    for n in reversed(lengths):
        yield group("length", shape(n), plain)
        yield group(
            "length",
            shape(n, mask="causal"),
            (*plain, "flash, dense mask"),
        )
    for mask in ("none", "causal"):
        for n in reversed(lengths[1:]):
            at = shape(n, mask=mask, direction="forward+backward")
            math = ("math",) if n < 4096 else ()  # it takes as long as naive
            yield group("length", at, (*math, "flash", "flash again"))
    yield group("wrong clocks", shape(middle), ("flash",), "clocks")
    yield group("wrong clocks", shape(middle), ("flash",), "cold")
    at = shape(middle, mask="causal")
    yield group("wrong clocks", at, ("flash", "flash, inverted mask"))
    if not quick:
        for direction in ("forward", "forward+backward"):
            for name in ("naive", "flash"):
                at = shape(4096, direction=direction)
                more = {"budget_bytes": 2**30}
                yield Group("limit", at, (name,), "limit", **more)
    for kind in ("float32", "bfloat16", "float16"):
        at = Shape(middle, dtype=kind)
        yield group("precision", at, ("math", "flash"))
    for d in (32, 128, 256):
        yield group("precision", shape(middle, d=d), ("math", "flash"))
    for keys in (512,) if quick else (1024, 4096, 16384, 65536):
        yield group("decoding", shape(1, keys=keys), ("math", "flash"))
    for kv_heads in (4, 2, 1):
        at = shape(1, keys=512 if quick else 16384, kv_heads=kv_heads)
        yield group("decoding", at, ("math", "flash"))


def _windows(dtype):
    """FlexAttention; what it compiles takes longer than what it computes."""
    for mask in ("none", "causal", "window:1024", "window:256", "window:64"):
        fused = ("flash",) if mask in ("none", "causal") else ()
        dense = ("flash, dense mask",) if mask != "none" else ()
        at = Shape(4096, dtype=dtype, mask=mask)
        programs = ("naive", *fused, *dense, "flex")
        yield Group("window", at, programs, untimed=("naive",))


def _on_card(dtype, quick):
    longest = 512 if quick else 16384
    lengths = [2**n for n in range(9, 15) if 2**n <= longest]
    pace = 0.3 if quick else 1.5

    def shape(queries, d=64, **more):
        batch = max(1, 16384 // queries)
        heads = 2048 // d
        return Shape(queries, heads, d, batch, dtype, **more)

    def group(experiment, at, programs, kind="torch", **more):
        return Group(experiment, at, ("naive", *programs), kind, pace, **more)

    middle = min(4096, longest)
    plain = ("naive, preallocated", *SDPA)
    yield group("noise", shape(middle), ("naive again", *SDPA[1:3]))
    for d in (64, 128):
        for direction in ("forward", "forward+backward"):
            for mask in ("none", "causal"):
                for n in reversed(lengths):
                    at = shape(n, d, mask=mask, direction=direction)
                    flex = ("flex",) if n == 4096 and d == 64 else ()
                    yield group("length", at, (*plain, *flex))
    yield group("wrong clocks", shape(512), ("flash",), "clocks")
    at = shape(middle, mask="causal")
    yield group("wrong clocks", at, ("flash", "flash, dense mask"))
    yield group(
        "wrong clocks", at, ("flash", "flash, inverted mask"), "clocks"
    )
    if not quick:
        for direction in ("forward", "forward+backward"):
            for name in ("naive", "flash"):
                at = Shape(8192, dtype=dtype, direction=direction)
                more = {"budget_bytes": 2**32}
                yield Group("limit", at, (name,), "limit", **more)
        for mask in ("window:1024", "window:256"):
            at = shape(16384, mask=mask)
            programs = ("flash, dense mask", "flex")
            yield group("window", at, programs, untimed=("naive",))
    for kind in ("float32", "float16", "bfloat16"):
        at = Shape(min(1024, longest), 32, 64, 8, kind)
        yield group("precision", at, ("math", *SDPA[1:]))
    for keys in (512,) if quick else (1024, 16384, 65536):
        for kv_heads in (32, 8, 1):
            at = Shape(1, 32, 128, 4, dtype, keys=keys, kv_heads=kv_heads)
            yield group("decoding", at, ("math", "flash", "cudnn"))
