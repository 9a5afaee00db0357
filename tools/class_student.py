"""One simulated student: does over the network what a browser would do."""

import json
import re
import time
from urllib.parse import quote, urljoin, urlsplit

import requests

from class_kernel import Kernel, KernelError
from class_memory import used_seconds
from class_room import FOLDER, link_of

__all__ = ["Student"]

SECONDS = 300
NAVIGATE = {
    "Sec-Fetch-Mode": "navigate",
    "Sec-Fetch-Site": "same-origin",
    "Accept": "text/html",
}


class Student:
    """A browser in the hands of one student.

    Parameters
    ----------
    name : str
    password : str
    url : str
        The hub's address.
    """

    def __init__(self, name, password, url):
        self.name = name
        self.password = password
        self.url = url
        self.server = f"{url}/user/{name}/"
        self.browser = requests.Session()
        self.kernels = []
        self.start = None
        self.seconds = {}
        self.used = {}

    # --- in, and to the first page -------------------------------------

    def arrive(self, repository, chapter):
        """Follow the class's link, log in, wait, and land in JupyterLab."""
        link = link_of(self.url, repository, chapter)
        page = self.visit(link)
        fields = {
            "username": self.name,
            "password": self.password,
            "_xsrf": found(r'name="_xsrf" value="([^"]+)"', page.text),
        }
        self.start = time.perf_counter()
        page = self.browser.post(
            urljoin(page.url, found(r'action="([^"]+)"', page.text)),
            data=fields,
            headers=NAVIGATE,
            timeout=SECONDS,
        )
        page = self.wait_for_server(page, link)
        self.note("server")
        self.pull(page)
        self.note("book")
        self.load_lab(f"lab/tree/{FOLDER}/{chapter}")
        self.note("lab")

    def visit(self, url):
        """Open a page as a browser does, and follow where it leads."""
        page = self.browser.get(url, headers=NAVIGATE, timeout=SECONDS)
        if page.status_code >= 500 or page.status_code in (401, 403):
            page.raise_for_status()
        return page

    def wait_for_server(self, page, link):
        """Watch the progress bar until the student's own server is up."""
        if "progress" not in page.text:
            page = self.visit(f"{self.url}/hub/spawn")
        progress = found(r'EventSource\("([^"]+)"', page.text)
        progress = progress.encode().decode("unicode_escape")
        for event in self.events(urljoin(self.url, progress)):
            if event.get("failed"):
                raise RuntimeError(f"{self.name}: {event['message']}")
            if event.get("ready"):
                return self.visit(link)
        raise RuntimeError(f"{self.name}: the server never came up")

    def pull(self, page):
        """Wait for nbgitpuller, whose page has just been opened."""
        if "/git-pull" not in page.url:
            raise RuntimeError(f"{self.name}: landed on {page.url}")
        query = urlsplit(page.url).query
        last = {}
        for last in self.events(f"{self.server}git-pull/api?{query}"):
            if last.get("phase") in ("finished", "error"):
                break
        if last.get("phase") != "finished":
            raise RuntimeError(f"{self.name}: the book was not pulled: {last}")

    def events(self, url):
        """Yield the events of a stream, as a page's EventSource would."""
        headers = {"Accept": "text/event-stream"} | self.proof()
        with self.browser.get(
            url, headers=headers, stream=True, timeout=SECONDS
        ) as answer:
            answer.raise_for_status()
            for line in answer.iter_lines(decode_unicode=True):
                if line.startswith("data:"):
                    yield json.loads(line[5:])

    def load_lab(self, place):
        """Fetch JupyterLab's page and every script that it names."""
        page = self.visit(self.server + place)
        scripts = re.findall(r'<script[^>]+src="([^"]+)"', page.text)
        if not scripts:
            raise RuntimeError(f"{self.name}: {page.url} is not JupyterLab")
        for script in scripts:
            url = urljoin(page.url, script)
            self.browser.get(url, timeout=SECONDS).raise_for_status()

    def note(self, what):
        """Note how long after login this came, and what it had cost."""
        if what not in self.seconds:
            self.seconds[what] = time.perf_counter() - self.start
            self.used[what] = used_seconds(self.name)

    # --- a chapter ------------------------------------------------------

    def run_chapter(self, chapter):
        """Open a chapter, run every cell, compare what the cells print.

        Returns
        -------
        Kernel
            Still running, with the chapter's explorables in its views.

        Raises
        ------
        KernelError
            If a cell fails or prints anything but what the book prints.
        """
        path = f"{FOLDER}/{chapter}"
        notebook = self.ask("GET", f"contents/{path}").json()["content"]
        kernel = self.open_kernel(path)
        for cell in notebook["cells"]:
            if cell["cell_type"] != "code":
                continue
            printed = kernel.run("".join(cell["source"]))
            stored = "".join(
                "".join(out["text"])
                for out in cell["outputs"]
                if out["output_type"] == "stream"
            )
            if printed != stored:
                raise KernelError(
                    f"{self.name}: {chapter} prints {printed!r}, "
                    f"the book {stored!r}"
                )
            if any(kernel.picture(view) for view in kernel.views):
                self.note("figure")
        if not kernel.views:
            raise KernelError(f"{self.name}: {chapter} showed no explorable")
        return kernel

    def open_kernel(self, path):
        """Start a kernel for a notebook, as opening it does."""
        session = self.ask(
            "POST",
            "sessions",
            json={
                "path": path,
                "name": path.rsplit("/", 1)[-1],
                "type": "notebook",
                "kernel": {"name": "python3"},
            },
        ).json()
        url = f"{self.server}api/kernels/{session['kernel']['id']}/channels"
        socket = url.replace("http://", "ws://")
        request = requests.Request("GET", url)
        prepared = self.browser.prepare_request(request)
        kernel = Kernel(
            f"{socket}?_xsrf={quote(self.token() or '')}",
            prepared.headers["Cookie"],
            self.url,
        )
        self.kernels.append(kernel)
        return kernel

    # --- the server's own interface ----------------------------------------

    def ask(self, method, what, **options):
        """Ask the student's own server; raise if it refuses."""
        answer = self.try_(method, f"{self.server}api/{what}", **options)
        answer.raise_for_status()
        return answer

    def try_(self, method, url, **options):
        """Ask any address with this student's cookies; return the answer."""
        return self.browser.request(
            method, url, headers=self.proof(), timeout=SECONDS, **options
        )

    def proof(self):
        """The header by which a page proves that it is the server's own."""
        token = self.token()
        return {"X-XSRFToken": token} if token else {}

    def token(self, path=None):
        """The token that the server, or the hub, gave this browser."""
        path = path or f"/user/{self.name}/"
        for cookie in self.browser.cookies:
            if cookie.name == "_xsrf" and cookie.path == path:
                return cookie.value
        return None

    def close(self):
        """Shut the tabs."""
        for kernel in self.kernels:
            kernel.close()
        self.browser.close()


def found(pattern, text):
    """The first match of a pattern in a page; raise if there is none."""
    match = re.search(pattern, text)
    if match is None:
        raise RuntimeError(f"no {pattern} in the page:\n{text[:2000]}")
    return match.group(1).replace("&amp;", "&")
