# SPDX-License-Identifier: BSD-3-Clause
"""The reprs of objects of this package: always one line."""

import reprlib
from typing import Any

_LONGEST = 60  # characters of an argument
_SHORT = reprlib.Repr()
_SHORT.maxlist = _SHORT.maxtuple = _SHORT.maxset = _SHORT.maxdict = 4
_SHORT.maxstring = _SHORT.maxlong = _SHORT.maxother = _LONGEST


def shape_of(value: Any) -> Any:
    """The shape, or None for objects without one."""
    try:
        return value.shape
    except Exception:
        return None


def short(value: Any) -> str:
    """A value in a few words, on one line; arrays by type and shape."""
    shape = shape_of(value)
    if shape is not None and hasattr(value, "dtype"):
        return f"{str(value.dtype).removeprefix('torch.')[:_LONGEST]} {tuple(shape)}"
    text = " ".join(_SHORT.repr(value).split())
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."


def of_arrays(self: Any) -> str:
    """The repr of a named tuple of arrays, without missing ones."""
    fields = ", ".join(f"{name}: {short(value)}" for name, value in zip(self._fields, self) if value is not None)
    return f"<{type(self).__name__} {fields}>"


def of_call(kind: type, arguments: list[Any], named: dict[str, Any]) -> str:
    """The call that made an object."""
    words = [*map(short, arguments), *(f"{name}={short(value)}" for name, value in named.items())]
    return f"<{kind.__name__}({', '.join(words)})>"
