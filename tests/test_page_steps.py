"""What each step of the extension hands to Sphinx, without a build.

`test_page.py` builds whole books in processes of their own; here each step is
called alone, so that what it does with one application can be said to the
letter.
"""

import hashlib
import sys
from types import SimpleNamespace

import pytest
from docutils import nodes
from sphinx.errors import ExtensionError

from utils.explore import find, frames, page, palette, unfinished

MODULE = """
from matplotlib.figure import Figure
from utils.explore import Explorable, Slider

def draw(x):
    figure = Figure(figsize=(1, 1))
    figure.text(0.1, 0.1 * x, f"{x} of it")
    return figure

def say(x):
    return f"Now x is {x} & no more."

shown = Explorable("test-page-steps", draw, say, Slider("x", [0, 1], 1))
"""
NAME, PLACE = "test-page-steps", "page_steps_figures"
STORED = f'<figure data-explorable="{NAME}" data-module="{PLACE}">'


class App:
    """As much of Sphinx as the extension asks for."""

    def __init__(self, outdir=None, format="html"):
        self.outdir = outdir
        self.builder = SimpleNamespace(format=format)
        self.config = SimpleNamespace(html_static_path=["_static"])
        self.env = SimpleNamespace(docname="book/one", found_docs={"book/one"})
        self.verbosity = 0
        self.did = []

    def __getattr__(self, name):
        if name.startswith("add_") or name == "connect":
            return lambda *args, **how: self.did.append((name, args, how))
        raise AttributeError(name)


@pytest.fixture
def shown(tmp_path, monkeypatch):
    """An explorable in a module of its own."""
    folder = tmp_path / "modules"
    folder.mkdir()
    (folder / f"{PLACE}.py").write_text(MODULE, "utf-8")
    monkeypatch.syspath_prepend(folder)
    monkeypatch.setenv("PYTHONPATH", str(folder))
    __import__(PLACE)
    yield find(NAME)
    del sys.modules[PLACE]


@pytest.fixture
def app(tmp_path):
    return App(tmp_path / "build" / "html")


def doctree(*htmls):
    tree = nodes.document(None, None)
    for html in htmls:
        tree += nodes.raw("", html, format="html")
    return tree


def places(tree):
    found = tree.findall(page.explorable_node)
    return [(node["name"], node["module"]) for node in found]


def test_every_step_has_its_moment():
    app = App()
    assert page.setup(app) == {
        "parallel_read_safe": True,
        "parallel_write_safe": True,
    }
    connected = [args for name, args, _ in app.did if name == "connect"]
    assert connected == [
        ("builder-inited", page.prepare_assets),
        ("env-get-outdated", page.find_outdated),
        ("env-purge-doc", page.forget_page),
        ("env-merge-info", page.merge_pages),
        ("doctree-read", page.find_explorables),
        ("env-updated", page.draw_explorables),
        ("build-finished", page.write_flipbooks),
    ]
    [(_, args, builders)] = [x for x in app.did if x[0] == "add_node"]
    assert args == (page.explorable_node,)
    assert builders.pop("html")[0] is page.visit_html
    assert set(builders) == {"text", "latex", "man", "texinfo"}
    assert {visit for visit, _ in builders.values()} == {page.visit_text}
    assert [leave(None, None) for _, leave in builders.values()] == [None] * 4
    settings = ("assets_of_the_book", page.assets_digest(), "html")
    assert ("add_config_value", settings, {}) in app.did
    directive = ("explorable", page.ExplorableDirective)
    assert ("add_directive", directive, {}) in app.did


def test_the_digest_is_of_every_script_and_style_sheet():
    digest = hashlib.sha256(palette.css().encode())
    below = page.HERE.parent
    files = [*below.rglob("*.css"), *below.rglob("*.js")]
    assert len(files) > 3
    for path in sorted(files):
        digest.update(path.read_bytes())
    assert page.assets_digest() == digest.hexdigest()


def test_the_pages_get_scripts_and_the_style_with_its_palette(app, tmp_path):
    page.prepare_assets(app)
    page.prepare_assets(app)  # a second build finds the folder there
    assets = tmp_path / "build" / "explorables" / "assets"
    names = ["explore.css", "explore.js", "projector.css", "projector.js"]
    assert sorted(path.name for path in assets.iterdir()) == names
    for name in names[1:]:
        copied = (assets / name).read_bytes()
        assert copied == (page.HERE / name).read_bytes()
    ours = (page.HERE / "explore.css").read_text("utf-8")
    written = (assets / "explore.css").read_text("utf-8")
    assert written == f"{palette.css()}\n{ours}"
    assert app.config.html_static_path[:2] == ["_static", str(assets)]
    assert app.did[:4] == [
        ("add_css_file", ("explore.css",), {}),
        ("add_css_file", ("projector.css",), {}),
        ("add_js_file", ("explore.js",), {"loading_method": "defer"}),
        ("add_js_file", ("projector.js",), {"loading_method": "defer"}),
    ]


