"""Each mistake is named by its check, and no right function is blamed."""

import itertools
import re
import sys

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from utils.practice import checks
from utils.practice.checks import TASKS
from utils.practice.compare import as_list, equal, matches, quiet

MUTANTS = [
    pytest.param(check, mutant, id=f"{check.__name__[6:]}: {mutant.name}")
    for check, task in TASKS.items()
    for mutant in task.mutants
]
ANSWERS = [
    pytest.param(check, answer, id=f"{check.__name__[6:]} {name}")
    for check, task in TASKS.items()
    for name, answer in task.answers.items()
]
TWO = [
    pytest.param(check, *pair, id=f"{pair[0].name} + {pair[1].name}")
    for check, task in TASKS.items()
    for pair in itertools.combinations(task.mutants, 2)
    if pair[0].changes
    and pair[1].changes
    and not pair[0].changes.keys() & pair[1].changes.keys()
]
# the famous ones, each with its entry in the bank of bugs where it has one
FAMOUS = {
    "A08": ("check_softmax", "softmax over the wrong axis"),
    "A10": ("check_attention", "no scale"),
    "A09": ("check_multi_head_attention", "divided by √d_model"),
    "A10 too": ("check_scaled_scores", "divided by d_k"),
    "A04": ("check_attention", "the mask upside down"),
    "A19": ("check_attention", "the mask after softmax"),
    "A01": ("check_attention", "−1e9 for a query that sees nothing"),
    "A11": ("check_split_heads", "view without transpose"),
    "batch axis": (
        "check_added_positions",
        "position added along the batch axis",
    ),
    "A27": ("check_rope", "mixed pairings"),
    "A06": ("check_decode_step", "the triangle at the top left"),
    "W_K": ("check_self_attention", "V projected by W_K"),
    "A05": ("check_attention", "the mask added as 0 and 1"),
    "A12": ("check_merge_heads", "heads joined without swapping"),
    "A14": ("check_padding_mask", "rows hidden in place of columns"),
    "A17": ("check_causal_mask", "its own token hidden"),
    "A23": ("check_softmax", "the maximum is not subtracted"),
    "A25": ("check_positional_encoding", "the exponent doubled"),
    "A26": ("check_positional_encoding", "all sines first, then all cosines"),
}


def as_torch(value, dtype):
    if isinstance(value, np.ndarray):
        tensor = torch.tensor(value)
        return tensor.to(dtype) if tensor.is_floating_point() else tensor
    return value


def through_torch(run, dtype):
    """The function for tensors that a NumPy function becomes."""

    def reader(*tensors):
        arrays = [
            one.double().numpy()
            if isinstance(one, torch.Tensor) and one.is_floating_point()
            else one.numpy()
            if isinstance(one, torch.Tensor)
            else one
            for one in tensors
        ]
        parts = quiet(run, arrays)
        parts = [as_torch(np.array(part), dtype) for part in parts]
        return parts[0] if len(parts) == 1 else tuple(parts)

    return reader


def in_float32(run):
    def reader(*arrays):
        parts = [
            part.astype(np.float32) if part.dtype == float else part
            for part in quiet(run, arrays)
        ]
        return parts[0] if len(parts) == 1 else tuple(parts)

    return reader


def takes(run, count):
    """Give a reader's function the right number of arguments."""
    names = "abcdef"[:count]
    return eval(
        f"lambda {', '.join(names)}: run({', '.join(names)})", {"run": run}
    )


def reader_of(check, run):
    """A mutant that takes its mask, or none: both ways of calling it."""
    task = TASKS[check]
    most = len(task.arguments)
    if task.arguments[-1] == "mask":
        return lambda Q, K, V, mask=None: run(Q, K, V, mask)
    return takes(run, most)


# --- named -----------------------------------------------------------------


@pytest.mark.parametrize(("check", "mutant"), MUTANTS)
def test_each_mistake_is_named(check, mutant):
    verdict = check(mutant.run)
    assert not verdict
    assert verdict.mistakes == (mutant.name,)
    text = repr(verdict)
    for part in (mutant.symptom, mutant.cause, mutant.why, mutant.report):
        assert part in text


@pytest.mark.parametrize(("check", "mutant"), MUTANTS)
def test_each_mistake_is_named_in_float32(check, mutant):
    verdict = check(reader_of(check, in_float32(mutant.run)))
    assert verdict.mistakes == (mutant.name,)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
