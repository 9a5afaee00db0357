"""What each program asks of torch, and the fields that it leaves in a row.

torch's own functions are watched, or stood in for, on a machine whose clock
is a number: making a mask takes it two seconds.
"""

import contextlib
import re
import sys
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from utils import contestants, timing
from utils.measuring import Unsupported
from utils.timing import Shape, TorchMachine


class Machine(TorchMachine):
    """The processor, with a clock that goes on when a mask is made."""

    def __init__(self):
        super().__init__("cpu")
        self.now, self.clock, self.backends = 10.0, self, []

    def mark(self):
        return self.now

    def seconds(self, pairs):
        return [stop - start for start, stop in pairs]

    @contextlib.contextmanager
    def backend(self, name):
        self.backends.append(name)
        yield


@pytest.fixture
def machine(monkeypatch):
    machine, made = Machine(), timing.torch_mask

    def slow_mask(*args):
        machine.now += 2
        return made(*args)

    monkeypatch.setattr(contestants, "torch_mask", slow_mask)
    return machine


@pytest.fixture
def attend(monkeypatch):
    """What scaled_dot_product_attention was given, each time."""
    asked = []
    real = torch.nn.functional.scaled_dot_product_attention

    def attend(*args, **options):
        asked.append((args, options))
        return real(*args, **options)

    monkeypatch.setattr(
        torch.nn.functional, "scaled_dot_product_attention", attend
    )
    return asked


def calls_of(machine, names, **shape):
    at = Shape(**{"queries": 6, "heads": 2, "d": 4} | shape)
    return contestants.torch_calls(machine, at, names, seed=3)


SEEN = np.tri(6, dtype=bool)


def test_calls_are_named_and_share_their_inputs(machine):
    names = ["naive", "naive again", "flash", "flash again"]
    calls, right = calls_of(machine, names)
    told = [(call.name, call.clock) for call in calls]
    assert told == [
        ("naive", "right"),
        ("naive", "again"),
        ("flash", "right"),
        ("flash", "again"),
    ]
    assert len({id(call.inputs) for call in calls}) == 1
    same = timing.torch_inputs(machine, Shape(6, heads=2, d=4), seed=3)
    for one, other in zip(calls[0].inputs, same, strict=True):
        assert torch.equal(one, other)
    assert list(right) == ["output"]
    assert [call.held_bytes for call in calls] == [0] * 4
    assert [call.fields for call in calls] == [{}] * 4


def test_what_they_should_give_is_computed_if_asked(machine):
    at = Shape(6, heads=2, d=4)
    calls, right = contestants.torch_calls(machine, at, ["naive"], check=False)
    assert right is None
    first = calls[0].inputs[0]
    plain = timing.torch_inputs(machine, at, seed=0)[0]
    assert torch.equal(first, plain)


@pytest.mark.parametrize("mask", ["none", "causal", "window:2"])
@pytest.mark.parametrize("name", ["naive", "naive, preallocated"])
def test_the_time_of_a_mask_is_a_field_if_there_is_one(machine, name, mask):
    calls, _ = calls_of(machine, ["naive", name], mask=mask)
    fields = {} if mask == "none" else {"mask_seconds": 2.0}
    assert calls[1].fields == fields


@pytest.mark.parametrize("mask", ["none", "causal", "window:2"])
@pytest.mark.parametrize(
    ("names", "shape"),
    [
        (["naive", "naive, preallocated"], {"keys": 8}),
        (["naive"], {"kv_heads": 1}),
        # a single one would be shared without a word, two are not
        (["naive"], {"heads": 4, "kv_heads": 2}),
    ],
)
def test_plain_programs_are_the_reference(machine, mask, names, shape):
    calls, right = calls_of(machine, names, mask=mask, **shape)
    for call in calls:
        output = call.outputs(call.run())["output"].flatten(0, 1)
        np.testing.assert_allclose(output, right["output"], atol=1e-6)


def test_keys_that_nobody_shares_are_not_copied():
    K, V = torch.zeros(1, 2, 6, 4), torch.zeros(1, 2, 6, 4)
    at = Shape(6, heads=2, d=4)
    assert contestants._grouped(at, K, V)[0] is K
    assert contestants._grouped(at, K, V)[1] is V


