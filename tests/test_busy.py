"""Shares of a machine's time, from made-up counters of the system."""

import io
import mmap
import sys
from types import SimpleNamespace

import pytest

from utils import busy

# user nice system idle wait irq soft stolen guest, in ticks of 0.01 s
BEFORE = "cpu  100 20 30 1000 40 5 6 7 900 0\ncpu0 1 1 1 1 1 1 1 1\n"
AFTER = "cpu  150 24 36 1100 48 6 8 17 950 0\ncpu0 9 9 9 9 9 9 9 9\n"


@pytest.fixture
def system(monkeypatch):
    """A system whose counters are these texts, one after the other."""
    asked = SimpleNamespace(texts=[BEFORE, AFTER], own=[1.0, 1.2], opened=[])

    def opened(path, encoding):
        asked.opened.append((path, encoding))
        if not asked.texts:
            raise FileNotFoundError(path)
        return io.StringIO(asked.texts.pop(0))

    def times():
        own = asked.own.pop(0)
        return (own / 2, own / 4, own / 8, own / 8, 1e6 * own)

    monkeypatch.setattr(busy, "open", opened, raising=False)
    monkeypatch.setattr(busy.os, "times", times)
    monkeypatch.setattr(
        busy.os, "sysconf", {"SC_CLK_TCK": 100}.get, raising=False
    )
    load = (1.2345, 50.0, 60.0)
    monkeypatch.setattr(busy.os, "getloadavg", lambda: load, raising=False)
    return asked


def test_what_others_took_is_all_less_idle_stolen_and_our_own(system):
    # 50 + 4 + 6 + 1 + 2 = 63 at work, 20 of them ours; 181 in all
    found = busy.Busy().so_far()
    assert found == {
        "others_percent": round(100 * 43 / 181, 1),
        "stolen_percent": round(100 * 10 / 181, 2),
        "load": 1.23,
    }
    assert system.opened == [("/proc/stat", "ascii")] * 2


def test_our_own_time_is_not_others(system):
    system.own = [1.0, 9.0]
    assert busy.Busy().so_far()["others_percent"] == 0


def test_a_look_at_once_divides_by_no_zero(system):
    system.texts, system.own = [BEFORE, BEFORE], [1.0, 1.0]
    found = busy.Busy().so_far()
    assert (found["others_percent"], found["stolen_percent"]) == (0, 0)


def test_one_tick_is_a_share_of_itself(system):
    later = BEFORE.replace("100 20", "101 20")
    system.texts, system.own = [BEFORE, later], [1.0, 1.0]
    assert busy.Busy().so_far()["others_percent"] == 100


@pytest.mark.parametrize("texts", [[], [BEFORE], ["cpu  x y\n", AFTER]])
def test_a_system_that_does_not_say_is_unknown(system, texts):
    system.texts = texts
    assert busy.Busy().so_far() is None


@pytest.mark.skipif(sys.platform == "win32", reason="Windows lends no pages")
def test_new_memory_is_asked_for_in_pages():
    pages = 64
    with mmap.mmap(-1, pages * mmap.PAGESIZE) as memory:
        before = busy.page_faults()
        for page in range(pages):
            memory[page * mmap.PAGESIZE] = 1
        assert busy.page_faults() - before >= pages / 2


def test_where_the_system_does_not_count_there_are_none(monkeypatch):
    monkeypatch.setattr(busy, "os", SimpleNamespace(name="nt"))
    assert busy.page_faults() == 0
