"""The repository a book is built from: its remote, its CI, its version."""

import subprocess

import pytest

from tests.git import git
from utils.launch.remote import Repository, parse_remote
from utils.launch.repository import find_repository

NO_CI = {}
SHA = "1234567890abcdef1234567890abcdef12345678"


def git_takes(ref):
    try:
        git(".", "check-ref-format", f"refs/heads/{ref}")
    except subprocess.CalledProcessError:
        return False
    return True


@pytest.fixture(autouse=True)
def git_alone(monkeypatch, tmp_path):
    """Neither the settings of who runs the tests, nor a hook's variables."""
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(tmp_path / "no-such-file"))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    for name in ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def clone(tmp_path):
    """A repository of one commit, on main, with a fork as its origin."""
    folder = tmp_path / "clone"
    folder.mkdir()
    git(folder, "init", "--quiet", "--initial-branch=main")
    git(folder, "commit", "--quiet", "--allow-empty", "--message=one")
    git(folder, "remote", "add", "origin", "git@github.com:ada/book.git")
    return folder


class TestRemote:
    @pytest.mark.parametrize(
        "address",
        [
            "https://github.com/ada/attention",
            "https://github.com/ada/attention.git",
            "https://github.com/ada/attention/",
            "https://GitHub.com/ada/attention.git\n",
            "http://github.com/ada/attention",
            "git://github.com/ada/attention.git",
            "ssh://git@github.com/ada/attention.git",
            "ssh://git@github.com:22/ada/attention.git",
            "git+ssh://git@github.com/ada/attention.git",
            "git@github.com:ada/attention.git",
            "git@github.com:/ada/attention",
            "github.com:ada/attention",
        ],
    )
    def test_every_way_to_write_it_is_one_repository(self, address):
        assert parse_remote(address) == ("github.com", "ada/attention")

    @pytest.mark.parametrize(
        ("address", "host", "path"),
        [
            (
                "https://gitlab.com/uni/course/a.b.git",
                "gitlab.com",
                "uni/course/a.b",
            ),
            ("git@git.uni.edu:x/y.git", "git.uni.edu", "x/y"),
            ("https://git.uni.edu:8443/x/y", "git.uni.edu:8443", "x/y"),
            ("https://codeberg.org/ada/.profile", "codeberg.org", None),
            ("https://example.org/~ada/a%2Db", "example.org", "~ada/a-b"),
        ],
    )
    def test_other_hosts_groups_and_ports(self, address, host, path):
        assert parse_remote(address) == (host, path or "ada/.profile")

    @pytest.mark.parametrize(
        "address",
        [
            "https://ada:s3cret@github.com/ada/attention.git",
            "https://x-access-token:s3cret@github.com/ada/attention",
            "https://s3cret@github.com/ada/attention",
        ],
    )
    def test_a_password_is_left_behind(self, address):
        assert "s3cret" not in repr(parse_remote(address))

    def test_an_error_does_not_tell_the_password(self):
        with pytest.raises(ValueError, match="a b") as told:
            parse_remote("https://ada:s3cret@github.com/ada/a b")
        assert "s3cret" not in str(told.value)

    @pytest.mark.parametrize(
        "address",
        [
            "/srv/git/book.git",
            "../book",
            "./book",
            "~/book",
            "C:\\books\\attention",
            "C:/books/attention",
            "file:///srv/git/book.git",
            "http://localhost:3000/ada/book",
            "http://127.0.0.1:41234/git/ada/book",
            "http://[::1]/ada/book",
            "ssh://git@localhost/ada/book",
        ],
    )
    def test_what_nobody_else_can_reach_is_no_repository(self, address):
        assert parse_remote(address) is None

    @pytest.mark.parametrize(
        "address",
        [
            "",
            "book",
            "ftp://github.com/ada/attention",
            "javascript://github.com/ada/attention",
            "https://github.com/attention",
            "https://github.com/",
            "https://github.com/ada//attention",
            "https://github.com/ada/..",
            "https://github.com/ada/%2E%2E",
            "https://github.com/ada/a%22onclick",
            "https://github.com/ada/<b>",
            "https://git hub.com/ada/attention",
            "https://git_hub.com/ada/attention",
            "https://github.com:port/ada/attention",
            "https:///ada/attention",
            "git@github.com:attention.git",
            "git@-oProxyCommand:ada/attention",
        ],
    )
    def test_what_is_no_address_is_refused_by_name(self, address):
        with pytest.raises(ValueError, match="remote"):
            parse_remote(address)


