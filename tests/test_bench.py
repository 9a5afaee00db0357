"""The bench's pure parts: its numbers, its words and its table."""

import argparse
import gzip
import json
import random
import re
import subprocess

import numpy as np
import pytest

import bench
import bench_build
import bench_lite
import bench_page
import bench_plotly
import bench_record
from bench_peers import Showing, peer_rows
from bench_table import (
    Row,
    Unmeasured,
    at_least,
    at_most,
    gzipped,
    kilobytes,
    render,
    spread,
)
from tests.git import git

PIN = re.compile(r"^([A-Za-z0-9._-]+)==(\S+)", re.MULTILINE)
PAGE = (
    '<p>x</p><figure class="explorable" id="one" data-moves>ONE<figcaption>'
    '</figcaption></figure><figure class="explorable" id="plain">P</figure>'
    '<figure class="other" id="two">TWO</figure>'
)


@pytest.fixture
def site(tmp_path):
    """A site of one page, with one explorable that moves and one that not."""
    (tmp_path / "book").mkdir()
    (tmp_path / "book" / "page.html").write_text(PAGE, "utf-8")
    books = tmp_path / "_static" / "explorables"
    books.mkdir(parents=True)
    (books / "one.js").write_text("explore.register()" * 100, "utf-8")
    return tmp_path


def test_the_spread_is_the_median_and_the_95th_percentile():
    values = list(range(101))
    random.Random(1).shuffle(values)
    assert spread(values) == (50, 95)
    assert spread([3]) == (3, 3)


def test_no_moves_is_not_a_fast_move():
    with pytest.raises(Unmeasured, match="no moves"):
        spread([])


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (7.99, "yes"),
        (8, "no (0 % over)"),
        (8.8, "no (10 % over)"),
        (24, "no (200 % over)"),
    ],
)
def test_under_the_bar_means_under(value, said):
    assert at_most(value, 8) == said


@pytest.mark.parametrize(
    ("ratio", "said"),
    [(20, "yes"), (19.99, "no (20 of 20)"), (4.43, "no (4.4 of 20)")],
)
def test_a_ratio_must_reach_its_bar(ratio, said):
    assert at_least(ratio, 20) == said


def test_bytes_are_counted_as_a_server_sends_them():
    data = "√ weights " * 500
    assert gzipped(data) == gzipped(data.encode("utf-8")) < len(data)
    assert gzipped(data) == len(gzip.compress(data.encode("utf-8"), 6))
    assert kilobytes(60_000) == "60.0 KB"


def test_the_table_is_markdown_with_equal_columns():
    table = render([Row("a", "1 ms, 2 ms", holds="yes"), Row("longer name")])
    lines = table.splitlines()
    assert len({len(line) for line in lines}) == 1
    assert {line.count("|") for line in lines} == {7}
    assert set(lines[1]) <= set("|- ")
    assert "| a " in lines[2]
    assert "| 1 ms, 2 ms " in lines[2]


def test_the_table_does_not_print_what_the_record_keeps():
    row = Row("a", "1 ms", facts={"seconds": 1})
    assert render([row]) == render([Row("a", "1 ms")])


def showing(name, times, own_bytes, loaded_bytes):
    return Showing(name, times, own_bytes, loaded_bytes)


def test_a_peer_is_compared_in_time_and_bytes():
    ours = showing("ours", [1, 2, 3], 1000, 2000)
    peer = showing("peer", [20, 40, 75], 4000, 3000)
    moves, own, loaded = peer_rows("fig", ours, peer, 20, 5)
    assert moves.ratio == "20 (median), 24.7 (p95)"
    assert moves.holds == "yes"
    assert moves.facts["peer"]["times_ms"] == [20, 40, 75]
    assert (own.ratio, own.holds) == ("4", "no (4 of 5)")
    assert (loaded.ratio, loaded.holds) == ("1.5", "")


def test_the_worse_of_median_and_p95_must_reach_the_bar():
    ours = showing("ours", [1] * 19 + [100], 1, 1)
    peer = showing("peer", [30] * 20, 1, 1)
    assert peer_rows("fig", ours, peer, 20)[0].holds.startswith("no")


