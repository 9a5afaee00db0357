"""The quizzes of the built site, as a reader answers them."""

import pytest

from tests.browse import CONTRAST, PHONE, SITE, WIDE, settle, site_pages
from utils.practice.quiz import quiz

pytestmark = pytest.mark.browser


def shown_quizzes():
    """Page and name of every quiz on the site."""
    marks = 'data-quiz="'
    return [
        (page, text.split(marks)[1].split('"')[0])
        for page in site_pages()
        if marks in (text := (SITE / page).read_text("utf-8"))
    ]


each_quiz = pytest.mark.parametrize(("page", "name"), shown_quizzes())


def field(tab, name, question):
    return tab.locator(f"[data-question='{name}-{question.id}']")


def said(tab, name, question):
    return field(tab, name, question).get_by_role("status")


def plain(text):
    return text.replace("`", "").replace("*", "")


def test_the_site_has_quizzes(built_site):
    assert len(shown_quizzes()) >= 2


@each_quiz
def test_every_answer_says_its_reason_at_once(open_page, page, name):
    tab = open_page(page, mathematics=False)
    for question in quiz(name).questions:
        box = field(tab, name, question)
        group = box.get_by_role("group")
        assert plain(question.ask) in group.locator("legend").inner_text()
        radios = group.get_by_role("radio")
        assert radios.count() == len(question.answers)
        assert said(tab, name, question).inner_text() == ""
        for place, answer in enumerate(question.answers):
            radios.nth(place).click()
            words = said(tab, name, question).inner_text()
            assert plain(answer.reason) in words
            verdict = "✓ Right." if answer.right else "✗ Not so."
            assert words.startswith(verdict)
            assert box.locator(".quiz-chosen").count() == 1
            mark = box.locator(".quiz-chosen .quiz-mark").inner_text()
            assert mark == verdict[0]
            label = radios.nth(place).evaluate("e => e.labels[0].innerText")
            assert plain(answer.text) in label


@each_quiz
def test_the_keyboard_alone_answers(open_page, page, name):
    tab = open_page(page, mathematics=False)
    question = quiz(name).questions[0]
    radios = field(tab, name, question).get_by_role("radio")
    status = said(tab, name, question)
    radios.first.focus()
    tab.keyboard.press("Space")
    assert plain(question.answers[0].reason) in status.inner_text()
    tab.keyboard.press("ArrowDown")
    assert radios.nth(1).is_checked()
    assert status.inner_text() == "", "to pass an answer is not to give it"
    tab.keyboard.press("ArrowDown")
    tab.keyboard.press("Enter")
    assert plain(question.answers[2].reason) in status.inner_text()
    tab.keyboard.press("ArrowUp")
    tab.keyboard.press("Space")
    assert plain(question.answers[1].reason) in status.inner_text()
    tab.keyboard.press("Tab")
    if question.see is None:
        return
    assert tab.evaluate("document.activeElement.textContent") == question.see


@each_quiz
def test_questions_do_not_share_their_answers(open_page, page, name):
    tab = open_page(page, mathematics=False)
    first, second, *_ = quiz(name).questions
    field(tab, name, first).get_by_role("radio").first.click()
    field(tab, name, second).get_by_role("radio").first.click()
    assert field(tab, name, first).get_by_role("radio").first.is_checked()
    assert said(tab, name, first).inner_text() != ""


@each_quiz
def test_the_reason_leads_back_to_its_section(open_page, page, name):
    tab = open_page(page, mathematics=False)
    for question in quiz(name).questions:
        if question.see is None:
            continue
        field(tab, name, question).get_by_role("radio").first.click()
        link = said(tab, name, question).get_by_role("link")
        target = link.get_attribute("href")
        heading = tab.locator(f"section{target} > :is(h2, h3)").first
        assert question.see in heading.inner_text()


@each_quiz
def test_what_is_announced_is_a_live_region(open_page, page, name):
    tab = open_page(page, mathematics=False)
    question = quiz(name).questions[0]
    field(tab, name, question).get_by_role("radio").first.click()
    tree = field(tab, name, question).aria_snapshot()
    assert "group" in tree
    assert "status" in tree
    words = question.answers[0].reason.split("*")[0].split("`")[0]
    assert words.strip() in tree


@each_quiz
def test_a_reload_begins_anew(open_page, page, name):
    tab = open_page(page, mathematics=False)
    question = quiz(name).questions[0]
    stored = "Object.keys(localStorage) + Object.keys(sessionStorage)"
    before = tab.evaluate(stored)
    field(tab, name, question).get_by_role("radio").first.click()
    assert tab.evaluate(stored) == before, "nothing is recorded"
    tab.reload()
    field(tab, name, question).get_by_role("radio").first.wait_for()
    assert tab.locator("section.quiz input:checked").count() == 0
    assert said(tab, name, question).inner_text() == ""


