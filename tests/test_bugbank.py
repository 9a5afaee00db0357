"""The bank of public reports is whole, and its tests are those it names.

`bugbank.toml` is the table. Where facts and reports have ids of one shape, a
report's is said with the marker: `@pytest.mark.bug(id="A17")`.
"""

import ast
import re
import tomllib
from pathlib import PurePosixPath

import pytest

from tests.conftest import ROOT

BANK = tomllib.loads((ROOT / "tests/bugbank.toml").read_text("utf-8"))
# what the bank began with: none is lost, others may follow
_IDS = """
A01 A03 A04 A05 A06 A08 A09 A10 A11 A12 A14 A16 A17 A19 A21 A23 A24 A25 A26
A27 A29 A30 A31 A32 A33 A35 A39 A40 A44 A45 A46 A47 A49
B01 B02 B03 B04 B05 B06 B08 B10 B11 B12 B13 B14 B15 B16 B17 B18 B21 B23 B24
B25 B26 B27 B28 B29 B30 B32 B33 B34 B35 B36 B37 B39 B40 B41 B44
"""
IDS = _IDS.split()
FIELDS = {"symptom", "report", "tests", "reason", "note"}
REPORT = re.compile(r"https://github\.com/[\w.-]+/[\w.-]+/(issues|pull)/\d+")


def collected(tree, before=""):
    """Pairs of a test's name and its function, as pytest would collect it."""
    for node in tree.body:
        if isinstance(node, ast.ClassDef) and node.name.startswith("Test"):
            yield from collected(node, f"{before}{node.name}::")
        elif isinstance(node, ast.FunctionDef) and (
            node.name.startswith("test_")
        ):
            yield before + node.name, node


def ids_of(function, where):
    """The reports that a test is marked with."""
    for decorator in function.decorator_list:
        plain = ast.unparse(decorator)
        if plain.partition("(")[0] == "pytest.mark.bug":
            found = re.fullmatch(r"pytest\.mark\.bug\(id='(\w+)'\)", plain)
            assert found, f'{where}: write @pytest.mark.bug(id="A17")'
            yield found[1]


def marked():
    """Pairs of an id and the test that is marked with it."""
    for path in sorted((ROOT / "tests").rglob("test_*.py")):
        tree = ast.parse(path.read_text("utf-8"))
        name = path.relative_to(ROOT).as_posix()
        for test, function in collected(tree):
            for id in ids_of(function, f"{name}::{test}"):
                yield id, f"{name}::{test}"


MARKED = list(marked())


def test_the_bank_is_whole():
    assert len(IDS) == len(set(IDS)) == 68
    assert set(IDS) <= BANK.keys()
    assert all(re.fullmatch(r"[AB]\d\d", id) for id in BANK)
    assert list(BANK) == sorted(BANK)


def test_each_report_is_told_once():
    for field in ("symptom", "report"):
        told = [entry[field] for entry in BANK.values()]
        assert len(told) == len(set(told))


@pytest.mark.parametrize("id", BANK)
class TestEntry:
    def test_it_says_what_went_wrong_and_where_that_was_told(self, id):
        entry = BANK[id]
        assert {"symptom", "report"} <= entry.keys() <= FIELDS
        assert len(entry["symptom"]) > 20
        assert REPORT.fullmatch(entry["report"]), entry["report"]

    def test_it_has_tests_or_a_reason(self, id):
        entry = BANK[id]
        assert entry.get("tests") or len(entry.get("reason", "")) > 40

    def test_its_tests_are_those_that_are_marked_with_it(self, id):
        named = BANK[id].get("tests", [])
        found = [test for other, test in MARKED if other == id]
        assert named == sorted(named), "in the order of the alphabet"
        assert len(named) == len(set(named))
        assert set(named) == set(found), (
            f"{id}: bugbank.toml and the markers differ in "
            f"{sorted(set(named) ^ set(found))}"
        )


def test_no_test_is_marked_with_a_report_that_is_not_in_the_bank():
    strange = {(id, test) for id, test in MARKED if id not in BANK}
    assert not strange


def test_no_entry_is_left_to_the_launch_tests_alone():
    slow = {
        id
        for id, entry in BANK.items()
        if entry.get("tests")
        and all(PurePosixPath(t).parts[1] == "launch" for t in entry["tests"])
    }
    assert slow == set()


def test_a_marker_without_the_keyword_is_told():
    """Without it, `pytest -m "bug(id='A17')"` would pass the test over."""
    text = "@pytest.mark.bug('A17')\ndef test_it(): pass"
    [(_, function)] = collected(ast.parse(text))
    with pytest.raises(AssertionError, match="write @pytest.mark.bug"):
        list(ids_of(function, "here"))
