"""The mutation score: who is counted, who is excused, and from when it is."""

import argparse
import ast
import json
import re
import tomllib
from pathlib import Path

import pytest

import mutate
import mutation_record
import mutation_run
from bench_table import render
from mutation_record import (
    GROUPS,
    ROOT,
    TESTS,
    explained,
    mutated_modules,
    rows,
)
from mutation_tests import examples

COUNTS = {
    "utils/a.py": {
        **{"mutants": 50, "wanted": 50, "tried": 50},
        **{"killed": 45, "equivalent": 2},
    },
    "utils/b.py": {
        **{"mutants": 80, "wanted": 50, "tried": 50},
        **{"killed": 30, "equivalent": 0},
    },
}


def source_of(module, function):
    """The text of a function or `Class.method`, in single spaces."""
    text = (ROOT / module).read_text("utf-8")
    nodes = ast.parse(text).body
    *classes, name = function.split(".")
    for class_name in classes:
        [nodes] = [
            n.body for n in nodes if getattr(n, "name", 0) == class_name
        ]
    [node] = [n for n in nodes if getattr(n, "name", None) == name]
    return " ".join(ast.get_source_segment(text, node).split())


def test_the_score_is_of_those_that_can_be_told_apart():
    whole, a, b = rows(COUNTS)
    assert whole.what == "mutants that the tests notice"
    assert whole.measured == "76.5 %, raw 75.0 % of 100 of 130"
    assert (a.what, b.what) == ("of utils/a.py", "of utils/b.py")
    assert a.measured == "93.8 %, raw 90.0 % of 50"
    assert b.measured == "60.0 %, raw 60.0 % of 50 of 80"
    assert [row.bar for row in (whole, a, b)] == [">= 90 %"] * 3
    assert [row.holds for row in (a, b)] == ["yes", "no (60 of 90)"]


def test_a_module_that_was_not_tried_has_no_score():
    count = dict.fromkeys(COUNTS["utils/a.py"], 0)
    assert rows({"utils/a.py": count})[1].holds == "not tried"


def test_a_sample_that_is_not_finished_says_so():
    count = {**COUNTS["utils/a.py"], "tried": 49}
    whole, a = rows({"utils/a.py": count})
    assert whole.holds == a.holds == "unfinished, 50 are to be tried"


def test_a_module_that_changed_since_is_named():
    whole, a, b = rows(COUNTS, ["utils/b.py"])
    assert whole.holds.endswith("; changed since: utils/b.py")
    assert "changed" not in a.holds
    assert b.holds == "no (60 of 90); changed since: utils/b.py"


def test_the_bench_reads_the_record_and_the_sources(tmp_path, monkeypatch):
    folder = tmp_path / "utils"
    folder.mkdir()
    counts = {}
    for name, text in (("a", "1"), ("b", "2"), ("new", "3")):
        (folder / f"{name}.py").write_text(text, "utf-8")
    for module, count in COUNTS.items():
        sources = mutation_record.digest(module, tmp_path)
        counts[module] = {**count, "sources": sources}
    names = [f"utils/{name}.py" for name in ("a", "b", "new")]
    monkeypatch.setattr(mutation_record, "mutated_modules", lambda: names)
    path = tmp_path / "record.json"
    conditions = {"date": "2026-01-02", "mutmut": "3.8"}
    mutation_record.store(counts, path, **conditions)
    (folder / "b.py").write_text("another", "utf-8")
    whole, a, b = mutation_record.mutation_rows(path, tmp_path)
    assert whole.what.endswith(" (mutmut 3.8, 2026-01-02)")
    assert "changed since: utils/b.py, utils/new.py" in whole.holds
    assert a.holds == "yes"
    assert "changed since" in b.holds


def test_what_is_not_tried_to_the_end_keeps_its_count(tmp_path):
    path = tmp_path / "record.json"
    done, half = COUNTS["utils/a.py"], {**COUNTS["utils/a.py"], "tried": 3}
    mutation_record.store({"a": done, "b": done}, path, date="then")
    mutation_record.store({"a": half, "b": {**done}, "c": half}, path)
    record = json.loads(path.read_text("utf-8"))
    assert record == {"modules": {"a": done, "b": done, "c": half}}


def test_the_record_is_of_these_modules_and_reaches_its_bar():
    record = json.loads(mutation_record.RECORD.read_text("utf-8"))
    assert set(record["modules"]) <= set(mutated_modules())
    for count in record["modules"].values():
        told_apart = count["tried"] - count["equivalent"]
        assert count["killed"] <= told_apart <= count["wanted"]
    total = rows(record["modules"])[0]
    score = float(total.measured.partition(" %")[0])
    assert score >= mutation_record.BAR, render([total])


@pytest.mark.parametrize("survivor", explained(), ids=" ".join)
def test_who_is_excused_still_stands_in_the_source(survivor):
    module, function, line, becomes = survivor
    assert line in source_of(module, function)
    assert becomes != line
    assert len(explained()[survivor].split()) > 3


def test_every_module_below_the_figures_is_in_one_group(root):
    files = [*root.glob("utils/*.py"), *root.glob("utils/explore/*.py")]
    names = {path.relative_to(root).as_posix() for path in files}
    wanted = {name for name in names if not name.endswith("__init__.py")}
    assert sorted(mutated_modules()) == sorted(wanted)


