"""The ring computes attention: simulated, recorded, and on real processes."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from utils import ring
from utils.attention import scaled_dot_product_attention
from utils.ring import held, recorded_run, ring_attention

ROOT = Path(__file__).resolve().parent.parent


def alone(run, name):
    """What one machine computes for a run's inputs."""
    rng = np.random.default_rng(run["seed"])
    Q, K, V = rng.normal(size=(3, *run["shape"]))
    mask = np.tri(len(Q), dtype=bool) if name == "causal" else None
    return scaled_dot_product_attention(Q, K, V, mask)[0]


@pytest.mark.parametrize("ranks", [1, 2, 3, 4, 12])
def test_the_simulated_ring_equals_one_machine(ranks):
    rng = np.random.default_rng(0)
    Q, K, V = rng.normal(size=(3, 12, 4))
    some = rng.random((12, 12)) < 0.3
    some[5] = False
    for mask in (None, np.tri(12, dtype=bool), some):
        whole, _ = scaled_dot_product_attention(Q, K, V, mask)
        output, sent = ring_attention(Q, K, V, ranks, mask)
        np.testing.assert_allclose(output, whole, rtol=0, atol=1e-12)
        assert sent == (K.size + V.size) * (ranks - 1) // ranks


def test_everybody_holds_every_piece_once():
    for ranks in (1, 2, 5):
        turns = range(ranks)
        for rank in turns:
            assert sorted(held(rank, t, ranks) for t in turns) == [*turns]
        for turn in turns:
            assert sorted(held(r, turn, ranks) for r in turns) == [*turns]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "mine.json: is not whole JSON"),
        ("[]", "mine.json: must be a table"),
        ('{"world_size": 0}', "mine.json: world_size must be a whole number"),
    ],
)
def test_a_damaged_run_is_named(text, message, tmp_path, monkeypatch):
    path = tmp_path / "mine.json"
    path.write_text(text, "utf-8")
    monkeypatch.setattr(ring, "_RUN", path)
    with pytest.raises(ValueError, match=message):
        recorded_run()


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"seed": -1}, "seed must be a whole number"),
        ({"shape": 12}, "shape must be a list of whole numbers"),
        ({"outputs": None}, "outputs is missing"),
        ({"outputs": []}, "outputs must be a table"),
        ({"outputs": {"causal": []}}, "outputs.full is missing"),
        ({"outputs": {"full": [], "causal": 1}}, "outputs.causal must be"),
    ],
)
def test_a_run_says_all_that_is_needed_to_repeat_it(
    changed, words, tmp_path, monkeypatch
):
    run = recorded_run() | changed
    run = {key: value for key, value in run.items() if value is not None}
    path = tmp_path / "mine.json"
    path.write_text(json.dumps(run), "utf-8")
    monkeypatch.setattr(ring, "_RUN", path)
    with pytest.raises(ValueError, match=f"mine.json: {words}"):
        recorded_run()


@pytest.mark.parametrize("name", ["full", "causal"])
def test_the_recorded_processes_computed_attention(name):
    run = recorded_run()
    assert len(run["outputs"][name]) == run["world_size"] == 2
    together = np.concatenate(run["outputs"][name])
    np.testing.assert_allclose(together, alone(run, name), rtol=0, atol=1e-12)


def test_two_real_processes_compute_what_is_recorded():
    # in a process of its own: torch.distributed starts others from it
    paths = (str(ROOT), str(ROOT / "tools"))
    code = (
        "import json, ring_on_two\n"
        "if __name__ == '__main__':\n"
        "    print(json.dumps(ring_on_two.ring(causal=True)))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT / "tools",
        env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
        capture_output=True,
        encoding="locale",
        timeout=240,
    )
    assert done.returncode == 0, done.stderr
    real = np.concatenate(json.loads(done.stdout))
    whole = alone(recorded_run(), "causal")
    np.testing.assert_allclose(real, whole, rtol=0, atol=1e-12)


def test_the_torch_feature_that_the_chapter_names_exists():
    from torch.distributed.tensor.experimental import context_parallel

    assert callable(context_parallel)


@pytest.mark.parametrize(
    ("N", "M", "ranks"), [(5, 5, 2), (4, 6, 2), (4, 4, 0)]
)
def test_bad_input_is_named(N, M, ranks):
    with pytest.raises(ValueError, match=f"{ranks}"):
        ring_attention(
            np.ones((N, 2)), np.ones((M, 2)), np.ones((M, 2)), ranks
        )
