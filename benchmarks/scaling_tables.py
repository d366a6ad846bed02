#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The table of docs/performance/scaling.md of what was measured on four GPUs.

    python3 benchmarks/scaling_tables.py            # prints it
    python3 benchmarks/scaling_tables.py --write    # replaces it in the page

From benchmarks/results/h200x4, one file for each operation of `quadrat bench distributed --full --device cuda --op OP`.
Gains are over one context; of the weak row, the part of one rank's time, and of one context's in brackets."""

import json
import pathlib
import re
import sys

PAGE = pathlib.Path(__file__).parent.parent / "docs/performance/scaling.md"
HEAD = "| what | one context | 1 rank | 2 ranks | 4 ranks | gain by 2 | gain by 4 |"
FOLDER = pathlib.Path(__file__).parent / "results/h200x4"

# (description, file, method over ranks, total particles or particles per rank)
LINES = [
    ("granular, 64M grains at rest, a step", "strong", "ranks", 64_000_000),
    ("granular, 4M grains at rest", "strong", "ranks", 4_000_000),
    ("granular, 16M grains at rest for each rank", "weak", "ranks", 16_000_000),
    ("SRD, 41M particles, a step", "srd", "ranks", 40_960_000),
    ("Circles, 1M agents, a step", "circles", "ranks", 1_000_000),
    ("spreading of 40M points, order 6, 256³", "spread", "ranks", 40_000_000),
    ("Ewald sum of 1M charges, energy and forces", "ewald", "ranks", 1_000_000),
    ("Fourier transform, complex float, 512³, transposed order", "fft", "transposed", 512**3),
    ("the same, natural order", "fft", "natural", 512**3),
]


def times(file, method, n, ranks):
    path = FOLDER / f"{file}.json"
    rows = json.loads(path.read_text())["rows"] if path.exists() else []
    found = [row["median_ms"] for row in rows
             if "median_ms" in row and (row["method"], row["n"], row["ranks"]) == (method, n, ranks)]  # fmt: skip
    return found[0] if found else None


def line(words, file, method, n):
    weak = file == "weak"
    alone = times(file, "one_context", n, 1)
    by_ranks = [times(file, method, ranks * n if weak else n, ranks) for ranks in (1, 2, 4)]

    def gain(time):
        if None in (alone, by_ranks[0], time):
            return ""
        return f"{100 * by_ranks[0] / time:.1f} % ({100 * alone / time:.1f} %)" if weak else f"{alone / time:.2f}"

    measured = ["" if time is None else f"{time:.3g}" for time in (alone, *by_ranks)]
    return "| " + " | ".join([words, *measured, *(gain(time) for time in by_ranks[1:])]) + " |"


def main():
    table = "\n".join([HEAD, "|" + "---|" * HEAD.count(" |"), *(line(*one) for one in LINES)]) + "\n"
    if "--write" in sys.argv[1:]:
        text, found = re.subn(re.escape(HEAD) + r"\n(\|.*\n)+", lambda _: table, PAGE.read_text())
        assert found == 1, f"{PAGE} has {found} such tables"
        PAGE.write_text(text)
    else:
        print(table, end="")


if __name__ == "__main__":
    main()
