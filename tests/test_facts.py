"""Every fact of the two documents is held true by a test or a cell.

A test holds fact A10 if its name says so (`test_fact_A10_...`, or
`test_fact_A10_and_A11_...`), a code cell if it names the id in a comment.
The facts of a chapter that is not written yet wait for it.
"""

import ast
import json
import re
from pathlib import Path

HERE = Path(__file__).resolve().parent
FACTS = json.loads((HERE / "facts.json").read_text("utf-8"))["facts"]
ID = re.compile(r"(?<![A-Za-z0-9])[AB]\d\d(?![A-Za-z0-9])")


def named_by_tests():
    """Pairs (id, test) from the names of the test functions."""
    for path in sorted(HERE.glob("test_*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.FunctionDef) and node.name.startswith(
                "test_fact_"
            ):
                for name in ID.findall(node.name):
                    yield name, f"{path.name}::{node.name}"


def named_by_cells(notebooks):
    """Pairs (id, cell) from the code cells that were executed."""
    for notebook in notebooks:
        for cell in notebook.code():
            if cell["execution_count"] is not None:
                for name in ID.findall(cell["source"]):
                    yield name, f"{notebook.name}, cell {cell['place']}"


def test_each_fact_of_a_written_chapter_is_held(notebooks):
    chapters = {notebook.name.split("_", 1)[1] for notebook in notebooks}
    held = {name for name, _ in named_by_tests()}
    held |= {name for name, _ in named_by_cells(notebooks)}
    loose = [
        f"{fact['id']} ({fact['chapter']}): {fact['fact']}"
        for fact in FACTS
        if fact["chapter"] in chapters | {"all"} and fact["id"] not in held
    ]
    assert not loose, "nothing holds\n" + "\n".join(loose)


def test_no_test_or_cell_names_a_fact_that_does_not_exist(notebooks):
    known = {fact["id"] for fact in FACTS}
    for name, where in [*named_by_tests(), *named_by_cells(notebooks)]:
        assert name in known, f"{where} names {name}: no such fact"


def test_the_list_of_facts_is_whole():
    ids = [fact["id"] for fact in FACTS]
    assert len(ids) == len(set(ids))
    assert {"A01", "A28", "B01", "B15"} <= set(ids)
