#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Writes what the site says of performance, from the committed results: a table, plots, and the papers' tables.

    benchmarks/performance_pages.py benchmarks/results docs/performance    measured.md, papers.md and plots
    benchmarks/performance_pages.py benchmarks/results --readme            prints the table of the README

Every number comes from a file, beside its hardware and the command that wrote the file. Plots need matplotlib.
"""

import contextlib
import io
import json
import pathlib
import sys

import tables
from table_lines import select

# Description of a row, its file, what the command measures, and the keys that select the row; None: the key is missing.
UNIFORM = {"precision": "float", "distribution": "uniform"}
README = [
    ("cell starts and ordered ids of 1M points, 64^3 cells", "h200/cells.json", "cells --op insert",
     {"op": "insert", "method": "counting", "n": 1048576, "cells": 262144, "determinism": None, **UNIFORM}),
    ("neighbor list of 1M points, 40 neighbors each", "h200/neighbors.json", "neighbors",
     {"op": "csr", "method": "auto", "n": 1048576, "neighbors": 40.0, **UNIFORM}),
    ("16 nearest neighbors of 1M points", "h200/neighbors.json", "neighbors",
     {"op": "knn", "method": "tree", "n": 1048576, "k": 16, **UNIFORM}),
    ("friends-of-friends of 1M points, 10 neighbors each", "h200/neighbors.json", "neighbors",
     {"op": "clusters", "method": "friends_of_friends", "n": 1048576, "neighbors": 10.0, **UNIFORM}),
    ("contacts of 1M equal spheres, 6 each", "h200/contacts_detect.json", "contacts --op detect",
     {"op": "detect", "method": "auto", "n": 1048576, "order": None, "determinism": None,
      "precision": "float", "distribution": "radii equal"}),
    ("whole step of 1M grains, 4 per cell", "h200/granular.json", "granular --op step",
     {"op": "step", "method": "fused", "n": 1048576, "occupancy": 4.0, "determinism": None, "precision": "float"}),
    ("10M values spread onto 128^3 mesh points, order 6", "h200/mesh_spread.json", "mesh --op spread",
     {"op": "spread", "method": "tiles", "n": 10000000, "mesh": 128, "order": 6, "value": "real", "determinism": None,
      **UNIFORM}),
    ("Fourier transform of 10M points, type 1, 128^3 modes, 1e-5", "h200/nufft.json", "nufft",
     {"op": "nufft", "method": "auto", "type": 1, "n": 10000000, "modes": 128, "tolerance": 1e-5, "dim": 3, "value": "complex",
      **UNIFORM}),
    ("forces of 999,999 charges of water, to 5e-4", "h200/electrostatics.json", "electrostatics",
     {"op": "whole", "method": "auto", "n": 999999, "accuracy": 5e-4}),
    ("whole step of 10M SRD particles, with thermostat", "h200/srd_step.json", "srd --op step",
     {"op": "step", "method": "floating", "n": 10000000, "thermostat": True, "time_step": 0.1, **UNIFORM}),
]  # Title, file, command, rows, and the key that distinguishes the lines of the plot.
# Title, file, command, rows, and what distinguishes the lines of the plot.
PLOTS = [
    ("Neighbor lists, 40 neighbors a point", "h200/neighbors.json", "neighbors",
     {"op": "csr", "neighbors": 40.0, **UNIFORM}, "method"),
    ("Cell lists: insertion into 64^3 cells", "h200/cells.json", "cells --op insert",
     {"op": "insert", "cells": 262144, "order": "random", "determinism": None, **UNIFORM}, "method"),
    ("Granular step, 64^3 cells", "h200/granular.json", "granular --op step",
     {"op": "step", "cells": 262144, "determinism": None, "precision": "float"}, "method"),
    ("Reduction by 1M keys in random order", "h200/keyed_sizes.json", "keyed --op sizes",
     {"precision": "float"}, "method"),
]  # fmt: skip
PAPERS = ["cells", "granular", "search", "contacts", "mesh", "srd", "keyed", "keyed_auto", "keyed_sizes"]


def read(results, name):
    return json.loads((results / name).read_text())


def command_of(words):
    topic, _, operation = words.partition(" ")
    return f"quadrat bench {topic} --full{' ' + operation if operation else ''} --device cuda"


def table_of(results, link):
    """Markdown lines; `link` goes before the name of a file."""
    lines = ["| what | ms | hardware | command and file |", "|---|---|---|---|"]
    for text, name, command, wanted in README:
        data = read(results, name)
        found = select(data["rows"], **wanted)
        times = [row["median_ms"] for row in found]
        if not times or max(times) > 1.03 * min(times):  # what was timed twice agrees
            raise SystemExit(f"performance_pages: {name} has the times {times} of rows {wanted}")
        median = times[0]
        file = f"[{pathlib.Path(name).name}]({link}{name})"
        lines.append(f"| {text} | {median:.3g} | {data['meta']['device']} | `{command_of(command)}`, {file} |")
    return lines


def plot(results, target, title, name, wanted, key):
    """A time over a number of elements, one line for each value of `key`, best of each."""
    from matplotlib import pyplot

    rows = [row for row in select(read(results, name)["rows"], **wanted) if row.get("median_ms")]
    figure, axes = pyplot.subplots(figsize=(7, 4.2), layout="constrained")
    for value in dict.fromkeys(row[key] for row in rows):
        best = {}
        for row in select(rows, **{key: value}):
            best[row["n"]] = min(row["median_ms"], best.get(row["n"], row["median_ms"]))
        axes.loglog(sorted(best), [best[n] for n in sorted(best)], "o-", markersize=3, linewidth=1, label=value)
    axes.set(title=title, xlabel="elements", ylabel="ms")
    axes.grid(alpha=0.3)
    axes.legend(fontsize=7, ncols=2)
    figure.savefig(target, metadata={"Date": None})
    pyplot.close(figure)


def papers_page(results):
    lines = ["# The tables of the papers", "Written by `benchmarks/tables.py`; the best of a column is bold."]
    text = io.StringIO()
    with contextlib.redirect_stdout(text):
        tables.main([results / "h200" / f"{name}.json" for name in PAPERS])
    lines.append(text.getvalue().strip())
    return "\n\n".join(lines) + "\n"


def main():
    results = pathlib.Path(sys.argv[1])
    if sys.argv[2] == "--readme":
        print("\n".join(table_of(results, "benchmarks/results/")))
        return
    target = pathlib.Path(sys.argv[2])
    lines = ["# Measured times", "Medians, as the program reports them.\n",
             "\n".join(table_of(results, "../../benchmarks/results/"))]  # fmt: skip
    for title, name, command, wanted, key in PLOTS:
        file = f"plot_{pathlib.Path(name).stem}.svg"
        plot(results, target / file, title, name, wanted, key)
        device = read(results, name)["meta"]["device"]
        lines += [f"## {title}", f"![{title}]({file})",
                  f"{device}, `{command_of(command)}`, [the file](../../benchmarks/results/{name})."]  # fmt: skip
    (target / "measured.md").write_text("\n\n".join(lines) + "\n")
    (target / "papers.md").write_text(papers_page(results))
    print(f"performance_pages: {len(README)} rows, {len(PLOTS)} plots")


if __name__ == "__main__":
    main()
