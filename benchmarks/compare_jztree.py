#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Friends-of-friends and nearest neighbors beside jztree on a GPU: the same periodic points, in one run.

    pip install jztree[cuda13] torch
    benchmarks/compare_jztree.py [--package build/cuda/python] [--quick] [--json FILE]

Points are uniform, or drawn from a lognormal density on a mesh of 256 cells along each axis, as matter is clustered. The
linking length is 0.2 mean distances. Each call starts from positions alone; its time includes both packages' sorts and
trees. jztree is compiled for each size before it is timed, and leaves its labels in its own order, which is quicker.
Times are medians of calls that are waited for. Numbers of groups are compared.
"""

import argparse
import importlib
import importlib.metadata
import json
import os
import pathlib
import statistics
import sys
import time

os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")

import torch  # noqa: E402

SOURCE = pathlib.Path(__file__).resolve().parents[1]


def clustered(n, cells=256, spread=1.5, seed=3):
    """Points with a lognormal density whose logarithm has power k^-1.5."""
    generator = torch.Generator("cuda").manual_seed(seed)
    waves = torch.fft.rfftn(torch.randn((cells,) * 3, device="cuda", generator=generator))
    along = torch.fft.fftfreq(cells, 1 / cells, device="cuda")
    last = torch.fft.rfftfreq(cells, 1 / cells, device="cuda")
    k = (along[:, None, None] ** 2 + along[None, :, None] ** 2 + last**2).sqrt()
    k[0, 0, 0] = 1
    field = torch.fft.irfftn(waves * k**-0.75, s=(cells,) * 3)
    share = torch.cumsum(torch.exp(spread * (field - field.mean()) / field.std()).double().flatten(), 0)
    drawn = torch.rand(n, dtype=torch.float64, device="cuda", generator=generator) * share[-1]
    cell = torch.searchsorted(share, drawn).clamp(max=cells**3 - 1)
    corner = torch.stack([cell // cells**2, cell // cells % cells, cell % cells], 1)
    points = (corner + torch.rand((n, 3), device="cuda", generator=generator)) / cells
    return points.float().clamp(max=1 - 1e-7)


def uniform(n, seed=2):
    return torch.rand((n, 3), device="cuda", generator=torch.Generator("cuda").manual_seed(seed))


def median_of(call, repetitions=7):
    seconds = []
    for _ in range(repetitions + 1):
        torch.cuda.synchronize()
        start = time.perf_counter()
        call()
        seconds.append(time.perf_counter() - start)
    return 1e3 * statistics.median(seconds[1:])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--package", default=str(SOURCE / "build" / "cuda" / "python"), help="folder with the package")
    parser.add_argument("--quick", action="store_true", help="small sizes")
    parser.add_argument("--limit", type=float, default=1e9, help="start no new case after this many seconds")
    parser.add_argument("--json", help="write the result to this file")
    arguments = parser.parse_args()
    sys.path.insert(0, arguments.package)
    try:
        jax, quadrat = importlib.import_module("jax"), importlib.import_module("quadrat")
        fof, knn = importlib.import_module("jztree.fof"), importlib.import_module("jztree.knn")
    except ImportError as problem:
        sys.exit(f"compare_jztree: {problem}; see --help for what it needs")
    rows, until = [], time.perf_counter() + arguments.limit

    def waited(call):
        jax.block_until_ready(call())

    sizes = (100_000,) if arguments.quick else (10_000_000, 1_000_000)
    cases = [(n, op, k) for n in sizes for op, k in (("clusters", 0), ("knn", 32), ("knn", 8), ("knn", 16))]
    for n, op, k in cases:
        for name, make in (("lognormal", clustered), ("uniform", uniform)):
            if time.perf_counter() > until:
                continue
            points = make(n)
            theirs = jax.numpy.from_dlpack(points)
            row = {"op": op, "method": "quadrat", "n": n, "distribution": name, "precision": "float"}
            if op == "clusters":
                link = 0.2 * n ** (-1 / 3)
                row["groups"] = int(quadrat.clusters(points, link, box=[1.0] * 3).max()) + 1
                row["median_ms"] = median_of(lambda: quadrat.clusters(points, link, box=[1.0] * 3))

                def call():
                    return fof.fof_labels.jit(theirs, rlink=link, boxsize=1.0)
            else:
                row["k"] = k
                row["median_ms"] = median_of(lambda: quadrat.knn(points, k, box=[1.0] * 3))

                def call():
                    return knn.knn.jit(theirs, k=k, boxsize=1.0)
            try:
                found = call()
                row["jztree_ms"] = median_of(lambda: waited(call))
                row["jztree_over_ours"] = row["jztree_ms"] / row["median_ms"]
                if op == "clusters":
                    row["jztree_groups"] = int(jax.numpy.unique(found[1]).size)
            except Exception as problem:  # its lists have a fixed size, which clustered points can exceed
                row["jztree"] = f"{type(problem).__name__}: {problem}"[:200]
            rows.append(row)
            print(row, flush=True)
    if arguments.json:
        versions = {name: importlib.metadata.version(name) for name in ("jztree", "jax", "torch")}
        meta = {"topic": "jztree", "machine": torch.cuda.get_device_name(), "versions": versions}
        pathlib.Path(arguments.json).write_text(json.dumps({"meta": meta, "rows": rows}, indent=1) + "\n")


if __name__ == "__main__":
    main()
