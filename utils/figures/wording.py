"""How numbers and lists read in the figures and in their sentences."""

import math

__all__ = [
    "brief",
    "capital",
    "counted",
    "exact_share",
    "listed",
    "named",
    "power",
    "share",
    "signed",
]

_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def share(weight):
    """Give three places, and never 0 or 1 where the weight is neither.

    >>> share(0.47571), share(0.0), share(1e-9), share(1 - 1e-9)
    ('0.476', '0', '<0.001', '>0.999')
    """
    if weight == 0 or math.isnan(weight):
        return "0" if weight == 0 else "NaN"
    if weight > 0.9995:
        return ">0.999"
    return "<0.001" if weight < 0.0005 else f"{weight:.3f}"


def brief(value):
    """Give up to five digits, with a minus sign.

    >>> brief(-2.50), brief(3.0)
    ('−2.5', '3')
    """
    return f"{value:.5g}".replace("-", "−")


def capital(text):
    """Begin as a sentence does.

    >>> capital("no mask: N"), capital("Q")
    ('No mask: N', 'Q')
    """
    return text[:1].upper() + text[1:]


def exact_share(weight):
    """Give three places, and 1 where one key takes all, under a mask.

    >>> exact_share(1.0), exact_share(1 / 3), exact_share(float("nan"))
    ('1', '0.333', 'NaN')
    """
    return "1" if weight == 1 else share(weight)


def signed(value, places=3):
    """Give a fixed number of places, with a minus sign.

    >>> signed(-0.05)
    '−0.050'
    """
    return f"{value:.{places}f}".replace("-", "−")


def power(value):
    """Give a number of any size.

    >>> power(12.18), power(3e38), power(float("inf")), power(0)
    ('12.2', '3×10³⁸', 'inf', '0')
    """
    if value == 0 or math.isinf(value) or 0.01 <= value < 1000:
        return f"{value:.3g}"
    digit, exponent = f"{value:.0e}".split("e")
    return f"{digit}×10{str(int(exponent)).translate(_RAISED)}"


def counted(count, thing):
    """Give a count and its noun.

    >>> counted(1, "step"), counted(1000, "step")
    ('1 step', '1,000 steps')
    """
    return f"{count:,} {thing}" + ("" if count == 1 else "s")


def listed(texts):
    """Join texts as a sentence does.

    >>> listed(["a", "b", "c"])
    'a, b and c'
    """
    *first, last = texts
    return f"{', '.join(first)} and {last}" if first else last


def named(names, weights):
    """Give each name with its weight.

    >>> named(["I", "learn"], [0.67, 0.33])
    'I 0.670 and learn 0.330'
    """
    pairs = zip(names, weights, strict=True)
    return listed(f"{name} {share(weight)}" for name, weight in pairs)