class TestRepository:
    def test_its_parts(self):
        fork = Repository("gitlab.com", "uni/course/book", "main")
        assert fork.url == "https://gitlab.com/uni/course/book"
        assert (fork.owner, fork.name) == ("uni/course", "book")

    @pytest.mark.parametrize(
        "ref", ["main", "v1.0", "feature/x", "a#b", "a+b", "ü", "a'\"&b"]
    )
    def test_it_takes_the_names_that_git_takes(self, ref):
        assert git_takes(ref)
        assert Repository("github.com", "a/b", ref).ref == ref

    @pytest.mark.parametrize(
        "ref",
        ["", "a b", "a..b", "a~1", "a^", "a:b", "a?", "a*", "[a", "a\\b"]
        + ["a.lock", "a/", "/a", "a//b", ".a", "a/.b", "a.", "a@{1}", "a\nb"],
    )
    def test_it_refuses_what_git_refuses(self, ref):
        assert not git_takes(ref)
        with pytest.raises(ValueError, match="git allows no branch"):
            Repository("github.com", "a/b", ref)

    @pytest.mark.parametrize("ref", ["@", "-x"])
    def test_it_refuses_what_a_command_would_misread(self, ref):
        with pytest.raises(ValueError, match="git allows no branch"):
            Repository("github.com", "a/b", ref)

    @pytest.mark.parametrize(
        ("arguments", "match"),
        [
            (("git hub", "a/b", "main"), "'git hub'"),
            (("github.com", "b", "main"), "'b'"),
            (("github.com", "a/b?", "main"), "'a/b\\?'"),
            (("github.com", "a/b", "main", "head"), "'head'"),
            (("github.com", "a/b", SHA[:7], "commit"), SHA[:7]),
        ],
    )
    def test_a_wrong_part_is_named(self, arguments, match):
        with pytest.raises(ValueError, match=match):
            Repository(*arguments)


class TestClone:
    def test_a_branch(self, clone):
        assert find_repository(clone, NO_CI) == Repository(
            "github.com", "ada/book", "main"
        )

    def test_a_branch_of_another_name_upstream(self, clone):
        git(clone, "remote", "add", "fork", "https://github.com/bob/book")
        git(clone, "config", "branch.main.remote", "fork")
        git(clone, "config", "branch.main.merge", "refs/heads/lesson/1")
        assert find_repository(clone, NO_CI) == Repository(
            "github.com", "bob/book", "lesson/1"
        )

    def test_a_tag(self, clone):
        git(clone, "tag", "v1.0")
        git(clone, "checkout", "--quiet", "--detach")
        assert find_repository(clone, NO_CI) == Repository(
            "github.com", "ada/book", "v1.0", "tag"
        )

    def test_a_bare_commit(self, clone):
        git(clone, "checkout", "--quiet", "--detach")
        assert find_repository(clone, NO_CI) == Repository(
            "github.com", "ada/book", git(clone, "rev-parse", "HEAD"), "commit"
        )

    def test_a_worktree(self, clone, tmp_path):
        folder = tmp_path / "tree"
        git(clone, "worktree", "add", "--quiet", str(folder), "-b", "try")
        assert find_repository(folder, NO_CI).ref == "try"

    def test_the_only_remote_whatever_its_name(self, clone):
        git(clone, "remote", "rename", "origin", "school")
        assert find_repository(clone, NO_CI).path == "ada/book"

    def test_no_remote(self, clone):
        git(clone, "remote", "remove", "origin")
        assert find_repository(clone, NO_CI) is None

    def test_a_remote_that_is_a_folder(self, clone):
        git(clone, "remote", "set-url", "origin", "/srv/git/book.git")
        assert find_repository(clone, NO_CI) is None

    def test_no_commit_yet(self, tmp_path):
        git(tmp_path, "init", "--quiet", "--initial-branch=main")
        assert find_repository(tmp_path, NO_CI) is None

    def test_a_folder_without_git(self, tmp_path):
        assert find_repository(tmp_path, NO_CI) is None

    def test_a_folder_inside_another_repository(self, clone):
        (clone / "book").mkdir()
        assert find_repository(clone / "book", NO_CI) is None

    def test_a_machine_without_git(self, clone, monkeypatch, tmp_path):
        monkeypatch.setenv("PATH", str(tmp_path))
        assert find_repository(clone, NO_CI) is None

    def test_an_odd_remote_is_named(self, clone):
        git(clone, "remote", "set-url", "origin", "https://github.com/book")
        with pytest.raises(ValueError, match="https://github.com/book"):
            find_repository(clone, NO_CI)


