"""What nbval leaves open, and what makes a notebook a chapter of this book.

nbval runs every cell and compares what it prints. It compares nothing where
the execution count is null, skips cells that are marked, takes stderr for
stdout, and never looks at a picture: the tests below do.
"""

import base64
import html
import importlib
import io
import re
from html.parser import HTMLParser

import numpy as np
import pytest
import yaml
from PIL import Image

from canonical_notebook import canonical
from utils.explore import find

MOST_LINES, MOST_COLUMNS = 12, 79
# one step of 255 is the most that another CPU's rounding changes
PIXEL_TOLERANCE = 2
ORDER = (
    r"What people get wrong",
    r"Summary",
    r"Exercises",
    r"Check yourself",
    r"Further reading",
)


def place(notebook, cell):
    return f"{notebook.name}, cell {cell['place']} ({cell['id']})"


def texts(output):
    """What an output shows in words or HTML, pictures left out."""
    data = output.get("data", {})
    parts = [output.get("text", ""), *data.values()]
    joined = "\n".join("".join(part) for part in parts)
    return re.sub(r"data:image/png;base64,[\w+/=]+", "", joined)


# --- the set of chapters ---------------------------------------------------


def test_the_book_lists_exactly_the_notebooks_that_exist(notebooks, root):
    toc = yaml.safe_load((root / "_toc.yml").read_text("utf-8"))
    listed = set()

    def collect(node):
        if isinstance(node, dict):
            listed.update(
                value for key, value in node.items() if key in ("file", "root")
            )
            node = list(node.values())
        if isinstance(node, list):
            for child in node:
                collect(child)

    collect(toc)
    for entry in listed:
        found = [root / f"{entry}{end}" for end in ("", ".md", ".ipynb")]
        assert any(path.is_file() for path in found), f"_toc.yml: no {entry}"
    chapters = {entry.removesuffix(".ipynb") for entry in listed}
    chapters -= {f"book/{page.stem}" for page in root.glob("book/*.md")}
    assert chapters == {f"book/{one.name}" for one in notebooks}


def test_the_landing_page_names_every_chapter_in_order(notebooks, root):
    text = (root / "book" / "intro.md").read_text("utf-8")
    named = re.findall(r"^(\d+)\. \[[^\]]+\]\((.+)\.ipynb\):", text, re.M)
    wanted = [(str(int(one.name[:2])), one.name) for one in notebooks]
    assert named == wanted, "the list in book/intro.md"


def test_a_chapter_is_named_like_its_helper(notebook, root):
    assert re.fullmatch(r"\d\d_[a-z][a-z_]*", notebook.name)
    idea = notebook.name[3:]
    figures = root / "utils" / "figures"
    helpers = [figures / f"{idea}.py", figures / idea / "__init__.py"]
    found = [helper for helper in helpers if helper.is_file()]
    assert len(found) == 1, f"{notebook.name} needs one of {helpers}"


# --- the stored form -------------------------------------------------------


@pytest.mark.bug(id="B02")
@pytest.mark.bug(id="B12")
@pytest.mark.bug(id="B36")
def test_the_bytes_are_canonical(notebook):
    assert canonical(notebook.text) == notebook.text, "run make refresh"


@pytest.mark.bug(id="B01")
@pytest.mark.bug(id="B02")
def test_nothing_is_stored_that_needs_a_kernel(notebook):
    assert "vnd.jupyter.widget" not in notebook.text
    assert "widgets" not in notebook.raw["metadata"]


@pytest.mark.bug(id="B14")
def test_every_cell_was_run_once_in_order(notebook):
    counts = [cell["execution_count"] for cell in notebook.code()]
    assert counts == list(range(1, len(counts) + 1))


@pytest.mark.bug(id="B13")
def test_no_mark_hides_a_cell_from_nbval(notebook):
    for cell in notebook.code():
        tags = " ".join(cell["metadata"].get("tags", []))
        marked = re.search(r"nbval|validate_ignore", tags, re.IGNORECASE)
        assert not marked, place(notebook, cell)
        assert not re.search(r"#.*(NBVAL_|PYTEST_VALIDATE)", cell["source"]), (
            place(notebook, cell)
        )


# --- outputs ---------------------------------------------------------------


@pytest.mark.bug(id="B15")
def test_no_cell_fails_unless_it_says_so(notebook):
    for cell, output in notebook.outputs():
        if output["output_type"] == "error":
            tags = cell["metadata"].get("tags", [])
            assert "raises-exception" in tags, place(notebook, cell)


@pytest.mark.bug(id="B10")
def test_nothing_is_written_to_stderr(notebook):
    for cell, output in notebook.outputs():
        assert output.get("name") != "stderr", place(notebook, cell)


