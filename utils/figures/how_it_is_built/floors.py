"""The house from the side: a box for each part, an arrow for its imports."""

import textwrap

from matplotlib.patches import FancyArrowPatch, FancyBboxPatch

from utils.explore import Explorable, Slider
from utils.explore.palette import GROUND, INK, MUTED, WEIGHT
from utils.figures.drawing import blank_page, write
from utils.figures.how_it_is_built.survey import (
    GROUND_FLOOR,
    PARTS,
    sources,
    survey,
)
from utils.figures.wording import counted, listed

ALL = "all of it"
# left, top and width of each box, in inches; what it is for
HIGH = 0.76
BOXES = {
    "book": (0.1, 0.1, 3.2, "what is read"),
    "launch": (3.55, 0.1, 1.15, "where to run"),
    "figures": (1.15, 1.42, 2.15, "draw, and say in words"),
    "slides": (3.55, 1.42, 1.15, "to project"),
    "practice": (0.65, 2.74, 1.45, "checks, quizzes"),
    "explore": (2.85, 2.74, 1.85, "makes figures move"),
    GROUND_FLOOR: (0.1, 4.06, 4.6, "arrays in, arrays out"),
    "NumPy": (0.1, 5.38, 4.6, ""),
}
# where the arrow from a part to another stands: all of them point down
LANES = {
    ("book", GROUND_FLOOR): 0.25,
    ("book", "practice"): 0.75,
    ("book", "figures"): 2.1,
    ("figures", "practice"): 1.45,
    ("figures", GROUND_FLOOR): 2.35,
    ("figures", "explore"): 3.05,
    ("slides", "explore"): 4.05,
    ("practice", GROUND_FLOOR): 1.45,
    (GROUND_FLOOR, "NumPy"): 2.35,
}
HOW_TO_READ = (
    "An arrow runs from who imports to what is imported; the number beside "
    "it counts the imports. Choose a part to see what is in it, what it "
    "needs and who needs it."
)


def draw_floors(part):
    """Draw the parts of the house and what they import from each other.

    Parameters
    ----------
    part : str
        One of PARTS, which stands out with its arrows; or "all of it".

    Returns
    -------
    Figure

    Raises
    ------
    ValueError
        If there is an import for which the picture has no place.
    """
    found = survey()
    arrows = _arrows(found)
    figure, ax = blank_page(7.3)
    for name, (left, top, width, purpose) in BOXES.items():
        _draw_box(ax, (left, top), width, chosen=name == part)
        lines = [purpose, _size(found, name)] if purpose else []
        middle = left + width / 2
        height = HIGH if lines else 0.36
        title = {GROUND_FLOOR: "utils: the ground floor"}.get(name, name)
        if name in ("figures", "slides", "launch", "practice", "explore"):
            title = f"utils/{name}"
        rows = [title, *lines]
        for i, words in enumerate(rows):
            y = top + height * (i + 1) / (len(rows) + 1)
            ink = MUTED if i == 1 and name != part else INK
            write(ax, middle, y, words, ink, bold=i == 0)
    for pair, count in arrows.items():
        _draw_arrow(ax, pair, count, part)
    _write_panel(ax, found, part)
    return figure


def say_floors(part):
    """Say what `draw_floors` draws, for the same part."""
    found = survey()
    arrows = _arrows(found)
    if part == ALL:
        needs = "; ".join(
            f"{_called(one)} from {_counts(arrows, one, out=True)}"
            for one in PARTS
            if any(first == one for first, _ in arrows)
        )
        alone = [
            _called(one)
            for one in PARTS
            if not any(one in pair for pair in arrows)
        ]
        return (
            f"Imports, from the top of the house down: {needs}. "
            f"No arrow begins or ends at {listed(alone)}."
        )
    needs = _counts(arrows, part, out=True) or "no other part"
    users = _counts(arrows, part, out=False)
    users = f"It serves {users}." if users else "No part imports it."
    others = listed(_packages(found, part)) or "none"
    return (
        f"{_called(part).capitalize()}: {_size(found, part)}. It imports "
        f"from {needs}. {users} Packages of others in it: {others}."
    )


def _arrows(found):
    """The counts of all arrows, the one to NumPy too."""
    numpy = found.packages[GROUND_FLOOR].get("numpy", 0)
    arrows = {**found.arrows, (GROUND_FLOOR, "NumPy"): numpy}
    for start, end in arrows:
        if (start, end) not in LANES:
            raise ValueError(
                f"{start} imports from {end}, and the picture in "
                "utils/figures/how_it_is_built/floors.py has no lane for it"
            )
    return {pair: arrows[pair] for pair in LANES if pair in arrows}


def _called(part):
    return {"book": "the book", GROUND_FLOOR: "the ground floor"}.get(
        part, part
    )


def _counts(arrows, part, out):
    """What a part imports from, or who imports from it, with the counts."""
    near, far = (0, 1) if out else (1, 0)
    return (
        listed(
            f"{_called(pair[far])} ({count})"
            for pair, count in arrows.items()
            if pair[near] == part
        )
        if any(pair[near] == part for pair in arrows)
        else ""
    )


def _size(found, part):
    if part == "book":
        return counted(found.sizes[part], "chapter")
    size = counted(found.sizes[part], "module")
    if part == "figures":
        folders = sum(name.endswith("/") for name in found.contents[part])
        return f"{size}, {counted(folders, 'folder')}"
    return size


def _packages(found, part):
    spelled = {"numpy": "NumPy", "sphinx": "Sphinx", "torch": "PyTorch"}
    names = [spelled.get(name, name) for name in found.packages[part]]
    return sorted(names, key=str.casefold)


def _draw_box(ax, corner, width, chosen):
    height = HIGH if corner[1] < 5 else 0.36
    style = {"fc": GROUND, "ec": MUTED, "lw": 1}
    if chosen:
        style = {"fc": WEIGHT, "ec": INK, "lw": 2.4}
    box = "round,pad=0,rounding_size=0.08"
    ax.add_patch(FancyBboxPatch(corner, width, height, box, **style))


def _draw_arrow(ax, pair, count, part):
    start, end = pair
    style = {"color": INK, "lw": 1.4}
    if part == start:
        style = {"color": INK, "lw": 2.6}
    elif part == end:
        style = {"color": INK, "lw": 1.8, "ls": (0, (3, 2))}
    elif part != ALL:
        style = {"color": MUTED, "lw": 0.7}
    x, tail = LANES[pair], BOXES[start][1] + HIGH
    tip = BOXES[end][1] - 0.02
    ax.add_patch(
        FancyArrowPatch(
            (x, tail),
            (x, tip),
            arrowstyle="-|>",
            mutation_scale=11,
            shrinkA=0,
            shrinkB=0,
            **style,
        )
    )
    near = part in (ALL, start, end)
    ink = INK if near else MUTED
    write(ax, x + 0.08, tail + 0.24, str(count), ink, ha="left", bold=near)


def _write_panel(ax, found, part):
    """Under the house: how to read it, or what is in the chosen part."""
    if part == ALL:
        title, words = "How to read it", HOW_TO_READ
    else:
        title = f"In {_called(part)}  (solid: needs, dashed: is needed by)"
        words = ", ".join(found.contents[part])
    write(ax, 0.1, 5.98, title, bold=True, ha="left")
    for i, line in enumerate(textwrap.wrap(words, 64)):
        write(ax, 0.1, 6.2 + 0.19 * i, line, ha="left")


floors = Explorable(
    "how-it-is-built-floors",
    draw_floors,
    say_floors,
    Slider("part", [ALL, *PARTS], label="part of the house"),
    reads=sources,
)
