# SPDX-License-Identifier: BSD-3-Clause
"""What is drawn of tables and pictures that the program writes."""

import numpy as np
import pytest
import runs

from quadrat import plot

pytest.importorskip("matplotlib")
from PIL import Image  # noqa: E402  (comes with matplotlib)


def table(tmp_path, text):
    (tmp_path / "table.csv").write_text(text)
    return plot.table(tmp_path / "table.csv")


def lines(figure):
    return [[line.get_label() for line in axes.get_lines()] for axes in figure.axes]


def test_a_theory_is_a_line_under_dots(tmp_path):
    columns = table(tmp_path, "position,velocity_x,density,theory_velocity_x\n0,1,5,1.5\n1,2,5,2.5\n")
    figure = plot.figure_of(columns)
    assert lines(figure) == [["velocity x, theory", "velocity x, measured"]]
    theory, dots = figure.axes[0].get_lines()
    assert list(theory.get_ydata()) == [1.5, 2.5] and list(dots.get_ydata()) == [1, 2]
    assert theory.get_linestyle() == "-" and dots.get_linestyle() == "None" and dots.get_marker() == "o"


@pytest.mark.parametrize(
    "head, expected",
    [
        ("r,g,pairs", [["g"]]),
        ("r,g H-H,pairs H-H,g H-O,pairs H-O", [["g H-H", "g H-O"]]),
        ("position,velocity_x,velocity_y,density", [["velocity x", "velocity y"]]),
        ("step,time,kinetic_energy,max_speed", [["kinetic energy"], ["max speed"]]),
        ("step,milliseconds", [["milliseconds"]]),
    ],
)
def test_the_program_s_tables_are_known(tmp_path, head, expected):
    count = head.count(",") + 1
    columns = table(tmp_path, f"{head}\n" + "".join(",".join([str(k)] * count) + "\n" for k in range(3)))
    assert lines(plot.figure_of(columns)) == expected
    assert plot.figure_of(columns).axes[0].get_xlabel() == ("time" if "time" in head else head.split(",")[0])


def test_columns_can_be_chosen(tmp_path):
    columns = table(tmp_path, "step,time,a,b,c\n0,0,1,2,3\n1,1,2,3,4\n")
    assert lines(plot.figure_of(columns, "a", ["b", "c"])) == [["b", "c"]]
    with pytest.raises(ValueError, match="there is no column d; the columns are step, time, a, b, c"):
        plot.figure_of(columns, y=["d"])


@pytest.mark.parametrize(
    "text, words",
    [
        ("", "table.csv:1: the first line must name the columns"),
        ("a,a\n1,2\n", "each once"),
        ("a,b\n", "has no rows"),
        ("a,b\n1\n", "table.csv:2: 1 values for 2 columns"),
        ("a,b\n1,2\n1,two\n", "table.csv:3: b is 'two', not a number"),
    ],
)
def test_bad_tables_are_named(tmp_path, text, words):
    with pytest.raises(ValueError, match=words):
        table(tmp_path, text)


def test_nothing_to_plot(tmp_path):
    with pytest.raises(ValueError, match="nothing to plot against r"):
        plot.figure_of(table(tmp_path, "r\n1\n"))


def test_gaps_stay_gaps(tmp_path):
    columns = table(tmp_path, "x,y\n0,1\n1,nan\n2,inf\n3,2\n")
    plot.figure_of(columns).savefig(tmp_path / "a.png")
    assert (tmp_path / "a.png").stat().st_size > 1000


def test_files_are_written_whole_and_never_over_the_source(tmp_path):
    (tmp_path / "a.csv").write_text("x,y\n0,1\n1,2\n")
    for ending in ("png", "svg", "pdf"):
        plot.main([str(tmp_path / "a.csv"), "-o", str(tmp_path / f"b.{ending}")])
        assert (tmp_path / f"b.{ending}").stat().st_size > 1000
    assert len(list(tmp_path.iterdir())) == 4
    with pytest.raises(ValueError, match="ends otherwise than"):
        plot.main([str(tmp_path / "a.csv"), "-o", str(tmp_path / "c.txt")])
    with pytest.raises(FileNotFoundError):
        plot.main([str(tmp_path / "none.csv"), "-o", str(tmp_path / "c.png")])
    with pytest.raises(ValueError, match="is the file that is read"):
        plot.main([str(tmp_path / "b.png"), "-o", str(tmp_path / "b.png")])
    (tmp_path / "a.png").write_text("no picture")
    with pytest.raises(ValueError, match="is not a picture"):
        plot.main([str(tmp_path / "a.png"), "-o", str(tmp_path / "c.png")])


def test_a_run_s_picture_gets_its_title_and_the_scale_of_its_colors(tmp_path):
    out = runs.run(tmp_path)
    with Image.open(out / "preview.png") as picture:
        text = dict(picture.text)
    assert text["Title"] == "small wave" and text["Color"] == "speed"
    assert text["Description"].startswith("500 grains · step 60 · t = 30 · ")
    figure = plot.labeled_picture(out / "preview.png")
    assert [one.get_text() for one in figure.texts] == ["small wave", text["Description"], "speed"]
    low, high = figure.axes[1].get_ylim()
    assert (low, high) == (0, float(text["Color top"]))
    plot.main([str(out / "preview.png"), "-o", str(tmp_path / "a.png")])
    drawn, plain = (
        np.asarray(Image.open(tmp_path / "a.png").convert("RGB")),
        np.asarray(Image.open(out / "preview.png")),
    )
    # The pixels of the picture are there, below the title and left of the scale.
    assert drawn.shape[0] > plain.shape[0] * 0.9
    assert (drawn[-plain.shape[0] + 40 : -40, 40 : plain.shape[1] - 40] != 255).mean() > 0.5


def test_the_program_names_the_command_that_plots(tmp_path):
    (tmp_path / "points.csv").write_text("x,y,z\n" + "".join(f"{k % 3},{k % 5},{k % 7}\n" for k in range(50)))
    text = runs.quadrat("neighbors", "points.csv", "--cutoff", 2, "--rdf", "-o", "g.csv", cwd=tmp_path)
    (command,) = [line.split("plot       ")[1] for line in text.splitlines() if "quadrat.plot" in line]
    assert command == "python3 -m quadrat.plot g.csv -o g.png"
    plot.main([str(tmp_path / "g.csv"), "-o", str(tmp_path / "g.png")])
    assert (tmp_path / "g.png").exists()
