"""Sphinx extension: in a table, a long name in code breaks at its parts.

A cell is often narrower than `F.scaled_dot_product_attention`, and a browser
then breaks the name between any two letters. The search index is made from
the page's tree and keeps whole names; only the written page gets the places.
"""

import re

__all__ = ["with_places"]

TABLE = re.compile(r"<table\b.*?</table>", re.DOTALL)
CODE = re.compile(r'<code class="[^"]*\bliteral\b.*?</code>', re.DOTALL)
# a tag is passed over; a shorter word has room in any cell
TAG_OR_LONG_WORD = re.compile(r"<[^>]*>|[^<\s]{16,}")
# after a sign, or before a capital
MEETING = re.compile(r"(?<=[._/(=])(?=[a-zA-Z])|(?<=[a-z])(?=[A-Z][a-z])")
PLACE = "<wbr>"


def setup(app):
    """Register with Sphinx."""
    # after the extensions that write the page's body
    app.connect("html-page-context", add_places, priority=600)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def add_places(app, pagename, templatename, context, doctree):
    """Let the names in the tables of a page break."""
    if context.get("body"):
        context["body"] = with_places(context["body"])


def with_places(body):
    """Mark in HTML where a name in a table's code may break.

    Parameters
    ----------
    body : str
        Of a page, as Sphinx writes it.

    Returns
    -------
    str
        The same text, with `<wbr>` between the parts of long names.
    """
    return TABLE.sub(lambda table: CODE.sub(_in_code, table[0]), body)


def _in_code(code):
    return TAG_OR_LONG_WORD.sub(_in_word, code[0])


def _in_word(found):
    is_tag = found[0].startswith("<")
    return found[0] if is_tag else MEETING.sub(PLACE, found[0])
