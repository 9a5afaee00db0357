"""Sphinx extension: puts the quiz of a page where its notebook shows one."""

import re
from pathlib import Path

from docutils import nodes
from sphinx.errors import ExtensionError

from utils.practice.markup import page_html
from utils.practice.quiz import FOLDER, quiz

HERE = Path(__file__).resolve().parent
STORED = re.compile(r'<section class="quiz" data-quiz="([^"]+)"')
SOURCES = ("quiz.py", "markup.py", "quiz_page.py")


def setup(app):
    """Register with Sphinx."""
    app.connect("builder-inited", offer_files)
    app.connect("doctree-read", find_quizzes)
    app.connect("html-page-context", load_files)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def offer_files(app):
    """Have the script and the style sheet copied into the site."""
    if app.builder.format == "html":
        for name in ("quiz.css", "quiz.js"):
            app.config.html_static_path.append(str(HERE / name))


def find_quizzes(app, doctree):
    """Write each stored quiz anew, from the questions as they are now."""
    anchors = {
        section.next_node(nodes.title).astext(): section["ids"][0]
        for section in doctree.findall(nodes.section)
    }
    for raw in list(doctree.findall(nodes.raw)):
        match = STORED.search(raw.astext())
        if not match:
            continue
        try:
            found = quiz(match[1])
            text = page_html(found, anchors)
        except ValueError as error:
            raise ExtensionError(f"{app.env.docname}: {error}") from error
        raw.replace_self(nodes.raw("", text, format="html"))
        for source in (FOLDER / f"{found.name}.toml", *SOURCES):
            app.env.note_dependency(str(HERE / source))


def load_files(app, pagename, templatename, context, doctree):
    """Load the script and the style sheet where a page has a quiz."""
    if '<section class="quiz"' in context.get("body", ""):
        app.add_css_file("quiz.css")
        app.add_js_file("quiz.js", loading_method="defer")
