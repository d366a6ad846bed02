#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Neighbor lists through Python beside those of other packages, on the same points, in one run; what a call costs beyond
its work; how long the import takes.

    pip install numpy scipy ase matscipy vesin freud-analysis
    benchmarks/compare_python.py [--package build/cpu/python] [--calls] [--gpu] [--quick] [--json FILE]

Uniform points with 40 neighbors on average in periodic boxes, cubic and triclinic, float64; pairs i, j with shifts,
distances and vectors, except where a package has fewer (freud: no shifts; SciPy: each pair once, indices alone, cubic
boxes: "quadrat half ij" makes the same). Two threads for everyone who uses threads. Times are medians; those of others
include building their grid or tree. A package that is not installed is left out, and so are sizes at which one took too
long before.
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

    def own_pairs(points, cell):
        return lambda: quadrat.neighbor_list(points, 1.0, box=cell, outputs="ij", half=True, threads=THREADS)

    found = {"quadrat": own, "quadrat NeighborList": own_updated, "quadrat half ij": own_pairs}
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


def overhead_of(quadrat, call, calls=200, repetitions=9):
    """Seconds of a call, and those of them that are not spent in the library: medians."""
    whole, beyond = [], []
    call()
    for _ in range(repetitions):
        quadrat._core.work_seconds()
        start = time.perf_counter()
        for _ in range(calls):
            call()
        seconds = time.perf_counter() - start
        whole.append(seconds / calls)
        beyond.append((seconds - quadrat._core.work_seconds()) / calls)
    return statistics.median(whole), statistics.median(beyond)


def overheads(quadrat, add, array=lambda a: a, device="cpu"):
    """Calls with next to no work. `array` puts an array of NumPy where the calls shall work."""
    import numpy as np

    points, box = array(np.array([[0.5, 0.5, 0.5], [0.6, 0.5, 0.5]])), [3.0, 3.0, 3.0]
    neighbors = quadrat.NeighborList(0.2, skin=0.1, outputs="ijSdD", threads=1)
    plan = quadrat.SpreadPlan(box, 4, 4, threads=1).set_points(points)
    transform = quadrat.Nufft((4, 4, 4), 1e-3, threads=1).set_points(points)
    sums = quadrat.Ewald(1e-3, threads=1)
    values, charges, keys = array(np.ones(2)), array(np.array([1.0, -1.0])), array(np.array([0, 1]))
    waves = array(np.ones(2, dtype=complex))
    calls = {
        "neighbor_list": lambda: quadrat.neighbor_list(points, 0.2, box=box, threads=1),
        "NeighborList.update": lambda: neighbors.update(points, box=box),
        "NeighborList.arrays": lambda: neighbors.arrays(),
        "knn": lambda: quadrat.knn(points, 1, box=box, threads=1),
        "clusters": lambda: quadrat.clusters(points, 0.2, box=box, threads=1),
        "SpreadPlan.spread": lambda: plan.spread(values),
        "Nufft.type1": lambda: transform.type1(waves),
        "Ewald.compute": lambda: sums.compute(points, charges, box),
        "reduce_by_key": lambda: quadrat.reduce_by_key(keys, values, key_count=2, threads=1),
    }
    for name, call in calls.items():
        whole, beyond = overhead_of(quadrat, call)
        add({"op": "overhead", "device": device, "method": name, "median_s": whole, "beyond_work_s": beyond})


def on_gpu(quadrat, sizes, add):
    """Lists of PyTorch's arrays in the memory of a GPU, synchronized, and overheads there."""
    import numpy as np
    import torch

    overheads(quadrat, add, lambda a: torch.from_numpy(a).cuda(), "cuda")
    for count in sizes:
        edge = (count * 4 / 3 * np.pi / 40) ** (1 / 3)
        for dtype in (torch.float32, torch.float64):
            points = torch.rand((count, 3), dtype=dtype, device="cuda") * edge
            box = [edge] * 3
            neighbors = quadrat.NeighborList(1.0, outputs="ijSdD")
            calls = {
                "quadrat": lambda: quadrat.neighbor_list(points, 1.0, box=box, outputs="ijSdD"),
                "quadrat NeighborList": lambda: (neighbors.update(points, box=box), neighbors.arrays()),
                "quadrat, indices and shifts": lambda: quadrat.neighbor_list(points, 1.0, box=box, outputs="ijS"),
            }
            for name, call in calls.items():
                add({"op": "neighbor_list", "device": "cuda", "precision": str(dtype)[6:], "shape": "cubic", "n": count,
                     "method": name, "median_s": median_of(call, 9)})  # fmt: skip


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
    parser.add_argument("--gpu", action="store_true", help="arrays of PyTorch in the memory of a GPU instead")
    parser.add_argument("--calls", action="store_true", help="overheads and the import alone")
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
        if "beyond_work_s" in row:
            shown = f"{row['beyond_work_s'] * 1e6:8.1f} us beyond the work"
        what = f"{row['op']:<14} {row.get('shape', ''):<10} {row.get('n', ''):>8} {row['method']:<28}"
        print(f"{what} {row['median_s'] * 1e3:10.4f} ms {shown}", flush=True)

    sizes = (1000, 10_000) if arguments.quick else (1000, 10_000, 100_000, 1_000_000)
    if arguments.gpu:
        on_gpu(quadrat, () if arguments.calls else sizes if arguments.quick else (*sizes, 4_000_000), add)
    else:
        if not arguments.calls:
            compare(quadrat, sizes, 5, add)
        overheads(quadrat, add)
    with_numpy, numpy_alone = import_seconds(arguments.package)
    add({"op": "import", "method": "quadrat", "median_s": with_numpy, "numpy_s": numpy_alone})
    if arguments.json:
        names = ("numpy", "torch", "vesin", "ase", "matscipy", "freud-analysis", "scipy")
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
