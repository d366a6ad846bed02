# SPDX-License-Identifier: BSD-3-Clause
"""Plots files of the program `quadrat`: tables (.csv), and pictures of particles (.png), which get a title and a color
scale.

    python3 -m quadrat.plot rdf.csv -o rdf.png
    python3 -m quadrat.plot out/poiseuille/profile.csv -o poiseuille.png
    python3 -m quadrat.plot out/dam_break/preview.png -o dam_break.png
    python3 -m quadrat.plot out/dam_break/statistics.csv -o energy.svg --y kinetic_energy,contact_energy

A column `theory_NAME` is drawn as a line, and NAME as dots over it."""

import argparse
import csv
import math
import pathlib
import sys
from typing import TYPE_CHECKING, TypeAlias

from . import _command
from ._types import FilePath

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["chosen", "draw", "figure_of", "labeled_picture", "table", "words"]

Columns: TypeAlias = dict[str, list[float]]

COLORS = ["#ee8c24", "#21598f", "#298f70", "#ad406b", "#7a6fb0", "#8c6d46"]
THEORY = "theory_"


def table(file: FilePath) -> Columns:
    """The columns of a CSV file with a header, as a dict of name -> list of floats. Raises ValueError that names the
    file, the line and the error."""
    with open(file, newline="", encoding="utf-8") as lines:
        rows = csv.reader(lines)
        try:
            names = next(rows, [])
            columns: Columns = {name: [] for name in names}
            if not names or len(columns) != len(names) or "" in columns:
                raise ValueError(f"{file}:1: the first line must name the columns, each once")
            for row in rows:
                if len(row) != len(names):
                    raise ValueError(f"{file}:{rows.line_num}: {len(row)} values for {len(names)} columns")
                for name, text in zip(names, row):
                    try:
                        columns[name].append(float(text))
                    except ValueError:
                        raise ValueError(f"{file}:{rows.line_num}: {name} is {text!r}, not a number") from None
        except (csv.Error, UnicodeDecodeError) as problem:
            raise ValueError(f"{file} is not a table: {problem}") from None
    if not columns[names[0]]:
        raise ValueError(f"{file} has no rows to plot")
    return columns


def chosen(columns: Columns, x: str | None = None, y: list[str] | None = None) -> tuple[str, list[list[str]]]:
    """(x, groups): the column along the horizontal axis, and for each panel the columns in it. Raises ValueError for
    names that are not columns."""
    known = ", ".join(columns)
    for name in [x] * (x is not None) + (y or []):
        if name not in columns:
            raise ValueError(f"there is no column {name}; the columns are {known}")
    if x is None:
        x = "time" if "time" in columns else next(iter(columns))
    rest = [name for name in columns if name not in (x, "step") and not name.startswith(THEORY)]
    if y:
        return x, [y]
    with_theory = [name for name in rest if THEORY + name in columns]
    if with_theory:
        return x, [with_theory]
    curves = [name for name in rest if name == "g" or name.startswith("g ")]
    if x == "r" and curves:
        return x, [curves]
    velocities = [name for name in rest if name.startswith("velocity_")]
    if x == "position" and velocities:
        return x, [velocities]
    if not rest:
        raise ValueError(f"there is nothing to plot against {x}; the columns are {known}")
    return x, [[name] for name in rest]


def words(name: str) -> str:
    return name.replace("_", " ")


def figure_of(columns: Columns, x: str | None = None, y: list[str] | None = None, title: str = "") -> "Figure":
    """A matplotlib figure of the columns of `table`."""
    _command.needed("matplotlib", "view")
    from matplotlib.figure import Figure

    x, groups = chosen(columns, x, y)
    wide = min(len(groups), 2)
    high = math.ceil(len(groups) / wide)
    figure = Figure(figsize=(8 if wide == 1 else 10, 5 if high == 1 else 2.6 * high), layout="constrained")
    panels = figure.subplots(high, wide, squeeze=False).ravel()
    for axes, group in zip(panels, groups):
        draw(axes, columns, x, group)
    for axes in panels[len(groups) :]:
        axes.remove()
    if title:
        figure.suptitle(title)
    return figure