def test_a_figure_that_a_kernel_draws_has_no_bytes_of_its_own():
    ours = showing("ours", [1], 1000, 2000)
    rows = peer_rows("fig", ours, showing("live", [9], None, 10))
    assert [row.what for row in rows] == [
        "fig, a move, against live",
        "  all loaded before the first move",
    ]


def test_plotly_shows_the_numbers_of_the_figure():
    from utils.figures.softmax.temperature import temperature

    for state in temperature.states()[::25]:
        said = temperature.sentence(**state)
        (grey, bars), layout = bench_plotly.frame_of(**state, sentence=said)
        assert np.isclose(sum(bars["y"]), 1)
        assert ", ".join(bars["text"][:3]) == ", ".join(
            re.findall(r"<?\d\.\d{3}", said)[:3]
        )
        assert layout["title"]["text"].replace("<br>", " ") == said
        again = bench_plotly.frame_of(1, state["score"], said)[0][1]
        assert grey["y"] == again["y"]
        _, score, divided = layout["xaxis"]["ticktext"][2].split("<br>")
        assert np.isclose(
            float(divided), float(score) / state["temperature"], atol=0.01
        )


def test_a_file_is_loaded_once_and_only_if_it_is_there(tmp_path):
    (tmp_path / "a b.js").write_text("x" * 500, "utf-8")
    (tmp_path / "c.css").write_text("y" * 900, "utf-8")
    asked = ["/a%20b.js?v=1", "/a%20b.js", "/c.css#x", "/gone.js", "/"]
    assert bench_lite.loaded_bytes(asked, tmp_path) == (
        gzipped("x" * 500) + gzipped("y" * 900)
    )


def test_without_pyodide_the_row_says_so(monkeypatch):
    def no_network():
        raise subprocess.CalledProcessError(1, ["pip", "download"])

    monkeypatch.setattr(bench_lite, "pyodide_folder", no_network)
    with pytest.raises(Unmeasured, match="could not be downloaded"):
        bench_lite.lite_rows(None, None, None, None)


def test_a_build_is_of_what_git_keeps_and_what_is_new(tmp_path):
    source, copy = tmp_path / "source", tmp_path / "copy"
    (source / "a").mkdir(parents=True)
    for name in ("a/kept.txt", "new.txt", "ignored.txt", "gone.txt"):
        (source / name).write_text(name, "utf-8")
    (source / ".gitignore").write_text("ignored.txt\n", "utf-8")

    git(source, "init", "-q")
    git(source, "add", "a/kept.txt", "gone.txt", ".gitignore")
    (source / "gone.txt").unlink()
    bench_build.copy_sources(source, copy)
    found = {p.relative_to(copy).as_posix() for p in copy.rglob("*.*")}
    assert found == {"a/kept.txt", "new.txt", ".gitignore"}


@pytest.mark.parametrize("missing", ["repository", "program"])
def test_no_git_no_build(missing, tmp_path, monkeypatch):
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    if missing == "program":
        monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(Unmeasured, match="git: "):
        bench_build.copy_sources(tmp_path, tmp_path / "copy")


@pytest.fixture
def build(tmp_path, monkeypatch):
    """Build a book of no files, by a program of one's own."""

    def build(program, limit=60):
        monkeypatch.setattr(
            bench_build, "copy_sources", lambda _, to: to.mkdir()
        )
        monkeypatch.setattr(bench_build, "COMMAND", program)
        monkeypatch.setattr(bench_build, "LIMIT", limit)
        return bench_build.build_rows(tmp_path)

    return build


def test_a_book_is_built_from_nothing_then_again(build, tmp_path):
    runs = tmp_path / "runs"
    cold, warm = build(
        "import pathlib\n"
        "made = pathlib.Path('made')\n"
        f"with open({str(runs)!r}, 'a') as runs:\n"
        "    runs.write('again ' if made.exists() else 'new ')\n"
        "made.touch()"
    )
    assert runs.read_text("utf-8") == "new again "
    assert "from nothing" in cold.what
    assert "nothing changed" in warm.what
    assert warm.measured == f"{warm.facts['seconds']:.0f} s"