def test_a_backward_pass_keeps_its_clock_and_its_fields(machine):
    both = {"direction": "forward+backward", "mask": "causal"}
    calls, _ = calls_of(machine, ["naive", "naive again"], **both)
    assert [call.clock for call in calls] == ["right", "again"]
    assert [call.fields for call in calls] == [{"mask_seconds": 2.0}] * 2


def test_memory_that_is_kept_is_counted(machine):
    names = ["naive", "naive, preallocated"]
    calls, _ = calls_of(machine, names, keys=8)
    kept = 2 * 2 * 6 * 8 + 2 * 6 * 4  # scores, weights and output of floats
    assert calls[1].held_bytes == 4 * kept
    kept = calls[1].run()
    assert calls[1].run() is kept
    assert "held_bytes" not in calls[1].fields


@pytest.mark.parametrize("name", list(timing.BACKENDS))
@pytest.mark.parametrize("mask", ["none", "causal"])
def test_a_backend_is_asked_for_alone(machine, attend, name, mask):
    calls, _ = calls_of(machine, ["naive", name], mask=mask)
    calls[1].run()
    assert machine.backends == [name]
    [(args, options)] = attend
    assert all(a is b for a, b in zip(args, calls[1].inputs, strict=False))
    assert len(args) == 3
    assert options == {"enable_gqa": False, "is_causal": mask == "causal"}
    assert calls[1].fields == {}


def test_shared_keys_are_said(machine, attend):
    calls, _ = calls_of(machine, ["naive", "math"], kv_heads=1)
    calls[1].run()
    assert attend[0][1]["enable_gqa"] is True


@pytest.mark.parametrize("mask", ["causal", "none"])
@pytest.mark.parametrize(
    ("name", "turned"),
    [("flash, dense mask", False), ("flash, inverted mask", True)],
)
def test_a_dense_mask_is_a_tensor(machine, attend, name, turned, mask):
    if mask == "none" and turned:
        return  # there is nothing to turn
    calls, _ = calls_of(machine, ["naive", name], mask=mask)
    calls[1].run()
    [(_, options)] = attend
    if mask == "none":
        assert options == {"enable_gqa": False, "attn_mask": None}
    else:
        np.testing.assert_array_equal(options["attn_mask"], SEEN ^ turned)
    assert machine.backends == ["flash"]
    assert calls[1].fields == {"mask_seconds": 2.0}


@pytest.mark.parametrize(
    ("name", "shape", "words"),
    [
        (
            "flash",
            {"mask": "window:2"},
            "a window goes in as a dense mask alone",
        ),
        (
            "naive, preallocated",
            {"direction": "forward+backward"},
            "autograd keeps what a buffer would overwrite",
        ),
    ],
)
def test_what_is_not_supported_says_so_when_it_runs(
    machine, name, shape, words
):
    calls, _ = calls_of(machine, ["naive", name], **shape)
    assert calls[1].name == name
    assert calls[1].fields == {}
    with pytest.raises(Unsupported, match=rf"\A{re.escape(words)}\Z"):
        calls[1].run()


def test_a_backward_pass_gives_gradients_of_its_own(machine):
    both = {"direction": "forward+backward"}
    calls, right = calls_of(machine, ["naive", "math"], **both)
    assert set(right) == {"output", "dq", "dk", "dv"}
    for call in calls:
        call.before()
        assert all(leaf.grad is None for leaf in call.inputs[:3])
        found = machine.arrays(call.outputs(call.run()))
        assert set(found) == set(right)
        for name in right:
            np.testing.assert_allclose(found[name], right[name], atol=1e-5)


# --- FlexAttention, stood in for -------------------------------------------


@pytest.fixture
def flex(machine):
    """It notes what it is asked; making the block mask takes 3 seconds."""
    asked = SimpleNamespace(rules=[], runs=[])

    def create_block_mask(rule, *sizes, device):
        machine.now += 3
        asked.rules.append((rule, sizes, device))
        return SimpleNamespace(sparsity=lambda: 75.0)

    def compiled(*args, **options):
        asked.runs.append((args, options))
        return "output"

    module = SimpleNamespace(create_block_mask=create_block_mask)
    machine.flex = lambda: (module, compiled)
    return asked


