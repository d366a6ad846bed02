#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Fast Fourier transforms of meshes on the CPU beside ducc0's and KissFFT's, in one run.

    python3 -m venv build/finufft && build/finufft/bin/pip install finufft ducc0      once; apt install libkissfft-float131
    build/finufft/bin/python benchmarks/compare_fft_cpu.py [--program build/cpu/bin/quadrat] [--quick] [--json FILE]

The cases are those of `quadrat bench fft`. Where those want half of the modes along each axis, the others compute all.
Quadrat and ducc0 have two threads; KissFFT has one, and single precision. Times are medians in milliseconds.
"""

import argparse
import ctypes
import json
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
    import numpy as np
except ImportError as problem:
    sys.exit(f"compare_fft_cpu: {problem}; pip install finufft ducc0")

from compare_nufft_cpu import geometric_mean
from compare_spread_cpu import SOURCE, THREADS, random_unit, timed


class Kiss:
    """KissFFT of complex meshes in single precision."""

    def __init__(self):
        try:
            self.library = ctypes.CDLL("libkissfft-float.so.131")
        except OSError as problem:
            print(f"without KissFFT: {problem}")
            self.library = None
            return
        self.library.kiss_fftnd_alloc.restype = ctypes.c_void_p

    def transform(self, mesh):
        """A call that transforms the mesh."""
        shape = (ctypes.c_int * mesh.ndim)(*mesh.shape)
        plan = self.library.kiss_fftnd_alloc(shape, mesh.ndim, 0, None, None)
        out = np.zeros_like(mesh)
        place = lambda array: array.ctypes.data_as(ctypes.c_void_p)  # noqa: E731
        return lambda: self.library.kiss_fftnd(ctypes.c_void_p(plan), place(mesh), place(out))


def ours(options):
    """The rows of this project's own transforms, and the description of the run."""
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "fft.json"
        command = [options.program, "bench", "fft", "--full" if options.full else "--quick", "--device", "cpu",
                   "--threads", str(THREADS), "--method", "own", "--json", str(file)]  # fmt: skip
        done = subprocess.run(command, stdout=subprocess.DEVNULL, check=False)
        if done.returncode != 0:
            sys.exit(f"compare_fft_cpu: {' '.join(command)} returned {done.returncode}")
        result = json.loads(file.read_text())
    return result["rows"], result["meta"]


def ducc_transform(mesh, real):
    if real:
        out = np.zeros(mesh.shape[:-1] + (mesh.shape[-1] // 2 + 1,), dtype=np.result_type(mesh, np.complex64))
        return lambda: ducc0.fft.r2c(mesh, axes=range(mesh.ndim), out=out, nthreads=THREADS)
    out = np.zeros_like(mesh)
    return lambda: ducc0.fft.c2c(mesh, axes=range(mesh.ndim), out=out, nthreads=THREADS)


def compare(row, kiss, seconds):
    """The row and those of the others."""
    real = row["value"] == "real"
    numbers = random_unit(row["n"] * (1 if real else 2), 71).astype("f4" if row["precision"] == "float" else "f8")
    mesh = numbers if real else numbers.view("c8" if row["precision"] == "float" else "c16")
    mesh = mesh.reshape((row["mesh"],) * row["dim"])
    calls = {"ducc0": ducc_transform(mesh, real)}
    if kiss.library and row["precision"] == "float" and not real:
        calls["kissfft"] = kiss.transform(mesh)
    same = {key: row[key] for key in ("op", "precision", "dim", "n", "mesh", "value", "modes")}
    rows = [{**row, "method": "quadrat"}]
    rows += [{**same, "method": name, "median_ms": statistics.median(timed(call, seconds))} for name, call in calls.items()]
    for other in rows:
        other["times_ours"] = other["median_ms"] / row["median_ms"]
    return rows


def print_rows(rows):
    first = rows[0]
    times = "".join(f"   {row['method']} {row['median_ms']:8.2f} ({row['times_ours']:5.2f})" for row in rows)
    print(f"{first['dim']}D {first['mesh']:>8} {first['precision']:<6} {first['value']:<7} {first['modes']:<4}{times}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default=str(SOURCE / "build" / "cpu" / "bin" / "quadrat"))
    effort = parser.add_mutually_exclusive_group()
    effort.add_argument("--full", action="store_true", help="the sizes of transforms of a million points")
    effort.add_argument("--quick", action="store_true", help="small sizes, in seconds (the default)")
    parser.add_argument("--json", help="write the rows to this file")
    options = parser.parse_args()
    cases, meta = ours(options)
    rows, kiss = [], Kiss()
    for case in cases:
        found = compare(case, kiss, 0.5 if options.full else 0.1)
        print_rows(found)
        rows += found
    for method in ("ducc0", "kissfft"):
        for modes in ("all", "half"):
            times = [row["times_ours"] for row in rows if (row["method"], row["modes"]) == (method, modes)]
            if times:
                print(f"geometric mean, {modes} modes: {method} takes {geometric_mean(times):.2f} times as long")
    if options.json:
        meta = {key: meta[key] for key in ("version", "commit", "device", "compiler", "threads") if key in meta}
        meta |= {"topic": "compare_fft_cpu", "python": platform.python_version(), "numpy": np.__version__}
        meta |= {"ducc0": ducc0.__version__}
        pathlib.Path(options.json).write_text(json.dumps({"meta": meta, "rows": rows}, indent=1) + "\n")


if __name__ == "__main__":
    main()
