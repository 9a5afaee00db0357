"""The sheet shows every strip of every look, and says what is wrong."""

import pytest
from bs4 import BeautifulSoup
from PIL import Image

import contact_sheet

TAKEN = {
    "book/a.html": {
        "phone": (["a-phone-00.jpg", "a-phone-01.jpg"], ""),
        "print": (["a-print-00.jpg"], "scrolls sideways by 9 px"),
    },
    "book/b & c.html": {"phone": (["b.jpg"], "")},
}


def test_the_sheet_has_all_and_says_what_is_wrong():
    page = BeautifulSoup(contact_sheet.sheet(TAKEN), "html.parser")
    shown = [image["src"] for image in page("img")]
    assert shown == [
        name
        for looks in TAKEN.values()
        for names, _ in looks.values()
        for name in names
    ]
    assert all(image["alt"] for image in page("img"))
    assert "1 scroll sideways" in page.p.text
    said = [mark.text for mark in page.select("figcaption .wrong")]
    assert said == ["scrolls sideways by 9 px"]
    places = {heading["id"] for heading in page("h2")}
    assert {link["href"][1:] for link in page("a")} == places


def test_when_all_is_well_it_says_so():
    taken = {"book/a.html": {"phone": (["a.jpg"], "")}}
    assert "Nothing scrolls sideways." in contact_sheet.sheet(taken)


@pytest.fixture
def pages(tmp_path):
    whole = (
        '<!DOCTYPE html><meta charset="utf-8"><style>body {margin: 0}'
        "@media print {div {width: 900px}}"
        "</style><div style='height: 9000px; background: #fff'></div>"
        "<script>document.querySelector('div').style.background ="
        " matchMedia('(prefers-color-scheme: dark)').matches"
        " ? '#000' : '#0f0';</script>"
    )
    (tmp_path / "a.html").write_text(whole, "utf-8")
    return tmp_path


def read(path):
    with Image.open(path) as image:
        image.load()
        return image


@pytest.mark.browser
@pytest.mark.parametrize(
    ("look", "colour", "wrong"),
    [
        ("phone", (0, 255, 0), ""),
        ("desk, dark", (0, 0, 0), ""),
        ("no JavaScript", (255, 255, 255), ""),
        ("print", (0, 255, 0), "scrolls sideways by 182 px"),
    ],
)
def test_a_page_is_taken_as_it_looks(browser, pages, look, colour, wrong):
    names, said = contact_sheet.take(browser, pages, "a.html", look, pages)
    strips = [read(pages / name) for name in names]
    assert [strip.height for strip in strips] == [4000, 4000, 1000]
    assert {strip.width for strip in strips} == {contact_sheet.LOOKS[look][0]}
    near = strips[-1].getpixel((100, 500))
    assert max(abs(a - b) for a, b in zip(near, colour, strict=True)) < 9
    assert said == wrong


@pytest.mark.browser
def test_what_glides_has_arrived(browser, tmp_path):
    """A picture makes the window small for a moment, and the sidebar moves."""
    (tmp_path / "a.html").write_text(
        '<!DOCTYPE html><meta charset="utf-8"><style>body {margin: 0}'
        "div {height: 9000px; background: #fff}"
        "@media (min-width: 900px) {div {margin-left: 256px;"
        " transition: margin-left 9s}}"
        "html {background: #000}</style><div></div>",
        "utf-8",
    )
    names, _ = contact_sheet.take(
        browser, tmp_path, "a.html", "desk", tmp_path
    )
    for name in names:
        strip = read(tmp_path / name).convert("L")
        assert strip.getpixel((240, 500)) < 9
        assert strip.getpixel((270, 500)) > 246


def test_a_page_that_is_not_there_is_named(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(contact_sheet, "SITE", tmp_path)
    assert contact_sheet.main([]) == 1
    assert "the book is not built" in capsys.readouterr().err
    (tmp_path / "book").mkdir()
    (tmp_path / "book" / "a.html").touch()
    assert contact_sheet.main(["b"]) == 1
    assert "no page book/b.html" in capsys.readouterr().err
