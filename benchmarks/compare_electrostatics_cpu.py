#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Electrostatic forces on the CPU beside OpenMM's CPU platform, at equal measured errors, in one run.

    python3 -m venv build/openmm && build/openmm/bin/pip install numpy openmm      once
    build/openmm/bin/python benchmarks/compare_electrostatics_cpu.py [--program build/cpu/bin/quadrat] [--json FILE]

The case is that of `quadrat bench electrostatics --device cpu`: water, 19,998 charges, pairs in a molecule excluded,
single precision, an rms error of forces of 1e-4 of the rms force. Everyone has two threads. OpenMM's cutoff, splitting
and mesh are searched: those that keep to the error, measured against Quadrat's forces in double precision, in the least
time. Its time is that of a step of its Verlet integrator, of which 20,000 particles take next to nothing besides forces;
its particles hardly move, so that it never builds its neighbor list again. Quadrat's time is that of the whole call,
from new positions. Both are medians in milliseconds, taken in turn.
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
import time

THREADS = 2
MOLECULES = 6666
ACCURACY = 1e-4
SOURCE = pathlib.Path(__file__).resolve().parents[1]
os.environ["OMP_NUM_THREADS"] = str(THREADS)
try:
    import numpy as np
    import openmm
except ImportError as problem:
    sys.exit(f"compare_electrostatics_cpu: {problem}; pip install numpy openmm")

COULOMB = 138.935456  # kJ nm / mol, of elementary charges


