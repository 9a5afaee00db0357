"""Worksheets: the same bytes for a seed, and a key that is right."""

import math
import re
import subprocess
import sys
from fractions import Fraction
from functools import cache
from html.parser import HTMLParser

import pytest

from find_browser import browser_path
from utils.practice import printing, worksheet
from utils.practice.paper_numbers import fractions
from utils.practice.problems import make_problems
from utils.practice.sheet import PAGES, PAPERS, sheet_html

SEEDS = range(40)
VOID = {"meta", "br"}


@cache
def problems(seed):
    """The problems of a seed: made once, and looked at by many tests."""
    return tuple(make_problems(seed))


def problem(name, seed):
    return next(one for one in problems(seed) if one.name == name)


def both(name):
    """What is given and answered, for each of many seeds."""
    for seed in SEEDS:
        found = problem(name, seed)
        yield found.given, found.answer


def times(A, B):
    """A matrix product by its definition, exact."""
    return [
        [sum(a * b for a, b in zip(row, column, strict=True)) for column in B]
        for row in A
    ]


def turned(A):
    return [list(column) for column in zip(*A, strict=True)]


def flat(values):
    for value in values:
        if isinstance(value, list | tuple):
            yield from flat(value)
        else:
            yield value


# --- the key, by a second way ----------------------------------------------


def test_scores_are_sums_of_products():
    for given, answer in both("scores"):
        assert answer["scores"] == times(given["Q"], given["K"])
        assert all(abs(n) <= 32 for n in flat(answer["scores"]))


def test_scaled_scores_are_halves_and_whole():
    for given, answer in both("scaling"):
        assert len(given["Q"][0]) == 4
        assert answer["divisor"] == 2
        assert answer["scores"] == times(given["Q"], given["K"])
        halves = [[Fraction(n, 2) for n in row] for row in answer["scores"]]
        assert answer["scaled"] == halves
        assert len(set(answer["scores"][0])) == 3


def test_softmax_of_logarithms_is_a_share():
    for given, answer in both("softmax"):
        row, masked = given["exponentials"], given["masked"]
        assert sum(row) in (4, 5, 8, 10)
        assert answer["weights"] == [Fraction(n, sum(row)) for n in row]
        left = sum(n for i, n in enumerate(row) if i != masked)
        assert answer["masked"] == [
            Fraction(0 if i == masked else n, left) for i, n in enumerate(row)
        ]


def test_the_weighted_sum_is_whole():
    for given, answer in both("weighted_sum"):
        weights = given["weights"]
        assert sum(weights) == 1
        assert answer["output"] == times([weights], turned(given["V"]))[0]


def test_the_whole_calculation():
    for given, answer in both("attention"):
        for name in "QKV":
            W = given[f"W_{name}"]
            assert answer[name] == times(given["X"], turned(W))
        products = times(answer["Q"], answer["K"])
        assert answer["products"] == products
        assert answer["powers"] == [[2**s for s in row] for row in products]
        weights = [
            [Fraction(2**s, sum(2**t for t in row)) for s in row]
            for row in products
        ]
        assert answer["weights"] == weights
        assert answer["output"] == times(weights, turned(answer["V"]))
        # a table for 0 to 4 is printed, and no more is needed
        assert {s for row in products for s in row} <= {0, 1, 2, 3, 4}


def test_the_factor_in_the_keys_makes_powers_of_two():
    for s in range(5):
        scaled = s * (2**0.5 * math.log(2)) / 2**0.5
        assert math.isclose(math.exp(scaled), 2**s)


def test_a_mask_is_causal_and_hides_the_padding():
    seen = set()
    for given, answer in both("masks"):
        padding, at_start = given["padding"], given["at_start"]
        seen.add((padding, at_start))
        real = range(padding, 5) if at_start else range(5 - padding)
        allowed = [
            [int(key <= query and key in real) for key in range(5)]
            for query in range(5)
        ]
        assert answer["allowed"] == allowed
        assert answer["pairs"] == sum(map(sum, allowed))
        row = allowed[given["row"]]
        assert given["row"] in real
        assert sum(row) >= 2
        shares = [Fraction(may, sum(row)) for may in row]
        assert answer["row_weights"] == shares
    assert len(seen) == 4


def test_positions_are_in_the_printed_table():
    for given, answer in both("positions"):
        table = given["table"]
        for angle, pair in table.items():
            values = math.sin(float(angle)), math.cos(float(angle))
            for text, value in zip(pair, values, strict=True):
                assert abs(float(text) - value) <= 0.005 + 1e-12
                assert text != "-0.00"
        for place, row in zip(given["positions"], answer["rows"], strict=True):
            assert row == table[f"{place}"] + table[f"{place / 100:g}"]
        assert answer["zero"] == ["0.00", "1.00", "0.00", "1.00"]


