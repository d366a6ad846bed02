# SPDX-License-Identifier: BSD-3-Clause
"""The base of objects with a state."""

import copy
import functools
from typing import Any

from ._reprs import of_call


class State:
    """Copies and pickles are made from the arguments of the object, without points. The repr is
    the call."""

    _arguments: tuple[list[Any], dict[str, Any]]

    def __init_subclass__(cls) -> None:
        """Keeps copies of the arguments of an object, after they were found valid."""
        make = cls.__init__

        @functools.wraps(make)
        def kept(self: Any, *arguments: Any, **options: Any) -> None:
            make(self, *arguments, **options)
            self._arguments = [copy.copy(value) for value in arguments], {key: copy.copy(v) for key, v in options.items()}

        setattr(cls, "__init__", kept)  # types stay those of the class

    def __reduce__(self) -> Any:
        return _made, (type(self), *self._arguments)

    def __repr__(self) -> str:
        return of_call(type(self), *self._arguments)


def _made(kind, arguments, options):
    return kind(*arguments, **options)
