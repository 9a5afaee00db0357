"""The lift between a notebook and a page: one figure, live in both."""

from utils.explore.explorable import Explorable, find
from utils.explore.slider import Slider

__all__ = ["Explorable", "Slider", "find"]
