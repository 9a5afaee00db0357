"""All pages of the built site on one page, as their readers meet them.

Usage: python tools/contact_sheet.py [PAGE ...]

Takes a picture of each page on a phone and on a desk, in light and dark, in
print and with JavaScript off, and writes them with one page to look at,
`_build/look/index.html`. What a test can see stands in red above a picture:
a page that scrolls sideways. The rest is for eyes.
"""

import shutil
import sys
from html import escape
from pathlib import Path

from playwright.sync_api import sync_playwright

from find_browser import browser_path

__all__ = ["LOOKS", "READY", "STILL", "TOO_WIDE", "sheet", "take"]

ROOT = Path(__file__).resolve().parent.parent
SITE = ROOT / "_build" / "html"
TARGET = ROOT / "_build" / "look"
STRIP = 4000  # pixels: browsers draw no picture of any height
PATIENCE = 300_000  # milliseconds: some 1,000 on a free machine
# what it is called, how wide, and what the browser is told
LOOKS = {
    "phone": (390, {"color_scheme": "light"}),
    "phone, dark": (390, {"color_scheme": "dark"}),
    "tablet": (768, {"color_scheme": "light"}),
    "desk": (1280, {"color_scheme": "light"}),
    "desk, dark": (1280, {"color_scheme": "dark"}),
    "wide": (1920, {"color_scheme": "light"}),
    "print": (718, {"color_scheme": "light"}),  # A4 less its margins
    "no JavaScript": (1280, {"java_script_enabled": False}),
}
READY = """
() => document.querySelectorAll(".math").length
  <= document.querySelectorAll("mjx-container").length
"""
TOO_WIDE = """
document.documentElement.scrollWidth - document.documentElement.clientWidth
"""
# a picture makes the window small for a moment: nothing may glide back
STILL = "* {transition: none !important}"
# pictures that wait until they are near the screen must have been near
WALK = """
async () => {
  const all = document.documentElement.scrollHeight;
  for (let y = 0; y < all; y += innerHeight) {
    scrollTo(0, y);
    await new Promise((done) => setTimeout(done, 20));
  }
  scrollTo(0, 0);
}
"""

PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Contact sheet</title>
<style>
  body {{ margin: 1rem; font: 1rem/1.4 system-ui, sans-serif; }}
  section {{ display: flex; gap: 1rem; overflow-x: auto; }}
  figure {{ margin: 0; flex: none; }}
  figure > div {{ border: 1px solid #888; }}
  img {{ display: block; width: 100%; }}
  .wrong {{ color: #b00020; font-weight: bold; }}
</style>
</head>
<body>
<h1>Contact sheet</h1>
<p>Pages: {count}. {verdict}</p>
<nav><ul>
{links}
</ul></nav>
{sections}
</body>
</html>
"""


def take(browser, site, page, look, folder):
    """Take the picture of a page in strips, from top to bottom.

    Returns
    -------
    names : list of str
        The files, in order.
    wrong : str
        What is wrong with the page in this look; empty if nothing was seen.
    """
    width, options = LOOKS[look]
    context = browser.new_context(
        viewport={"width": width, "height": 1000}, offline=True, **options
    )
    tab = context.new_page()
    tab.set_default_timeout(PATIENCE)
    tab.goto((site / page).as_uri())
    if look == "print":
        tab.emulate_media(media="print")
    wrong = ""
    if options.get("java_script_enabled", True):
        tab.wait_for_function(READY)
        tab.evaluate(WALK)
        over = tab.evaluate(TOO_WIDE)
        wrong = f"scrolls sideways by {over} px" if over > 0 else ""
    height = int(tab.locator("html").bounding_box()["height"])
    stem = f"{Path(page).stem}-{look}".replace(", ", "-").replace(" ", "-")
    names = []
    for top in range(0, max(height, 1), STRIP):
        part = {"x": 0, "y": top, "width": width}
        part["height"] = min(STRIP, height - top)
        names.append(f"{stem}-{len(names):02d}.jpg")
        tab.screenshot(
            path=folder / names[-1],
            type="jpeg",
            quality=70,
            clip=part,
            full_page=True,
            style=STILL,
        )
    context.close()
    return names, wrong


def sheet(taken):
    """Make the page of what was taken.

    Parameters
    ----------
    taken : dict of str to dict of str to (list of str, str)
        By page and look, what `take` returned.

    Returns
    -------
    str
        HTML.
    """
    links, sections, count = [], [], 0
    for page, looks in taken.items():
        name = escape(Path(page).stem)
        links.append(f'<li><a href="#{name}">{name}</a></li>')
        shown = []
        for look, (names, wrong) in looks.items():
            count += bool(wrong)
            said = f' <span class="wrong">{escape(wrong)}</span>'
            width = max(195, LOOKS[look][0] // 3)
            pictures = "".join(
                f'<img src="{escape(file)}" loading="lazy" '
                f'alt="{name}, {look}, part {part}">'
                for part, file in enumerate(names, 1)
            )
            shown.append(
                f'<figure style="width:{width}px"><figcaption>{look}, '
                f"{LOOKS[look][0]} px{said if wrong else ''}</figcaption>"
                f"<div>{pictures}</div></figure>"
            )
        sections.append(
            f'<h2 id="{name}">{name}</h2>\n<section>{"".join(shown)}</section>'
        )
    return PAGE.format(
        count=len(taken),
        verdict="Nothing scrolls sideways."
        if not count
        else f'<span class="wrong">{count} scroll sideways.</span>',
        links="\n".join(links),
        sections="\n".join(sections),
    )


def main(pages):
    """Take all pages, or those named; return the exit code."""
    found = sorted(
        str(path.relative_to(SITE)) for path in SITE.glob("book/*.html")
    )
    wanted = [f"book/{page.removesuffix('.html')}.html" for page in pages]
    unknown = [page for page in wanted if page not in found]
    if not found or unknown:
        what = f"no page {unknown[0]}" if unknown else "the book is not built"
        print(f"{what}; `make book` builds {SITE}", file=sys.stderr)
        return 1
    shutil.rmtree(TARGET, ignore_errors=True)
    TARGET.mkdir(parents=True)
    taken = {}
    with sync_playwright() as engine:
        browser = engine.chromium.launch(
            executable_path=browser_path(), args=["--no-sandbox"]
        )
        for page in wanted or found:
            print(page, file=sys.stderr, flush=True)
            taken[page] = {
                look: take(browser, SITE, page, look, TARGET) for look in LOOKS
            }
        browser.close()
    (TARGET / "index.html").write_text(sheet(taken), "utf-8")
    print(TARGET / "index.html")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
