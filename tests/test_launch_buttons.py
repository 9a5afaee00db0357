"""Launch buttons: of this very fork, to files that exist, or none at all."""

import os
import re
import shutil
import subprocess
import sys
from urllib.parse import parse_qs, unquote, urlsplit

import pytest
import yaml
from bs4 import BeautifulSoup

from tests.conftest import ROOT
from tests.git import NOT_IGNORED, git, listed
from utils.launch.buttons import launch_links
from utils.launch.remote import Repository
from utils.launch.repository import find_repository

SERVICES = {
    "binderhub_url": "https://mybinder.org",
    "colab_url": "https://colab.research.google.com",
    "jupyterhub_url": "https://hub.example.edu/jupyter/",
}
LINKS = ".dropdown-launch-buttons a[href]"
CHAPTER = "book/04_softmax.ipynb"
FORK = Repository("github.com", "ada/fork", "main")
# each of them means something in an address
ODD = Repository("github.com", "ada/fork", "try/a#b&c+d%e'ü")
CONF = """
extensions = ["myst_nb", "utils.launch.buttons"]
nb_execution_mode = "off"
html_theme = "sphinx_book_theme"
html_theme_options = {"launch_buttons": %r}
exclude_patterns = ["_build", "jupyter_execute"]
suppress_warnings = ["myst.xref_missing"]
"""


@pytest.fixture(scope="session")
def tracked():
    """Every file that a clone would have."""
    return set(listed(*NOT_IGNORED))


def links(repository, path=CHAPTER, services=SERVICES):
    return {
        text: urlsplit(url)
        for text, _, url in launch_links(repository, path, services)
    }


class TestLinks:
    def test_a_chapter_has_all_three(self):
        assert list(links(FORK)) == ["Binder", "Colab", "JupyterHub"]

    @pytest.mark.bug(id="B24")
    @pytest.mark.parametrize("repository", [FORK, ODD], ids=["plain", "odd"])
    def test_each_names_repository_version_and_file(self, repository, tracked):
        """Read back as each service reads it; the file must exist."""
        found = links(repository)
        for url in found.values():
            assert not url.fragment
            assert re.fullmatch(r"[!-~]+", url.geturl()), url
            assert not re.search(r"[<>\"'\s]", url.geturl()), url
        binder = found["Binder"].path.split("/")
        assert binder[1:3] == ["v2", "gh"]
        assert "/".join(binder[3:5]) == repository.path
        assert [unquote(part) for part in binder[5:]] == [repository.ref]
        place = parse_qs(found["Binder"].query)["urlpath"][0]
        assert unquote(place).removeprefix("lab/tree/") in tracked

        start = f"/github/{repository.path}/blob/"
        assert found["Colab"].path.startswith(start)
        rest = unquote(found["Colab"].path.removeprefix(start))
        assert rest.startswith(f"{repository.ref}/")
        assert rest.removeprefix(f"{repository.ref}/") in tracked

        hub = found["JupyterHub"]
        assert hub.path == "/jupyter/hub/user-redirect/git-pull"
        asked = {key: value[0] for key, value in parse_qs(hub.query).items()}
        assert asked["repo"] == repository.url
        assert asked["branch"] == repository.ref
        place = unquote(asked["urlpath"]).removeprefix("lab/tree/fork/")
        assert place in tracked

    @pytest.mark.bug(id="B24")
    def test_every_chapter_of_the_book_exists_in_a_clone(self, tracked):
        toc = yaml.safe_load((ROOT / "_toc.yml").read_text("utf-8"))
        listed = re.findall(r"'file': '([^']+)'", repr(toc))
        chapters = [f"{name}.ipynb" for name in listed]
        chapters = [name for name in chapters if (ROOT / name).is_file()]
        assert len(chapters) >= 9
        assert set(chapters) <= tracked

    @pytest.mark.parametrize("path", ["book/a b.ipynb", "book/ä&b#.ipynb"])
    def test_an_odd_file_name_comes_back_whole(self, path):
        found = links(FORK, path)
        assert unquote(found["Colab"].path).endswith(f"/main/{path}")
        for service in ("Binder", "JupyterHub"):
            place = parse_qs(found[service].query)["urlpath"][0]
            assert unquote(place).endswith(path), service

    def test_gitlab_keeps_its_groups_and_has_no_colab(self):
        found = links(Repository("gitlab.com", "uni/course/book", "main"))
        assert list(found) == ["Binder", "JupyterHub"]
        assert found["Binder"].path == "/v2/gl/uni%2Fcourse%2Fbook/main"

    def test_any_other_host_goes_to_binder_by_its_whole_address(self):
        """Unlike the theme's link: executablebooks/jupyter-book#2025."""
        found = links(Repository("git.uni.edu:8443", "ada/book", "main"))
        assert list(found) == ["Binder", "JupyterHub"]
        assert found["Binder"].path == (
            "/v2/git/https%3A%2F%2Fgit.uni.edu%3A8443%2Fada%2Fbook/main"
        )

    def test_a_tag_is_pulled_like_a_branch(self):
        tag = Repository("github.com", "ada/fork", "v1", "tag")
        assert parse_qs(links(tag)["JupyterHub"].query)["branch"] == ["v1"]

    def test_a_hub_cannot_pull_a_bare_commit(self):
        commit = Repository("github.com", "ada/fork", "a" * 40, "commit")
        assert list(links(commit)) == ["Binder", "Colab"]

    @pytest.mark.parametrize("nothing", ["", "  ", None])
    def test_a_service_that_is_not_named_has_no_button(self, nothing):
        services = {**SERVICES, "jupyterhub_url": nothing}
        assert list(links(FORK, services=services)) == ["Binder", "Colab"]
        assert links(FORK, services={}) == {}


