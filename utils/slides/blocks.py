"""A chapter's Markdown cut into the blocks that slides are made of."""

import re
from dataclasses import dataclass

from markdown_it import MarkdownIt

__all__ = ["Block", "blocks", "lead"]

DETAILS = re.compile(r"<details>.*?</details>", re.DOTALL)
BOLD = re.compile(r"\*\*(?P<title>.+?)\*\*\s*(?P<rest>.*)", re.DOTALL)
SENTENCE_END = re.compile(r"(?<=[.?!])[\")]?\s+(?=\S)")
KINDS = {
    "heading_open": "heading",
    "bullet_list_open": "list",
    "ordered_list_open": "list",
    "table_open": "table",
    "blockquote_open": "quote",
}


@dataclass(frozen=True)
class Block:
    """One block of Markdown.

    `kind` is heading, formula, list, table, quote, details, bold (a
    paragraph that begins with bold words), or text.
    """

    kind: str
    text: str
    level: int = 0

    @property
    def title(self):
        """The words of a heading, or those in bold at the beginning."""
        if self.kind == "heading":
            return self.text.lstrip("#").strip()
        return BOLD.match(self.text)["title"].rstrip(".:")

    @property
    def rest(self):
        """What follows the bold words."""
        return BOLD.match(self.text)["rest"]


def blocks(markdown):
    r"""Cut Markdown into blocks, in order.

    Parameters
    ----------
    markdown : str

    Returns
    -------
    list of Block

    Examples
    --------
    >>> [b.kind for b in blocks("## One\n\n**Two.** Three.\n\n$$x$$")]
    ['heading', 'bold', 'formula']
    """
    found = []
    place = 0
    for match in DETAILS.finditer(markdown):
        found += _plain(markdown[place : match.start()])
        found.append(Block("details", match.group()))
        place = match.end()
    return found + _plain(markdown[place:])


def _plain(markdown):
    lines = markdown.split("\n")
    found = []
    for token in MarkdownIt().enable("table").parse(markdown):
        if token.level or token.map is None:
            continue
        first, last = token.map
        text = "\n".join(lines[first:last]).strip()
        kind = KINDS.get(token.type, "text")
        if text.startswith("$$"):
            kind = "formula"
        elif kind == "text" and BOLD.match(text):
            kind = "bold"
        level = int(token.tag[1]) if kind == "heading" else 0
        found.append(Block(kind, text, level))
    return found


def lead(text):
    """The last sentence of a paragraph that ends in a colon, or nothing.

    Such a sentence announces what comes next, so it belongs beside it.

    Examples
    --------
    >>> lead("The sums cancel. Then for all four:")
    'Then for all four:'
    >>> lead("The sums cancel.")
    ''
    """
    if not text.rstrip().endswith(":"):
        return ""
    return SENTENCE_END.split(text.strip())[-1]
