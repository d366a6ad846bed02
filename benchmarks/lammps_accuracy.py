#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Errors of `kspace_style quadrat` in LAMMPS beside those of its `pppm`, at the same requested accuracy.

    QUADRAT_LAMMPS_PLUGIN=build/cpu/lib/quadratplugin.so QUADRAT_LAMMPS_LIBRARY=/usr/lib/x86_64-linux-gnu/liblammps.so \\
        python3 benchmarks/lammps_accuracy.py [--ranks 2] [--times]

The error is the root mean square of the differences of forces from those of `ewald` at 1e-10, over the force of two unit
charges at a distance of 1, which is what the accuracy of LAMMPS' styles is relative to. Coulomb tables are off. Systems
are made here: `systems` has their names. tests/python/lammps_test.py runs the same. --times prints the milliseconds of the
kspace styles in a step instead, for 12,288 atoms of water, with OMP_NUM_THREADS=1: the least of 3 runs of 20 steps, in turn.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

import numpy as np

# A program with an instance of LAMMPS loads the plugin like this; where LAMMPS has its package PLUGIN, the command
# `plugin load` does.
RUNNER = """
import ctypes, sys
library, plugin, script = sys.argv[1:4]
lammps = ctypes.CDLL(library, ctypes.RTLD_GLOBAL)
lammps.lammps_open_no_mpi.restype = ctypes.c_void_p
words = [b"lmp", b"-log", b"none", b"-nocite"]
instance = ctypes.c_void_p(lammps.lammps_open_no_mpi(len(words), (ctypes.c_char_p * len(words))(*words), None))
ctypes.CDLL(plugin).lammpsplugin_init(instance, None, None)
lammps.lammps_file(instance, script.encode())
lammps.lammps_close(instance)
lammps.lammps_mpi_finalize()
"""
UNIT_FORCE = 332.06371  # of two unit charges at a distance of 1, in units real


def atom_lines(points, charges, molecules):
    rows = zip(molecules, charges, points)
    return [f"{i + 1} {m + 1} {1 if q < 0 else 2} {q:.6f} " + " ".join(f"{x:.12g}" for x in p)
            for i, (m, q, p) in enumerate(rows)]


def data_file(cell, points, charges, molecules, bonds=(), angles=()):
    """`cell`: the lower triangle of the three vectors, as LAMMPS has them."""
    lines = ["made by lammps_accuracy.py", "", f"{len(points)} atoms", f"{len(bonds)} bonds", f"{len(angles)} angles",
             "2 atom types", "1 bond types", "1 angle types", ""]
    lines += [f"0 {cell[k][k]:.12g} {axis}lo {axis}hi" for k, axis in enumerate("xyz")]
    if np.count_nonzero(cell - np.diag(np.diag(cell))):
        lines.append(f"{cell[1][0]:.12g} {cell[2][0]:.12g} {cell[2][1]:.12g} xy xz yz")
    lines += ["", "Masses", "", "1 15.9994", "2 1.008", "", "Atoms", "", *atom_lines(points, charges, molecules)]
    for title, members in (("Bonds", bonds), ("Angles", angles)):
        if len(members):
            lines += ["", title, ""]
            lines += [f"{i + 1} 1 " + " ".join(str(a + 1) for a in atoms) for i, atoms in enumerate(members)]
    return "\n".join(lines) + "\n"


