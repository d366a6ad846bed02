#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Spreading and interpolating on the CPU beside finufft, on the same points, in one run.

    python3 -m venv build/finufft && build/finufft/bin/pip install finufft      once
    build/finufft/bin/python benchmarks/compare_spread_cpu.py [--program build/cpu/bin/quadrat] [--quick] [--json FILE]

The case is that of `quadrat bench mesh`: uniform points in a periodic cube, complex values in double precision, windows
of 6 mesh points; 1M points on 128^3. Everyone has two threads. finufft spreads and interpolates only
(spreadinterponly); that its window has 6 points is checked. Times are medians in milliseconds, of set_points (setpts),
of the execution with values in the caller's order and the mesh cleared, and of setting the points and spreading once:
Quadrat places and sorts points where they are first used.
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

THREADS = 2
ORDER = 6
SOURCE = pathlib.Path(__file__).resolve().parents[1]
os.environ["OMP_NUM_THREADS"] = str(THREADS)
sys.path.insert(0, os.environ.get("QUADRAT_PYTHON_PACKAGES", str(SOURCE / "build" / "python")))
try:
    import finufft
    import numpy as np
except ImportError as problem:
    sys.exit(f"compare_spread_cpu: {problem}; pip install finufft")

OPERATIONS = {"set_points": None, "spread": 1, "interpolate": 2}  # and finufft's types


def random_unit(n, seed):
    """random_points<double> of benchmarks/harness/points.hpp, in [-1, 1)."""
    with np.errstate(over="ignore"):
        word = np.arange(1, n + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
        word += np.uint64(seed * 0xD1342543DE82EF95 % 2**64)
        word = (word ^ (word >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        word = (word ^ (word >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        word ^= word >> np.uint64(31)
    return 2 * (word >> np.uint64(11)).astype(np.float64) * 2.0**-53 - 1


def timed(run, seconds):
    """Times in milliseconds of as many calls as fit, from 5 to 25, after a warm-up call."""
    run()
    times, end = [], time.perf_counter() + seconds
    while len(times) < 5 or (len(times) < 25 and time.perf_counter() < end):
        start = time.perf_counter()
        run()
        times.append(1e3 * (time.perf_counter() - start))
    return times


def plan_of_finufft(kind, mesh):
    """With these options its window has 6 points."""
    return finufft.Plan(kind, (mesh,) * 3, eps=1e-5, dtype="complex128", spreadinterponly=1, upsampfac=2.0,
                        nthreads=THREADS)  # fmt: skip


def check_width():
    """One point between mesh points reaches as many of them as the window is wide."""
    plan = plan_of_finufft(1, 32)
    plan.setpts(*(np.array([x]) for x in (0.3, 0.2, 0.1)))
    reached = np.count_nonzero(plan.execute(np.array([1 + 0j])))
    if reached != ORDER**3:
        sys.exit(f"compare_spread_cpu: finufft's window reaches {reached} mesh points instead of {ORDER**3}")


def times_of_finufft(n, mesh, seconds):
    points = [np.ascontiguousarray(axis) for axis in (np.pi * random_unit(3 * n, 51)).reshape(n, 3).T]
    at_points = random_unit(2 * n, 52).view(np.complex128)
    on_mesh = random_unit(2 * mesh**3, 53).view(np.complex128).reshape((mesh,) * 3)
    spread, interpolate = plan_of_finufft(1, mesh), plan_of_finufft(2, mesh)
    times = {"set_points": timed(lambda: spread.setpts(*points), seconds)}
    interpolate.setpts(*points)
    mesh_out, values_out = np.empty_like(on_mesh), np.empty_like(at_points)
    times["spread"] = timed(lambda: spread.execute(at_points, out=mesh_out), seconds)

    def both():
        spread.setpts(*points)
        spread.execute(at_points, out=mesh_out)

    times["set_and_spread"] = timed(both, seconds)
    times["interpolate"] = timed(lambda: interpolate.execute(on_mesh, out=values_out), seconds)
    return times


def ours(program, quick):
    """The rows of the case, by operation; and the description of the run."""
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "mesh.json"
        command = [program, "bench", "mesh", "--quick" if quick else "--full", "--device", "cpu", "--threads",
                   str(THREADS), "--op", *OPERATIONS, "--method", "tiles", "--json", str(file)]  # fmt: skip
        done = subprocess.run(command, stdout=subprocess.DEVNULL, check=False)
        if done.returncode != 0:
            sys.exit(f"compare_spread_cpu: {' '.join(command)} returned {done.returncode}")
        result = json.loads(file.read_text())
    rows = {}
    for row in result["rows"]:
        case = row["precision"] == "double" and row.get("value", "complex") == "complex" and "determinism" not in row
        if case and row["distribution"] == "uniform" and row["order"] == ORDER and "median_ms" in row:
            rows[row["op"]] = row
    if "spread" not in rows:
        sys.exit("compare_spread_cpu: the program has no row of complex values in double precision")
    both = rows["spread"].pop("set_and_execute_ms")
    same = ("precision", "dim", "n", "mesh", "order", "value", "distribution", "method")
    rows["set_and_spread"] = {"op": "set_and_spread", **{key: rows["spread"][key] for key in same}, "median_ms": both}
    return rows, result["meta"]


def row_of(row, times):
    median = statistics.median(times)
    same = {key: row[key] for key in ("op", "precision", "dim", "n", "mesh", "order", "distribution")}
    return {
        **same, "method": "finufft", "value": "complex", "median_ms": median, "min_ms": min(times),
        "max_ms": max(times), "samples": len(times), "points_per_s": 1e3 * row["n"] / median,
    }  # fmt: skip


def compare(own_rows, seconds):
    """Rows of both; prints them with their ratio to Quadrat."""
    spread = own_rows["spread"]
    times = times_of_finufft(spread["n"], spread["mesh"], seconds)
    rows = []
    for operation, row in own_rows.items():
        for other in ({**row, "method": f"quadrat ({row['method']})"}, row_of(row, times[operation])):
            other["times_ours"] = other["median_ms"] / row["median_ms"]
            print(f"{operation:<15} {other['method']:<16} {other['median_ms']:>8.1f} ms   {other['times_ours']:>6.2f} x")
            rows.append(other)
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default=str(SOURCE / "build" / "cpu" / "bin" / "quadrat"))
    parser.add_argument("--quick", action="store_true", help="one small size, in seconds")
    parser.add_argument("--json", help="write the rows to this file")
    options = parser.parse_args()
    check_width()
    own_rows, meta = ours(options.program, options.quick)
    rows = compare(own_rows, 0.5 if options.quick else 5)
    if options.json:
        meta = {key: meta[key] for key in ("version", "commit", "device", "compiler", "threads") if key in meta}
        meta |= {"topic": "compare_spread_cpu", "python": platform.python_version()}
        meta |= {"finufft": finufft.__version__, "numpy": np.__version__}
        pathlib.Path(options.json).write_text(json.dumps({"meta": meta, "rows": rows}, indent=1) + "\n")


if __name__ == "__main__":
    main()
