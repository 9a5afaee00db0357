"""What a source imports, read from its syntax tree: nothing is run.

One reader for all who ask: the cache of frames (which files does a picture
depend on?), the test of the layers, and the picture of the house.
"""

import ast

__all__ = ["imported", "imports", "modules"]


def imports(source):
    r"""List the imports of a source, those inside functions too.

    Parameters
    ----------
    source : str
        Python.

    Returns
    -------
    list of (str, str or None)
        The module, and the name that is taken from it, if one is.

    Raises
    ------
    ValueError
        If an import is relative: names the line.

    Examples
    --------
    >>> imports("import numpy as np\nfrom utils.explore import Slider, find")
    [('numpy', None), ('utils.explore', 'Slider'), ('utils.explore', 'find')]
    """
    found = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found += [(alias.name, None) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            if node.level:
                raise ValueError(
                    f"line {node.lineno}: write the import in full, "
                    f"received {ast.unparse(node)!r}"
                )
            found += [(node.module, alias.name) for alias in node.names]
    return found


def imported(source, known):
    """Give the names of all that a source imports, as deep as it says.

    Parameters
    ----------
    source : str
    known : collection of str
        Modules. What is taken from a package may be one of them.

    Returns
    -------
    set of str

    Examples
    --------
    >>> sorted(imported("from utils import a, masks", {"utils.masks"}))
    ['utils', 'utils.masks']
    """
    found = set()
    for module, name in imports(source):
        below = f"{module}.{name}"
        found.add(below if below in known else module)
    return found


def modules(root):
    """List the modules of the package below a folder.

    Parameters
    ----------
    root : Path
        The folder that holds `utils`.

    Returns
    -------
    dict of str to Path
        Each module's dotted name and its file, in the order of the files.
    """
    found = {}
    for path in sorted((root / "utils").rglob("*.py")):
        parts = path.relative_to(root).with_suffix("").parts
        parts = parts[:-1] if parts[-1] == "__init__" else parts
        found[".".join(parts)] = path
    return found
