"""The timing chapter's pictures show what the records hold, and no more."""

import json
import re
from dataclasses import replace

import numpy as np
import pytest

from tests.figures import draw, states
from utils import records
from utils.explore import palette
from utils.figures import gpu_timing as chapter
from utils.figures.gpu_timing import evidence
from utils.figures.gpu_timing.clocks import gallery
from utils.figures.gpu_timing.length import growth
from utils.figures.gpu_timing.passes import (
    LENGTHS,
    measured_passes,
    published_passes,
)
from utils.figures.gpu_timing.window import SHOWN, by_share
from utils.roofline import BYTES

RECORD = chapter.the_record()
RAW = json.loads((records.FOLDER / f"{RECORD.name}.json").read_text("utf-8"))
BARS = [
    point
    for path in sorted(records.FOLDER.glob("published-*.json"))
    for point in json.loads(path.read_text("utf-8"))["points"]
]


def rows(**wanted):
    """Points of the record's file itself, past every helper."""
    return [
        p for p in RAW["points"] if all(p[k] == v for k, v in wanted.items())
    ]


def raw(contestant, N, mask, direction, clock="right"):
    (row,) = raws(contestant, N, mask, direction, clock)
    return row


def raws(contestant, N, mask, direction, clock="right"):
    """The one row, or none: math is not timed at the longest backward."""
    return rows(
        experiment="length",
        contestant=contestant,
        queries=N,
        mask=mask,
        direction=direction,
        clock=clock,
        status="ok",
    )


def timed(names, N, mask, direction):
    return [name for name in names if raws(name, N, mask, direction)]


def bar(contestant, device, N, d, mask, direction):
    (found,) = [
        p["value"]
        for p in BARS
        if p["contestant"] == contestant
        and p["device"].startswith(device)
        and (p["queries"], p["d"], p["mask"]) == (N, d, mask)
        and (p["direction"], p["quantity"]) == (direction, "TFLOP/s")
        and p["status"] == "ok"
    ]
    return found


def lines_of(axes, ink):
    """The lines of one colour that have more than one point."""
    return [x for x in axes.lines if x.get_color() == ink]


def calibrated(what, dtype="float32"):
    """Work per second at the median rate, from the file itself."""
    (row,) = [
        r
        for r in RAW["calibration"]
        if (r["what"], r["dtype"]) == (what, dtype)
    ]
    return np.median([row["work"] / s for s in row["samples_seconds"]])


def passes_by_hand(seconds, batch, heads, N, d, size, flop, memory, backward):
    products = (6 if backward else 2) * 2 * batch * heads * N * N * d / flop
    return (seconds - products) / (batch * heads * N * N * size / memory)


# --- the record ------------------------------------------------------------


def test_the_chapter_stands_on_a_whole_record_of_a_processor():
    assert RAW["kind"] == "measured"
    assert RAW["quick"] is False
    assert RAW["finished_utc"]
    assert RAW["device"]["type"] in ("cpu", "cuda")


def test_no_published_point_has_samples_and_no_measured_one_has_none():
    for point in evidence.published():
        assert "samples_seconds" not in point.fields
        assert point.source_url.startswith("https://")
    for record in evidence.measured().values():
        for point in record.points:
            assert point.status == "ok" or point.reason
            if point.experiment != "limit":  # that one asks for memory alone
                assert bool(point.samples_seconds) == (point.status == "ok")


# --- time against length ---------------------------------------------------


@states(chapter.length)
def test_length_draws_the_median_of_each_contestants_samples(state):
    case = {"mask": state["mask"], "direction": state["direction"]}
    (axes,) = draw(chapter.length, state).axes
    names = ["naive", "naive, preallocated", "math", "flash"]
    if case["direction"] == "forward+backward":
        names.remove("naive, preallocated")
    drawn = [x for x in axes.lines if len(x.get_xdata()) > 2]
    assert len(drawn) == len(names)
    for name, line in zip(names, drawn, strict=True):
        assert line.get_color() == evidence.SIGNS[name].ink
        for N, y in line.get_xydata():
            samples = raw(name, N, **case)["samples_seconds"]
            np.testing.assert_allclose(y, np.median(samples))


