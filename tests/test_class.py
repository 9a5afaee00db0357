"""The class on one JupyterHub: its settings, its sums, and its checks.

The class itself is held in tests/launch/test_class.py.
"""

import doctest
import importlib
import json
import os
import re
import subprocess
import sys
from types import SimpleNamespace

import pytest
import yaml

import class_report
from class_isolation import Attempt, peek_code, problems
from class_kernel import Kernel, KernelError
from class_memory import held_bytes, used_seconds
from class_peek import peek
from class_report import GIB, MIB, guide_table, node_students, percentile
from class_room import BRANCH, FOLDER, link_of
from class_stage import open_to_all
from simulate_class import count_of_students

# Settings that kubernetes.yaml may set: from the chart's own schema, which
# refuses all others (jupyterhub/values.schema.yaml of
# jupyterhub/zero-to-jupyterhub-k8s, read at commit 02dd73df01bd).
# `hub.config` and `extraEnv` take any names.
CHART = {
    "singleuser": {
        "image": {"name", "tag", "pullPolicy", "pullSecrets"},
        "memory": {"limit", "guarantee"},
        "cpu": {"limit", "guarantee"},
        "storage": {"capacity", "type", "homeMountPath"},
        "networkPolicy": {"enabled", "ingress", "egress"},
        "cloudMetadata": {"blockWithIptables", "ip"},
        "defaultUrl": None,
        "extraEnv": None,
        "lifecycleHooks": {"postStart", "preStop"},
        "profileList": None,
        "startTimeout": None,
    },
    "hub": {"config": None, "concurrentSpawnLimit": None},
    "prePuller": {"hook": None, "continuous": None},
    "scheduling": {
        "userScheduler": {"enabled"},
        "userPlaceholder": {"enabled", "replicas"},
        "podPriority": {"enabled"},
    },
    "cull": {"enabled", "users", "timeout", "every", "concurrency", "maxAge"},
}
# Settings of The Littlest JupyterHub: tljh/configurer.py of
# jupyterhub/the-littlest-jupyterhub, read at commit 3eeb028f1f9d.
LITTLEST = {
    "users": {"allowed", "banned", "admin", "extra_user_groups"},
    "limits": {"memory", "cpu"},
    "user_environment": {"default_app"},
    "services": {"cull": {"enabled", "timeout", "every", "max_age"}},
}


def unknown(values, known, path=""):
    """Dotted names of settings that are not among the known ones."""
    found = []
    for name, value in values.items():
        if name not in known:
            found.append(path + name)
        elif isinstance(known, dict) and known[name] is not None:
            found += unknown(value, known[name], f"{path}{name}.")
    return found


def settings(root, name):
    return yaml.safe_load((root / "hub" / name).read_text("utf-8"))


def runs(root):
    return json.loads((root / "hub/measured.json").read_text("utf-8"))


def in_bytes(text):
    """Read 512M or 2G as both hubs do: powers of 1024."""
    return int(text[:-1]) * {"M": MIB, "G": GIB}[text[-1]]


@pytest.mark.parametrize(
    ("name", "known"),
    [("kubernetes.yaml", CHART), ("littlest.yaml", LITTLEST)],
)
def test_the_hubs_know_every_setting(root, name, known):
    values = settings(root, name)
    assert unknown(values, known) == []
    values["limit"] = {"memory": "2G"}
    assert unknown(values, known) == ["limit"]


def test_the_limits_hold_what_was_measured(root):
    peak = max(max(run["peak_bytes"]) for run in runs(root))
    chart = settings(root, "kubernetes.yaml")["singleuser"]["memory"]
    assert peak < in_bytes(chart["guarantee"]) < in_bytes(chart["limit"])
    limit = settings(root, "littlest.yaml")["limits"]["memory"]
    assert limit == chart["limit"]


def test_a_chapters_own_utils_come_with_it(root):
    """The class, Kubernetes and the link name one folder for the book."""
    chart = settings(root, "kubernetes.yaml")["singleuser"]
    assert chart["extraEnv"]["PYTHONPATH"] == f"/home/jovyan/{FOLDER}"
    guide = (root / "hub/README.md").read_text("utf-8")
    first = "book/01_motivation.ipynb"
    assert (root / first).is_file()
    link = link_of("https://YOUR-HUB", "https://HOST/OWNER/REPOSITORY", first)
    assert link.replace(f"branch={BRANCH}", "branch=main") in guide