def test_the_tests_that_mutants_meet_are_there(root):
    assert TESTS.keys() == GROUPS.keys()
    for group, names in TESTS.items():
        for name in names:
            assert (root / f"tests/test_{name}.py").is_file(), (group, name)
        stems = {Path(module).stem for module in mutated_modules()}
        assert group not in stems, "--only would not know which is meant"


def test_the_mutants_meet_the_pytest_of_the_tests(root):
    def pins(path):
        text = (root / path).read_text("utf-8")
        return dict(re.findall(r"^([\w-]+)==(\S+)", text, re.MULTILINE))

    ours = pins("tools/requirements-mutate.txt")
    others = pins("tests/requirements.txt")
    assert set(ours) == {"mutmut", "pytest"}
    assert ours["pytest"] == others["pytest"]


def test_an_example_is_a_test_of_its_function():
    source = (
        'def one():\n    ">>> 1"\n'
        'def none():\n    "says nothing"\n'
        'class Two:\n    def three(self):\n        """>>> 2\n        2"""\n'
    )
    assert examples(source) == {"one": ">>> 1", "Two.three": ">>> 2\n2"}


FOUND = {
    "utils/a.py": {"a1": "killed", "a2": "not checked", "a3": "survived"},
    "utils/b.py": {"b1": "timeout", "b2": "check was interrupted by user"},
}


def test_what_was_not_tried_is_tried_and_survivors_if_asked():
    both = list(FOUND)
    assert mutate.waiting(FOUND, both, again=False) == ["a2", "b2"]
    assert mutate.waiting(FOUND, both, again=True) == ["a3", "b1"]
    assert mutate.waiting(FOUND, both[:1], again=False) == ["a2"]


def test_a_sample_is_the_same_each_time_and_grows_by_more_of_them():
    names = [str(i) for i in range(50)]
    few = mutate.chosen(names, 5)
    assert len(set(few)) == 5
    assert mutate.chosen(names, 9)[:5] == few != names[:5]
    assert sorted(mutate.chosen(names, 99)) == sorted(names)
    assert mutate.chosen(names) == names


def test_the_score_of_a_sample_is_of_those_in_it(monkeypatch):
    names = [f"x__mutmut_{i}" for i in range(8)]
    first = mutate.chosen(names, 3)
    verdicts = dict.fromkeys(names, "not checked")
    verdicts.update(
        zip(first, ("killed", "survived", "no tests"), strict=True)
    )
    monkeypatch.setattr(mutation_record, "digest", lambda module: "d")
    monkeypatch.setattr(
        mutate, "change", lambda mutant, *_: ("f", mutant, "changed")
    )
    why = {("utils/a.py", "f", first[1], "changed"): "cannot be told"}
    counts, left = mutate.scores({"utils/a.py": verdicts}, why, None, 3)
    assert counts == {
        "utils/a.py": {
            "sources": "d",
            "mutants": 8,
            "wanted": 3,
            "tried": 3,
            "killed": 1,
            "equivalent": 1,
        }
    }
    assert left == {"utils/a.py": [(first[2], "f", first[2], "changed")]}


def test_a_module_that_is_wholly_tried_is_counted_whole(monkeypatch):
    monkeypatch.setattr(mutation_record, "digest", lambda module: "d")
    verdicts = {f"x__mutmut_{i}": "killed" for i in range(8)}
    counts, _ = mutate.scores({"utils/a.py": verdicts}, {}, None, 3)
    assert counts["utils/a.py"]["wanted"] == 8
    assert counts["utils/a.py"]["killed"] == 8


def test_modules_and_groups_have_names():
    assert mutate._modules("slider,masks") == [
        "utils/masks.py",
        "utils/explore/slider.py",
    ]
    assert mutate._modules("timed") == mutation_record.modules_of("timed")
    with pytest.raises(argparse.ArgumentTypeError, match="got 'mask'; the gr"):
        mutate._modules("mask")


def test_the_name_of_a_codec_may_be_in_capitals_and_nothing_else():
    same = mutation_record.same_everywhere
    assert same('read("utf-8", "utf-8")', 'read("UTF-8", "utf-8")')
    assert same('decode("ascii")', 'decode("ASCII")')
    assert not same('read("utf-8")', 'read("utf-8")')
    assert not same('read("utf-8")', 'READ("UTF-8")')
    assert not same('read("utf-8", a)', 'read("UTF-8", b)')


def test_a_module_that_joins_a_group_gets_its_mutants(tmp_path, monkeypatch):
    monkeypatch.setattr(mutation_run, "FOLDER", tmp_path)
    mutants = tmp_path / "timed" / "mutants" / "utils"
    mutants.mkdir(parents=True)
    for name in ("busy.py", "busy.py.meta", "clocks.py", "masks.py"):
        (mutants / name).write_text("{}", "utf-8")
    folder = mutation_run.lay_out("timed")
    left = sorted(path.name for path in mutants.iterdir())
    assert left == ["busy.py", "busy.py.meta", "masks.py"]
    whole = (folder / "utils" / "clocks.py").read_text("utf-8")
    assert whole == (ROOT / "utils" / "clocks.py").read_text("utf-8")
    said = tomllib.loads((folder / "pyproject.toml").read_text("utf-8"))
    assert "utils/clocks.py" in said["tool"]["mutmut"]["only_mutate"]
