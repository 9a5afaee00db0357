"""Draw every state of every explorable once, in parallel, and remember it."""

import hashlib
import importlib
import importlib.util
import json
import os
import sys
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context, parent_process
from pathlib import Path
from threading import Thread

import matplotlib
import numpy

from utils.explore import flipbook
from utils.explore.explorable import find
from utils.explore.imports import imports

__all__ = ["Frames", "draw_all", "draw_states", "key"]

PACKAGE = "utils"
CHUNK = 16  # states that one worker draws before it reports


class Frames:
    """All that the page needs of one explorable.

    Attributes
    ----------
    svg : str
        The picture of the starting state.
    sentence : str
        Its sentence.
    script : str
        The flipbook: every other state, as a script for the page.
    key : str
        The hash of all that they were made from.
    """

    def __init__(self, svg, sentence, script, key):
        self.svg = svg
        self.sentence = sentence
        self.script = script
        self.key = key


def key(explorable):
    """A hash of all that the frames depend on.

    Returns
    -------
    str
        Hexadecimal. It changes with the source of the module and of every
        module of ours that it imports, with the data files, with what it
        says that it reads, and with the versions of matplotlib and NumPy.
    """
    digest = hashlib.sha256()
    sources = sorted(_sources(explorable.module))
    root = Path(__file__).resolve().parents[2]
    for path in [*sources, *data_files(root), *explorable.reads()]:
        digest.update(path.name.encode())
        digest.update(path.read_bytes())
    for part in (
        explorable.name,
        repr(explorable.states()),
        matplotlib.__version__,
        numpy.__version__,
    ):
        digest.update(part.encode())
    return digest.hexdigest()[:16]


def data_files(root):
    """Every file below book/data that a figure may be drawn from."""
    found = (root / "book" / "data").rglob("*")
    return sorted(path for path in found if path.suffix in (".json", ".npz"))


def draw_all(explorables, cache, progress=None):
    """Give the frames of each explorable, drawing only what is new.

    Parameters
    ----------
    explorables : sequence of Explorable
    cache : Path
        A folder where frames are kept between builds.
    progress : callable, optional
        `progress(iterable, total)` wraps the chunks as they are finished.

    Returns
    -------
    dict of str to Frames

    Raises
    ------
    ValueError
        If a `draw` or `say` fails: names the explorable and the state.
    """
    keys = {item.name: key(item) for item in explorables}
    frames = {name: _read(cache, name, keys[name]) for name in keys}
    missing = [item for item in explorables if frames[item.name] is None]

    def keep(item, pairs):
        svgs, sentences = zip(*pairs, strict=True)
        start = item.index(**item.start())
        book = flipbook.build(svgs, start).as_dict()
        script = flipbook.script(item.name, book, list(sentences))
        done = Frames(svgs[start], sentences[start], script, keys[item.name])
        _write(cache, item.name, done)
        frames[item.name] = done

    draw_states(missing, progress, keep)
    return frames


def draw_states(explorables, progress=None, finished=None):
    """Draw every state of each explorable afresh, in parallel.

    Parameters
    ----------
    explorables : sequence of Explorable
    progress : callable, optional
        As for `draw_all`.
    finished : callable, optional
        `finished(explorable, pairs)` is called as soon as all its states are
        drawn: what a stopped build has finished, the next one need not draw.

    Returns
    -------
    dict of str to list of (str, str)
        By name, the picture and the sentence of each state in order.

    Raises
    ------
    ValueError
        If a `draw` or `say` fails: names the explorable and the state.
    """
    progress = progress or (lambda chunks, total: chunks)
    drawn = {item.name: [None] * len(item.states()) for item in explorables}
    by_name = {item.name: item for item in explorables}

    def store(name, first, pairs):
        drawn[name][first : first + len(pairs)] = pairs
        if finished and None not in drawn[name]:
            finished(by_name[name], drawn[name])

    chunks = [
        (item.module, item.name, range(first, first + CHUNK))
        for item in explorables
        for first in range(0, len(item.states()), CHUNK)
    ]
    if not chunks:
        return drawn
    workers = min(os.cpu_count() or 1, len(chunks))
    if workers == 1:
        for module, name, places in progress(chunks, len(chunks)):
            store(name, places.start, _draw_chunk(module, name, places))
        return drawn
    spawn = get_context("spawn")
    with ProcessPoolExecutor(workers, spawn, _end_with_parent) as pool:
        futures = {pool.submit(_draw_chunk, *c): c for c in chunks}
        try:
            for future in progress(as_completed(futures), len(chunks)):
                _, name, places = futures[future]
                store(name, places.start, future.result())
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise
    return drawn


def _end_with_parent():
    """Let a worker end when its build is killed: nobody else would tell it."""

    def wait():
        parent_process().join()
        os._exit(1)

    Thread(target=wait, daemon=True).start()


def _draw_chunk(module, name, places):
    importlib.import_module(module)
    explorable = find(name)
    pairs = []
    for state in explorable.states()[places.start : places.stop]:
        try:
            pairs.append(
                (explorable.svg(**state), explorable.sentence(**state))
            )
        except Exception as error:
            raise ValueError(
                f"explorable {name!r} failed at {state}: "
                f"{type(error).__name__}: {error}"
            ) from error
    return pairs


def _read(cache, name, wanted):
    """What the cache holds under this key, or None if it is absent or torn."""
    try:
        kept = json.loads((cache / f"{name}.json").read_text("utf-8"))
        body = kept["frames"]
        if kept["key"] == wanted and kept["sha256"] == _digest(body):
            return Frames(**body)
    except (OSError, ValueError, KeyError, TypeError):
        pass
    return None


def _write(cache, name, frames):
    """Whole or not at all: an interrupted build leaves no half a file."""
    body = vars(frames)
    kept = {"key": frames.key, "sha256": _digest(body), "frames": body}
    cache.mkdir(parents=True, exist_ok=True)
    unfinished = cache / f"{name}.{os.getpid()}.tmp"
    unfinished.write_text(json.dumps(kept), "utf-8")
    os.replace(unfinished, cache / f"{name}.json")


def _digest(body):
    text = json.dumps(body, sort_keys=True)
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


def _sources(module):
    """The files of a module and of all of ours that it imports."""
    found, waiting = {}, [module]
    while waiting:
        name = waiting.pop()
        if name in found:
            continue
        path = _file_of(name)
        if path is None:
            continue
        found[name] = path
        waiting += _imports(path)
    return set(found.values())


def _file_of(name):
    loaded = sys.modules.get(name)
    if loaded is not None and getattr(loaded, "__file__", None):
        return Path(loaded.__file__)
    try:
        spec = importlib.util.find_spec(name)
    except (ImportError, ValueError):
        return None
    return Path(spec.origin) if spec and spec.origin else None


def _imports(path):
    for module, name in imports(path.read_text("utf-8")):
        if module.split(".")[0] == PACKAGE:
            yield module
            if name:
                yield f"{module}.{name}"
