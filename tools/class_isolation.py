"""Every student tries to see every other's file, in every way we know.

Each way is also tried on the student's own file, where it must succeed: a
way that cannot see anything proves nothing.
"""

import inspect
import json
from collections import namedtuple
from pathlib import Path

import requests

from class_peek import peek

__all__ = ["Attempt", "SECRET", "attempts_of", "problems", "write_secret"]

SECRET = "secret.txt"

# What lies above the home is refused, whoever's it is.
NO_CONTROL = {"own server: .."}

# student tried to see what is of's, in this way, and saw it or did not
Attempt = namedtuple("Attempt", "student of way saw answer")


def write_secret(student, text):
    """Write the student's secret through the contents API, for her alone."""
    student.ask(
        "PUT",
        f"contents/{SECRET}",
        json={"type": "file", "format": "text", "content": text},
    )


def attempts_of(student, kernel, room, secrets):
    """Let a student try every way on every student, herself included.

    Parameters
    ----------
    student : Student
    kernel : Kernel
        One of the student's own.
    room : Room
    secrets : dict of str
        The secret of each student, by name.

    Returns
    -------
    list of Attempt
    """
    marks = {
        name: {
            "read": secret,
            "list": SECRET,
            "change": "opened",
            "processes": "tokens of",
            "past the proxy": secret,
            "link": None,
        }
        for name, secret in secrets.items()
    }
    found = json.loads(kernel.run(peek_code(room.homes)))
    attempts = []
    for name, ways in found.items():
        for way, answer in ways.items():
            mark = marks[name][way]
            if mark is not None:
                saw = mark in answer and answer != "tokens of 0 processes"
                attempts.append(
                    Attempt(student.name, name, f"kernel: {way}", saw, answer)
                )
    token = own_token(student)
    for name, secret in secrets.items():
        for way, answer in over_the_network(student, token, name, room):
            saw = answer.status_code == 200 and secret in answer.text
            attempts.append(
                Attempt(student.name, name, way, saw, answer.status_code)
            )
    return attempts


def peek_code(homes):
    """The cell that runs `peek` in a kernel and prints what came back."""
    return (
        f"{inspect.getsource(peek)}\n"
        "import json\n"
        f"print(json.dumps(peek({homes!r}, {SECRET!r}, "
        f"{server_addresses(homes)!r})))"
    )


def server_addresses(names):
    """Where each student's server listens, read from its environment.

    Only the teacher can read it; it is handed to every student, so that
    the attempt past the proxy is made at the right door.
    """
    addresses = {}
    for place in Path("/proc").glob("[0-9]*"):
        try:
            words = (place / "environ").read_bytes().decode().split("\0")
        except (OSError, UnicodeDecodeError):
            continue
        known = dict(word.split("=", 1) for word in words if "=" in word)
        if known.get("JUPYTERHUB_USER") in names:
            addresses[known["JUPYTERHUB_USER"]] = known[
                "JUPYTERHUB_SERVICE_URL"
            ]
    return addresses


def own_token(student):
    """A token for the hub's API, as the page "Token" gives a student."""
    hub = student.url + "/hub/"
    student.visit(hub + "token")
    answer = student.browser.post(
        f"{hub}api/users/{student.name}/tokens",
        headers={"X-XSRFToken": student.token("/hub/")},
        json={"note": "class"},
    )
    answer.raise_for_status()
    return answer.json()["token"]


def over_the_network(student, token, name, room):
    """Yield pairs of a way and the answer, for another's or one's own."""
    server = f"{student.url}/user/{name}/"
    contents = f"{server}api/contents/{SECRET}"
    yield "cookie: contents", student.try_("GET", contents)
    yield "cookie: files", student.try_("GET", f"{server}files/{SECRET}")
    bearer = {"Authorization": f"token {token}"}
    yield "token: contents", requests.get(contents, headers=bearer, timeout=60)
    link = f"{student.server}api/contents/link-to-{name}/{SECRET}"
    yield "own server: link", student.try_("GET", link)
    home = room.homes[name]
    beside = f"..%2F{Path(home).name}%2F{SECRET}"
    climb = f"{student.server}api/contents/{beside}"
    yield "own server: ..", student.try_("GET", climb)


def problems(attempts):
    """What the attempts say against the room.

    Returns
    -------
    list of str
        One line for each file that was seen by another, and one for each
        way that did not even show students their own. Empty if all is well.

    Raises
    ------
    ValueError
        If nobody tried to see another's.

    Examples
    --------
    >>> problems(
    ...     [
    ...         Attempt("ann", "ann", "kernel: read", True, "s"),
    ...         Attempt("ann", "bob", "kernel: read", True, "s"),
    ...     ]
    ... )
    ["ann saw bob's file (kernel: read)"]
    """
    if not any(attempt.student != attempt.of for attempt in attempts):
        raise ValueError(
            f"nobody tried to see another's file in {len(attempts)} attempts"
        )
    lines = [
        f"{a.student} saw {a.of}'s file ({a.way})"
        for a in attempts
        if a.saw and a.student != a.of
    ]
    own = {}
    for a in attempts:
        if a.student == a.of:
            own[a.way] = own.get(a.way, False) or a.saw
    for way in sorted({a.way for a in attempts}):
        if way not in NO_CONTROL and not own.get(way):
            lines.append(f"{way}: shows nobody even their own file")
    return lines


def without_users(lines):
    """The problems that are the hub's own: it alone keeps these doors.

    Kernels, and what a server reads for its student, are kept apart by the
    system's users; without them only the hub's part can be asked for.

    Examples
    --------
    >>> without_users(
    ...     [
    ...         "ann saw bob's file (kernel: read)",
    ...         "ann saw bob's file (own server: link)",
    ...         "ann saw bob's file (token: contents)",
    ...     ]
    ... )
    ["ann saw bob's file (token: contents)"]
    """
    systems = ("(kernel: ", "(own server: ")
    return [x for x in lines if not any(part in x for part in systems)]
