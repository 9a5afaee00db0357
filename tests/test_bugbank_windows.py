"""Reports about Windows: encodings that are not named, names that break."""

import ast
import re

import pytest

from tests.conftest import ROOT
from tests.test_bugbank_environment import python, tracked
from tests.test_layers import MODULES

# from Windows: a name may hold none of these, and must not be one of those
FORBIDDEN = re.compile(r'[<>:"|?*\\\x00-\x1f]|[. ]$')
DEVICES = {"con", "prn", "aux", "nul"} | {
    f"{port}{number}" for port in ("com", "lpt") for number in range(10)
}
CALLS_A_PROGRAM = {"run", "Popen", "check_output", "check_call"}
OPENS_TEXT = {"open", "fdopen", "TextIOWrapper"}


@pytest.mark.bug(id="B37")
def test_every_name_in_the_repository_is_portable():
    names = [path.relative_to(ROOT) for path in tracked()]
    lower = [str(name).lower() for name in names]
    assert len(set(lower)) == len(lower), "two names differ by case alone"
    for name in names:
        assert str(name).isascii(), name
        assert len(str(name)) < 160, name
        for part in name.parts:
            assert not FORBIDDEN.search(part), name
            assert part.split(".")[0].lower() not in DEVICES, name


def without_encoding(source):
    """Lines that read or write text and leave its encoding to the system."""
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.Call):
            continue
        function = node.func
        name = getattr(function, "attr", getattr(function, "id", ""))
        keywords = {word.arg: word.value for word in node.keywords}
        if "encoding" in keywords or None in keywords:
            continue
        texts = {"read_text": 0, "write_text": 1}
        if name in texts and isinstance(function, ast.Attribute):
            if len(node.args) <= texts[name]:
                yield node.lineno
        elif name in OPENS_TEXT and (
            isinstance(function, ast.Name)
            or ast.unparse(function.value) in ("os", "io", "gzip", "tempfile")
        ):
            mode = [*node.args[1:2], keywords.get("mode")]
            if not any("b" in ast.unparse(m) for m in mode if m is not None):
                yield node.lineno
        elif name in CALLS_A_PROGRAM and (
            {"text", "universal_newlines"} & keywords.keys()
        ):
            yield node.lineno


@pytest.mark.bug(id="B37")
def test_no_text_is_read_or_written_in_the_system_s_own_encoding():
    """A program that answers in it is asked with `encoding="locale"`."""
    for path in tracked("*.py"):
        found = list(without_encoding(path.read_text("utf-8")))
        assert not found, f"{path.relative_to(ROOT)}, lines {found}"


@pytest.mark.bug(id="B37")
@pytest.mark.parametrize(
    ("line", "bad"),
    [
        ("path.read_text()", True),
        ("path.read_text('utf-8')", False),
        ("path.write_text(text)", True),
        ("open(path)", True),
        ("open(path, 'w')", True),
        ("open(path, 'rb')", False),
        ("open(path, mode='wb')", False),
        ("open(path, encoding='utf-8')", False),
        ("subprocess.run(command, text=True)", True),
        ("subprocess.run(command, encoding='locale')", False),
    ],
)
def test_a_missing_encoding_is_seen(line, bad):
    assert bool(list(without_encoding(line))) is bad


@pytest.mark.bug(id="B37")
def test_python_itself_finds_no_encoding_missing():
    """In our own code; some packages leave it open."""
    code = f"import importlib\nfor name in {sorted(MODULES)}: "
    code += "importlib.import_module(name)\n"
    code += "from utils import records, trained\n"
    code += "assert records.load_all() and trained.sentences()"
    always = ("-X", "warn_default_encoding", "-W", "always::EncodingWarning")
    done = python(*always, "-c", code)
    assert done.returncode == 0, done.stderr
    ours = [
        line
        for line in done.stderr.split("\n")
        if "EncodingWarning" in line and "site-packages" not in line
    ]
    assert not ours, ours
