"""Reports about built books: what is built, and what is left off."""

import re
from collections import Counter

import pytest
import yaml

from tests.conftest import ROOT, stored_notebooks
from tests.test_links import page, pages

CONFIG = yaml.safe_load((ROOT / "_config.yml").read_text("utf-8"))
# Sphinx's own, which no table of contents lists
SPHINX = {"index", "genindex", "search"}
# explicit names: (name)=, $$ (name), :label: name, :name: name
LABEL = re.compile(
    r"^\(([\w-]+)\)=|\$\$ *\(([\w-]+)\)|^\s*:(?:label|name): *([\w-]+)",
    re.MULTILINE,
)


def listed(node):
    """The pages of a table of contents."""
    if isinstance(node, dict):
        for key, value in node.items():
            if key in ("file", "root"):
                yield value
            else:
                yield from listed(value)
    elif isinstance(node, list):
        for child in node:
            yield from listed(child)


@pytest.mark.bug(id="B15")
def test_no_built_page_shows_a_traceback(built_site):
    for path in pages(built_site):
        soup = page(path)
        assert not soup.select(".output.traceback, .output.stderr"), path
        text = path.read_text("utf-8")
        assert "Traceback (most recent call last)" not in text, path


@pytest.mark.bug(id="B17")
def test_the_pages_that_are_built_are_those_that_are_listed(built_site):
    toc = yaml.safe_load((ROOT / "_toc.yml").read_text("utf-8"))
    wanted = set(listed(toc))
    assert len(wanted) > 12
    built = {
        path.relative_to(built_site).with_suffix("").as_posix()
        for folder in (built_site, built_site / "book")
        for path in folder.glob("*.html")
    }
    assert built - SPHINX == wanted
    assert CONFIG["only_build_toc_files"] is True


@pytest.mark.bug(id="B15")
@pytest.mark.bug(id="B17")
@pytest.mark.bug(id="B18")
@pytest.mark.parametrize("name", ["Makefile", "README.md"])
def test_a_warning_of_the_build_is_an_error(name):
    """A label used twice, a link to a page that is not built, and more."""
    text = (ROOT / name).read_text("utf-8")
    builds = re.findall(r"jupyter-book build.*", text)
    assert builds
    for line in builds:
        assert {"-W", "-n", "--keep-going"} <= set(line.split()), line


@pytest.mark.bug(id="B18")
def test_no_label_is_given_twice_in_the_book():
    texts = [path.read_text("utf-8") for path in ROOT.glob("book/*.md")]
    for notebook in stored_notebooks():
        texts += [cell["source"] for cell in notebook.markdown()]
    names = Counter(
        next(filter(None, found))
        for text in texts
        for found in LABEL.findall(text)
    )
    assert not [name for name, times in names.items() if times > 1]
    figures = Counter(
        name
        for notebook in stored_notebooks()
        for name in re.findall(r'data-explorable=\\"([\w-]+)', notebook.text)
    )
    assert figures
    assert not [name for name, times in figures.items() if times > 1]


@pytest.mark.bug(id="B18")
@pytest.mark.parametrize(
    "text", ["(same)=", "$$a$$ (same)", ":label: same", "  :name: same"]
)
def test_every_way_to_give_a_label_is_known(text):
    assert next(filter(None, LABEL.findall(text)[0])) == "same"


@pytest.mark.bug(id="B32")
def test_the_site_is_published_as_an_artifact_with_its_styles(built_site):
    """Not from a branch, where Jekyll would drop folders named _..."""
    jobs = (ROOT / ".github/workflows/book.yml").read_text("utf-8")
    steps = [
        step.get("uses", "").partition("@")[0]
        for job in yaml.safe_load(jobs)["jobs"].values()
        for step in job["steps"]
    ]
    assert "actions/deploy-pages" in steps
    assert "actions/upload-pages-artifact" in steps
    assert not [step for step in steps if "gh-pages" in step]
    assert (built_site / "_static" / "pygments.css").is_file()
    assert "sphinx.ext.githubpages" in CONFIG["sphinx"]["extra_extensions"]


@pytest.mark.bug(id="B39")
def test_no_page_offers_a_pdf_that_nobody_builds(built_site):
    options = CONFIG["sphinx"]["config"]["html_theme_options"]
    assert options["use_download_button"] is False
    for path in pages(built_site):
        soup = page(path)
        assert not soup.select(".dropdown-download-buttons"), path
        assert "window.print()" not in path.read_text("utf-8"), path


@pytest.mark.bug(id="B40")
def test_no_page_has_a_button_for_thebe(built_site):
    assert CONFIG["launch_buttons"]["thebe"] is False
    options = CONFIG["sphinx"]["config"]["html_theme_options"]
    assert "thebe" not in options["launch_buttons"]
    for path in pages(built_site):
        text = path.read_text("utf-8")
        assert "Live Code" not in text, path
        assert "initThebe" not in text, path
        soup = page(path)
        scripts = [tag.get("src", "") for tag in soup.find_all("script")]
        assert not [src for src in scripts if "thebe" in src], path
