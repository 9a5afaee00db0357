"""The pictures on cost show what the ground floor counts."""

import itertools
import json
import re

import numpy as np
import pytest

from utils import records
from utils.attention import scaled_dot_product_attention
from utils.explore.picture import house_style
from utils.figures import complexity
from utils.figures.complexity.memory import devices, sizes
from utils.figures.complexity.patterns import PATTERNS, mask_of
from utils.figures.complexity.record import newest, points
from utils.figures.complexity.ring import has_work
from utils.figures.complexity.serving import step_costs
from utils.figures.complexity.tiles import (
    MASKS,
    SCORES,
    VALUES,
    parts,
    say_tiles,
)
from utils.figures.complexity.work import share_of_pairs
from utils.tiled import finish

# --- memory and work -------------------------------------------------------


def test_the_devices_have_names_memories_and_sources():
    memories = [device["bytes"] for device in devices()]
    assert memories == sorted(memories)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[", "mine.json: is not whole JSON"),
        ("{}", "mine.json: devices must be a list"),
        ("[1]", r"mine.json: devices\[0\] must be a table, received 1"),
        ('[{"name": "a"}]', r"mine.json: devices\[0\].label is missing"),
    ],
)
def test_a_damaged_list_of_devices_is_named(text, message, tmp_path):
    path = tmp_path / "mine.json"
    path.write_text(text, "utf-8")
    with pytest.raises(ValueError, match=message):
        devices(path)


@pytest.mark.parametrize(
    ("field", "value", "words"),
    [
        ("label", "", "must be a text"),
        ("name", None, "must be a text"),
        ("what", 1, "must be a text"),
        ("bytes", 0, "must be a whole number from 1 on"),
        ("source", "a book", "must be an https:// address"),
    ],
)
def test_a_device_says_all_that_the_picture_needs(
    field, value, words, tmp_path
):
    device = dict.fromkeys(("label", "name", "what"), "a")
    device |= {"bytes": 1, "source": "https://example.org"}
    path = tmp_path / "mine.json"
    path.write_text(json.dumps([device]), "utf-8")
    assert devices(path) == (device,)
    path = tmp_path / "wrong.json"
    path.write_text(json.dumps([{**device, field: value}]), "utf-8")
    message = (
        rf"wrong.json: devices\[0\].{field} {words}.*, received {value!r}"
    )
    with pytest.raises(ValueError, match=message):
        devices(path)


def test_memory_draws_the_sizes_that_it_says():
    state = complexity.memory.start()
    with house_style("complexity-memory"):
        figure = complexity.memory.draw(**state)
    dots = [
        line.get_ydata()[0]
        for line in figure.axes[0].lines
        if line.get_marker() == "o"
    ]
    assert dots == list(sizes(**state).values())
    assert dots[0] == np.empty((8192, 8192), np.float16).nbytes


def test_more_heads_raise_the_scores_alone():
    one, eight = (sizes(1024, 512, heads, 1, 2) for heads in (1, 8))
    assert eight["scores"] == 8 * one["scores"]
    assert (eight["K and V"], eight["parameters"]) == (
        one["K and V"],
        one["parameters"],
    )


@pytest.mark.parametrize("d", [512, 4096])
def test_the_pairs_take_half_at_six_times_the_width(d):
    assert share_of_pairs(6 * d, d) == 0.5
    assert share_of_pairs(5 * d, d) < 0.5 < share_of_pairs(7 * d, d)


# --- reading and writing ---------------------------------------------------


@pytest.mark.parametrize("state", complexity.serving.states(), ids=str)
def test_serving_fills_the_pairs_that_it_counts(state):
    queries, pairs, _, _ = step_costs(
        state["step"], state["cache"], state["num_key_heads"]
    )
    tokens = 6 + state["step"]
    assert pairs == np.tri(tokens, dtype=bool)[tokens - queries :].sum()
    assert f"{pairs} pairs" in complexity.serving.say(**state)


# --- patterns --------------------------------------------------------------


@pytest.mark.parametrize("pattern", PATTERNS)
@pytest.mark.parametrize("window", [2, 4, 8])
def test_patterns_fill_exactly_the_pairs_that_are_kept(pattern, window):
    mask = mask_of(pattern, window)
    state = {"pattern": pattern, "window": window, "layers": 1}
    with house_style("complexity-patterns"):
        figure = complexity.patterns.draw(**state)
    filled = figure.axes[0].collections[1]
    area = sum(
        np.prod(np.ptp(path.vertices, axis=0)) for path in filled.get_paths()
    )
    assert area / 0.115**2 == pytest.approx(mask.sum())
    assert f": {mask.sum()} of the 300" in complexity.patterns.say(**state)


# --- tiles -----------------------------------------------------------------


@pytest.mark.parametrize("mask", MASKS)
@pytest.mark.parametrize("tile", [1, 2, 4, 8])
def test_after_the_last_tile_stands_the_plain_output(tile, mask):
    keep = {"nothing masked": 8, "future masked": 3, "everything masked": 0}
    plain, _ = scaled_dot_product_attention(
        [[1.0]],
        np.array([SCORES]).T,
        np.array([VALUES]).T,
        np.arange(8)[None] < keep[mask],
    )
    _, _, after = parts(tile, 8 // tile, mask)
    np.testing.assert_allclose(finish(after), plain, rtol=0, atol=1e-12)
    said = say_tiles(tile, 8 // tile, mask)
    if mask == "everything masked":
        assert said.endswith("the output is 0.")
    else:
        assert f"is {plain.item():.3f}, the output." in said


def test_m_never_falls_and_shows_the_largest_score_so_far():
    for step in range(1, 9):
        _, _, after = parts(1, step, "nothing masked")
        assert after.m.item() == max(SCORES[:step])


# --- the ring --------------------------------------------------------------


@pytest.mark.parametrize("ranks", [2, 4])
def test_a_causal_ring_has_idle_machines(ranks):
    said = [
        complexity.ring.say(num_ranks=ranks, mask="causal", turn=turn)
        for turn in range(1, ranks + 1)
    ]
    working = [int(re.search(r"(\d+) machines? of", s)[1]) for s in said]
    assert working == list(range(ranks, 0, -1))
    blocks = itertools.product(range(ranks), range(ranks))
    assert sum(working) == sum(has_work(*b, "causal") for b in blocks)


# --- the record ------------------------------------------------------------


def test_the_record_was_checked_before_it_was_timed():
    record = newest()
    assert record.about["quick"] is False
    for point in record.points:
        assert point.status == "ok"
        assert point.relative_error["output"] < 1e-5
        assert len(point.samples_seconds) >= 5


def test_tiles_beat_naive_at_4096_as_the_chapter_says():
    found = {point.contestant: point for point in points(4096, "none")}
    naive, tiles = found["naive"], found["tiles of 256"]
    assert records.ratio(naive, tiles).median >= 1.4
    assert naive.peak_bytes >= 100 * tiles.peak_bytes


@pytest.mark.parametrize("mask", ["none", "causal"])
def test_the_record_is_drawn_sample_by_sample(mask):
    found = points(4096, mask)
    with house_style("complexity-record"):
        figure = complexity.record.draw(N=4096, mask=mask)
    drawn = [
        line.get_xdata()
        for line in figure.axes[0].lines
        if line.get_marker() == "o"
    ]
    for point, samples in zip(found, drawn, strict=True):
        np.testing.assert_allclose(
            samples, np.multiply(point.samples_seconds, 1000)
        )
