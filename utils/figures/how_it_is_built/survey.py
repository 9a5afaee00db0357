"""What the house consists of, counted in its own sources.

Nothing is run: imports are read from the syntax trees, of the modules below
`utils` and of the cells of the chapters.
"""

import json
import re
import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from utils.explore.imports import imported, modules

ROOT = Path(__file__).resolve().parents[3]
GROUND_FLOOR = "ground floor"
# from the top down
PARTS = (
    "book",
    "launch",
    "figures",
    "slides",
    "practice",
    "explore",
    GROUND_FLOOR,
)
# a line that IPython takes for a command: ast cannot read it
_COMMAND = re.compile(r"^(\s*)(?:\w+ = )?[!%].*$", re.MULTILINE)


@dataclass(frozen=True)
class Survey:
    """What was counted.

    Attributes
    ----------
    contents : dict of str to tuple of str
        The chapters of the book, the modules of each other part; of the
        figures the folders, each with a slash, and what lies beside them.
    sizes : dict of str to int
        How many chapters or modules a part has.
    arrows : dict of (str, str) to int
        How many imports lead from a part to another, each pair of an
        importing and an imported module counted once.
    packages : dict of str to dict of str to int
        For each part, the packages of others, and how many of its modules
        import each.
    """

    contents: dict
    sizes: dict
    arrows: dict
    packages: dict


def sources(root=ROOT):
    """List the files that a survey reads.

    Returns
    -------
    list of Path
    """
    chapters = sorted((root / "book").glob("[0-9][0-9]_*.ipynb"))
    return [*chapters, *modules(root).values()]


def survey(root=ROOT):
    """Count the parts of the house and the imports between them.

    Parameters
    ----------
    root : Path
        The folder that holds `book` and `utils`.

    Returns
    -------
    Survey

    Raises
    ------
    ValueError
        If `utils` has a folder that is no part of the house: names it.

    Examples
    --------
    >>> survey().arrows["slides", "explore"] > 0
    True
    """
    known = modules(root)
    contents = {part: [] for part in PARTS}
    sizes, arrows = Counter(), Counter()
    packages = {part: Counter() for part in PARTS}
    for path in sources(root):
        part = _part(path.relative_to(root).parts)
        if path.name != "__init__.py":
            sizes[part] += 1
            if path.parent.parent.name != "figures":
                contents[part].append(path.stem)
        elif path.parent.parent.name == "figures":
            contents[part].append(f"{path.parent.name}/")
        names = imported(_code(path), known)
        tops = {name.split(".")[0] for name in names} - {"utils"}
        packages[part].update(tops - sys.stdlib_module_names)
        for name in names & known.keys() - {"utils"}:
            other = _part(known[name].relative_to(root).parts)
            if other != part:
                arrows[part, other] += 1
    return Survey(
        {part: tuple(names) for part, names in contents.items()},
        dict(sizes),
        dict(arrows),
        {part: dict(found) for part, found in packages.items()},
    )


def _part(parts):
    """The part of the house in which a file lies."""
    if parts[0] == "book":
        return "book"
    part = parts[1] if len(parts) > 2 else GROUND_FLOOR
    if part not in PARTS:
        raise ValueError(
            f"utils/{part} is no part of the house: give it a place in "
            "utils/figures/how_it_is_built/"
        )
    return part


def _code(path):
    """The Python of a module, or of a chapter's cells."""
    text = path.read_text("utf-8")
    if path.suffix == ".py":
        return text
    cells = [
        "".join(cell["source"])
        for cell in json.loads(text)["cells"]
        if cell["cell_type"] == "code"
    ]
    return _COMMAND.sub(r"\1pass", "\n\n".join(cells))
