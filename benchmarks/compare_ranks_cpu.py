#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Steps of the granular model by two threads of one process and by two processes under mpirun, on the same two cores.

    python3 benchmarks/compare_ranks_cpu.py build/cpu/bin/quadrat [-o benchmarks/results/cpu/ranks_mpi.json] [--cores 0,1]

Runs both by turns, so that a machine that becomes slower does so for both, and keeps the results of all runs. Prints the
median milliseconds of a step of each, and what processes lose. Scenes: the dam break, and a bed of grains at rest."""

import argparse
import json
import pathlib
import statistics
import subprocess
import tempfile

SCENE = """[scene]
name = "{name}"
model = "granular"
[box]
lower = [-1, -1, -1]
upper = [1, 1, 1]
[grid]
cells = [64, 64, 64]
[particles]
count = {count}
radius = 0.015625
start = "{start}"
[physics]
time_step = 0.5
gravity = [0, {gravity}, 0]
[run]
steps = {steps}
[output]
frame_every = 1000000
checkpoint_every = 1000000
"""
SCENES = [
    {"name": "dam_break", "count": 65536, "start": "left_half", "gravity": -3e-4, "steps": 300},
    {"name": "rest", "count": 200000, "start": "lattice", "gravity": 0.0, "steps": 300},
]
TURNS = 5


def summary(program, scene, processes, cores, folder):
    path = folder / "scene.toml"
    path.write_text(SCENE.format(**scene))
    run = ["taskset", "-c", cores, program, "run", str(path), "--device", "cpu", "--threads", str(2 // processes),
           "--output", str(folder / "out"), "--overwrite", "--json", "--quiet"]  # fmt: skip
    start = ["mpirun", "--allow-run-as-root", "--bind-to", "none", "-n", str(processes)] if processes > 1 else []
    return json.loads(subprocess.run(start + run, check=True, capture_output=True, text=True).stdout)


def row_of(scene, processes, found):
    run, ranks = found["run"], found.get("ranks", {})
    row = {"op": "ranks", "method": "processes" if processes > 1 else "threads", "scene": scene, "n": run["particles"],
           "steps": run["last_step"] - run["first_step"], "chosen": run["method"],
           "mean_ms": found["performance"]["milliseconds_per_step"]}  # fmt: skip
    row |= {key: ranks[key] for key in ("exchanges", "balances", "imbalance", "steps_lost_to_imbalance") if key in ranks}
    if ranks:
        row["communication_seconds"] = [rank["communication_seconds"] for rank in ranks["by_rank"]]
    return row


def results_of(runs):
    """In the form of `quadrat bench`. runs: scene, processes and summary of each run."""
    first = runs[0]["summary"]
    meta = {key: first["program"][key] for key in ("version", "commit", "compiler")}
    meta |= {"device": first["device"]["name"], "threads": 2, "topic": "compare_ranks_cpu"}
    return {"meta": meta, "rows": [row_of(run["scene"], run["processes"], run["summary"]) for run in runs]}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("program")
    parser.add_argument("-o", "--output", type=pathlib.Path, help="a file for the results, as JSON")
    parser.add_argument("--cores", default="0,1")
    parser.add_argument("--turns", type=int, default=TURNS)
    options = parser.parse_args()
    rows = []
    with tempfile.TemporaryDirectory() as name:
        for scene in SCENES:
            for _ in range(options.turns):
                for processes in (1, 2):
                    found = summary(options.program, scene, processes, options.cores, pathlib.Path(name))
                    rows.append({"scene": scene["name"], "processes": processes, "summary": found})
            times = {
                count: statistics.median(row["summary"]["performance"]["milliseconds_per_step"] for row in rows
                                         if row["scene"] == scene["name"] and row["processes"] == count)
                for count in (1, 2)
            }  # fmt: skip
            print(f"{scene['name']}: threads {times[1]:.3g} ms, processes {times[2]:.3g} ms, "
                  f"{100 * (1 - times[1] / times[2]):.0f} % lost")  # fmt: skip
    if options.output:
        options.output.write_text(json.dumps(results_of(rows), indent=1) + "\n")


if __name__ == "__main__":
    main()
