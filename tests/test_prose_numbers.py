"""Every number in prose was computed: a cell of the same notebook printed it.

Decimals, percentages and whole numbers from 1,000 on are looked for in the
Markdown. Each must be printed by a cell of that notebook (or be the rounding
of a number printed there), be written in its code as an input, or be listed
with a reason in prose_constants.json. Years are left alone.
"""

import ast
import json
import re
from decimal import Decimal
from pathlib import Path

import pytest
from IPython.core.inputtransformer2 import TransformerManager

from tests.test_teaching import said, state_links

HERE = Path(__file__).resolve().parent
CONSTANTS = json.loads((HERE / "prose_constants.json").read_text("utf-8"))

RAISED = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "0123456789-")
NUMBER = re.compile(
    r"""
    (?<![\w.])                                  # not inside L5H11 or 2.5.1
    (?P<sign>(?<![\d)\]}])[-−])?
    (?P<digits>\d{1,3}(?:[,\u202f\u2009]\d{3})+(?!\d)|\d+)
    (?P<decimals>\.\d*)?
    (?!\.?\d)
    (?:[eE](?P<e>[-+]?\d+)
      |\s*[×·]\s*10(?:\^\{?(?P<power>[-−]?\d+)\}?|(?P<raised>[⁰¹²³⁴⁵⁶⁷⁸⁹⁻]+))
    )?
    (?P<percent>\s*\\?%)?
    """,
    re.VERBOSE,
)
NOT_PROSE = re.compile(
    r"""
    <!--.*?-->                       # comments
    |\]\([^)]*\)                     # link and image targets
    |(?:https?://|doi:|arXiv:)\S+    # addresses and identifiers
    |\b\w+="[^"]*"                   # HTML attributes
    |\b\d+(?:\.\d+){2,}|Python\ 3\.\d+  # versions, sections: 2.5.1
    """,
    re.VERBOSE | re.DOTALL,
)


class Number:
    """A number as it is written: its value and its last digit's worth."""

    def __init__(self, match):
        digits = re.sub(r"\D", "", match["digits"])
        decimals = (match["decimals"] or "").lstrip(".")
        power = match["e"] or match["power"] or match["raised"] or "0"
        power = int(power.translate(RAISED).replace("−", "-"))
        percent = match["percent"] is not None
        value = Decimal(f"{digits}.{decimals or 0}").scaleb(power)
        self.text = match.group().strip().rstrip(".")
        self.place = match.start()
        self.value = -value if match["sign"] else value
        self.unit = Decimal(1).scaleb(power - len(decimals))
        self.percent = percent
        self.is_decimal = bool(decimals)
        self.is_year = len(match["digits"]) == 4 and 1900 <= value <= 2100

    def matters(self):
        """Tell whether somebody must have computed this number."""
        if self.is_decimal or self.percent:
            return True
        return abs(self.value) >= 1000 and not self.is_year

    def rounds(self, other):
        """Tell whether this is `other`, rounded to the digits written."""
        readings = [(self.value, self.unit)]
        if self.percent and not other.percent:
            readings.append((self.value / 100, self.unit / 100))
        return any(
            abs(value - other.value) <= unit / 2
            and other.unit <= unit
            or value == other.value
            for value, unit in readings
        )


def numbers(text):
    """Every number in a text, from `0.47` over `1,024` to `6.0×10⁻⁸`."""
    return [Number(match) for match in NUMBER.finditer(text)]


def prose(markdown):
    """Markdown with what is not prose blanked out, places kept."""

    def blank(match):
        return " " * len(match.group())

    text = NOT_PROSE.sub(blank, markdown)
    text = text.replace("{,}", ",  ").replace(r"\,", "\u2009 ")
    text = re.sub(r"(?<=\d)([,\u2009])( +)(?=\d{3})", r"\1", text)
    text = text.replace(r"\times", "×").replace(r"\cdot", "·")
    return re.sub(r"\\[A-Za-z]+", blank, text)


def sentence(text, place):
    """The sentence around a place in a text."""
    start = max(text.rfind(mark, 0, place) for mark in (". ", "\n\n", "? "))
    end = re.compile(r"[.?!](?:\s|$)|\n\n").search(text, place)
    return " ".join(text[start + 1 : end.end() if end else None].split())


def printed(notebook):
    """Every number that a cell of the notebook printed."""
    found = []
    for _, output in notebook.outputs():
        text = output.get("text", output.get("data", {}).get("text/plain"))
        found += numbers("".join(text or ""))
    return found


def as_python(source):
    """A cell whose lines with ! and % are calls, as IPython runs them."""
    return TransformerManager().transform_cell(source)


def typed(notebook):
    """The values of the literals in the notebook's code."""
    return {
        Decimal(repr(node.value))
        for cell in notebook.code()
        for node in ast.walk(ast.parse(as_python(cell["source"])))
        if isinstance(node, ast.Constant)
        and type(node.value) in (int, float)
        and abs(node.value) < float("inf")
    }


