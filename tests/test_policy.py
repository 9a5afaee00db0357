"""What a page forbids: other hosts, foreign scripts, eval."""

import base64
import hashlib
import os
from types import SimpleNamespace

import pytest

from tests.browse import (
    SET_STATE,
    caption,
    find_shown,
    load,
    moving_explorables,
    settings_of,
    site_pages,
)
from utils.explore import policy
from utils.explore.policy import policy_of, with_policy

HEAD = '<html><head><meta charset="utf-8" />\n<title>a</title></head>'
INLINE = "<script>let a = 1;</script>"


def sources(page, name):
    for directive in policy_of(page).split("; "):
        first, *rest = directive.split(" ")
        if first == name:
            return rest
    return None


def test_by_default_nothing_may_be_loaded():
    assert sources("", "default-src") == ["'none'"]
    assert sources("", "script-src") == ["'self'", "file:"]


def test_a_script_in_the_page_is_named_by_its_hash():
    right = base64.b64encode(hashlib.sha256(b"let a = 1;").digest()).decode()
    found = sources(f'<script src="b.js"></script>{INLINE * 2}', "script-src")
    assert found == ["'self'", "file:", f"'sha256-{right}'"]


def test_data_is_no_script():
    page = '<script type="application/json">{"a": 1}</script>'
    assert sources(page, "script-src") == ["'self'", "file:"]


def test_it_stands_before_every_script_and_once():
    once = with_policy(HEAD + INLINE)
    assert once.index("Content-Security-Policy") < once.index("<script")
    assert with_policy(once) == once
    assert once.replace(once.split("\n")[1] + "\n", "") == HEAD + INLINE


def test_a_page_without_a_character_set_is_refused():
    with pytest.raises(ValueError, match="no <meta charset> .*'<html><p>a"):
        with_policy("<html><p>a</p>")


def test_the_page_that_is_refused_is_shown_by_its_beginning():
    page = "<html>" + "x" * 99
    words = rf"\Ano <meta charset> in the page '{page[:60]}'\Z"
    with pytest.raises(ValueError, match=words):
        with_policy(page)


def test_a_policy_names_all_that_a_page_may_load():
    own = "'self' file:"
    assert policy_of("").split("; ") == [
        "default-src 'none'",
        f"script-src {own}",
        f"style-src {own} 'unsafe-inline'",
        f"img-src {own} data:",
        f"font-src {own}",
        "connect-src 'self'",
        "base-uri 'none'",
        f"form-action {own}",
    ]


def test_the_policy_is_a_line_after_the_character_set():
    tag = '<meta http-equiv="Content-Security-Policy" '
    tag += f'content="{policy_of("")}">'
    one_line = '<meta charset="utf-8"><title>a</title>'
    assert with_policy(one_line) == (
        f'<meta charset="utf-8">\n{tag}\n<title>a</title>'
    )
    assert with_policy('<meta charset="utf-8">\n<p>') == (
        f'<meta charset="utf-8">\n{tag}\n<p>'
    )


def test_it_is_written_last_of_all():
    connected = []
    app = SimpleNamespace(
        connect=lambda *args, **how: connected.append((args, how))
    )
    assert policy.setup(app) == {
        "parallel_read_safe": True,
        "parallel_write_safe": True,
    }
    asked = ("build-finished", policy.write_policies)
    assert connected == [(asked, {"priority": 950})]


