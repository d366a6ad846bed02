#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Reductions by key on the CPU beside numpy's bincount and a plain loop, on the same kinds of keys, in one run.

    python3 benchmarks/compare_keyed_cpu.py [--program build/cpu/bin/quadrat] [--quick] [--json FILE]

The rows are those of `quadrat bench keyed --op host`: sums, counts and means of 10M rows (10,000 with --quick) by 2 to
10M keys, uniform, by a Zipf law and in order, of one and three components, in float and double, with two threads; keys
are set and reduced each time. The plain loop and bincount have one thread. bincount is timed for sums and counts of one
component in double precision, on keys of its own type, int64. `times_ours` is the least time of the loop or of bincount
against the least of the automatic choice: medians say little while other programs run.
"""

import argparse
import json
import math
import os
import pathlib
import platform
import statistics
import subprocess
import sys
import tempfile
import time

SOURCE = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, os.environ.get("QUADRAT_PYTHON_PACKAGES", str(SOURCE / "build" / "python")))
try:
    import numpy as np
except ImportError as problem:
    sys.exit(f"compare_keyed_cpu: {problem}; script/python-packages installs it")

THREADS = 2


def ours(options):
    """The rows of the program, and the description of the run."""
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "keyed.json"
        command = [options.program, "bench", "keyed", "--quick" if options.quick else "--full", "--device", "cpu",
                   "--threads", str(THREADS), "--op", "host", "--json", str(file)]  # fmt: skip
        done = subprocess.run(command, stdout=subprocess.DEVNULL, check=False)
        if done.returncode != 0:
            sys.exit(f"compare_keyed_cpu: {' '.join(command)} returned {done.returncode}")
        result = json.loads(file.read_text())
    return result["rows"], result["meta"]


def keys_like(order, n, keys):
    """Keys of the distributions of benchmarks/keyed/distributions.cpp, from another generator."""
    generator = np.random.default_rng(5)
    if order == "zipf":
        apart = 7919
        while math.gcd(apart, keys) != 1:
            apart += 1
        rank = np.power(keys + 1.0, generator.random(n)) - 1
        return rank.astype(np.int64) * apart % keys
    drawn = generator.integers(0, keys, n)
    return np.sort(drawn) if order == "ordered" else drawn


def times_of_bincount(row, seconds):
    keys = keys_like(row["distribution"], row["n"], row["keys"])
    weights = np.random.default_rng(6).integers(-127, 128, row["n"]) / 128
    given = (weights,) if row["operation"] == "sum" else ()
    times, end = [], time.perf_counter() + seconds
    while len(times) < 5 or (len(times) < 25 and time.perf_counter() < end):
        start = time.perf_counter()
        np.bincount(keys, *given, minlength=row["keys"])
        times.append(1e3 * (time.perf_counter() - start))
    return times


def row_of(row, times):
    same = ("op", "operation", "precision", "n", "keys", "distribution", "components")
    return {**{key: row[key] for key in same}, "method": "bincount", "median_ms": statistics.median(times),
            "min_ms": min(times), "max_ms": max(times), "samples": len(times)}  # fmt: skip


def identity(row):
    return tuple(row[key] for key in ("operation", "precision", "keys", "distribution", "components"))


def compare(rows, seconds):
    """Adds rows of bincount and, to them and those of the loop, their time relative to ours; prints these."""
    print("     keys  order    type   components  operation   plain loop  bincount   times Quadrat's")
    lines = {}
    for row in rows:
        if row["operation"] != "functor":
            lines.setdefault(identity(row), {})[row["method"]] = row
    for (operation, precision, keys, order, components), line in lines.items():
        if "auto" not in line or "min_ms" not in line["auto"]:
            sys.exit(f"compare_keyed_cpu: the program has no time of {operation} for {keys} keys")
        if operation in ("sum", "count") and precision == "double" and components == 1:
            line["bincount"] = row_of(line["auto"], times_of_bincount(line["auto"], seconds))
            rows.append(line["bincount"])
        text = ""
        for name in ("plain_loop", "bincount"):
            if name in line:
                line[name]["times_ours"] = line[name]["min_ms"] / line["auto"]["min_ms"]
            text += f"{line[name]['times_ours']:>12.2f}" if name in line else " " * 12
        print(f"{keys:>9}  {order:<8} {precision:<7} {components:>9}  {operation:<9}{text}", flush=True)
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default=str(SOURCE / "build" / "cpu" / "bin" / "quadrat"))
    parser.add_argument("--quick", action="store_true", help="small sizes, in seconds")
    parser.add_argument("--json", help="write the rows to this file")
    options = parser.parse_args()
    rows, meta = ours(options)
    rows = compare(rows, 0.1 if options.quick else 0.5)
    if options.json:
        meta = {key: meta[key] for key in ("version", "commit", "device", "compiler", "threads") if key in meta}
        meta |= {"topic": "compare_keyed_cpu", "python": platform.python_version(), "numpy": np.__version__}
        pathlib.Path(options.json).write_text(json.dumps({"meta": meta, "rows": rows}, indent=1) + "\n")


if __name__ == "__main__":
    main()
