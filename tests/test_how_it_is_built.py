"""The page on the house: its five examples lead where they say."""

import re

import pytest
from bs4 import BeautifulSoup

from tests.conftest import ROOT

TEXT = (ROOT / "book" / "how_it_is_built.md").read_text("utf-8")
EXAMPLES = dict(
    part.split("\n", 1)
    for part in TEXT.split("## From a word")[1].split("\n### ")[1:]
)
FENCED = {title: text for title, text in EXAMPLES.items() if "```" in text}
FILE = re.compile(r"`((?:utils|tests|book)/[\w/]+\.\w+)`")
each_example = pytest.mark.parametrize("title", FENCED)


def plain(text):
    return " ".join(text.split())


def test_there_are_five_examples():
    assert len(FENCED) == 5


@each_example
def test_the_words_stand_on_the_page_that_is_named(built_site, title):
    text = plain(FENCED[title])
    words = re.search("“(.+?)”", text)[1]
    page = re.search(r"\]\((\w+)\.ipynb\)", text)[1]
    html = (built_site / "book" / f"{page}.html").read_text("utf-8")
    article = BeautifulSoup(html, "html.parser").find("article")
    assert words in plain(article.get_text(" ")), f"{words} on {page}"


@each_example
def test_the_line_stands_once_in_the_file_that_is_named(title):
    text = FENCED[title]
    (line,) = re.findall(r"^```\w+\n(.+)\n```$", text, re.MULTILINE)
    file = FILE.findall(plain(text.split("```")[0]))[-1]
    lines = (ROOT / file).read_text("utf-8").split("\n")
    lines = [one.strip() for one in lines]
    assert lines.count(line) == 1, f"{line} in {file}"
    words = re.search("“(.+?)”", plain(text))[1]
    assert words in line, "the line makes the words"


@pytest.mark.parametrize(
    "row", [line for line in TEXT.split("\n") if "“" in line and "|" in line]
)
def test_the_words_of_a_row_stand_in_its_file(row):
    seen, place = row.strip("| ").split(" | ")
    (file,) = FILE.findall(place)
    assert re.search("“(.+?)”", seen)[1] in (ROOT / file).read_text("utf-8")


def test_the_words_of_a_button_stand_in_its_script():
    found = re.search("for “(.+?)” in `(.+?)`", plain(TEXT))
    word, script = found.groups()
    text = (ROOT / "utils" / "explore" / script).read_text("utf-8")
    assert f'"{word}"' in text


def test_every_file_that_is_named_is_there():
    named = set(FILE.findall(TEXT))
    assert len(named) >= 10
    for name in named:
        assert (ROOT / name).is_file(), name
    beside = re.findall(r"`([a-z_]+\.(?:py|js))`", TEXT)
    for name in beside:
        assert list((ROOT / "utils").rglob(name)), name


def test_the_anchor_in_the_text_is_a_figure_s(built_site):
    name, query = re.search(r"`#([a-z-]+)\?(\w+=\w+)`", TEXT).groups()
    html = (built_site / "book" / "04_softmax.html").read_text("utf-8")
    assert f'id="{name}"' in html
    folder, file = name.split("-")
    assert (ROOT / f"utils/figures/{folder}/{file}.py").is_file()
    assert f'name="{query.split("=")[0]}"' in html


@pytest.mark.parametrize(
    ("file", "word"),
    [
        ("explore/frames.py", "def draw_all"),
        ("explore/flipbook.py", "class Flipbook"),
        ("explore/explore.js", "loading"),
        ("explore/page.py", "def find_explorables"),
    ],
)
def test_what_moves_a_slider_is_where_the_page_says(file, word):
    assert word in (ROOT / "utils" / file).read_text("utf-8")
    assert f"`{file.split('/')[1]}`" in TEXT or f"`utils/{file}`" in TEXT
