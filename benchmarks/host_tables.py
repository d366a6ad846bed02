#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Which hosts this package has been tested with, and how long they take: two tables for docs/replacing/atoms.md.

    benchmarks/host_tables.py --tests build/cpu/python --json benchmarks/results/cpu/host_tests.json   # runs the tests
    benchmarks/host_tables.py benchmarks/results/cpu/host_tests.json benchmarks/results/cpu/atoms.json # prints both tables

The tests are those of tests/python for each host, with its package installed: a host whose package is missing has its tests
skipped, and stands in the table as not installed. Times are those that compare_atoms.py wrote.
"""

import argparse
import importlib.metadata
import importlib.util
import json
import os
import pathlib
import subprocess
import sys
import tempfile
from xml.etree import ElementTree

SOURCE = pathlib.Path(__file__).resolve().parents[1]
# Name, package, module, file of tests, and those of the file that concern the host.
HOSTS = [
    ("ASE", "ase", "ase", "atoms_test.py", "not matscipy"),
    ("matscipy", "matscipy", "matscipy", "atoms_test.py", "matscipy"),
    ("MDAnalysis", "MDAnalysis", "MDAnalysis", "mdanalysis_test.py", ""),
    ("torch-sim", "torch-sim-atomistic", "torch_sim", "torch_sim_test.py", ""),
    ("metatomic", "metatomic-torch", "metatomic", "metatomic_test.py", ""),
    ("PyTorch Geometric", "torch_geometric", "torch_geometric", "torch_geometric_test.py", ""),
    ("MACE", "mace-torch", "mace", "examples_test.py", "mace"),
    ("NequIP", "nequip", "nequip", "examples_test.py", "nequip"),
    ("OVITO", "ovito", "ovito", "ovito_test.py", ""),
    ("files of ASE, GSD, LAMMPS", "gsd", "gsd", "frames_test.py", ""),
]


def tested(package, file, chosen):
    """Counts of one run of pytest, and the reasons of failures."""
    with tempfile.TemporaryDirectory() as folder:
        report = pathlib.Path(folder) / "report.xml"
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", f"--junitxml={report}", file]
        environment = os.environ | {"PYTHONPATH": str(pathlib.Path(package).resolve())}
        run = subprocess.run(command + (["-k", chosen] if chosen else []), cwd=SOURCE / "tests" / "python", env=environment,
                             capture_output=True, text=True)  # fmt: skip
        if not report.exists():
            raise SystemExit(f"pytest failed for {file}:\n{run.stdout}{run.stderr}")
        cases = list(ElementTree.parse(report).iter("testcase"))
    failures = {case.get("name"): (case.find("failure") if case.find("failure") is not None else case.find("error"))
                for case in cases}  # fmt: skip
    reasons = [f"{name}: {one.get('message', '').splitlines()[0]}" for name, one in failures.items() if one is not None]
    skipped = sum(case.find("skipped") is not None for case in cases)
    return {"passed": len(cases) - skipped - len(reasons), "failed": len(reasons), "skipped": skipped, "reasons": reasons}


def all_tested(package):
    rows = []
    for host, name, module, file, chosen in HOSTS:
        row = {"host": host, "tests": file, "of": chosen}
        if importlib.util.find_spec(module) is None:
            print(f"{host} is not installed", file=sys.stderr)
            rows.append(row)
            continue
        rows.append(row | {"version": importlib.metadata.version(name)} | tested(package, file, chosen))
        print(rows[-1], file=sys.stderr, flush=True)
    return rows


def table_of_tests(rows):
    print("| host | tests | passed | failed | skipped |\n|---|---|---|---|---|")
    for row in rows:
        if "version" not in row:
            print(f"| {row['host']} | not installed | | | |")
            continue
        failed = str(row["failed"]) if not row["reasons"] else f"{row['failed']}: {'; '.join(row['reasons'])}"
        file = f"`{row['tests']}`" + (f" -k \"{row['of']}\"" if row["of"] else "")
        print(f"| {row['host']} ({row['version']}) | {file} | {row['passed']} | {failed} | {row['skipped']} |")


def table_of_times(rows):
    """A line for each work and number of atoms: here, and each other way."""
    works = {}
    for row in rows:
        key = row.get("host", ""), row["op"], row["systems"], row["n"]
        works.setdefault(key, {})[row["method"]] = 1e3 * row["median_s"]
    print("| milliseconds | systems, atoms in all | here | there |\n|---|---|---|---|")
    for (host, op, systems, count), times in works.items():
        others = ", ".join(f"{name} {time:.3g}" for name, time in times.items() if name != "quadrat")
        if others:
            print(f"| {op}, {host} | {systems:,}, {count:,} | {times['quadrat']:.3g} | {others} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*", help="results to make tables of")
    parser.add_argument("--tests", metavar="PACKAGE", help="runs the tests with the package in this folder")
    parser.add_argument("--json", help="write the counts of tests to this file")
    given = parser.parse_args()
    if given.tests:
        rows = all_tested(given.tests)
        table_of_tests(rows)
        if given.json:
            meta = {"topic": "host_tests", "python": sys.version.split()[0]}
            pathlib.Path(given.json).write_text(json.dumps({"meta": meta, "rows": rows}, indent=1) + "\n")
    for file in given.files:
        found = json.loads(pathlib.Path(file).read_text())
        (table_of_tests if found["meta"]["topic"] == "host_tests" else table_of_times)(found["rows"])
        print()


if __name__ == "__main__":
    main()