def test_text_needs_no_assets(tmp_path):
    app = App(tmp_path / "build" / "text", format="text")
    page.prepare_assets(app)
    assert app.did == []
    assert not (tmp_path / "build").exists()


def test_a_stored_figure_gives_its_place_to_the_moving_one(app, shown):
    tree = doctree("<p>before</p>", STORED + "</figure>", "<p>after</p>")
    page.find_explorables(app, tree)
    assert places(tree) == [(NAME, PLACE)]
    assert [child.tagname for child in tree] == [
        "raw",
        "explorable_node",
        "raw",
    ]
    kept = {"book/one": {NAME: (PLACE, frames.key(shown))}}
    assert app.env.explorable_pages == kept


def test_a_page_without_figures_is_not_kept(app):
    page.find_explorables(app, doctree("<p>none</p>"))
    assert not hasattr(app.env, "explorable_pages")


def test_one_figure_twice_on_a_page_is_refused(app, shown):
    words = rf"\Abook/one shows explorable '{NAME}' twice\Z"
    with pytest.raises(ExtensionError, match=words):
        page.find_explorables(app, doctree(STORED, STORED))


@pytest.mark.parametrize(
    ("name", "module", "why"),
    [
        (NAME, "nowhere_figures", "No module named 'nowhere_figures'"),
        ("test-nobody", PLACE, "no explorable is named 'test-nobody'"),
    ],
)
def test_what_cannot_be_shown_says_why(app, shown, name, module, why):
    words = rf"\Acannot show explorable '{name}' of {module}: {why}"
    html = STORED.replace(NAME, name).replace(PLACE, module)
    with pytest.raises(ExtensionError, match=words) as refusal:
        page.find_explorables(app, doctree(html))
    assert isinstance(refusal.value.__cause__, ImportError | ValueError)


def test_a_page_is_read_again_when_its_picture_would_be_another(app, shown):
    key = frames.key(shown)
    app.env.found_docs = {"same", "other", "gone-figure"}
    app.env.explorable_pages = {
        "same": {NAME: (PLACE, key)},
        "other": {NAME: (PLACE, "another key")},
        "gone-figure": {"test-nobody": (PLACE, key)},
        "gone-page": {NAME: (PLACE, "another key")},
    }
    outdated = page.find_outdated(app, app.env, set(), set(), set())
    assert outdated == ["other", "gone-figure"]


def test_pages_are_forgotten_and_brought_together():
    env, other = SimpleNamespace(), SimpleNamespace()
    other.explorable_pages = {"b": {"x": 1}, "c": {"y": 2}}
    page.forget_page(None, env, "never-read")
    env.explorable_pages["a"] = {"z": 0}
    page.merge_pages(None, env, ["b", "no-figures"], other)
    assert env.explorable_pages == {"a": {"z": 0}, "b": {"x": 1}}
    page.forget_page(None, env, "a")
    assert env.explorable_pages == {"b": {"x": 1}}


def test_what_pages_show_is_drawn_once_and_written(app, shown, tmp_path):
    pages = {"book/one": {NAME: (PLACE, "k")}, "two": {NAME: (PLACE, "k")}}
    app.env.explorable_pages = pages
    page.draw_explorables(app, app.env)
    assert list(app.explorable_frames) == [NAME]
    drawn = app.explorable_frames[NAME]
    assert drawn.sentence == "Now x is 1 & no more."
    kept = tmp_path / "build" / "explorables" / f"{NAME}.json"
    assert kept.is_file()

    page.write_flipbooks(app, None)
    folder = app.outdir / "_static" / "explorables"
    (folder / "old-figure.js").write_text("old", "utf-8")
    (folder / "note.txt").write_text("not ours", "utf-8")
    page.write_flipbooks(app, None)
    names = sorted(path.name for path in folder.iterdir())
    assert names == ["note.txt", f"{NAME}.js"]
    assert (folder / f"{NAME}.js").read_text("utf-8") == drawn.script


