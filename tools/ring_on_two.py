"""Ring attention on two real processes, and what each of them computed.

    python tools/ring_on_two.py        writes book/data/ring_attention.json

Two processes of this machine, joined by torch.distributed with its gloo
backend. Each keeps its own queries; keys and values are sent round. What each
merges is `utils.tiled`'s (m, l, O), the same as in the simulation. On many
GPUs, PyTorch does this with
torch.distributed.tensor.experimental.context_parallel.
"""

import json
import platform
import sys
import tempfile
from datetime import timedelta
from pathlib import Path

import numpy as np
import torch
from torch import distributed
from torch import multiprocessing as processes

from utils.tiled import finish, merge, part_of

ROOT = Path(__file__).resolve().parent.parent
WORLD, TOKENS, D, SEED = 2, 12, 4, 0


def inputs():
    """Give the whole text's queries, keys and values, each (12, 4)."""
    return np.random.default_rng(SEED).normal(size=(3, TOKENS, D))


def pass_on(held, rank):
    """Send what is held to the next rank, receive from the one before."""
    outgoing = torch.from_numpy(np.ascontiguousarray(held))
    incoming = torch.empty_like(outgoing)
    after, before = (rank + 1) % WORLD, (rank - 1) % WORLD
    requests = distributed.batch_isend_irecv(
        [
            distributed.P2POp(distributed.isend, outgoing, after),
            distributed.P2POp(distributed.irecv, incoming, before),
        ]
    )
    for request in requests:
        request.wait()
    return incoming.numpy()


def work(rank, meeting, causal, answers):
    """Be one machine of the ring: nobody here sees all keys at once."""
    distributed.init_process_group(
        "gloo",
        init_method=f"file://{meeting}",
        rank=rank,
        world_size=WORLD,
        timeout=timedelta(seconds=60),
    )
    torch.set_num_threads(1)
    own = np.array_split(np.arange(TOKENS), WORLD)[rank]
    Q, K, V = (array[own] for array in inputs())
    # places travel along, so that a mask can be made where they arrive
    held = np.stack([K, V, np.repeat(own[:, None], D, axis=1)])
    known = None
    for turn in range(WORLD):
        if turn:
            held = pass_on(held, rank)
        keys, values, places = held
        seen = places[:, 0] <= own[:, None] if causal else None
        part = part_of(Q, keys, values, seen)
        known = part if known is None else merge(known, part)
    answers.put((rank, finish(known).tolist()))
    distributed.barrier()
    distributed.destroy_process_group()


def ring(causal=False):
    """Start both processes and gather what they computed.

    Returns
    -------
    list of list
        For each rank, its rows of the output.
    """
    with tempfile.TemporaryDirectory() as folder:
        context = processes.get_context("spawn")
        answers = context.SimpleQueue()
        arguments = (str(Path(folder) / "meeting"), causal, answers)
        processes.start_processes(
            work, arguments, nprocs=WORLD, join=True, start_method="spawn"
        )
        found = dict(answers.get() for _ in range(WORLD))
    return [found[rank] for rank in range(WORLD)]


def main():
    """Run both masks and write what the ranks computed."""
    record = {
        "what": "ring attention on two processes, torch.distributed, gloo",
        "script": "tools/ring_on_two.py",
        "python": platform.python_version(),
        "torch": torch.__version__,
        "numpy": np.__version__,
        "world_size": WORLD,
        "seed": SEED,
        "shape": [TOKENS, D],
        "outputs": {"full": ring(), "causal": ring(causal=True)},
    }
    path = ROOT / "book" / "data" / "ring_attention.json"
    path.write_text(json.dumps(record, indent=1) + "\n", "utf-8")
    print(f"wrote {path.name}", file=sys.stderr)


if __name__ == "__main__":
    main()
