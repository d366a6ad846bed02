# SPDX-License-Identifier: BSD-3-Clause
"""Excerpts of files on the pages: the file is there, and so is the text where an excerpt begins or ends."""

import re

import blocks

EXCERPT = re.compile(r"```\{literalinclude\} (\S+)\n((?::.*\n)*)")
MARK = re.compile(r":(?:start|end)-(?:at|before|after): (.*)")


def test_every_excerpt_begins_and_ends_where_its_page_says():
    count, missing = 0, []
    for page in sorted((blocks.ROOT / "docs").rglob("*.md")):
        for name, options in EXCERPT.findall(page.read_text()):
            count += 1
            file = (page.parent / name).resolve()
            text = file.read_text() if file.is_file() else ""
            marks = [mark.strip().strip('"') for mark in MARK.findall(options)]
            missing += [f"{page.relative_to(blocks.ROOT)}: {name}: {mark}" for mark in marks if mark not in text]
            if not text:
                missing.append(f"{page.relative_to(blocks.ROOT)}: {name}")
    assert count > 10 and not missing, "\n".join(missing)
