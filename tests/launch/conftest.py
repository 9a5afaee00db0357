"""Tests that run chapters where readers run them: minutes, downloads."""

from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent


def pytest_collection_modifyitems(items):
    for item in items:
        if HERE in item.path.parents:
            item.add_marker("launch")


@pytest.hookimpl(tryfirst=True)
def pytest_itemcollected(item):
    """Before -m selects, whatever the order of the hooks above."""
    if HERE in item.path.parents:
        item.add_marker("launch")
