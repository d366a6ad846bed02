#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Single calls with PyTorch's tensors in the memory of a GPU beside the best of PyTorch's own operations, in one run.

    benchmarks/compare_torch.py [--package build/cuda/python] [--device cpu] [--quick] [--json FILE]

Sums and counts by key beside index_add_, scatter_add_, bincount and sorting; nearest neighbors beside cdist with topk
(to 20,000 points); spreading beside index_add_ of the products of all weights; transforms of type 1 beside the sum over
all waves (to 10,000 points and 16^3 modes). Each call is the first with its points or keys: nothing is kept from the
call before. Times are medians of calls that are waited for. A way that PyTorch has no memory for is left out.
"""

import argparse
import importlib
import json
import pathlib
import platform
import statistics
import sys
import time
import types

import torch

SOURCE = pathlib.Path(__file__).resolve().parents[1]
LONGEST = 3.0  # seconds for one case


def median_of(call, device):
    wait = torch.cuda.synchronize if device == "cuda" else lambda: None
    seconds, until = [], time.perf_counter() + LONGEST
    for repetition in range(12):
        wait()
        start = time.perf_counter()
        call()
        wait()
        seconds.append(time.perf_counter() - start)
        if repetition > 1 and time.perf_counter() > until:
            break
    return statistics.median(seconds[min(2, len(seconds) - 1) :])


def drawn_keys(order, n, count, dtype, device):
    keys = torch.randint(count, (n,), dtype=dtype, device=device, generator=torch.Generator(device).manual_seed(1))
    return torch.sort(keys)[0] if order == "sorted" else keys


def by_key(quadrat, sizes, device):
    """Sums and counts by key: rows and calls of every way."""
    for n in sizes:
        for order, share in (("random", 5), ("sorted", 5), ("few", None)):
            count = 100 if share is None else max(n // share, 1)
            for dtype in (torch.int64, torch.int32):
                keys = drawn_keys(order, n, count, dtype, device)
                case = {"n": n, "keys": count, "order": order, "key_type": str(dtype)[6:]}
                ways = {"bincount": lambda: torch.bincount(keys, minlength=count)}
                yield {"op": "count_keys", **case}, lambda: quadrat.count_keys(keys, key_count=count), ways
                for components in (1, 3, 8):
                    values = torch.rand((n, components), dtype=torch.float64, device=device)
                    wide = keys.long()[:, None].expand(n, components)

                    def empty(count=count, components=components):
                        return torch.zeros((count, components), dtype=torch.float64, device=device)

                    ways = {
                        "index_add_": lambda: empty().index_add_(0, keys, values),
                        "scatter_add_": lambda: empty().scatter_add_(0, wide, values),
                    }
                    yield (
                        {"op": "reduce_by_key", **case, "components": components, "precision": "double"},
                        lambda: quadrat.reduce_by_key(keys, values, key_count=count),
                        ways,
                    )


def spread_by_index(points, values, mesh, order):
    """The sum of a cardinal B-spline by one index_add_ over all of its mesh points."""
    at = points * mesh
    first = torch.floor(at - order / 2).long() + 1
    offsets = torch.arange(order, device=points.device)
    # Cox and de Boor's recursion at the distances to mesh points.
    x = at[:, :, None] - (first[:, :, None] + offsets) + order / 2
    pieces = [((x - k >= 0) & (x - k < 1)).to(points.dtype) for k in range(order)]
    for degree in range(1, order):
        pieces = [((x - k) * pieces[k] + (degree + 1 + k - x) * pieces[k + 1]) / degree for k in range(order - degree)]
    weights, index = pieces[0], (first[:, :, None] + offsets) % mesh
    cells = (index[:, 0, :, None, None] * mesh + index[:, 1, None, :, None]) * mesh + index[:, 2, None, None, :]
    parts = weights[:, 0, :, None, None] * weights[:, 1, None, :, None] * weights[:, 2, None, None, :]
    parts = parts * values[:, None, None, None]
    return torch.zeros(mesh**3, dtype=points.dtype, device=points.device).index_add_(0, cells.flatten(), parts.flatten())


def waves(points, values, modes):
    """The sum over all waves of a transform of type 1."""
    k = torch.arange(-(modes // 2), modes - modes // 2, device=points.device)
    x, y, z = (torch.exp(1j * points[:, axis, None] * k) for axis in range(3))
    return torch.einsum("n,na,nb,nc->abc", values, x, y, z)


def with_points(quadrat, sizes, device):
    """Calls of points: rows and calls of every way."""
    for n in sizes:
        points = torch.rand((n, 3), dtype=torch.float32, device=device)
        values = torch.rand(n, dtype=torch.float32, device=device)
        case = {"n": n, "precision": "float"}
        for k in (8, 32):
            ways = {}
            if n <= 20_000:
                ways["cdist, topk"] = lambda k=k: torch.cdist(points, points).topk(k + 1, largest=False)
            yield {"op": "knn", **case, "k": k}, lambda k=k: quadrat.knn(points, k, box=[1.0] * 3), ways
        # A linking length of .2 mean distances, as for halos.
        link = 0.2 * n ** (-1 / 3)
        yield {"op": "clusters", **case}, lambda: quadrat.clusters(points, link, box=[1.0] * 3), {}
        ways = {"index_add_": lambda: spread_by_index(points, values, 64, 4)} if n <= 4_000_000 else {}
        yield (
            {"op": "spread", **case, "mesh": 64, "order": 4},
            lambda: quadrat.spread(points, values, [1.0] * 3, 64, order=4),
            ways,
        )
        strengths, angles = torch.complex(values, values), points * 6.28
        ways = {"einsum": lambda: waves(angles, strengths, 16)} if n <= 10_000 else {}
        yield {"op": "nufft1", **case, "modes": 16}, lambda: quadrat.nufft1(angles, strengths, 16, 1e-5), ways


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--package", default=str(SOURCE / "build" / "cuda" / "python"), help="folder with the package")
    parser.add_argument("--device", default="cuda", choices=("cuda", "cpu"))
    parser.add_argument("--quick", action="store_true", help="small sizes")
    parser.add_argument("--limit", type=float, default=1e9, help="start no new case after this many seconds")
    parser.add_argument("--json", help="write the result to this file")
    arguments = parser.parse_args()
    sys.path.insert(0, arguments.package)
    try:
        quadrat = importlib.import_module("quadrat")
        own = importlib.import_module("quadrat.torch")
    except ImportError as problem:
        sys.exit(f"compare_torch: {problem}; build it with script/test, or name its folder with --package")
    if arguments.device == "cuda" and not torch.cuda.is_available():
        sys.exit("compare_torch: PyTorch finds no GPU here; --device cpu takes the CPU")

    of_numpy = {name: getattr(quadrat, name) for name in ("reduce_by_key", "count_keys", "knn", "clusters")}
    calls = types.SimpleNamespace(**of_numpy, spread=own.spread, nufft1=own.nufft1)

    sizes = (10_000, 1_000_000) if arguments.quick else (10_000, 100_000, 1_000_000, 10_000_000, 100_000_000)
    rows, until = [], time.perf_counter() + arguments.limit
    cases = [by_key(calls, (5_000_000,), arguments.device), by_key(calls, sizes, arguments.device)]
    cases.append(with_points(calls, [n for n in sizes if n <= 10_000_000], arguments.device))
    if arguments.quick:
        cases = cases[1:]
    for case, call, ways in (one for several in cases for one in several):
        if time.perf_counter() > until:
            break
        seconds, theirs = median_of(call, arguments.device), {}
        for name, way in ways.items():
            try:
                theirs[name] = median_of(way, arguments.device)
            except torch.OutOfMemoryError:
                torch.cuda.empty_cache()
        row = {**case, "method": "quadrat", "device": arguments.device, "median_ms": 1e3 * seconds}
        if theirs:
            best = min(theirs, key=theirs.get)
            row |= {"peer": best, "peer_ms": 1e3 * theirs[best], "peer_over_ours": theirs[best] / seconds}
        rows.append(row)
        shown = " ".join(f"{v}" for k, v in case.items())
        beside = f"{row['peer']:<14} {row['peer_ms']:10.4f} ms  {row['peer_over_ours']:6.2f} x" if theirs else ""
        print(f"{shown:<60} {row['median_ms']:10.4f} ms  {beside}", flush=True)
    if arguments.json:
        machine = torch.cuda.get_device_name() if arguments.device == "cuda" else platform.machine()
        meta = {"topic": "torch", "machine": machine, "python": platform.python_version(),
                "versions": {"torch": torch.__version__}}  # fmt: skip
        pathlib.Path(arguments.json).write_text(json.dumps({"meta": meta, "rows": rows}, indent=1) + "\n")


if __name__ == "__main__":
    main()
