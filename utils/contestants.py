"""The programs that are timed, each as a `Call` on inputs of one shape.

torch's own names: math, flash, efficient and cudnn are the backends of
`scaled_dot_product_attention`, flex is FlexAttention, compiled. Nothing in
here imports torch; the machine brings it.
"""

from functools import partial

import numpy as np

from utils.measuring import BASELINE, Call, Unsupported
from utils.timing import BACKENDS, reference, torch_inputs, torch_mask

__all__ = ["torch_calls"]


def torch_calls(machine, shape, names, seed=0, check=True):
    """Make the named programs ready on the same inputs.

    Parameters
    ----------
    machine : TorchMachine
    shape : Shape
    names : sequence of str
        naive (always first), "naive, preallocated", math, flash, efficient,
        cudnn, flex; "flash, dense mask" takes the mask as a tensor, and
        "flash, inverted mask" the wrong way round. "flash again" is flash.
    seed : int, optional
    check : bool, optional
        Without it, what they should give is not computed.

    Returns
    -------
    calls : list of Call
    right : dict of str to ndarray
        What they should give.

    Raises
    ------
    ValueError
        If a name is not known, or naive is not the first.
    """
    if not names or names[0] != BASELINE:
        raise ValueError(f"naive comes first, received {list(names)}")
    inputs = torch_inputs(machine, shape, seed)
    builders = {
        BASELINE: _naive,
        "naive, preallocated": _preallocated,
        "flash, dense mask": partial(_dense, flip=False),
        "flash, inverted mask": partial(_dense, flip=True),
        "flex": _flex,
        **{name: partial(_fused, backend=name) for name in BACKENDS},
    }
    calls = []
    for name in names:
        plain = name.removesuffix(" again")
        if plain not in builders:
            raise ValueError(f"no program is called {name!r}")
        try:
            run, fields = builders[plain](machine, shape, inputs)
        except Unsupported as error:
            run, fields = partial(_refuse, error), {}
        clock = "again" if name != plain else "right"
        call = _with_gradients if "+" in shape.direction else _forward
        held = fields.pop("held_bytes", 0)
        calls.append(call(plain, run, inputs, clock, fields))
        calls[-1].held_bytes, calls[-1].inputs = held, inputs
    return calls, reference(machine, shape, inputs) if check else None


def _as_output(output):
    return {"output": output}


def _refuse(error):
    raise error


def _forward(name, run, inputs, clock, fields):
    return Call(name, run, _as_output, clock=clock, fields=fields)


def _with_gradients(name, run, inputs, clock, fields):
    *leaves, gradient = inputs

    def both():
        output = run()
        output.backward(gradient)
        return output

    def outputs(output):
        found = zip(("dq", "dk", "dv"), leaves, strict=True)
        return {"output": output, **{k: leaf.grad for k, leaf in found}}

    def before():
        for leaf in leaves:
            leaf.grad = None  # else adding to the last one is timed too

    return Call(name, both, outputs, before, clock, fields=fields)


def _grouped(shape, K, V):
    """Keys and values for each head, as a plain program copies them."""
    at = shape.fields()
    group = at["heads"] // at["kv_heads"]
    if group == 1:
        return K, V
    return K.repeat_interleave(group, 1), V.repeat_interleave(group, 1)


def _hidden(machine, shape):
    """The pairs that may not attend, and the seconds it took to say so."""
    start = machine.clock.mark()
    seen = torch_mask(machine, shape)
    hidden = None if seen is None else ~seen
    taken = machine.clock.seconds([(start, machine.clock.mark())])[0]
    return hidden, {} if hidden is None else {"mask_seconds": taken}


def _naive(machine, shape, inputs):
    hidden, fields = _hidden(machine, shape)

    def run():
        Q, K, V, _ = inputs
        K, V = _grouped(shape, K, V)
        scores = Q @ K.mT * shape.d**-0.5
        if hidden is not None:
            scores = scores.masked_fill(hidden, -np.inf)
        return scores.softmax(-1) @ V

    return run, fields


def _preallocated(machine, shape, inputs):
    """The same, into memory that is kept: nothing is asked of the system."""
    torch = machine.torch
    Q, K, V, _ = inputs
    if shape.direction != "forward":
        raise Unsupported("autograd keeps what a buffer would overwrite")
    hidden, fields = _hidden(machine, shape)
    scores = Q.new_empty((*Q.shape[:-1], K.shape[-2]))
    weights, output = torch.empty_like(scores), torch.empty_like(Q)

    def run():
        torch.matmul(Q, K.mT, out=scores)
        scores.mul_(shape.d**-0.5)
        if hidden is not None:
            scores.masked_fill_(hidden, -np.inf)
        torch.softmax(scores, -1, out=weights)
        return torch.matmul(weights, V, out=output)

    kept = sum(t.numel() * t.element_size() for t in (scores, weights, output))
    return run, {**fields, "held_bytes": kept}


def _fused(machine, shape, inputs, backend):
    if shape.mask.startswith("window:"):
        raise Unsupported("a window goes in as a dense mask alone")
    options = {"is_causal": shape.mask == "causal"}
    return _sdpa(machine, shape, inputs, backend, options), {}


def _dense(machine, shape, inputs, flip):
    start = machine.clock.mark()
    seen = torch_mask(machine, shape)
    taken = machine.clock.seconds([(start, machine.clock.mark())])[0]
    options = {"attn_mask": ~seen if flip else seen}
    run = _sdpa(machine, shape, inputs, "flash", options)
    return run, {"mask_seconds": taken}


def _sdpa(machine, shape, inputs, backend, options):
    attend = machine.torch.nn.functional.scaled_dot_product_attention
    at = shape.fields()
    grouped = at["heads"] != at["kv_heads"]

    def run():
        Q, K, V, _ = inputs
        with machine.backend(backend):
            return attend(Q, K, V, enable_gqa=grouped, **options)

    return run


def _flex(machine, shape, inputs):
    module, compiled = machine.flex()
    at = shape.fields()
    Q, K, V, _ = inputs
    if shape.mask == "none":
        return lambda: compiled(Q, K, V), {}
    offset = at["keys"] - at["queries"]
    width = at["keys"]
    if shape.mask.startswith("window:"):
        width = int(shape.mask.removeprefix("window:"))

    def rule(batch, head, i, j):
        back = i + offset - j
        return (back >= 0) & (back < width)

    start = machine.clock.mark()
    mask = module.create_block_mask(
        rule, None, None, at["queries"], at["keys"], device=machine.device
    )
    taken = machine.clock.seconds([(start, machine.clock.mark())])[0]
    density = 1 - mask.sparsity() / 100
    fields = {"mask_seconds": taken, "density": density}
    return lambda: compiled(Q, K, V, block_mask=mask), fields
