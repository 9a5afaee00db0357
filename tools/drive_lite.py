"""The site's JupyterLite, served on localhost, in a browser with no way out.

Python runs in a worker whose requests a page does not see. So the network is
cut below the browser: every name but localhost goes to a proxy that answers
nothing and writes down who was asked for.
"""

import contextlib
import functools
import http.server
import re
import threading

from find_browser import browser_path

START_SECONDS = 600  # some 30 s on a free machine; cores may be shared


class Files(http.server.SimpleHTTPRequestHandler):
    """A folder, for pages of any address; notes what it could not give."""

    def end_headers(self):
        """Let pages of any address read it."""
        self.send_header("Access-Control-Allow-Origin", "*")
        super().end_headers()

    def log_message(self, form, *arguments):
        """Say nothing."""

    def send_error(self, code, *arguments):
        """Note what could not be given."""
        self.server.wrong.append(f"{code} {self.path}")
        super().send_error(code, *arguments)

    def log_request(self, code="-", size="-"):
        """Note what was asked for."""
        self.server.asked.append(self.path)


class Wall(http.server.BaseHTTPRequestHandler):
    """A proxy behind which there is nothing."""

    def refuse(self):
        """Note who was asked for; give nothing."""
        self.server.asked.append(self.path)
        self.send_error(403)

    do_CONNECT = do_GET = do_POST = do_HEAD = refuse  # noqa: N815

    def log_message(self, form, *arguments):
        """Say nothing."""


class Server(http.server.ThreadingHTTPServer):
    """With room for all that a browser asks for at once."""

    request_queue_size = 128


@contextlib.contextmanager
def serving(handler, *arguments):
    """A server on a free port, with the list of what it was asked."""
    make = functools.partial(handler, **dict(arguments))
    server = Server(("127.0.0.1", 0), make)
    server.asked, server.wrong = [], []
    server.url = f"http://localhost:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def serving_files(folder):
    """A server of a folder's files."""
    return serving(Files, ("directory", str(folder)))


# Chromium asks these for itself, whatever page is open, and not in every run.
BROWSERS_OWN = re.compile(
    r"(http://)?(update|content-autofill|optimizationguide-pa|clientservices"
    r"|safebrowsing)\.googleapis\.com\b"
    r"|(accounts|android\.clients|clients[1-6]?|mtalk|www)\.google\.com:"
    r"|(http://)?(redirector|edgedl\.me)\.gvt1\.com\b"
)


def asked_by_a_page(wall):
    """What was asked of other hosts, less what the browser asks itself."""
    return [name for name in wall if not BROWSERS_OWN.match(name)]


@contextlib.contextmanager
def walled_browser(engine):
    """A browser that reaches localhost alone, and the wall's list."""
    with serving(Wall) as wall:
        browser = engine.chromium.launch(
            executable_path=browser_path(),
            args=[
                "--no-sandbox",
                "--disable-background-networking",
                "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE localhost",
                f"--proxy-server=localhost:{wall.server_port}",
            ],
        )
        yield browser, wall.asked
        browser.close()


def open_chapter(browser, site, name):
    """Open a chapter in JupyterLite, its kernel ready.

    JupyterLab drops cells that are run before there is a kernel, and its
    indicator of execution may say "idle" all the same. JupyterLite's tick
    does not.
    """
    tab = browser.new_context(
        viewport={"width": 1280, "height": 900}
    ).new_page()
    tab.set_default_timeout(START_SECONDS * 1000)
    tab.goto(f"{site}/lite/notebooks/index.html?path={name}.ipynb")
    tab.locator(".jp-CodeCell").first.wait_for()
    tab.locator(".jp-KernelStatus-success").wait_for()
    return tab


def run_all(tab):
    """Run every cell, by the menu, and wait until the last has run."""
    tab.get_by_role("menuitem", name="Run", exact=True).click()
    tab.get_by_role("menuitem", name="Run All Cells", exact=True).click()
    tab.wait_for_function(
        """() => {
          const all = [...document.querySelectorAll(
            ".jp-CodeCell .jp-InputPrompt")].map((e) => e.textContent.trim());
          return all.length && all.every((t) => /^\\[\\d+\\]:$/.test(t));
        }"""
    )
