"""One Python figure with sliders: live in a kernel, moving on the page."""

import re
from itertools import islice

from matplotlib.figure import Figure

from utils.explore import picture
from utils.explore.slider import Slider, value_key

__all__ = ["MOST_STATES", "Explorable", "find"]

MOST_STATES = 1000
_registry = {}


class Explorable:
    """A figure, the sentence that says it, and the sliders that move both.

    The last line of a notebook cell shows it: in a running kernel as
    widgets, on the static page as the same controls over every state drawn
    when the site was built, elsewhere as a picture with its sentence. With
    no sliders it is a plain figure that has its sentence.

    Parameters
    ----------
    name : str
        Its one name in the whole book, and its anchor on the page: lower
        case words joined by hyphens, the chapter's idea first.
    draw : callable
        `draw(**values)` returns a new matplotlib `Figure`. Do not use
        pyplot: it keeps figures alive.
    say : callable
        `say(**values)` returns the sentence for the same values, with the
        numbers in it.
    *sliders : Slider
    reads : callable, optional
        `reads()` lists the files that `draw` or `say` open, besides those
        of book/data: a change in one draws the frames anew.

    Raises
    ------
    ValueError
        If the name is malformed or already taken, two sliders share a name,
        a slider depends on one that does not come before it, or there are
        more than 1,000 states.
    """

    def __init__(self, name, draw, say, *sliders, reads=list):
        if not re.fullmatch(r"[a-z][a-z0-9]*(-[a-z0-9]+)*", str(name)):
            raise ValueError(
                "an explorable's name must be lower case words joined by "
                f"hyphens, got {name!r}"
            )
        self.name = name
        self.draw = draw
        self.say = say
        self.sliders = sliders
        self.reads = reads
        self.module = draw.__module__
        self._check_sliders()
        self._states = tuple(self._every_state())
        if len(self._states) > MOST_STATES:
            raise ValueError(
                f"explorable {name!r} has more than {MOST_STATES} states, "
                "and the page would not stay light: give a slider fewer values"
            )
        self._index = {
            self._key(state): i for i, state in enumerate(self._states)
        }
        _register(self)

    def __repr__(self):
        return f"<Explorable {self.name!r}, {len(self._states)} states>"

    def states(self):
        """Every state, a tuple of dicts of values, the last slider fastest."""
        return self._states

    def start(self):
        """The state a reader sees first."""
        state = {}
        for slider in self.sliders:
            state[slider.name] = slider.start(state.get(slider.given))
        return state

    def index(self, **values):
        """The place of a state in `states()`.

        Raises
        ------
        ValueError
            If a slider is missing, unknown or cannot take its value.
        """
        if set(values) != {slider.name for slider in self.sliders}:
            raise ValueError(
                f"explorable {self.name!r} takes "
                f"{[slider.name for slider in self.sliders]}, got "
                f"{sorted(values)}"
            )
        key = self._key(values)
        if key not in self._index:
            raise ValueError(f"explorable {self.name!r} has no state {values}")
        return self._index[key]

    def svg(self, **values):
        """Draw one state.

        Returns
        -------
        str
            The picture as SVG in the page's colours.

        Raises
        ------
        ValueError
            If `draw` returns anything but a matplotlib Figure.
        """
        return self._drawn(picture.to_svg, values)

    def png(self, **values):
        """Draw one state as PNG bytes, in the light theme's colours."""
        return self._drawn(picture.to_png, values)

    def sentence(self, **values):
        """Say one state.

        Raises
        ------
        ValueError
            If `say` returns anything but a text that says something.
        """
        text = self.say(**values)
        if not isinstance(text, str) or not text.strip():
            raise ValueError(
                f"explorable {self.name!r}: say must return a sentence, "
                f"got {text!r} for {values}"
            )
        return text

    def _drawn(self, save, values):
        with picture.house_style(self.name):
            figure = self.draw(**values)
            if not isinstance(figure, Figure):
                raise ValueError(
                    f"explorable {self.name!r}: draw must return a "
                    f"matplotlib Figure, got {figure!r} for {values}"
                )
            return save(figure)

    def _repr_mimebundle_(self, include=None, exclude=None):
        from utils.explore import live, stored

        bundle = stored.mimebundle(self)
        bundle.update(live.mimebundle(self))
        return bundle

    def _check_sliders(self):
        earlier = []
        for slider in self.sliders:
            if not isinstance(slider, Slider):
                raise ValueError(
                    f"explorable {self.name!r}: {slider!r} is not a Slider"
                )
            if slider.name in [other.name for other in earlier]:
                raise ValueError(
                    f"explorable {self.name!r}: two sliders are named "
                    f"{slider.name!r}"
                )
            if slider.given is not None:
                self._check_given(slider, earlier)
            earlier.append(slider)

    def _check_given(self, slider, earlier):
        for other in earlier:
            if other.name == slider.given and other.given is None:
                missing = set(other.values()) - set(slider.tables())
                if missing:
                    raise ValueError(
                        f"explorable {self.name!r}: slider {slider.name!r} "
                        f"has no values for {slider.given} = "
                        f"{sorted(missing)}"
                    )
                return
        raise ValueError(
            f"explorable {self.name!r}: slider {slider.name!r} is given "
            f"{slider.given!r}, which is not an independent slider before it"
        )

    def _every_state(self):
        states = [{}]
        for slider in self.sliders:
            more = (
                {**state, slider.name: value}
                for state in states
                for value in slider.values(state.get(slider.given))
            )
            # one too many is enough to refuse: no slider makes them fewer
            states = list(islice(more, MOST_STATES + 1))
        return states

    def _key(self, values):
        return tuple(value_key(values[slider.name]) for slider in self.sliders)


def find(name):
    """The explorable of that name.

    Raises
    ------
    ValueError
        If no module that was imported has defined it.
    """
    if name not in _registry:
        raise ValueError(
            f"no explorable is named {name!r}; known: {sorted(_registry)}"
        )
    return _registry[name]


def _register(new):
    """Refuse a second owner of a name; a reload may replace its own."""
    old = _registry.get(new.name)
    if old is not None:
        same_place = (old.module, old.draw.__qualname__) == (
            new.module,
            new.draw.__qualname__,
        )
        if old.draw is new.draw or not same_place:
            raise ValueError(
                f"two explorables are named {new.name!r}: one in "
                f"{old.module}, one in {new.module}"
            )
    _registry[new.name] = new
