# SPDX-License-Identifier: BSD-3-Clause
"""The blocks of code on the pages. What a fence begins with says what holds of its block:

    ```cpp run      compiles, in the body of a function unless it has a main; a comment `<!-- given: ... -->` above it
                    declares what the reader has already
    ```python run   runs after the other such blocks of its page, in a folder with examples/
    ```toml run     is a scene that the program takes a step of

A command that begins with `quadrat` works in a folder with examples/, wherever it is printed as a line of an indented
block. Other blocks only show something.
"""

import pathlib
import re
import shlex
from typing import NamedTuple

ROOT = pathlib.Path(__file__).resolve().parents[2]
FENCE = re.compile(r"^```(\w+) run\n(.*?)^```$", re.DOTALL | re.MULTILINE)
GIVEN = re.compile(r"<!-- given: ((?:(?!-->).)*) -->\s*\Z", re.DOTALL)


class Block(NamedTuple):
    page: str
    line: int  # of its first line, from 1
    text: str
    given: str = ""


def pages():
    """README and every page of the site that is not made by script/docs."""
    made = [ROOT / "docs" / name for name in ("reference/cpp", "reference/program.md", "performance/papers.md")]
    found = [page for page in sorted((ROOT / "docs").rglob("*.md")) if not any(page.is_relative_to(one) for one in made)]
    return [ROOT / "README.md", *found]


def of(language, page=None):
    """The blocks of that language that claim to run, of one page or of all."""
    result = []
    for file in pages() if page is None else [ROOT / page]:
        text = file.read_text()
        for match in FENCE.finditer(text):
            if match[1] == language:
                before = text[: match.start()]
                given = GIVEN.search(before)
                name = file.relative_to(ROOT).as_posix()
                result.append(Block(name, before.count("\n") + 2, match[2], given[1] if given else ""))
    return result


def commands():
    """Pages with the arguments of each command of the program."""
    for file in pages():
        for line in file.read_text().splitlines():
            if line.startswith("    quadrat "):
                words = shlex.split(line, comments=True)[1:]
                yield file.relative_to(ROOT).as_posix(), words[: words.index(">")] if ">" in words else words
