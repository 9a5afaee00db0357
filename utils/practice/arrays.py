"""NumPy arrays for some readers, torch tensors for others."""

import functools
import importlib
import types

import numpy as np

__all__ = ["copy_for", "describe", "same", "to_numpy", "torch_if_named"]


def torch_if_named(function):
    """The torch module if the function, or what it calls, names it.

    It is imported only then.
    """
    todo, seen = [function], set()
    while todo:
        one = todo.pop()
        while isinstance(one, functools.partial):
            one = one.func
        one = getattr(one, "__func__", one)
        kind = type(one).__mro__
        if any(str(k.__module__).split(".")[0] == "torch" for k in kind):
            return importlib.import_module("torch")
        code = getattr(one, "__code__", None)
        if code is None or id(code) in seen:
            continue
        seen.add(id(code))
        cells = [_content(cell) for cell in one.__closure__ or ()]
        for name in _names(code):
            value = one.__globals__.get(name)
            module = str(getattr(value, "__module__", None) or "")
            if isinstance(value, types.ModuleType):
                module = value.__name__
            if name == "torch" or module.split(".")[0] == "torch":
                return importlib.import_module("torch")
            cells.append(value)
        todo += [c for c in cells if isinstance(c, types.FunctionType)]
    return None


def _names(code):
    """Global names in a function's code and in the functions within it."""
    found = set(code.co_names)
    for inner in code.co_consts:
        if isinstance(inner, types.CodeType):
            found |= _names(inner)
    return found


def _content(cell):
    try:
        return cell.cell_contents
    except ValueError:  # not filled yet
        return None


def copy_for(value, torch):
    """A copy for the reader to use: an array, a tensor or a plain number."""
    if not isinstance(value, np.ndarray):
        return value
    if torch is None:
        return value.copy()
    tensor = torch.from_numpy(value.copy())
    if tensor.is_floating_point():
        return tensor.to(torch.get_default_dtype())
    return tensor


def to_numpy(value):
    """An array or a tensor as an array."""
    if hasattr(value, "detach"):
        value = value.detach().cpu()
        if value.is_floating_point() and "bfloat16" in str(value.dtype):
            value = value.float()
        return value.numpy()
    return np.asarray(value)


def describe(value):
    """The shape of an array or tensor, or else the value."""
    return str(tuple(value.shape)) if np.ndim(value) else repr(value)


def same(one, other):
    """Equal in every entry, up to the width of the float type."""
    if one.shape != other.shape:
        return False
    if one.dtype.kind == "f" and one.dtype != other.dtype:
        one = one.astype(other.dtype)
    return np.array_equal(one, other, equal_nan=one.dtype.kind == "f")