def test_drawing_says_how_far_it_is(app, shown, monkeypatch):
    app.env.explorable_pages = {"book/one": {NAME: (PLACE, "k")}}
    app.verbosity = 7
    told = []

    def status_iterator(chunks, *words, stringify_func):
        told.append((*words, stringify_func("chunk")))
        return chunks

    monkeypatch.setattr(page, "status_iterator", status_iterator)
    page.draw_explorables(app, app.env)
    assert told == [("drawing the figures... ", "blue", 1, 7, "")]


@pytest.mark.parametrize(
    ("error", "format"), [(OSError("no"), "html"), (None, "text")]
)
def test_no_flipbook_is_written_for_nobody(tmp_path, error, format):
    app = App(tmp_path / "html", format)
    app.explorable_frames = {}
    page.write_flipbooks(app, error)
    assert not app.outdir.exists()


def test_a_picture_that_fails_stops_the_build(app, shown, monkeypatch):
    app.env.explorable_pages = {"book/one": {NAME: (PLACE, "k")}}
    monkeypatch.setattr(shown, "say", lambda x: "")
    monkeypatch.setattr(frames, "key", lambda item: "k")
    monkeypatch.setattr("os.cpu_count", lambda: 1)
    with pytest.raises(ExtensionError, match="say must return a sentence"):
        page.draw_explorables(app, app.env)


@pytest.mark.parametrize(
    ("docname", "up"),
    [("intro", ""), ("book/one", "../"), ("book/a/one", "../../")],
)
def test_the_figure_is_written_with_the_way_to_its_flipbook(
    app, shown, docname, up
):
    drawn = frames.Frames("<svg >x</svg>", "Said.", "script", "key0")
    app.explorable_frames = {NAME: drawn}
    builder = SimpleNamespace(app=app, current_docname=docname)
    writer = SimpleNamespace(builder=builder, body=[])
    node = page.explorable_node(name=NAME, module=PLACE)
    page.visit_html(writer, node)
    [html] = writer.body
    script = f"{up}_static/explorables/{NAME}.js?v=key0"
    assert f'"script":"{script}"' in html
    assert f'<figcaption id="{NAME}--said" aria-live="polite">Said.<' in html


def test_where_nothing_moves_the_sentence_is_written(shown):
    said = []
    writer = SimpleNamespace(add_text=said.append)
    node = page.explorable_node(name=NAME, module=PLACE)
    with pytest.raises(nodes.SkipNode):
        page.visit_text(writer, node)
    assert said == ["Now x is 1 & no more."]


def test_a_directive_marks_its_place():
    machine = SimpleNamespace(reporter=None)
    directive = page.ExplorableDirective(
        *("explorable", [NAME, PLACE], {}, [], 1, 0, "", None, machine)
    )
    [node] = directive.run()
    assert (node["name"], node["module"]) == (NAME, PLACE)


def test_the_colours_of_a_picture_are_rules_for_both_themes():
    light, dark = palette.css().split("}")[:2]
    assert light.startswith(".explorable{--explore-ink:#1b2430;")
    assert dark.startswith(
        'html[data-theme="dark"] .explorable,'
        'body[data-jp-theme-light="false"] .explorable{--explore-ink:#e6e9ed;'
    )
    assert palette.css().count("}") == 2
    for column, rule in enumerate((light, dark)):
        said = rule.partition("{")[2].split(";")
        assert said == [
            f"--explore-{role}:{pair[column]}"
            for role, pair in palette.COLOURS.items()
        ]


def test_after_a_stopped_build_every_page_is_outdated(tmp_path):
    def build(error=None):
        app = App(tmp_path / "html")
        unfinished.begin(app)
        found = unfinished.find_outdated(app, app.env, set(), set(), set())
        assert (tmp_path / "html.unfinished").exists()
        unfinished.end(app, error)
        return found

    assert build() == []
    assert build(error="no theme") == []
    assert build() == ["book/one"]
    assert build() == []
    assert list(tmp_path.iterdir()) == []


def test_the_mark_is_made_first_and_taken_away_last(tmp_path):
    app = App(tmp_path)
    assert unfinished.setup(app) == {
        "parallel_read_safe": True,
        "parallel_write_safe": True,
    }
    assert app.did == [
        ("connect", ("builder-inited", unfinished.begin), {}),
        ("connect", ("env-get-outdated", unfinished.find_outdated), {}),
        ("connect", ("build-finished", unfinished.end), {"priority": 999}),
    ]
