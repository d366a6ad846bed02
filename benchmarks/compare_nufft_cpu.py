#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Non-uniform Fourier transforms on the CPU beside finufft and ducc0, on the same points, in one run.

    python3 -m venv build/finufft && build/finufft/bin/pip install finufft ducc0      once
    build/finufft/bin/python benchmarks/compare_nufft_cpu.py [--program build/cpu/bin/quadrat] [--quick] [--json FILE]

The cases are those of `quadrat bench nufft --device cpu`: uniform points, complex values in double precision; with
--full a million points, and 10^6, 1024^2 or 128^3 modes. Everyone has two threads. A time is the median, in
milliseconds, of setting the points and transforming once, the least of --rounds in which all take turns; plans are
made before where there are any (finufft has them; of ducc0 the call that does all is timed). "error" is the relative l2
error of eight results against direct sums; of Quadrat of sixteen others.
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

os.environ["OMP_NUM_THREADS"] = "2"
try:
    import ducc0
    import finufft
    import numpy as np
except ImportError as problem:
    sys.exit(f"compare_nufft_cpu: {problem}; pip install finufft ducc0")

from compare_spread_cpu import SOURCE, THREADS, random_unit, timed


def waves(k, x):
    """exp(i k . x) of the rows of k and x; angles of millions keep their digits."""
    angle = sum(np.longdouble(a) * b.astype(np.longdouble) for a, b in zip(k, x))
    return np.exp(1j * np.fmod(angle, 2 * np.longdouble(math.pi) + np.longdouble(2.4492935982947064e-16)).astype(float))