@pytest.mark.parametrize(("check", "mutant"), MUTANTS)
def test_each_mistake_is_named_in_torch(check, mutant, dtype):
    verdict = check(reader_of(check, through_torch(mutant.run, dtype)))
    assert verdict.mistakes == (mutant.name,)


@pytest.mark.parametrize(("check", "answer"), ANSWERS)
def test_the_right_version_passes(check, answer):
    assert check(answer), check(answer)
    assert check(reader_of(check, in_float32(answer)))
    for dtype in (torch.float32, torch.float64):
        verdict = check(reader_of(check, through_torch(answer, dtype)))
        assert verdict, verdict
        assert verdict.mistakes == ()


@pytest.mark.parametrize(("check", "one", "other"), TWO)
def test_two_mistakes_at_once_are_both_named(check, one, other):
    recipe, changes = TASKS[check].recipe, {**one.changes, **other.changes}
    verdict = check(reader_of(check, lambda *t: recipe(*t, **changes)))
    assert not verdict
    # a mistake that shows only where a query sees nothing waits its turn
    late = ("1e9", "NaN for")
    least = (
        {one.name}
        if any(word in other.name for word in late)
        else {one.name, other.name}
    )
    assert least <= set(verdict.mistakes) <= {one.name, other.name}


def test_the_famous_mistakes_are_all_here():
    for bug, (check, name) in FAMOUS.items():
        names = [m.name for m in TASKS[getattr(checks, check)].mutants]
        assert name in names, bug


# --- told apart ------------------------------------------------------------


@pytest.mark.parametrize("check", TASKS, ids=lambda c: c.__name__)
def test_every_two_mistakes_are_far_apart_and_far_from_right(check):
    """So far that rounding in float32 can make nobody take one for another."""
    task = TASKS[check]
    runs = [
        *task.answers.values(),
        *(mutant.run for mutant in task.mutants),
    ]
    trials = [trial for stage in task.stages() for trial in stage]
    outputs = [[quiet(run, trial) for trial in trials] for run in runs]
    for one, other in itertools.combinations(outputs, 2):
        assert any(
            far_apart(a, b)
            for mine, theirs in zip(one, other, strict=True)
            for a, b in itertools.zip_longest(mine, theirs)
        )


def far_apart(a, b):
    if a is None or b is None or a.shape != b.shape or a.dtype != b.dtype:
        return True
    if a.dtype == bool:
        return bool((a != b).any())
    return not np.allclose(a, b, rtol=1e-2, atol=1e-2, equal_nan=True)


@pytest.mark.parametrize("check", TASKS, ids=lambda c: c.__name__)
def test_names_and_texts_are_each_used_once(check):
    mutants = TASKS[check].mutants
    assert len({m.name for m in mutants}) == len(mutants)
    for mutant in mutants:
        assert re.fullmatch(
            r"(https://github\.com/[\w.-]+/[\w.-]+/(issues|pull)/\d+)?",
            mutant.report,
        ), mutant.report
        assert mutant.symptom[0].isupper()
        assert not mutant.symptom.endswith(".")
        assert mutant.why.endswith(".")
        assert not mutant.cause[0].isupper() or mutant.cause[:2] in (
            "W_",
            "Tr",
            "X ",
            "K ",
        )


# --- no check passes an unscaled version -----------------------------------


def scaled_by(factor):
    """Right functions, but for a factor on the scaled scores."""

    def scores(Q, K):
        return Q @ K.mT / Q.shape[-1] ** 0.5 * factor

    def attention(Q, K, V, mask=True):
        hidden = np.where(mask, scores(Q, K), -np.inf)
        largest = hidden.max(-1, keepdims=True)
        e = np.exp(hidden - np.where(np.isfinite(largest), largest, 0))
        return e @ V / np.maximum(e.sum(-1, keepdims=True), 1e-300)

    def masked(Q, K, V, mask=None):
        return attention(Q, K, V, True if mask is None else mask)

    def self_attention(X, W_Q, W_K, W_V):
        return attention(X @ W_Q, X @ W_K, X @ W_V)

    def heads(X, W_Q, W_K, W_V, W_O, h):
        Q, K, V = (
            (X @ W).reshape(len(X), h, -1).swapaxes(0, 1)
            for W in (W_Q, W_K, W_V)
        )
        mixed = attention(Q, K, V).swapaxes(0, 1)
        return mixed.reshape(X.shape) @ W_O

    def step(Q, K, V):
        mask = np.tri(len(Q), len(K), len(K) - len(Q), dtype=bool)
        return attention(Q, K, V, mask)

    return {
        checks.check_scaled_scores: scores,
        checks.check_attention: masked,
        checks.check_self_attention: self_attention,
        checks.check_multi_head_attention: heads,
        checks.check_decode_step: step,
    }