def test_shapes_follow_from_the_four_numbers():
    for given, answer in both("shapes"):
        N, M, d_model = given["N"], given["M"], given["d_model"]
        assert N != M
        assert answer == {
            "d_k": d_model // given["heads"],
            "W_Q": (d_model, d_model),
            "Q": (N, d_model),
            "K": (M, d_model),
            "weights": (given["heads"], N, M),
            "output": (N, d_model),
        }


def test_costs_are_counted():
    for given, answer in both("cost"):
        N, d_k, factor = given["N"], given["d_k"], given["factor"]
        pairs = [(i, j) for i in range(N) for j in range(N)]
        assert answer == {
            "scores": len(pairs),
            "multiplications": sum(d_k for _ in pairs),
            "longer": (factor * N) ** 2,
            "causal": sum(j <= i for i, j in pairs),
            "one_more": N + 1,
        }


def test_no_number_needs_a_calculator():
    for seed in SEEDS:
        for one in problems(seed):
            for value in flat(one.answer.values()):
                assert isinstance(value, int | Fraction | str)
                if isinstance(value, Fraction):
                    assert value.denominator <= 400
                if isinstance(value, int) and one.name != "cost":
                    assert abs(value) <= 100


def test_an_answer_that_is_no_fraction_is_refused():
    with pytest.raises(ValueError, match=r"0\.7071\d+ is no fraction"):
        fractions([0.5, 0.5**0.5])


# --- the sheet -------------------------------------------------------------


class Tags(HTMLParser):
    """Fails on a tag that is not closed, and collects texts and links."""

    def __init__(self, html):
        super().__init__()
        self.open, self.texts, self.links = [], [], []
        self.feed(html)
        assert not self.open, self.open

    def handle_starttag(self, tag, attributes):
        if tag not in VOID:
            self.open.append(tag)
        self.links += [v for k, v in attributes if k in ("src", "href")]

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if "style" not in self.open:
            self.texts.append(data)


def html(seed, **options):
    return sheet_html(problems(seed), seed, **options)


@pytest.mark.parametrize("filled", [False, True])
def test_the_same_seed_gives_the_same_html(filled):
    assert html(7, filled=filled) == html(7, filled=filled)
    code = (
        "from utils.practice.sheet import sheet_html as s\n"
        "from utils.practice.problems import make_problems as m\n"
        "import sys; sys.stdout.buffer.write("
        f"s(m(7), 7, filled={filled}).encode())"
    )
    fresh = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, check=True
    )
    assert fresh.stdout.decode() == html(7, filled=filled)


def test_each_seed_has_its_own_problems():
    for kind, first in enumerate(problems(0)):
        name = first.name
        found = {str(problems(seed)[kind]) for seed in SEEDS}
        least = 20 if name not in ("masks", "positions") else 5
        assert len(found) >= least, name
    sheets = {re.sub("[Ss]heet \\d+", "", html(seed)) for seed in SEEDS}
    assert len(sheets) == len(SEEDS)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_sheet_is_whole_and_asks_nobody(seed):
    for filled in (False, True):
        text = html(seed, filled=filled)
        tags = Tags(text)
        assert not tags.links
        assert "http" not in text
        assert "-" not in re.sub(r"[a-z]-[a-z]", "", " ".join(tags.texts))


def test_the_sheet_has_the_boxes_and_the_key_what_stands_in_them():
    empty, full = html(7), html(7, filled=True)
    box = r'<td class="box">(.*?)</td>'
    assert len(re.findall(box, empty)) == len(re.findall(box, full)) > 90
    assert not any(re.findall(box, empty))
    assert '<span class="blank short"></span>' in empty
    assert '<span class="blank short"></span>' not in full
    shown = [re.sub("<[^>]+>", " ", one) for one in re.findall(box, full)]
    scores = [n for row in problem("scores", 7).answer["scores"] for n in row]
    assert shown[:9] == [f"{n}".replace("-", "−") for n in scores]


def test_each_problem_is_on_one_page():
    names = [one.name for one in problems(3)]
    assert names == [name for page in PAGES for name in page]


@pytest.mark.parametrize("paper", ["a5", "A4", "", None])
def test_an_unknown_paper_is_refused(paper):
    with pytest.raises(ValueError, match=re.escape(repr(paper))):
        html(7, paper=paper)


@pytest.mark.parametrize("seed", [-1, 1.5, "7", True, None])
def test_a_seed_is_a_whole_number(seed):
    with pytest.raises(ValueError, match="seed must be a whole number"):
        make_problems(seed)


# --- the command -----------------------------------------------------------


