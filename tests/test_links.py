"""Links of the built site lead somewhere, and nothing loads from elsewhere.

Read from the files; that the browser asks no other host either is watched in
test_site.py.
"""

import json
import re
from functools import cache
from urllib.parse import parse_qsl, unquote, urlsplit

import pytest
from bs4 import BeautifulSoup

# what makes a browser load something, or prepare to
LOADING = {
    ("script", "src"),
    ("link", "href"),
    ("img", "src"),
    ("img", "srcset"),
    ("source", "src"),
    ("source", "srcset"),
    ("iframe", "src"),
    ("embed", "src"),
    ("object", "data"),
    ("video", "src"),
    ("video", "poster"),
    ("audio", "src"),
    ("track", "src"),
    ("input", "src"),
    ("image", "href"),
    ("image", "xlink:href"),
    ("use", "href"),
    ("use", "xlink:href"),
}
FOLLOWED = {("a", "href"), ("area", "href"), ("form", "action")}
CSS_URL = re.compile(
    r"""(?:url\(\s*|@import\s+)(?P<quote>["']?)(?P<url>[^"')]+)(?P=quote)"""
)


@cache
def page(path):
    return BeautifulSoup(path.read_text("utf-8"), "html.parser")


@cache
def anchors(path):
    soup = page(path)
    named = {tag["name"] for tag in soup.find_all("a", attrs={"name": True})}
    return named | {tag["id"] for tag in soup.find_all(id=True)} | {"", "top"}


def pages(site):
    """Every page of the site; _static holds the theme's templates too."""
    return [
        path
        for path in sorted(site.rglob("*.html"))
        if "_static" not in path.relative_to(site).parts
    ]


def references(soup, kinds):
    for tag in soup.find_all(True):
        for name, attribute in kinds:
            if tag.name == name and tag.get(attribute):
                value = tag[attribute]
                if attribute == "srcset":
                    for part in value.split(","):
                        yield tag, part.split()[0]
                else:
                    yield tag, value


def leaves_the_site(url):
    parts = urlsplit(url)
    return bool(parts.netloc) or parts.scheme in ("http", "https", "ftp")


def problem(site, source, url):
    """Say why a reference inside the site leads nowhere; None if it leads."""
    parts = urlsplit(url)
    if parts.scheme:
        return None if parts.scheme in ("data", "mailto") else "odd scheme"
    target = source
    if parts.path:
        if parts.path.startswith("/"):
            return "an absolute path breaks on file:// and in a subfolder"
        target = (source.parent / unquote(parts.path)).resolve()
        if not target.is_relative_to(site.resolve()):
            return "outside the site"
        if not target.is_file():
            return "no such file"
    if not parts.fragment or target.suffix != ".html":
        return None
    name, _, state = unquote(parts.fragment).partition("?")
    if name not in anchors(target):
        return f"no anchor {name!r} in {target.name}"
    return state_problem(target, name, state) if state else None


def state_problem(target, name, state):
    """Say why a link to a state of an explorable is wrong."""
    figure = page(target).find(id=name)
    config = figure.find("script", type="application/json")
    if config is None:
        return f"{name!r} has no states"
    config = json.loads(config.string)
    chosen = dict(parse_qsl(state, keep_blank_values=True))
    chosen.pop("projector", None)  # opens the figure over the whole window
    values = {**config["start"], **chosen}
    options = {
        slider["name"]: slider["options"].get(values[slider["given"]], [])
        if "given" in slider
        else slider["options"]
        for slider in config["sliders"]
    }
    for slider, value in chosen.items():
        if slider not in options:
            return f"{name!r} has no slider {slider!r}"
        if value not in [key for key, _ in options[slider]]:
            return f"{name!r}: {slider} cannot be {value!r}"
    return None


@pytest.mark.bug(id="B17")
def test_every_link_leads_somewhere(built_site):
    broken = []
    found = 0
    for path in pages(built_site):
        for tag, url in references(page(path), LOADING | FOLLOWED):
            if leaves_the_site(url):
                continue
            found += 1
            why = problem(built_site, path, url)
            if why:
                where = path.relative_to(built_site)
                broken.append(f"{where}: <{tag.name}> {url}: {why}")
    assert not broken, "\n".join(sorted(set(broken)))
    assert found > 50, "hardly any link found: is this the book?"


def test_the_front_page_leads_into_the_book(built_site):
    front = built_site / "index.html"
    sent = page(front).find("meta", attrs={"http-equiv": re.compile("(?i)re")})
    if sent:
        url = re.search(r"url=(.+)", sent["content"], re.IGNORECASE).group(1)
        assert problem(built_site, front, url.strip()) is None, url


@pytest.mark.bug(id="B04")
def test_no_page_loads_from_another_host(built_site):
    for path in pages(built_site):
        soup = page(path)
        outside = [
            f"<{tag.name}> {url}"
            for tag, url in references(soup, LOADING)
            if leaves_the_site(url)
        ]
        styles = [tag.get_text() for tag in soup.find_all("style")]
        styles += [tag["style"] for tag in soup.find_all(style=True)]
        outside += [
            match["url"]
            for style in styles
            for match in CSS_URL.finditer(style)
            if leaves_the_site(match["url"])
        ]
        assert not outside, f"{path.relative_to(built_site)}: {outside}"


@pytest.mark.bug(id="B04")
def test_style_sheets_load_files_of_the_site_alone(built_site):
    sheets = {
        (path.parent / unquote(urlsplit(tag["href"]).path)).resolve()
        for path in pages(built_site)
        for tag in page(path).find_all("link", rel="stylesheet")
    }
    assert sheets, "no style sheet found: is this the book?"
    for sheet in sorted(sheets):
        for match in CSS_URL.finditer(sheet.read_text("utf-8")):
            url = match["url"].strip()
            if url.startswith("#"):
                continue
            where = f"{sheet.relative_to(built_site.resolve())}: {url}"
            assert not leaves_the_site(url), where
            assert problem(built_site, sheet, url) is None, where


@pytest.mark.bug(id="B21")
def test_every_picture_says_what_it_shows(built_site):
    for path in pages(built_site):
        article = page(path).find("article")
        for tag in article.find_all("img") if article else []:
            words = tag.get("alt", "").strip()
            where = (
                f"{path.relative_to(built_site)}: {tag.get('src', '')[:60]}"
            )
            assert words, f"{where} has no alternative text"
            # Sphinx puts the file's path where nobody wrote a text
            assert not re.fullmatch(r"\S+\.(png|svg|jpe?g|gif)", words), where


@pytest.mark.bug(id="B18")
def test_no_id_is_used_twice_on_a_page(built_site):
    for path in pages(built_site):
        ids = [tag["id"] for tag in page(path).find_all(id=True)]
        twice = sorted({name for name in ids if ids.count(name) > 1})
        assert not twice, f"{path.relative_to(built_site)}: {twice}"


@pytest.mark.bug(id="B32")
def test_pages_are_published_as_they_are(built_site):
    """Without this file GitHub Pages would drop the folders in _ names."""
    assert (built_site / ".nojekyll").is_file()