def uncomputed(texts, shown, inputs):
    """Each number of the texts that neither a cell nor the code holds.

    Yields
    ------
    where, number, sentence
    """
    for where, text in texts:
        clean = prose(text)
        for number in numbers(clean):
            if not number.matters() or abs(number.value) in inputs:
                continue
            if number.percent and abs(number.value) / 100 in inputs:
                continue
            if not any(number.rounds(other) for other in shown):
                yield where, number, sentence(clean, number.place)


def check(name, texts, shown, inputs):
    reasons = {
        numbers(text)[0].value: text for text in CONSTANTS.get(name, {})
    }
    loose, used = [], set()
    for where, number, words in uncomputed(texts, shown, inputs):
        if number.value in reasons:
            used.add(number.value)
        else:
            loose.append(f"{name}, {where}: {number.text} in “{words}”")
    assert not loose, "no cell printed\n" + "\n".join(loose)
    unused = [text for value, text in reasons.items() if value not in used]
    assert not unused, f"prose_constants.json: {name} needs no {unused}"


def test_prose_of_a_chapter(notebook):
    texts = [
        (f"cell {cell['place']}", cell["source"])
        for cell in notebook.markdown()
    ]
    check(notebook.name, texts, printed(notebook), typed(notebook))


def pages():
    return sorted((HERE.parent / "book").glob("*.md"))


@pytest.mark.parametrize("page", pages(), ids=lambda page: page.stem)
def test_prose_of_a_page(page, notebooks):
    """A page may say what a chapter prints, or a figure that it links to."""
    shown = [number for one in notebooks for number in printed(one)]
    for _, name, state in state_links(page.read_text("utf-8")):
        shown += numbers(said(name, state))
    check(page.stem, [("text", page.read_text("utf-8"))], shown, set())


def test_each_constant_has_a_page_and_a_reason(notebooks):
    known = {one.name for one in notebooks} | {page.stem for page in pages()}
    for name, entries in CONSTANTS.items():
        assert name in known, f"prose_constants.json: no page {name}"
        for text, reason in entries.items():
            assert len(numbers(text)) == 1, f"{name}: {text} is no number"
            assert len(reason.split()) >= 3, f"{name}: say why {text}"


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("a weight of 0.47, then −0.3 and -1.5", ["0.47", "-0.3", "-1.5"]),
        ("1.2-0.5 or 0.3–0.6", ["1.2", "0.5", "0.3", "0.6"]),
        ("[0.13 0.47 1.  -2. ]", ["0.13", "0.47", "1", "-2"]),
        ("1,048,576 of 2000, 999", ["1048576", "2000", "999"]),
        ("3.0e-05 and 6.0×10⁻⁸", ["0.00003", "0.00000006"]),
        (r"$1.4 \times 10^{-45}$", ["1.4e-45"]),
        (r"$1{,}000$ and $4\,000\,000$", ["1000", "4000000"]),
        (r"$\approx0.5$ and $e^{0.707}$", ["0.5", "0.707"]),
        ("L5H11, float64, 2.5.1, x2, Python 3.11", []),
        ("[text](a_0.5.html) https://x.org/0.5 arXiv:1706.03762", []),
    ],
)
def test_numbers_are_read_as_written(text, values):
    found = [number.value for number in numbers(prose(text))]
    assert found == [Decimal(value) for value in values]


@pytest.mark.parametrize(
    ("said", "shown", "holds"),
    [
        ("0.48", "0.4757", True),
        ("0.47", "0.4757", False),
        ("0.476", "0.48", False),
        ("0.50", "0.5", True),
        ("47.6 %", "0.4757", True),
        (r"47.6\%", "47.57%", True),
        ("47.6 %", "0.4747", False),
        ("48 %", "0.4757", True),
        ("−0.3", "-0.31", True),
        ("0.3", "-0.31", False),
        ("1,048,576", "1048576", True),
        ("1,048,577", "1048576", False),
        ("6.0×10⁻⁸", "5.96e-08", True),
    ],
)
def test_a_number_in_prose_is_the_rounding_of_one_printed(said, shown, holds):
    assert numbers(prose(said))[0].rounds(numbers(shown)[0]) is holds


@pytest.mark.parametrize(
    ("text", "matters"),
    [
        ("0.5", True),
        ("50 %", True),
        ("1,000", True),
        ("1000", True),
        ("999", False),
        ("Until 2024. Then", False),
        ("2,024 tokens", True),
    ],
)
def test_which_numbers_matter(text, matters):
    assert numbers(prose(text))[0].matters() is matters


def test_a_number_that_no_cell_printed_is_named():
    texts = [("cell 3", "First. The weight is 0.47 here. Last 0.5.")]
    found = list(uncomputed(texts, numbers("0.5 0.4757"), set()))
    assert [(where, number.text) for where, number, _ in found] == [
        ("cell 3", "0.47")
    ]
    assert found[0][2] == "The weight is 0.47 here."
