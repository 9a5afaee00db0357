"""The processor's name, as a record and the bench give it."""

import platform

from processor import processor


def test_linux_says_it(tmp_path):
    info = tmp_path / "cpuinfo"
    info.write_text(
        "processor\t: 0\nmodel\t\t: 7\nmodel name\t:  Fast   CPU @ 2: 5\n"
        "processor\t: 1\nmodel name\t: Another\n",
        "utf-8",
    )
    assert processor(info) == "Fast CPU @ 2: 5"


def test_elsewhere_python_does(tmp_path, monkeypatch):
    (tmp_path / "arm").write_text("processor\t: 0\nmodel name\t:\n", "utf-8")
    monkeypatch.setattr(platform, "processor", lambda: "")
    monkeypatch.setattr(platform, "machine", lambda: "aarch64")
    assert processor(tmp_path / "none") == "aarch64"
    assert processor(tmp_path / "arm") == "aarch64"
    monkeypatch.setattr(platform, "processor", lambda: "arm")
    assert processor(tmp_path / "none") == "arm"
