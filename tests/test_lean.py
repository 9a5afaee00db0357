"""What a page does not use is left out, and nothing else is."""

from types import SimpleNamespace

import pytest

from utils.explore import lean

SCRIPT = (
    '{bars:[512,512,["menu","navicon"],"f0c9","M0"],'
    '"arrow-up":[384,512,[],"f062",["M1","M2"]],'
    'ant:[1,2,[],"f1","M1"]}'
)


class App:
    """As much of Sphinx as the extension asks for."""

    def __init__(self, outdir=None, format="html"):
        self.builder = SimpleNamespace(format=format)
        self.config = SimpleNamespace(html_static_path=["_static"])
        self.outdir = outdir
        self.connected, self.styles, self.left = [], [], []
        self.events = SimpleNamespace(listeners={})

    def connect(self, event, handler, priority=500):
        self.connected.append((event, handler.__name__, priority))

    def add_css_file(self, name):
        self.styles.append(name)

    def disconnect(self, listener):
        self.left.append(listener)


@pytest.fixture
def built(tmp_path):
    """A folder of one page and two scripts, one of them of all icons."""
    scripts = tmp_path / "_static" / "scripts"
    scripts.mkdir(parents=True)
    (scripts / "fontawesome.js").write_text(SCRIPT, "utf-8")
    (scripts / "theme.js").write_text('add("fa-arrow-up")', "utf-8")
    (tmp_path / "book").mkdir()
    page = tmp_path / "book" / "page.html"
    page.write_bytes(b'<i class="fa fa-navicon"></i>\xff')
    return tmp_path


def icons(built):
    path = built / "_static" / "scripts" / "fontawesome.js"
    return path.read_text("utf-8")


def test_each_step_has_its_moment():
    app = App()
    assert lean.setup(app) == {
        "parallel_read_safe": True,
        "parallel_write_safe": True,
    }
    assert app.connected == [
        ("config-inited", "leave_out_thebe", 500),
        ("config-inited", "load_mathjax_in_parts", 500),
        ("builder-inited", "add_style", 500),
        ("html-page-context", "leave_out_unused_files", 900),
        ("build-finished", "keep_used_icons", 500),
    ]


def test_thebe_alone_is_disconnected():
    def listener(number, module):
        def handler():
            pass

        handler.__module__ = module
        return SimpleNamespace(id=number, handler=handler)

    app = App()
    app.events.listeners = {
        "builder-inited": [listener(1, "sphinx_thebe"), listener(2, "myst")],
        "env-updated": [listener(3, "sphinx_thebe")],
    }
    lean.leave_out_thebe(app, app.config)
    assert app.left == [1, 3]


def test_mathjax_starts_from_its_small_loader():
    config = SimpleNamespace()
    lean.load_mathjax_in_parts(None, config)
    assert config.mathjax_path == "mathjax/startup.js"


def test_the_style_is_for_pages_of_html():
    app = App()
    lean.add_style(app)
    assert app.config.html_static_path == ["_static", str(lean.STYLE)]
    assert app.styles == ["lean.css"]
    other = App(format="text")
    lean.add_style(other)
    assert other.config.html_static_path == ["_static"]
    assert other.styles == []


class File:
    """A file as Sphinx has it, whose name is no part of its text."""

    def __init__(self, filename):
        self.filename = filename


@pytest.mark.parametrize(
    ("body", "mathjax"),
    [('<span class="math notranslate">', True), ("<p>maths</p>", False)],
)
def test_a_page_loads_what_it_needs(body, mathjax):
    scripts = ["a.js", File("mathjax/startup.js")]
    context = {
        "body": body,
        "css_files": [File("thebe.css"), "a.css"],
        "script_files": list(scripts),
    }
    lean.leave_out_unused_files(None, "page", "t", context, None)
    assert context["css_files"] == ["a.css"]
    assert context["script_files"] == (scripts if mathjax else scripts[:1])


def test_a_page_without_a_body_has_no_mathematics():
    context = {"css_files": [], "script_files": ["mathjax/startup.js"]}
    lean.leave_out_unused_files(None, "search", "t", context, None)
    assert context["script_files"] == []


def test_icons_that_a_page_or_script_names_stay(built):
    lean.keep_used_icons(App(built), None)
    assert icons(built) == SCRIPT.replace('ant:[1,2,[],"f1","M1"]', "")


def test_the_icons_script_does_not_name_itself(built):
    path = built / "_static" / "scripts" / "fontawesome.js"
    path.write_text(SCRIPT + "// fa-ant", "utf-8")
    lean.keep_used_icons(App(built), None)
    assert "ant:[" not in icons(built)


@pytest.mark.parametrize(
    ("format", "error"), [("html", OSError("disk full")), ("text", None)]
)
def test_a_build_that_failed_or_has_no_pages_is_left_alone(
    built, format, error
):
    lean.keep_used_icons(App(built, format), error)
    assert icons(built) == SCRIPT


def test_a_theme_without_the_script_is_none_the_worse(tmp_path):
    lean.keep_used_icons(App(tmp_path), None)
    assert list(tmp_path.iterdir()) == []


def test_an_icon_stays_for_its_name_or_an_alias():
    only = lean.only_icons
    assert only(SCRIPT, set()) == "{}"
    assert only(SCRIPT, {"menu"}) == only(SCRIPT, {"bars"})
    assert only(SCRIPT, {"ant"}) == '{ant:[1,2,[],"f1","M1"]}'
    assert "arrow-up" in only(SCRIPT, {"arrow-up"})
