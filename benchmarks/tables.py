#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Prints what the files of `quadrat bench --json` say about the findings of the papers, as Markdown tables.

    benchmarks/tables.py benchmarks/results/h200/cells.json benchmarks/results/h200/granular.json
    benchmarks/tables.py benchmarks/results/h200/search.json benchmarks/results/h200/contacts.json
    benchmarks/tables.py benchmarks/results/h200/mesh.json benchmarks/results/h200/srd.json
    benchmarks/tables.py benchmarks/results/h200/keyed.json benchmarks/results/h200/keyed_auto.json
    benchmarks/tables.py benchmarks/results/h200/keyed_sizes.json
"""

import json
import sys

from keyed_tables import keyed_tables
from mesh_tables import mesh_tables
from srd_tables import srd_tables
from table_lines import lines_of, select


def short(n):
    """1048576 -> 1M, if it is a power of two."""
    for unit, size in (("M", 1 << 20), ("K", 1 << 10)):
        if n >= size and n % size == 0:
            return f"{n // size}{unit}"
    return str(n)


def table(title, rows, columns, cell, key="n", name=short):
    """One line per method, one column per value of `key`; the largest value of a column is bold."""
    if not rows:
        return
    values = sorted({row[key] for row in rows})
    methods = list(dict.fromkeys(row["method"] for row in rows))
    best = {value: max(row[cell] for row in rows if row[key] == value) for value in values}
    lines = [f"### {title}", "", "| method | " + " | ".join(name(value) for value in values) + " |"]
    lines.append("|---" * (len(values) + 1) + "|")
    for method in methods:
        texts = []
        for value in values:
            found = [row for row in rows if row["method"] == method and row[key] == value]
            if not found:
                texts.append("")
                continue
            text = columns(found[0]) + ("" if found[0]["stable"] else " ~")
            texts.append(f"**{text}**" if found[0][cell] == best[value] else text)
        lines.append(f"| `{method}` | " + " | ".join(texts) + " |")
    print("\n".join(lines) + "\n")


def mega(key):
    return lambda row: f"{row[key] / 1e6:,.0f}"


def giga(key):
    return lambda row: f"{row[key] / 1e9:.3g}"


def milliseconds(row):
    return f"{row['median_ms']:.3f}"


def cells_tables(rows):
    inserts = select(rows, op="insert", cells=64**3, determinism=None)
    table("Insertion, 64^3 cells, float, G inserts/s", select(inserts, precision="float"), giga("inserts_per_s"),
          "inserts_per_s")
    table("Insertion, double, G inserts/s", select(inserts, precision="double"), giga("inserts_per_s"), "inserts_per_s")
    table("Insertion, run_to_run, G inserts/s", select(rows, op="insert", determinism="run_to_run"),
          giga("inserts_per_s"), "inserts_per_s")
    boxes = [row for row in select(rows, op="insert", determinism=None) if row["cells"] != 64**3]
    for low, high in ((1.5, 2.7), (2.7, 5), (5, 10)):
        chosen = [row for row in boxes if low < row["occupancy"] < high]
        mean = sum(row["occupancy"] for row in chosen) / max(len(chosen), 1)
        table(f"Insertion in boxes, about {mean:.1f} a cell, G inserts/s", chosen, giga("inserts_per_s"),
              "inserts_per_s")
    for order in ("random", "steady"):
        table(f"Build and carry, {order} order, ms", select(rows, op="carry", order=order), milliseconds,
              "inserts_per_s")
    for order in ("random", "cells"):
        table(f"Walk, memory order {order}, ms", select(rows, op="walk", order=order), milliseconds, "walks_per_s")
    for operation in ("hash_insert", "hash_find"):
        rate = "inserts_per_s" if operation == "hash_insert" else "finds_per_s"
        table(f"{operation}, G/s", select(rows, op=operation), giga(rate), rate)
    for carried in (False, True):
        table(f"Figure 3: insertion in the slowest step, carried: {carried}, M inserts/s",
              select(rows, figure=3, carried=carried), mega("inserts_per_s"), "inserts_per_s")


def read_path_tables(rows):
    for order in ("random", "cells"):
        for path in ("plain", "read_only", "texture"):
            table(f"Walk by hand, {path} loads, memory order {order}, ms",
                  select(rows, op="read_paths", order=order, read_path=path), milliseconds, "walks_per_s")
        ratio_lines(rows, order)


def ratio_lines(rows, order):
    """The gain of the texture path and of read-only loads over plain ones."""
    for row in select(rows, op="read_paths", order=order, read_path="plain"):
        same = {"op": "read_paths", "order": order, "method": row["method"], "n": row["n"]}
        for path in ("texture", "read_only"):
            for other in select(rows, read_path=path, **same):
                gain = row["median_ms"] / other["median_ms"] - 1
                print(f"- {row['method']}, {short(row['n'])}, order {order}: {path} against plain {gain:+.1%}")
    print()


def granular_tables(rows):
    steps = select(rows, op="step", precision="float", determinism=None)
    for row in steps:
        row["case"] = (row["n"], round(row["occupancy"], 1))
    table("Step on frozen positions, ms", steps, milliseconds, "updates_per_s", key="case",
          name=lambda case: f"{short(case[0])} at {case[1]}")
    for level in ("run_to_run", "canonical"):
        table(f"Step, {level}, ms", select(rows, op="step", determinism=level), milliseconds, "updates_per_s")
    table("Step, double, ms", select(rows, op="step", precision="double"), milliseconds, "updates_per_s")
    table("Figure 2: whole simulation, M updates/s", select(rows, figure=2, positions=None), mega("updates_per_s"),
          "updates_per_s")
    table("Figure 2, frozen positions, M updates/s", select(rows, figure=2, positions="frozen"),
          mega("updates_per_s"), "updates_per_s")
    for row in select(rows, op="threads"):
        print(f"- {row['threads']} threads: {row['median_ms']:.2f} ms, {row['speedup']:.2f} times one")


PAPER_ORDERS = ("default", "strips", "modular", "hybrid")


def cells_text(row):
    along_x = f", {row['cells_per_reach_x']} along x" if "cells_per_reach_x" in row else ""
    return f"{row['cells_per_reach']}{along_x}{', not queued' if row.get('queued') is False else ''}"


def circles_step_tables(rows):
    for density in sorted({round(row["density"], 3) for row in rows if row["op"] == "step"}):
        chosen = [row for row in rows if row["op"] == "step" and round(row["density"], 3) == density]
        lines = []
        for row in sorted(chosen, key=lambda row: row["median_ms"]):
            lines.append([f"`{row['method']}`", f"`{row['cell_list']}`", cells_text(row),
                          f"{row['median_ms']:.3f}", f"{row['first_step_ms']:.3f}", f"{row['agents_per_s'] / 1e6:.4g}",
                          giga("candidates_rate")(row), f"{row['candidates']:.1f}", f"{row['neighbors']:.1f}"])
        lines_of(f"Circles, sine form, {chosen[0]['n']:,} agents, rho = {density:g}: the whole step, "
                 f"mean of steps 1 to {chosen[0]['steps']}",
                 ["order", "cell list", "cells a reach", "ms", "ms, step 1", "M agents/s", "G candidates/s",
                  "candidates", "neighbors"], lines)


def series_ratios(rows, order):
    """How many times as fast as `default` the order is in each interval of a run."""
    times = {row["method"]: [point["median_ms"] for point in row["series"]] for row in rows}
    if "default" not in times or order not in times:
        return []
    return [base / other for base, other in zip(times["default"], times[order])]


def circles_tables(rows):
    """The paper's experiment: every run, and its findings one by one."""
    cases = list(dict.fromkeys((row["dim"], row["density"], row["force"]) for row in rows if row["op"] == "circles"))
    lines, findings = [], []
    for dim, density, force in cases:
        chosen = select(rows, op="circles", dim=dim, density=density, force=force)
        first = chosen[0]
        name = f"{dim}D, {first['n']:,} agents, rho = {density:g}, k = {force:g}"
        for row in chosen:
            lines.append([name, f"`{row['method']}`", f"{row['first_tenth_ms']:.4f}", f"{row['last_tenth_ms']:.4f}",
                          f"{row['mean_ms']:.4f}"])
        spread = f"{first['first_deviation']:.1f} to {first['last_deviation']:.1f}"
        texts = []
        for order in PAPER_ORDERS[1:]:
            ratios = series_ratios(chosen, order)
            texts.append(f"{ratios[0]:.2f} / {ratios[-1]:.2f} ({min(ratios):.2f} to {max(ratios):.2f})" if ratios else "")
        findings.append([name, spread, *texts])
    lines_of("The paper's experiment, ms a step: first tenth, last tenth, whole run",
             ["run", "order", "first", "last", "mean"], lines)
    lines_of("Times as fast as default: first / last stretch (least to greatest)",
             ["run", "deviation of neighbors", "strips", "modular", "hybrid"], findings)


