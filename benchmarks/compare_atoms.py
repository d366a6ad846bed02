#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What other packages do with atoms: their own way beside quadrat's, on the same atoms, in one run.

    pip install ase matscipy MDAnalysis torch torch-sim-atomistic metatomic-torch vesin ovito gsd mace-torch nequip
    benchmarks/compare_atoms.py [--package build/cpu/python] [--gpu] [--quick] [--only HOST] [--json FILE]
    benchmarks/compare_atoms.py --gpu --torch-sim torch_sim_atomistic-0.6.2-py3-none-any.whl

Uniform atoms with 40 neighbors on average in periodic cubes. torch-sim: systems of 100 atoms and one of 100,000, float32, beside
all of its lists that can be imported; with --gpu in the memory of a GPU, and with --torch-sim from its wheel alone, without what
it needs beside PyTorch. metatomic: the lists that a model asks for, beside vesin's. MDAnalysis: pairs i < j with distances.
matscipy: cutoffs by pairs of two elements, float64. OVITO: a pipeline of one modifier. Files: all frames are read, beside ASE, gsd
and MDAnalysis. MACE and NequIP: energy and forces of rock salt by a small model. Two threads. A package that is not installed is
left out.
"""

import argparse
import importlib
import importlib.metadata
import json
import math
import pathlib
import platform
import sys
import tempfile
import types

from compare_python import PACKAGES, SOURCE, THREADS, library, median_of

SIDE_OF_ONE = (4 / 3 * math.pi / 40) ** (1 / 3)  # of a cube with one atom, for a cutoff of 1


def lists_of_torch_sim(wheel):
    """The module with its lists: alone from a wheel, or as it is installed."""
    if wheel:
        package = types.ModuleType("torch_sim")
        package.__path__ = [str(pathlib.Path(wheel) / "torch_sim")]
        sys.modules["torch_sim"] = package
    return library("torch_sim.neighbors")


# A list that tests all pairs is left out where a system is large.
TORCH_SIM = {"torch_nl_linked_cell": 10**6, "torch_nl_n2": 1000, "vesin_nl_ts": 10**6, "alchemiops_nl_n2": 10**4,
             "alchemiops_nl_cell_list": 10**6}  # fmt: skip


def of_torch_sim(given):
    """(host, op, systems, atoms, calls by name) for batches, and one large system."""
    torch = library("torch")
    if torch is None:
        return
    theirs = lists_of_torch_sim(given.torch_sim)
    ours = importlib.import_module("quadrat.torch_sim").torchsim_nl
    torch.set_num_threads(THREADS)
    device = "cuda" if given.gpu else "cpu"
    wait = torch.cuda.synchronize if given.gpu else lambda: None
    for systems, each in ((1, 100), (64, 100), (1024, 100), (1, 100_000))[: 2 if given.quick else 4]:
        side, count = SIDE_OF_ONE * each ** (1 / 3), systems * each
        atoms = {
            "positions": side * torch.rand(count, 3, generator=torch.Generator().manual_seed(1)).to(device),
            "cell": side * torch.eye(3, device=device).repeat(systems, 1, 1),
            "pbc": torch.ones(systems, 3, dtype=torch.bool, device=device),
            "cutoff": 1.0,
            "system_idx": torch.arange(count, device=device) // each,
        }
        calls = {"quadrat": lambda atoms=atoms: (ours(**atoms), wait())}
        pairs = ours(**atoms)[0].shape[1]
        for name, largest in TORCH_SIM.items():
            call = getattr(theirs, name, None)
            if call is None or each > largest:
                continue
            try:
                found = call(**atoms)[0].shape[1]
            except Exception as problem:  # a list whose library is missing, or that cannot hold these atoms
                print(f"torch-sim's {name}, {systems} x {each}: {type(problem).__name__}: {str(problem).splitlines()[0]}")
                continue
            if abs(found - pairs) > 1e-4 * pairs:
                print(f"torch-sim's {name}, {systems} x {each}: {found} pairs, here {pairs}")
            calls[name] = lambda call=call, atoms=atoms: (call(**atoms), wait())
        yield "torch-sim", "torchsim_nl", systems, count, calls


def of_metatomic(given):
    torch, host, vesin = (library(name) for name in ("torch", "metatomic.torch", "vesin.metatomic"))
    if None in (torch, host, vesin):
        return
    ours = importlib.import_module("quadrat.metatomic")

    class Model(torch.nn.Module):
        def requested_neighbor_lists(self):
            return [host.NeighborListOptions(cutoff=1.0, full_list=True, strict=True)]

    for systems, each in ((1, 100), (64, 100), (1, 10_000))[: 2 if given.quick else 3]:
        side = SIDE_OF_ONE * each ** (1 / 3)
        cell, pbc, kinds = side * torch.eye(3), torch.ones(3, dtype=torch.bool), torch.ones(each, dtype=torch.int32)
        places = [side * torch.rand(each, 3) for _ in range(systems)]

        def listed(call, **more):
            batch = [host.System(kinds, one, cell, pbc) for one in places]
            call(batch, "Angstrom", Model(), **more)

        same = {"model_length_unit": "Angstrom", "skin": 0.0}
        calls = {"quadrat": lambda: listed(ours.compute_requested_neighbors),
                 "vesin.metatomic": lambda: listed(vesin.compute_requested_neighbors, **same)}  # fmt: skip
        yield "metatomic", "compute_requested_neighbors", systems, systems * each, calls


def of_ovito(given):
    ovito, ase = library("ovito.modifiers"), library("ase")
    if None in (ovito, ase):
        return
    import numpy as np

    ours = importlib.import_module("quadrat.ovito")
    convert = importlib.import_module("ovito.io.ase").ase_to_ovito
    pipelines = importlib.import_module("ovito.pipeline")
    for count in (10_000, 100_000)[: 1 if given.quick else 2]:
        side = SIDE_OF_ONE * count ** (1 / 3)
        points = np.random.default_rng(1).uniform(0, side, (count, 3))
        data = convert(ase.Atoms(f"Ar{count}", points, cell=[side] * 3, pbc=True))

        def computed(modifier, data=data):
            pipeline = pipelines.Pipeline(source=pipelines.StaticSource(data=data))
            pipeline.modifiers.append(modifier)
            return pipeline.compute()

        for op, own, other in (
            ("clusters", lambda: ours.clusters(0.5), lambda: ovito.ClusterAnalysisModifier(cutoff=0.5)),
            ("coordination", lambda: ours.coordination(1.0), lambda: ovito.CoordinationAnalysisModifier(cutoff=1.0)),
        ):
            calls = {"quadrat": lambda own=own: computed(own()), "OVITO": lambda other=other: computed(other())}
            yield "OVITO", op, 1, count, calls


def of_files(given):
    """All frames of a file, read one after another."""
    ase_io, gsd, universes = library("ase.io"), library("gsd.hoomd"), library("MDAnalysis")
    if ase_io is None:
        return
    import ase
    import numpy as np

    frames = importlib.import_module("quadrat.frames")
    count, steps = (1000, 5) if given.quick else (10_000, 20)
    random = np.random.default_rng(1)
    side = SIDE_OF_ONE * count ** (1 / 3)
    atoms = [ase.Atoms(f"Ar{count}", random.uniform(0, side, (count, 3)), cell=[side] * 3, pbc=True) for _ in range(steps)]
    own = lambda file: lambda: sum(len(frame.positions) for frame in frames.read(file))  # noqa: E731
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "a.traj"
        ase_io.write(file, atoms)
        calls = {"quadrat": own(file), "ase": lambda file=file: sum(len(one.positions) for one in ase_io.iread(file))}
        yield "ASE", "read .traj", steps, count * steps, calls
        dump = pathlib.Path(folder) / "a.lammpstrj"
        with dump.open("w") as out:
            for step, one in enumerate(atoms):
                out.write(f"ITEM: TIMESTEP\n{step}\nITEM: NUMBER OF ATOMS\n{count}\nITEM: BOX BOUNDS pp pp pp\n")
                out.write(f"0 {side}\n" * 3 + "ITEM: ATOMS id type x y z\n")
                out.writelines(f"{i + 1} 1 {x} {y} {z}\n" for i, (x, y, z) in enumerate(one.positions.tolist()))
        calls = {"quadrat": own(dump)}
        if universes is not None:
            calls["MDAnalysis"] = lambda: [len(step.positions) for step in
                                           universes.Universe(str(dump), format="LAMMPSDUMP").trajectory]  # fmt: skip
        yield "LAMMPS", "read .lammpstrj", steps, count * steps, calls
        if gsd is None:
            return
        file = pathlib.Path(folder) / "a.gsd"
        with gsd.open(str(file), "w") as out:
            for one in atoms:
                frame = gsd.Frame()
                frame.particles.N, frame.configuration.box = count, [side, side, side, 0, 0, 0]
                frame.particles.position = one.positions - side / 2
                out.append(frame)

        def by_gsd():
            with gsd.open(str(file), "r") as found:
                return [len(frame.particles.position) for frame in found]

        yield "GSD", "read .gsd", steps, count * steps, {"quadrat": own(file), "gsd": by_gsd}


def of_calculators(given):
    """Rows whose times the examples measure: of the list, and of energy and forces."""
    build = library("ase.build")
    for host in ("MACE", "NequIP"):
        if build is None or library(host.lower()) is None:
            continue
        sys.path.insert(0, str(SOURCE / "examples" / f"{host.lower()}_calculator"))
        example = importlib.import_module(f"{host.lower()}_calculator")
        atoms = build.bulk("NaCl", "rocksalt", a=5.64, cubic=True).repeat((2, 2, 2) if given.quick else (6, 6, 7))
        atoms.rattle(0.1, seed=1)
        try:
            steps = example.compare(atoms, example.small_model(), 4.0) if host == "MACE" else example.compare(atoms, 4.0)
        except Exception as problem:  # MACE and NequIP need different versions of e3nn: one of them at a time
            print(f"{host}: {type(problem).__name__}: {str(problem).splitlines()[0]}")
            continue
        for op in ("list", "step"):
            yield host, "list" if op == "list" else "energy and forces", 1, len(atoms), {
                name: 1e-3 * getattr(step, f"{op}_ms") for name, step in steps.items()
            }


def of_numpy(given):
    names = "numpy", "quadrat.ase", "quadrat.mdanalysis", "quadrat.matscipy"
    np, quadrat_ase, quadrat_mdanalysis, quadrat_matscipy = (importlib.import_module(name) for name in names)
    ase, lists, mdanalysis, matscipy = (
        library(name) for name in ("ase", "ase.neighborlist", "MDAnalysis.lib.distances", "matscipy.neighbours")
    )
    for count in (1000, 10_000, 100_000)[: 2 if given.quick else 3]:
        side = SIDE_OF_ONE * count ** (1 / 3)
        points = np.random.default_rng(1).uniform(0, side, (count, 3))
        box, single = np.array([side] * 3 + [90] * 3, np.float32), points.astype(np.float32)
        pairs = lambda call: lambda: call.self_capped_distance(single, 1.0, box=box)  # noqa: E731
        calls = {"quadrat": pairs(quadrat_mdanalysis)} | ({} if mdanalysis is None else {"MDAnalysis": pairs(mdanalysis)})
        yield "MDAnalysis", "self_capped_distance", 1, count, calls
        if ase is None:
            continue
        atoms = ase.Atoms("HO" * (count // 2), points, cell=[side] * 3, pbc=True)
        calls = {"quadrat": lambda: quadrat_ase.neighbor_list("ijS", atoms, 1.0),
                 "ase": lambda: lists.neighbor_list("ijS", atoms, 1.0)}  # fmt: skip
        yield "ASE", "neighbor_list", 1, count, calls
        cutoffs = {("O", "H"): 1.0, ("O", "O"): 0.9}
        elements = lambda call: lambda: call("ijS", atoms, cutoffs)  # noqa: E731
        calls = {"quadrat": elements(quadrat_matscipy.neighbour_list)}
        yield "matscipy", "neighbour_list", 1, count, calls | (
            {} if matscipy is None else {"matscipy": elements(matscipy.neighbour_list)}
        )


def measured(cases):
    rows = []
    for host, op, systems, count, calls in cases:
        for method, call in calls.items():
            seconds = median_of(call, 5) if callable(call) else call
            rows.append({"host": host, "op": op, "systems": systems, "n": count, "method": method, "median_s": seconds})
            print(f"{host:<11} {op:<28} {systems:>5} {count:>8} {method:<24} {seconds * 1e3:10.3f} ms", flush=True)
    return rows


def versions_of(packages):
    found = {}
    for name in packages:
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    return found


# By host; MACE last, since it changes PyTorch's default precision.
CASES = {"numpy": of_numpy, "torch-sim": of_torch_sim, "metatomic": of_metatomic, "OVITO": of_ovito, "files": of_files,
         "calculators": of_calculators}  # fmt: skip


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--package", default=str(SOURCE / "build" / "cpu" / "python"), help="folder with the package")
    parser.add_argument("--quick", action="store_true", help="small sizes")
    parser.add_argument("--gpu", action="store_true", help="torch-sim's call alone, in the memory of a GPU")
    parser.add_argument("--torch-sim", metavar="WHEEL", help="take torch-sim's lists from its wheel, which is not installed")
    parser.add_argument("--only", choices=CASES, action="append", help="these alone; may be given several times")
    parser.add_argument("--json", help="write the result to this file")
    arguments = parser.parse_args()
    sys.path[:1] = [arguments.package, PACKAGES]  # without this folder, whose tables.py torch-sim would find
    names = ["torch-sim"] if arguments.gpu else arguments.only or CASES
    rows = [row for name in names for row in measured(CASES[name](arguments))]
    if arguments.json:
        versions = versions_of(("numpy", "torch", "torch-sim-atomistic", "metatomic-torch", "vesin", "MDAnalysis", "matscipy",
                                "ase", "gsd", "ovito", "mace-torch", "nequip"))  # fmt: skip
        meta = {"topic": "atoms", "threads": THREADS, "machine": platform.processor() or platform.machine(),
                "python": platform.python_version(), "versions": versions}  # fmt: skip
        if arguments.torch_sim:
            versions["torch-sim-atomistic"] = pathlib.Path(arguments.torch_sim).name
        if arguments.gpu:
            meta["device"] = importlib.import_module("torch").cuda.get_device_name()
        pathlib.Path(arguments.json).write_text(json.dumps({"meta": meta, "rows": rows}, indent=1) + "\n")


if __name__ == "__main__":
    main()
