"""What several test files share: where things are, and the chapters."""

import json
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent


class Notebook:
    """A stored chapter, its sources and texts as plain strings."""

    def __init__(self, path):
        self.path = path
        self.name = path.stem
        self.text = path.read_bytes().decode("utf-8")
        self.raw = json.loads(self.text)
        self.cells = self.raw["cells"]
        for place, cell in enumerate(self.cells):
            cell["place"] = place
            cell["source"] = "".join(cell["source"])

    def __repr__(self):
        return self.name

    def markdown(self):
        return [cell for cell in self.cells if cell["cell_type"] == "markdown"]

    def code(self):
        return [cell for cell in self.cells if cell["cell_type"] == "code"]

    def outputs(self):
        """Pairs of a code cell and one of its outputs."""
        return [(cell, out) for cell in self.code() for out in cell["outputs"]]


def stored_notebooks():
    return [Notebook(path) for path in sorted(ROOT.glob("book/*.ipynb"))]


def pytest_generate_tests(metafunc):
    """A test that takes `notebook` runs once for every chapter."""
    if "notebook" in metafunc.fixturenames:
        found = stored_notebooks()
        metafunc.parametrize("notebook", found, ids=map(str, found))


@pytest.fixture(scope="session")
def root():
    return ROOT


@pytest.fixture(scope="session")
def notebooks():
    """Every stored chapter, in the book's order."""
    found = stored_notebooks()
    assert found, "book/ holds no notebook"
    return found


@pytest.fixture(scope="session")
def built_site():
    """The folder of the built site, which `make book` makes."""
    site = ROOT / "_build" / "html"
    if not (site / "index.html").is_file():
        pytest.fail(f"the book is not built: no {site}/index.html; make book")
    return site
