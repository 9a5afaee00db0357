"""Frames are drawn once, kept whole, and drawn again when code changes."""

import contextlib
import hashlib
import json
import os
import subprocess
import sys
import textwrap
from concurrent.futures import Future
from pathlib import Path
from types import SimpleNamespace

import matplotlib
import numpy
import pytest

from utils.explore import find, flipbook, frames

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
        assert b"drawing" in build.stdout.readline()  # of one, or of both
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


# --- each step, to the letter ----------------------------------------------


def test_the_key_is_of_all_that_a_picture_depends_on(make, tmp_path):
    item = make("test-frames-digest", states=6)
    extra = tmp_path / "extra.csv"
    extra.write_text("1,2", "utf-8")
    item.reads = lambda: [extra]
    root = Path(frames.__file__).resolve().parents[2]
    digest = hashlib.sha256()
    sources = sorted(frames._sources(item.module))
    for path in [*sources, *frames.data_files(root), extra]:
        digest.update(path.name.encode() + path.read_bytes())
    digest.update(
        f"{item.name}{item.states()!r}{matplotlib.__version__}"
        f"{numpy.__version__}".encode()
    )
    assert frames.key(item) == digest.hexdigest()[:16]


def test_the_data_of_a_figure_are_json_and_arrays_at_any_depth(tmp_path):
    for name in ("b.json", "a/c.npz", "a/note.md", "d.json.part"):
        path = tmp_path / "book" / "data" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("x", "utf-8")
    (tmp_path / "book" / "other.json").write_text("x", "utf-8")
    below = tmp_path / "book" / "data"
    found = [p.relative_to(below) for p in frames.data_files(tmp_path)]
    assert [path.as_posix() for path in found] == ["a/c.npz", "b.json"]


def test_what_is_kept_is_read_only_under_its_key(tmp_path):
    cache = tmp_path / "a" / "cache"
    kept = frames.Frames("<svg/>", "é.", "script", "key1")
    frames._write(cache, "one", kept)
    frames._write(cache, "one", kept)  # the folder is there already
    assert [path.name for path in cache.iterdir()] == ["one.json"]
    stored = json.loads((cache / "one.json").read_text("utf-8"))
    body = {"svg": "<svg/>", "sentence": "é.", "script": "script"}
    body["key"] = "key1"
    text = json.dumps(body, sort_keys=True).encode()
    assert stored == {
        "key": "key1",
        "sha256": hashlib.sha256(text).hexdigest(),
        "frames": body,
    }
    assert vars(frames._read(cache, "one", "key1")) == body
    assert frames._read(cache, "one", "key2") is None
    assert frames._read(cache, "other", "key1") is None


@pytest.mark.parametrize("text", ["{", "[]", "null", "{}", '{"frames": 1}'])
def test_what_is_torn_is_as_good_as_absent(tmp_path, text):
    (tmp_path / "one.json").write_text(text, "utf-8")
    assert frames._read(tmp_path, "one", "key") is None


@pytest.mark.parametrize("cores", [1, None])
def test_one_core_draws_here_in_chunks_of_sixteen(make, monkeypatch, cores):
    few = make("test-frames-a", states=17)
    more = make("test-frames-b", states=6)
    monkeypatch.setattr(os, "cpu_count", lambda: cores)
    asked, done, drew = [], [], []
    real = frames._draw_chunk

    def draw_chunk(module, name, places):
        drew.append((name, list(places)[0], len(list(places))))
        return real(module, name, places)

    def progress(chunks, total):
        asked.append((list(chunks), total))
        return asked[0][0]

    monkeypatch.setattr(frames, "_draw_chunk", draw_chunk)
    drawn = frames.draw_states(
        [few, more], progress, lambda item, pairs: done.append((item, pairs))
    )
    first, second = few.name, more.name
    assert asked == [
        (
            [
                ("test_frames_a", first, range(0, 16)),
                ("test_frames_a", first, range(16, 32)),
                ("test_frames_b", second, range(0, 16)),
            ],
            3,
        )
    ]
    assert drew == [(first, 0, 16), (first, 16, 16), (second, 0, 16)]
    assert list(drawn) == [first, second]
    assert done == [(few, drawn[first]), (more, drawn[second])]
    for item in (few, more):
        pairs = [(item.svg(**s), item.sentence(**s)) for s in item.states()]
        assert drawn[item.name] == pairs