def water(side, tilt=(0, 0, 0), room=0.0):
    """side^3 SPC/E molecules, turned at random, on displaced places of a lattice; `room` of vacuum above them."""
    random = np.random.default_rng(7)
    edge = 3.104 * side
    cell = np.array([[edge, 0, 0], [tilt[0] * edge, edge, 0], [tilt[1] * edge, tilt[2] * edge, edge]])
    places = (np.stack(np.meshgrid(*[np.arange(side)] * 3, indexing="ij"), -1).reshape(-1, 3) + 0.5) / side
    oxygen = places @ cell + random.uniform(-0.25, 0.25, (side**3, 3))
    axes = np.linalg.qr(random.normal(size=(side**3, 3, 3)))[0]
    half = np.radians(109.47) / 2
    arms = [np.cos(half) * axes[:, 0] + sign * np.sin(half) * axes[:, 1] for sign in (1, -1)]
    points = np.stack([oxygen, oxygen + arms[0], oxygen + arms[1]], axis=1).reshape(-1, 3)
    first = 3 * np.arange(side**3)
    bonds = np.concatenate([np.stack([first, first + k], 1) for k in (1, 2)])
    angles = np.stack([first + 1, first, first + 2], 1)
    if room:
        points[:, 2] += 2
        cell[2][2] += room
    return data_file(cell, points, np.tile([-0.8476, 0.4238, 0.4238], side**3), first.repeat(3) // 3, bonds, angles)


def salt(tilt=(0, 0, 0), counts=(10, 10, 12)):
    random = np.random.default_rng(3)
    site = np.stack(np.meshgrid(*[np.arange(n) for n in counts], indexing="ij"), -1).reshape(-1, 3)
    edges = 2.82 * np.array(counts)
    cell = np.diag(edges)
    cell[1][0], cell[2][0], cell[2][1] = tilt[0] * edges[0], tilt[1] * edges[0], tilt[2] * edges[1]
    points = (site / counts) @ cell + random.normal(0, 0.25, site.shape)
    return data_file(cell, points, np.where(site.sum(1) % 2, -1.0, 1.0), np.arange(len(site)))


def few_charges():
    """100 unit charges at random places at least 1.5 apart in a cube of 10, like the case of LAMMPS' pull request #4804."""
    random = np.random.default_rng(123456)
    points = np.empty((0, 3))
    while len(points) < 100:
        one = random.uniform(0, 10, 3)
        apart = points - one
        if np.all(np.linalg.norm(apart - 10 * np.round(apart / 10), axis=1) > 1.5):
            points = np.vstack([points, one])
    return data_file(np.diag([10.0, 10, 10]), points, np.tile([1.0, -1.0], 50), np.arange(100))


def systems():
    """Name: (data file, cutoff of pairs, options of kspace_modify, boundary)."""
    return {
        "water": (water(8), 9.0, "", "p p p"),
        "water, skewed": (water(8, (0.3, -0.4, 0.45)), 9.0, "", "p p p"),
        "salt": (salt(), 10.0, "", "p p p"),
        "salt, skewed": (salt((0.5, 0.5, -0.5)), 10.0, "", "p p p"),
        "100 charges": (few_charges(), 10.0, "", "p p p"),
        "slab of water": (water(8, room=8), 9.0, "slab 3.0", "p p f"),
    }


SCRIPT = """
units real
atom_style full
boundary {boundary}
neighbor 2.0 bin
pair_style lj/cut/coul/long 5.0 {cutoff}
bond_style harmonic
angle_style harmonic
read_data {folder}/data
pair_coeff 1 1 0.1553 3.166
pair_coeff 2 2 0 1
bond_coeff 1 450 1
angle_coeff 1 55 109.47
special_bonds lj/coul 0 0 0
pair_modify table 0
kspace_style {style}
{modify}
compute mesh all pressure NULL kspace
compute atoms all pe/atom kspace
compute sum all reduce sum c_atoms
thermo_style custom step elong pe c_mesh[*] c_sum
thermo_modify format float %.15g norm no
{more}
run {steps}
write_dump all custom {folder}/forces id fx fy fz modify sort id format float %.15g
"""


def run_script(text, ranks=1):
    """Runs LAMMPS on an input. Returns its status and what it printed."""
    command = [sys.executable, "-c", RUNNER, os.environ["QUADRAT_LAMMPS_LIBRARY"], os.environ["QUADRAT_LAMMPS_PLUGIN"]]
    if ranks > 1:
        command = [os.environ.get("MPIEXEC", "mpirun"), "-n", str(ranks), *command]
    allowed = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMP_NUM_THREADS": "1",
               "OMPI_MCA_rmaps_base_oversubscribe": "1", "OMPI_MCA_btl": "self,vader",
               "OMPI_MCA_btl_vader_single_copy_mechanism": "none", "OMPI_MCA_mpi_yield_when_idle": "1"}
    with tempfile.NamedTemporaryFile("w", suffix=".in") as script:
        script.write(text)
        script.flush()
        done = subprocess.run([*command, script.name], capture_output=True, text=True, env={**os.environ, **allowed})
    return done.returncode, done.stdout + done.stderr


