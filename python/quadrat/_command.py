# SPDX-License-Identifier: BSD-3-Clause
"""Shared by the commands of this package: errors in one line, and files that are written whole or not at all."""

import os
import sys
import tempfile
from collections.abc import Callable
from typing import Any

from ._types import FilePath


def run(name: str, main: Callable[[list[str]], None], arguments: list[str]) -> int:
    """Calls main(arguments). Invalid input, a failed read or write, and a missing package end with one line on stderr
    and the status 1. Any other error is a defect and keeps its traceback."""
    try:
        main(arguments)
    except (ValueError, OSError, ImportError) as problem:
        print(f"{name}: {problem}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    return 0


def needed(package: str, extra: str) -> Any:
    """The module `package`, or an ImportError that says how to install it."""
    import importlib

    try:
        return importlib.import_module(package)
    except ModuleNotFoundError as problem:
        if problem.name is None or problem.name.partition(".")[0] != package.partition(".")[0]:
            raise
        raise ImportError(f'{package} is not installed; it comes with pip install "quadrat[{extra}]"') from None


def write_whole(file: FilePath, content: str | bytes) -> None:
    """Writes text or bytes; a reader sees the old file or the new one, never a part."""
    with whole_file(file) as name, open(name, "wb") as out:
        out.write(content.encode() if isinstance(content, str) else content)


class whole_file:
    """A context that gives the name of a temporary file in the folder of `file`, with its ending, and renames it to
    `file` at the end. After an error nothing is left."""

    def __init__(self, file: FilePath) -> None:
        self.file = os.fspath(file)

    def __enter__(self) -> str:
        folder, name = os.path.split(os.path.abspath(self.file))
        if not os.path.isdir(folder):
            raise FileNotFoundError(f"the folder of {self.file} does not exist")
        if os.path.isdir(self.file):
            raise IsADirectoryError(f"{self.file} is a folder, not a file")
        handle, self.temporary = tempfile.mkstemp(prefix=f".{name}.", suffix=os.path.splitext(name)[1], dir=folder)
        os.close(handle)
        mask = os.umask(0)
        os.umask(mask)
        os.chmod(self.temporary, 0o666 & ~mask)
        return self.temporary

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None:
            os.replace(self.temporary, self.file)
        else:
            os.unlink(self.temporary)
