"""No line breaks between a formula and what touches it."""

from types import SimpleNamespace

import pytest
from docutils import nodes

from utils.explore import unbroken


def sentence(*parts):
    """A paragraph; what stands between dollars is a formula."""
    paragraph = nodes.paragraph()
    for part in parts:
        if isinstance(part, nodes.Node):
            paragraph += part
        elif part.startswith("$"):
            paragraph += nodes.math(part[1:-1], part[1:-1])
        else:
            paragraph += nodes.Text(part)
    return paragraph


def kept(paragraph):
    """Its text, with bars around what is kept together."""
    return "".join(
        f"|{child.astext()}|"
        if isinstance(child, nodes.inline)
        else child.astext()
        for child in paragraph.children
    )


@pytest.mark.parametrize(
    ("parts", "together"),
    [
        (["for all ", "$d$", ". Then"], "for all |d.| Then"),
        (["of (", "$N$", " tokens)"], "of |(N| tokens)"),
        (["so (", "$N$", "), or"], "so |(N),| or"),
        (["$N$", "-th of all"], "|N-th| of all"),
        (["$N$"], "N"),
        (["the ", "$N$", " tokens"], "the N tokens"),
        (["the\n", "$N$", "\ntokens"], "the\nN\ntokens"),
        (
            ["all\N{NO-BREAK SPACE}", "$N$", " of"],
            "|all\N{NO-BREAK SPACE}N| of",
        ),
        (
            ["$a$", "\N{NO-BREAK SPACE}", "$b$", " of"],
            "|a\N{NO-BREAK SPACE}b| of",
        ),
        (["in ", "$a$", "/", "$b$", " of"], "in |a/b| of"),
        (["no formula, ", nodes.emphasis("", "so")], "no formula, so"),
        (
            [
                nodes.strong("", "so"),
                "$a$",
                nodes.literal("", "b"),
                "$c$",
                ".",
            ],
            "soab|c.|",
        ),
    ],
)
def test_what_touches_is_kept_together(parts, together):
    paragraph = sentence(*parts)
    before = paragraph.astext()
    unbroken.keep_together(paragraph)
    assert kept(paragraph) == together
    assert paragraph.astext() == before
    assert all(child.parent is paragraph for child in paragraph.children)
    for span in paragraph.findall(nodes.inline):
        assert span["classes"] == ["unbroken"]


def test_every_sentence_is_looked_at_and_code_and_displays_are_not():
    page = nodes.section()
    page += sentence("so ", "$a$", ".")
    page += nodes.math_block("", "x")
    page += sentence("so ", nodes.literal("", "a"), ".")
    page += sentence("so ", nodes.emphasis("", "", *sentence("$b$", "!")))
    unbroken.keep_together(page)
    assert [s.astext() for s in page.findall(nodes.inline)] == ["a.", "b!"]


@pytest.mark.parametrize(("written", "spans"), [("html", 1), ("text", 0)])
def test_only_pages_of_html_are_changed(written, spans):
    done = []
    app = SimpleNamespace(
        builder=SimpleNamespace(format=written),
        connect=lambda *what: done.append(what),
    )
    safe = {"parallel_read_safe": True, "parallel_write_safe": True}
    assert unbroken.setup(app) == safe
    ((event, handler),) = done
    assert event == "doctree-resolved"
    page = sentence("$a$", ".")
    handler(app, page, "book/a")
    assert len(list(page.findall(nodes.inline))) == spans
