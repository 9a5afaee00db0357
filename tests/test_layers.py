"""Imports point one way: figures use explore and the ground floor, not back.

Read from the source by its syntax tree, so that an import inside a function
counts too; then proved by importing in fresh processes.
"""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from utils.explore import imports

ROOT = Path(__file__).resolve().parent.parent
DRAWING = {"matplotlib", "ipywidgets", "IPython"}

# floor: the floors it may import from, and the packages besides Python's own
FLOORS = {
    "ground": ({"ground"}, {"numpy"}),
    "explore": (
        {"explore"},
        {"numpy", "matplotlib", "ipywidgets", "IPython", "docutils", "sphinx"},
    ),
    "slides": (
        {"slides", "explore"},
        {"docutils", "markdown_it", "nbformat", "nbconvert"},
    ),
    "figures": ({"figures", "ground", "explore"}, {"numpy", "matplotlib"}),
    "practice": (
        {"practice", "ground", "explore"},
        {"numpy", "docutils", "sphinx"},
    ),
    "launch": ({"launch"}, {"sphinx"}),
}
# the lab of mistakes draws the mistakes that the checks know
FLOORS_OF_ONE = {"break_it": {"practice"}}
# the chapter that times the kernels of others needs them
PACKAGES_OF_ONE = {"utils.timing": {"torch"}}


MODULES = imports.modules(ROOT)


def floor(module):
    """The name of the folder below utils, or ground."""
    path = MODULES[module].relative_to(ROOT / "utils")
    return path.parts[0] if len(path.parts) > 1 else "ground"


def imported(module):
    """Names of all that a module imports, as deep as it says."""
    return imports.imported(MODULES[module].read_text("utf-8"), MODULES)


@pytest.mark.parametrize("module", MODULES)
def test_every_module_stands_on_a_known_floor(module):
    assert floor(module) in FLOORS, f"say in FLOORS what {module} may import"


@pytest.mark.parametrize("module", MODULES)
def test_imports_point_one_way(module):
    floors, packages = FLOORS[floor(module)]
    floors = floors | FLOORS_OF_ONE.get(chapter(module), set())
    packages = packages | PACKAGES_OF_ONE.get(module, set())
    for name in imported(module):
        top = name.split(".")[0]
        if top == "utils":
            assert name in MODULES, f"{module} imports {name}: no such module"
            assert floor(name) in floors, (
                f"{module} ({floor(module)}) imports {name} ({floor(name)})"
            )
        elif top not in sys.stdlib_module_names:
            assert top in packages, f"{module} imports {name}"


def chapter(module):
    """The chapter whose figure a module draws; None for what all share."""
    parts = MODULES[module].relative_to(ROOT / "utils").parts
    return parts[1] if parts[0] == "figures" and len(parts) > 2 else None


@pytest.mark.parametrize("module", MODULES)
def test_the_figures_of_two_chapters_do_not_know_each_other(module):
    for name in imported(module) & MODULES.keys():
        assert chapter(name) in (None, chapter(module)), (
            f"{module} imports {name}"
        )


@pytest.mark.bug(id="B30")
@pytest.mark.parametrize("module", MODULES)
def test_no_figure_is_kept_alive_by_pyplot(module):
    assert "matplotlib.pyplot" not in imported(module)


def test_no_import_goes_in_a_circle():
    seen = set()

    def walk(module, trail):
        assert module not in trail, " → ".join([*trail, module])
        if module not in seen:
            for name in sorted(imported(module) & MODULES.keys()):
                walk(name, [*trail, module])
            seen.add(module)

    for module in MODULES:
        walk(module, [])


@pytest.mark.bug(id="B41")
def test_the_ground_floor_needs_neither_matplotlib_nor_widgets():
    ground = [name for name in MODULES if floor(name) == "ground"]
    code = (
        "import importlib, sys\n"
        f"for name in {sorted(DRAWING)}: sys.modules[name] = None\n"
        f"for name in {ground}: importlib.import_module(name)\n"
    )
    done = run(code)
    assert done.returncode == 0, done.stderr


WATCH = """
import importlib, json, os, random, sys, warnings
import docutils.nodes, ipywidgets, matplotlib.figure, matplotlib.pyplot
import numpy, sphinx.util, sphinx.util.display

root, modules = sys.argv[1], json.loads(sys.argv[2])
events, figures = [], []

def watch(event, args):
    if event != "open" or not isinstance(args[0], str):
        return
    path, mode = os.path.abspath(args[0]), args[1] or ""
    if "__pycache__" in path or path.endswith(".py"):
        return
    if set(mode) & set("wax+"):
        events.append(f"writes {path}")
    elif path.startswith(root):
        events.append(f"reads {os.path.relpath(path, root)}")

def count(self, *args, **kwargs):
    figures.append(self)
    return make(self, *args, **kwargs)

make = matplotlib.figure.Figure.__init__
matplotlib.figure.Figure.__init__ = count

def state():
    return {
        "matplotlib's settings": dict(matplotlib.rcParams),
        "NumPy's print options": numpy.get_printoptions(),
        "NumPy's error handling": numpy.geterr(),
        "NumPy's random state": str(numpy.random.get_state()),
        "Python's random state": random.getstate(),
        "the environment": dict(os.environ),
        "the working folder": os.getcwd(),
        "the warning filters": list(warnings.filters),
        "drawn figures": len(figures),
    }

sys.addaudithook(watch)
for name in modules:
    before = state()
    events.clear()
    importlib.import_module(name)
    after = state()
    changed = [key for key in before if before[key] != after[key]]
    print(json.dumps([name, changed, events]))
"""


def test_nothing_happens_on_import():
    """Settings stay, nothing is drawn, printed or written.

    A chapter's figures may read book/data to know their sliders' values.
    """
    order = sorted(MODULES, key=lambda name: list(FLOORS).index(floor(name)))
    done = run(WATCH, str(ROOT), json.dumps(order))
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    lines = done.stdout.splitlines()
    assert len(lines) == len(order), f"an import prints: {done.stdout}"
    for line in lines:
        name, changed, events = json.loads(line)
        assert not changed, f"importing {name} changes {changed}"
        for event in events:
            assert floor(name) == "figures", f"importing {name} {event}"
            assert event.startswith(f"reads {Path('book', 'data')}"), (
                f"importing {name} {event}"
            )


def run(code, *arguments):
    return subprocess.run(
        [sys.executable, "-c", code, *arguments],
        cwd=ROOT,
        capture_output=True,
        encoding="locale",
    )
