"""The Sphinx extension, over a small book of its own."""

import json
import os
import subprocess
import sys

import pytest

CONF = """
import os

project = "small"
extensions = ["myst_nb", "utils.explore.page", "utils.explore.unfinished"]
nb_execution_mode = "off"
html_theme = "basic"
exclude_patterns = ["out"]

def setup(app):
    if event := os.environ.get("KILLED_AT"):
        app.connect(event, lambda *_: os._exit(9))
"""
MODULE = """
from matplotlib.figure import Figure
from utils.explore import Explorable, Slider

def draw(x):
    figure = Figure(figsize=(1, 1))
    figure.text(0.1, 0.1 * x, f"{x} of NOUN")
    return figure

def say(x):
    return f"Now x is {x} & <b>no</b> more."

shown = Explorable("small-shown", draw, say, Slider("x", [0, 1, 2], 1))
"""


class Book:
    def __init__(self, folder, root):
        self.folder, self.root = folder, root
        self.write("conf.py", CONF)
        self.write("small_figures.py", MODULE)
        self.write("index.md", "# Small\n\n```{toctree}\nshow\n```\n")

    def write(self, name, text):
        (self.folder / name).write_text(text, "utf-8")

    def notebook(self, *htmls):
        """A page whose one cell left these outputs."""
        outputs = [
            {
                "output_type": "execute_result",
                "execution_count": 1,
                "metadata": {},
                "data": {"text/plain": "x", "text/html": html},
            }
            for html in htmls
        ]
        cell = {
            "cell_type": "code",
            "id": "one",
            "execution_count": 1,
            "metadata": {},
            "source": "shown",
            "outputs": outputs,
        }
        title = {
            "cell_type": "markdown",
            "id": "title",
            "metadata": {},
            "source": "# Show",
        }
        book = {
            "nbformat": 4,
            "nbformat_minor": 5,
            "metadata": {"language_info": {"name": "python"}},
            "cells": [title, cell],
        }
        self.write("show.ipynb", json.dumps(book))

    def build(self, builder="html", **environment):
        """Run Sphinx with warnings as errors; return code and all it said."""
        run = subprocess.run(
            [
                *(sys.executable, "-m", "sphinx", "-W", "--keep-going"),
                *("-b", builder, ".", f"out/{builder}"),
            ],
            cwd=self.folder,
            env={
                **os.environ,
                "PYTHONPATH": os.pathsep.join(
                    [str(self.folder), str(self.root)]
                ),
                **environment,
            },
            capture_output=True,
            encoding="utf-8",
        )
        return run.returncode, run.stdout + run.stderr

    def page(self):
        return (self.folder / "out/html/show.html").read_text("utf-8")

    def flipbook(self, name="small-shown"):
        return self.folder / f"out/html/_static/explorables/{name}.js"


STORED = (
    '<figure data-explorable="small-shown" data-module="small_figures">'
    '<img alt="x" src="data:image/png;base64,xx"></figure>'
)


@pytest.fixture
def book(tmp_path, root):
    book = Book(tmp_path, root)
    book.notebook(STORED)
    return book


@pytest.mark.bug(id="B01")
def test_a_stored_figure_becomes_the_moving_one(book):
    code, said = book.build()
    assert code == 0, said
    page = book.page()
    assert "data:image/png" not in page
    assert '<figure class="explorable" id="small-shown" data-moves ' in page
    assert ">1 of NOUN</text>" in page
    assert "Now x is 1 &amp; &lt;b&gt;no&lt;/b&gt; more." in page
    script = book.flipbook().read_text("utf-8")
    assert script.startswith('explore.register("small-shown",')
    assert "2 of NOUN" in script
    assert "drawing the figures" in said


DIRECTIVE = "# Show\n\n```{explorable} small-shown small_figures\n```\n"


def test_a_directive_shows_one_too(book):
    book.write("show.md", DIRECTIVE)
    (book.folder / "show.ipynb").unlink()
    code, said = book.build()
    assert code == 0, said
    assert 'id="small-shown" data-moves ' in book.page()


