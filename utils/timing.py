"""The machines on which attention is timed: torch's devices.

torch is imported when a machine of it is made, not before. The rules of
timing are in `utils.measuring`, the programs that are timed in
`utils.contestants`, the records in `utils.records`.
"""

import shutil
from dataclasses import asdict, dataclass

import numpy as np

from utils.clocks import EventClock, HostClock
from utils.measuring import Unsupported
from utils.trace import operator, peak_of, quiet, trace

BACKENDS = {
    "math": "MATH",
    "flash": "FLASH_ATTENTION",
    "efficient": "EFFICIENT_ATTENTION",
    "cudnn": "CUDNN_ATTENTION",
}
# Values are compared on so many heads; a CPU record has no more.
CHECKED_HEADS = 8
_NO_MEMORY = ("out of memory", "can't allocate memory", "not enough memory")
_NO_KERNEL = ("no viable backend", "no available kernel", "not supported")


@dataclass(frozen=True)
class Shape:
    """What is computed: the fields of a record's point that say so."""

    queries: int
    heads: int = 8
    d: int = 64
    batch: int = 1
    dtype: str = "float32"
    mask: str = "none"
    direction: str = "forward"
    keys: int = 0  # 0: as many as queries
    kv_heads: int = 0  # 0: as many as heads

    def fields(self):
        """The fields, with the keys and their heads said."""
        stored = asdict(self)
        stored["keys"] = self.keys or self.queries
        stored["kv_heads"] = self.kv_heads or self.heads
        return stored


class TorchMachine:
    """A device of torch.

    Parameters
    ----------
    device : str
        cpu, cuda or mps.
    """

    def __init__(self, device="cpu"):
        import torch

        self.torch, self.device = torch, device
        self._cache = None
        if device == "cuda":
            self.clock = EventClock(
                lambda: torch.cuda.Event(enable_timing=True),
                torch.cuda.synchronize,
            )
            # larger than any card's L2; emptied by being written
            self._cache = torch.empty(2**28, dtype=torch.int8, device=device)
        elif device == "mps":
            self.clock = HostClock(torch.mps.synchronize)
        else:
            self.clock = HostClock()

    def prepare(self):
        """Empty the card's cache, and hide that a launch takes time."""
        if self._cache is not None:
            self._cache.zero_()

    def arrays(self, found):
        """The arrays of the heads that are checked, in float64."""
        return {
            name: self._checked(tensor).detach().double().cpu().numpy()
            for name, tensor in found.items()
        }

    def _checked(self, tensor):
        flat = tensor.flatten(0, 1)
        return flat[checked_heads(len(flat))]

    def observe(self, call):
        """The operator that ran, and what one run allocated at most."""
        torch = self.torch
        call.before()
        with (
            quiet(),
            torch.profiler.profile(
                activities=[torch.profiler.ProfilerActivity.CPU],
                profile_memory=self.device == "cpu",
            ) as profile,
        ):
            call.run()
        events = trace(profile)
        peak, method = peak_of(events), "profiler timeline"
        if self.device == "cuda":
            call.before()
            torch.cuda.synchronize()
            torch.cuda.reset_peak_memory_stats()
            held = torch.cuda.memory_allocated()
            call.run()
            torch.cuda.synchronize()
            peak = torch.cuda.max_memory_allocated() - held
            method = "max_memory_allocated"
        elif self.device != "cpu":
            peak = method = None
        return {
            "operator": operator(events),
            "peak_bytes": peak,
            "memory_method": method,
        }

    def backend(self, name):
        """A context in which torch may use this backend alone."""
        from torch.nn.attention import SDPBackend, sdpa_kernel

        return sdpa_kernel(getattr(SDPBackend, BACKENDS[name]))

    def flex(self):
        """The module of FlexAttention, and its function compiled anew."""
        from torch.nn.attention import flex_attention as module

        if self.device == "cpu" and not shutil.which("c++"):
            raise Unsupported("FlexAttention on the CPU needs a C++ compiler")
        self.torch.compiler.reset()  # else the eighth mask is not compiled
        compiled = self.torch.compile(module.flex_attention, dynamic=False)
        return module, compiled

    def status_of(self, error):
        """The status of a row whose call failed like this."""
        if isinstance(error, Unsupported | NotImplementedError):
            return "unsupported"
        text = str(error).lower()
        no_memory = MemoryError, self.torch.OutOfMemoryError
        if isinstance(error, no_memory) or any(
            part in text for part in _NO_MEMORY
        ):
            return "oom"
        if any(part in text for part in _NO_KERNEL):
            return "unsupported"
        return "error"


