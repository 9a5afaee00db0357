"""Sphinx extension: after a build that was stopped, every page is made anew.

Sphinx reads a page again when its source has changed, and keeps in mind that
it has read it before it writes it. Killed between the two, or while it writes,
it leaves a page half there, or with the picture that its figure had before, or
a search that knows nothing, and finds nothing to do the next time.
"""

from pathlib import Path

__all__ = ["setup"]


def setup(app):
    """Register with Sphinx."""
    app.connect("builder-inited", begin)
    app.connect("env-get-outdated", find_outdated)
    # after all that write something, and not if one of them fails
    app.connect("build-finished", end, priority=999)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def mark(app):
    """The file that is there while a build is under way."""
    out = Path(app.outdir)
    return out.with_name(f"{out.name}.unfinished")


def begin(app):
    """See whether the last build came to its end."""
    app.last_was_stopped = mark(app).exists()
    mark(app).touch()


def find_outdated(app, env, added, changed, removed):
    """Every page, if it did not."""
    return sorted(env.found_docs) if app.last_was_stopped else []


def end(app, error):
    """Tell the next build that this one did."""
    if not error:
        mark(app).unlink()
