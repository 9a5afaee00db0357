"""A chapter's quiz: questions whose wrong answers are real mistakes.

The questions are data, one TOML file a chapter in `questions/`. A quiz is
plain HTML in which each answer opens on its reason, so that it needs neither
a kernel nor a script: it works in a stored notebook, in JupyterLab and on a
code host. On the book's page `quiz_page.py` and quiz.js make of it a group
of radio buttons that announces the reason.
"""

import tomllib
from dataclasses import dataclass
from pathlib import Path

from utils.practice.markup import quiz_html

__all__ = ["Answer", "Question", "Quiz", "chapters", "quiz", "read"]

FOLDER = Path(__file__).resolve().parent / "questions"
FEWEST, MOST = 3, 5


@dataclass(frozen=True)
class Answer:
    """What a reader may choose, and why it is right or wrong."""

    text: str
    reason: str
    right: bool


@dataclass(frozen=True)
class Question:
    """A question, its answers, and the heading under which to read again."""

    id: str
    ask: str
    answers: tuple
    see: str | None

    @property
    def right(self):
        """The place of the right answer, counted from 0."""
        return [answer.right for answer in self.answers].index(True)


@dataclass(frozen=True)
class Quiz:
    """The questions of one chapter; the last line of a cell shows them."""

    name: str
    questions: tuple

    def _repr_mimebundle_(self, include=None, exclude=None):
        words = ", ".join(question.id for question in self.questions)
        return {
            "text/plain": f"Quiz {self.name}: {words}",
            "text/html": quiz_html(self),
        }


def chapters():
    """Names of the chapters that have a quiz, in alphabetical order."""
    return sorted(path.stem for path in FOLDER.glob("*.toml"))


def quiz(name):
    """Look up a chapter's quiz.

    Parameters
    ----------
    name : str
        The chapter's idea, as in the name of its notebook: "softmax".

    Returns
    -------
    Quiz

    Raises
    ------
    ValueError
        If no chapter of that name has a quiz, or its file is not a good one
        (see `read`).

    Examples
    --------
    >>> len(quiz("softmax").questions) >= 3
    True
    """
    if name not in chapters():
        raise ValueError(f"no quiz is named {name!r}; known: {chapters()}")
    return read(name, (FOLDER / f"{name}.toml").read_text("utf-8"))


def read(name, text):
    """Read a quiz and refuse one that would teach badly.

    Parameters
    ----------
    name : str
        What errors call it, and its anchor on the page.
    text : str
        TOML: three to five `[[question]]` tables with `id`, `ask`, perhaps
        `see` (a heading of the chapter), and from three to five
        `[[question.answer]]` tables with `text`, `reason` and, in one of
        them, `right = true`. Line breaks count as spaces; `words` are code
        and *words* are stressed.

    Returns
    -------
    Quiz

    Raises
    ------
    ValueError
        If it is not TOML; if something is missing, empty, unknown or not a
        text; if a question has no right answer or several, or the same
        answer or reason twice; if two questions share an id.
    """
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ValueError(f"quiz {name!r} is not TOML: {error}") from None
    where = f"quiz {name!r}"
    _check_keys(where, data, {"question"})
    tables = _tables(where, data, "question")
    questions = tuple(
        _question(f"{where}, question {place}", table)
        for place, table in enumerate(tables, 1)
    )
    _check_distinct(where, "id", [question.id for question in questions])
    _check_distinct(where, "question", [one.ask for one in questions])
    return Quiz(name, questions)


def _question(where, table):
    _check_keys(where, table, {"id", "ask", "answer"}, {"see"})
    name = _words(where, table, "id")
    where = f"{where} ({name})"
    answers = tuple(
        _answer(f"{where}, answer {place}", answer)
        for place, answer in enumerate(_tables(where, table, "answer"), 1)
    )
    right = sum(answer.right for answer in answers)
    if right != 1:
        raise ValueError(
            f"{where}: one answer must be right, received {right}"
        )
    _check_distinct(where, "answer", [answer.text for answer in answers])
    _check_distinct(where, "reason", [answer.reason for answer in answers])
    see = _words(where, table, "see") if "see" in table else None
    return Question(name, _words(where, table, "ask"), answers, see)


def _answer(where, table):
    _check_keys(where, table, {"text", "reason"}, {"right"})
    right = table.get("right", False)
    if not isinstance(right, bool):
        raise ValueError(
            f"{where}: right must be true or false, received {right!r}"
        )
    return Answer(
        _words(where, table, "text"), _words(where, table, "reason"), right
    )


def _check_keys(where, table, needed, allowed=frozenset()):
    if not isinstance(table, dict):
        raise ValueError(f"{where} must be a table, received {table!r}")
    if missing := sorted(needed - set(table)):
        raise ValueError(f"{where} has no {', '.join(missing)}")
    if unknown := sorted(set(table) - needed - allowed):
        raise ValueError(f"{where} has an unknown {', '.join(unknown)}")


def _tables(where, table, key):
    found = table[key]
    if not isinstance(found, list) or not FEWEST <= len(found) <= MOST:
        received = len(found) if isinstance(found, list) else repr(found)
        raise ValueError(
            f"{where} must have {FEWEST} to {MOST} [[{key}]] tables, "
            f"received {received}"
        )
    return found


def _words(where, table, key):
    text = table[key]
    if not isinstance(text, str) or not text.strip():
        raise ValueError(f"{where}: {key} must be a text, received {text!r}")
    if text.count("`") % 2:
        raise ValueError(f"{where}: a backtick is not closed in {text!r}")
    return " ".join(text.split())


def _check_distinct(where, what, texts):
    seen = set()
    for text in texts:
        if text.casefold() in seen:
            raise ValueError(f"{where} has the same {what} twice: {text!r}")
        seen.add(text.casefold())