@pytest.mark.bug(id="B44")
def test_no_cell_prints_in_two_pieces(notebook):
    for cell in notebook.code():
        streams = [
            output
            for output in cell["outputs"]
            if output["output_type"] == "stream"
        ]
        assert len(streams) <= 1, place(notebook, cell)


@pytest.mark.bug(id="B06")
@pytest.mark.bug(id="B39")
@pytest.mark.parametrize(
    "pattern",
    [r"\b0x[0-9A-Fa-f]{6,}", r"\bnp\.[a-z]+_?\d*\(", r"\x1b\["],
    ids=["memory address", "NumPy scalar", "terminal colour"],
)
def test_no_output_wobbles(notebook, pattern):
    for cell, output in notebook.outputs():
        found = re.search(pattern, texts(output))
        assert not found, f"{place(notebook, cell)} shows {found.group()}"


# --- cells -----------------------------------------------------------------


@pytest.mark.bug(id="B23")
def test_cells_are_short(notebook):
    for cell in notebook.code():
        lines = cell["source"].split("\n")
        assert len(lines) <= MOST_LINES, f"{place(notebook, cell)}: a helper?"
        widest = max(lines, key=len)
        assert len(widest) <= MOST_COLUMNS, place(notebook, cell)


@pytest.mark.bug(id="B05")
def test_no_semicolon_silences_a_value(notebook):
    for cell in notebook.code():
        for line in cell["source"].split("\n"):
            found = re.search(r";\s*(#.*)?$", line)
            assert not found, place(notebook, cell)


# --- figures ---------------------------------------------------------------


class Figures(HTMLParser):
    """Collects the figures of an HTML output, and pictures outside one."""

    def __init__(self, text):
        super().__init__()
        self.figures, self.loose, self.depth = [], 0, 0
        self.in_caption = False
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        if tag == "figure":
            self.depth += 1
            self.figures.append({**attributes, "caption": ""})
        elif tag == "figcaption":
            self.in_caption = True
        elif tag in ("img", "svg", "canvas", "iframe", "video"):
            if self.depth and tag == "img":
                self.figures[-1].update(attributes)
            else:
                self.loose += 1

    def handle_endtag(self, tag):
        if tag == "figure":
            self.depth -= 1
        elif tag == "figcaption":
            self.in_caption = False

    def handle_data(self, data):
        if self.in_caption:
            self.figures[-1]["caption"] += data


def figures(notebook):
    """Pairs of a cell and a figure that it shows."""
    for cell, output in notebook.outputs():
        text = "".join(output.get("data", {}).get("text/html", ""))
        for figure in Figures(text).figures:
            yield cell, figure


def explorable_of(figure):
    importlib.import_module(figure["data-module"])
    return find(figure["data-explorable"])


def pixels(png):
    return np.asarray(Image.open(io.BytesIO(png)).convert("RGBA"), dtype=int)


@pytest.mark.bug(id="B21")
def test_every_picture_is_an_explorable_with_its_sentence(notebook):
    for cell, output in notebook.outputs():
        kinds = [kind for kind in output.get("data", {}) if "image/" in kind]
        assert not kinds, f"{place(notebook, cell)} shows a bare {kinds}"
        text = "".join(output.get("data", {}).get("text/html", ""))
        assert not Figures(text).loose, place(notebook, cell)
    for cell, figure in figures(notebook):
        assert figure.get("data-explorable"), place(notebook, cell)
        assert figure.get("alt", "").strip(), place(notebook, cell)
        assert figure["caption"].strip(), place(notebook, cell)


@pytest.mark.bug(id="B08")
def test_every_stored_picture_is_what_its_explorable_draws_now(notebook):
    for cell, figure in figures(notebook):
        where = f"{place(notebook, cell)}, {figure['data-explorable']}"
        explorable = explorable_of(figure)
        start = explorable.start()
        sentence = explorable.sentence(**start)
        assert figure["caption"] == sentence, where
        assert figure["alt"] == sentence, where
        head, _, code = figure["src"].partition(",")
        assert head == "data:image/png;base64", where
        stored = pixels(base64.b64decode(code, validate=True))
        drawn = pixels(explorable.png(**start))
        assert stored.shape == drawn.shape, f"{where}: run make refresh"
        worst = np.abs(stored - drawn).max()
        assert worst <= PIXEL_TOLERANCE, f"{where}: run make refresh"


def test_fact_B15_every_chapter_has_a_figure_that_moves(notebook):
    idea = notebook.name[3:]
    moving = [
        figure["data-explorable"]
        for _, figure in figures(notebook)
        if figure["data-module"].split(".")[:3] == ["utils", "figures", idea]
        and explorable_of(figure).sliders
    ]
    assert moving, f"{notebook.name} has no explorable with a slider"