def checked_heads(count):
    """Which of so many heads are compared with the reference.

    >>> checked_heads(32)
    [0, 4, 9, 13, 18, 22, 27, 31]
    """
    chosen = np.linspace(0, count - 1, min(count, CHECKED_HEADS))
    return [int(i) for i in chosen.round()]


def torch_inputs(machine, shape, seed=0):
    """Q, K, V and the gradient of the output: random normal, never zeros.

    Returns
    -------
    list of Tensor
    """
    torch = machine.torch
    at = shape.fields()
    random = torch.Generator(machine.device).manual_seed(seed)
    grows = shape.direction == "forward+backward"
    tensors = []
    for heads, length in (
        (at["heads"], at["queries"]),
        (at["kv_heads"], at["keys"]),
        (at["kv_heads"], at["keys"]),
        (at["heads"], at["queries"]),
    ):
        size = (at["batch"], heads, length, at["d"])
        made = torch.randn(size, generator=random, device=machine.device)
        tensors.append(made.to(getattr(torch, shape.dtype)))
    for tensor in tensors[:3]:
        tensor.requires_grad_(grows)
    return tensors


def torch_mask(machine, shape):
    """The pairs that may attend, as a tensor of bool; None if all may."""
    if shape.mask == "none":
        return None
    at, torch = shape.fields(), machine.torch
    i = torch.arange(at["queries"], device=machine.device)[:, None]
    i = i + at["keys"] - at["queries"]
    j = torch.arange(at["keys"], device=machine.device)
    seen = j <= i
    if shape.mask.startswith("window:"):
        seen &= i - j < int(shape.mask.removeprefix("window:"))
    return seen


def reference(machine, shape, inputs):
    """The right output and gradients, in float64, head by head, by formula.

    It uses neither softmax nor autograd of torch, nor any fused kernel.

    Returns
    -------
    dict of str to ndarray
        output; dq, dk and dv if the shape has a backward pass.
    """
    torch, at = machine.torch, shape.fields()
    group = at["heads"] // at["kv_heads"]
    mask = torch_mask(machine, shape)
    found = {"output": []}
    if shape.direction == "forward+backward":
        found = {"output": [], "dq": [], "dk": [], "dv": []}
    rows = at["batch"] * at["heads"]
    with torch.no_grad():
        for flat in checked_heads(rows):
            b, h = divmod(flat, at["heads"])
            q, g = (inputs[i][b, h].double() for i in (0, 3))
            k, v = (inputs[i][b, h // group].double() for i in (1, 2))
            scores = q @ k.T / at["d"] ** 0.5
            if mask is not None:
                scores.masked_fill_(~mask, -np.inf)
            weights = (scores - scores.amax(-1, keepdim=True)).exp_()
            weights /= weights.sum(-1, keepdim=True)
            output = weights @ v
            found["output"].append(output)
            if "dq" in found:
                down = g @ v.T
                down -= (g * output).sum(-1, keepdim=True)
                down *= weights
                down /= at["d"] ** 0.5
                found["dq"].append(down @ k)
                found["dk"].append(down.T @ q)
                found["dv"].append(weights.T @ g)
        return {k: torch.stack(v).cpu().numpy() for k, v in found.items()}