def test_the_command_writes_both_pages(tmp_path, capsys):
    worksheet.main(["--seed", "7", "--no-pdf", "--output", f"{tmp_path}/new"])
    names = ["worksheet-7.html", "worksheet-7-answers.html"]
    said = capsys.readouterr().out.split()
    assert said == [f"{tmp_path}/new/{name}" for name in names]
    for name, filled in zip(names, (False, True), strict=True):
        stored = (tmp_path / "new" / name).read_bytes().decode("utf-8")
        assert stored == html(7, filled=filled)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--seed", "-1"], "a seed is a whole number from 0 on"),
        (["--seed", "seven"], "received 'seven'"),
        (["--seed", "1.5"], "received '1.5'"),
        (["--paper", "a3"], "invalid choice: 'a3'"),
        (["--colour"], "unrecognized arguments"),
    ],
)
def test_a_wrong_option_is_named(arguments, message, capsys):
    with pytest.raises(SystemExit) as stopped:
        worksheet.main(arguments)
    assert stopped.value.code == 2
    assert message in capsys.readouterr().err


def test_without_a_browser_the_html_is_there_and_it_says_so(
    tmp_path, monkeypatch
):
    monkeypatch.setenv("BROWSER_PATH", "no-such-browser")
    with pytest.raises(SystemExit) as stopped:
        worksheet.main(["--output", str(tmp_path)])
    assert "No PDF: BROWSER_PATH names no program" in stopped.value.code
    assert "--no-pdf" in stopped.value.code
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "worksheet-1-answers.html",
        "worksheet-1.html",
    ]


def test_away_from_the_book_it_says_so(tmp_path, monkeypatch):
    monkeypatch.setattr(printing, "FINDER", tmp_path / "nowhere.py")
    with pytest.raises(printing.NoBrowser, match="the book's own folder"):
        printing.find_browser()


def test_a_folder_that_cannot_be_made_is_named(tmp_path):
    (tmp_path / "taken").write_text("a file", "utf-8")
    with pytest.raises(SystemExit) as stopped:
        worksheet.main(["--no-pdf", "--output", f"{tmp_path}/taken"])
    assert f"{tmp_path}/taken" in stopped.value.code


def test_a_browser_that_fails_is_shown(tmp_path):
    with pytest.raises(printing.NoBrowser, match="does not print"):
        printing.print_pdf("<p>", "/bin/false")


# --- the PDF ---------------------------------------------------------------


@pytest.fixture(scope="module")
def printer():
    path = browser_path()
    if path is None:
        pytest.fail("no Chromium: python tools/find_browser.py --install")
    return path


def pages(pdf):
    return len(re.findall(rb"/Type\s*/Page\b", pdf))


def box(pdf):
    found = re.search(rb"/MediaBox\s*\[0 0 ([\d.]+) ([\d.]+)\]", pdf)
    return [round(float(n)) for n in found.groups()]


@pytest.mark.browser
@pytest.mark.parametrize(
    ("paper", "size"), [("a4", [595, 842]), ("letter", [612, 792])]
)
def test_it_prints_on_four_pages(printer, paper, size):
    assert set(PAPERS) == {"a4", "letter"}
    for seed in (0, 7):
        pdf = printing.print_pdf(html(seed, paper=paper), printer)
        assert pages(pdf) == len(PAGES) == 4
        assert box(pdf) == size
    key = printing.print_pdf(html(7, paper=paper, filled=True), printer)
    assert pages(key) in (2, 3)


@pytest.mark.browser
def test_the_same_seed_gives_the_same_pdf(printer):
    first, second = (printing.print_pdf(html(7), printer) for _ in range(2))
    assert first == second
    assert b"D:20000101000000" in first
    assert first != printing.print_pdf(html(8), printer)


@pytest.mark.browser
@pytest.mark.parametrize("filled", [False, True])
def test_nothing_is_cut_off_and_nothing_overlaps(browser, filled):
    tab = browser.new_page(viewport={"width": 657, "height": 900})  # A4
    tab.emulate_media(media="print")
    for seed in SEEDS:
        tab.set_content(html(seed, filled=filled))
        wide = tab.evaluate(
            "[...document.querySelectorAll('body *')].filter((e) =>"
            " e.getBoundingClientRect().right > innerWidth + 1)"
            ".map((e) => e.outerHTML.slice(0, 80))"
        )
        assert not wide, seed
        tops = tab.evaluate(
            "[...document.querySelectorAll('article')].map((e) => {"
            " const r = e.getBoundingClientRect();"
            " const last = e.lastElementChild.getBoundingClientRect();"
            " return [r.top, r.bottom, last.bottom]; })"
        )
        for (_, bottom, last), (top, *_) in zip(tops, tops[1:], strict=False):
            assert last <= bottom + 1 <= top + 1
    tab.close()


@pytest.mark.browser
def test_each_page_is_short_enough_for_letter(browser):
    """Letter leaves 248 mm: the first page has a header besides."""
    tab = browser.new_page(viewport={"width": 657, "height": 900})
    tab.emulate_media(media="print")
    for seed in SEEDS:
        tab.set_content(html(seed))
        ends = tab.evaluate(
            "[...document.querySelectorAll('.page')].map((e, i) => "
            "(e.getBoundingClientRect().bottom - "
            "(i ? e.getBoundingClientRect().top : 0)) * 25.4 / 96)"
        )
        assert max(ends) <= 248, f"seed {seed}: {ends}"
    tab.close()