@states(chapter.length)
def test_length_says_the_median_and_the_power(state):
    sentence = chapter.length.sentence(**state)
    case = {"mask": state["mask"], "direction": state["direction"]}
    assert f"{state['N']:,} tokens" in sentence
    for name in timed(("naive", "math", "flash"), state["N"], **case):
        samples = raw(name, state["N"], **case)["samples_seconds"]
        told = evidence.duration(np.median(samples))
        sign = evidence.SIGNS[name].name
        power = growth(RECORD, name, **case)
        assert f"{sign} {told} (power {power:.2f})" in sentence


@pytest.mark.parametrize("name", ["naive", "flash"])
def test_growth_is_the_slope_of_the_three_longest(name):
    y = [
        np.median(raw(name, N, "none", "forward")["samples_seconds"])
        for N in (1024, 2048, 4096)
    ]
    slope = np.polyfit(np.log([1024, 2048, 4096]), np.log(y), 1)[0]
    found = growth(RECORD, name, "none", "forward")
    assert found == pytest.approx(slope, abs=1e-9)


# --- ratios ----------------------------------------------------------------


@states(chapter.ratio)
def test_ratio_pairs_samples_that_stood_side_by_side(state):
    case = {"mask": state["mask"], "direction": state["direction"]}
    slow = raw("naive", state["N"], **case)
    fast = raw("flash", state["N"], **case)
    assert slow["group"] == fast["group"]
    by_round = np.divide(slow["samples_seconds"], fast["samples_seconds"])
    sentence = chapter.ratio.sentence(**state)
    told = evidence.times(np.median(by_round))
    low, high = np.quantile(by_round, [0.2, 0.8])
    assert f"{told} times faster than naive ({low:.1f} to {high:.1f})" in (
        sentence
    )


@states(chapter.ratio)
def test_ratio_draws_published_bars_hollow_and_ours_filled(state):
    (axes,) = draw(chapter.ratio, state).axes
    hollow = [
        x
        for x in axes.lines
        if x.get_markerfacecolor() == palette.GROUND and len(x.get_xdata())
    ]
    filled = [x for x in axes.lines if x.get_marker() in ("o", "v", "s")]
    assert len(filled) > len(hollow)
    direction, mask = state["direction"], state["mask"]
    assert len(hollow) == (2 if direction == "forward+backward" else 1)
    for line in hollow:
        card = "A100" if line.get_marker() == "o" else "H100"
        for N, y in line.get_xydata():
            shape = (N, 64, mask, direction)
            fast = bar("FlashAttention-2", card, *shape)
            assert y == pytest.approx(fast / bar("naive", card, *shape))


def test_noise_is_flash_against_itself():
    found = []
    for again in rows(clock="again", contestant="flash"):
        (first,) = rows(
            group=again["group"], contestant="flash", clock="right"
        )
        found.append(
            np.median(
                np.divide(again["samples_seconds"], first["samples_seconds"])
            )
        )
    low, high = chapter.noise(RECORD)
    # the same whichever of the two stands on top
    furthest = np.exp(np.abs(np.log(found)).max())
    assert (low, high) == pytest.approx((1 / furthest, furthest), rel=1e-9)


def test_noise_needs_two_runs_of_flash():
    once = [p for p in RECORD.points if p.fields.get("clock") != "again"]
    with pytest.raises(ValueError, match=f"{RECORD.name}: no second run"):
        chapter.noise(replace(RECORD, points=tuple(once)))
    second = [p for p in RECORD.points if p.fields.get("clock") == "again"]
    with pytest.raises(ValueError, match=f"{RECORD.name}: 0 points have"):
        chapter.noise(replace(RECORD, points=tuple(second)))


# --- memory ----------------------------------------------------------------


