"""A pytest plugin: which tests a mutant meets, of those it is given.

Left out is what needs the built site or a browser: a mutant changes Python,
and the site stays as it was built. The examples in docstrings are tests here
too, taken from the sources as they were before they were mutated.
"""

import ast
import doctest
import importlib
import os
from pathlib import Path

import pytest
from hypothesis import settings

NEEDS_THE_SITE = {"built_site", "served_site", "engine"}
LEFT_OUT = {
    # ten processes of torch, for each mutant that it would meet
    "test_a_cold_start_and_an_end_of_memory_in_a_process_of_their_own",
    # a mutant is called by way of mutmut, which the traceback shows
    "test_an_error_begins_in_the_readers_own_code",
}

# The same examples in each run, and no slow moment taken for a failure.
settings.register_profile(
    "mutation", derandomize=True, database=None, deadline=None
)
settings.load_profile("mutation")


def examples(source):
    """Functions, classes and methods whose docstrings show an example.

    Parameters
    ----------
    source : str
        Of a module.

    Returns
    -------
    dict of str to str
        By name, `Class.method` for a method; the docstring.
    """
    found = {}

    def look(nodes, before):
        for node in nodes:
            if isinstance(node, ast.FunctionDef | ast.ClassDef):
                said = ast.get_docstring(node) or ""
                if ">>> " in said:
                    found[before + node.name] = said
            if isinstance(node, ast.ClassDef):
                look(node.body, f"{before}{node.name}.")

    look(ast.parse(source).body, "")
    return found


def pytest_configure(config):
    """Keep to this process the watching of which test reaches what.

    A process that a test starts has the mutant, by its environment, but
    cannot watch.
    """
    if os.environ.get("MUTANT_UNDER_TEST") == "stats":
        del os.environ["MUTANT_UNDER_TEST"]


def pytest_collection_modifyitems(config, items):
    """Leave out what needs the site."""
    left_out = [
        item
        for item in items
        if NEEDS_THE_SITE & set(getattr(item, "fixturenames", ()))
        or item.name in LEFT_OUT
    ]
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if item not in left_out]


def pytest_collect_file(file_path, parent):
    """Collect `utils/x.py` for its examples."""
    if file_path.suffix == ".py" and "utils" in file_path.parts:
        return Examples.from_parent(parent, path=file_path)
    return None


class Examples(pytest.File):
    """The examples of a module's docstrings."""

    def collect(self):
        """One test for each docstring."""
        root = self.config.rootpath
        parts = self.path.relative_to(root).with_suffix("").parts
        before = root.parent.joinpath(*parts).with_suffix(".py")
        for name, said in examples(before.read_text("utf-8")).items():
            module = ".".join(parts)
            yield Example.from_parent(
                self, name=name, said=said, module=module
            )


class Example(pytest.Item):
    """The example of one docstring."""

    def __init__(self, *, said, module, **rest):
        super().__init__(**rest)
        self.said = said
        self.module = module

    def runtest(self):
        """Run it among the module's names."""
        names = dict(vars(importlib.import_module(self.module)))
        parser = doctest.DocTestParser()
        test = parser.get_doctest(
            self.said, names, self.name, str(self.path), 0
        )
        wrong = []
        found = doctest.DocTestRunner().run(test, out=wrong.append)
        assert found.failed == 0, "".join(wrong)

    def reportinfo(self):
        """Where it stands."""
        return Path(self.path), 0, self.name
