# SPDX-License-Identifier: BSD-3-Clause
"""Tables of the topic srd: the step of the fluid, and what of it is known from theory."""

import math

from mesh_tables import powers_of_ten, significant
from table_lines import lines_of, select


def time_text(row):
    return significant(row["median_ms"]) + ("" if row["stable"] else " ~")


def step_tables(rows):
    lines = [[f"`{row['method']}`", row["precision"], f"{row['time_step']:g}", "yes" if row["thermostat"] else "no",
              time_text(row), f"{row['updates_per_s'] / 1e9:.3g}", significant(row["floor_ms"]) if "floor_ms" in row else ""]
             for row in rows]
    if rows:
        lines_of(f"Step, {powers_of_ten(rows[0]['n'])} particles, {rows[0]['cells']:,} cells",
                 ["sums", "type", "h", "thermostat", "ms", "G updates/s", "floor, ms"], lines)


def sort_tables(rows):
    """One line per interval, one column per time step; the least time of a column is bold."""
    steps = list(dict.fromkeys(row["time_step"] for row in rows))
    least = {step: min(row["median_ms"] for row in select(rows, time_step=step)) for step in steps}
    lines = []
    for interval in dict.fromkeys(row["sort_every"] for row in rows):
        texts = [str(interval)]
        for step in steps:
            for row in select(rows, sort_every=interval, time_step=step):
                mark = "**" if row["median_ms"] == least[step] else ""
                texts.append(f"{mark}{time_text(row)}{mark}")
        lines.append(texts)
    if rows:
        lines_of(f"Step by steps between two sortings, {powers_of_ten(rows[0]['n'])} particles, `{rows[0]['method']}`: ms",
                 ["sorted every", *(f"h = {step:g}" for step in steps)], lines)


def with_error(value, error):
    """Both with the decimals that show two digits of the error."""
    decimals = 3 if error <= 0 else max(3, 1 - math.floor(math.log10(error)))
    return f"{value:.{decimals}f} ± {error:.{decimals}f}"


def viscosity_tables(rows):
    lines = []
    for row in rows:
        known = "expected" in row
        lines.append([f"{row['particles_per_cell']:g}", f"{row['angle']:g}", f"{row['time_step']:g}",
                      "yes" if row["thermostat"] else "no", f"{row['theory']:.3f}",
                      with_error(row["expected"], row["expected_error"]) if known else "",
                      with_error(row["viscosity"], row["error"]), f"{row['deviation']:+.1%}" if known else "",
                      f"{row['deviation_from_theory']:+.1%}", f"{row['tolerance']:.0%}" if known else "",
                      ("yes" if row["within_tolerance"] else "**no**") if known else ""])
    lines_of(f"Viscosity from shear waves, {rows[0]['runs'] if rows else 0} runs each",
             ["particles a cell", "angle", "h", "thermostat", "theory", "reference", "measured", "from reference",
              "from theory", "tolerance", "within"], lines)


def tail_tables(rows):
    lines = [[f"{row['particles_per_cell']:g}", str(row["length"]), "yes" if row["thermostat"] else "no",
              f"{row['theory']:.4f}", f"{row['with_thermostat']:.4f}", f"{row['long_time_tail']:.4f}",
              f"{row['expected']:.4f}", with_error(row["viscosity"], row["error"]), f"{row['deviation']:+.1%}",
              str(row["runs"])] for row in rows]
    lines_of("Viscosity in 2D by the length of the wave",
             ["particles a cell", "L / a", "thermostat", "theory", "with thermostat", "long-time tails", "together",
              "measured", "off by", "runs"], lines)


def poiseuille_tables(rows):
    lines = [[f"`{row['method']}`", powers_of_ten(row["n"]), str(row["steps"]), f"{row['deviation']:.2%}",
              f"{row['theory']:.3f}", f"{row['viscosity']:.3f}"] for row in rows]
    lines_of("Flow between plates: greatest deviation from the parabola, in its maximum",
             ["sums", "particles", "steps", "deviation", "viscosity of theory", "of the profile"], lines)
    for row in rows[:1]:
        lines_of(f"The profile (`{row['method']}`)", ["y", "velocity", "parabola"],
                 [[f"{y:g}", f"{velocity:.4f}", f"{expected:.4f}"] for y, velocity, expected in row["profile"]])


def srd_tables(rows):
    step_tables(select(rows, op="step"))
    sort_tables(select(rows, op="sort_every"))
    viscosity_tables(select(rows, op="viscosity"))
    tail_tables(select(rows, op="tails"))
    poiseuille_tables(select(rows, op="poiseuille"))
