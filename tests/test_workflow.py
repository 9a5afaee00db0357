"""GitHub's workflow: least rights, actions pinned, the Pythons promised."""

import re
import subprocess

import pytest
import yaml


@pytest.fixture(scope="module")
def text(root):
    return (root / ".github" / "workflows" / "book.yml").read_text("utf-8")


@pytest.fixture(scope="module")
def jobs(text):
    return yaml.safe_load(text)["jobs"]


def test_every_action_is_pinned_to_a_commit_and_says_its_version(text):
    lines = re.findall(r"uses: (.*)", text)
    assert lines
    for line in lines:
        assert re.fullmatch(
            r"[\w-]+/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", line
        )


def test_one_action_has_one_commit(text):
    found = re.findall(r"uses: ([\w/-]+)@(\w+)", text)
    assert len(set(found)) == len({name for name, _ in found})


def test_no_job_has_more_rights_than_it_needs(text, jobs):
    assert yaml.safe_load(text)["permissions"] == {}
    rights = {name: job["permissions"] for name, job in jobs.items()}
    assert rights.pop("publish") == {"pages": "write", "id-token": "write"}
    assert all(given == {"contents": "read"} for given in rights.values())


def test_no_job_keeps_the_token_or_runs_without_end(jobs):
    for name, job in jobs.items():
        assert job["timeout-minutes"] <= 90, name
        for step in job["steps"]:
            if "checkout" in step.get("uses", ""):
                assert step["with"]["persist-credentials"] is False, name


def test_nobody_s_words_are_run_as_a_command(jobs):
    """A branch may be named `$(...)`: no expression in a command."""
    for name, job in jobs.items():
        for step in job["steps"]:
            for part in ("run", "shell"):
                assert "${{" not in step.get(part, ""), (name, part)


def pythons(job):
    """What a job asks setup-python for, in each run of its matrix."""
    matrix = job.get("strategy", {}).get("matrix", {}).get("python", [])
    for step in job["steps"]:
        if "setup-python" in step.get("uses", ""):
            asked = step["with"]["python-version"]
            yield from matrix if asked == "${{ matrix.python }}" else [asked]


def test_the_pythons_of_the_readme_are_tried(root, jobs):
    tried = {python for job in jobs.values() for python in pythons(job)}
    project = (root / "pyproject.toml").read_text("utf-8")
    lowest = re.search(r'requires-python = ">=([\d.]+)"', project)[1]
    assert tried == {lowest, "3.12", "3.13"}
    assert f"Python {lowest} or newer" in (root / "README.md").read_text(
        "utf-8"
    )


def test_readers_run_every_chapter_but_the_one_that_stops_without_torch(
    root, jobs
):
    """Its packages are requirements.txt alone, and torch is not in it."""
    assert "torch" not in (root / "requirements.txt").read_text("utf-8")
    commands = [step.get("run", "") for step in jobs["readers"]["steps"]]
    [refresh] = [line for line in commands if "refresh" in line]
    files = re.fullmatch(r'make refresh FILES="(.*)"', refresh)[1]
    done = subprocess.run(
        ["bash", "-c", f"echo {files}"],
        cwd=root,
        capture_output=True,
        encoding="utf-8",
        check=True,
    )
    chapters = {f"book/{path.name}" for path in root.glob("book/*.ipynb")}
    assert chapters - set(done.stdout.split()) == {"book/11_in_pytorch.ipynb"}


def commands(job):
    return [step["run"] for step in job["steps"] if "run" in step]


def test_only_main_is_published_and_only_after_its_tests(text, jobs):
    events = set(yaml.safe_load(text)[True])  # YAML reads `on` as true
    assert events == {"push", "pull_request", "schedule", "workflow_dispatch"}
    assert commands(jobs["test"]) == ["bash .ci/run"]
    publish = jobs["publish"]
    assert set(publish["needs"]) == {"test", "readers"}
    (upload,) = (
        step for step in jobs["test"]["steps"] if "upload" in str(step)
    )
    main = "github.ref == 'refs/heads/main'"
    for guarded in (publish, upload):
        assert guarded["if"].split(" && ") == [
            main,
            "github.event_name != 'pull_request'",
        ]


def test_binder_s_image_is_run_and_has_no_gpu_s_packages(jobs):
    (said,) = commands(jobs["binder"])
    assert "! python -m pip list | grep -i nvidia" in said
    assert "jupyter execute book/" in said