def test_a_change_of_the_code_reaches_the_page_and_no_other_does(book):
    code, said = book.build()
    assert code == 0, said
    before = book.flipbook().read_bytes()
    code, said = book.build()
    assert code == 0
    assert "drawing the figures" not in said
    assert book.flipbook().read_bytes() == before
    book.write("small_figures.py", MODULE.replace("NOUN", "WORD"))
    code, said = book.build()
    assert code == 0, said
    assert ">1 of WORD</text>" in book.page()
    assert "2 of WORD" in book.flipbook().read_text("utf-8")


def test_a_change_of_a_style_sheet_reaches_the_site(book):
    style = book.folder / "out/html/_static/explore.css"
    code, said = book.build()
    assert code == 0, said
    written = style.read_text("utf-8")
    style.write_text("stale", "utf-8")
    other = "import utils.explore.page as page"
    other += "\npage.assets_digest = lambda: 'another'\n"
    book.write("conf.py", other + CONF)
    code, said = book.build()
    assert code == 0, said
    assert style.read_text("utf-8") == written


def test_a_module_that_left_with_its_figure_is_not_missed(book):
    code, said = book.build()
    assert code == 0, said
    book.notebook("<p>nothing</p>")
    (book.folder / "small_figures.py").unlink()
    code, said = book.build()
    assert code == 0, said


def test_a_figure_that_left_the_book_leaves_the_site(book):
    code, said = book.build()
    assert code == 0, said
    book.notebook("<p>nothing</p>")
    code, said = book.build()
    assert code == 0, said
    assert not book.flipbook().exists()


@pytest.mark.parametrize(
    ("module", "message"),
    [
        (MODULE.replace("return figure", "return None"), "draw must return"),
        (
            MODULE.replace("x}", "1 / (x - 2)}"),
            "'small-shown' failed at {'x': 2}: ZeroDivisionError",
        ),
        (MODULE.replace("2], 1", "2], 5"), "start 5 is not among"),
        (MODULE.replace("[0, 1, 2]", "range(1001)"), "than 1000 states"),
        (MODULE + MODULE.split("\n\n")[-1], "two explorables are named"),
        (MODULE.replace("small-shown", "small-other"), "'small-shown'"),
    ],
    ids=["none", "raises", "start", "many", "twice", "unknown"],
)
def test_a_figure_that_cannot_be_shown_stops_the_build(book, module, message):
    book.write("small_figures.py", module)
    code, said = book.build()
    assert code != 0
    assert message in said


def test_a_missing_module_stops_the_build(book):
    book.notebook(STORED.replace("small_figures", "nowhere_figures"))
    code, said = book.build()
    assert code != 0
    assert "cannot show explorable 'small-shown' of nowhere_figures" in said


def test_one_figure_twice_on_a_page_stops_the_build(book):
    book.notebook(STORED, STORED)
    code, said = book.build()
    assert code != 0
    assert "show shows explorable 'small-shown' twice" in said


def test_where_nothing_can_move_the_sentence_stands(book):
    book.write("show.md", DIRECTIVE)
    (book.folder / "show.ipynb").unlink()
    code, said = book.build("text")
    assert code == 0, said
    text = (book.folder / "out/text/show.txt").read_text("utf-8")
    assert "Now x is 1 & <b>no</b> more." in text


@pytest.mark.parametrize(
    "event", ["env-updated", "html-page-context", "build-finished"]
)
def test_after_a_build_that_was_killed_nothing_old_is_left(book, event):
    """Sphinx alone would keep the page with the picture of before."""
    assert book.build()[0] == 0
    book.write("small_figures.py", MODULE.replace("NOUN", "WORD"))
    assert book.build(KILLED_AT=event)[0] == 9
    site = book.folder / "out/html"
    (site / "index.html").write_text("<ht", "utf-8")  # killed as it wrote
    code, said = book.build()
    assert code == 0, said
    assert "1 of WORD" in book.page()
    assert "</html>" in (site / "index.html").read_text("utf-8")
    assert "show" in (site / "searchindex.js").read_text("utf-8")
    assert "no targets are out of date" in book.build()[1]
