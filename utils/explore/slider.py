"""A named control over fixed values: a number, a choice, or on and off."""

from collections.abc import Mapping
from numbers import Real

__all__ = ["Slider"]


class Slider:
    """One control of an `Explorable`: a name and the values it can take.

    The kind of control follows from the values: on and off for booleans, a
    range for numbers, a menu for texts.

    Parameters
    ----------
    name : str
        The keyword under which `draw` and `say` receive the value.
    values : sequence, or dict of sequences
        Every value the control can take, in order: all bool, all numbers, or
        all strings. A dict, together with `given`, holds one sequence for
        each value of the earlier slider `given`.
    start : optional
        The value a reader sees first; the first value unless said. With
        `given`, a dict that may name one for each value of that slider.
    label : str, optional
        What the reader sees beside the control; the name unless said.
    texts : callable or sequence, or dict of sequences, optional
        How each value reads: `texts(value)`, or one text for each value.
        A range of numbers with texts is still a range.
    given : str, optional
        The name of an earlier slider on which the values depend.
    play : bool
        Offer a play button: for a slider that runs like time.

    Raises
    ------
    ValueError
        If there are no values, one comes twice, they are of mixed kinds,
        `start` is not among them, or `texts` do not match them in number.

    Examples
    --------
    >>> halves = Slider("temperature", [0.5, 1.0, 2.0], start=1.0)
    >>> halves.kind, halves.options(), halves.start()
    ('range', (('0.5', '0.5'), ('1', '1'), ('2', '2')), 1.0)
    """

    def __init__(
        self,
        name,
        values,
        start=None,
        *,
        label=None,
        texts=None,
        given=None,
        play=False,
    ):
        if not (isinstance(name, str) and name.isidentifier()):
            raise ValueError(
                f"a slider's name must be a Python name, got {name!r}"
            )
        self.name = name
        self.label = label or name.replace("_", " ")
        self.given = given
        self.play = bool(play)
        if isinstance(values, Mapping) != (given is not None):
            raise ValueError(
                f"slider {name!r}: values by the value of another slider need "
                f"both a dict and given=, got given={given!r}"
            )
        table = values if given is not None else {None: values}
        self._values = {
            key: self._checked_values(row) for key, row in table.items()
        }
        self.kind = self._one_kind()
        self._texts = {
            key: self._checked_texts(row, _pick(texts, key))
            for key, row in self._values.items()
        }
        self._start = {
            key: self._checked_start(row, _pick(start, key))
            for key, row in self._values.items()
        }

    def values(self, given=None):
        """Every value, in order, `given` the earlier slider's value."""
        return self._values[self._known(given)]

    def start(self, given=None):
        """The value a reader sees first."""
        return self._start[self._known(given)]

    def options(self, given=None):
        """Pairs (key, text): the value in a state link, and as it reads."""
        key = self._known(given)
        return tuple(
            (value_key(value), text)
            for value, text in zip(
                self._values[key], self._texts[key], strict=True
            )
        )

    def tables(self):
        """The values of the earlier slider that have values here."""
        return tuple(self._values)

    def _known(self, given):
        key = None if self.given is None else given
        if key not in self._values:
            raise ValueError(
                f"slider {self.name!r} has no values for "
                f"{self.given} = {given!r}, only for {list(self._values)}"
            )
        return key

    def _checked_values(self, values):
        if isinstance(values, str):
            raise ValueError(
                f"slider {self.name!r}: values must be a sequence of values, "
                f"got the text {values!r}"
            )
        row = tuple(
            value.item() if hasattr(value, "item") else value
            for value in values
        )
        if not row:
            raise ValueError(f"slider {self.name!r} has no values")
        keys = [value_key(value) for value in row]
        for key in keys:
            if keys.count(key) > 1:
                raise ValueError(
                    f"slider {self.name!r}: the value {key!r} comes twice"
                )
        return row

    def _one_kind(self):
        kinds = {
            _kind(value) for row in self._values.values() for value in row
        }
        if len(kinds) != 1 or None in kinds:
            raise ValueError(
                f"slider {self.name!r}: values must be all bool, all numbers "
                f"or all str, got {list(self._values.values())}"
            )
        kind = kinds.pop()
        if kind == "checkbox" and any(
            len(row) != 2 for row in self._values.values()
        ):
            raise ValueError(
                f"slider {self.name!r}: on and off need both False and True, "
                f"got {list(self._values.values())}"
            )
        return kind

    def _checked_texts(self, row, texts):
        if texts is None:
            texts = _default_text
        if callable(texts):
            texts = [texts(value) for value in row]
        if len(texts) != len(row):
            raise ValueError(
                f"slider {self.name!r}: {len(texts)} texts for "
                f"{len(row)} values"
            )
        return tuple(str(text) for text in texts)

    def _checked_start(self, row, start):
        if start is None:
            return row[0]
        for value in row:
            if value_key(value) == value_key(start):
                return value
        raise ValueError(
            f"slider {self.name!r}: start {start!r} is not among its values "
            f"{list(row)}"
        )


def value_key(value):
    """A value as it stands in a state link.

    >>> value_key(0.5), value_key(3.0), value_key(True), value_key("bank")
    ('0.5', '3', 'on', 'bank')
    """
    if _kind(value) == "checkbox":
        return "on" if value else "off"
    if _kind(value) == "range":
        return f"{value:.10g}"
    return str(value)


def _default_text(value):
    """A minus sign for a reader, where a link has a hyphen."""
    key = value_key(value)
    return key.replace("-", "−") if _kind(value) == "range" else key


def _kind(value):
    if isinstance(value, bool):
        return "checkbox"
    if isinstance(value, Real):
        return "range"
    return "select" if isinstance(value, str) else None


def _pick(given, key):
    """An option that may be one for all, or a dict with one for each key."""
    return given.get(key) if isinstance(given, Mapping) else given
