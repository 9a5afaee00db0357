"""Chapters in the site's JupyterLite, with the network cut below Chromium."""

import json
import re
import time

import pytest

import drive_lite as lab
from pyodide_mirror import pyodide_folder
from tests.conftest import ROOT, stored_notebooks
from utils.explore import find
from utils.launch.lite import can_run
from utils.launch.lite_site import write_lite

pytestmark = pytest.mark.browser

MODEL = "04_softmax"
SHOWN = re.compile(r'data-explorable="([\w-]+)" data-module="([\w.]+)"')
CHAPTERS = [nb for nb in stored_notebooks() if can_run(nb.path)]


def pages():
    return [p for p in ROOT.glob("book/*") if p.suffix in (".ipynb", ".md")]


@pytest.fixture(scope="module")
def pyodide():
    """A server that stands in for Pyodide's network."""
    with lab.serving_files(pyodide_folder()) as server:
        yield server


@pytest.fixture(scope="module")
def site(tmp_path_factory, pyodide):
    """JupyterLite as the book builds it, Pyodide's place set."""
    folder = tmp_path_factory.mktemp("site")
    write_lite(ROOT, pages(), pyodide.url, folder / "lite", folder / "key")
    with lab.serving_files(folder) as server:
        yield server


@pytest.fixture(scope="module")
def own_site(tmp_path_factory):
    """The same, with Pyodide in a folder of the site."""
    folder = tmp_path_factory.mktemp("own-site")
    place = str(pyodide_folder())
    write_lite(ROOT, pages(), place, folder / "lite", folder / "key")
    with lab.serving_files(folder) as server:
        yield server


@pytest.fixture(scope="module")
def chromium(engine):
    with lab.walled_browser(engine) as (browser, wall):
        yield browser, wall


def moving(notebook):
    """The explorables of a chapter that have controls."""
    for _, output in notebook.outputs():
        text = "".join(output.get("data", {}).get("text/html", ""))
        for name, module in SHOWN.findall(text):
            __import__(module)
            explorable = find(name)
            if explorable.sliders:
                yield explorable


def next_state(explorable):
    """The state one step of the first slider away, and its place there."""
    slider, state = explorable.sliders[0], explorable.start()
    values = list(slider.values(None))
    place = values.index(state[slider.name])
    step = 1 if place + 1 < len(values) else -1
    state[slider.name] = values[place + step]
    for other in explorable.sliders[1:]:
        if other.given == slider.name:
            state[other.name] = other.start(state[slider.name])
    return state, place + step, step


def move_and_compare(tab, explorable):
    """Move the first slider; picture and sentence must follow."""
    start = explorable.sentence(**explorable.start())
    state, place, step = next_state(explorable)
    box = tab.locator(".widget-vbox").filter(
        has=tab.get_by_role("img", name=start, exact=True)
    )
    assert box.count() == 1, f"{explorable.name} is not live"
    box = box.element_handle()
    before = box.query_selector("svg").inner_html()
    kind = explorable.sliders[0].kind
    if kind == "range":
        handle = box.query_selector(".noUi-handle")
        handle.focus()
        handle.press("ArrowRight" if step == 1 else "ArrowLeft")
    elif kind == "checkbox":
        box.query_selector("input[type=checkbox]").click()
    else:
        box.query_selector("select").select_option(index=place)
    wanted = explorable.sentence(**state)
    tab.wait_for_function(
        "([box, wanted]) => box.querySelector('[role=status]')"
        ".textContent === wanted",
        arg=[box, wanted],
    )
    # a few states are drawn alike: here, as there
    differs = explorable.svg(**state) != explorable.svg(**explorable.start())
    assert (box.query_selector("svg").inner_html() != before) == differs
    return differs


def check_chapter(chromium, site, notebook):
    browser, wall = chromium
    wall.clear()
    site.wrong.clear()
    began = time.perf_counter()
    tab = lab.open_chapter(browser, site.url, notebook.name)
    wrong = []
    tab.on("pageerror", lambda error: wrong.append(str(error)))
    lab.run_all(tab)
    seconds = time.perf_counter() - began
    expected = sum(
        "raises-exception" in cell["metadata"].get("tags", [])
        for cell in notebook.code()
    )
    errors = tab.locator("[data-mime-type$='jupyter.error']")
    assert errors.count() == expected, errors.all_text_contents()
    stderr = tab.locator("[data-mime-type$='jupyter.stderr']")
    assert stderr.all_text_contents() == []
    found = list(moving(notebook))
    assert found
    changed = [move_and_compare(tab, explorable) for explorable in found]
    assert any(changed)
    tab.context.close()
    print(f"{notebook.name}: all cells run after {seconds:.0f} s")
    assert wrong == []
    assert lab.asked_by_a_page(wall) == []
    missing = [what for what in site.wrong if "/lite/" in what]
    assert missing == []


def test_softmax_runs_and_moves_with_python_from_elsewhere(
    chromium, site, pyodide
):
    (notebook,) = (nb for nb in CHAPTERS if nb.name == MODEL)
    check_chapter(chromium, site, notebook)
    assert any("numpy-" in path for path in pyodide.asked)
    assert pyodide.wrong == []


@pytest.mark.bug(id="B41")
@pytest.mark.parametrize("chapter", CHAPTERS, ids=str)
def test_every_chapter_runs_with_python_of_the_site(
    chromium, own_site, chapter
):
    check_chapter(chromium, own_site, chapter)


def test_the_same_files_are_not_written_again(tmp_path):
    where = (tmp_path / "lite", tmp_path / "key")
    assert write_lite(ROOT, pages()[:1], "", *where)
    listing = tmp_path / "lite" / "jupyter-lite.json"
    settings = json.loads(listing.read_text("utf-8"))["jupyter-config-data"]
    (plugin,) = settings["litePluginSettings"].values()
    assert "pyodideUrl" not in plugin  # Pyodide's own network
    before = listing.stat().st_mtime_ns
    assert not write_lite(ROOT, pages()[:1], "", *where)
    assert listing.stat().st_mtime_ns == before
    assert write_lite(ROOT, pages()[:1], "https://example.org", *where)
    text = listing.read_text("utf-8")
    assert '"https://example.org/pyodide.mjs"' in text