def draw(axes: "Axes", columns: Columns, x: str, group: list[str]) -> None:
    for k, name in enumerate(group):
        color = COLORS[k % len(COLORS)]
        if THEORY + name in columns:
            axes.plot(columns[x], columns[THEORY + name], color=color, label=f"{words(name)}, theory", zorder=1)
            most = max(1, len(columns[x]) // 80)
            axes.plot(
                columns[x][::most], columns[name][::most], "o", color="#21598f", ms=4, label=f"{words(name)}, measured"
            )
        else:
            axes.plot(columns[x], columns[name], color=color, label=words(name))
    axes.set_xlabel(words(x))
    axes.grid(color="#e4e6e8")
    axes.set_axisbelow(True)
    if len(group) > 1 or THEORY + group[0] in columns:
        axes.legend(frameon=False)
    else:
        axes.set_ylabel("g(r)" if group[0] == "g" else words(group[0]))


def labeled_picture(file: FilePath, title: str | None = None) -> "Figure":
    """A matplotlib figure of a picture of particles with the title, the description and the color scale from the file
    (PNG text "Title", "Description", "Color", "Color top")."""
    _command.needed("matplotlib", "view")
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import Normalize
    from matplotlib.figure import Figure
    from PIL import Image, UnidentifiedImageError

    try:
        with Image.open(file) as picture:
            picture.load()
            text = dict(getattr(picture, "text", {}))
            pixels = picture.convert("RGB")
    except UnidentifiedImageError:
        raise ValueError(f"{file} is not a picture") from None
    width, height = pixels.size
    # Inches: the picture is 9 wide, with 0.7 above it and 1 at its right.
    high = 9 * height / width
    figure = Figure(figsize=(10, high + 0.7), dpi=width / 9)
    axes = figure.add_axes((0, 0, 0.9, high / (high + 0.7)))
    axes.imshow(pixels)
    axes.set_axis_off()
    figure.text(0.02, 1 - 0.35 / (high + 0.7), title or text.get("Title", pathlib.Path(file).stem), fontsize=17)
    figure.text(0.02, 1 - 0.58 / (high + 0.7), text.get("Description", ""), fontsize=9.5, color="0.35")
    if "Color top" in text:
        scale = ScalarMappable(Normalize(0, float(text["Color top"])), "viridis")
        figure.colorbar(scale, cax=figure.add_axes((0.915, 0.22, 0.012, 0.5)))
        figure.text(0.905, 0.745, text.get("Color", ""), fontsize=9)
    return figure


def main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser("python3 -m quadrat.plot", description=__doc__.split("\n\n")[0])
    parser.add_argument("file", help="a table (.csv) or a picture (.png) that quadrat has written")
    parser.add_argument("-o", "--output", required=True, help="what to write: .png, .svg, .pdf")
    parser.add_argument("--x", help="the column along the horizontal axis")
    parser.add_argument("--y", help="columns to draw in one panel, with commas between")
    parser.add_argument("--title")
    options = parser.parse_args(arguments)
    file, output = pathlib.Path(options.file), pathlib.Path(options.output)
    if output.suffix not in (".png", ".svg", ".pdf"):
        raise ValueError(f"{output} ends otherwise than .png, .svg, .pdf")
    if output.exists() and file.exists() and output.samefile(file):
        raise ValueError(f"{output} is the file that is read; give another name")
    if file.suffix == ".png":
        if options.x or options.y:
            raise ValueError("--x and --y choose columns; a picture has none")
        figure = labeled_picture(file, options.title)
    else:
        columns = table(file)
        figure = figure_of(columns, options.x, options.y.split(",") if options.y else None, options.title or "")
    with _command.whole_file(output) as name:
        figure.savefig(name, dpi=figure.dpi if file.suffix == ".png" else 150)


if __name__ == "__main__":
    sys.exit(_command.run("quadrat.plot", main, sys.argv[1:]))