@states(chapter.memory)
def test_memory_draws_the_peaks_and_the_counted_line(state):
    direction, N = state["direction"], state["N"]
    (axes,) = draw(chapter.memory, state).axes
    drawn = [x for x in axes.lines if len(x.get_xdata()) > 2]
    counted, *measured = drawn
    matrices = 2 if direction == "forward" else 3
    for n, y in counted.get_xydata():
        assert y == matrices * 8 * n * n * 4
    for name, line in zip(("naive", "math", "flash"), measured, strict=True):
        for n, y in line.get_xydata():
            assert y == raw(name, n, "none", direction)["peak_bytes"]
    held = {
        name: raw(name, N, "none", direction)["peak_bytes"]
        for name in ("naive", "flash")
    }
    fewer = evidence.times(held["naive"] / held["flash"])
    assert f"{fewer} times less" in chapter.memory.sentence(**state)


# --- samples ---------------------------------------------------------------


@states(chapter.samples, 3)
def test_samples_draws_every_sample_in_its_round(state):
    case = {"mask": state["mask"], "direction": state["direction"]}
    (axes,) = draw(chapter.samples, state).axes
    names = ["naive", "naive, preallocated", "math", "flash"]
    names = timed(names, state["N"], **case)
    medians, dots = axes.lines[::2], axes.lines[1::2]
    for name, median, line in zip(names, medians, dots, strict=True):
        samples = raw(name, state["N"], **case)["samples_seconds"]
        assert list(line.get_xdata()) == list(range(1, len(samples) + 1))
        np.testing.assert_allclose(line.get_ydata(), 1e3 * np.array(samples))
        right = 1e3 * np.median(samples)
        np.testing.assert_allclose(median.get_ydata(), [right, right])
        assert line.get_color() == median.get_color()


# --- passes and roofs ------------------------------------------------------


@pytest.mark.parametrize("N", LENGTHS)
def test_published_passes_are_the_time_that_products_leave(N):
    peaks = {"A100": (312e12, 2.0e12), "H100": (989e12, 3.35e12)}
    for mask, direction in evidence.CASES:
        back = direction == "forward+backward"
        found = published_passes(mask, direction, N)
        assert len(found) == (4 if back else 2)
        for card, d, told in found:
            value = bar("naive", card, N, d, mask, direction)
            batch, heads = 16384 // N, 2048 // d
            keys = N if mask == "none" else (N + 1) / 2
            credited = 4 * batch * heads * N * keys * d * (3.5 if back else 1)
            seconds = credited / (value * 1e12)
            hand = passes_by_hand(
                seconds, batch, heads, N, d, 2, *peaks[card], back
            )
            assert told == pytest.approx(hand, rel=1e-9)


def test_our_passes_are_by_the_peaks_that_the_run_itself_reached():
    for _, contestant, told in measured_passes("none", "forward", 4096):
        row = raw(contestant, 4096, "none", "forward")
        hand = passes_by_hand(
            np.median(row["samples_seconds"]),
            1,
            8,
            4096,
            64,
            4,
            calibrated("matmul"),
            calibrated("copy"),
            False,
        )
        assert told == pytest.approx(hand, rel=1e-6)


@states(chapter.passes)
def test_passes_says_each_case(state):
    sentence = chapter.passes.sentence(**state)
    for i, (mask, direction) in enumerate(evidence.CASES):
        theirs = [
            found
            for *_, found in published_passes(mask, direction, state["N"])
        ]
        span = f"published {min(theirs):.1f} to {max(theirs):.1f}"
        case = evidence.shown_case(mask, direction)
        case = case if i else case.capitalize()
        assert f"{case}: {span}" in sentence


