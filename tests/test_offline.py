"""The zip for a USB stick: unpacked where names are awkward, then used."""

import hashlib
import re
import shutil
import zipfile
from urllib.parse import unquote

import pytest
from bs4 import BeautifulSoup

import pack_offline
from contact_sheet import READY
from tests.browse import (
    SET_STATE,
    caption,
    find_shown,
    load,
    moving_explorables,
    query_of,
    settings_of,
    site_pages,
)
from tests.visitor import Visitor


@pytest.fixture(scope="module")
def zipped(built_site, tmp_path_factory):
    target = tmp_path_factory.mktemp("zip") / "self-attention-0.0.zip"
    pack_offline.pack(built_site, target)
    return target


@pytest.fixture(scope="module")
def stick(zipped, tmp_path_factory):
    """The unpacked folder; a space and an umlaut in its name."""
    folder = tmp_path_factory.mktemp("usb") / "Büro Stick"
    with zipfile.ZipFile(zipped) as archive:
        archive.extractall(folder)
    yield folder / zipped.stem
    shutil.rmtree(folder)


@pytest.fixture
def student(browser, stick):
    """Opens what is on the stick; nothing may go wrong."""
    visitor = Visitor(browser, stick)
    yield visitor
    assert visitor.wrong == []


def test_the_same_site_makes_the_same_bytes(built_site, zipped, tmp_path):
    again = tmp_path / zipped.name
    pack_offline.pack(built_site, again)
    once, twice = (
        hashlib.sha256(path.read_bytes()).hexdigest()
        for path in (zipped, again)
    )
    assert once == twice


def test_the_name_says_the_version(root):
    project = (root / "pyproject.toml").read_text("utf-8")
    assert f'version = "{pack_offline.version()}"' in project


def test_it_holds_every_file_of_the_site_but_what_needs_a_server(
    built_site, stick
):
    packed = {
        path.relative_to(stick / "site").as_posix()
        for path in (stick / "site").rglob("*")
        if path.is_file()
    }
    built = {
        path.relative_to(built_site).as_posix()
        for path in built_site.rglob("*")
        if path.is_file()
    }
    left_out = built - packed
    assert packed <= built
    assert all(name.startswith(("lite/", ".")) for name in left_out), left_out
    assert "slides/04_softmax.html" in packed


def test_jupyterlite_is_left_out(tmp_path, built_site):
    site = tmp_path / "site"
    (site / "lite").mkdir(parents=True)
    (site / "index.html").write_text("x", "utf-8")
    (site / "lite" / "index.html").write_text("x", "utf-8")
    (site / "elite.html").write_text("x", "utf-8")
    assert pack_offline.files(site) == ["elite.html", "index.html"]


def test_no_site_is_said(tmp_path):
    with pytest.raises(ValueError, match=re.escape(str(tmp_path))):
        pack_offline.pack(tmp_path, tmp_path / "a.zip")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.bug(id="B37")
def test_every_name_can_be_unpacked_on_windows(zipped):
    with zipfile.ZipFile(zipped) as archive:
        names = archive.namelist()
    assert len({name.lower() for name in names}) == len(names)
    for name in names:
        assert name.isascii(), name
        assert not re.search(r'[<>:"|?*\\]', name), name
        assert len(name) < 160, name  # of 260, with room for a folder
    assert f"{zipped.stem}/START-HERE.html" in names


def test_the_first_page_leads_to_the_book_the_plans_and_the_slides(stick):
    text = (stick / "START-HERE.html").read_text("utf-8")
    links = [a["href"] for a in BeautifulSoup(text, "html.parser")("a")]
    assert "site/book/intro.html" in links
    assert "site/book/teaching.html" in links
    decks = {p.name for p in (stick / "site" / "slides").glob("*.html")}
    assert decks
    assert decks == {x.split("/")[-1] for x in links if "/slides/" in x}
    for link in links:
        assert (stick / unquote(link)).is_file(), link


@pytest.mark.browser
class TestOnAStudentsMachine:
    @pytest.mark.bug(id="B04")
    @pytest.mark.parametrize("page", site_pages())
    def test_a_page_opens_with_its_mathematics(self, student, page):
        tab = student.open(f"site/{page}")
        tab.wait_for_function(READY)
        assert tab.locator("article h1").is_visible()
        tab.context.close()

    def test_from_the_first_page_into_the_book(self, student):
        tab = student.open("START-HERE.html")
        tab.get_by_role("link", name="Read the book").click()
        tab.wait_for_url("**/book/intro.html")
        tab.get_by_role("link", name="Softmax").first.click()
        tab.wait_for_url("**/book/04_softmax.html")
        tab.context.close()

    @pytest.mark.parametrize(
        ("page", "name"), moving_explorables()[::5], ids=str
    )
    def test_a_slider_moves_and_a_link_opens_its_state(
        self, student, page, name
    ):
        explorable = find_shown(name)
        last = explorable.states()[-1]
        tab = student.open(f"site/{page}", mathematics=False)
        load(tab, name)
        tab.evaluate(SET_STATE, [name, settings_of(explorable, last)])
        assert caption(tab, name) == explorable.sentence(**last)
        query = query_of(last)
        tab.goto("about:blank")
        address = (student.site / "site" / page).as_uri()
        tab.goto(f"{address}#{name}?{query}")
        tab.wait_for_function("n => explore.figures.get(n)?.book", arg=name)
        assert caption(tab, name) == explorable.sentence(**last)
        tab.context.close()

    def test_a_figure_plays(self, student):
        page, name = next(
            (page, name)
            for page, name in moving_explorables()
            if any(s.play for s in find_shown(name).sliders)
        )
        tab = student.open(f"site/{page}", mathematics=False)
        load(tab, name)
        before = caption(tab, name)
        tab.locator(f"#{name} .explorable-play").first.click()
        tab.wait_for_function(
            "([n, said]) => document.querySelector(`#${n} figcaption`)"
            ".textContent !== said",
            arg=[name, before],
        )
        tab.context.close()

    def test_slides_turn(self, student):
        tab = student.open("site/slides/04_softmax.html")
        tab.wait_for_function("document.documentElement.dataset.ready")
        tab.keyboard.press("ArrowRight")
        assert tab.evaluate("Reveal.getIndices().h") == 1
        tab.context.close()

    def test_the_search_finds_pages(self, student):
        tab = student.open("site/search.html")
        tab.goto(f"{tab.url}?q=temperature")
        tab.wait_for_selector("#search-results li a")
        found = tab.locator("#search-results li a").all_text_contents()
        assert any("Softmax" in title for title in found)
        tab.context.close()
        # excerpts are fetched, which a browser does not do from a file
        student.wrong[:] = [
            what
            for what in student.wrong
            if "search" not in what.split(":")[0]
            or not re.search("fetch|CORS|Access|no file|ERR_FAILED", what)
        ]
