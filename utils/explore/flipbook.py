"""Every state of a picture as one small table of what differs.

All states are SVG trees. Where they agree, the first tree in the page says
it. Where they differ, a slot names the element, what of it differs, and the
distinct values; which value each state takes is a column of numbers, shared
by all slots that change together. Where the trees differ in shape, a slot
holds the differing run of children whole.
"""

import json
from xml.etree import ElementTree

from utils.explore import picture

__all__ = ["Flipbook", "build"]

TEXT = "#text"
CHILDREN = "#children"


class Flipbook:
    """The slots and columns of one explorable's pictures.

    Attributes
    ----------
    columns : list of list of int
        `columns[c][s]` is which value the slots of column c take in state s.
    slots : list of [element, what, column, values]
        `element` counts the elements of the base picture in document order;
        `what` is an attribute's name, "#text", or "#children:before:after":
        all children but the first `before` and the last `after`.
    """

    def __init__(self):
        self.columns = []
        self.slots = []
        self._known = {}

    def add(self, element, what, per_state):
        """Add a slot from the value of each state, if any two differ."""
        distinct = {}
        column = tuple(
            distinct.setdefault(value, len(distinct)) for value in per_state
        )
        if len(distinct) == 1:
            return
        place = self._known.setdefault(column, len(self.columns))
        if place == len(self.columns):
            self.columns.append(list(column))
        self.slots.append([element, what, place, list(distinct)])

    def as_dict(self):
        """Plain lists and texts, as JSON takes them."""
        return {"columns": self.columns, "slots": self.slots}


def build(svgs, base=0):
    """Compare every state with every other and keep what differs.

    Parameters
    ----------
    svgs : sequence of str
        The picture of each state, as `picture.to_svg` gives it.
    base : int
        The state whose picture stands in the page: slots count its elements.

    Returns
    -------
    Flipbook
    """
    trees = [picture.tree(svg) for svg in svgs]
    numbers = {id(e): i for i, e in enumerate(trees[base].iter())}
    book = Flipbook()
    _compare(trees, base, numbers, book)
    return book


def script(name, book, sentences):
    """The flipbook as a script that registers itself: it loads from a file.

    Parameters
    ----------
    name : str
    book : dict
        As `Flipbook.as_dict` gives it.
    sentences : list of str
    """
    data = json.dumps(
        {**book, "sentences": sentences},
        ensure_ascii=False,
        separators=(",", ":"),
    )
    # U+2028 and U+2029 end a line in old JavaScript but not in JSON
    for mark in ("\u2028", "\u2029"):
        data = data.replace(mark, f"\\u{ord(mark):04x}")
    return f"explore.register({json.dumps(name)},{data});\n"


def _compare(elements, base, numbers, book):
    number = numbers[id(elements[base])]
    names = sorted({name for element in elements for name in element.attrib})
    for name in names:
        values = [element.get(name) for element in elements]
        book.add(number, _plain(name), values)
    book.add(number, TEXT, [element.text or "" for element in elements])

    before, after = _shared_ends([[c.tag for c in e] for e in elements])
    for place in range(before):
        _compare([e[place] for e in elements], base, numbers, book)
    runs = [list(e)[before : len(e) - after] for e in elements]
    if any(runs):
        book.add(
            number,
            f"{CHILDREN}:{before}:{after}",
            ["".join(map(picture.text_of, run)) for run in runs],
        )
    for place in range(-after, 0):
        _compare([e[place] for e in elements], base, numbers, book)


def _shared_ends(rows):
    """How many tags all rows share at their start, and then at their end."""
    shortest = min(map(len, rows))
    before = 0
    while before < shortest and len({row[before] for row in rows}) == 1:
        before += 1
    after = 0
    while (
        after < shortest - before
        and len({row[-1 - after] for row in rows}) == 1
    ):
        after += 1
    return before, after


def _plain(name):
    """An attribute's name as the page's own `setAttribute` takes it."""
    return name.replace(f"{{{picture.XLINK}}}", "xlink:")


def apply(base_svg, book, state):
    """Play one state on the base picture, as the page's script does.

    Returns
    -------
    str
        The picture of that state.
    """
    root = picture.tree(base_svg)
    elements = list(root.iter())
    for number, what, column, values in book["slots"]:
        value = values[book["columns"][column][state]]
        _set(elements[number], what, value)
    return picture.text_of(root)


def _set(element, what, value):
    if what == TEXT:
        element.text = value or None
    elif what.startswith(CHILDREN):
        before, after = map(int, what.split(":")[1:])
        wrapper = ElementTree.fromstring(
            f'<g xmlns="{picture.SVG}" xmlns:xlink="{picture.XLINK}">'
            f"{value}</g>"
        )
        element[before : len(element) - after] = list(wrapper)
    else:
        name = what.replace("xlink:", f"{{{picture.XLINK}}}")
        if value is None:
            element.attrib.pop(name, None)
        else:
            element.set(name, value)
