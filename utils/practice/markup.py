"""The HTML of a quiz: complete without a script, and better with one."""

import re
from html import escape

__all__ = ["page_html", "quiz_html"]

LETTERS = "ABCDE"
HOW = "Open an answer to read what is right or wrong about it."


def quiz_html(quiz):
    """A quiz for a notebook: each answer opens on its reason.

    Parameters
    ----------
    quiz : Quiz

    Returns
    -------
    str
        No script and no style: notebook viewers would drop them. The
        `data-quiz` attribute tells the page's builder which quiz stands
        here.
    """
    return _section(quiz, "", lambda question: escape(question.see))


def page_html(quiz, anchors):
    """The same quiz for the book's page, with an answer key for print.

    Parameters
    ----------
    quiz : Quiz
    anchors : dict of str to str
        The anchor of each heading of the page.

    Returns
    -------
    str

    Raises
    ------
    ValueError
        If a question names a heading that the page does not have.
    """

    def link(question):
        if question.see not in anchors:
            raise ValueError(
                f"quiz {quiz.name!r}, question {question.id!r}: the chapter "
                f"has no heading {question.see!r}"
            )
        words = escape(question.see)
        return f'<a href="#{anchors[question.see]}">{words}</a>'

    return _section(quiz, _key(quiz), link)


def inline(text):
    """Escape a text; `words` become code, and *words* are stressed.

    >>> inline('a < b, `x[0] * *y` and *"c"*')
    'a &lt; b, <code>x[0] * *y</code> and <em>&quot;c&quot;</em>'
    """
    parts = escape(text).split("`")
    for place, part in enumerate(parts):
        if place % 2:
            parts[place] = f"<code>{part}</code>"
        else:
            parts[place] = re.sub(r"\*([^*]+)\*", r"<em>\1</em>", part)
    return "".join(parts)


def _section(quiz, key, heading):
    questions = "\n".join(
        _question(quiz, place, question, _see(question, heading))
        for place, question in enumerate(quiz.questions, 1)
    )
    return (
        f'<section class="quiz" data-quiz="{escape(quiz.name)}" '
        f'aria-label="Quiz">\n<p class="quiz-how">{HOW}</p>\n'
        f"{questions}\n{key}</section>"
    )


def _question(quiz, place, question, see):
    answers = "\n".join(
        _answer(letter, answer, see)
        for letter, answer in zip(LETTERS, question.answers, strict=False)
    )
    return (
        f'<div class="quiz-question" '
        f'data-question="{escape(quiz.name)}-{escape(question.id)}">\n'
        f'<p class="quiz-ask"><strong>{place}.</strong> '
        f"{inline(question.ask)}</p>\n{answers}\n</div>"
    )


def _answer(letter, answer, see):
    verdict = "✓ Right." if answer.right else "✗ Not so."
    return (
        f'<details class="quiz-{"right" if answer.right else "wrong"}">'
        f"<summary><strong>{letter}</strong> {inline(answer.text)}</summary>"
        f"<p><strong>{verdict}</strong> {inline(answer.reason)} {see}</p>"
        "</details>"
    )


def _see(question, heading):
    """A sentence; a heading that is a question ends it itself."""
    if question.see is None:
        return ""
    end = "" if question.see.endswith("?") else "."
    return f"Read again: {heading(question)}{end}"


def _key(quiz):
    rows = "\n".join(
        f"<li><strong>{LETTERS[question.right]}.</strong> "
        f"{inline(question.answers[question.right].reason)}</li>"
        for question in quiz.questions
    )
    return (
        '<div class="quiz-key">\n<p><strong>Answers</strong></p>\n'
        f"<ol>\n{rows}\n</ol>\n</div>\n"
    )