ON_ITS_GROUND = """
([name, part]) => {
  const rgb = (text) => text.match(/[\\d.]+/g).map(Number);
  const element = document.querySelector(part);
  let ground = element;
  for (; ground; ground = ground.parentElement) {
    const c = rgb(getComputedStyle(ground).backgroundColor);
    if (c.length === 3 || c[3] > 0) break;
  }
  return contrast(
    rgb(getComputedStyle(element)[name]),
    ground ? rgb(getComputedStyle(ground).backgroundColor) : [255, 255, 255],
  );
}
"""


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [WIDE, PHONE])
@each_quiz
def test_it_can_be_read_in_both_themes(open_page, page, name, width, theme):
    tab = open_page(page, width, theme, mathematics=False)
    found = quiz(name)
    for question in found.questions[:2]:
        place = question.right
        if question is found.questions[1]:
            place = (place + 1) % len(question.answers)
        field(tab, name, question).get_by_role("radio").nth(place).click()
    settle(tab)
    tab.evaluate(CONTRAST)
    for part in (".quiz-how", ".quiz-ask", ".quiz-said p", ".quiz-said a"):
        contrast = tab.evaluate(
            ON_ITS_GROUND, ["color", f"section.quiz {part}"]
        )
        assert contrast >= 4.5, f"{part}: {contrast:.2f} in {theme}"
    for part in (".quiz-chosen.quiz-right", ".quiz-chosen.quiz-wrong"):
        contrast = tab.evaluate(ON_ITS_GROUND, ["borderTopColor", part])
        assert contrast >= 3, f"{part}: {contrast:.2f} in {theme}"
    styles = tab.evaluate(
        "['right', 'wrong'].map((kind) => getComputedStyle(document"
        ".querySelector(`.quiz-chosen.quiz-${kind}`)).borderTopStyle)"
    )
    assert styles == ["solid", "dashed"], "not by colour alone"
    wider = tab.evaluate(
        "[...document.querySelectorAll('section.quiz *')].filter((e) =>"
        " e.getBoundingClientRect().right > innerWidth + 1).length"
    )
    assert wider == 0
    heights = tab.evaluate(
        "[...document.querySelectorAll('section.quiz label')].map((e) =>"
        " e.getBoundingClientRect().height)"
    )
    assert min(heights) >= 40, "a finger finds it"


@each_quiz
def test_without_javascript_each_answer_opens(browser, page, name):
    context = browser.new_context(java_script_enabled=False, offline=True)
    tab = context.new_page()
    tab.goto((SITE / page).as_uri())
    for question in quiz(name).questions:
        box = field(tab, name, question)
        assert plain(question.ask) in box.locator(".quiz-ask").inner_text()
        for place, answer in enumerate(question.answers):
            details = box.locator("details").nth(place)
            assert not details.locator("p").is_visible()
            details.locator("summary").focus()
            tab.keyboard.press("Enter")
            assert plain(answer.reason) in details.locator("p").inner_text()
    assert not tab.locator(".quiz-key").is_visible()
    context.close()


@each_quiz
@pytest.mark.parametrize("scripts", [True, False])
def test_in_print_there_are_questions_and_a_key(browser, page, name, scripts):
    context = browser.new_context(java_script_enabled=scripts, offline=True)
    tab = context.new_page()
    tab.goto((SITE / page).as_uri())
    question = quiz(name).questions[0]
    if scripts:
        field(tab, name, question).get_by_role("radio").first.click()
        assert said(tab, name, question).is_visible()
    tab.emulate_media(media="print")
    key = tab.locator(".quiz-key")
    assert key.is_visible()
    assert key.locator("li").count() == len(quiz(name).questions)
    for question in quiz(name).questions:
        box = field(tab, name, question)
        assert box.locator(".quiz-ask").is_visible()
        assert not box.locator(".quiz-said").is_visible()
        for answer in question.answers:
            assert plain(answer.text) in box.inner_text()
    context.close()


def test_a_page_without_a_quiz_loads_none_of_it(built_site):
    text = (SITE / "book/notation.html").read_text("utf-8")
    assert "quiz.js" not in text
    assert "quiz.css" not in text


def test_the_site_s_script_runs_under_a_strict_policy(built_site):
    """No inline handler, no eval, no markup from strings."""
    script = (built_site / "_static" / "quiz.js").read_text("utf-8")
    for word in ("eval(", "Function(", "innerHTML", "fetch(", "http"):
        assert word not in script
