"""Every chapter in a real JupyterLab, driven as a reader would drive it.

One server and one browser profile for all; one tab and one kernel for each
chapter. Its memory is read from the same run: what Binder has to offer it.
"""

import importlib
import re
import shutil
import time
from pathlib import Path

import pytest

from drive_lab import lab_server, open_notebook, press, run
from tests.conftest import ROOT
from utils.explore import find

pytestmark = pytest.mark.browser

SETTLE_SECONDS = 30
MOST_BYTES = 1.5e9  # kernel and server together; Binder gives 2 GB
SHOWN = re.compile(r'data-explorable="([\w-]+)" data-module="([\w.]+)"')
BOX = ".jp-OutputArea-output .widget-vbox:has(svg)"
CONTROL = ".noUi-handle, select, input[type=checkbox]"
# what a server writes when all is well
CALM = re.compile(
    r"\[[IWD] |\s|$|\[IPKernelApp\] WARNING \| Kernel is running over TCP"
)
OUTPUTS = """() =>
  [...jupyterapp.shell.currentWidget.content.model.cells]
    .map((cell) => cell.toJSON())
    .filter((cell) => cell.cell_type === "code")"""
KERNEL_STATUS = """async () => {
  const { kernel } = jupyterapp.shell.currentWidget.sessionContext.session;
  const reply = await kernel.requestExecute({
    code: "", silent: true, store_history: false,
    user_expressions: { status: "open('/proc/self/status').read()" },
  }).done;
  return reply.content.user_expressions.status.data["text/plain"];
}"""
# what the programs themselves get wrong: none of it is ours. JupyterLite's
# kernel comes with an extension that every JupyterLab beside it tries to load
LAB = re.compile(
    r"console: Error: Shared module @jupyterlite/services doesn't exist in"
    r" shared scope default\s.*/@jupyterlite/pyodide-kernel-extension/",
    re.DOTALL,
)
# and Notebook 7.6 over an empty page
NOTEBOOK_7 = re.compile(
    r"page: .*(reading 'schema'|'filebrowser:open-path' not registered)"
    r"|console: Failed to load resource: .* 403 \(Forbidden\)"
)
CLOSE = """async () => {
  await jupyterapp.shell.currentWidget.sessionContext.shutdown();
}"""


@pytest.fixture(scope="module")
def lab(tmp_path_factory):
    """A server over a copy of the book: what a reader saves stays there."""
    work = tmp_path_factory.mktemp("lab") / "book"
    shutil.copytree(
        ROOT / "book", work, ignore=shutil.ignore_patterns("_static", ".*")
    )
    with lab_server(ROOT, work) as lab:
        yield lab


@pytest.fixture(scope="module")
def profile(browser):
    """One reader's browser: what one tab has loaded, the next need not."""
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    context.set_default_timeout(60_000)
    yield context
    context.close()


@pytest.fixture
def opened(lab, profile):
    """Open a notebook; at the end nothing may have gone wrong around it."""
    tabs, wrong, known = [], [], [LAB]
    # what the kernel of the test before still had to say is not ours
    read = lab.log.stat().st_size

    def listen(tab):
        def on_console(message):
            if message.type == "error":
                wrong.append(f"console: {message.text}")

        def on_request(request):
            if not request.url.startswith(
                (lab.url, lab.url.replace("http", "ws"), "data:", "blob:")
            ):
                wrong.append(f"asks {request.url}")

        tab.on("console", on_console)
        tab.on("pageerror", lambda error: wrong.append(f"page: {error}"))
        tab.on("request", on_request)
        tabs.append(tab)

    def opened(notebook, place):
        profile.once("page", listen)
        if not place.startswith("lab"):
            known.append(NOTEBOOK_7)
        return open_notebook(profile, lab.address(notebook.path.name, place))

    yield opened
    with open(lab.log, encoding="utf-8") as log:
        log.seek(read)  # before the kernel ends, which it does with a sigh
        odd = [line for line in log if not CALM.match(line)]
    for tab in tabs:
        tab.evaluate(CLOSE)
        tab.close()
    ours = [w for w in wrong if not any(form.match(w) for form in known)]
    assert ours == []
    assert not odd, f"the server or a kernel writes {''.join(odd)}"


