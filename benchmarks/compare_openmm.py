#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Rigid water, examples/water, beside OpenMM: the same energies and forces, and steps a second on the CPU, in one run.

    python3 -m venv build/openmm && build/openmm/bin/pip install numpy openmm      once
    build/openmm/bin/python benchmarks/compare_openmm.py --water build/water/water [--json FILE] [--reference FILE]

Energies and forces: OpenMM's Reference platform, in double precision, at the positions of the last step of the example;
PME with an error far below 1e-6, the same cutoff of Lennard-Jones, and its correction of dispersion. OpenMM averages
this correction over all pairs and each particle with itself, so that it has a factor 1 + 2 / (number of atoms + 1);
--json has both. Time: steps of 2 fs in single precision, on OpenMM's CPU platform and by the example, with the same
threads, in turn. --reference writes OpenMM's numbers at the start of the example, for
tests/ewald/water_dual_test.cpp; script/format formats them.
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

try:
    import numpy as np
    import openmm
except ImportError as problem:
    sys.exit(f"compare_openmm: {problem}; pip install numpy openmm")

CUTOFF, SIGMA, EPSILON = 0.9, 0.3166, 0.650  # nm, kJ/mol: SPC/E
CHARGES = (-0.8476, 0.4238, 0.4238)
MASSES = (15.9994, 1.008, 1.008)
BOND, HYDROGENS = 0.1, 0.1 * math.sqrt(8 / 3)
EVERY = 50  # of the forces that --reference writes


def water_system(atoms, length, correction=True):
    """SPC/E in a cube of this edge, in nm."""
    system = openmm.System()
    system.setDefaultPeriodicBoxVectors((length, 0, 0), (0, length, 0), (0, 0, length))
    force = openmm.NonbondedForce()
    force.setNonbondedMethod(openmm.NonbondedForce.PME)
    force.setCutoffDistance(CUTOFF)
    force.setUseDispersionCorrection(correction)
    for i in range(atoms):
        system.addParticle(MASSES[i % 3])
        force.addParticle(CHARGES[i % 3], SIGMA, EPSILON if i % 3 == 0 else 0.0)
    for i in range(0, atoms, 3):
        for a, b, distance in ((0, 1, BOND), (0, 2, BOND), (1, 2, HYDROGENS)):
            force.addException(i + a, i + b, 0.0, 1.0, 0.0)
            system.addConstraint(i + a, i + b, distance)
    system.addForce(force)
    return system, force


def exact(positions, length, correction=True):
    """Energy and forces of the Reference platform, in kJ/mol and angstroms."""
    system, force = water_system(len(positions), length / 10, correction)
    # erfc(4.6) is 8e-11; the mesh is fine enough for splines of order 5 to an error below 1e-6.
    force.setPMEParameters(4.6 / CUTOFF, *[16 * math.ceil(length / 10 / CUTOFF * 4.2)] * 3)
    where = openmm.Platform.getPlatformByName("Reference")
    context = openmm.Context(system, openmm.VerletIntegrator(0.002), where)
    context.setPositions(positions / 10)
    state = context.getState(getEnergy=True, getForces=True)
    return state.getPotentialEnergy()._value, state.getForces(asNumpy=True)._value / 10


def run_example(water, folder, *arguments):
    file = folder / "state.json"
    command = [str(water), *map(str, arguments), str(file)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"compare_openmm: {' '.join(command)} returned {done.returncode}: {done.stdout}{done.stderr}")
    state = json.loads(file.read_text())
    return state | {key: np.array(state[key]) for key in ("positions", "forces")}, done.stdout


def compared(state):
    energy, forces = exact(state["positions"], state["length"])
    without, _ = exact(state["positions"], state["length"], correction=False)
    ours = state["pairs"] + state["mesh"]
    rms = np.sqrt(np.mean(np.sum(forces**2, 1)))
    return {
        "op": "energies",
        "atoms": len(forces),
        "energy": ours + state["dispersion"],
        "energy_of_openmm": energy,
        "relative_error_of_energy": abs(ours + state["dispersion"] - energy) / abs(energy),
        "relative_error_without_dispersion": abs(ours - without) / abs(without),
        "dispersion": state["dispersion"],
        "dispersion_of_openmm": energy - without,
        "relative_error_of_forces": float(np.sqrt(np.mean(np.sum((state["forces"] - forces) ** 2, 1))) / rms),
    }