@pytest.fixture(scope="module")
def build(tmp_path_factory):
    """Build a chapter and a page, in a clone of that remote, as a page."""

    def build(remote=None, **environment):
        source = tmp_path_factory.mktemp("clone")
        (source / "book").mkdir()
        shutil.copy(ROOT / CHAPTER, source / CHAPTER)
        (source / "conf.py").write_text(CONF % SERVICES, "utf-8")
        (source / "index.md").write_text(
            "# Book\n\n```{toctree}\nbook/04_softmax\n```\n", "utf-8"
        )
        git(source, "init", "-q", "-b", "main")
        if remote:
            git(source, "remote", "add", "origin", remote)
        return build_again(source, **environment)

    return build


def build_again(source, **environment):
    done = subprocess.run(
        [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going"]
        + [source, source / "_build"],
        env={**clean_environment(), **environment},
        capture_output=True,
        encoding="locale",
    )
    return source, done


def clean_environment():
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("GITHUB_", "CI_", "GIT_"))
    }
    return {**kept, "PYTHONPATH": str(ROOT)}


def buttons(source, page="book/04_softmax.html"):
    html = (source / "_build" / page).read_text("utf-8")
    found = BeautifulSoup(html, "html.parser").select(LINKS)
    return {link.get_text(strip=True): link for link in found}


@pytest.fixture(scope="module")
def fork_site(build):
    source, done = build("git@github.com:bob/his-fork.git")
    assert (done.returncode, done.stderr) == (0, "")
    return source


class TestPages:
    def test_a_fork_s_page_opens_the_fork(self, fork_site):
        found = buttons(fork_site)
        assert list(found) == ["Binder", "Colab", "JupyterHub"]
        for link in found.values():
            assert "bob/his-fork" in unquote(link["href"])
            assert link["target"] == "_blank"
            assert link["title"].startswith("Run this chapter on ")

    def test_their_icons_lie_in_the_site_and_say_what_they_are(
        self, fork_site
    ):
        page = fork_site / "_build" / "book"
        for text, link in buttons(fork_site).items():
            icon = link.find("img")
            assert (page / icon["src"]).resolve().is_file()
            assert text in icon["alt"]

    def test_a_page_that_is_no_notebook_has_none(self, fork_site):
        assert buttons(fork_site, "index.html") == {}

    def test_when_the_fork_moves_every_page_is_written_again(self, build):
        source, _ = build("https://github.com/bob/old")
        moved = "https://github.com/bob/new"
        git(source, "remote", "set-url", "origin", moved)
        _, done = build_again(source)
        assert done.stderr == ""
        assert "bob/new" in buttons(source)["Colab"]["href"]

    def test_the_ci_s_variables_come_first(self, build):
        source, done = build(
            "https://github.com/ada/original",
            GITHUB_REPOSITORY="bob/fork",
            GITHUB_REF="refs/heads/lesson",
        )
        assert (done.returncode, done.stderr) == (0, "")
        href = buttons(source)["Colab"]["href"]
        assert "/bob/fork/blob/lesson/" in href

    @pytest.mark.parametrize("remote", [None, "/srv/git/book.git"])
    def test_without_a_public_remote_no_button_and_no_word(
        self, build, remote
    ):
        source, done = build(remote)
        assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
        assert buttons(source) == {}

    def test_an_odd_remote_stops_the_build_and_is_named(self, build):
        _, done = build("https://github.com/only-a-name")
        assert done.returncode
        assert "https://github.com/only-a-name" in done.stderr


def settings():
    """What jupyter-book hands on to Sphinx as it is."""
    text = (ROOT / "_config.yml").read_text("utf-8")
    return yaml.safe_load(text)["sphinx"]["config"]


class TestThisBook:
    def test_its_settings_name_the_services(self):
        config = settings()
        named = config["html_theme_options"]["launch_buttons"]
        assert named["binderhub_url"]
        assert named["colab_url"]
        assert "jupyterhub_url" in named
        assert "repository_url" not in config["html_theme_options"]

    @pytest.mark.bug(id="B24")
    def test_each_built_chapter_opens_itself(self, built_site, tracked):
        """Where this clone has a public remote; and nothing where not."""
        repository = find_repository(ROOT)
        services = settings()["html_theme_options"]["launch_buttons"]
        for page in sorted(built_site.glob("book/*.html")):
            path = f"book/{page.stem}.ipynb"
            html = BeautifulSoup(page.read_text("utf-8"), "html.parser")
            found = [link["href"] for link in html.select(LINKS)]
            wanted = []
            if repository is not None and path in tracked:
                wanted = [
                    url for *_, url in launch_links(repository, path, services)
                ]
            assert set(wanted) <= set(found), page.name
            assert wanted or not [u for u in found if "mybinder" in u]