def test_without_a_mask_flex_gets_none(machine, flex):
    calls, _ = calls_of(machine, ["naive", "flex"])
    assert calls[1].run() == "output"
    [(args, options)] = flex.runs
    assert all(a is b for a, b in zip(args, calls[1].inputs, strict=False))
    assert (len(args), options, calls[1].fields) == (3, {}, {})
    assert flex.rules == []


@pytest.mark.parametrize("mask", ["causal", "window:3"])
@pytest.mark.parametrize("keys", [6, 9])
def test_flex_gets_the_rule_of_the_mask(machine, flex, mask, keys):
    calls, _ = calls_of(machine, ["naive", "flex"], mask=mask, keys=keys)
    [(rule, sizes, device)] = flex.rules
    assert (sizes, device) == ((None, None, 6, keys), "cpu")
    i, j = np.indices((6, keys))
    at = Shape(6, keys=keys, mask=mask)
    seen = timing.torch_mask(machine, at)
    np.testing.assert_array_equal(rule(0, 0, i, j), seen)
    assert calls[1].fields == {"mask_seconds": 3.0, "density": 0.25}
    calls[1].run()
    assert list(flex.runs[0][1]) == ["block_mask"]
    assert flex.runs[0][1]["block_mask"].sparsity() == 75.0


# --- the machine, and what it is asked for ---------------------------------


@pytest.mark.parametrize(
    ("name", "kernel"),
    [
        ("math", "MATH"),
        ("flash", "FLASH_ATTENTION"),
        ("efficient", "EFFICIENT_ATTENTION"),
        ("cudnn", "CUDNN_ATTENTION"),
    ],
)
def test_a_backend_has_torchs_name(monkeypatch, name, kernel):
    from torch.nn import attention

    monkeypatch.setattr(attention, "sdpa_kernel", lambda kind: kind)
    found = TorchMachine().backend(name)
    assert found == getattr(attention.SDPBackend, kernel)


def test_the_inputs_have_their_shapes_types_and_order():
    cpu = TorchMachine()
    at = Shape(*(5, 4, 3), batch=2, dtype="float16", keys=7, kv_heads=2)
    Q, K, V, gradient = timing.torch_inputs(cpu, at, seed=1)
    assert [tuple(t.shape) for t in (Q, K, V, gradient)] == [
        (2, 4, 5, 3),
        (2, 2, 7, 3),
        (2, 2, 7, 3),
        (2, 4, 5, 3),
    ]
    for tensor in (Q, K, V, gradient):
        assert tensor.dtype == torch.float16
        assert not tensor.requires_grad
    assert not torch.equal(K, V)
    random = torch.Generator("cpu").manual_seed(1)
    first = torch.randn((2, 4, 5, 3), generator=random).half()
    assert torch.equal(Q, first)


def test_what_has_a_backward_pass_asks_for_gradients():
    at = Shape(5, 1, 3, direction="forward+backward")
    tensors = timing.torch_inputs(TorchMachine(), at)
    asked = [tensor.requires_grad for tensor in tensors]
    assert asked == [True, True, True, False]


@pytest.mark.parametrize("keys", [4, 6])
@pytest.mark.parametrize("mask", ["none", "causal", "window:2"])
def test_a_mask_is_aligned_to_the_last_keys(mask, keys):
    at = Shape(4, keys=keys, mask=mask)
    seen = timing.torch_mask(TorchMachine(), at)
    if mask == "none":
        assert seen is None
        return
    width = 2 if mask == "window:2" else keys
    for i in range(4):
        for j in range(keys):
            back = i + keys - 4 - j
            assert bool(seen[i, j]) == (0 <= back < width)


def test_checked_arrays_are_of_some_heads_in_float64():
    cpu = TorchMachine()
    tensor = torch.arange(2 * 8 * 3.0).reshape(2, 8, 3, 1).half()
    found = cpu.arrays({"output": tensor.requires_grad_()})["output"]
    assert found.dtype == np.float64
    flat = np.arange(48.0).reshape(16, 3, 1)
    np.testing.assert_array_equal(found, flat[timing.checked_heads(16)])


