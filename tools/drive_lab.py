"""A real JupyterLab over some notebooks, and ways to move in it.

The server has its own token, port and folders; nothing of the user's is read
or written, and it ends with its caller, whatever happens. The same server
has Notebook 7, if that is installed.
"""

import contextlib
import json
import os
import secrets
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from dataclasses import dataclass
from pathlib import Path

__all__ = ["Lab", "NotStarted", "lab_server", "open_notebook", "press", "run"]

START_SECONDS = 60
IDLE_SECONDS = 600
RUN_TIMEOUT = 180_000  # milliseconds, as Playwright counts
FOLDERS = (
    "JUPYTER_CONFIG_DIR",
    "JUPYTER_DATA_DIR",
    "JUPYTER_RUNTIME_DIR",
    "JUPYTERLAB_SETTINGS_DIR",
    "JUPYTERLAB_WORKSPACES_DIR",
    "IPYTHONDIR",
)

READY = """async () => {
  const panel = jupyterapp.shell.currentWidget;
  await panel.context.ready;
  await panel.sessionContext.ready;
  await panel.sessionContext.session.kernel.info;
}"""
RUN = """() => {
  window.ran = undefined;
  jupyterapp.commands.execute("notebook:run-all-cells").then(
    (well) => { window.ran = well ? "" : "a cell failed"; },
    (error) => { window.ran = String(error); },
  );
}"""


class NotStarted(RuntimeError):
    """The server is not there; the message has its last words."""


@dataclass(frozen=True)
class Lab:
    """A server that runs.

    Parameters
    ----------
    url : str
        Without the token and without a slash at the end.
    token : str
    log : Path
        What the server and its kernels write to stdout and stderr.
    pid : int
    """

    url: str
    token: str
    log: Path
    pid: int

    def address(self, path, place="lab/tree"):
        """Where a browser opens a notebook; `notebooks` for Notebook 7."""
        return f"{self.url}/{place}/{path}?token={self.token}"


@contextlib.contextmanager
def lab_server(root, work):
    """Start a JupyterLab on a free port.

    Parameters
    ----------
    root : Path
        The repository: notebooks import `utils` from it.
    work : Path
        The folder with the notebooks, which JupyterLab may write to.

    Yields
    ------
    Lab

    Raises
    ------
    NotStarted
    """
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name:
        folder = Path(name)
        token, port = secrets.token_hex(16), _free_port()
        command = [
            *(sys.executable, "-m", "jupyterlab", "--no-browser"),
            *("--allow-root", "--expose-app-in-browser"),
            "--JupyterNotebookApp.expose_app_in_browser=True",
            f"--ServerApp.root_dir={work}",
            "--ServerApp.ip=127.0.0.1",
            f"--ServerApp.port={port}",
            "--ServerApp.port_retries=0",
            f"--IdentityProvider.token={token}",
            # even if the caller is killed outright, these end by themselves
            f"--MappingKernelManager.cull_idle_timeout={IDLE_SECONDS}",
            f"--MappingKernelManager.cull_interval={IDLE_SECONDS}",
            f"--ServerApp.shutdown_no_activity_timeout={IDLE_SECONDS}",
        ]
        with open(folder / "log", "w", encoding="utf-8") as log:
            process = subprocess.Popen(
                command,
                env=_environment(folder, root),
                cwd=work,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        try:
            url = f"http://127.0.0.1:{port}"
            _wait(process, f"{url}/api/status?token={token}", folder)
            yield Lab(url, token, folder / "log", process.pid)
        finally:
            _end(process)


def open_notebook(context, address):
    """Open a notebook in a tab of its own, its kernel ready.

    Parameters
    ----------
    context : playwright BrowserContext
    address : str

    Returns
    -------
    playwright Page
    """
    tab = context.new_page()
    tab.goto(address)
    tab.wait_for_function("window.jupyterapp?.shell.currentWidget?.context")
    tab.evaluate(READY)
    return tab


def run(tab):
    """Run all cells, and wait for the last.

    Returns
    -------
    str
        Empty, or what went wrong.
    """
    tab.evaluate(RUN)
    tab.wait_for_function("window.ran !== undefined", timeout=RUN_TIMEOUT)
    return tab.evaluate("window.ran")


def press(tab, handle):
    """Move a slider by one step: up, and back down once at its end."""
    now, top = (
        float(handle.get_attribute(f"aria-value{end}"))
        for end in ("now", "max")
    )
    handle.focus()
    tab.keyboard.press("ArrowLeft" if now >= top else "ArrowRight")


def _environment(folder, root):
    environment = {**os.environ, "PYTHONPATH": str(root)}
    for name in FOLDERS:
        (folder / name).mkdir()
        environment[name] = str(folder / name)
    # no question about news, no look for updates
    settings = folder / "JUPYTERLAB_SETTINGS_DIR" / "@jupyterlab"
    file = settings / "apputils-extension" / "notification.jupyterlab-settings"
    file.parent.mkdir(parents=True)
    file.write_text(
        json.dumps({"fetchNews": "false", "checkForUpdates": False}), "utf-8"
    )
    return environment


def _free_port():
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        return server.getsockname()[1]


def _wait(process, status, folder):
    end = time.monotonic() + START_SECONDS
    while time.monotonic() < end and process.poll() is None:
        try:
            urllib.request.urlopen(status, timeout=2).close()
            return
        except OSError:
            time.sleep(0.2)
    words = (folder / "log").read_text("utf-8", "replace").strip()
    last = words.splitlines()[-1] if words else "it said nothing"
    raise NotStarted(f"JupyterLab did not start: {last}")


def _end(process):
    """End the server, which ends its kernels; by force if it lingers."""
    process.terminate()
    try:
        process.wait(20)
    except subprocess.TimeoutExpired:
        if hasattr(os, "killpg"):
            os.killpg(process.pid, signal.SIGKILL)
        process.kill()
        process.wait()
