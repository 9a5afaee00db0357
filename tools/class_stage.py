"""Lay out an environment where throw-away users may read it.

The class's environment may lie below a folder that only its owner can enter,
and so may its Python. Hard links give both a second path, at no cost in
space; page cache is shared as it would be on a real hub.
"""

import os
import shutil
import sys
from pathlib import Path

__all__ = ["open_to_all", "stage_environment"]

OTHERS_MAY_ENTER = 0o005
NOT_NEEDED = shutil.ignore_patterns(
    "__pycache__.*", "test", "tests", "idlelib", "site-packages", "man"
)


def stage_environment(folder, copy):
    """Find, or make, an environment that students can run.

    Parameters
    ----------
    folder : Path
        Where to make it.
    copy : bool
        False: the students are this user, and the running one will do.

    Returns
    -------
    python : Path
        The interpreter to start a student's server with.
    environment : dict of str
        What its processes need in their environment.
    """
    if not copy:
        same = {"PATH": search_path(sys.prefix)}
        if "LD_LIBRARY_PATH" in os.environ:  # it may be how Python is found
            same["LD_LIBRARY_PATH"] = os.environ["LD_LIBRARY_PATH"]
        return Path(sys.executable), same
    base = Path(sys.base_prefix)
    environment = {}
    if not open_to_all(base):
        base = folder / "python"
        link_tree(Path(sys.base_prefix, "bin"), base / "bin")
        link_tree(Path(sys.base_prefix, "lib"), base / "lib", NOT_NEEDED)
        environment["LD_LIBRARY_PATH"] = str(base / "lib")
    staged = folder / "env"
    for part in ("lib", "share", "etc"):
        if Path(sys.prefix, part).is_dir():
            link_tree(Path(sys.prefix, part), staged / part)
    version = f"{sys.version_info[0]}.{sys.version_info[1]}"
    (staged / "bin").mkdir()
    python = staged / "bin/python3"
    python.symlink_to(base / f"bin/python{version}")
    (staged / "pyvenv.cfg").write_text(f"home = {base}/bin\n", "utf-8")
    environment["PATH"] = search_path(staged)
    return python, environment


def open_to_all(path):
    """Tell whether any user may enter the folder and all above it.

    >>> open_to_all(Path("/"))
    True
    """
    path = Path(path).resolve()
    return all(
        place.stat().st_mode & OTHERS_MAY_ENTER == OTHERS_MAY_ENTER
        for place in (path, *path.parents)
    )


def search_path(prefix):
    """Where programs are looked for: the environment, then the system."""
    return os.pathsep.join([f"{prefix}/bin", "/usr/local/bin:/usr/bin:/bin"])


def link_tree(source, target, ignore=None):
    """Copy a folder by hard links, or by bytes to another disk."""
    shutil.copytree(
        source, target, symlinks=True, ignore=ignore, copy_function=link_file
    )


def link_file(source, target):
    """Give a file a second path; copy it where that cannot be."""
    try:
        os.link(source, target, follow_symlinks=False)
    except OSError:
        shutil.copy2(source, target, follow_symlinks=False)