def test_the_guides_figures_are_the_records(root):
    guide = (root / "hub/README.md").read_text("utf-8")
    inside = guide.split(class_report.BEGIN)[1].split(class_report.END)[0]
    assert inside.strip() == guide_table(runs(root))


def test_the_record_is_of_isolated_classes(root):
    for run in runs(root):
        assert run["isolated"], f"{run['students']} students were not isolated"
        assert len(run["peak_bytes"]) == run["students"]
        assert len(run["seconds"]["figure"]) == run["students"]


def test_versions_in_the_guide_are_the_pinned_ones(root):
    guide = (root / "hub/README.md").read_text("utf-8")
    tests = (root / "tests/requirements.txt").read_text("utf-8")
    hub = (root / "hub/requirements.txt").read_text("utf-8")
    for name, pins in (("torch", tests), ("nbgitpuller", hub)):
        (pinned,) = re.findall(rf"^{name}==(\S+)", pins, re.M)
        named = re.findall(rf"\b{name}==([\w.]+)", guide)
        assert named, f"the guide pins no {name}"
        assert set(named) == {pinned}


def test_a_run_is_stored_in_place_of_its_like(tmp_path, root):
    guide, record = tmp_path / "README.md", tmp_path / "measured.json"
    guide.write_text(
        f"a\n{class_report.BEGIN}\n{class_report.END}\nb\n", "utf-8"
    )
    run = runs(root)[-1]
    for students in (9, 3, 9):
        class_report.store(run | {"students": students}, record, guide)
    stored = json.loads(record.read_text("utf-8"))
    assert [one["students"] for one in stored] == [3, 9]
    text = guide.read_text("utf-8")
    assert text.startswith("a\n")
    assert text.endswith("b\n")
    assert guide_table(stored) in text


def test_percentiles_are_values_that_occurred():
    values = [5, 1, 4, 2, 3, 6]
    assert percentile(values, 0.5) == 3
    assert percentile(values, 0.95) == 6
    assert percentile([7], 0.95) == 7
    with pytest.raises(ValueError, match="no values"):
        percentile([], 0.5)
    with pytest.raises(ValueError, match=r"got 95"):
        percentile(values, 95)


def test_a_node_never_holds_less_than_nobody():
    assert node_students(GIB, 300 * MIB, 200 * MIB) == 0
    assert node_students(3 * GIB, GIB, 0) == 2
    with pytest.raises(ValueError, match="got 0"):
        node_students(GIB, 0, 0)


def test_a_class_is_two_or_more():
    assert count_of_students("2") == 2
    for text in ("1", "0", "-3", "six"):
        with pytest.raises(Exception, match=repr(text)):
            count_of_students(text)


def test_the_examples_in_the_tools_are_right(root):
    ran = 0
    for path in sorted(root.glob("tools/class_*.py")):
        module = importlib.import_module(path.stem)
        result = doctest.testmod(module)
        assert result.failed == 0, path.stem
        ran += result.attempted
    assert ran > 5


# --- isolation ---------------------------------------------------------


def test_a_seen_file_is_told():
    tries = [
        Attempt("ann", "ann", "kernel: read", True, "s"),
        Attempt("ann", "bob", "kernel: read", True, "s"),
        Attempt("bob", "ann", "kernel: read", False, "PermissionError"),
    ]
    assert problems(tries) == ["ann saw bob's file (kernel: read)"]


def test_a_way_that_sees_nothing_proves_nothing():
    tries = [
        Attempt("ann", "ann", "token", False, 404),
        Attempt("ann", "bob", "token", False, 403),
    ]
    assert problems(tries) == ["token: shows nobody even their own file"]
    with pytest.raises(ValueError, match="nobody tried"):
        problems(tries[:1])


def test_an_open_home_is_seen_into(tmp_path):
    """What the kernel runs, run here, on a home whose door is open."""
    (tmp_path / "secret.txt").write_text("open sesame", "utf-8")
    code = peek_code({"bob": str(tmp_path)})
    home = tmp_path / "home"
    home.mkdir()
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "HOME": str(home), "JUPYTERHUB_USER": "bob",
             "JUPYTERHUB_API_TOKEN": "t"},
        capture_output=True, encoding="locale", check=True,
    )  # fmt: skip
    found = json.loads(done.stdout)["bob"]
    assert found["read"] == "open sesame"
    assert "secret.txt" in found["list"]
    assert "opened" in found["change"]
    assert found["processes"] != "tokens of 0 processes"
    assert (home / "link-to-bob").resolve() == tmp_path.resolve()


