# SPDX-License-Identifier: BSD-3-Clause
"""What objects with a state have in common."""

import copy
from typing import Any

from ._reprs import of_call


class State:
    """Copies and pickles are made from the arguments of the object, and are empty: points do not travel. The repr is the
    call."""

    def __new__(cls, *arguments: Any, **options: Any) -> Any:
        self = super().__new__(cls)
        self._arguments = [copy.copy(value) for value in arguments], {key: copy.copy(v) for key, v in options.items()}
        return self

    def __reduce__(self) -> Any:
        return _made, (type(self), *self._arguments)

    def __repr__(self):
        return of_call(type(self), *self._arguments)


def _made(kind, arguments, options):
    return kind(*arguments, **options)
