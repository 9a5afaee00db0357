"""Which part of a chapter stands on which slide, and what is only said.

Headings start slides. On them stand formulas, lists, tables, cells with
their outputs, figures and the questions asked before a figure moves. The
prose goes into the speaker's notes. A cell's own `slideshow` metadata, as
JupyterLab and Notebook set it, comes before all of this.
"""

import ast
from dataclasses import dataclass, field

from utils.slides.blocks import blocks, lead

__all__ = ["Slide", "slides"]

MOST_LINES = 14  # of code and output that stand on one slide, in large type
HIDDEN = ("hide-", "remove-")
LEFT_OUT = {"Further reading"}
BY_BOLD_WORDS = {"What people get wrong here"}


@dataclass
class Slide:
    """One slide: its title, its cells in order, and the speaker's notes.

    `begins` is "slide" for a step to the right, "subslide" for one down.
    """

    title: str
    begins: str
    section: str = ""
    cells: list = field(default_factory=list)
    notes: list = field(default_factory=list)
    lines: int = 0
    holds: set = field(default_factory=set)

    def add(self, kind, cell, lines):
        """Put a cell on the slide; Markdown cells are given as text."""
        self.cells.append(cell)
        self.holds.add(kind)
        self.lines += lines


def slides(notebook):
    """Lay a chapter out as slides.

    Parameters
    ----------
    notebook : nbformat.NotebookNode

    Returns
    -------
    list of Slide
        None of them empty.
    """
    layout = _Layout()
    for cell in notebook.cells:
        layout.cell(cell)
    return layout.done()


class _Layout:
    def __init__(self):
        self.slides = [Slide("", "slide")]
        self.section = ""
        self.waiting = ""  # a sentence that announces the next block
        self.before = []  # what is said just before the next block
        self.answering = False  # what to look for is for the speaker alone

    @property
    def now(self):
        return self.slides[-1]

    def cell(self, cell):
        kind = cell.metadata.get("slideshow", {}).get("slide_type", "")
        tags = cell.metadata.get("tags", [])
        if kind == "skip" or any(tag.startswith(HIDDEN) for tag in tags):
            return
        if kind == "notes":
            self.now.notes.append(cell.source)
            self.before = []
        elif kind:
            self.asked(cell, kind)
        elif cell.cell_type == "code":
            self.code(cell)
        else:
            for block in blocks(cell.source):
                self.block(block)

    def asked(self, cell, kind):
        """The author says where the whole cell goes."""
        if kind in ("slide", "subslide"):
            self.begin("", kind)
        content = cell if cell.cell_type == "code" else cell.source
        self.now.add("asked", content, 0)

    def begin(self, title, begins="subslide"):
        """A new slide; what leads up to it is said there, not before."""
        moved = self.before if begins == "subslide" else []
        if moved:
            del self.now.notes[-len(moved) :]
        self.slides.append(Slide(title, begins, self.section))
        self.now.notes += moved
        self.waiting, self.before, self.answering = "", [], False

    def block(self, block):
        if block.kind == "heading":
            self.heading(block)
        elif self.section in LEFT_OUT:
            return
        elif block.kind == "details":
            self.now.notes.append(_opened(block.text))
            self.before = []
        elif block.kind == "bold":
            self.bold(block)
        elif block.kind == "text":
            self.text(block.text)
        elif self.answering or len(self.slides) == 2:
            self.now.notes.append(block.text)
            self.before = []
        else:
            self.show(block)

    def heading(self, block):
        self.before = []
        if block.level == 1:
            self.begin(block.title, "slide")
            return
        if block.level == 2:
            self.section = block.title
        self.begin(block.title, "slide" if block.level == 2 else "subslide")

    def bold(self, block):
        first = block.title.lower()
        if first.startswith("predict"):
            self.begin("Predict first")
            self.now.add("question", block.rest, 3)
        elif first == "the question":
            self.now.add("question", block.rest, 3)
        elif "look for" in first:
            self.now.notes.append(block.text)
            self.before, self.answering = [], True
        elif self.section in BY_BOLD_WORDS:
            self.before = []
            self.begin(block.title)
            self.text(block.rest)
        else:
            self.text(block.text)

    def text(self, text):
        """Prose is said, but an exercise is read."""
        if self.section == "Exercises":
            self.now.add("text", text, 1 + len(text) // 75)
            return
        self.now.notes.append(text)
        if not self.answering:
            self.before.append(text)
        announced = lead(text)
        self.waiting = announced if len(announced) < 160 else ""

    def show(self, block):
        lines = 3 if block.kind == "formula" else block.text.count("\n") + 1
        self.place(block.kind, block.text, max(lines, len(block.text) // 75))

    def code(self, cell):
        shown = _figure(cell)
        if _only_imports(cell.source) or self.section in LEFT_OUT:
            return
        if shown:
            if self.now.title != "Predict first" or len(self.now.cells) != 1:
                self.begin("")
            self.now.add("figure", cell, MOST_LINES)
        elif not any("html" in kind for kind in _kinds(cell)):
            lines = cell.source.count("\n") + 1 + _printed(cell)
            self.place("code", cell, lines)

    def place(self, kind, content, lines):
        """On this slide if there is room, else on one below."""
        full = self.now.lines + lines > MOST_LINES
        busy = {"code": {"code", "figure"}}.get(kind, {"code", "figure"})
        if self.now.holds & busy or (full and self.now.cells):
            waiting = self.waiting
            self.begin("")
            self.waiting = waiting
        if self.waiting:
            self.now.add("lead", self.waiting, 1)
            self.waiting = ""
        self.now.add(kind, content, lines)
        self.before = []

    def done(self):
        """Drop what stayed empty; what was to be said there is said next."""
        kept, notes, begins = [], [], None
        for slide in self.slides:
            if slide.begins == "slide":
                begins = "slide"
            if slide.cells:
                slide.notes = notes + slide.notes
                slide.begins = begins or slide.begins
                kept.append(slide)
                notes, begins = [], None
            else:
                notes += slide.notes
        if kept:
            kept[-1].notes += notes
        for slide in kept:
            slide.title = slide.title or slide.section
        return kept


def _figure(cell):
    """Whether the cell shows one of the book's figures."""
    return any(
        "data-explorable=" in output.get("data", {}).get("text/html", "")
        for output in cell.outputs
    )


def _kinds(cell):
    return {kind for out in cell.outputs for kind in out.get("data", {})}


def _printed(cell):
    texts = [
        out.get("text", "") or out.get("data", {}).get("text/plain", "")
        for out in cell.outputs
    ]
    return sum(text.count("\n") + bool(text) for text in texts)


def _only_imports(source):
    try:
        body = ast.parse(source).body
    except SyntaxError:  # a cell with a magic
        return False
    return all(isinstance(n, ast.Import | ast.ImportFrom) for n in body)


def _opened(details):
    """A solution as plain text for the notes."""
    words = details.replace("<details>", "").replace("</details>", "")
    return words.replace("<summary>", "**").replace("</summary>", ".**")
