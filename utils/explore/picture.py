"""A matplotlib figure as a picture for a page: small, themed, repeatable."""

import io
import re
from xml.etree import ElementTree

import matplotlib

from utils.explore import palette

__all__ = ["house_style", "to_png", "to_svg", "tree"]

SVG = "http://www.w3.org/2000/svg"
XLINK = "http://www.w3.org/1999/xlink"
WIDTH = 4.8  # inches: text of 10 points is still 10 pixels on a phone

_NUMBER = re.compile(r"-?\d+\.\d+(?:e-?\d+)?")
_COLOUR = re.compile(r"#[0-9a-f]{6}")
_NO_TURN = re.compile(r"rotate\(-?0(\.0*)? [^)]*\)")
_VARIABLE = {
    light: f"var({palette.css_variable(role)}, {light})"
    for role, (light, _) in palette.COLOURS.items()
}


def house_style(name):
    """A context in which figures are drawn and saved in the book's style.

    Parameters
    ----------
    name : str
        Makes the ids inside the picture the same on every run, and different
        from those of any other figure on the page.

    Returns
    -------
    context manager
    """
    ink, muted = palette.INK, palette.MUTED
    return matplotlib.rc_context(
        {
            **matplotlib.rcParamsDefault,
            "svg.fonttype": "none",
            "svg.hashsalt": name,
            "path.simplify": False,
            "figure.figsize": (WIDTH, 3.2),
            "figure.facecolor": palette.GROUND,
            "figure.constrained_layout.use": False,
            "savefig.facecolor": palette.GROUND,
            "font.size": 10,
            "text.color": ink,
            "text.parse_math": False,
            "axes.facecolor": "none",
            "axes.edgecolor": muted,
            "axes.labelcolor": ink,
            "axes.titlesize": 10.5,
            "axes.titlelocation": "left",
            "axes.titlecolor": ink,
            "axes.spines.top": False,
            "axes.spines.right": False,
            "axes.axisbelow": True,
            "axes.unicode_minus": True,
            # what names no colour is ink: any other would miss the theme
            "axes.prop_cycle": matplotlib.cycler(color=[ink]),
            "grid.color": palette.GRID,
            "grid.linewidth": 0.8,
            "xtick.color": muted,
            "ytick.color": muted,
            "xtick.labelcolor": ink,
            "ytick.labelcolor": ink,
            "lines.linewidth": 2,
            "legend.frameon": False,
            "hatch.color": muted,
        }
    )


def to_png(figure):
    """Save a figure as PNG bytes at twice the size of the page's pixels."""
    file = io.BytesIO()
    figure.savefig(file, format="png", dpi=160, metadata={"Software": None})
    return file.getvalue()


def to_svg(figure):
    """Save a figure as SVG text that takes its colours and font from the page.

    Coordinates are rounded to a hundredth of a point, ids that nothing
    refers to are dropped, and the book's colours become CSS variables.
    """
    file = io.StringIO()
    figure.savefig(file, format="svg", metadata={"Date": None})
    root = ElementTree.fromstring(file.getvalue())
    _drop_metadata(root)
    text = ElementTree.tostring(root, encoding="unicode")
    referred = set(re.findall(r"(?:url\(#|href=\"#)([^)\"]+)", text))
    for element in root.iter():
        _tidy(element, referred)
    root.attrib.pop("width")
    root.attrib.pop("height")
    root.set("font-family", "var(--explore-font, sans-serif)")
    return text_of(root)


def tree(svg):
    """Parse SVG text into an element tree.

    Raises
    ------
    ValueError
        If the text is not well-formed SVG.
    """
    try:
        return ElementTree.fromstring(svg)
    except ElementTree.ParseError as error:
        raise ValueError(f"not a picture: {error}: {svg[:60]!r}") from None


def text_of(element):
    """An element of a picture as text, with SVG as the default namespace."""
    ElementTree.register_namespace("", SVG)
    ElementTree.register_namespace("xlink", XLINK)
    return ElementTree.tostring(element, encoding="unicode")


def _drop_metadata(root):
    """Leave out the licence block and the style that would reach the page."""
    for child in list(root):
        if child.tag == f"{{{SVG}}}metadata" or (
            child.tag == f"{{{SVG}}}defs"
            and child.find(f"{{{SVG}}}style") is not None
        ):
            root.remove(child)


def _tidy(element, referred):
    """Short, rounded attributes, one for each property of the style.

    A page whose security policy forbids inline styles still shows them, and
    a flipbook stores only the property that changes.
    """
    if element.get("id") not in referred:
        element.attrib.pop("id", None)
    for declaration in element.attrib.pop("style", "").split(";"):
        key, _, value = declaration.partition(":")
        if value and key.strip() != "font-family":
            element.set(key.strip(), value.strip())
    for key, value in element.attrib.items():
        element.set(key, _tidy_value(" ".join(value.split())))
    if element.get("transform") == "":
        del element.attrib["transform"]
    if element.text and not element.text.strip():
        element.text = None
    element.tail = None


def _tidy_value(value):
    value = _COLOUR.sub(
        lambda match: _VARIABLE.get(match.group(), match.group()), value
    )
    value = _NO_TURN.sub("", value)
    return _NUMBER.sub(_rounded, value)


def _rounded(match):
    number = f"{float(match.group()):.2f}".rstrip("0").rstrip(".")
    return "0" if number in ("-0", "") else number
