"""Sphinx extension: each chapter can be opened live, from this very fork.

The services are named in _config.yml under jupyter-book's own keys; which
repository and version they open is found at build time. Without a public
repository there are no buttons, and the build says nothing about it.

The theme has such buttons too, and draws ours: group, icons from the site's
own folder, nothing asked of anyone before the click. Its addresses are not
used: they name a fixed repository, leave odd characters of a branch as they
are, forget GitLab's groups, and lead nowhere for other hosts
(executablebooks/jupyter-book#2025).
"""

from pathlib import Path
from urllib.parse import quote, urlencode

from sphinx.errors import ConfigError

from utils.launch.repository import find_repository

__all__ = ["binder_link", "colab_link", "hub_link", "launch_links"]

GITHUB, GITLAB = "github.com", "gitlab.com"
GROUP = {
    "type": "group",
    "label": "launch-buttons",
    "icon": "fas fa-rocket",
    "tooltip": "Open this chapter live",
}
IMAGES = "_static/images"  # the theme's


def setup(app):
    """Register with Sphinx."""
    # "html": when they change, every page is written again
    app.add_config_value("launch_repository", None, "html")
    app.add_config_value("launch_services", {}, "html", [dict])
    app.connect("config-inited", find_out)
    # after the theme has begun its list of buttons
    app.connect("html-page-context", add_buttons, priority=510)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def find_out(app, config):
    """Take the services from the theme, and find the repository."""
    options = config.html_theme_options
    services = dict(options.get("launch_buttons") or {})
    kept = {key: services.pop(key) for key in ("thebe",) if key in services}
    options["launch_buttons"] = kept
    config.launch_services = services
    if config.launch_repository is None:
        try:
            config.launch_repository = find_repository(Path(app.srcdir))
        except ValueError as error:
            raise ConfigError(f"launch buttons: {error}") from error


def add_buttons(app, pagename, templatename, context, doctree):
    """Put the buttons above a chapter."""
    repository = app.config.launch_repository
    if repository is None or pagename not in app.env.found_docs:
        return
    path = Path(app.env.doc2path(pagename))
    if path.suffix != ".ipynb":
        return
    path = path.relative_to(Path(app.srcdir).resolve()).as_posix()
    links = launch_links(repository, path, app.config.launch_services)
    if links:
        buttons = [
            {
                "type": "link",
                "text": text,
                "tooltip": f"Run this chapter on {text}",
                "icon": f"{IMAGES}/{icon}",
                "url": url,
            }
            for text, icon, url in links
        ]
        context["header_buttons"].append({**GROUP, "buttons": buttons})


def launch_links(repository, path, services):
    """Find where a file of the repository can be opened live.

    Parameters
    ----------
    repository : Repository
    path : str
        Of the file in the repository, with /.
    services : mapping of str
        Addresses of a BinderHub, Colab and a JupyterHub with nbgitpuller, as
        binderhub_url, colab_url and jupyterhub_url; empty or left out: none.

    Returns
    -------
    list of tuple of str
        Name of the service, file name of its icon, address.
    """
    asked = (
        ("Binder", "logo_binder.svg", binder_link, "binderhub_url"),
        ("Colab", "logo_colab.png", colab_link, "colab_url"),
        ("JupyterHub", "logo_jupyterhub.svg", hub_link, "jupyterhub_url"),
    )
    links = []
    for text, icon, link, key in asked:
        address = (services.get(key) or "").strip().rstrip("/")
        url = link(address, repository, path) if address else None
        if url:
            links.append((text, icon, url))
    return links


def binder_link(binder, repository, path):
    """Address that opens a file in JupyterLab on a BinderHub.

    Parameters
    ----------
    binder : str
        Address of the BinderHub.
    repository : Repository
    path : str

    Returns
    -------
    str

    Examples
    --------
    >>> from utils.launch.remote import Repository
    >>> fork = Repository("github.com", "ada/attention", "try/me")
    >>> binder_link("https://mybinder.org", fork, "book/a.ipynb")
    'https://mybinder.org/v2/gh/ada/attention/try%2Fme?urlpath=lab/tree/book/a.ipynb'
    """
    if repository.host == GITHUB:
        place = f"gh/{repository.path}"
    elif repository.host == GITLAB:
        place = f"gl/{quote(repository.path, safe='')}"
    else:
        place = f"git/{quote(repository.url, safe='')}"
    ref = quote(repository.ref, safe="")
    query = urlencode({"urlpath": f"lab/tree/{quote(path)}"}, safe="/")
    return f"{binder}/v2/{place}/{ref}?{query}"


def colab_link(colab, repository, path):
    """Address that opens a file in Colab; None if it is not on GitHub.

    Parameters
    ----------
    colab : str
        Address of Colab.
    repository : Repository
    path : str

    Returns
    -------
    str or None

    Examples
    --------
    >>> from utils.launch.remote import Repository
    >>> fork = Repository("github.com", "ada/attention", "main")
    >>> colab_link("https://colab.example", fork, "book/a.ipynb")
    'https://colab.example/github/ada/attention/blob/main/book/a.ipynb'
    """
    if repository.host != GITHUB:
        return None
    place = f"{repository.path}/blob/{quote(repository.ref)}"
    return f"{colab}/github/{place}/{quote(path)}"


def hub_link(hub, repository, path):
    """Address that pulls the book into a JupyterHub and opens a file.

    Parameters
    ----------
    hub : str
        Address of a JupyterHub whose users have nbgitpuller.
    repository : Repository
    path : str

    Returns
    -------
    str or None
        None for a bare commit: nbgitpuller follows a branch or a tag.

    Examples
    --------
    >>> from utils.launch.remote import Repository
    >>> fork = Repository("github.com", "ada/attention", "main")
    >>> link = hub_link("https://hub.example", fork, "book/a.ipynb")
    >>> link.partition("&")[2]
    'branch=main&urlpath=lab/tree/attention/book/a.ipynb'
    """
    if repository.kind == "commit":
        return None
    query = {
        "repo": repository.url,
        "branch": repository.ref,
        "urlpath": f"lab/tree/{repository.name}/{quote(path)}",
    }
    return f"{hub}/hub/user-redirect/git-pull?{urlencode(query, safe='/')}"
