"""Where a name in a table's code may break."""

from types import SimpleNamespace

import pytest

from utils.explore import breakable

CODE = '<code class="docutils literal notranslate"><span class="pre">'
NAME = "a_name_of_sixteen"
BROKEN = "a_<wbr>name_<wbr>of_<wbr>sixteen"


def page(code, around="table"):
    """A page with a name in code, as Sphinx writes it; more outside."""
    return (
        f"<h1>{NAME}</h1>\n<{around} class='{NAME}'>\n{NAME}"
        f"{CODE}{code}</span></code>\n</{around}>\n{NAME}"
    )


@pytest.mark.parametrize(
    ("name", "breaks"),
    [
        ("scaled_dot_product_mask", "scaled_|dot_|product_|mask"),
        ("nn.MultiheadAttention", "nn.|Multihead|Attention"),
        ("function(query, key)", "function(query, key)"),
        ("dot_product(query, key)", "dot_|product(|query, key)"),
        ("attention(causal=True)", "attention(|causal=|True)"),
        ("_1234567890_scores", "_1234567890_|scores"),
        ("folder/of/the/book", "folder/|of/|the/|book"),
        ("0.500000000000001", "0.500000000000001"),
        ("wellWithNaNInThere", "well|With|NaNIn|There"),
        ("fifteen_letters", "fifteen_letters"),
        ("sixteen__letters", "sixteen__|letters"),
    ],
)
def test_a_long_name_breaks_where_its_parts_meet(name, breaks):
    wanted = page(breaks.replace("|", "<wbr>"))
    assert breakable.with_places(page(name)) == wanted


def test_every_name_of_every_table_does():
    cells = f"{NAME} {NAME}</span></code>{CODE}{NAME}"
    wanted = cells.replace(NAME, BROKEN)
    written = breakable.with_places(page(cells) + page(NAME))
    assert written == page(wanted) + page(BROKEN)


def test_names_in_sentences_and_other_code_do_not():
    output = f"<table><tr><td><code class='x'>{NAME}</code></td></tr></table>"
    whole = page("plain") + page(NAME, around="p") + output
    assert breakable.with_places(whole) == whole


def test_it_joins_the_writing_of_pages_after_their_bodies():
    done = []

    def connect(*what, **how):
        done.append((what, how))

    safe = {"parallel_read_safe": True, "parallel_write_safe": True}
    assert breakable.setup(SimpleNamespace(connect=connect)) == safe
    (((event, handler), how),) = done
    assert event == "html-page-context"
    assert how["priority"] > 500
    context, empty = {"body": page(NAME)}, {}
    handler(None, "book/a", "page.html", context, None)
    handler(None, "search", "search.html", empty, None)
    assert context == {"body": page(BROKEN)}
    assert empty == {}