def test_the_functions_of_the_next_test_are_right_but_for_their_factor():
    for check, function in scaled_by(1.0).items():
        assert check(function), check(function)


@settings(max_examples=30, deadline=None)
@given(st.floats(0.05, 20).filter(lambda factor: abs(factor - 1) > 1e-3))
def test_no_check_passes_another_scale(factor):
    for check, function in scaled_by(factor).items():
        assert not check(function), (check.__name__, factor)


def test_no_check_passes_unscaled_scores():
    def unscaled(Q, *rest):
        return Q * Q.shape[-1] ** 0.5, *rest

    for check in (
        checks.check_scaled_scores,
        checks.check_attention,
        checks.check_decode_step,
    ):
        right = TASKS[check].answers[""]
        function = reader_of(
            check, lambda *trial, right=right: right(*unscaled(*trial))
        )
        assert not check(function), check.__name__


# --- shapes ----------------------------------------------------------------

sizes = st.integers(1, 5)


@settings(max_examples=60, deadline=None)
@given(sizes, sizes, sizes, sizes, st.integers(0, 2**32 - 1))
def test_the_right_recipe_is_the_books_attention(n, m, d_k, d_v, seed):
    """What the checks compare with, for shapes that they do not try."""
    from utils.attention import scaled_dot_product_attention

    rng = np.random.default_rng(seed)
    Q, K, V = (
        rng.normal(size=shape) for shape in ((n, d_k), (m, d_k), (m, d_v))
    )
    mask = rng.random((n, m)) < 0.5
    right = TASKS[checks.check_attention].answers[""]
    for trial in ((Q, K, V), (Q, K, V, mask)):
        for ours, theirs in zip(
            right(*trial), scaled_dot_product_attention(*trial), strict=True
        ):
            np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-12)


@settings(max_examples=60, deadline=None)
@given(st.lists(sizes, min_size=0, max_size=4), st.integers(0, 99))
def test_a_wrong_shape_is_never_taken_for_right(shape, seed):
    array = np.random.default_rng(seed).normal(size=shape)
    for check, task in TASKS.items():
        verdict = check(takes(lambda *_: array, len(task.arguments)))
        assert not verdict
        assert "\n" in repr(verdict)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32 - 1), st.floats(0.01, 3))
def test_noise_is_not_named_after_a_mistake(seed, size):
    """An honest verdict: what differs, and no name."""
    rng = np.random.default_rng(seed)
    off = rng.normal(size=(40, 40)) + 0.1

    def noisy(scores):
        right = TASKS[checks.check_softmax].answers[""](scores)
        return right + size * off[: right.shape[0], : right.shape[1]]

    verdict = checks.check_softmax(noisy)
    assert not verdict
    assert verdict.mistakes == ()
    assert "no mistake known here" in verdict.headline


def test_equal_knows_truth_values_from_numbers():
    assert equal(np.array([True]), np.array([True]))
    assert not equal(np.array([True]), np.array([1]))
    assert not equal(np.array([1.0]), np.array([1.0 + 1e-6]))
    assert equal(np.float32([1.0]), np.array([1.0 + 1e-6]))
    assert matches(as_list((1, 2)), as_list(1))
    assert not matches(as_list(1), as_list((1, 2)))


def test_the_same_mistake_gives_the_same_text():
    for check, task in TASKS.items():
        for mutant in task.mutants:
            assert repr(check(mutant.run)) == repr(check(mutant.run))


def test_torch_is_left_alone_by_those_who_do_without():
    import subprocess

    code = (
        "import sys\nsys.modules['torch'] = None\n"
        "from utils.practice.checks import TASKS\n"
        "for check, task in TASKS.items():\n"
        "    assert all(map(check, task.answers.values()))\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
