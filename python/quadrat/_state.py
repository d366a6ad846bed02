# SPDX-License-Identifier: BSD-3-Clause
"""What objects with a state have in common."""

import copy
import functools
from typing import Any

from ._reprs import of_call


class State:
    """Copies and pickles are made from the arguments of the object, and are empty: points do not travel. The repr is
    the call."""

    _arguments: tuple[list[Any], dict[str, Any]]

    def __init_subclass__(cls) -> None:
        """Keeps copies of what an object was made from, after it was found to be right."""
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
