"""The first cell: in Colab it fetches the book; elsewhere it does nothing.

Colab is played by what it gives a chapter: a module `google.colab` that is
loaded before the first cell, an empty folder, and a server of sessions that
knows where the notebook was opened. The book on GitHub is played by a bare
repository in a folder, to which git is told to turn.
"""

import contextlib
import http.server
import json
import os
import shutil
import sys
import threading
from urllib.parse import quote

import nbformat
import pytest
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError

from tests.conftest import ROOT, stored_notebooks
from tests.git import git, listed

FIRST = "first"
REPOSITORY = "https://github.com/someone/a-fork"
BRANCH = "try/this"
# before the first cell, as Colab's own kernel does
COLAB = """
import sys, types
for name in ("google", "google.colab"):
    sys.modules[name] = types.ModuleType(name)
"""
# what Colab comes with; `utils` is not among it
WITHOUT_THE_BOOK = """
import sys
sys.meta_path[:] = [f for f in sys.meta_path if "editable" not in repr(f)]
sys.path[:] = [p for p in sys.path if p != {root!r}]
"""


def with_first_cell():
    return [
        notebook
        for notebook in stored_notebooks()
        if any(cell["id"] == FIRST for cell in notebook.cells)
    ]


def first_cell(notebook):
    (cell,) = (c for c in notebook.cells if c["id"] == FIRST)
    return cell


def test_chapters_have_it():
    assert with_first_cell()


def test_it_is_one_text_and_comes_before_all_other_code():
    texts = {first_cell(nb)["source"] for nb in with_first_cell()}
    assert len(texts) == 1
    for notebook in with_first_cell():
        cell = notebook.code()[0]
        assert cell["id"] == FIRST
        assert cell["metadata"] == {"tags": ["remove-cell"]}
        assert cell["outputs"] == []


def test_the_page_does_not_show_it(built_site):
    for notebook in with_first_cell():
        page = built_site / "book" / f"{notebook.name}.html"
        assert "google.colab" not in page.read_text("utf-8")


@contextlib.contextmanager
def sessions(path):
    """Colab's list of open notebooks."""

    class Sessions(http.server.BaseHTTPRequestHandler):
        def do_GET(self):  # noqa: N802
            assert self.path == "/api/sessions"
            answer = json.dumps([{"name": "a.ipynb", "path": path}]).encode()
            self.send_response(200)
            self.end_headers()
            self.wfile.write(answer)
            self.server.asked += 1

        def log_message(self, form, *arguments):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Sessions)
    server.asked = 0
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture(scope="module")
def bare(tmp_path_factory):
    """The book as it stands here, on a branch of a bare repository."""
    folder = tmp_path_factory.mktemp("github")
    tree, bare = folder / "tree", folder / "bare"
    tree.mkdir()
    for name in listed("--cached", "--others", "-X", str(ROOT / ".gitignore")):
        if (ROOT / name).is_file():
            target = tree / name
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, target)
    commit = ("commit", "-q", "--allow-empty", "-m", "The book")
    git(tree, "init", "-q", "-b", "main")
    git(tree, *commit)  # the default branch holds nothing
    git(tree, "checkout", "-q", "-b", BRANCH)
    git(tree, "add", "-A")
    git(tree, *commit)
    git(folder, "clone", "-q", "--bare", str(tree), str(bare))
    git(bare, "symbolic-ref", "HEAD", "refs/heads/main")
    return bare


def colab(tmp_path, monkeypatch, server, bare=None):
    """An environment as Colab's, in an empty folder."""
    start = tmp_path / "profile" / "profile_default" / "startup"
    start.mkdir(parents=True)
    lines = WITHOUT_THE_BOOK.format(root=str(ROOT)) + COLAB
    (start / "colab.py").write_text(lines, "utf-8")
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "profile"))
    monkeypatch.delenv("PYTHONPATH", raising=False)
    monkeypatch.setenv("COLAB_JUPYTER_IP", "127.0.0.1")
    monkeypatch.setenv("KMP_TARGET_PORT", str(server.server_port))
    monkeypatch.setenv("PATH", os.path.dirname(sys.executable), prepend=":")
    settings = {"protocol.allow": "never", "protocol.file.allow": "always"}
    if bare:
        settings[f"url.{bare}.insteadOf"] = REPOSITORY
    monkeypatch.setenv("GIT_CONFIG_COUNT", str(len(settings)))
    for place, (key, value) in enumerate(settings.items()):
        monkeypatch.setenv(f"GIT_CONFIG_KEY_{place}", key)
        monkeypatch.setenv(f"GIT_CONFIG_VALUE_{place}", value)
    # nothing else than what Colab has may be asked of the network
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    content = tmp_path / "content"
    content.mkdir()
    return content


