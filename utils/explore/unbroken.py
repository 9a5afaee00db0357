"""Sphinx extension: what touches a formula stays on its line.

Browsers may break a line on either side of a formula, as on either side of a
picture. A full stop then stands at the start of a line, or a bracket at the
end of one. A word joiner would forbid it, by CSS Text Level 3, but not in
Chromium; a span that does not wrap does.
"""

import re

from docutils import nodes

__all__ = ["keep_together"]

CLASS = "unbroken"  # its style is in lean.css
SPACE = " \t\r\n"  # not the one that forbids a break
WORD_OR_SPACE = re.compile(f"[^{SPACE}]+|[{SPACE}]+")


def setup(app):
    """Register with Sphinx."""
    app.connect("doctree-resolved", keep_together_on_page)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def keep_together_on_page(app, doctree, docname):
    """Keep the formulas of a page with what touches them."""
    if app.builder.format == "html":
        keep_together(doctree)


def keep_together(doctree):
    """Put each formula in a sentence into one span with what touches it.

    Parameters
    ----------
    doctree : docutils.nodes.Node
        Changed in place: what stands between two spaces and has a formula
        in it comes into an `inline` of class `unbroken`.
    """
    sentences = {id(f.parent): f.parent for f in doctree.findall(nodes.math)}
    for sentence in sentences.values():
        kept, touching = [], []
        for part in _parts(sentence.children):
            is_word = isinstance(part, nodes.Text) and part.strip(SPACE)
            if is_word or isinstance(part, nodes.math):
                touching.append(part)
            else:
                kept += [*_as_one(touching), part]
                touching = []
        sentence.children = []
        sentence += [*kept, *_as_one(touching)]


def _parts(children):
    """The children, with every text cut into words and spaces."""
    for child in children:
        if isinstance(child, nodes.Text):
            yield from map(nodes.Text, WORD_OR_SPACE.findall(child))
        else:
            yield child


def _as_one(touching):
    """In a span, if a formula and something else are among them."""
    if len(touching) > 1:
        return [nodes.inline("", "", *touching, classes=[CLASS])]
    return touching
