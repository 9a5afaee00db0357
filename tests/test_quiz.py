"""The questions: well formed, escaped, and every number in them computed."""

import re

import numpy as np
import pytest

from tests.conftest import stored_notebooks
from tests.quiz_answers import COMPUTED
from utils.practice.markup import LETTERS, page_html, quiz_html
from utils.practice.quiz import MOST, chapters, quiz, read

QUESTIONS = [
    (name, question)
    for name in chapters()
    for question in quiz(name).questions
]
NAMES = [f"{name}-{question.id}" for name, question in QUESTIONS]
each_question = pytest.mark.parametrize(
    ("name", "question"), QUESTIONS, ids=NAMES
)
NUMBER = re.compile(r"(?<![\w.])(\d+(?:,\d{3})*(?:\.\d+)?)")

GOOD = """
[[question]]
id = "one"
ask = "Which?"
[[question.answer]]
text = "this"
reason = "It is."
right = true
[[question.answer]]
text = "that"
reason = "It is not."
[[question.answer]]
text = "those"
reason = "They are not."
"""


def three(text=GOOD):
    return "".join(
        text.replace('"one"', f'"{word}"').replace("Which", f"Which {word}")
        for word in ("one", "two", "three")
    )


def numbers(*texts):
    """The numbers of texts as they are written, code and shapes included."""
    return [found for text in texts for found in NUMBER.findall(text)]


# --- the book's questions --------------------------------------------------


def test_the_book_has_a_quiz_for_each_chapter_and_no_other():
    written = {one.name[3:] for one in stored_notebooks()}
    assert set(chapters()) == written


def test_a_chapter_ends_with_its_quiz(notebook):
    shown = [
        cell for cell in notebook.code() if "practice.quiz" in cell["source"]
    ]
    assert len(shown) == 1, f"{notebook.name} shows its quiz once"
    assert f'quiz("{notebook.name[3:]}")' in shown[0]["source"]
    place = shown[0]["place"]
    before, after = notebook.cells[place - 1], notebook.cells[place + 1]
    assert before["source"].startswith("## Check yourself\n")
    assert after["source"].startswith("## Further reading\n")


def test_a_question_sends_back_to_a_heading_of_its_chapter(notebook):
    words = "\n".join(cell["source"] for cell in notebook.markdown())
    headings = re.findall(r"^##+ (.+)$", words, re.MULTILINE)
    for question in quiz(notebook.name[3:]).questions:
        if question.see is not None:
            assert question.see in headings, question.id


@each_question
def test_every_number_is_given_or_computed(name, question):
    given = set(numbers(question.ask))
    texts = [one.text for one in question.answers]
    reasons = [one.reason for one in question.answers]
    loose = set(numbers(*texts)) | (set(numbers(*reasons)) - {"0", "1"})
    loose -= given
    key = f"{name}-{question.id}"
    if key not in COMPUTED:
        assert not loose, f"quiz_answers.py: compute {key}, {loose}"
        return
    computed = COMPUTED[key]()
    right = question.answers[question.right].text
    assert right == computed["right"]
    allowed = set(numbers(*map(str, computed.values())))
    assert loose <= allowed, f"nobody computed {sorted(loose - allowed)}"
    wrong = {text for text in texts if text != right}
    slips = {value for slip, value in computed.items() if slip != "right"}
    with_numbers = {text for text in wrong if numbers(text)}
    assert with_numbers <= slips, (
        f"say in quiz_answers.py how one gets {with_numbers - slips}"
    )


def test_nothing_is_computed_for_a_question_that_is_gone():
    assert set(COMPUTED) <= set(NAMES)


@each_question
def test_an_answer_cannot_be_told_by_its_length(name, question):
    sizes = [len(answer.text) for answer in question.answers]
    right = sizes.pop(question.right)
    assert right <= 2 * max(sizes) + 12, "the longest answer is the right one"


def test_the_right_answer_may_stand_anywhere():
    places = [question.right for _, question in QUESTIONS]
    for place in range(3):
        assert 0.2 < places.count(place) / len(places) < 0.5
    longest = [
        max(one.answers, key=lambda answer: len(answer.text)).right
        for _, one in QUESTIONS
    ]
    assert np.mean(longest) < 0.5, "choosing the longest answer pays"


@each_question
def test_words_read_well(name, question):
    texts = [question.ask, *(one.reason for one in question.answers)]
    for text in texts:
        assert text.rstrip("”)").endswith((".", "?")), text
    for text in [*texts, *(one.text for one in question.answers)]:
        assert not re.search(r'["$]|--|  |(?<!\w)dk\b', text), text
    assert "?" in question.ask, question.ask
    for answer in question.answers:
        assert not answer.text.endswith("."), answer.text


# --- the file --------------------------------------------------------------


def test_a_good_file_is_read():
    found = read("small", three())
    assert [one.id for one in found.questions] == ["one", "two", "three"]
    assert found.questions[0].right == 0
    assert found.questions[0].see is None


