#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The table of docs/scaling.md of what was measured on two GPUs, with what it lets expect of four.

    python3 benchmarks/scaling_tables.py            # prints it
    python3 benchmarks/scaling_tables.py --write    # replaces it in the page

From benchmarks/results/h200x2, one file for each operation of `quadrat bench distributed --full --device cuda --op OP`.

Four GPUs are not measured. Where particles or mesh points are shared out, a rank of two has one neighbor, of which it
waits for messages, and one of four two. So what two ranks take longer than their share of one rank's time is taken
twice: t(4) = t(1) / 4 + 2 (t(2) - t(1) / 2), or t(1) + 2 (t(2) - t(1)) where each rank has as much as one. A Fourier
transform sends a half of each block to the other of two ranks, and three quarters to the others of four:
t(4) = (t(2) - h) / 2 + 3 h / 4 with h the time of that half at 370 GB/s. Gains are over the faster of one context and one
rank."""

import json
import pathlib
import re
import sys

PAGE = pathlib.Path(__file__).parent.parent / "docs/scaling.md"
HEAD = "| what | one context | 1 rank | 2 ranks | gain by 2 | expected of 4 |"
FOLDER = pathlib.Path(__file__).parent / "results/h200x2"
LINK = 370e9

# (words, file, method over ranks, particles in all, kind)
LINES = [
    ("granular, 64M grains at rest, a step", "strong", "ranks", 64_000_000, "strong"),
    ("granular, 4M grains at rest", "strong", "ranks", 4_000_000, "strong"),
    ("granular, 16M grains at rest for each rank", "weak", "ranks", 16_000_000, "weak"),
    ("SRD, 41M particles, a step", "srd", "ranks", 40_960_000, "strong"),
    ("Circles, 1M agents, a step", "circles", "ranks", 1_000_000, "strong"),
    ("spreading of 40M points, order 6, 256³", "spread", "ranks", 40_000_000, "strong"),
    ("Ewald sum of 1M charges, energy and forces", "ewald", "ranks", 1_000_000, "strong"),
    ("Fourier transform, complex float, 512³, transposed order", "fft", "transposed", 512**3, "transform"),
    ("the same, natural order", "fft", "natural", 512**3, "transform"),
]


def times(file, method, n, ranks):
    path = FOLDER / f"{file}.json"
    rows = json.loads(path.read_text())["rows"] if path.exists() else []
    found = [row["median_ms"] for row in rows
             if "median_ms" in row and (row["method"], row["n"], row["ranks"]) == (method, n, ranks)]  # fmt: skip
    return found[0] if found else None


def expected(kind, n, one, two):
    """The time of a step on four GPUs."""
    if kind == "weak":
        return one + 2 * (two - one)
    if kind == "strong":
        return one / 4 + 2 * (two - one / 2)
    half = 1e3 * 8 * n / 4 / LINK
    return (two - half) / 2 + 3 * half / 4


def line(words, file, method, n, kind):
    alone, one = times(file, "one_context", n, 1), times(file, method, n, 1)
    two = times(file, method, 2 * n if kind == "weak" else n, 2)
    known = None not in (alone, one, two)
    four = expected(kind, n, one, two) if known else None

    def gain(time):
        if time is None:
            return ""
        least = min(alone, one)
        return f"{100 * least / time:.0f} %" if kind == "weak" else f"{least / time:.2f}"

    texts = [words, *("" if t is None else f"{t:.3g}" for t in (alone, one, two)), gain(two if known else None), gain(four)]
    return "| " + " | ".join(texts) + " |"


def main():
    table = "\n".join([HEAD, "|---|---|---|---|---|---|", *(line(*one) for one in LINES)]) + "\n"
    if "--write" in sys.argv[1:]:
        text, found = re.subn(re.escape(HEAD) + r"\n(\|.*\n)+", lambda _: table, PAGE.read_text())
        assert found == 1, f"{PAGE} has {found} such tables"
        PAGE.write_text(text)
    else:
        print(table, end="")


if __name__ == "__main__":
    main()
