# SPDX-License-Identifier: BSD-3-Clause
"""Tables of the topic keyed: sums by key, and the experiment of voting-and-shuffling."""

from mesh_tables import powers_of_ten, significant
from table_lines import lines_of, select

ORDERS = ("ordered", "shifted", "random")


def device_ms(row):
    """The time in a captured graph, where there is one."""
    return row.get("graph_ms", row["median_ms"])


def kept_ms(row):
    return row.get("kept_graph_ms", row["kept_ms"])


def finding_ms(row):
    return row.get("set_keys_graph_ms", row["set_keys_ms"])


def column_name(order, precision, components):
    return f"{order}, {f'{components} ' if components > 1 else ''}{precision}"


def variant_name(row):
    peers = f", {row['finder']}, {row['combination']}" if "finder" in row else ""
    chosen = f" ({row['chosen']})" if "chosen" in row else ""
    return f"`{row['method']}`{peers}{chosen if row.get('op') != 'reach' else ''}"


def by_variant(title, rows, columns, milliseconds, key, name):
    """One line per variant, one column per value of `key`; the least time of a column is bold. Of rows measured
    twice the first counts."""
    found = {}
    for row in rows:
        found.setdefault((variant_name(row), key(row)), row)
    columns = [column for column in columns if any(place[1] == column for place in found)]
    least = {column: min(milliseconds(row) for (_, other), row in found.items() if other == column)
             for column in columns}
    lines = []
    for variant in dict.fromkeys(place[0] for place in found):
        texts = [variant]
        for column in columns:
            row = found.get((variant, column))
            mark = "**" if row and milliseconds(row) == least[column] else ""
            texts.append(f"{mark}{significant(milliseconds(row))}{'' if row['stable'] else ' ~'}{mark}" if row else "")
        lines.append(texts)
    lines_of(title, ["method", *map(name, columns)], lines)


def problem_text(rows):
    return f"{powers_of_ten(rows[0]['n'])} elements, {powers_of_ten(rows[0]['keys'])} keys"


def case_of(row):
    return row["distribution"], row["precision"], row["components"]


def reach_tables(rows):
    if not rows:
        return
    cases = list(dict.fromkeys(map(case_of, rows)))
    named = lambda case: column_name(*case)
    by_variant(f"{problem_text(rows)}: keys new for every sum, ms", rows, cases, device_ms, case_of, named)
    by_variant("The same, keys set once: ms", rows, cases, kept_ms, case_of, named)
    if any("graph_ms" in row for row in rows):
        by_variant("The same as the first, called from the host: ms", rows, cases, lambda row: row["median_ms"],
                   case_of, named)
    lines = []
    for case in cases:
        these = [row for row in rows if case_of(row) == case]
        best = min((row for row in these if row["method"] != "auto"), key=device_ms, default=these[0])
        chosen = next((row for row in these if row["method"] == "auto"), None)
        lines.append([named(case), f"`{best['method']}`", significant(device_ms(best)),
                      f"{significant(device_ms(chosen))} (`{chosen['chosen']}`)" if chosen else "",
                      f"{best['n'] / device_ms(best) / 1e6:.3g}",
                      significant(best["floor_ms"]) if "floor_ms" in best else ""])
    lines_of("Beside the best method: ms",
             ["keys and values", "method", "ms", "auto", "G elements/s", "floor"], lines)


def paper_tables(rows):
    """The experiment of the paper, a table for each precision; then the cost of peer masks and when they pay."""
    for precision in ("float", "double"):
        these = select(rows, precision=precision)
        if not these:
            continue
        order = lambda row: row["distribution"]
        by_variant(f"The paper's experiment, {precision}: everything on the fly, ms", these, ORDERS, device_ms, order, str)
        by_variant(f"The paper's experiment, {precision}: patterns kept, ms", these, ORDERS, kept_ms, order, str)
    lines = []
    for row in rows:
        atomic = next(iter(select(rows, method="atomic", precision=row["precision"],
                                  distribution=row["distribution"])), None)
        if row["method"] != "warp_peers" or atomic is None:
            continue
        gain = device_ms(atomic) - kept_ms(row)
        lines.append([f"{row['finder']}, {row['combination']}", row["precision"], row["distribution"],
                      significant(finding_ms(row)), f"{finding_ms(row) / kept_ms(row):.2f}",
                      f"{device_ms(atomic) / kept_ms(row):.2f}",
                      f"{finding_ms(row) / gain:.1f}" if gain > 0 else "never"])
    lines_of("Finding peers: its time, in reductions by kept patterns, and from how many uses on both together beat atomic",
             ["peers", "precision", "keys", "finding, ms", "finding / reduction", "atomic / reduction", "uses"], lines)


def choice_tables(rows, summaries):
    for row in summaries:
        print(f"Of {row['combinations']} combinations, auto takes within 5 % of the best method's time in "
              f"{row['within_5_percent']}, within 15 % in {row['within_15_percent']}; at worst "
              f"{row['worst_ratio']:.2f} times.\n")
    lines = []
    for row in sorted(rows, key=lambda row: -row["ratio"]):
        lines.append([row["distribution"], powers_of_ten(row["n"]), str(row["keys"]),
                      f"{row['precision']} x {row['components']}", str(row["key_bits"]), f"`{row['chosen']}`",
                      f"`{row['best']}`", significant(row["median_ms"]), significant(row["best_ms"]),
                      f"{row['ratio']:.2f}", significant(row["choose_ms"])])
    lines_of("auto and the best method, the worst first: ms",
             ["keys", "elements", "number of keys", "values", "bits", "auto takes", "best", "auto", "best", "ratio",
              "choosing"], lines)


def size_tables(rows):
    for order in ORDERS:
        these = select(rows, distribution=order)
        if these:
            sizes = sorted({row["n"] for row in these})
            plain = [{key: value for key, value in row.items() if key != "chosen"} for row in these]
            by_variant(f"Ten elements a key, {order}, float, by number of elements: ms", plain, sizes, device_ms,
                       lambda row: row["n"], powers_of_ten)


def deterministic_tables(rows):
    plain = [{key: value for key, value in row.items() if key != "chosen"} for row in rows]
    again = select(plain, determinism="run_to_run")
    for title, these in (("The same bits in every run", select(again, sizes=None)),
                         ("The same bits in every run, values of each key of a size of their own",
                          select(again, sizes="by_key")),
                         ("Compensated sums", select(plain, compensated=True))):
        if these:
            by_variant(f"{title}, {problem_text(these)}: ms", these, list(dict.fromkeys(map(case_of, these))), device_ms,
                       case_of, lambda case: column_name(*case))


def keyed_tables(rows):
    reach_tables(select(rows, op="reach"))
    paper_tables(select(rows, op="paper"))
    choice_tables(select(rows, op="auto"), select(rows, op="auto_summary"))
    size_tables(select(rows, op="sizes"))
    deterministic_tables(select(rows, op="deterministic"))
