"""Work, bytes and floors, worked out by hand for one small shape."""

import re

import numpy as np
import pytest

from utils import records, roofline
from utils.roofline import Floors, Peaks

SHAPE = {
    "contestant": "flash",
    "batch": 2,
    "heads": 8,
    "kv_heads": 2,
    "queries": 5,
    "keys": 6,
    "d": 4,
    "dtype": "float16",
    "mask": "none",
    "direction": "forward",
    "status": "ok",
    "group": "g",
}
BOTH = {"direction": "forward+backward"}
PEAKS = Peaks("made up", matmul=1e3, memory=1e2, exponentials=10.0)


def measured(samples=(3.0, 1.0, 2.0), **fields):
    fields = SHAPE | {"samples_seconds": list(samples)} | fields
    return records.Point(fields, "measured", "here", "r.json")


def published(quantity="seconds", value=2.0, **fields):
    fields = SHAPE | {"quantity": quantity, "value": value} | fields
    return records.Point(fields, "published", "there", "p.json")


ROWS, PAIRS = 2 * 8 * 5, 2 * 8 * 5 * 6


def test_work_and_bytes_of_one_shape():
    point, both = measured(), measured(**BOTH)
    assert roofline.average_keys(point) == 6
    assert roofline.exponentials(point) == PAIRS
    assert roofline.exponentials(both) == 2 * PAIRS
    assert roofline.flops(point) == 4 * PAIRS * 4
    assert roofline.flops(both) == 3.5 * 4 * PAIRS * 4
    # two products, of 2 d operations for each pair; four more go back
    assert roofline.naive_flops(point) == 2 * 2 * PAIRS * 4
    assert roofline.naive_flops(both) == 6 * 2 * PAIRS * 4
    # queries and outputs of 8 heads of 5; keys and values of 2 heads of 6
    numbers = 2 * 4 * (2 * 8 * 5 + 2 * 2 * 6)
    assert roofline.least_bytes(point) == numbers * 2
    assert roofline.least_bytes(both) == 2 * numbers * 2
    assert roofline.pass_bytes(point) == PAIRS * 2
    assert roofline.pass_bytes(measured(dtype="float32")) == PAIRS * 4


def test_a_mask_leaves_fewer_keys():
    # five queries of six keys: 2, 3, 4, 5, 6
    assert roofline.average_keys(measured(mask="causal")) == 4
    # of which at most three: 2, 3, 3, 3, 3
    assert roofline.average_keys(measured(mask="window:3")) == 2.8
    causal = measured(mask="causal")
    assert roofline.flops(causal) == 4 * ROWS * 4 * 4
    assert roofline.naive_flops(causal) == roofline.naive_flops(measured())
    assert isinstance(roofline.average_keys(measured()), float)


def test_each_roof_alone_and_all_of_them():
    floors = roofline.floors(measured(), PEAKS)
    assert floors == Floors(
        matmul=4 * PAIRS * 4 / 1e3,
        memory=roofline.least_bytes(measured()) / 1e2,
        exponentials=PAIRS / 10.0,
    )
    for one in ({"matmul": 9}, {"memory": 9}, {"exponentials": 9}):
        roofs = Floors(**{"matmul": 1, "memory": 2, "exponentials": 3} | one)
        assert roofs.highest == 9
    assert Floors(1, 2, 4).serial == 7


def test_the_time_is_the_median_or_what_was_published():
    assert roofline.seconds(measured()) == 2
    assert roofline.seconds(published()) == 2
    rate = published("TFLOP/s", 3.0)
    assert roofline.seconds(rate) == roofline.flops(rate) / 3e12
    assert roofline.tflops_per_second(rate) == pytest.approx(3)
    assert roofline.tflops_per_second(measured()) == (
        roofline.flops(measured()) / 2 / 1e12
    )


@pytest.mark.parametrize(
    "point",
    [
        measured(samples=(), status="oom"),
        published("ratio", 3.0),
        published("bytes", 3.0),
        published("seconds", None, status="oom"),
        published("TFLOP/s", None, status="oom"),
    ],
    ids=repr,
)
def test_what_has_no_time_says_so(point):
    words = re.escape(f"{point!r} has no time")
    with pytest.raises(ValueError, match=rf"\A{words}\Z"):
        roofline.seconds(point)


def test_passes_explain_what_the_products_leave():
    point = measured(samples=[5.0])
    products = roofline.naive_flops(point) / 1e3
    one_pass = roofline.pass_bytes(point) / 1e2
    passes = roofline.effective_passes(point, PEAKS)
    assert passes == pytest.approx((5.0 - products) / one_pass)
    predicted = roofline.predicted_seconds(point, PEAKS, 3)
    assert predicted == pytest.approx(products + 3 * one_pass)


@pytest.mark.parametrize(
    ("device", "name", "matmul", "memory", "exponentials"),
    [
        ("Tesla T4", "T4", 65e12, 0.32e12, 16 * 40 * 1.59e9),
        ("NVIDIA A100-SXM4-80GB", "A100", 312e12, 2e12, 16 * 108 * 1.41e9),
        ("H100 SXM5", "H100", 989e12, 3.35e12, 16 * 132 * 1.83e9),
        ("NVIDIA H200", "H200", 989e12, 4.8e12, 16 * 132 * 1.83e9),
        ("B200", "B200", 2250e12, 8e12, 16 * 148 * 1.85e9),
    ],
)
def test_a_data_sheet_is_found_by_a_devices_name(
    device, name, matmul, memory, exponentials
):
    sheet = roofline.data_sheet(device)
    assert sheet.name == name
    found = (sheet.matmul, sheet.memory, sheet.exponentials)
    assert found == pytest.approx((matmul, memory, exponentials))


@pytest.mark.parametrize("device", ["", "RTX 4090", "A1000", "GH200"])
def test_a_device_without_a_sheet_has_none(device):
    assert roofline.data_sheet(device) is None


def record_of(kind, name):
    """A record of nothing but its calibration."""
    done = [
        {"what": what, "dtype": dtype, "work": work, "samples_seconds": [1, 2]}
        for what, dtype, work in (
            ("matmul", "float32", 300),
            ("matmul", "float16", 600),
            ("copy", "float32", 30),
            ("exp", "float32", 3),
        )
    ]
    about = {"device": {"type": kind, "name": name}, "calibration": done}
    return records.Record("made-up", about, ())


def test_a_records_own_peaks_are_medians_of_its_calibration():
    cpu = record_of("cpu", "A100")  # a processor of that name has no sheet
    assert Peaks.measured(cpu) == Peaks("A100", 225, 22.5, 2.25)
    card = record_of("cuda", "A100")
    sheet = roofline.data_sheet("A100")
    assert Peaks.measured(card, "float16") == Peaks(
        "A100", 450, 22.5, sheet.exponentials
    )
    assert Peaks.measured(record_of("cuda", "X")).exponentials == np.inf


def test_the_exponent_is_that_of_the_power():
    lengths = np.array([3, 5, 9, 17])
    for power in (1, 1.5, 3):
        found = roofline.exponent(lengths, 7.0 * lengths**power)
        assert found == pytest.approx(power)
        assert type(found) is float
    assert roofline.exponent([1, 2], [5, 5]) == pytest.approx(0, abs=1e-12)


def test_a_sheet_is_in_plain_units():
    found = roofline._sheet("X", 2, 3.0, 5, 0.5)
    assert found == Peaks("X", 2e12, 3e12, 16 * 5 * 0.5e9)
