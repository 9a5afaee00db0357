"""What several test files share: where things are, and the chapters."""

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest
from playwright.sync_api import sync_playwright

from drive_lite import serving_files
from find_browser import browser_path
from tests.visitor import Visitor
from utils.explore import picture

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


@pytest.fixture(scope="session")
def served_site(built_site):
    """The address of the built site, over the web as it were."""
    with serving_files(built_site) as server:
        yield server.url


@pytest.fixture(scope="session")
def engine():
    """Playwright, of which a process may have one."""
    with sync_playwright() as engine:
        yield engine


@pytest.fixture(scope="session")
def browser(engine):
    path = browser_path()
    if path is None:
        pytest.fail("no Chromium: python tools/find_browser.py --install")
    browser = engine.chromium.launch(
        executable_path=path,
        args=["--no-sandbox", "--disable-background-networking"],
    )
    yield browser
    browser.close()


# The DOM's picture, and Python's, as JSON of nested lists. (As text: a large
# object of its own would take a test ten times as long to fetch.)
READ_PICTURE = """
name => {
  const skip = ["xmlns", "xmlns:xlink", "role", "aria-labelledby"];
  const read = (e) => [
    e.localName,
    [...e.attributes]
      .filter((a) => !skip.includes(a.name))
      .map((a) => [a.name, a.value])
      .sort((a, b) => (a[0] < b[0] ? -1 : 1)),
    [...e.childNodes]
      .filter((n) => n.nodeType === Node.TEXT_NODE && n.data.trim())
      .map((n) => n.data),
    [...e.children].map(read),
  ];
  return JSON.stringify(read(document.querySelector(`#${name} svg`)));
}
"""


@pytest.fixture(scope="session")
def read_picture():
    """The picture that a tab shows, and the one Python drew, as JSON."""

    def read_picture(tab, name, svg):
        drawn = _as_lists(ElementTree.fromstring(svg))
        drawn = json.dumps(drawn, ensure_ascii=False, separators=(",", ":"))
        return tab.evaluate(READ_PICTURE, name), drawn

    return read_picture


def _as_lists(element):
    names = {
        name.replace(f"{{{picture.XLINK}}}", "xlink:"): value
        for name, value in element.attrib.items()
    }
    return [
        element.tag.split("}")[1],
        sorted([name, value] for name, value in names.items()),
        [element.text] if element.text and element.text.strip() else [],
        [_as_lists(child) for child in element],
    ]


@pytest.fixture(scope="session")
def visitor(browser, built_site):
    return Visitor(browser, built_site)


@pytest.fixture
def quiet(visitor):
    """Nothing may go wrong in any page while a test looks at it."""
    visitor.wrong.clear()
    yield visitor
    assert visitor.wrong == []


@pytest.fixture
def open_page(quiet):
    """Open a page of its own for this test."""
    opened = []

    def open_page(*args, **options):
        opened.append(quiet.open(*args, **options))
        return opened[-1]

    yield open_page
    for tab in opened:
        tab.context.close()


@pytest.fixture
def kept_page(quiet):
    """Look at a page that is already open, if it is."""
    return quiet.keep