def run(notebook, folder):
    """Execute a copy of the notebook in a folder; return it."""
    copy = nbformat.reads(notebook.text, as_version=4)
    for cell in copy.cells:
        if cell.cell_type == "code":
            cell.outputs = []
    client = NotebookClient(
        copy, timeout=600, resources={"metadata": {"path": str(folder)}}
    )
    client.execute()
    return copy


def opened(notebook, repository=REPOSITORY):
    place = f"{repository}/blob/{BRANCH}/book/{notebook.name}.ipynb"
    return "fileId=" + quote(place, safe="")


@pytest.mark.bug(id="B25")
@pytest.mark.parametrize("chapter", with_first_cell(), ids=str)
def test_in_colab_a_chapter_runs_from_nothing_but_itself(
    chapter, bare, tmp_path, monkeypatch
):
    with sessions(opened(chapter)) as server:
        content = colab(tmp_path, monkeypatch, server, bare)
        done = run(chapter, content)
        assert server.asked == 1
    for cell, stored in zip(done.cells, chapter.cells, strict=True):
        if cell.cell_type == "code" and cell.id != FIRST:
            assert printed(cell.outputs) == printed(stored["outputs"])
    branch = git(content / "book", "branch", "--show-current")
    assert branch == BRANCH


def test_in_colab_the_helpers_come_from_the_fork_that_was_opened(
    bare, tmp_path, monkeypatch
):
    chapter = only_the_import()
    chapter.cells.append(
        nbformat.v4.new_code_cell("import utils; print(utils.__file__)")
    )
    with sessions(opened(with_first_cell()[0])) as server:
        content = colab(tmp_path, monkeypatch, server, bare)
        done = execute(chapter, content)
    assert printed(done.cells[-1].outputs).strip().startswith(str(content))


@pytest.mark.bug(id="B25")
@pytest.mark.parametrize("path", ["fileId=1a2b3c", "", "x.ipynb"])
def test_a_copy_in_drive_is_told_what_to_write(path, tmp_path, monkeypatch):
    with sessions(path) as server:
        content = colab(tmp_path, monkeypatch, server)
        with pytest.raises(CellExecutionError, match="address of this chap"):
            execute(only_the_import(), content)


def test_elsewhere_it_prints_nothing_and_asks_nobody(tmp_path, monkeypatch):
    """A kernel that tells of each socket, file written and process."""
    start = tmp_path / "profile" / "profile_default" / "startup"
    start.mkdir(parents=True)
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "profile"))
    watch = (
        "import sys\nseen = []\ndef watch(event, arguments):\n"
        "    if watching and event in ('socket.connect', 'os.system',"
        " 'socket.getaddrinfo', 'subprocess.Popen', 'os.mkdir'):\n"
        "        seen.append(event)\n"
        "watching = False\nsys.addaudithook(watch)\nwatching = True"
    )
    chapter = only_the_import()
    chapter.cells.insert(0, nbformat.v4.new_code_cell(watch))
    tell = "watching = False\nprint(seen, sorted(sys.modules)[:0])"
    chapter.cells.append(nbformat.v4.new_code_cell(tell))
    (tmp_path / "empty").mkdir()
    done = execute(chapter, tmp_path / "empty")
    assert done.cells[1].outputs == []
    assert printed(done.cells[2].outputs) == "[] []\n"
    assert list((tmp_path / "empty").iterdir()) == []


def only_the_import():
    """A notebook of the first cell alone."""
    source = first_cell(with_first_cell()[0])["source"]
    notebook = nbformat.v4.new_notebook()
    notebook.cells = [nbformat.v4.new_code_cell(source)]
    return notebook


def execute(notebook, folder):
    NotebookClient(
        notebook, timeout=600, resources={"metadata": {"path": str(folder)}}
    ).execute()
    return notebook


def printed(outputs):
    """What cells print, pictures left out."""
    texts = ("".join(o["text"]) for o in outputs if "text" in o)
    return "".join(texts)