class Case:
    """Input of a row, and both other libraries for it."""

    def __init__(self, row):
        self.type, self.dim, self.tolerance, modes = row["type"], row["dim"], row["tolerance"], row["modes"]
        self.shape = (modes,) * self.dim
        self.points = (math.pi * random_unit(row["n"] * self.dim, 61)).reshape(-1, self.dim)
        self.axes = [np.ascontiguousarray(axis) for axis in self.points.T]
        size = row["n"] if self.type == 1 else modes**self.dim
        self.input = random_unit(2 * size, 62).view(np.complex128).reshape(-1 if self.type == 1 else self.shape)
        self.out = np.zeros(self.shape if self.type == 1 else row["n"], dtype=complex)

    def error(self):
        """Of what is in `out`."""
        found, expected = [], []
        for index in np.random.default_rng(1).integers(0, self.out.size, 8):
            found.append(self.out.reshape(-1)[index])
            if self.type == 1:
                k = [i - n // 2 for i, n in zip(np.unravel_index(index, self.shape), self.shape)]
                expected.append(np.sum(self.input * waves(k, self.axes)))
                continue
            sums = self.input  # over one axis at a time, the last one first
            for x in -self.points[index, ::-1]:
                n = sums.shape[-1]
                sums = sums @ waves([x], [np.arange(n) - n // 2])
            expected.append(sums)
        difference = np.linalg.norm(np.array(found) - np.array(expected))
        return float(difference / np.linalg.norm(expected))

    def finufft(self):
        plan = finufft.Plan(self.type, self.shape, eps=self.tolerance, dtype="complex128", nthreads=THREADS,
                            isign=1 if self.type == 1 else -1)  # fmt: skip

        def run():
            plan.setpts(*self.axes)
            plan.execute(self.input, out=self.out)

        return run

    def ducc0(self):
        same = {"coord": self.points, "epsilon": self.tolerance, "nthreads": THREADS, "out": self.out}
        if self.type == 1:
            return lambda: ducc0.nufft.nu2u(points=self.input, forward=False, **same)
        return lambda: ducc0.nufft.u2nu(grid=self.input, forward=True, **same)


def ours(options, dim):
    """The rows of the cases in a dimension, and the description of the run."""
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "nufft.json"
        command = [options.program, "bench", "nufft", "--full" if options.full else "--quick", "--device", "cpu",
                   "--threads", str(THREADS), "--op", f"{dim}d", "--json", str(file)]  # fmt: skip
        done = subprocess.run(command, stdout=subprocess.DEVNULL, check=False)
        if done.returncode != 0:
            sys.exit(f"compare_nufft_cpu: {' '.join(command)} returned {done.returncode}")
        result = json.loads(file.read_text())
    cases = [row for row in result["rows"] if row["type"] < 3 and (row["precision"], row["value"]) == ("double", "complex")]
    return cases, result["meta"]


def rows_of(row, seconds):
    """The row and those of the others."""
    case, rows = Case(row), [{**row, "method": "quadrat", "median_ms": row["set_and_execute_ms"]}]
    for key in ("min_ms", "max_ms", "samples", "stable", "points_per_s", "set_points_ms", "set_and_execute_ms"):
        rows[0].pop(key)
    same = {key: row[key] for key in ("op", "precision", "type", "dim", "n", "modes", "tolerance", "value")}
    for name in ("finufft", "ducc0"):
        times = timed(getattr(case, name)(), seconds)
        rows.append({**same, "method": name, "median_ms": statistics.median(times), "deviation": case.error()})
    return rows


def rows_of_rounds(options, dim):
    """Rows of all cases in a dimension, in threes, with the least times of all rounds, relative to ours."""
    rounds = []
    for _ in range(options.rounds):
        cases, meta = ours(options, dim)
        rounds.append([rows_of(case, 2 / options.rounds if options.full else 0.3) for case in cases])
    result = []
    for same_case in zip(*rounds):
        rows = [min(same_method, key=lambda row: row["median_ms"]) for same_method in zip(*same_case)]
        for row in rows:
            row["times_ours"] = row["median_ms"] / rows[0]["median_ms"]
        result.append(rows)
    return result, meta


def print_rows(rows):
    """One line; returns the time of the faster of the others, relative to ours."""
    best = min(row["times_ours"] for row in rows[1:])
    times = "".join(f"{row['median_ms']:>9.1f} ({row['deviation']:.0e})" for row in rows)
    ratios = "".join(f"{row['times_ours']:>9.2f}" for row in rows[1:])
    print(f"{rows[0]['dim']}D   {rows[0]['type']:<5}{rows[0]['tolerance']:<8.0e}{times}{ratios}{best:>9.2f}", flush=True)
    return best


def geometric_mean(numbers):
    return math.exp(statistics.fmean(map(math.log, numbers)))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default=str(SOURCE / "build" / "cpu" / "bin" / "quadrat"))
    parser.add_argument("--dim", type=int, nargs="+", choices=(1, 2, 3), default=(1, 2, 3))
    effort = parser.add_mutually_exclusive_group()
    effort.add_argument("--full", action="store_true", help="a million points, in minutes")
    effort.add_argument("--quick", action="store_true", help="small sizes, in seconds (the default)")
    parser.add_argument("--rounds", type=int, default=1, help="of all cases in a dimension; the least times count")
    parser.add_argument("--json", help="write the rows to this file")
    options = parser.parse_args()
    print("                  ms, set points and transform (error)                  times of Quadrat's")
    print("     type tolerance     quadrat          finufft            ducc0   finufft    ducc0   faster")
    rows, best = [], []
    for dim in options.dim:
        cases, meta = rows_of_rounds(options, dim)
        for case in cases:
            rows += case
            best.append(print_rows(case))
    print(f"geometric mean of the last column: {geometric_mean(best):.2f}")
    if options.json:
        meta = {key: meta[key] for key in ("version", "commit", "device", "compiler", "threads") if key in meta}
        meta |= {"topic": "compare_nufft_cpu", "python": platform.python_version(), "numpy": np.__version__}
        meta |= {"finufft": finufft.__version__, "ducc0": ducc0.__version__}
        pathlib.Path(options.json).write_text(json.dumps({"meta": meta, "rows": rows}, indent=1) + "\n")


if __name__ == "__main__":
    main()