def test_workers_are_fresh_processes_that_end_with_the_build(
    make, monkeypatch
):
    item = make("test-frames-pool", states=17)
    monkeypatch.setattr(os, "cpu_count", lambda: 5)
    asked = []

    class Pool(contextlib.nullcontext):
        def __init__(self, workers, context, begin):
            asked.append((workers, context.get_start_method(), begin))
            super().__init__(self)

        def submit(self, call, *args):
            future = Future()
            future.set_result(call(*args))
            return future

    monkeypatch.setattr(frames, "ProcessPoolExecutor", Pool)
    drawn = frames.draw_states([item])
    assert len(drawn[item.name]) == 17
    # two chunks, so two workers
    assert asked == [(2, "spawn", frames._end_with_parent)]


def test_what_is_not_begun_is_given_up_when_a_build_stops(make, monkeypatch):
    item = make("test-frames-stopped", states=17)
    monkeypatch.setattr(os, "cpu_count", lambda: 2)
    asked = []

    class Pool(contextlib.nullcontext):
        def __init__(self, *_):
            super().__init__(self)

        def submit(self, *_):
            return Future()

        def shutdown(self, **how):
            asked.append(how)

    def stop(chunks, total):
        raise KeyboardInterrupt

    monkeypatch.setattr(frames, "ProcessPoolExecutor", Pool)
    with pytest.raises(KeyboardInterrupt):
        frames.draw_states([item], stop)
    assert asked == [{"cancel_futures": True}]


def test_a_worker_ends_with_an_error_when_its_build_has(monkeypatch):
    told, ended = [], []

    class Thread:
        def __init__(self, target, daemon):
            self.target = target
            told.append(daemon)

        def start(self):
            self.target()

    build = SimpleNamespace(join=lambda: ended.append("joined"))
    monkeypatch.setattr(frames, "Thread", Thread)
    monkeypatch.setattr(frames, "parent_process", lambda: build)
    monkeypatch.setattr(os, "_exit", ended.append)
    frames._end_with_parent()
    assert told == [True]  # a worker that is done need not wait for it
    assert ended == ["joined", 1]


def test_a_flipbook_counts_from_the_picture_in_the_page(
    make, tmp_path, monkeypatch
):
    item = make("test-frames-base")
    asked, real = [], flipbook.build

    def build(svgs, base=0):
        asked.append(base)
        return real(svgs, base)

    monkeypatch.setattr(flipbook, "build", build)
    frames.draw_all([item], tmp_path / "cache")
    assert asked == [5]


def test_nothing_to_draw_asks_for_no_worker(monkeypatch):
    monkeypatch.setattr(frames, "ProcessPoolExecutor", None)
    assert frames.draw_states([]) == {}


def test_only_what_is_new_is_drawn(make, tmp_path, monkeypatch):
    monkeypatch.setattr(os, "cpu_count", lambda: 1)
    old = make("test-frames-old", states=6)
    frames.draw_all([old], tmp_path)
    new = make("test-frames-new", states=6)
    asked = []
    real = frames.draw_states

    def draw_states(items, *rest):
        asked.append(items)
        return real(items, *rest)

    monkeypatch.setattr(frames, "draw_states", draw_states)
    found = frames.draw_all([old, new], tmp_path)
    assert asked == [[new]]
    assert list(found) == [old.name, new.name]
    for item in (old, new):
        kept = found[item.name]
        assert kept.svg == item.svg(**item.start())
        assert kept.sentence == "x is 5."
        assert kept.key == frames.key(item)
        svgs = [item.svg(**state) for state in item.states()]
        book = flipbook.build(svgs, 5).as_dict()
        said = [f"x is {x}." for x in range(6)]
        assert kept.script == flipbook.script(item.name, book, said)


def test_sources_are_found_as_deep_as_imports_go(make, tmp_path):
    item = make("test-frames-deep")
    names = {path.name for path in frames._sources(item.module)}
    assert {"test_frames_deep.py", "slider.py", "trained.py"} <= names
    assert "pyplot.py" not in names
    assert frames._sources("nowhere_at_all") == set()


@pytest.mark.parametrize("name", ["nowhere_at_all", "nowhere.at.all", ""])
def test_a_module_that_is_not_there_has_no_file(name):
    assert frames._file_of(name) is None


def test_the_file_of_a_module_is_found_without_importing_it():
    sys.modules.pop("this", None)
    assert frames._file_of("this").name == "this.py"
    assert "this" not in sys.modules
    assert frames._file_of("sys") == Path("built-in")


def test_ours_are_followed_and_names_taken_from_them(tmp_path):
    path = tmp_path / "a.py"
    text = "import numpy\nimport utils\nfrom utils.a import b\nimport utilsx"
    path.write_text(text, "utf-8")
    found = list(frames._imports(path))
    assert sorted(found) == ["utils", "utils.a", "utils.a.b"]