def test_a_closed_home_is_not_seen_into(tmp_path):
    found = peek({"bob": str(tmp_path / "none")}, "secret.txt", {})["bob"]
    assert found["read"] == "FileNotFoundError"
    assert found["processes"] == "tokens of 0 processes"
    assert found["past the proxy"] == "KeyError"


def test_folders_are_open_only_all_the_way(tmp_path):
    inner = tmp_path / "a" / "b"
    inner.mkdir(parents=True)
    tmp_path.chmod(0o700)
    inner.chmod(0o755)
    assert not open_to_all(inner)


# --- memory and processor ------------------------------------------------


def make_process(proc, pid, environ, pss, ticks):
    place = proc / str(pid)
    place.mkdir()
    (place / "environ").write_bytes("\0".join(environ).encode())
    (place / "smaps_rollup").write_text(
        f"Rss: 999 kB\nPss:   {pss} kB\n", "utf-8"
    )
    fields = ["S", *["0"] * 10, *map(str, ticks), "0"]
    (place / "stat").write_text(f"{pid} (a (b) c) {' '.join(fields)}", "utf-8")


def test_each_process_counts_for_its_student(tmp_path):
    ann = ["HOME=/x", "JUPYTERHUB_USER=ann"]
    make_process(tmp_path, 1, ann, 100, (1, 2, 3, 4))
    make_process(tmp_path, 2, ann, 50, (90, 0, 0, 0))
    make_process(tmp_path, 3, ["JUPYTERHUB_USER=anna"], 7, (5, 5, 5, 5))
    make_process(tmp_path, 4, ["CLASS_SETTINGS=/r/hub/s.json"], 9, (0,) * 4)
    (tmp_path / "5").mkdir()  # ended meanwhile
    held = held_bytes(["ann", "bob"], "/r", tmp_path)
    assert held == {"ann": 150 * 1024, "bob": 0, None: 9 * 1024}
    assert used_seconds("ann", tmp_path) == 100 / os.sysconf("SC_CLK_TCK")


# --- the kernel's messages ------------------------------------------------


class Wire:
    """A websocket that answers each request with what it was given."""

    def __init__(self, *answers):
        self.answers = answers
        self.waiting = []

    def send(self, text):
        number = json.loads(text)["header"]["msg_id"]
        idle = ("status", {"execution_state": "idle"})
        self.waiting = [
            {"parent_header": {"msg_id": number}, "msg_type": k, "content": c}
            for k, c in [*self.answers, idle]
        ]

    def recv(self):
        return json.dumps(self.waiting.pop(0))


@pytest.fixture
def kernel(monkeypatch):
    def make(*answers):
        wire = Wire(*answers)
        monkeypatch.setattr(
            "class_kernel.websocket",
            SimpleNamespace(create_connection=lambda *_, **__: wire),
        )
        kernel = Kernel("ws://x", "", "http://x")
        kernel.models = {
            "box": {"children": ["IPY_MODEL_slider", "IPY_MODEL_picture"]},
            "slider": {
                "_model_name": "SelectionSliderModel",
                "_options_labels": ["0", "1"],
                "index": 1,
            },
            "picture": {"value": "<svg>old</svg>"},
        }
        return kernel

    return make


def update(value):
    data = {"method": "update", "state": {"value": value}}
    return ("comm_msg", {"comm_id": "picture", "data": data})


def test_a_move_waits_for_the_new_picture(kernel):
    moved = kernel(update("<svg>new</svg>"))
    assert moved.move("box") >= 0
    assert moved.models["slider"]["index"] == 0  # from the last, backwards
    for answers in ((), (update("<svg>old</svg>"),)):
        with pytest.raises(KernelError, match="no new picture"):
            kernel(*answers).move("box")


def test_an_error_in_a_cell_is_not_swallowed(kernel):
    trouble = ("error", {"traceback": ["ValueError: no"]})
    with pytest.raises(KernelError, match="ValueError: no"):
        kernel(trouble).run("1")
    warned = ("stream", {"name": "stderr", "text": "careful"})
    with pytest.raises(KernelError, match="careful"):
        kernel(warned).run("1")
    printed = ("stream", {"name": "stdout", "text": "1\n"})
    assert kernel(printed, printed).run("1") == "1\n1\n"
