#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Steps of a Lennard-Jones liquid on one CPU thread beside LAMMPS' lj/cut, in turns.

    apt-get install lammps
    benchmarks/compare_lammps.py [--program build/cpu/bin/quadrat] [--rounds 3] [--json FILE]

32,000 atoms in double precision: reduced density 0.8442, temperature 1.44 at the start, step 0.005, cutoff 2.5, skin
0.3, lists rebuilt when an atom has moved by half of the skin; LAMMPS' bench/in.lj with that rule. Quadrat's times are
those of `quadrat bench neighbors --op lj_step`. A step includes its share of the rebuilds.
"""

import argparse
import json
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import sys
import tempfile

SOURCE = pathlib.Path(__file__).resolve().parents[1]
STEPS = 200
INPUT = f"""
units lj
atom_style atomic
lattice fcc 0.8442
region box block 0 20 0 20 0 20
create_box 1 box
create_atoms 1 box
mass 1 1.0
velocity all create 1.44 87287 loop geom
pair_style lj/cut 2.5
pair_coeff 1 1 1.0 1.0 2.5
neighbor 0.3 bin
neigh_modify every 1 delay 0 check yes
fix 1 all nve
thermo 50
run {STEPS}
"""


def output_of(command, folder):
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder,
                              env={**os.environ, "OMP_NUM_THREADS": "1"})  # fmt: skip
    except OSError as problem:
        sys.exit(f"compare_lammps: {problem}")
    if done.returncode != 0:
        sys.exit(f"compare_lammps: {' '.join(command)}: {done.stderr or done.stdout}")
    return done.stdout


def lammps_step(lammps, folder):
    (folder / "in.lj").write_text(INPUT)
    text = output_of([lammps, "-in", "in.lj", "-log", "none"], folder)
    found = re.search(r"LAMMPS \((.*?)\).*Loop time of (\S+)", text, re.DOTALL)
    if found is None:
        sys.exit(f"compare_lammps: {lammps} does not print what LAMMPS prints")
    return 1e3 * float(found.group(2)) / STEPS, found.group(1)


def own_steps(program, folder):
    """Milliseconds by kind of list, and the description of the run."""
    output_of([program, "bench", "neighbors", "--full", "--op", "lj_step", "--device", "cpu", "--threads", "1",
               "--json", "steps.json"], folder)  # fmt: skip
    result = json.loads((folder / "steps.json").read_text())
    rows = [row for row in result["rows"] if row["n"] == 32_000 and "determinism" not in row]
    return {row["pairs"]: row["median_ms"] for row in rows}, result["meta"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default=str(SOURCE / "build" / "cpu" / "bin" / "quadrat"))
    parser.add_argument("--lammps", default=shutil.which("lmp"), help="default: lmp")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json", help="write the rows to this file")
    options = parser.parse_args()
    if not options.lammps:
        sys.exit("compare_lammps: there is no program lmp; apt-get install lammps")
    times, meta, version = {}, {}, ""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for _ in range(options.rounds):
            theirs, version = lammps_step(options.lammps, folder)
            times.setdefault("LAMMPS lj/cut", []).append(theirs)
            own, meta = own_steps(str(pathlib.Path(options.program).resolve()), folder)
            for pairs, step in own.items():
                times.setdefault(f"quadrat, {pairs} list", []).append(step)
    theirs = statistics.median(times["LAMMPS lj/cut"])
    rows = []
    for method, steps in times.items():
        step = statistics.median(steps)
        rows.append({"op": "lj_step", "method": method, "precision": "double", "n": 32_000, "step_ms": step,
                     "rounds_ms": steps, "of_lammps": step / theirs})  # fmt: skip
        print(f"{method:<20} {step:>8.2f} ms a step   {step / theirs:>5.2f} of LAMMPS")
    if options.json:
        meta = {key: meta[key] for key in ("version", "commit", "device", "compiler", "threads") if key in meta}
        meta |= {"topic": "compare_lammps", "lammps": version}
        pathlib.Path(options.json).write_text(json.dumps({"meta": meta, "rows": rows}, indent=1) + "\n")


if __name__ == "__main__":
    main()
