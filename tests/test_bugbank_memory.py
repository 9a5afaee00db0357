"""Reports about peak memory: it begins anew, and holds what it must."""

from types import SimpleNamespace

import numpy as np
import pytest
import torch

from utils import contestants, roofline
from utils.cost import number_of_scores
from utils.measuring import measure
from utils.timing import Shape, TorchMachine

MIB = 2**20


@pytest.fixture
def cpu():
    return TorchMachine("cpu")


@pytest.mark.bug(id="A46")
def test_a_small_program_after_a_large_one_has_a_small_peak(cpu):
    peaks = []
    for queries in (512, 128):
        calls, right = contestants.torch_calls(
            cpu, Shape(queries, heads=2, d=16), ["naive"]
        )
        (row,) = measure(calls, right, cpu, "float32", 0.0, (1, 1))
        scores = number_of_scores(queries, num_heads=2) * 4
        assert scores <= row["peak_bytes"] <= 3 * scores
        peaks.append(row["peak_bytes"])
    assert peaks[1] < peaks[0] / 8


@pytest.mark.bug(id="A46")
def test_on_a_card_the_peak_begins_anew_and_what_was_held_is_taken_off(
    cpu, monkeypatch
):
    """A card's allocator, played: what is held, and the most that was."""
    card = SimpleNamespace(held=700, peak=0)

    def run(size):
        card.peak = max(card.peak, card.held + size)

    def reset():
        card.peak = card.held

    played = {
        "synchronize": lambda: None,
        "reset_peak_memory_stats": reset,
        "memory_allocated": lambda: card.held,
        "max_memory_allocated": lambda: card.peak,
    }
    for name, function in played.items():
        monkeypatch.setattr(torch.cuda, name, function)
    monkeypatch.setattr(cpu, "device", "cuda")
    for size in (5000, 40):
        call = SimpleNamespace(
            before=lambda: None, run=lambda size=size: run(size)
        )
        assert cpu.observe(call)["peak_bytes"] == size


@pytest.mark.bug(id="A46")
@pytest.mark.parametrize(
    ("queries", "heads", "dtype", "mebibytes"),
    [
        (4096, 1, "float16", 32),
        (16384, 1, "float16", 512),
        (4096, 8, "float32", 512),
    ],
)
def test_the_scores_alone_take(queries, heads, dtype, mebibytes):
    size = np.dtype(dtype).itemsize
    counted = number_of_scores(queries, num_heads=heads) * size
    assert counted == mebibytes * MIB
    point = SimpleNamespace(
        **Shape(queries, heads=heads, dtype=dtype).fields()
    )
    assert roofline.pass_bytes(point) == counted
