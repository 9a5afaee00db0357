"""A kernel as a browser speaks to it: messages over the hub's websocket."""

import itertools
import json
import time
import uuid

import websocket

__all__ = ["Kernel", "KernelError"]

VIEW = "application/vnd.jupyter.widget-view+json"
MODEL = "IPY_MODEL_"
SECONDS = 300
# What matplotlib says on stderr if a student's first look for fonts is slow.
FONTS = "Matplotlib is building the font cache"


class KernelError(RuntimeError):
    """A cell raised, printed to stderr, or did not end."""


class Kernel:
    """One running kernel: runs cells, keeps the widgets' state, moves them.

    Parameters
    ----------
    url : str
        The websocket of the kernel's channels.
    cookies : str
        The browser's cookies for that address.
    origin : str
        The hub's own address, as a browser names it.
    """

    def __init__(self, url, cookies, origin):
        self.socket = websocket.create_connection(
            url, cookie=cookies, origin=origin, timeout=SECONDS
        )
        self.session = uuid.uuid4().hex
        self.numbers = itertools.count()
        self.models = {}
        self.views = []

    def close(self):
        """Hang up; the kernel runs on, as it does behind a closed tab."""
        self.socket.close()

    def run(self, code):
        """Run a cell to its end.

        Returns
        -------
        str
            What it printed.

        Raises
        ------
        KernelError
        """
        content = {
            "code": code,
            "silent": False,
            "store_history": True,
            "user_expressions": {},
            "allow_stdin": False,
            "stop_on_error": True,
        }
        printed = []
        for kind, answer in self.ask("execute_request", content):
            if kind == "stream" and answer["name"] == "stdout":
                printed.append(answer["text"])
            elif kind == "stream" and FONTS not in answer["text"]:
                raise KernelError(f"stderr: {answer['text']}\nin:\n{code}")
            elif kind == "error":
                raise KernelError("\n".join(answer["traceback"]))
        return "".join(printed)

    def ask(self, kind, content):
        """Send a request; yield what comes back until the kernel is idle.

        Yields
        ------
        tuple of str and dict
            The kind and content of each message that answers the request.
        """
        number = f"{self.session}-{next(self.numbers)}"
        header = {
            "msg_id": number,
            "msg_type": kind,
            "session": self.session,
            "username": "",
            "date": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
            "version": "5.4",
        }
        message = {
            "header": header,
            "parent_header": {},
            "metadata": {},
            "content": content,
            "channel": "shell",
            "buffers": [],
        }
        self.socket.send(json.dumps(message))
        until = time.monotonic() + SECONDS
        while time.monotonic() < until:
            message = json.loads(self.socket.recv())
            if message["parent_header"].get("msg_id") != number:
                continue
            kind, answer = message["msg_type"], message["content"]
            self.keep(kind, answer)
            yield kind, answer
            if kind == "status" and answer["execution_state"] == "idle":
                return
        raise KernelError(f"no end after {SECONDS} s of:\n{content}")

    def keep(self, kind, content):
        """Keep what the widgets in the browser would keep."""
        if kind == "comm_open":
            self.models[content["comm_id"]] = content["data"]["state"]
        elif kind == "comm_msg" and content["data"].get("method") == "update":
            self.models[content["comm_id"]].update(content["data"]["state"])
        elif kind in ("execute_result", "display_data"):
            view = content["data"].get(VIEW)
            if view is not None:
                self.views.append(view["model_id"])

    def parts(self, view):
        """The ids of the widgets in a box that was shown."""
        return [
            name.removeprefix(MODEL) for name in self.models[view]["children"]
        ]

    def picture(self, view):
        """The picture that a box of an explorable shows, or None."""
        for part in self.parts(view):
            value = self.models[part].get("value")
            if isinstance(value, str) and "<svg" in value:
                return value
        return None

    def move(self, view):
        """Move the first slider of a box by one step.

        Returns
        -------
        float
            Seconds until the new picture was here.

        Raises
        ------
        KernelError
            If no new picture came.
        """
        slider = next(
            part
            for part in self.parts(view)
            if self.models[part]["_model_name"] == "SelectionSliderModel"
        )
        state = self.models[slider]
        last = len(state["_options_labels"]) - 1
        index = state["index"] + (1 if state["index"] < last else -1)
        before = self.picture(view)
        data = {
            "method": "update",
            "state": {"index": index},
            "buffer_paths": [],
        }
        seconds = None
        start = time.perf_counter()
        for _ in self.ask("comm_msg", {"comm_id": slider, "data": data}):
            if seconds is None and self.picture(view) != before:
                seconds = time.perf_counter() - start
        state["index"] = index
        if seconds is None:
            raise KernelError(f"the slider moved to {index}, no new picture")
        return seconds