@pytest.mark.parametrize("batch", [1, 3])
def test_the_reference_is_of_the_checked_heads_of_every_item(batch):
    at = Shape(3, 4, 2, batch=batch, kv_heads=2, direction="forward+backward")
    inputs = timing.torch_inputs(TorchMachine(), at, seed=2)
    right = timing.reference(TorchMachine(), at, inputs)
    leaves = [t.detach().double().requires_grad_() for t in inputs[:3]]
    Q, K, V = leaves
    K, V = (t.repeat_interleave(2, 1) for t in (K, V))
    for t in (K, V):
        t.retain_grad()
    output = torch.nn.functional.scaled_dot_product_attention(Q, K, V)
    output.backward(inputs[3].double())
    heads = timing.checked_heads(batch * 4)
    for name, tensor in (
        *(("output", output.detach()), ("dq", Q.grad)),
        *(("dk", K.grad), ("dv", V.grad)),
    ):
        flat = tensor.flatten(0, 1)[heads].numpy()
        np.testing.assert_allclose(right[name], flat, rtol=1e-12, atol=1e-12)


def test_the_reference_keeps_large_scores_apart():
    """One maximum for each row: e^1500 has no number, and e^-1500 is none."""
    at = Shape(2, 1, 1)
    Q, K, V, gradient = (
        torch.tensor(values).reshape(1, 1, 2, 1).float()
        for values in (
            [[1.0], [-1.0]],
            [[1500.0], [1501.0]],
            [[0], [1]],
            [[1], [1]],
        )
    )
    right = timing.reference(TorchMachine(), at, [Q, K, V, gradient])["output"]
    share = 1 / (1 + np.exp(-1.0))
    np.testing.assert_allclose(right[0, :, 0], [share, 1 - share], rtol=1e-12)


def test_inputs_are_those_of_seed_0_unless_told():
    at = Shape(3, 2, 4)
    plain = timing.torch_inputs(TorchMachine(), at)
    seeded = timing.torch_inputs(TorchMachine(), at, seed=0)
    for one, other in zip(plain, seeded, strict=True):
        assert torch.equal(one, other)


def test_a_mask_is_made_where_the_numbers_are():
    elsewhere = SimpleNamespace(torch=torch, device="meta")
    for mask in ("causal", "window:2"):
        made = timing.torch_mask(elsewhere, Shape(6, 2, 4, mask=mask))
        assert made.device.type == "meta"


def test_without_a_compiler_flex_is_refused(monkeypatch):
    monkeypatch.setattr(timing.shutil, "which", lambda name: None)
    words = r"\AFlexAttention on the CPU needs a C\+\+ compiler\Z"
    with pytest.raises(Unsupported, match=words):
        TorchMachine().flex()


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (Unsupported("x"), "unsupported"),
        (RuntimeError("Not Enough Memory: x"), "oom"),
        (RuntimeError("CUDA Out Of Memory"), "oom"),
        (RuntimeError("Can't allocate memory"), "oom"),
        (RuntimeError("No viable backend"), "unsupported"),
        (RuntimeError("dtype is Not Supported"), "unsupported"),
        (ValueError("memory"), "error"),
    ],
)
def test_errors_are_told_apart_by_their_words(error, status):
    assert TorchMachine().status_of(error) == status


def test_a_call_is_watched_once_more_after_it_is_prepared():
    did = []

    def run():
        did.append("run")
        return torch.ones(1000) @ torch.ones(1000)

    call = SimpleNamespace(before=lambda: did.append("before"), run=run)
    found = TorchMachine().observe(call)
    assert did == ["before", "run"]
    assert found["memory_method"] == "profiler timeline"
    assert 8000 <= found["peak_bytes"] < 9000
    assert found["operator"] is None


# --- cards, stood in for ---------------------------------------------------