def random_unit(seed, n):
    """random_unit(seed, 0), ... of benchmarks/harness/points.hpp."""
    with np.errstate(over="ignore"):
        word = np.arange(1, n + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
        word += np.uint64(seed * 0xD1342543DE82EF95 % 2**64)
        word = (word ^ (word >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        word = (word ^ (word >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        word ^= word >> np.uint64(31)
    return (word >> np.uint64(11)).astype(np.float64) * 2.0**-53


def directions(seed, n):
    u = random_unit(seed, 2 * n).reshape(n, 2)
    z, angle = 2 * u[:, 0] - 1, 2 * 3.14159265358979 * u[:, 1]
    across = np.sqrt(1 - z * z)
    return np.stack([across * np.cos(angle), across * np.sin(angle), z], axis=1)


def water_box(molecules):
    """Positions in angstroms, molecule by molecule, charges and the edge; water_box of benchmarks/ewald/systems.cpp."""
    edge = (molecules / 0.0334) ** (1 / 3)
    places = math.ceil(molecules ** (1 / 3) - 1e-9)
    m = np.arange(molecules)
    place = np.stack([m // places // places, m // places % places, m % places], axis=1)
    shift = 0.3 * (random_unit(72, 3 * molecules).reshape(-1, 3) - 0.5)
    oxygen = edge / places * (place + 0.5) + shift
    axis, other = directions(73, molecules), directions(74, molecules)
    across = other - np.sum(other * axis, axis=1, keepdims=True) * axis
    across /= np.linalg.norm(across, axis=1, keepdims=True)
    atoms = np.stack([oxygen, oxygen + 0.57735 * axis + 0.8165 * across, oxygen + 0.57735 * axis - 0.8165 * across], 1)
    return atoms.reshape(-1, 3), np.tile([-0.82, 0.41, 0.41], molecules), edge


def exact_forces(program, points, charges, edge, folder):
    """Of Quadrat in double precision, in kJ / mol / nm."""
    box = f'Lattice="{edge!r} 0 0 0 {edge!r} 0 0 0 {edge!r}" Properties=species:S:1:pos:R:3:charge:R:1'
    lines = [f"X {x!r} {y!r} {z!r} {q!r}" for (x, y, z), q in zip(points.tolist(), charges.tolist())]
    (folder / "water.xyz").write_text("\n".join([str(len(lines)), box, *lines]) + "\n")
    first = 3 * np.arange(len(points) // 3)
    pairs = np.concatenate([np.stack([first + a, first + b], 1) for a, b in ((0, 1), (0, 2), (1, 2))])
    np.save(folder / "pairs.npy", pairs)
    command = [program, "electrostatics", folder / "water.xyz", "--accuracy", "1e-7", "--precision", "double",
               "--device", "cpu", "--exclusions", folder / "pairs.npy", "--json", "-o", folder / "forces.npy"]  # fmt: skip
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"compare_electrostatics_cpu: {done.stderr}")
    return np.load(folder / "forces.npy") * COULOMB * 100


class Ours:
    """`quadrat bench`, run again and again."""

    def __init__(self, program):
        self.program, self.rows, self.meta = program, [], {}

    def run(self):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "electrostatics.json"
            command = [self.program, "bench", "electrostatics", "--quick", "--device", "cpu", "--threads", str(THREADS),
                       "--op", "whole", "--json", str(file)]  # fmt: skip
            done = subprocess.run(command, stdout=subprocess.DEVNULL, check=False)
            if done.returncode != 0:
                sys.exit(f"compare_electrostatics_cpu: {' '.join(command)} returned {done.returncode}")
            result = json.loads(file.read_text())
        self.rows += [row for row in result["rows"] if row["op"] == "whole"]
        self.meta = result["meta"]


class Theirs:
    """OpenMM with one choice of parameters; lengths in nm."""

    def __init__(self, points, charges, edge, cutoff, alpha, mesh):
        system = openmm.System()
        edge = edge / 10
        system.setDefaultPeriodicBoxVectors((edge, 0, 0), (0, edge, 0), (0, 0, edge))
        force = openmm.NonbondedForce()
        force.setNonbondedMethod(openmm.NonbondedForce.PME)
        force.setCutoffDistance(cutoff)
        force.setPMEParameters(alpha, mesh, mesh, mesh)
        force.setUseDispersionCorrection(False)
        for i, q in enumerate(charges):
            system.addParticle(16.0 if i % 3 == 0 else 1.0)
            force.addParticle(float(q), 1.0, 0.0)
        for i in range(0, len(charges), 3):
            for a, b in ((0, 1), (0, 2), (1, 2)):
                force.addException(i + a, i + b, 0.0, 1.0, 0.0)
        system.addForce(force)
        self.integrator = openmm.VerletIntegrator(1e-9)
        where = openmm.Platform.getPlatformByName("CPU")
        self.context = openmm.Context(system, self.integrator, where, {"Threads": str(THREADS)})
        self.context.setPositions(points / 10)
        self.parameters = {"cutoff": 10 * cutoff, "splitting": alpha / 10, "mesh": mesh, "order": 5}

    def error(self, exact):
        found = self.context.getState(getForces=True).getForces(asNumpy=True)._value
        return float(np.sqrt(np.mean(np.sum((found - exact) ** 2, 1)) / np.mean(np.sum(exact**2, 1))))

    def times(self, steps):
        self.integrator.step(3)
        result = []
        for _ in range(steps):
            start = time.perf_counter()
            self.integrator.step(1)
            self.context.getState()  # waits
            result.append(1e3 * (time.perf_counter() - start))
        return result


def fastest_of_openmm(case, exact, verbose):
    """The parameters that keep to the error in the least time."""
    best, found = None, math.inf
    for cutoff in (0.55, 0.6, 0.65, 0.7, 0.75, 0.8, 0.9, 1.0):
        for decay in (2.9, 3.0, 3.1, 3.2, 3.3, 3.4):
            passed = False
            for mesh in (48, 54, 60, 64, 72, 80, 90, 96, 100, 108, 120):
                if mesh < 3.2 * decay / cutoff * case[2] / 10 / 1.6:
                    continue
                here = Theirs(*case, cutoff, decay / cutoff, mesh)
                error = here.error(exact)
                if error > ACCURACY:
                    continue
                passed = True
                time_of = min(here.times(8))
                if verbose:
                    print(f"  OpenMM: cutoff {10 * cutoff:.1f}, alpha rc {decay}, mesh {mesh}: {error:.1e}, "
                          f"{time_of:.1f} ms", flush=True)  # fmt: skip
                if time_of < found:
                    best, found = here, time_of
                break
            if passed:
                break
    return best


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default=str(SOURCE / "build" / "cpu" / "bin" / "quadrat"))
    parser.add_argument("--rounds", type=int, default=5, help="how often both are timed in turn")
    parser.add_argument("--verbose", action="store_true", help="print what of OpenMM is tried")
    parser.add_argument("--json", help="write the rows to this file")
    options = parser.parse_args()
    case = water_box(MOLECULES)
    with tempfile.TemporaryDirectory() as folder:
        exact = exact_forces(options.program, *case, pathlib.Path(folder))
    theirs = fastest_of_openmm(case, exact, options.verbose)
    if theirs is None:
        sys.exit("compare_electrostatics_cpu: OpenMM keeps to the error with none of the parameters tried")
    ours, times = Ours(options.program), []
    for _ in range(options.rounds):
        ours.run()
        times += theirs.times(20)
    median = statistics.median(row["median_ms"] for row in ours.rows)
    row = {**ours.rows[-1], "method": "quadrat", "median_ms": median}
    row["min_ms"] = min(one["min_ms"] for one in ours.rows)
    for key in ("max_ms", "samples", "stable", "charges_per_s"):
        row.pop(key, None)
    other = {key: row[key] for key in ("op", "precision", "n", "accuracy")}
    other |= {"method": "openmm", **theirs.parameters, "relative_error": theirs.error(exact)}
    other |= {"median_ms": statistics.median(times), "min_ms": min(times)}
    rows = [row, other]
    for one in rows:
        one["times_ours"] = one["median_ms"] / median
        least = f"(least {one['min_ms']:.1f})"
        print(f"{one['method']:<10}{one['median_ms']:>8.1f} ms {least:<14}{one['times_ours']:>6.2f} times   error "
              f"{one['relative_error']:.1e}   cutoff {one['cutoff']:.1f}, mesh {one['mesh']}, order {one['order']}")  # fmt: skip
    if options.json:
        meta = {key: ours.meta[key] for key in ("version", "commit", "device", "compiler", "threads") if key in ours.meta}
        meta |= {"topic": "compare_electrostatics_cpu", "python": platform.python_version(), "numpy": np.__version__}
        meta |= {"openmm": openmm.__version__}
        pathlib.Path(options.json).write_text(json.dumps({"meta": meta, "rows": rows}, indent=1) + "\n")


if __name__ == "__main__":
    main()