def test_a_build_that_fails_says_its_last_words(build):
    with pytest.raises(Unmeasured, match="the build fails: no theme"):
        build("import sys; print('fine'); sys.exit('no theme')")


def test_a_build_without_end_is_ended(build):
    with pytest.raises(Unmeasured, match="more than 0.2 s"):
        build("import time; time.sleep(600)", limit=0.2)


@pytest.fixture
def run():
    """The rows of a small run, one part of which could not be measured."""
    ours = showing("here", [1, 1, 2], 1500, 9000)
    rows = {
        "plotly": peer_rows(
            "fig", ours, showing("Plotly", [10, 30, 20], 2500, 8000)
        ),
        "lab": peer_rows("fig", ours, showing("Lab", [200], None, 7000)),
        "panel": [Row("panel", holds="not measured: no panel")],
        "lite": [Row("lite", holds="not measured: no Pyodide")],
        "bytes": [Row("x", facts={"page": "big", "bytes": 12_345}), Row("y")],
        "build": [Row("b", facts={"build": "cold", "seconds": 61.2})],
        "page": [
            Row("move", "9 ms", "< 8 ms", holds="no (12 % over)"),
            Row("  fig", "9 ms"),
        ],
        "frames": [Row("cold", "3 s", "< 180 s", holds="yes")],
        "nbval": [Row("nbval", bar="< 9 s", holds="not measured: late")],
    }
    assert set(rows) == set(bench_record.PARTS)
    return rows


def test_the_readme_is_written_from_the_record(run, tmp_path):
    record, readme = tmp_path / "record.json", tmp_path / "README.md"
    begin, end = bench_record.BEGIN, bench_record.END
    readme.write_text(f"a\n{begin}\nOLD\n{end}\nb\n", "utf-8")
    bench_record.store(run, bench.conditions(), 273, record)
    bench_record.write_readme(record, readme)
    text = readme.read_text("utf-8")
    assert text.startswith(f"a\n{begin}\n| one figure, 273 states |")
    assert text.endswith(f"\n{end}\nb\n")
    assert "OLD" not in text
    for line in (
        "| **here** | 1 ms | 2 ms | 1.5 KB | 9.0 KB |",
        "| Plotly | 20 ms | 29 ms | 2.5 KB | 8.0 KB |",
        "| Lab | 200 ms | 200 ms | none: a kernel draws | 7.0 KB |",
        "| JupyterLite | not measured: no Pyodide | | | |",
        "| Panel, embedded | not measured: no panel | | | |",
        "The heaviest page, `big`, with all that it loads: 12.3 KB.",
        "A build, cold: 61 s.",
        "Of the 2 bars of this bench 1 hold. Not this one: move, 9 ms where "
        "< 8 ms is asked: no (12 % over).",
    ):
        assert line in text.splitlines()
    assert "Load from other work when begun: " in text
    once = text
    bench_record.write_readme(record, readme)
    assert readme.read_text("utf-8") == once


def test_the_record_keeps_each_list_of_times_on_one_line(run, tmp_path):
    record = tmp_path / "record.json"
    bench_record.store(run, bench.conditions(), 273, record)
    text = record.read_text("utf-8")
    assert '"times_ms": [ 10, 30, 20 ]' in text
    kept = json.loads(text)
    assert kept["rows"]["lab"][0]["facts"]["peer"]["times_ms"] == [200]


def test_a_bar_below_another_line_is_told_with_it(run):
    run["page"] = [
        Row("here against there", "1 ms", "2 times", holds="yes"),
        Row("  its bytes", "5 KB", "50 times", holds="no (4 of 50)"),
    ]
    kept = {part: [vars(row) for row in rows] for part, rows in run.items()}
    table = bench_record.readme_table(
        {**bench.conditions(), "states": 1, "rows": kept}
    )
    assert "here against there: its bytes, 5 KB where 50 times" in table


