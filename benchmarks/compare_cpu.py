#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Full neighbor lists on the CPU beside those of vesin and SciPy's cKDTree, on the same points, in one run.

    script/python-packages                                    once: installs vesin and SciPy in build/python
    benchmarks/compare_cpu.py [--program build/cpu/bin/quadrat] [--op NAME] [--quick] [--json FILE]

The points are those of `quadrat bench neighbors --op csr` and `--op separations`: uniform in a cube, 40 neighbors each,
double precision. In csr the cube is open and a list has indices; in separations it is periodic and a list also has
vectors and shifts, which cKDTree does not give. Everyone has two threads (cKDTree uses them in query_ball_point only),
gives all pairs both ways and fills memory that it has kept from the call before, if it keeps any; every number of pairs
must be the same. Times are medians in milliseconds, from coordinates in memory to a finished list, with whatever tree
or grid that takes.
"""

import argparse
import json
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
    import scipy
    import scipy.spatial
    import vesin
except ImportError as problem:
    sys.exit(f"compare_cpu: {problem}; script/python-packages installs what is missing")

THREADS = 2
NEIGHBORS = 40


def bench_points(n):
    """random_points<double>(n, 0.5, n) of benchmarks/harness/points.hpp."""
    with np.errstate(over="ignore"):
        word = np.arange(1, 3 * n + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
        word += np.uint64(n * 0xD1342543DE82EF95 % 2**64)
        word = (word ^ (word >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        word = (word ^ (word >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        word ^= word >> np.uint64(31)
    unit = (word >> np.uint64(11)).astype(np.float64) * 2.0**-53
    return (0.5 * (2 * unit - 1)).reshape(n, 3)


def cutoff_for(n):
    return (NEIGHBORS / (n * 4 / 3 * np.pi)) ** (1 / 3)


def of_vesin(points, cutoff, periodic=False, quantities="ij"):
    neighbors = vesin.NeighborList(cutoff=cutoff, full_list=True, n_threads=THREADS)
    arguments = {"points": points, "box": np.eye(3), "periodic": periodic, "quantities": quantities, "copy": False}
    return lambda: len(neighbors.compute(**arguments)[0])


def of_vesin_separations(points, cutoff):
    return of_vesin(points, cutoff, periodic=True, quantities="ijSD")


def of_query_pairs(points, cutoff):
    def run():
        half = scipy.spatial.cKDTree(points).query_pairs(cutoff, output_type="ndarray")
        return len(np.concatenate([half, half[:, ::-1]]))

    return run


def of_query_ball_point(points, cutoff):
    def run():
        tree = scipy.spatial.cKDTree(points)
        return sum(map(len, tree.query_ball_point(points, cutoff, workers=THREADS))) - len(points)  # without itself

    return run


OTHERS = {
    "csr": {
        "vesin": of_vesin,
        "cKDTree.query_pairs": of_query_pairs,
        "cKDTree.query_ball_point": of_query_ball_point,
    },
    "separations": {"vesin": of_vesin_separations},
}


def timed(run, seconds):
    """The result, and the times in milliseconds of as many calls as fit, from 3 to 15, after a warm-up call."""
    result = run()
    times, end = [], time.perf_counter() + seconds
    while len(times) < 3 or (len(times) < 15 and time.perf_counter() < end):
        start = time.perf_counter()
        run()
        times.append(1e3 * (time.perf_counter() - start))
    return result, times


def ours(program, operations, quick):
    """The rows of the automatic choice, in double precision; and the description of the run."""
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "neighbors.json"
        command = [program, "bench", "neighbors", "--quick" if quick else "--full", "--device", "cpu", "--threads",
                   str(THREADS), "--method", "strips", "--json", str(file)]  # fmt: skip
        for operation in operations:
            command += ["--op", operation]
        done = subprocess.run(command, stdout=subprocess.DEVNULL, check=False)
        if done.returncode != 0:
            sys.exit(f"compare_cpu: {' '.join(command)} returned {done.returncode}")
        result = json.loads(file.read_text())
    rows = [row for row in result["rows"] if row["method"] == "auto" and row["precision"] == "double"]
    return rows, result["meta"]


def row_of(method, own, pairs, times):
    same = ("op", "precision", "dim", "n", "distribution", "neighbors")
    return {
        **{key: own[key] for key in same}, "method": method, "pairs": pairs, "median_ms": statistics.median(times),
        "min_ms": min(times), "max_ms": max(times), "samples": len(times),
        "pairs_per_s": 1e3 * pairs / statistics.median(times),
    }  # fmt: skip


def compare(row, seconds):
    """Rows of all libraries for the points of one of ours; prints them with their ratio to Quadrat."""
    n = row["n"]
    points, cutoff = bench_points(n), cutoff_for(n)
    rows = [{**row, "method": f"quadrat ({row['chosen']})"}]
    for name, make in OTHERS[row["op"]].items():
        pairs, times = timed(make(points, cutoff), seconds)
        if pairs != row["pairs"]:
            sys.exit(f"compare_cpu: {name} found {pairs} pairs of {n} points, quadrat {row['pairs']}")
        rows.append(row_of(name, row, pairs, times))
    for other in rows:
        other["times_ours"] = other["median_ms"] / row["median_ms"]
        times = f"{other['median_ms']:>10.1f} ms   {other['times_ours']:>6.2f} x"
        print(f"{row['op']:<12} {n:>9}  {other['method']:<26} {times}")
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default=str(SOURCE / "build" / "cpu" / "bin" / "quadrat"))
    parser.add_argument("--op", choices=OTHERS, help="only these rows")
    parser.add_argument("--quick", action="store_true", help="one small size, in seconds")
    parser.add_argument("--json", help="write the rows to this file")
    options = parser.parse_args()
    os.environ["OMP_NUM_THREADS"] = str(THREADS)
    own_rows, meta = ours(options.program, [options.op] if options.op else OTHERS, options.quick)
    rows = []
    for row in own_rows:
        rows += compare(row, 0.5 if options.quick else 10)
    if options.json:
        versions = {"vesin": vesin.__version__, "scipy": scipy.__version__, "numpy": np.__version__}
        meta = {key: meta[key] for key in ("version", "commit", "device", "compiler", "threads") if key in meta}
        meta |= {"topic": "compare_cpu", "python": platform.python_version(), **versions}
        pathlib.Path(options.json).write_text(json.dumps({"meta": meta, "rows": rows}, indent=1) + "\n")


if __name__ == "__main__":
    main()