class TestCi:
    github = {"GITHUB_REPOSITORY": "bob/fork", "GITHUB_SHA": SHA}
    gitlab = {"CI_PROJECT_PATH": "uni/a/fork", "CI_COMMIT_SHA": SHA}

    @pytest.mark.parametrize(
        ("variables", "ref", "kind"),
        [
            ({"GITHUB_REF": "refs/heads/main"}, "main", "branch"),
            ({"GITHUB_REF": "refs/heads/try/me"}, "try/me", "branch"),
            ({"GITHUB_REF": "refs/tags/v1"}, "v1", "tag"),
            ({"GITHUB_REF": "refs/pull/7/merge"}, SHA, "commit"),
            ({}, SHA, "commit"),
        ],
    )
    def test_github(self, clone, variables, ref, kind):
        found = find_repository(clone, {**self.github, **variables})
        assert found == Repository("github.com", "bob/fork", ref, kind)

    def test_forgejo_says_where_it_is(self, clone):
        variables = {
            **self.github,
            "GITHUB_SERVER_URL": "https://codeberg.org",
            "GITHUB_REF": "refs/heads/main",
        }
        found = find_repository(clone, variables)
        assert found.url == "https://codeberg.org/bob/fork"

    @pytest.mark.parametrize(
        ("variables", "ref", "kind"),
        [
            ({"CI_COMMIT_BRANCH": "main"}, "main", "branch"),
            ({"CI_COMMIT_TAG": "v1"}, "v1", "tag"),
            ({"CI_COMMIT_REF_NAME": "merge-request"}, SHA, "commit"),
        ],
    )
    def test_gitlab(self, clone, variables, ref, kind):
        found = find_repository(clone, {**self.gitlab, **variables})
        assert found == Repository("gitlab.com", "uni/a/fork", ref, kind)

    def test_a_gitlab_of_one_s_own(self, clone):
        variables = {
            **self.gitlab,
            "CI_SERVER_URL": "https://git.uni.edu:8443",
            "CI_COMMIT_BRANCH": "main",
        }
        found = find_repository(clone, variables)
        assert found.url == "https://git.uni.edu:8443/uni/a/fork"

    def test_it_comes_before_the_remote_and_needs_no_git(self, tmp_path):
        variables = {**self.github, "GITHUB_REF": "refs/heads/main"}
        assert find_repository(tmp_path, variables).path == "bob/fork"

    def test_odd_variables_are_named(self, clone):
        with pytest.raises(ValueError, match="bob"):
            find_repository(clone, {"GITHUB_REPOSITORY": "bob"})
        with pytest.raises(ValueError, match="git allows no commit ''"):
            find_repository(clone, {"GITHUB_REPOSITORY": "bob/fork"})