def test_line_breaks_count_as_spaces():
    text = three().replace('"It is."', '"""It\n  is."""')
    assert read("small", text).questions[0].answers[0].reason == "It is."


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            "right = true",
            "right = false",
            "one answer must be right, received 0",
        ),
        (
            'reason = "It is not."',
            'reason = "It is not."\nright = true',
            "one answer must be right, received 2",
        ),
        (
            "right = true",
            "right = 1",
            "right must be true or false, received 1",
        ),
        ('"that"', '"This"', "the same answer twice: 'This'"),
        ('"It is not."', '"It is."', "the same reason twice: 'It is.'"),
        ('reason = "It is."', "", r"answer 1 has no reason"),
        ('"It is."', '" "', "reason must be a text, received ' '"),
        ('"It is."', "3", "reason must be a text, received 3"),
        ('"It is."', '"It `is."', "backtick is not closed"),
        ('ask = "Which', 'see = ""\nask = "Which', "see must be a text"),
        ("ask =", "asks =", "question 1 has no ask"),
        ("right = true", "right = true\nwhy = 1", "has an unknown why"),
        ("[[question]]", "[[question", "is not TOML"),
    ],
)
def test_a_bad_file_is_refused(old, new, message):
    with pytest.raises(ValueError, match=message):
        read("small", three().replace(old, new, 1))


def test_two_questions_cannot_share_an_id_or_their_words():
    text = three()
    with pytest.raises(ValueError, match="same id twice: 'one'"):
        read("small", text.replace('"two"', '"one"'))
    with pytest.raises(ValueError, match="same question twice"):
        read("small", text.replace("Which two", "Which one"))


@pytest.mark.parametrize("count", [0, 2, 6])
def test_a_quiz_has_three_to_five_questions(count):
    text = "".join(
        GOOD.replace('"one"', f'"{i}"').replace("Which", f"Which {i}")
        for i in range(count)
    )
    message = "has no question" if count == 0 else f"received {count}"
    with pytest.raises(ValueError, match=message):
        read("small", text)


def test_an_unknown_quiz_is_named():
    with pytest.raises(ValueError, match="no quiz is named '../softmax'"):
        quiz("../softmax")


# --- the HTML --------------------------------------------------------------

NASTY = "<script>alert(\"x\")</script> & \\'q\\' `<b>` *<i>*"


def nasty():
    text = three().replace("It is.", NASTY.replace('"', '\\"'))
    text = text.replace('"this"', '"<img src=x onerror=alert(1)>"')
    return read("small", text.replace("\\'", "'"))


def test_what_looks_like_markup_is_shown_and_not_obeyed():
    for html in (quiz_html(nasty()), page_html(nasty(), {})):
        assert "<script" not in html
        assert "<img" not in html
        assert "&lt;script&gt;alert(&quot;x&quot;)&lt;/script&gt;" in html
        assert "<code>&lt;b&gt;</code> <em>&lt;i&gt;</em>" in html


def test_a_notebook_gets_every_answer_with_its_reason_and_no_script():
    bundle = quiz("softmax")._repr_mimebundle_()
    html = bundle["text/html"]
    assert bundle["text/plain"].startswith("Quiz softmax: shift, ")
    for question in quiz("softmax").questions:
        for answer in question.answers:
            assert answer.reason.split("*")[0].split("`")[0] in html
    assert html.count("<details") == html.count("<summary>")
    assert not re.search(r"<script|<style|style=|\son\w+=|https?:", html)
    assert "quiz-key" not in html
    assert html == quiz("softmax")._repr_mimebundle_()["text/html"]


@pytest.mark.parametrize("name", chapters())
def test_the_key_names_the_right_letters(name):
    found = quiz(name)
    anchors = {one.see: "here" for one in found.questions if one.see}
    key = page_html(found, anchors).split("quiz-key")[1]
    letters = re.findall(r"<li><strong>([A-E])\.</strong>", key)
    assert letters == [LETTERS[one.right] for one in found.questions]
    for question in found.questions:
        at = question.answers[question.right]
        assert at.right
        assert sum(one.right for one in question.answers) == 1


def test_the_page_links_to_the_heading():
    found = quiz("softmax")
    anchors = {one.see: "a-place" for one in found.questions}
    html = page_html(found, anchors)
    assert '<a href="#a-place">Only differences count</a>' in html


@pytest.mark.parametrize(
    ("heading", "sentence"),
    [
        ("Rows, not columns", "Read again: {}Rows, not columns{}."),
        ("Along which axis?", "Read again: {}Along which axis?{}"),
    ],
)
def test_a_heading_that_asks_needs_no_full_stop(heading, sentence):
    see = f'[[question]]\nsee = "{heading}"'
    found = read("small", three(GOOD.replace("[[question]]", see)))
    link = sentence.format('<a href="#here">', "</a>")
    assert f"{link}</p>" in page_html(found, {heading: "here"})
    assert f"{sentence.format('', '')}</p>" in quiz_html(found)


def test_a_heading_that_is_gone_stops_the_build():
    with pytest.raises(
        ValueError, match="no heading 'Only differences count'"
    ):
        page_html(quiz("softmax"), {})


def test_there_are_letters_enough():
    assert len(LETTERS) >= MOST
