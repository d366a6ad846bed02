#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Lists of atoms by the calls of other packages: their own way beside quadrat's, on the same atoms, in one run.

    pip install ase matscipy MDAnalysis torch torch-sim-atomistic
    benchmarks/compare_atoms.py [--package build/cpu/python] [--gpu] [--quick] [--json FILE]

Uniform atoms with 40 neighbors on average in periodic cubes. torch-sim: systems of 100 atoms, float32, beside its
torch_nl_linked_cell; with --gpu in the memory of a GPU. MDAnalysis: pairs i < j with distances. matscipy: cutoffs by
pairs of two elements, float64. Two threads. A package that is not installed is left out.
"""

import argparse
import importlib
import importlib.metadata
import json
import math
import pathlib
import platform
import sys

from compare_python import PACKAGES, SOURCE, THREADS, library, median_of

SIDE_OF_ONE = (4 / 3 * math.pi / 40) ** (1 / 3)  # of a cube with one atom, for a cutoff of 1


def of_torch_sim(quick, gpu):
    """(op, systems, atoms, theirs, ours) for batches, and one large system."""
    torch, theirs = library("torch"), library("torch_sim.neighbors")
    if torch is None:
        return
    ours = importlib.import_module("quadrat.torch_sim").torchsim_nl
    torch.set_num_threads(THREADS)
    device = "cuda" if gpu else "cpu"
    wait = torch.cuda.synchronize if gpu else lambda: None
    for systems, each in ((1, 100), (64, 100), (1024, 100), (1, 100_000))[: 2 if quick else 4]:
        side, count = SIDE_OF_ONE * each ** (1 / 3), systems * each
        given = {
            "positions": side * torch.rand(count, 3, generator=torch.Generator().manual_seed(1)).to(device),
            "cell": side * torch.eye(3, device=device).repeat(systems, 1),
            "pbc": torch.ones(systems, 3, dtype=torch.bool, device=device),
            "cutoff": 1.0,
            "system_idx": torch.arange(count, device=device) // each,
        }
        own = None if theirs is None else lambda given=given: (theirs.torch_nl_linked_cell(**given), wait())
        yield "torchsim_nl", systems, count, own, lambda given=given: (ours(**given), wait())


def of_numpy(quick):
    names = "numpy", "quadrat.mdanalysis", "quadrat.matscipy"
    np, quadrat_mdanalysis, quadrat_matscipy = (importlib.import_module(name) for name in names)
    ase, mdanalysis, matscipy = library("ase"), library("MDAnalysis.lib.distances"), library("matscipy.neighbours")
    for count in (1000, 10_000, 100_000)[: 2 if quick else 3]:
        side = SIDE_OF_ONE * count ** (1 / 3)
        points = np.random.default_rng(1).uniform(0, side, (count, 3))
        box, single = np.array([side] * 3 + [90] * 3, np.float32), points.astype(np.float32)
        pairs = lambda call: None if call is None else lambda: call.self_capped_distance(single, 1.0, box=box)  # noqa: E731
        yield "self_capped_distance", 1, count, pairs(mdanalysis), pairs(quadrat_mdanalysis)
        if ase is None:
            continue
        atoms = ase.Atoms("HO" * (count // 2), points, cell=[side] * 3, pbc=True)
        cutoffs = {("O", "H"): 1.0, ("O", "O"): 0.9}
        elements = lambda call: None if call is None else lambda: call("ijS", atoms, cutoffs)  # noqa: E731
        theirs = None if matscipy is None else matscipy.neighbour_list
        yield "neighbour_list", 1, count, elements(theirs), elements(quadrat_matscipy.neighbour_list)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--package", default=str(SOURCE / "build" / "cpu" / "python"), help="folder with the package")
    parser.add_argument("--quick", action="store_true", help="small sizes")
    parser.add_argument("--gpu", action="store_true", help="torch-sim's call alone, in the memory of a GPU")
    parser.add_argument("--json", help="write the result to this file")
    arguments = parser.parse_args()
    sys.path[:1] = [arguments.package, PACKAGES]  # without this folder, whose tables.py torch-sim would find
    rows = []
    cases = [of_torch_sim(arguments.quick, arguments.gpu), *([] if arguments.gpu else [of_numpy(arguments.quick)])]
    for op, systems, count, theirs, ours in (row for case in cases for row in case):
        for method, call in (("quadrat", ours), ("host", theirs)):
            if call is not None:
                seconds = median_of(call, 5)
                rows.append({"op": op, "systems": systems, "n": count, "method": method, "median_s": seconds})
                print(f"{op:<22} {systems:>5} {count:>8} {method:<8} {seconds * 1e3:10.3f} ms", flush=True)
    if arguments.json:
        versions = {}
        for name in ("numpy", "torch", "torch-sim-atomistic", "MDAnalysis", "matscipy", "ase"):
            try:
                versions[name] = importlib.metadata.version(name)
            except importlib.metadata.PackageNotFoundError:
                continue
        meta = {"topic": "atoms", "threads": THREADS, "machine": platform.processor() or platform.machine(),
                "python": platform.python_version(), "versions": versions}  # fmt: skip
        pathlib.Path(arguments.json).write_text(json.dumps({"meta": meta, "rows": rows}, indent=1) + "\n")


if __name__ == "__main__":
    main()