@states(chapter.roofline, 3)
def test_roofline_draws_the_rates_as_shares_of_the_peak(state):
    where, N, direction = state["where"], state["N"], state["direction"]
    (axes,) = draw(chapter.roofline, state).axes
    marks = [x for x in axes.lines if len(x.get_xdata()) == 1]
    assert [x.get_marker() for x in marks] == ["o", "s"]
    flops = 4 * N * N * 2048 * (16384 // N)
    if where in ("H100", "A100"):
        peak = {"H100": 989e12, "A100": 312e12}[where]
        for mark, name in zip(
            marks, ("naive", "FlashAttention-2"), strict=True
        ):
            value = bar(name, where, N, 64, "none", direction) * 1e12
            assert mark.get_ydata()[0] == pytest.approx(value / peak)
            assert mark.get_markerfacecolor() == palette.GROUND
        return
    flops = 4 * N * N * 64 * 8 * (3.5 if "+" in direction else 1)
    peak = calibrated("matmul")
    for mark, name in zip(marks, ("naive", "flash"), strict=True):
        row = raw(name, N, "none", direction)
        rate = flops / np.median(row["samples_seconds"])
        assert mark.get_ydata()[0] == pytest.approx(rate / peak, rel=1e-6)
        assert mark.get_markerfacecolor() != palette.GROUND
    fused = marks[1].get_xdata()[0]
    times = 2 if "+" in direction else 1
    least = times * 4 * N * 64 * 8 * BYTES["float32"]
    assert fused == pytest.approx(flops / least)


# --- the prediction --------------------------------------------------------


@states(chapter.predict, 7)
def test_predict_adds_products_and_passes(state):
    sentence = chapter.predict.sentence(**state)
    back = state["direction"] == "forward+backward"
    for d in (64, 128):
        heads, batch, N = 2048 // d, 4, 4096
        products = (12 if back else 4) * batch * heads * N * N * d
        products /= state["matmul"] * 1e12
        one = batch * heads * N * N * 2 / (state["memory"] * 1e12)
        told = evidence.duration(products + state["passes"] * one)
        assert f"{told} for d = {d}" in sentence


def test_predict_reveals_a_bar_only_for_the_card_with_these_peaks():
    start = {**chapter.predict.start(), "reveal": True}
    h100 = {**start, "matmul": 989, "memory": 3.35, "passes": 5.5}
    told = chapter.predict.sentence(**h100)
    found = re.findall(r"Published for H100 SXM5, d = (\d+)", told)
    assert found == ["64", "128"]
    for off in re.findall(r"predicted is (\d\.\d+) of it", told):
        assert 0.9 < float(off) < 1.1
    h200 = {**start, "matmul": 989, "memory": 4.8}
    assert "No bar of H200" in chapter.predict.sentence(**h200)


# --- wrong clocks, windows -------------------------------------------------


def test_the_gallery_is_by_the_right_median_of_the_same_group():
    found = {m.name: m for m in gallery(RECORD)}
    (wrong,) = rows(clock="one thread")
    (right,) = rows(group=wrong["group"], contestant="flash", clock="right")
    factors = np.divide(
        wrong["samples_seconds"], np.median(right["samples_seconds"])
    )
    shown = found["torch.utils.benchmark, its one thread"]
    np.testing.assert_allclose(shown.factors, factors)
    assert found["the mask inverted"].factors is None
    inverted = rows(contestant="flash, inverted mask")
    assert {row["status"] for row in inverted} == {"wrong"}


def test_window_draws_times_over_the_share_of_pairs():
    for name in SHOWN:
        for share, point in by_share(RECORD, name).items():
            (row,) = [
                r
                for r in rows(experiment="window", contestant=name)
                if r["mask"] == point.mask and r["samples_seconds"]
            ]
            assert point.samples_seconds == row["samples_seconds"]
            N, seen = row["queries"], np.arange(1, row["queries"] + 1)
            if row["mask"].startswith("window:"):
                seen = np.minimum(seen, int(row["mask"][7:]))
            elif row["mask"] == "none":
                seen = np.full(N, N)
            assert share == pytest.approx(seen.sum() / N**2)


def test_an_unknown_device_is_named():
    with pytest.raises(ValueError, match="no record of 'Z80'"):
        chapter.the_record("Z80")
