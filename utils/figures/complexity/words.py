"""How sizes and large counts read in this chapter."""

__all__ = ["in_bytes", "in_words"]

_UNITS = ("bytes", "KB", "MB", "GB", "TB", "PB", "EB")
_NAMES = ("", " thousand", " million", " billion", " trillion", "×10¹⁵")


def in_bytes(size):
    """Give three digits and a unit, in steps of a thousand.

    >>> in_bytes(134217728), in_bytes(999), in_bytes(999_900)
    ('134 MB', '999 bytes', '1 MB')
    """
    return _stepped(size, _UNITS, " ")


def in_words(number):
    """Give three digits and the name of the power.

    >>> in_words(2362368), in_words(512), in_words(3e17)
    ('2.36 million', '512', '300×10¹⁵')
    """
    return _stepped(number, _NAMES, "")


def _stepped(size, names, space):
    power = 0
    while float(f"{size:.3g}") >= 1000 and power < len(names) - 1:
        size /= 1000
        power += 1
    return f"{float(f'{size:.3g}'):.12g}{space}{names[power]}"