@pytest.fixture
def small_site(tmp_path):
    pages = ("index.html", "book/one.html", "book/a/two.html")
    for name in (*pages, "slides/deck.html", "book/plain.html"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(
            HEAD + (INLINE if "plain" not in name else ""), "utf-8"
        )
    return tmp_path


def test_pages_with_scripts_get_theirs_and_slides_none(small_site):
    app = SimpleNamespace(
        builder=SimpleNamespace(format="html"), outdir=str(small_site)
    )
    policy.write_policies(app, None)
    guarded = sorted(
        path.relative_to(small_site).as_posix()
        for path in small_site.rglob("*.html")
        if path.read_text("utf-8") == with_policy(HEAD + INLINE)
    )
    assert guarded == ["book/a/two.html", "book/one.html", "index.html"]
    for name in ("slides/deck.html", "book/plain.html"):
        text = (small_site / name).read_text("utf-8")
        assert "Content-Security-Policy" not in text


def test_a_page_that_has_its_own_is_not_written_again(small_site):
    page = small_site / "index.html"
    page.write_text(with_policy(HEAD + INLINE), "utf-8")
    page.chmod(0o444)
    os.utime(page, (0, 0))
    app = SimpleNamespace(
        builder=SimpleNamespace(format="html"), outdir=small_site
    )
    policy.write_policies(app, None)
    assert page.stat().st_mtime == 0


@pytest.mark.parametrize(
    ("error", "format"), [(OSError("no"), "html"), (None, "text")]
)
def test_nothing_is_written_after_an_error_or_for_text(
    small_site, error, format
):
    app = SimpleNamespace(
        builder=SimpleNamespace(format=format), outdir=small_site
    )
    policy.write_policies(app, error)
    assert (small_site / "index.html").read_text("utf-8") == HEAD + INLINE


@pytest.mark.parametrize("page", site_pages())
def test_every_page_has_its_own(built_site, page):
    text = (built_site / page).read_text("utf-8")
    assert text.count("http-equiv") == 1
    assert f'content="{policy_of(text)}"' in text


PAGE = "book/04_softmax.html"
TRIES = {
    "a script in the page": """
      const s = document.createElement("script");
      s.textContent = "window.came = true";
      document.body.append(s);""",
    "an event handler": """
      const d = document.createElement("div");
      d.innerHTML = '<img src="x" onerror="window.came = true">';
      document.body.append(d);""",
    "eval": """
      setTimeout(() => { window.came = (0, eval)("true"); }, 0);""",
    "a script of another host": """
      const s = document.createElement("script");
      s.src = "https://example.com/a.js";
      document.body.append(s);""",
    "a picture of another host": """
      new Image().src = "https://example.com/a.png";""",
    "a question to another host": """
      try { await fetch("https://example.com/"); } catch {}""",
    "a frame": """
      const f = document.createElement("iframe");
      f.src = "https://example.com/";
      document.body.append(f);""",
}


@pytest.mark.browser
@pytest.mark.parametrize("attempt", TRIES.values(), ids=TRIES)
def test_what_is_forbidden_does_not_happen(browser, built_site, attempt):
    context = browser.new_context(offline=True)
    tab = context.new_page()
    tab.goto((built_site / PAGE).as_uri())
    asked = []
    tab.on("response", lambda response: asked.append(response.url))
    tab.on("requestfailed", lambda r: asked.append(f"{r.url} {r.failure}"))
    refused = tab.evaluate(
        "() => new Promise(async (done) => {"
        " const said = [];"
        " addEventListener('securitypolicyviolation',"
        "   (e) => said.push(e.effectiveDirective));"
        f" {attempt}"
        " setTimeout(() => done(said), 300); })"
    )
    assert refused
    assert not tab.evaluate("window.came")
    assert all("csp" in said for said in asked if "example.com" in said)
    context.close()


@pytest.mark.browser
def test_over_the_web_all_of_a_page_works(browser, served_site):
    """The other tests open files; "self" is another word there."""
    wrong = []
    tab = browser.new_page()
    tab.on(
        "console",
        lambda said: (
            wrong.append(f"{said.location['url']} {said.text}")
            if said.type in ("error", "warning")
            else None
        ),
    )
    tab.on("pageerror", lambda error: wrong.append(str(error)))
    page, name = next(
        (page, name) for page, name in moving_explorables() if page == PAGE
    )
    tab.goto(f"{served_site}/{page}")
    load(tab, name)
    explorable = find_shown(name)
    last = explorable.states()[-1]
    tab.evaluate(SET_STATE, [name, settings_of(explorable, last)])
    assert caption(tab, name) == explorable.sentence(**last)
    tab.wait_for_function("document.querySelector('mjx-container')")
    tab.locator(".quiz input").first.click()
    tab.goto(f"{served_site}/search.html?q=softmax")
    tab.wait_for_function(
        "document.querySelectorAll('#search-results li').length > 1"
    )
    assert [text for text in wrong if "favicon" not in text] == []
    tab.close()
