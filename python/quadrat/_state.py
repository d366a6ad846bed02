# SPDX-License-Identifier: BSD-3-Clause
"""What objects with a state have in common."""

import copy
from typing import Any, TypeVar

from ._reprs import of_call

_Self = TypeVar("_Self", bound="State")


class State:
    """Copies and pickles are made from the arguments of the object, and are empty: points do not travel. The repr is
    the call."""

    _arguments: tuple[list[Any], dict[str, Any]]

    def __new__(cls: type[_Self], *arguments: Any, **options: Any) -> _Self:
        self = super().__new__(cls)
        self._arguments = [copy.copy(value) for value in arguments], {key: copy.copy(v) for key, v in options.items()}
        return self

    def __reduce__(self) -> Any:
        return _made, (type(self), *self._arguments)

    def __repr__(self) -> str:
        return of_call(type(self), *self._arguments)


def _made(kind, arguments, options):
    return kind(*arguments, **options)
