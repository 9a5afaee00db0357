"""The link to JupyterLite, and what is packed for the Python behind it."""

import hashlib
import json
import zipfile

import pytest

from drive_lite import asked_by_a_page
from tests.conftest import ROOT, stored_notebooks
from utils.launch import lite, pyodide, wheels

LINK = ".launch-lite-link"


def test_what_a_page_asks_of_others_is_not_taken_for_the_browsers_own():
    own = ["http://update.googleapis.com/v", "android.clients.google.com:443"]
    asked = ["fonts.googleapis.com:443", "www.google.com.example.org:443"]
    assert asked_by_a_page([*own, *asked]) == asked


@pytest.mark.browser
@pytest.mark.parametrize("width", [1280, 390])
def test_the_link_opens_the_chapter_by_keyboard(browser, served_site, width):
    context = browser.new_context(viewport={"width": width, "height": 900})
    tab = context.new_page()
    tab.goto(f"{served_site}/book/04_softmax.html")
    link = tab.locator(LINK)
    assert link.is_visible()
    assert link.inner_text() == "Run in your browser"
    assert "no account" in link.get_attribute("title")
    link.focus()
    link.press("Enter")
    tab.wait_for_url("**/lite/notebooks/index.html?path=04_softmax.ipynb")
    context.close()


@pytest.mark.browser
def test_from_a_file_it_says_why_not(open_page):
    tab = open_page("book/04_softmax.html", mathematics=False)
    assert not tab.locator(LINK).is_visible()
    shown = tab.locator(".launch-lite:visible")
    assert shown.count() == 1
    assert "cannot run from a file" in shown.inner_text()


@pytest.mark.bug(id="B41")
def test_only_chapters_that_can_run_have_the_link(built_site):
    for notebook in stored_notebooks():
        page = (built_site / "book" / f"{notebook.name}.html").read_text(
            "utf-8"
        )
        runs = "TorchIsMissing" not in notebook.text
        assert ("launch-lite-link" in page) == runs, notebook.name
        assert runs or "does not run in a browser" in page
        target = built_site / "lite" / "files" / f"{notebook.name}.ipynb"
        assert target.is_file()
    for page in ("intro", "notation", "glossary"):
        text = (built_site / "book" / f"{page}.html").read_text("utf-8")
        assert "launch-lite" not in text.partition("</head>")[2]


@pytest.mark.bug(id="B41")
def test_only_a_chapter_that_stops_without_torch_cannot_run(tmp_path):
    paths = {notebook.name: notebook.path for notebook in stored_notebooks()}
    cannot = [name for name in paths if not lite.can_run(paths[name])]
    assert cannot == ["11_in_pytorch"]
    chapter = json.loads(paths["04_softmax"].read_text("utf-8"))
    chapter["cells"][-1] |= {"cell_type": "code", "source": "import torch"}
    plain = tmp_path / "plain.ipynb"
    plain.write_text(json.dumps(chapter), "utf-8")
    assert not lite.can_run(plain)


def test_there_the_first_cell_takes_the_helpers_from_the_site(built_site):
    for notebook in stored_notebooks():
        path = built_site / "lite" / "files" / notebook.path.name
        copy = json.loads(path.read_text("utf-8"))
        code = [c for c in copy["cells"] if c["cell_type"] == "code"]
        assert code[0]["source"].startswith("%pip install")
        assert "google.colab" not in path.read_text("utf-8")
        assert copy["metadata"]["kernelspec"]["name"] == "python"


def test_the_site_stays_small(built_site):
    files = [p for p in (built_site / "lite").rglob("*") if p.is_file()]
    assert not [p.name for p in files if p.suffix == ".map"]
    assert sum(p.stat().st_size for p in files) < 30e6


# --- wheels ----------------------------------------------------------------


def test_the_book_s_wheel_holds_helpers_and_data_and_no_builder(tmp_path):
    path = wheels.pack_book(ROOT, tmp_path)
    with zipfile.ZipFile(path) as archive:
        names = archive.namelist()
        stored = archive.read("utils/trained.py")
        times = {entry.date_time for entry in archive.infolist()}
    assert "book/data/trained_attention.npz" in names
    assert stored == (ROOT / "utils" / "trained.py").read_bytes()
    assert not [n for n in names if n.startswith("utils/launch")]
    assert times == {(1980, 1, 1, 0, 0, 0)}
    again = tmp_path / "again"
    again.mkdir()
    assert digest(wheels.pack_book(ROOT, again)) == digest(path)


def test_a_packed_package_can_be_imported_from_its_wheel(tmp_path):
    path = wheels.pack_installed("comm", tmp_path)
    with zipfile.ZipFile(path) as archive:
        assert "comm/__init__.py" in archive.namelist()
        record = archive.read(archive.namelist()[-1]).decode()
    for line in record.splitlines()[:-1]:
        name, code, size = line.split(",")
        assert code.startswith("sha256=")
        assert int(size) >= 0


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("no-such-thing", "'no-such-thing' is not installed"),
        ("numpy", "'numpy' is not a pure Python package"),
    ],
)
def test_what_cannot_be_packed_is_named(tmp_path, name, why):
    with pytest.raises(ValueError, match=why):
        wheels.pack_installed(name, tmp_path)


def digest(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


# --- where Pyodide comes from ----------------------------------------------


def test_a_place_that_is_neither_is_named(tmp_path):
    with pytest.raises(ValueError, match="received '/no/such/folder'"):
        pyodide.place("/no/such/folder")
    with pytest.raises(ValueError, match="pyodide-lock.json"):
        pyodide.place(str(tmp_path))


def test_a_folder_that_lacks_wheels_is_told_which(tmp_path):
    packages = {
        name: {"file_name": f"{name}.whl", "depends": []}
        for name in pyodide.PACKAGES
    }
    lock = json.dumps({"packages": packages})
    (tmp_path / "pyodide-lock.json").write_text(lock, "utf-8")
    with pytest.raises(ValueError, match=r"lacks pyodide\.mjs.*numpy\.whl"):
        pyodide.copy_needed(tmp_path, tmp_path / "out")
    for name in (*pyodide.CORE, *(f"{n}.whl" for n in packages)):
        (tmp_path / name).touch()
    (tmp_path / "pyodide-lock.json").write_text(lock, "utf-8")
    (tmp_path / "scipy.whl").touch()
    pyodide.copy_needed(tmp_path, tmp_path / "out")
    copied = {path.name for path in (tmp_path / "out").iterdir()}
    assert copied == {*pyodide.CORE, *(f"{n}.whl" for n in packages)}