@pytest.mark.bug(id="B13")
@pytest.mark.bug(id="B26")
@pytest.mark.bug(id="B30")
def test_every_chapter_runs_and_each_slider_moves_its_figure(
    opened, lab, notebook, record_property
):
    # a workspace of its own, or it would restore the chapter before
    tab = opened(notebook, f"lab/workspaces/{notebook.name}/tree")
    run_and_move(tab, notebook)
    used = peak_bytes(tab.evaluate(KERNEL_STATUS))
    served = peak_bytes(Path(f"/proc/{lab.pid}/status").read_text("ascii"))
    record_property("kernel_megabytes", used // 10**6)
    print(f"{notebook}: kernel {used / 1e6:.0f} MB, server {served / 1e6:.0f}")
    assert used + served < MOST_BYTES


def test_notebook_7_does_the_same(opened, notebooks):
    [notebook] = [one for one in notebooks if one.name == "04_softmax"]
    tab = opened(notebook, "notebooks")
    assert "/notebooks/" in tab.url
    run_and_move(tab, notebook)


def run_and_move(tab, notebook):
    assert run(tab) == "", "run all"
    expected = moving(notebook)
    boxes = tab.locator(BOX)
    tab.wait_for_function(
        "([box, count]) => document.querySelectorAll(box).length === count",
        arg=[BOX.replace(":has(svg)", ""), len(expected)],
    )
    for place, explorable in enumerate(expected):
        move_each_control(tab, boxes.nth(place), explorable)
    for cell in tab.evaluate(OUTPUTS):
        where = f"{notebook}, cell {cell['id']}"
        assert cell["execution_count"], f"{where} was not run"
        may_fail = "raises-exception" in cell["metadata"].get("tags", [])
        for output in cell["outputs"]:
            assert output.get("name") != "stderr", f"{where}: {output}"
            failed = output["output_type"] == "error"
            assert may_fail or not failed, f"{where}: {output}"


def moving(notebook):
    """The explorables with controls that a chapter shows, in order."""
    found = []
    for _, output in notebook.outputs():
        text = "".join(output.get("data", {}).get("text/html", ""))
        for name, module in SHOWN.findall(text):
            importlib.import_module(module)
            if find(name).sliders:
                found.append(find(name))
    return found


def move_each_control(tab, box, explorable):
    box.scroll_into_view_if_needed()
    state = settled(tab, box, explorable)
    assert state == explorable.start()
    controls = box.locator(CONTROL)
    assert controls.count() == len(explorable.sliders)
    # the last first: an earlier one may switch off what a later one shows
    for place, slider in reversed(list(enumerate(explorable.sliders))):
        values = slider.values(state.get(slider.given))
        picture = box.locator("svg").inner_html()
        drawn = explorable.svg(**state)
        for _ in values[1:]:
            one_step(tab, controls.nth(place), slider)
            state = settled(tab, box, explorable, left=state)
            if box.locator("svg").inner_html() != picture:
                break
            # as it should be: for the last word a causal mask hides nothing
            why = f"{explorable.name}: {slider.name} left the picture"
            assert explorable.svg(**state) == drawn, why


def one_step(tab, control, slider):
    """Move a control by keys that its own program leaves to it.

    A closed menu loses its arrow keys to JupyterLab's cells (ipywidgets
    #3912), so a reader opens it first. Notebook 7 takes a slider's arrow
    keys too: Home and End are left.
    """
    if slider.kind == "checkbox":
        control.press("Space")
    elif slider.kind != "range":
        last = control.evaluate("e => e.selectedIndex === e.length - 1")
        for key in ("Space", "ArrowUp" if last else "ArrowDown", "Enter"):
            control.press(key)
    elif "/notebooks/" in tab.url:
        at_end = control.get_attribute("aria-valuenow") == (
            control.get_attribute("aria-valuemax")
        )
        control.press("Home" if at_end else "End")
    else:
        press(tab, control)


def settled(tab, box, explorable, left=None):
    """The state that the controls show, once the sentence says the same.

    It must be another than the one that was `left`.
    """
    end = time.monotonic() + SETTLE_SECONDS
    while True:
        state = state_shown(box, explorable)
        said = box.locator("[role=status]").text_content()
        fresh = state not in (None, left)
        if fresh and said == explorable.sentence(**state):
            return state
        assert time.monotonic() < end, (
            f"{explorable.name}, after {left}: {state}, {said!r}"
        )
        tab.wait_for_timeout(50)


def state_shown(box, explorable):
    """The state of the controls; None while one waits for its new values."""
    places = box.locator(CONTROL).evaluate_all(
        """all => all.map((e) => e.type === "checkbox" ? Number(e.checked)
          : e.localName === "select" ? e.selectedIndex
          : Number(e.getAttribute("aria-valuenow")))"""
    )
    chosen = dict(
        zip((s.name for s in explorable.sliders), places, strict=True)
    )
    state = {}
    for slider in explorable.sliders:
        if slider.kind == "checkbox":
            state[slider.name] = bool(chosen[slider.name])
            continue
        values = slider.values(state.get(slider.given))
        if not 0 <= chosen[slider.name] < len(values):
            return None
        state[slider.name] = values[int(chosen[slider.name])]
    return state


def peak_bytes(status):
    """The most memory that a process ever held, from Linux's /proc."""
    return int(re.search(r"VmHWM:\D*(\d+) kB", status)[1]) * 1024
