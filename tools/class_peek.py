"""Ways to see another student's files, tried from inside a student's kernel.

The source of `peek` is sent to each student's own kernel and run there as
that student. It needs nothing but Python.
"""

__all__ = ["peek"]


def peek(victims, secret, servers):
    """Try to read, list and change what belongs to others.

    Parameters
    ----------
    victims : dict of str
        The home folder of each student to try, by name.
    secret : str
        The name of the file in each home that only its owner may read.
    servers : dict of str
        Where each student's server listens, to be asked past the proxy.

    Returns
    -------
    dict of dict of str
        For each victim and each way, what came back: the text, or the name
        of the error.

    Examples
    --------
    >>> peek({"ann": "/no/such/home"}, "secret.txt", {})["ann"]["read"]
    'FileNotFoundError'
    """
    import os
    import urllib.request
    from pathlib import Path

    token = os.environ.get("JUPYTERHUB_API_TOKEN", "")

    def tried(way, *arguments):
        try:
            return str(way(*arguments))
        except Exception as error:
            return type(error).__name__

    def read(home):
        return Path(home, secret).read_text("utf-8")

    def change(home):
        with open(Path(home, secret), "a", encoding="utf-8"):
            return "opened " + secret + " to write"

    def from_processes(name):
        found = []
        for folder in Path("/proc").glob("[0-9]*"):
            try:
                text = (folder / "environ").read_bytes().decode()
            except (OSError, UnicodeDecodeError):
                continue
            if f"JUPYTERHUB_USER={name}\0" in text:
                found.append("JUPYTERHUB_API_TOKEN" in text)
        return f"tokens of {found.count(True)} processes"

    def past_the_proxy(name):
        request = urllib.request.Request(
            f"{servers[name]}api/contents/{secret}",
            headers={"Authorization": f"token {token}"},
        )
        with urllib.request.urlopen(request, timeout=30) as answer:
            return answer.read().decode()

    def link(name, home):
        place = Path.home() / f"link-to-{name}"
        place.unlink(missing_ok=True)
        os.symlink(home, place)
        return "made"

    return {
        name: {
            "read": tried(read, home),
            "list": tried(os.listdir, home),
            "change": tried(change, home),
            "processes": tried(from_processes, name),
            "past the proxy": tried(past_the_proxy, name),
            "link": tried(link, name, home),
        }
        for name, home in victims.items()
    }
