#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Nearest neighbors, clusters and g(r) on the CPU beside those of other libraries, on the same points, in one run.

    pip install numpy scipy pykdtree scikit-learn freud-analysis
    benchmarks/compare_searches.py [--program build/cpu/bin/quadrat] [--quick] [--json FILE]

A million uniform points in a unit cube, and two threads for everyone (scikit-learn uses them for distances only). The
times of Quadrat are those that the program reports for the search, without reading files; those of the others include
building their tree or grid. Times are medians in seconds. A library that is not installed is left out.
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
import tempfile
import time

THREADS = 2
SOURCE = pathlib.Path(__file__).resolve().parents[1]
os.environ["OMP_NUM_THREADS"] = str(THREADS)  # before pykdtree is imported
sys.path.insert(0, os.environ.get("QUADRAT_PYTHON_PACKAGES", str(SOURCE / "build" / "python")))
try:
    import numpy as np
except ImportError as problem:
    sys.exit(f"compare_searches: {problem}; script/python-packages installs what is missing")


class Comparison:
    def __init__(self, program, repetitions):
        self.program = program
        self.repetitions = repetitions
        self.folder = tempfile.TemporaryDirectory()
        self.rows = []
        self.versions = {"numpy": np.__version__}

    def library(self, name, package):
        """The module, or None if it is not installed."""
        try:
            module = importlib.import_module(name)
        except ImportError:
            print(f"{package} is not installed")
            return None
        self.versions[package] = importlib.metadata.version(package)
        return module

    def ours(self, points, *arguments):
        """The median of the seconds of a search, and the last report."""
        file = pathlib.Path(self.folder.name) / "points.npy"
        np.save(file, points)
        seconds = []
        for _ in range(self.repetitions):
            command = [self.program, arguments[0], str(file), *map(str, arguments[1:]), "--threads", str(THREADS),
                       "--device", "cpu", "--json"]  # fmt: skip
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            if done.returncode != 0:
                sys.exit(f"compare_searches: {' '.join(command)}: {done.stderr}")
            report = json.loads(done.stdout)
            performance = report["performance"]
            seconds.append(performance.get("search_seconds", performance["total_seconds"]))
        return statistics.median(seconds), report

    def timed(self, run):
        seconds, result = [], None
        for _ in range(self.repetitions):
            start = time.perf_counter()
            result = run()
            seconds.append(time.perf_counter() - start)
        return statistics.median(seconds), result

    def add(self, what, points, own_seconds, others):
        for method, seconds in [("quadrat", own_seconds), *others]:
            row = {"op": what, "method": method, "precision": str(points.dtype), "n": len(points),
                   "median_s": seconds, "times_ours": seconds / own_seconds}  # fmt: skip
            self.rows.append(row)
            print(f"{what:<28} {row['precision']:<8} {method:<14} {seconds:>8.3f} s   {row['times_ours']:>6.2f} x")


def compare_nearest(comparison, points, k):
    seconds, _ = comparison.ours(points, "neighbors", "--knn", k)
    others = []
    # Queries of these libraries count the point itself.
    if scipy_spatial := comparison.library("scipy.spatial", "scipy"):
        run = lambda: scipy_spatial.cKDTree(points).query(points, k + 1, workers=THREADS)  # noqa: E731
        others.append(("cKDTree", comparison.timed(run)[0]))
    if kdtree := comparison.library("pykdtree.kdtree", "pykdtree"):
        others.append(("pykdtree", comparison.timed(lambda: kdtree.KDTree(points).query(points, k=k + 1))[0]))
    comparison.add(f"nearest neighbors, k = {k}", points, seconds, others)


def compare_clusters(comparison, points, cutoff, min_points):
    seconds, report = comparison.ours(points, "clusters", "--cutoff", cutoff, "--min-points", min_points)
    others = []
    if cluster := comparison.library("sklearn.cluster", "scikit-learn"):
        scan = cluster.DBSCAN(eps=cutoff, min_samples=min_points, n_jobs=THREADS)
        theirs, labels = comparison.timed(lambda: scan.fit_predict(points))
        if labels.max() + 1 != report["clusters"]:
            sys.exit(f"compare_searches: {report['clusters']} clusters, scikit-learn {labels.max() + 1}")
        others.append(("scikit-learn", theirs))
    comparison.add(f"clusters, {min_points} in {cutoff}", points, seconds, others)


def compare_rdf(comparison, points, cutoff):
    box = ("--box", "1,1,1", "--periodic", "xyz")
    seconds, report = comparison.ours(points, "neighbors", "--rdf", "--cutoff", cutoff, *box)
    others = []
    if freud := comparison.library("freud", "freud-analysis"):
        freud.parallel.set_num_threads(THREADS)
        rdf = freud.density.RDF(bins=200, r_max=cutoff)
        around_zero = points - points.dtype.type(0.5)
        theirs, _ = comparison.timed(lambda: rdf.compute((freud.box.Box(1, 1, 1), around_zero)))
        found = int(rdf.bin_counts.sum())
        if abs(found - report["pairs"]) > 1e-5 * found:  # these libraries round positions differently
            sys.exit(f"compare_searches: {report['pairs']} pairs, freud {found}")
        others.append(("freud", theirs))
    comparison.add(f"g(r), cutoff {cutoff}", points, seconds, others)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default=str(SOURCE / "build" / "cpu" / "bin" / "quadrat"))
    parser.add_argument("--quick", action="store_true", help="few points, in seconds")
    parser.add_argument("--json", help="write the rows to this file")
    options = parser.parse_args()
    comparison = Comparison(options.program, 1 if options.quick else 3)
    n = 10_000 if options.quick else 1_000_000
    random = np.random.default_rng(1)
    for precision in (np.float32, np.float64):
        points = random.random((n, 3)).astype(precision)
        for k in (8, 32):
            compare_nearest(comparison, points, k)
    few = points[: n // 5]
    spacing = float(len(few)) ** (-1 / 3)
    compare_clusters(comparison, few, round(0.9 * spacing, 6), 5)
    compare_rdf(comparison, few.astype(np.float32), round(4 * spacing, 6))
    if options.json:
        program = json.loads(subprocess.run([options.program, "info", "--json"], capture_output=True, text=True,
                                            check=True).stdout)  # fmt: skip
        meta = {"topic": "compare_searches", "threads": THREADS, "python": platform.python_version(),
                "program": program.get("program", {}), **comparison.versions}  # fmt: skip
        pathlib.Path(options.json).write_text(json.dumps({"meta": meta, "rows": comparison.rows}, indent=1) + "\n")


if __name__ == "__main__":
    main()