def run(system, style, ranks=1, modify="", more="", steps=0, cutoff=None):
    """Forces by atom, and the numbers of the last line of thermodynamic output: elong, pe, six pressures of the kspace
    style, the sum of its energies by atom."""
    data, asked_cutoff, own, boundary = system
    options = " ".join(filter(None, [own, modify]))
    with tempfile.TemporaryDirectory() as folder:
        pathlib.Path(folder, "data").write_text(data)
        text = SCRIPT.format(folder=folder, boundary=boundary, cutoff=cutoff or asked_cutoff, style=style, steps=steps,
                             modify=f"kspace_modify {options}" if options else "", more=more)
        status, output = run_script(text, ranks)
        if status:
            raise RuntimeError(output)
        forces = np.loadtxt(pathlib.Path(folder, "forces"), skiprows=9)[:, 1:]
    lines = output.splitlines()
    end = max(k for k, line in enumerate(lines) if line.startswith("Loop time"))
    return forces, np.array([float(word) for word in lines[end - 1].split()[1:]]), output


def reference(system):
    """By `ewald` at 1e-10, with a cutoff of its own."""
    return run((*system[:2], "slab 6.0" if system[2] else "", system[3]), "ewald 1e-10", cutoff=11.0)


def error_of(forces, exact):
    return np.sqrt(np.mean(np.sum((forces - exact) ** 2, axis=1))) / UNIT_FORCE


def print_times(ranks):
    print("| system | asked | `quadrat` | `pppm` |\n|---|---|---|---|")
    for name, tilt in (("12,288 atoms of water", (0, 0, 0)), ("... skewed", (0.3, -0.4, 0.45))):
        system = (water(16, tilt), 9.0, "", "p p p")
        for accuracy in ("1e-4", "1e-5"):
            times = {"quadrat": [], "pppm": []}
            for _ in range(3):
                for style, found in times.items():
                    output = run(system, f"{style} {accuracy}", ranks, more="timestep 0.1\nfix move all nve", steps=20)[2]
                    row = next(line for line in output.splitlines() if line.startswith("Kspace"))
                    found.append(float(row.split("|")[2]) / 20 * 1e3)
            print(f"| {name} | {accuracy} | {min(times['quadrat']):.1f} ms | {min(times['pppm']):.1f} ms |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ranks", type=int, default=1)
    parser.add_argument("--times", action="store_true")
    parser.add_argument("--json", help="write the errors to this file")
    arguments = parser.parse_args()
    ranks = arguments.ranks
    if arguments.times:
        print_times(ranks)
        return
    rows = []
    print("| system | asked | `quadrat` | `pppm` |\n|---|---|---|---|")
    for name, system in systems().items():
        exact = reference(system)[0]
        for accuracy in ("1e-3", "1e-4", "1e-5", "1e-6"):
            cells = []
            for style in ("quadrat", "pppm"):
                try:
                    cells.append(f"{error_of(run(system, f'{style} {accuracy}', ranks)[0], exact):.1e}")
                except RuntimeError as problem:
                    words = [line for line in str(problem).splitlines() if "ERROR" in line]
                    cells.append(words[0].split("(")[0].strip() if words else "fails")
            rows.append({"op": "forces", "system": name, "asked": float(accuracy), "quadrat": cells[0], "pppm": cells[1]})
            print(f"| {name} | {accuracy} | {cells[0]} | {cells[1]} |", flush=True)
    if arguments.json:
        meta = {"topic": "lammps_accuracy", "ranks": ranks}
        pathlib.Path(arguments.json).write_text(json.dumps({"meta": meta, "rows": rows}, indent=1) + "\n")


if __name__ == "__main__":
    main()
