"""Formulas on the built pages: whole, on a phone too, in unbroken lines."""

import io

import numpy as np
import pytest
from PIL import Image

from contact_sheet import READY, STILL
from tests.browse import PHONE, SITE, WIDE, site_pages

pytestmark = pytest.mark.browser

# formulas wider than their place: than the column, or than a cell of a table
TOO_LONG = """
[...document.querySelectorAll("article mjx-math")]
  .filter((formula) => {
    const place = formula.closest("td, th, mjx-container[display], article");
    const { left, right } = place.getBoundingClientRect();
    const inner = formula.getBoundingClientRect();
    const out = inner.left < left - 1 || inner.right > right + 1;
    return inner.width > 0 && out;  // a closed answer has no width
  })
  .map((formula) => formula.closest(".math").textContent)
"""
# what touches a formula and stands on another line
BROKEN = """
[...document.querySelectorAll("article span.math")].flatMap((formula) => {
  const box = formula.getBoundingClientRect();
  const on = (text, at) => {
    const letter = text?.data?.[at];
    if (!letter || /\\s/.test(letter)) return [];
    const range = document.createRange();
    range.setStart(text, at);
    range.setEnd(text, at + 1);
    const { top, bottom } = range.getBoundingClientRect();
    const same = top < box.bottom - 2 && bottom > box.top + 2;
    return same ? [] : [formula.parentElement.textContent.slice(0, 60)];
  };
  const [before, after] = [formula.previousSibling, formula.nextSibling];
  return [
    ...on(after, 0),
    ...on(before, (before?.data?.length ?? 0) - 1),
  ];
})
"""
# all formulas of a page and nothing else, with room around them
ALONE = """
() => {
  const article = document.querySelector("article");
  const rows = [...article.querySelectorAll("div.math, span.math")].map(
    (formula) => {
      const row = document.createElement("div");
      row.style.padding = "12px";
      row.append(formula);
      return row;
    });
  article.replaceChildren(...rows);
  scrollTo(0, 0);
  return rows.map((row) => {
    const { x, y, width, height } = row.getBoundingClientRect();
    return { x, y, width, height };
  });
}
"""
UNCUT = "div.math, span.math, mjx-container { overflow: visible !important }"
STRIP = 3000  # pixels: browsers draw no picture of any height


def pages_with_formulas():
    return [
        page
        for page in site_pages()
        if 'class="math' in (SITE / page).read_text("utf-8")
    ]


def strips(tab, boxes, style=""):
    """Pictures of all rows, some rows each."""
    pictures, first = [], 0
    while first < len(boxes):
        top = boxes[first]["y"]
        rows = [box for box in boxes[first:] if box["y"] < top + STRIP]
        clip = boxes[first] | {
            "height": rows[-1]["y"] + rows[-1]["height"] - top
        }
        picture = tab.screenshot(
            clip=clip, full_page=True, style=STILL + style
        )
        pictures.append(
            np.asarray(Image.open(io.BytesIO(picture)).convert("L"), int)
        )
        first += len(rows)
    return pictures


def test_the_site_has_formulas(built_site):
    assert len(pages_with_formulas()) >= 12


@pytest.mark.parametrize("width", [PHONE, 320, WIDE])
@pytest.mark.parametrize("page", pages_with_formulas())
def test_what_touches_a_formula_stays_on_its_line(kept_page, page, width):
    tab = kept_page(page, width)
    tab.wait_for_function(READY)
    assert tab.evaluate(BROKEN) == []
    if width == PHONE:
        assert tab.evaluate(TOO_LONG) == []


@pytest.mark.parametrize("page", pages_with_formulas())
def test_no_ink_of_a_formula_is_cut_away(open_page, page):
    tab = open_page(page)
    tab.wait_for_function(READY)
    boxes = tab.evaluate(ALONE)
    cut = [
        np.abs(one - other).max()
        for one, other in zip(
            strips(tab, boxes), strips(tab, boxes, UNCUT), strict=True
        )
    ]
    assert max(cut) < 9, page
