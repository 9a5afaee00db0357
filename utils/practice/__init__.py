"""Practise: checks that name the mistake in your own function."""

from utils.practice.checks import *  # noqa: F403
from utils.practice.checks import __all__  # noqa: F401
