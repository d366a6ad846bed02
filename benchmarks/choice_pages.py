#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Writes what docs/concepts/choosing.md shows: maps of the chosen methods, and tables of the regret.

  python3 benchmarks/choice_pages.py build/cpu/bin/quadrat            maps of the CPU
  python3 benchmarks/choice_pages.py build/cuda/bin/quadrat cuda      of the H200; needs a build with CUDA, but no GPU

Maps are docs/concepts/choosing_<module>_<device>.svg, from `quadrat choose`. Tables come from benchmarks/results/*/choice*.json
and replace what is between the marks in the page. Of these files only what the tables show is kept.
"""

import json
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "concepts" / "choosing.md"
BEGIN, END = "<!-- tables -->", "<!-- end of tables -->"
COLORS = ["#4477aa", "#ee6677", "#228833", "#ccbb44", "#66ccee", "#aa3377", "#999999"]

# task, the quantity that varies upwards, its values, and the arguments for a point of the map
COUNTS = [10 ** (k / 2) for k in range(4, 16)]
MAPS = {
    "spread": ("mesh points along each axis, 3D, order 6, one use", [16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512],
               lambda n, value: ["--points", f"{n:.0f}", "--mesh", str(value), "--order", "6"]),
    "reduce": ("keys in random order", [10 ** (k / 2) for k in range(1, 15)],
               lambda n, value: ["--points", f"{n:.0f}", "--keys", f"{value:.0f}"]),
    "neighbors": ("points in a cube as wide as the cutoff, 3D", [0.5, 1, 2, 4, 8, 16, 32, 64],
                  lambda n, value: ["--points", f"{n:.0f}", "--mesh", str(max(1, round((n / value) ** (1 / 3))))]),
    "contacts": ("contacts of a body, as an earlier search found them", [0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500],
                 lambda n, value: ["--points", f"{n:.0f}", "--contacts", f"{min(value, n / 2):g}"]),
}


def chosen(program, task, device, arguments):
    command = [program, "choose", task, "--device", device, "--json", *arguments]
    if device == "cpu":
        command += ["--threads", "2"]
    # Uses the shipped profile, even if this machine was measured.
    environment = dict(os.environ, XDG_CACHE_HOME="/nonexistent", QUADRAT_PROFILE="")
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    return json.loads(done.stdout)[0]["chosen"]


def number_text(value):
    return f"{value:,.0f}" if value >= 10 else f"{value:g}"


def write_map(program, task, device):
    label, values, arguments = MAPS[task]
    cell, left, top = 34, 110, 30
    names = []
    width, height = left + cell * len(COUNTS) + 170, top + cell * len(values) + 60
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" font-family="sans-serif" '
             'font-size="12">', f'<rect width="{width}" height="{height}" fill="white"/>',
             f'<text x="{left}" y="18">{label} (upwards) by number of elements</text>']
    for row, value in enumerate(reversed(values)):
        y = top + row * cell
        parts.append(f'<text x="{left - 8}" y="{y + cell / 2 + 4}" text-anchor="end">{number_text(value)}</text>')
        for column, count in enumerate(COUNTS):
            name = chosen(program, task, device, arguments(count, value))
            if name not in names:
                names.append(name)
            color = COLORS[names.index(name) % len(COLORS)]
            parts.append(f'<rect x="{left + column * cell}" y="{y}" width="{cell - 1}" height="{cell - 1}" fill="{color}"/>')
    bottom = top + len(values) * cell
    for column, count in enumerate(COUNTS):
        if column % 2 == 0:
            parts.append(f'<text x="{left + column * cell + cell / 2}" y="{bottom + 18}" text-anchor="middle">'
                         f'1e{round(2 + column / 2)}</text>')
    for k, name in enumerate(names):
        x, y = left + len(COUNTS) * cell + 16, top + 24 * k
        parts.append(f'<rect x="{x}" y="{y}" width="14" height="14" fill="{COLORS[k % len(COLORS)]}"/>'
                     f'<text x="{x + 20}" y="{y + 12}">{name}</text>')
    target = ROOT / "docs" / "concepts" / f"choosing_{task}_{'h200' if device == 'cuda' else 'cpu'}.svg"
    target.write_text("\n".join(parts + ["</svg>"]) + "\n")
    print(target.relative_to(ROOT))


SHOWN = ["op", "module", "cases", "median", "percentile_95", "worst"]


def tables():
    lines = []
    for folder in ("h100", "h200", "cpu"):
        for file in sorted((ROOT / "benchmarks" / "results" / folder).glob("choice*.json")):
            lines += table_of(file)
    return "\n".join(lines) + "\n\n"


def table_of(file):
    result = json.loads(file.read_text())
    result["rows"] = [{key: row[key] for key in SHOWN} for row in result["rows"] if row["op"] == "choice_summary"]
    file.write_text(json.dumps(result, indent=2) + "\n")
    lines = ["", f"`{file.relative_to(ROOT)}`:", "", "| module | cases | median | 95 % | worst |", "|" + "---|" * 5]
    for row in result["rows"]:
        lines.append(f"| {row['module']} | {row['cases']} | "
                     + " | ".join(f"{row[key]:.3g}" for key in SHOWN[3:]) + " |")
    return lines


def main():
    if len(sys.argv) > 1:
        device = sys.argv[2] if len(sys.argv) > 2 else "cpu"
        for task in MAPS:
            write_map(sys.argv[1], task, device)
    text = PAGE.read_text()
    begin, end = text.index(BEGIN) + len(BEGIN), text.index(END)
    PAGE.write_text(text[:begin] + "\n" + tables() + text[end:])


if __name__ == "__main__":
    main()
