# SPDX-License-Identifier: BSD-3-Clause
"""A cache of objects that take long to make."""

import os
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

T = TypeVar("T")

_MOST = 4


class KeptObjects(threading.local, Generic[T]):
    """The most recently used objects, separately for each thread and process."""

    def __init__(self) -> None:
        self._objects: OrderedDict[Hashable, T] = OrderedDict()

    def get(self, key: tuple[Hashable, ...], make: Callable[[], T]) -> T:
        """The object of this key; makes it if it is missing."""
        key = (os.getpid(), *key)
        found = self._objects.pop(key, None)
        if found is None:
            found = make()
        self._objects[key] = found
        while len(self._objects) > _MOST:
            self._objects.popitem(last=False)
        return found
