"""The bench's pure parts: its numbers, its words and its table."""

import argparse
import gzip
import random
import re

import pytest

import bench
import bench_page
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
    assert [row.holds for row in rows] == [
        "not measured: OSError: no / such thing",
        "no",
        "not measured: make book",
    ]
    assert "b: 0 s" in capsys.readouterr().err


def test_a_budget_that_does_not_hold_is_still_measured():
    _, whole = bench.measure(("a",), {"a": lambda: [Row("x", holds="no")]})
    assert whole


def test_the_header_names_machine_and_versions():
    words = bench.header(None)
    assert re.search(r"\d{4}-\d\d-\d\d \d\d:\d\d UTC", words)
    for part in (" cores", "Python 3.", "numpy ", "matplotlib "):
        assert part in words


def test_the_bench_and_the_tests_pin_the_same_tools(root):
    def pins(path):
        return dict(PIN.findall((root / path).read_text("utf-8")))

    bench_pins = pins("tools/requirements-bench.txt")
    others = {**pins("requirements.txt"), **pins("tests/requirements.txt")}
    assert {"panel", "bokeh", "playwright"} <= set(bench_pins)
    for name in set(bench_pins) & set(others):
        assert bench_pins[name] == others[name], name
