"""What the tests of figures share: explorables, states, what is printed.

Every `Explorable` of `utils/figures/` is found by itself, so that the
promises of `tests/test_figures.py` hold for a new chapter too.
"""

import importlib
import pkgutil

import pytest

from utils import figures
from utils.explore import Explorable
from utils.explore.picture import house_style


def all_explorables():
    """Every explorable of every chapter, by name."""
    found = {}
    for package in pkgutil.iter_modules(figures.__path__):
        if package.ispkg:
            module = importlib.import_module(f"utils.figures.{package.name}")
            for value in vars(module).values():
                if isinstance(value, Explorable):
                    found[value.name] = value
    return [found[name] for name in sorted(found)]


def some_states(explorable, most):
    """About so many of its states: the first, the last, the start, between."""
    found = explorable.states()
    chosen = [
        *found[:: max(1, len(found) // most)],
        found[-1],
        explorable.start(),
    ]
    return list({str(state): state for state in chosen}.values())


def states(explorable, step=1):
    """Run a test on every state, or on each `step`-th and the last."""
    found = explorable.states()
    chosen = {str(state): state for state in (*found[::step], found[-1])}
    return pytest.mark.parametrize("state", chosen.values(), ids=str)


def draw(explorable, state):
    """The figure of a state, in the house's style."""
    with house_style(explorable.name):
        return explorable.draw(**state)


def texts(axes):
    """What is written in an axes, in the order drawn."""
    return [text.get_text() for text in axes.texts]


def shown(weights):
    """Weights as the book prints them in a figure."""
    return [
        "<0.001" if w < 0.0005 else ">0.999" if w > 0.9995 else f"{w:.3f}"
        for w in weights
    ]


def number(text):
    """A number that a figure or a sentence prints, with its true minus."""
    return float(text.replace("−", "-"))
