# SPDX-License-Identifier: BSD-3-Clause
"""Shared by the tables of all topics."""


def select(rows, **wanted):
    """Rows with these values; `method=None` and the like mean that the key is missing."""
    return [row for row in rows if all(row.get(key) == value for key, value in wanted.items())]


def lines_of(title, head, lines):
    """A table from ready-made cells."""
    if lines:
        rule = "|---" * len(head) + "|"
        texts = ["| " + " | ".join(line) + " |" for line in lines]
        print("\n".join([f"### {title}", "", "| " + " | ".join(head) + " |", rule, *texts]))
        print()