@pytest.mark.bug(id="B18")
def test_no_figure_is_shown_twice_on_a_page(notebook):
    shown = [figure["data-explorable"] for _, figure in figures(notebook)]
    assert len(shown) == len(set(shown)), shown


# --- prose -----------------------------------------------------------------


def headings(notebook):
    """Triples (level, text, place) of the Markdown headings."""
    for cell in notebook.markdown():
        text = re.sub(r"```.*?```", "", cell["source"], flags=re.DOTALL)
        for marks, words in re.findall(r"^(#+) +(.+)$", text, re.MULTILINE):
            yield len(marks), words.strip(), cell["place"]


@pytest.mark.bug(id="B39")
def test_a_chapter_begins_with_its_title(notebook):
    first = notebook.cells[0]
    assert first["cell_type"] == "markdown"
    title = first["source"].split("\n")[0]
    assert title.startswith("# "), title
    assert "$" not in title, title
    levels = [level for level, _, _ in headings(notebook)]
    assert levels.count(1) == 1, "one title"
    for before, after in zip(levels, levels[1:], strict=False):
        assert after <= before + 1, "a heading skips a level"


def test_a_chapter_says_what_it_needs_and_how_long_it_takes(notebook):
    cells = notebook.cells
    start = cells[: [cell["cell_type"] for cell in cells].index("code")]
    words = "\n".join(cell["source"] for cell in start)
    for needed in (r"you will need", r"you will learn", r"\d+ minutes"):
        assert re.search(needed, words, re.IGNORECASE), f"{needed!r}?"


def test_a_chapter_keeps_the_order_of_the_book(notebook):
    words = [text for level, text, _ in headings(notebook) if level == 2]
    found = []
    for pattern in ORDER:
        matching = [
            i for i, text in enumerate(words) if re.match(pattern, text)
        ]
        assert len(matching) == 1, f"one heading {pattern!r} in {words}"
        found += matching
    assert found == sorted(found), words
    assert found[-1] == len(words) - 1, "further reading comes last"


def exercises(notebook):
    """The cells of each exercise, by its heading."""
    marks = [
        (text, start)
        for level, text, start in headings(notebook)
        if level == 3 and re.match(r"(Exercise )?\d\b", text)
    ]
    ends = [start for _, _, start in headings(notebook)]
    for text, start in marks:
        end = min(
            (other for other in ends if other > start),
            default=len(notebook.cells),
        )
        yield text, notebook.cells[start:end]


def test_three_exercises_each_with_its_solution(notebook):
    found = dict(exercises(notebook))
    assert len(found) == 3, list(found)
    for text, cells in found.items():
        words = "\n".join(cell["source"] for cell in cells)
        assert re.search(r"\d+ minutes?", text + words), f"{text}: minutes?"
        in_words = "<details" in words
        in_code = any(
            "hide-cell" in cell["metadata"].get("tags", []) for cell in cells
        )
        assert in_words or in_code, f"{text}: no solution"


def test_some_solution_is_code_that_runs(notebook):
    solutions = [
        cell
        for _, cells in exercises(notebook)
        for cell in cells
        if "hide-cell" in cell["metadata"].get("tags", [])
    ]
    assert solutions
    for cell in solutions:
        assert cell["cell_type"] == "code", place(notebook, cell)


def test_every_details_is_closed_and_has_a_summary(notebook):
    for cell in notebook.markdown():
        text = cell["source"]
        opened = len(re.findall(r"<details\b", text))
        assert opened == text.count("</details>"), place(notebook, cell)
        assert opened == text.count("<summary>"), place(notebook, cell)


@pytest.mark.bug(id="B18")
def test_prose_needs_no_book_builder(notebook):
    """Fences and roles read as noise in JupyterLab and on a code host."""
    for cell in notebook.markdown():
        text = cell["source"]
        for pattern in (
            r"^\s*(`{3,}|:{3,})\s*\{",
            r"\{[a-z:-]+\}`",
            r"^\([\w-]+\)=$",
        ):
            found = re.search(pattern, text, re.MULTILINE)
            assert not found, f"{place(notebook, cell)}: {found.group()}"


@pytest.mark.bug(id="B17")
def test_links_point_to_files_that_exist(notebook):
    for cell in notebook.markdown():
        text = cell["source"]
        targets = re.findall(r"\]\(<?([^)\s>]+)", text)
        targets += re.findall(r"(?:href|src)=\"([^\"]+)\"", text)
        for target in map(html.unescape, targets):
            if re.match(r"[a-z]+:|#", target):
                continue
            path = notebook.path.parent / re.split(r"[#?]", target)[0]
            assert path.is_file(), f"{place(notebook, cell)}: {target}"
