"""VS Code's rules for a stored notebook, each with the reason it has.

VS Code draws outputs and Markdown in a view of its own, cut off from the
folder and from JupyterLab's parts. What no kernel draws again has to be whole
as it is stored. That Markdown holds no fences is asked in test_notebooks.py.
"""

import io
import re
from base64 import b64decode
from html.parser import HTMLParser

import pytest
from markdown_it import MarkdownIt
from PIL import Image

# Drawn by VS Code itself; any other kind needs an extension or a kernel.
# It leaves a widget's view unanswered: microsoft/vscode-jupyter#4404, #17518.
KINDS = {"text/plain", "text/html"}
# `notebook.output.textLineLimit`: what is longer is cut, with a link
MOST_LINES = 30
# What is left of a Markdown cell in a folder that the reader has not said to
# trust, as of VS Code's notebook/index.ts in markdown-language-features.
TAGS = {
    *("a", "abbr", "b", "bdo", "blockquote", "br", "caption", "cite", "code"),
    *("col", "colgroup", "dd", "del", "details", "dfn", "div", "dl", "dt"),
    *("em", "figcaption", "figure", "h1", "h2", "h3", "h4", "h5", "h6", "hr"),
    *("i", "img", "ins", "kbd", "label", "li", "mark", "ol", "p", "pre", "q"),
    *("rp", "rt", "ruby", "samp", "small", "source", "span", "strike"),
    *("strong", "sub", "summary", "sup", "table", "tbody", "td", "tfoot"),
    *("th", "thead", "time", "tr", "tt", "u", "ul", "var", "video", "wbr"),
}
# KaTeX, which VS Code uses, numbers and names nothing across formulas
# (KaTeX/KaTeX#2003, microsoft/vscode#177717), and a macro ends with its cell
NO_KATEX = re.compile(
    r"\\(label|ref|eqref|require|newcommand|def|let|DeclareMathOperator"
    r"|tag|notag|nonumber|begin\{(eqnarray|multline|flalign)\*?\})(?![A-Za-z])"
)


class Html(HTMLParser):
    """The tags of a text, with their attributes, in order."""

    def __init__(self, text):
        super().__init__()
        self.tags = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))


def place(notebook, cell):
    return f"{notebook.name}, cell {cell['place']} ({cell['id']})"


def bundles(notebook):
    for cell, output in notebook.outputs():
        if "data" in output:
            yield cell, {k: "".join(v) for k, v in output["data"].items()}


def html_outputs(notebook):
    for cell, data in bundles(notebook):
        if "text/html" in data:
            yield place(notebook, cell), Html(data["text/html"]).tags


def markdown_tokens(notebook):
    parser = MarkdownIt("commonmark", {"html": True}).enable("table")
    for cell in notebook.markdown():
        for token in parser.parse(cell["source"]):
            for part in (token, *(token.children or ())):
                yield place(notebook, cell), part


@pytest.mark.bug(id="B12")
def test_it_finds_a_python_kernel(notebook):
    """VS Code offers the kernels of this language, and picks by name."""
    kernel = notebook.raw["metadata"]["kernelspec"]
    assert (kernel["language"], kernel["name"]) == ("python", "python3")


def test_every_output_is_of_a_kind_that_vs_code_draws_itself(notebook):
    for cell, data in bundles(notebook):
        assert set(data) <= KINDS, place(notebook, cell)
        assert "text/plain" in data, place(notebook, cell)


@pytest.mark.bug(id="B02")
def test_no_state_of_a_widget_is_stored(notebook):
    """VS Code does not read it back: microsoft/vscode-jupyter#4404."""
    assert "widgets" not in notebook.raw["metadata"]


def test_no_output_brings_a_script(notebook):
    """There is no require.js before a kernel runs, and no trust either.

    microsoft/vscode#132557, microsoft/vscode-jupyter#6404.
    """
    for where, tags in html_outputs(notebook):
        for tag, attributes in tags:
            assert tag not in {"script", "iframe", "object", "embed"}, where
            assert not [a for a in attributes if a.startswith("on")], where


def test_no_output_loads_a_file(notebook):
    """The view knows neither the folder nor a way out of it.

    A link that a reader follows is another thing, if it is a whole address.
    """
    for where, tags in html_outputs(notebook):
        for tag, attributes in tags:
            for name in ("src", "srcset", "href", "data", "poster"):
                value = attributes.get(name, "data:")
                if tag == "a" and value.startswith("https://"):
                    continue
                assert value.startswith("data:"), f"{where}: {name}={value}"


def test_a_picture_brings_its_own_ground(notebook):
    """In a dark theme, dark ink on nothing cannot be read."""
    for where, tags in html_outputs(notebook):
        for tag, attributes in tags:
            if tag == "img":
                code = attributes["src"].partition("base64,")[2]
                image = Image.open(io.BytesIO(b64decode(code)))
                lowest = image.convert("RGBA").getextrema()[3][0]
                assert lowest == 255, f"{where}: transparent"


def test_no_output_is_so_long_that_it_is_cut(notebook):
    for cell, output in notebook.outputs():
        plain = output.get("data", {}).get("text/plain", "")
        text = "".join(output.get("text", plain))
        lines = text.count("\n") + 1
        assert lines <= MOST_LINES, f"{place(notebook, cell)}: {lines} lines"


def test_markdown_uses_tags_that_stay_without_trust(notebook):
    for where, token in markdown_tokens(notebook):
        if token.type in ("html_block", "html_inline"):
            found = {tag for tag, _ in Html(token.content).tags}
            assert found <= TAGS, f"{where}: {found - TAGS}"


def test_nothing_inside_a_tag_waits_to_be_formatted(notebook):
    """Mathematics and Markdown need a blank line after a tag of HTML."""
    for where, token in markdown_tokens(notebook):
        if token.type == "html_block":
            text = re.sub(r"<[^>]+>", "", token.content)
            found = re.search(r"\$|\*\*|`|\]\(", text)
            assert not found, f"{where}: {found.group()} in {text.strip()!r}"


def test_mathematics_keeps_to_what_katex_knows(notebook):
    for cell in notebook.markdown():
        found = NO_KATEX.search(cell["source"])
        assert not found, f"{place(notebook, cell)}: {found.group()}"


@pytest.mark.parametrize(
    ("pattern", "why"),
    [
        (r"\\\(|\\\[", "VS Code knows mathematics by $ alone"),
        (r"(?<![\\$])\$[ \t][^$\n]*\$", "a space after $ opens nothing"),
        (r"\]\(attachment:", "not shown on a code host or in Colab"),
    ],
)
def test_markdown_avoids(notebook, pattern, why):
    for cell in notebook.markdown():
        text = re.sub(r"`[^`]*`|\$[^\s$][^$]*\$", "", cell["source"])
        found = re.search(pattern, text)
        assert not found, f"{place(notebook, cell)}: {why}: {found.group()}"


def test_no_cell_asks_for_a_frontend_that_vs_code_is_not(notebook):
    """Comms and IPython.display.Javascript reach JupyterLab's own page."""
    pattern = (
        r"%matplotlib\s+(notebook|widget)|\bJavascript\(|require\("
        r"|\bComm\(|IPython\.notebook"
    )
    for cell in notebook.code():
        found = re.search(pattern, cell["source"])
        assert not found, f"{place(notebook, cell)}: {found.group()}"