@pytest.fixture
def card():
    """A torch with a card, which notes what it is asked."""
    did = []

    def note(name, answer=None):
        return lambda *args, **how: did.append((name, args, how)) or answer

    fake = SimpleNamespace(
        did=did,
        int8="int8",
        profiler=torch.profiler,
        empty=note("empty", SimpleNamespace(zero_=note("zero_"))),
        cuda=SimpleNamespace(
            Event=note("Event", SimpleNamespace(record=note("record"))),
            synchronize=note("synchronize"),
            reset_peak_memory_stats=note("reset"),
            memory_allocated=note("held", 30),
            max_memory_allocated=note("most", 100),
        ),
        mps=SimpleNamespace(synchronize=note("mps synchronize")),
    )

    def machine(*device):
        # the profiler itself imports torch: the real one again by then
        with pytest.MonkeyPatch.context() as patch:
            patch.setitem(sys.modules, "torch", fake)
            return TorchMachine(*device)

    fake.machine = machine
    return fake


def test_a_card_has_its_own_clock_and_a_cache_to_be_emptied(card):
    machine = card.machine("cuda")
    assert (machine.device, machine.torch) == ("cuda", card)
    size = ("empty", (2**28,), {"dtype": "int8", "device": "cuda"})
    assert card.did == [size]
    machine.prepare()
    assert card.did[1:] == [("zero_", (), {})]
    machine.clock.mark()
    assert card.did[2:] == [
        ("Event", (), {"enable_timing": True}),
        ("record", (), {}),
    ]
    machine.clock.synchronize()
    assert card.did[-1] == ("synchronize", (), {})
    assert machine.clock.name == "device events"


def test_the_memory_of_a_card_is_asked_of_the_card(card):
    machine = card.machine("cuda")
    del card.did[:]
    call = SimpleNamespace(
        before=lambda: card.did.append("before"),
        run=lambda: card.did.append("run"),
    )
    found = machine.observe(call)
    assert found == {
        "operator": None,
        "peak_bytes": 70,
        "memory_method": "max_memory_allocated",
    }
    did = [one if isinstance(one, str) else one[0] for one in card.did]
    assert did == [
        *("before", "run", "before", "synchronize", "reset", "held"),
        *("run", "synchronize", "most"),
    ]


def test_a_chip_that_says_nothing_of_its_memory_is_unknown(card):
    machine = card.machine("mps")
    machine.clock.mark()
    assert card.did == [("mps synchronize", (), {})]
    assert machine.clock.name == "perf_counter_ns"
    machine.prepare()
    call = SimpleNamespace(before=lambda: None, run=lambda: None)
    found = machine.observe(call)
    assert (found["peak_bytes"], found["memory_method"]) == (None, None)


def test_the_processor_waits_for_nobody_and_has_no_cache(card):
    machine = card.machine()
    machine.clock.mark()
    machine.prepare()
    assert machine.device == "cpu"
    assert card.did == []


def test_only_the_processors_memory_is_profiled(monkeypatch):
    asked = []
    real = torch.profiler.profile

    def profile(**how):
        asked.append(how)
        return real(**how)

    monkeypatch.setattr(torch.profiler, "profile", profile)
    call = SimpleNamespace(before=lambda: None, run=lambda: None)
    machine = TorchMachine()
    machine.observe(call)
    machine.device = "other"
    machine.observe(call)
    cpu = [torch.profiler.ProfilerActivity.CPU]
    assert asked == [
        {"activities": cpu, "profile_memory": True},
        {"activities": cpu, "profile_memory": False},
    ]


def test_flex_is_compiled_anew_for_each_shape(monkeypatch):
    did = []
    compiler = SimpleNamespace(reset=lambda: did.append("reset"))
    fake = SimpleNamespace(
        compiler=compiler,
        compile=lambda *args, **how: did.append((args, how)) or "compiled",
    )
    monkeypatch.setattr(timing.shutil, "which", {"c++": "/bin/c++"}.get)
    machine = TorchMachine()
    machine.torch = fake
    module, compiled = machine.flex()
    from torch.nn.attention import flex_attention

    assert (module, compiled) == (flex_attention, "compiled")
    given = ((flex_attention.flex_attention,), {"dynamic": False})
    assert did == ["reset", given]
    machine.device = "cuda"
    monkeypatch.setattr(timing.shutil, "which", lambda name: None)
    assert machine.flex()[1] == "compiled"
