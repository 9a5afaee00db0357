"""Notebooks are stored in one form, and only if every cell is well."""

import json

import pytest

import refresh_notebooks
from canonical_notebook import Refused, canonical
from refresh_notebooks import refresh


def code(source, outputs=(), tags=None, **more):
    metadata = {"tags": tags} if tags else {}
    return {
        "cell_type": "code",
        "source": source,
        "outputs": list(outputs),
        "execution_count": None,
        "metadata": metadata,
        **more,
    }


def prose(source, **more):
    return {
        "cell_type": "markdown",
        "source": source,
        "metadata": {},
        **more,
    }


def notebook(*cells, **metadata):
    return json.dumps(
        {
            "cells": cells,
            "metadata": metadata,
            "nbformat": 4,
            "nbformat_minor": 5,
        }
    )


def stream(text, name="stdout"):
    return {"output_type": "stream", "name": name, "text": text}


def shown(**data):
    return {
        "output_type": "display_data",
        "data": {kind.replace("__", "/"): text for kind, text in data.items()},
        "metadata": {},
    }


def cells(text):
    return json.loads(text)["cells"]


@pytest.mark.bug(id="B36")
def test_canonical_twice_changes_nothing():
    once = canonical(notebook(prose("# √dₖ\r\n"), code("1 + 1"), code("")))
    assert canonical(once) == once
    assert "√dₖ" in once
    assert "\\r" not in once
    assert once.endswith("}\n")


@pytest.mark.bug(id="B36")
def test_editors_leave_no_marks():
    marked = code("1", tags=["hide-cell"])
    marked["metadata"] |= {
        "collapsed": True,
        "scrolled": True,
        "vscode": {"languageId": "python"},
        "execution": {"iopub.execute_input": "2026-01-01T00:00:00"},
    }
    text = canonical(
        notebook(
            marked,
            widgets={"application/vnd.jupyter.widget-state+json": {}},
            kernelspec={"name": "mine", "display_name": "Mine"},
            language_info={"name": "python", "version": "3.11.7"},
        )
    )
    assert cells(text)[0]["metadata"] == {"tags": ["hide-cell"]}
    assert json.loads(text)["metadata"] == {
        "kernelspec": {
            "display_name": "Python 3",
            "language": "python",
            "name": "python3",
        },
        "language_info": {"name": "python"},
    }


@pytest.mark.bug(id="B01")
@pytest.mark.bug(id="B02")
def test_a_widget_leaves_its_words_and_picture():
    live = shown(text__plain="said", text__html="<figure></figure>")
    live["data"]["application/vnd.jupyter.widget-view+json"] = {
        "model_id": "a"
    }
    only = shown()
    only["data"]["application/vnd.jupyter.widget-view+json"] = {
        "model_id": "b"
    }
    outputs = cells(canonical(notebook(code("x", [live, only]))))[0]["outputs"]
    assert [sorted(out["data"]) for out in outputs] == [
        ["text/html", "text/plain"]
    ]


@pytest.mark.bug(id="B44")
def test_streams_that_follow_each_other_are_one():
    pieces = [stream("a"), stream("b\n"), stream("c", "stderr"), stream("d")]
    outputs = cells(canonical(notebook(code("x", pieces))))[0]["outputs"]
    assert [(out["name"], "".join(out["text"])) for out in outputs] == [
        ("stdout", "ab\n"),
        ("stderr", "c"),
        ("stdout", "d"),
    ]


def test_ids_are_kept_and_made_unique():
    same = [
        prose("a", id="kept"),
        prose("b", id="kept"),
        prose("c"),
        prose("c"),
    ]
    ids = [cell["id"] for cell in cells(canonical(notebook(*same)))]
    assert ids[0] == "kept"
    assert len(set(ids)) == 4
    again = [cell["id"] for cell in cells(canonical(notebook(*same)))]
    assert ids == again


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("{", "not a notebook"),
        ("[]", "not a notebook"),
        ('{"nbformat": 3, "cells": []}', "format 3"),
    ],
)
def test_what_is_no_notebook_is_refused(text, why):
    with pytest.raises(Refused, match=why):
        canonical(text)


@pytest.fixture
def stored(tmp_path):
    """Write a notebook of the given cells; returns its path."""

    def write(*given):
        path = tmp_path / "chapter.ipynb"
        path.write_text(notebook(*given), "utf-8")
        return path

    return write


@pytest.mark.bug(id="B36")
def test_a_second_run_changes_nothing(stored, monkeypatch, capsys):
    monkeypatch.setenv("PYTHONWARNINGS", "error")
    path = stored(
        prose("# Title"),
        code("import os\nprint(os.environ.get('PYTHONWARNINGS'))"),
        code("sorted(os.listdir())"),
        code("1 / 0", tags=["raises-exception"]),
    )
    assert refresh_notebooks._one(path, check=False)
    first = path.read_bytes()
    assert refresh_notebooks._one(path, check=False)
    assert path.read_bytes() == first
    said = capsys.readouterr().out.splitlines()
    assert ["written" in said[0], "unchanged" in said[1]] == [True, True]
    _, one, two, three = cells(first.decode())
    counts = [cell["execution_count"] for cell in (one, two, three)]
    assert counts == [1, 2, 3]
    assert one["outputs"][0]["text"] == ["None\n"]
    assert two["outputs"][0]["data"]["text/plain"] == ["['chapter.ipynb']"]
    assert three["outputs"][0]["traceback"] == [
        "ZeroDivisionError: division by zero"
    ]


@pytest.mark.bug(id="B10")
@pytest.mark.bug(id="B15")
@pytest.mark.parametrize(
    ("source", "why"),
    [
        ("x = 1\nboom()", r"cell 1 \(\w+: x = 1\) fails: NameError"),
        ("import sys\nprint(1, file=sys.stderr)", r"cell 1 .* stderr"),
        ("import warnings\nwarnings.warn('old')", r"cell 1 .* stderr"),
        ("import os\nos._exit(1)", "the kernel died"),
    ],
)
def test_a_cell_that_is_not_well_stops_the_writing(stored, source, why):
    expected = code("1 / 0", tags=["raises-exception"])
    path = stored(expected, code(source))
    before = path.read_bytes()
    with pytest.raises(Refused, match=why):
        refresh(path)
    assert not refresh_notebooks._one(path, check=False)
    assert path.read_bytes() == before
    assert [file.name for file in path.parent.iterdir()] == [path.name]


def test_what_cannot_be_written_is_not_run(stored, monkeypatch, capsys):
    def read_only(**_):
        raise PermissionError(13, "Permission denied", "book")

    files = refresh_notebooks.tempfile
    monkeypatch.setattr(files, "NamedTemporaryFile", read_only)
    path = stored(code("open('it-ran', 'w')"))
    assert not refresh_notebooks._one(path, check=False)
    said = capsys.readouterr().out
    assert "refused: [Errno 13] Permission denied: 'book'" in said
    assert [file.name for file in path.parent.iterdir()] == [path.name]


def test_check_names_the_cell_and_writes_nothing(stored, capsys):
    path = stored(prose("# Title"), code("1 + 1"))
    refresh_notebooks._one(path, check=False)
    stale = path.read_text("utf-8").replace('"2"', '"3"')
    path.write_text(stale, "utf-8")
    assert not refresh_notebooks._one(path, check=True)
    assert "stale: cell 1" in capsys.readouterr().out
    assert path.read_text("utf-8") == stale
