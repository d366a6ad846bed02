# SPDX-License-Identifier: BSD-3-Clause
"""Tables of the topic mesh: what a plan does, and the figures of particle-mesh-spreading."""

import math

from table_lines import lines_of, select


def powers_of_ten(n):
    """100000 -> 1e5, 3000 -> 3e3."""
    exponent = len(str(n)) - 1
    return f"{n / 10**exponent:g}e{exponent}"


def grid(title, rows, row_key, column_key, text, row_name=str, column_name=str, corner=""):
    """One line per value of `row_key`, one column per value of `column_key`; the shortest time of a line is bold. Of
    rows measured twice the first counts."""
    if not rows:
        return
    columns = list(dict.fromkeys(row[column_key] for row in rows))
    lines = []
    for value in sorted({row[row_key] for row in rows}):
        found = {}
        for row in select(rows, **{row_key: value}):
            found.setdefault(row[column_key], row)
        least = min(row["median_ms"] for row in found.values())
        texts = []
        for column in columns:
            row = found.get(column)
            mark = "**" if row and row["median_ms"] == least and len(found) > 1 else ""
            texts.append(f"{mark}{text(row)}{'' if row['stable'] else ' ~'}{mark}" if row else "")
        lines.append([row_name(value), *texts])
    lines_of(title, [corner, *(column_name(column) for column in columns)], lines)


def significant(milliseconds):
    """Three digits, without an exponent."""
    return f"{milliseconds:.{max(0, 2 - math.floor(math.log10(milliseconds)))}f}" if milliseconds > 0 else "0"


def time_text(row):
    return significant(row["median_ms"])


def time_and_rate(row):
    return f"{time_text(row)} ({row['points_per_s'] / 1e9:.3g})"


def cube_name(extent):
    return f"{extent}^3"


MESH_TITLES = {"spread": "Spreading", "interpolate": "Interpolation", "interpolate_gradient": "Interpolation of gradients",
               "set_points": "Setting points"}


def execution_tables(rows):
    """A table of meshes and numbers of points for each kind of values, then the other variations."""
    for operation, name in MESH_TITLES.items():
        chosen = select(rows, op=operation)
        plain = select(chosen, precision="float", order=6, distribution="uniform", determinism=None)
        for method in dict.fromkeys(row["method"] for row in plain):
            for value in dict.fromkeys(row.get("value") for row in plain):
                grid_of = select(plain, method=method, value=value)
                mesh_grid(f"{name}, {f'{value} ' if value else ''}float, order 6, `{method}`: ms (G points/s)", grid_of)
        beside = [row for row in chosen if row not in plain]
        usual = {}
        for row in plain:
            if beside and row.get("value", "real") == "real" and all(row[key] == beside[0][key] for key in ("n", "mesh")):
                usual.setdefault(row["method"], row)
        lines = []
        for row in beside:
            base = usual.get(row["method"]) or next(iter(usual.values()), None)
            lines.append([f"`{row['method']}`", f"{row.get('value', '')} {row['precision']}".strip(), str(row["order"]),
                          row["distribution"], row.get("determinism", ""), powers_of_ten(row["n"]),
                          cube_name(row["mesh"]), time_text(row),
                          f"{row['median_ms'] / base['median_ms']:.2f}" if base else ""])
        lines_of(f"{name}, beside that: ms, and times that of real float of order 6, uniform points",
                 ["method", "values", "order", "points", "determinism", "n", "mesh", "ms", "times"], lines)


def mesh_grid(title, rows):
    counts = sorted({row["n"] for row in rows})
    lines = []
    for mesh in sorted({row["mesh"] for row in rows}):
        found = [next(iter(select(rows, mesh=mesh, n=n)), None) for n in counts]
        lines.append([cube_name(mesh), *(time_and_rate(row) + ("" if row["stable"] else " ~") if row else "" for row in found)])
    lines_of(title, ["mesh", *(f"{powers_of_ten(n)} points" for n in counts)], lines)


def asm_name(rows):
    """1e5 points -> 1e5 (10.3 contributions to a mesh point)."""
    contributions = {row["n"]: row["asm"] for row in rows}
    return lambda n: f"{powers_of_ten(n)} ({contributions[n]:.3g})"


def compute_unit_tables(rows):
    """Figure 3: the best compute unit of each density against the rule's."""
    for mesh in sorted({row["mesh"] for row in rows}):
        chosen = select(rows, mesh=mesh)
        grid(f"Figure 3: single_mesh, {cube_name(mesh)}, by threads a mesh point, ms", chosen, "n", "compute_unit",
             time_text, asm_name(chosen), corner="points (contributions a mesh point)")
    lines = []
    for density in sorted({row["asm"] for row in rows}):
        chosen = {row["compute_unit"]: row for row in select(rows, asm=density)}
        best = min(chosen.values(), key=lambda row: row["median_ms"])
        rule = chosen.get(best["rule"])
        if rule:
            lines.append([f"{density:.3g}", cube_name(best["mesh"]), powers_of_ten(best["n"]), str(best["compute_unit"]),
                          str(best["rule"]), f"{rule['median_ms'] / best['median_ms']:.2f}"])
    lines_of("Figure 3: the best compute unit and the paper's rule",
             ["contributions a mesh point", "mesh", "points", "best", "rule", "time of the rule's, times the best"], lines)


def figure_tables(rows):
    compute_unit_tables(select(rows, op="figure3"))
    titles = {4: ("group_mesh by mesh points a group", "group_size"), 5: ("single_mesh by reduction", "reduction"),
              6: ("with and without atomic operations", "method"), 7: ("particle and gather", "method"),
              8: ("spreading by every method", "method"), 9: ("setting the points of every method", "method")}
    for figure, (title, key) in titles.items():
        chosen = select(rows, op=f"figure{figure}")
        for mesh in sorted({row["mesh"] for row in chosen}):
            these = select(chosen, mesh=mesh)
            grid(f"Figure {figure}: {title}, {cube_name(mesh)}, ms", these, "n", key, time_text, asm_name(these),
                 corner="points (contributions a mesh point)")


def repetition_tables(rows):
    """Section 4.5."""
    for among in ("paper", "all"):
        chosen = select(rows, op="repetitions", among=among)
        for mesh in sorted({row["mesh"] for row in chosen}):
            these = select(chosen, mesh=mesh)
            counts = list(dict.fromkeys(row["repetitions"] for row in these))
            lines = []
            for n in sorted({row["n"] for row in these}):
                found = {row["repetitions"]: row for row in select(these, n=n)}
                lines.append([asm_name(these)(n), *(winner_text(found[count]) for count in counts)])
            kind = "the paper's methods" if among == "paper" else "all methods"
            lines_of(f"The fastest of {kind} by repetitions, {cube_name(mesh)} (by how much the second is slower)",
                     ["points (contributions a mesh point)", *map(str, counts)], lines)


def winner_text(row):
    margin = f" ({row['second_ms'] / row['median_ms']:.2f})" if "second_ms" in row else ""
    return f"`{row['method']}`{margin}"


def mesh_tables(rows):
    execution_tables(rows)
    figure_tables(rows)
    repetition_tables(rows)
