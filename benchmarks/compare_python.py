#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Neighbor lists through Python beside those of other packages, on the same points, in one run; what a call costs beyond
its work; how long the import takes.

    pip install numpy scipy ase matscipy vesin freud-analysis
    benchmarks/compare_python.py [--package build/cpu/python] [--quick] [--json FILE]

Uniform points with 40 neighbors on average in periodic boxes, cubic and triclinic, float64; pairs i, j with shifts,
distances and vectors, except where a package has fewer (freud: no shifts; SciPy: indices alone, cubic boxes). Two
threads for everyone who uses threads. Times are medians; those of others include building their grid or tree. A
package that is not installed is left out, and so are sizes at which one took too long before.
"""

import argparse
import importlib
import importlib.metadata
import json
import os
import pathlib
import platform
import statistics
import subprocess
import sys
import time

THREADS = 2
SOURCE = pathlib.Path(__file__).resolve().parents[1]
os.environ["OMP_NUM_THREADS"] = str(THREADS)
PACKAGES = os.environ.get("QUADRAT_PYTHON_PACKAGES", str(SOURCE / "build" / "python"))
LONGEST = 20.0  # seconds


def median_of(call, repetitions):
    """After one call to warm up, unless that takes seconds."""
    start = time.perf_counter()
    call()
    first = time.perf_counter() - start
    if first > LONGEST / 10:
        return first
    seconds = []
    for _ in range(repetitions):
        start = time.perf_counter()
        call()
        seconds.append(time.perf_counter() - start)
    return statistics.median(seconds)


def library(name):
    try:
        return importlib.import_module(name)
    except ImportError:
        print(f"{name} is not installed")
        return None


def packages(quadrat):
    """By name: a function of points and cell that makes a call without arguments, or None if it cannot serve."""
    import numpy as np

    def own(points, cell):
        return lambda: quadrat.neighbor_list(points, 1.0, box=cell, outputs="ijSdD", threads=THREADS)

    def own_updated(points, cell):
        neighbors = quadrat.NeighborList(1.0, outputs="ijSdD", threads=THREADS)
        return lambda: (neighbors.update(points, box=cell), neighbors.arrays())

    found = {"quadrat": own, "quadrat NeighborList": own_updated}
    if vesin := library("vesin"):
        found["vesin"] = lambda points, cell: (
            lambda: vesin.NeighborList(cutoff=1.0, full_list=True).compute(points, cell, True, "ijSdD")
        )
    ase = library("ase")
    if ase and (matscipy := library("matscipy.neighbours")):
        found["matscipy"] = lambda points, cell: (
            lambda atoms=ase.Atoms(positions=points, cell=cell, pbc=True): matscipy.neighbour_list("ijSdD", atoms, 1.0)
        )
    if ase and (neighborlist := library("ase.neighborlist")):
        found["ase"] = lambda points, cell: (
            lambda: neighborlist.primitive_neighbor_list("ijSdD", [True] * 3, cell, points, 1.0)
        )
    if freud := library("freud"):
        freud.parallel.set_num_threads(THREADS)

        def with_freud(points, cell):
            box = freud.box.Box.from_matrix(cell.T)
            wrapped = box.wrap(points.astype(np.float32))
            arguments = {"mode": "ball", "r_max": 1.0, "exclude_ii": True}
            return lambda: freud.locality.AABBQuery(box, wrapped).query(wrapped, arguments).toNeighborList()

        found["freud"] = with_freud
    if spatial := library("scipy.spatial"):

        def with_scipy(points, cell):
            lengths = cell.diagonal()
            if (cell != np.diag(lengths)).any():
                return None
            return lambda: spatial.cKDTree(points, boxsize=lengths).query_pairs(1.0, output_type="ndarray")

        found["scipy"] = with_scipy
    return found


def compare(quadrat, sizes, repetitions, add):
    import numpy as np

    calls = packages(quadrat)
    slow = set()
    for count in sizes:
        edge = (count * 4 / 3 * np.pi / 40) ** (1 / 3)
        for shape in ("cubic", "triclinic"):
            cell = np.eye(3) * edge
            if shape == "triclinic":
                cell = np.array([[edge, 0, 0], [edge / 3, edge, 0], [edge / 4, edge / 5, edge]])
            points = np.random.default_rng(1).random((count, 3)) @ cell
            own = None
            for name, make in calls.items():
                call = None if name in slow and not name.startswith("quadrat") else make(points, cell)
                if call is None:
                    continue
                seconds = median_of(call, repetitions)
                if seconds > LONGEST / 10:
                    slow.add(name)
                own = own or seconds
                add({"op": "neighbor_list", "shape": shape, "n": count, "method": name, "median_s": seconds,
                     "times_ours": seconds / own})  # fmt: skip


def overheads(quadrat, add):
    """Calls with next to no work."""
    import numpy as np

    points, box = np.array([[0.5, 0.5, 0.5], [0.6, 0.5, 0.5]]), [3.0, 3.0, 3.0]
    neighbors = quadrat.NeighborList(0.2, outputs="ijSdD", threads=1)
    plan = quadrat.SpreadPlan(box, 4, 4, threads=1).set_points(points)
    values = np.ones(2)
    keys = np.array([0, 1])
    calls = {
        "neighbor_list": lambda: quadrat.neighbor_list(points, 0.2, box=box, threads=1),
        "NeighborList.update, arrays": lambda: (neighbors.update(points, box=box), neighbors.arrays()),
        "knn": lambda: quadrat.knn(points, 1, box=box, threads=1),
        "SpreadPlan.spread": lambda: plan.spread(values),
        "reduce_by_key": lambda: quadrat.reduce_by_key(keys, values, key_count=2, threads=1),
    }
    for name, call in calls.items():
        add({"op": "overhead", "method": name, "median_s": statistics.median(median_of(call, 200) for _ in range(5))})


def import_seconds(package):
    """Of this package and NumPy together, and of NumPy alone."""
    environment = {**os.environ, "PYTHONPATH": f"{package}:{PACKAGES}"}
    program = "import time; t = time.perf_counter(); import {}; print(time.perf_counter() - t)"

    def once(name):
        command = [sys.executable, "-c", program.format(name)]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
        return float(done.stdout)

    return statistics.median(once("quadrat") for _ in range(9)), statistics.median(once("numpy") for _ in range(9))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--package", default=str(SOURCE / "build" / "cpu" / "python"), help="folder with the package")
    parser.add_argument("--quick", action="store_true", help="small sizes")
    parser.add_argument("--json", help="write the result to this file")
    arguments = parser.parse_args()
    sys.path[:0] = [arguments.package, PACKAGES]
    try:
        quadrat = importlib.import_module("quadrat")
    except ImportError as problem:
        sys.exit(f"compare_python: {problem}; build it with script/test, or name its folder with --package")
    rows = []

    def add(row):
        rows.append(row)
        shown = f"{row['times_ours']:8.2f} x" if "times_ours" in row else ""
        what = f"{row['op']:<14} {row.get('shape', ''):<10} {row.get('n', ''):>8} {row['method']:<28}"
        print(f"{what} {row['median_s'] * 1e3:10.4f} ms {shown}", flush=True)

    compare(quadrat, (1000, 10_000) if arguments.quick else (1000, 10_000, 100_000, 1_000_000), 5, add)
    overheads(quadrat, add)
    with_numpy, numpy_alone = import_seconds(arguments.package)
    add({"op": "import", "method": "quadrat", "median_s": with_numpy, "numpy_s": numpy_alone})
    if arguments.json:
        names = ("numpy", "vesin", "ase", "matscipy", "freud-analysis", "scipy")
        versions = {}
        for name in names:
            try:
                versions[name] = importlib.metadata.version(name)
            except importlib.metadata.PackageNotFoundError:
                continue
        meta = {"topic": "python", "threads": THREADS, "machine": platform.processor() or platform.machine(),
                "python": platform.python_version(), "versions": versions}  # fmt: skip
        pathlib.Path(arguments.json).write_text(json.dumps({"meta": meta, "rows": rows}, indent=1) + "\n")


if __name__ == "__main__":
    main()
