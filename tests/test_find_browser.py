"""A browser for the tests: found where it may be, fetched where it is not."""

import os
import sys
import time

import pytest

import find_browser


@pytest.fixture
def bare(monkeypatch, tmp_path):
    """A machine with nothing on the PATH; returns the folder on it."""
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("BROWSER_PATH", raising=False)
    monkeypatch.setattr(find_browser, "_downloaded", lambda: None)
    return tmp_path


def program(folder, name):
    path = folder / name
    path.write_text("#!/bin/sh\n", "utf-8")
    path.chmod(0o755)
    return str(path)


def test_a_bare_machine_has_none(bare):
    assert find_browser.browser_path() is None


def test_one_on_the_path_comes_before_a_download(bare, monkeypatch):
    monkeypatch.setattr(find_browser, "_downloaded", lambda: "downloaded")
    assert find_browser.browser_path() == "downloaded"
    chrome = program(bare, "google-chrome")
    assert find_browser.browser_path() == chrome


def test_the_variable_comes_first(bare, monkeypatch):
    program(bare, "chromium")
    monkeypatch.setenv("BROWSER_PATH", sys.executable)
    assert find_browser.browser_path() == sys.executable


def test_a_wrong_variable_is_not_passed_over(bare, monkeypatch):
    program(bare, "chromium")
    monkeypatch.setenv("BROWSER_PATH", "/no/such/browser")
    with pytest.raises(ValueError, match="/no/such/browser"):
        find_browser.browser_path()


def test_the_package_is_asked_for_when_the_download_fails(bare, monkeypatch):
    program(bare, "apt-get")
    program(bare, "sudo")
    asked = []

    def run(command, seconds=None):
        asked.append(" ".join(command))
        if "playwright" in command:
            return False
        if "install" in command:
            program(bare, "chromium")
        return True

    monkeypatch.setattr(find_browser, "_run", run)
    assert find_browser.install_browser() == str(bare / "chromium")
    assert "playwright install chromium" in asked[0]
    assert asked[1].endswith("apt-get -qq update")
    assert "install --yes" in asked[2]
    assert "chromium" in asked[2].split()


def test_without_a_way_there_is_none(bare, monkeypatch):
    monkeypatch.setattr(find_browser, "_run", lambda *command: False)
    assert find_browser.install_browser() is None


def test_a_download_that_hangs_is_ended_with_its_children(tmp_path):
    mark = tmp_path / "pid"
    code = (
        "import pathlib, subprocess, sys, time\n"
        "child = subprocess.Popen([sys.executable, '-c', "
        "'import time; time.sleep(60)'])\n"
        f"pathlib.Path({str(mark)!r}).write_text(str(child.pid))\n"
        "time.sleep(60)\n"
    )
    start = time.monotonic()
    assert not find_browser._run([sys.executable, "-c", code], 3)
    assert time.monotonic() - start < 30
    assert not running(int(mark.read_text("utf-8")))


def running(pid):
    """Tell whether a process still runs; a moment is given to end it."""
    for _ in range(50):
        try:
            os.kill(pid, 0)
            with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
                if file.read().split()[2] == "Z":
                    return False
        except (ProcessLookupError, FileNotFoundError):
            return False
        time.sleep(0.1)
    return True


def test_a_command_that_fails_is_reported(capsys):
    assert not find_browser._run([sys.executable, "-c", "raise SystemExit(7)"])
    assert "exit code 7" in capsys.readouterr().err