def sweep_tables(rows):
    keys = {"width": "width", "radius": "radius", "volume": "n", "density": "density", "reach": "radius"}
    for operation in ("original", "sine"):
        for swept, key in keys.items():
            for dim in (2, 3):
                chosen = [dict(row, method=f"{row['method']} over {row['cell_list']}, {row['cells_per_reach']}")
                          for row in select(rows, op=operation, swept=swept, dim=dim)]
                table(f"Circles, {operation} form, {dim}D, over the {swept}, ms", chosen,
                      lambda row: f"{row['median_ms']:.4f}", "agents_per_s", key=key, name=lambda value: f"{value:g}")


def visit_tables(rows):
    lines = [[f"`{row['method']}`", f"`{row['cell_list']}`", row["positions"], str(row["cells_per_reach"]),
              milliseconds(row), giga("visits_per_s")(row)]
             for row in sorted(select(rows, op="visit"), key=lambda row: row["median_ms"])]
    lines_of("Counting the neighbors of every point, building included",
             ["order", "cell list", "positions", "cells a reach", "ms", "G visits/s"], lines)


def search_tables(rows):
    circles_step_tables(rows)
    circles_tables(rows)
    sweep_tables(rows)
    visit_tables(rows)


def contacts_tables(rows):
    lines = [[row["distribution"], row["precision"], row.get("order") or row.get("determinism", ""), f"{row['n']:,}",
              f"{row['contacts']:,}", milliseconds(row), giga("contacts_per_s")(row), row["reason"]]
             for row in select(rows, op="detect")]
    lines_of("From positions to records", ["bodies", "type", "order", "n", "contacts", "ms", "G contacts/s", "why"], lines)
    table("Every method, bins of its own choice, ms", select(rows, op="methods"), milliseconds, "contacts_per_s",
          key="distribution", name=str)
    for bodies in dict.fromkeys(row["distribution"] for row in select(rows, op="bins")):
        chosen = [row for row in select(rows, op="bins", distribution=bodies) if "bin_in_diameters" in row]
        for row in chosen:
            row["size"] = round(row["bin_in_diameters"], 2)
            if row["method"] == "bins":
                row["method"] = f"bins, {'sorted' if row['balanced'] else 'not sorted'} by load, memory {row['memory']}"
        table(f"Bins in mean diameters, {bodies}, ms", chosen, milliseconds, "contacts_per_s", key="size", name=str)
    lines = [[row["distribution"], f"{row['n']:,}", row["precision"], f"{row['contacts_per_particle']:.1f}",
              milliseconds(row), giga("updates_per_s")(row)] for row in select(rows, op="friction")]
    lines_of("Friction, the step of settled grains", ["which", "grains", "type", "contacts a grain", "ms", "G updates/s"],
             lines)


def main(files):
    for file in files:
        with open(file, encoding="utf-8") as stream:
            result = json.load(stream)
        meta = result["meta"]
        print(f"## {meta['topic']}: {meta['device']}, quadrat {meta['version']} ({meta['commit']})\n")
        for noise in meta["noise"]:
            print(f"Noise ({noise['op']}, {noise['method']}, {short(noise['n'])}): {noise['relative']:.1%}. "
                  "A rate with ~ was not stable.\n")
        if meta["topic"] == "cells":
            cells_tables(result["rows"])
            read_path_tables(result["rows"])
        elif meta["topic"] == "granular":
            granular_tables(result["rows"])
        elif meta["topic"] == "search":
            search_tables(result["rows"])
        elif meta["topic"] == "contacts":
            contacts_tables(result["rows"])
        elif meta["topic"] == "mesh":
            mesh_tables(result["rows"])
        elif meta["topic"] == "keyed":
            keyed_tables(result["rows"])
        elif meta["topic"] == "srd":
            srd_tables(result["rows"])
        for row in result.get("failed", []):
            print(f"FAILED: {row['op']} {row['method']} {row['n']}: {row['reason']}")


if __name__ == "__main__":
    main(sys.argv[1:])