def test_the_readme_shows_the_record(root):
    record = json.loads(bench_record.RECORD.read_text("utf-8"))
    text = (root / "README.md").read_text("utf-8")
    shown = text.split(bench_record.BEGIN)[1].split(bench_record.END)[0]
    assert shown.strip() == bench_record.readme_table(record)


def test_a_record_needs_all_that_the_readme_shows(monkeypatch, capsys):
    monkeypatch.setattr("sys.argv", ["bench", "--only", "page", "--record"])
    with pytest.raises(SystemExit):
        bench.main()
    assert "a record needs build, bytes, frames" in capsys.readouterr().err


def test_an_explorable_weighs_its_place_and_its_flipbook(site):
    place = PAGE[len("<p>x</p>") : PAGE.index("</figure>") + len("</figure>")]
    assert bench_page.explorable_bytes(site) == {
        "one": gzipped(place) + gzipped("explore.register()" * 100),
        "plain": gzipped('<figure class="explorable" id="plain">P</figure>'),
    }


def test_a_site_that_is_not_built_is_not_measured(tmp_path):
    with pytest.raises(Unmeasured, match="make book"):
        bench_page.explorable_bytes(tmp_path)


@pytest.mark.parametrize(
    ("url", "inside"),
    [
        ("_static/a%20b.js?v=1", "_static/a b.js"),
        ("book/page.html#one", "book/page.html"),
        ("../elsewhere.js", None),
    ],
)
def test_a_request_is_the_sites_own_only_below_it(site, url, inside):
    found = bench_page.file_of(f"{site.as_uri()}/{url}", site)
    assert found == (inside and site / inside)


@pytest.mark.parametrize(
    "url", ["https://example.org/a.js", "http://localhost/a", "ws://x.org/"]
)
def test_a_request_to_a_host_is_outside(site, url):
    assert bench_page.file_of(url, site) is None


def test_parts_come_in_the_order_of_the_table():
    assert bench.parts_of("nbval, page,bytes") == ("page", "bytes", "nbval")


@pytest.mark.parametrize("text", ["", ",", "page,speed"])
def test_an_unknown_part_is_refused(text):
    with pytest.raises(argparse.ArgumentTypeError, match="the parts are page"):
        bench.parts_of(text)


def test_every_part_can_be_measured():
    assert set(bench._measures(None)) == set(bench.PARTS)


def test_what_cannot_be_measured_says_why_and_the_rest_goes_on(capsys):
    def fails():
        raise OSError("no | such thing\nat line 2")

    def refuses():
        raise Unmeasured("make book")

    rows, whole = bench.measure(
        ("a", "b", "c"),
        {"a": fails, "b": lambda: [Row("fine", holds="no")], "c": refuses},
    )
    assert not whole
    assert {part: [row.holds for row in rows[part]] for part in rows} == {
        "a": ["not measured: OSError: no / such thing"],
        "b": ["no"],
        "c": ["not measured: make book"],
    }
    assert "b: 0 s" in capsys.readouterr().err


def test_a_budget_that_does_not_hold_is_still_measured():
    _, whole = bench.measure(("a",), {"a": lambda: [Row("x", holds="no")]})
    assert whole


def test_the_header_names_machine_and_versions():
    words = bench.header(bench.conditions())
    assert re.search(r"\d{4}-\d\d-\d\d \d\d:\d\d UTC", words)
    for part in (" cores", "Python 3.", "numpy ", "matplotlib "):
        assert part in words


def test_the_bench_and_the_tests_pin_the_same_tools(root):
    def pins(path):
        return dict(PIN.findall((root / path).read_text("utf-8")))

    bench_pins = pins("tools/requirements-bench.txt")
    others = {**pins("requirements.txt"), **pins("tests/requirements.txt")}
    assert {"panel", "bokeh", "plotly", "playwright"} <= set(bench_pins)
    for name in set(bench_pins) & set(others):
        assert bench_pins[name] == others[name], name
