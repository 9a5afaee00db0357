"""Frames are drawn once, kept whole, and drawn again when code changes."""

import json
import os
import subprocess
import sys
import textwrap

import pytest

from utils.explore import find, frames

MODULE = """
from matplotlib.figure import Figure
from utils.explore import Explorable, Slider
from utils import trained

def draw(x):
    if x == {fails_at}:
        raise RuntimeError("no picture")
    figure = Figure(figsize=(1, 1))
    figure.text(0.1, 0.1 * x, str(x))
    return figure

def say(x):
    return f"x is {{x}}."

explorable = Explorable("{name}", draw, say, Slider("x", range({states}), 5))
"""


@pytest.fixture
def make(tmp_path, monkeypatch):
    """Write a module with one explorable where workers can import it."""
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    made = []

    def make(name, fails_at=None, states=10):
        module = name.replace("-", "_")
        text = textwrap.dedent(MODULE).format(
            name=name, fails_at=fails_at, states=states
        )
        (tmp_path / f"{module}.py").write_text(text, "utf-8")
        __import__(module)
        made.append(module)
        return find(name)

    yield make
    for module in made:
        sys.modules.pop(module)


def test_every_state_is_drawn_and_then_kept(make, tmp_path):
    item = make("test-frames-kept", states=40)
    cache = tmp_path / "cache"
    seen = []

    def progress(chunks, total):
        seen.append(total)
        return chunks

    first = frames.draw_all([item], cache, progress)[item.name]
    assert first.sentence == "x is 5."
    assert first.svg == item.svg(x=5)
    assert all(f"x is {x}." in first.script for x in range(40))
    again = frames.draw_all([item], cache, progress)[item.name]
    assert vars(again) == vars(first)
    assert seen == [3]


def test_workers_or_one_process_give_the_same_bytes(make, tmp_path):
    few = make("test-frames-few")
    many = make("test-frames-many", states=40)
    alone = frames.draw_all([few], tmp_path / "alone")[few.name]
    beside = frames.draw_all([few, many], tmp_path / "beside")[few.name]
    assert vars(alone) == vars(beside)


def test_a_stopped_build_keeps_what_was_finished(make, tmp_path):
    name = "test-frames-done"
    done = make(name)
    waits = make(f"{name}-waits", states=60)
    asked = []

    def stops(chunks, total):
        for chunk in chunks:
            yield chunk
            if (tmp_path / "cache" / f"{name}.json").exists():
                raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        frames.draw_all([done, waits], tmp_path / "cache", stops)
    whole = frames.draw_all([done, waits], tmp_path / "cache", watch(asked))
    assert asked[-1] == 4  # chunks of the second alone
    assert vars(whole[name]) == vars(frames.draw_all([done], tmp_path)[name])


def watch(asked):
    return lambda chunks, total: asked.append(total) or chunks


@pytest.mark.parametrize(
    "damage",
    [
        lambda kept: b"",
        lambda kept: kept[: len(kept) // 2],
        lambda kept: kept.replace(b"x is 7.", b"x is 8."),
        lambda kept: json.dumps({"key": json.loads(kept)["key"]}).encode(),
        lambda kept: b"[]",
        lambda kept: bytes(range(256)) * 9,
    ],
    ids=["empty", "torn", "altered", "headless", "another", "no-text"],
)
def test_a_damaged_cache_is_drawn_anew(make, tmp_path, damage, request):
    item = make(f"test-frames-damage-{request.node.callspec.id}")
    whole = frames.draw_all([item], tmp_path)[item.name]
    file = tmp_path / f"{item.name}.json"
    file.write_bytes(damage(file.read_bytes()))
    assert vars(frames.draw_all([item], tmp_path)[item.name]) == vars(whole)


def test_a_failing_state_is_named(make, tmp_path):
    item = make("test-frames-fails", fails_at=33, states=40)
    with pytest.raises(
        ValueError,
        match=r"'test-frames-fails' failed at \{'x': 33\}: RuntimeError: no p",
    ):
        frames.draw_all([item], tmp_path / "cache")
    assert not list((tmp_path / "cache").glob("*"))


NEVER_DONE = """
import os, time
from utils.explore import Explorable, Slider

def draw(x):
    print("drawing", flush=True)
    time.sleep(120)
    os._exit(1)

item = Explorable("never", draw, lambda x: "x.", Slider("x", range(40), 0))
"""
DRAW_IT = """
import os, never_done
from utils.explore import frames
os.cpu_count = lambda: 2
frames.draw_states([never_done.item])
"""


def test_a_build_that_is_killed_leaves_no_worker(tmp_path, root):
    """They hold its stdout, which ends with the last of them."""
    (tmp_path / "never_done.py").write_text(NEVER_DONE, "utf-8")
    paths = os.pathsep.join([str(tmp_path), str(root)])
    with subprocess.Popen(
        [sys.executable, "-c", DRAW_IT],
        env={**os.environ, "PYTHONPATH": paths},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    ) as build:
        assert build.stdout.readline().strip() == b"drawing"
        build.kill()
        build.communicate(timeout=60)


def test_the_key_changes_with_the_module(make, tmp_path):
    item = make("test-frames-key")
    before = frames.key(item)
    file = tmp_path / "test_frames_key.py"
    file.write_text(file.read_text("utf-8") + "# other\n", "utf-8")
    assert frames.key(item) != before


def test_the_key_covers_every_data_file(tmp_path):
    folder = tmp_path / "book" / "data" / "timing"
    folder.mkdir(parents=True)
    for name in ("run.json", "run.md", "weights.npz"):
        (folder / name).touch()
    found = [path.name for path in frames.data_files(tmp_path)]
    assert found == ["run.json", "weights.npz"]


def test_the_key_covers_all_of_ours_that_the_module_imports(make):
    item = make("test-frames-sources")
    names = {path.name for path in frames._sources(item.module)}
    assert {
        "test_frames_sources.py",
        "trained.py",
        "explorable.py",
        "picture.py",
        "palette.py",
    } <= names
