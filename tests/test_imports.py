"""What a source imports is read from it, and nothing is run."""

import pytest

from utils.explore.imports import imported, imports, modules


def test_every_way_to_import_is_seen_at_any_depth():
    source = (
        "import a.b as c, d\n"
        "from e import f as g, h\n"
        "def later():\n"
        "    import i\n"
        "    if i:\n"
        "        from j.k import l\n"
    )
    assert sorted(imports(source), key=str) == [
        ("a.b", None),
        ("d", None),
        ("e", "f"),
        ("e", "h"),
        ("i", None),
        ("j.k", "l"),
    ]


def test_a_relative_import_is_refused_with_its_line():
    words = r"\Aline 2: write the import in full, received 'from \. import a'"
    with pytest.raises(ValueError, match=words + r"\Z"):
        imports("import b\nfrom . import a")


def test_what_is_taken_from_a_package_may_be_a_module():
    source = "import x\nfrom utils import a, masks\nfrom utils.b import c"
    assert imported(source, {"utils.masks", "utils.b"}) == {
        "x",
        "utils",
        "utils.masks",
        "utils.b",
    }


def test_modules_have_their_dotted_names_and_the_order_of_files(tmp_path):
    names = ("utils/b.py", "utils/__init__.py", "utils/a/c.py")
    names += ("utils/a/__init__.py", "other/d.py", "utils/e.js")
    for name in names:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("", "utf-8")
    found = modules(tmp_path)
    assert list(found) == ["utils", "utils.a", "utils.a.c", "utils.b"]
    assert found["utils.a"] == tmp_path / "utils" / "a" / "__init__.py"
    assert found["utils.a.c"] == tmp_path / "utils" / "a" / "c.py"
