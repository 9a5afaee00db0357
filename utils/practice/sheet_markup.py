"""Pieces of a worksheet's HTML: matrices, fractions, places to write."""

from fractions import Fraction
from html import escape

__all__ = ["blank", "grid", "lines", "matrix", "named", "number"]


def number(value):
    """Write a number as on paper: a real minus, a fraction with a bar.

    >>> number(-3), number(Fraction(1, 2)), number((2, 3))
    ('−3', '<span class="fraction"><sup>1</sup><sub>2</sub></span>', '2 × 3')
    """
    if isinstance(value, tuple | list):
        return " × ".join(map(number, value))
    if isinstance(value, Fraction) and value.denominator > 1:
        sign = "−" if value < 0 else ""
        return (
            f'{sign}<span class="fraction"><sup>{abs(value.numerator)}</sup>'
            f"<sub>{value.denominator}</sub></span>"
        )
    if isinstance(value, Fraction):
        value = value.numerator
    text = f"{value:,}" if isinstance(value, int) else str(value)
    return escape(text).replace("-", "−")


def blank(value, filled, size="short"):
    """A line to write on; in the key the answer stands on it."""
    text = f"<b>{number(value)}</b>" if filled else ""
    return f'<span class="blank {size}">{text}</span>'


def matrix(rows):
    """A matrix in brackets."""
    cells = "".join(
        "<tr>" + "".join(f"<td>{number(v)}</td>" for v in row) + "</tr>"
        for row in rows
    )
    return f'<table class="matrix">{cells}</table>'


def named(name, body):
    """A name, an equals sign, and what it names, side by side."""
    return f'<div class="named"><span>{name} =</span>{body}</div>'


def grid(rows, filled, row_names=(), column_names=(), corner=""):
    """A table of boxes to write in, with names for rows and columns."""
    head = ""
    if len(column_names):
        names = "".join(f"<th>{name}</th>" for name in column_names)
        lead = f"<td class='corner'>{corner}</td>" if len(row_names) else ""
        head = f"<tr>{lead}{names}</tr>"
    body = ""
    for place, row in enumerate(rows):
        lead = f"<th>{row_names[place]}</th>" if len(row_names) else ""
        boxes = "".join(
            f'<td class="box">{number(v) if filled else ""}</td>' for v in row
        )
        body += f"<tr>{lead}{boxes}</tr>"
    return f'<table class="grid">{head}{body}</table>'


def lines(count, filled):
    """Room to work in; the key has none."""
    if filled:
        return ""
    return '<div class="room">' + "<div></div>" * count + "</div>"