class Theirs:
    """Steps on the CPU platform."""

    def __init__(self, state, threads, tolerance):
        system, force = water_system(len(state["positions"]), state["length"] / 10)
        force.setEwaldErrorTolerance(tolerance)
        self.integrator = openmm.VerletIntegrator(0.002)
        self.integrator.setConstraintTolerance(1e-6)
        where = openmm.Platform.getPlatformByName("CPU")
        self.context = openmm.Context(system, self.integrator, where, {"Threads": str(threads)})
        self.context.setPositions(state["positions"] / 10)
        found = self.context.getState(getForces=True).getForces(asNumpy=True)._value / 10
        _, forces = exact(state["positions"], state["length"])
        self.error = float(np.sqrt(np.sum((found - forces) ** 2) / np.sum(forces**2)))
        self.context.setVelocitiesToTemperature(298, 1)
        self.run(20)

    def run(self, steps):
        start = time.perf_counter()
        self.integrator.step(steps)
        self.context.getState(getEnergy=True)
        return steps / (time.perf_counter() - start)


def write_reference(water, folder, file):
    state, _ = run_example(water, folder, 8, 0, "double", 1e-7)
    energy, forces = exact(state["positions"], state["length"])
    without, _ = exact(state["positions"], state["length"], correction=False)
    rms = np.sqrt(np.mean(np.sum(forces**2, 1)))
    rows = ",\n".join(f"    {{{x:.12g}, {y:.12g}, {z:.12g}}}" for x, y, z in forces[::EVERY].tolist())
    text = f"""// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Energies and forces at the start of examples/water with 8 molecules along an edge, by OpenMM
// {openmm.__version__} (Reference platform), in kJ/mol and angstroms. benchmarks/compare_openmm.py --reference writes
// this file.

namespace quadrat::test::water_of_openmm {{

inline constexpr double energy = {energy:.14g}, energy_without_dispersion = {without:.14g};
inline constexpr double rms_force = {rms:.12g};
/// Of every {EVERY}th atom.
inline constexpr int every = {EVERY};
inline constexpr double forces[][3] = {{
{rows}}};

}}  // namespace quadrat::test::water_of_openmm
"""
    pathlib.Path(file).write_text(text)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--water", required=True, help="the example, compiled for the CPU")
    parser.add_argument("--edge", type=int, default=12, help="molecules along an edge")
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=3, help="how often both are timed in turn")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--json", help="write the rows to this file")
    parser.add_argument("--reference", help="write the numbers of the test to this file, and end")
    options = parser.parse_args()
    os.environ["OMP_NUM_THREADS"] = str(options.threads)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        if options.reference:
            write_reference(options.water, folder, options.reference)
            return
        state, _ = run_example(options.water, folder, options.edge, 50, "double", 1e-7)
        rows = [compared(state)]
        theirs, ours, rates = None, [], []
        for _ in range(options.rounds):
            last, text = run_example(options.water, folder, options.edge, options.steps, "float", 5e-4)
            ours.append(last["steps_per_second"])
            theirs = theirs or Theirs(last, options.threads, 5e-4)
            rates.append(theirs.run(options.steps))
        _, forces = exact(last["positions"], last["length"])
        error = float(np.sqrt(np.sum((last["forces"] - forces) ** 2) / np.sum(forces**2)))
    for method, rate, wrong in (("quadrat", ours, error), ("openmm", rates, theirs.error)):
        rows.append({"op": "steps", "method": method, "atoms": len(forces), "relative_error_of_forces": wrong})
        rows[-1] |= {"steps_per_second": statistics.median(rate), "most": max(rate)}
    print(text.strip().splitlines()[-1])
    for row in rows:
        print(row)
    if options.json:
        meta = {"topic": "compare_openmm", "threads": options.threads, "python": platform.python_version()}
        meta |= {"numpy": np.__version__, "openmm": openmm.__version__, "machine": platform.machine()}
        pathlib.Path(options.json).write_text(json.dumps({"meta": meta, "rows": rows}, indent=1) + "\n")
    if max(rows[0]["relative_error_of_energy"], rows[0]["relative_error_of_forces"]) > 1e-5:
        sys.exit("compare_openmm: energies or forces differ by more than 1e-5")


if __name__ == "__main__":
    main()
