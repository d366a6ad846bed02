# SPDX-License-Identifier: BSD-3-Clause
"""What mypy and pyright say, strictly, of code that uses the package: the lines of the pages, the examples and
notebooks, calls of every function, and wrong calls, which they must refuse."""

import importlib.util
import json
import os
import pathlib
import subprocess
import sys

import pytest
import quadrat

sys.path.append(str(pathlib.Path(__file__).parents[1] / "pages"))
import blocks  # noqa: E402

ROOT = pathlib.Path(__file__).parents[2]
EVERY_FUNCTION = """
import numpy as np
import quadrat
import quadrat.ase
import quadrat.finufft
import quadrat.frames
import quadrat.matscipy
import quadrat.mdanalysis
import quadrat.ovito
import quadrat.plot
import quadrat.report
import quadrat.tables
import quadrat.vesin
import quadrat.view

points = np.zeros((10, 3))
neighbors = quadrat.NeighborList(1.0, skin=0.1, outputs="ij")
again: bool = neighbors.update(points, box=[3, 3, 3])
i, j = neighbors.arrays()
distances = quadrat.neighbor_list(points, 1.0, outputs="d")
first, second = quadrat.neighbor_list(points, 1.0, box=[3, 3, 3], outputs="ij", index_dtype="int32")
print(distances.shape, first[0], second[0], i, j, neighbors.method)
print(quadrat.knn(points, 3).indices, quadrat.clusters(points, 0.2), quadrat.rdf(points, 1.0, box=[3, 3, 3]).r.mean())
print(quadrat.cluster_catalog(points, 0.2).groups, quadrat.power_spectrum(points, [3, 3, 3], 8).power)
print(quadrat.contacts(points, 0.1).depth, quadrat.CellList([3, 3, 3], 4).build(points).indices)
plan = quadrat.SpreadPlan([3, 3, 3], 8).set_points(points)
print(plan.interpolate(plan.spread(points[:, 0])), quadrat.interpolate(points, np.zeros((4, 4, 4)), [3, 3, 3]))
print(quadrat.Nufft(8, 1e-3).set_points(points).type1(points[:, 0]))
print(quadrat.nufft2(points, np.zeros((4, 4, 4), complex)))
print(quadrat.nufft1(points, points[:, 0], 4), quadrat.nufft3(points, points[:, 0], points))
sums = quadrat.Ewald(1e-4)
print(sums.compute(points, points[:, 0], [3, 3, 3], virial=True).virial, sums.report["method"])
print(quadrat.reduce_by_key([0], [1.0], "mean"), quadrat.count_keys([0]), quadrat.choose("spread", points=100, explain=True))
print(quadrat.ase.neighbor_list("ij", None, 1.0), quadrat.finufft.nufft1d1(points[:, 0], points[:, 0], 4))
print(quadrat.matscipy.neighbour_list("ij", cutoff={("O", "H"): 1.2}, positions=points), quadrat.mdanalysis.capped_distance)
print(quadrat.neighbor_list(points, 1.2, types=["O"] * 10, type_cutoffs={("O", "H"): 1.2}, outputs="d").shape)
print(quadrat.ovito.clusters(1.0)(0, None), quadrat.ovito.coordination({("O", "H"): 1.2}))
print(quadrat.vesin.NeighborList(cutoff=1.0, full_list=True).compute(points, np.eye(3), True))
grouped = quadrat.clusters(points, 0.2, members=True)
print(grouped.members, quadrat.clusters(points, 0.2).max(), quadrat.methods("neighbor_list")[0].upper())
simulation = quadrat.Simulation("dam.toml", steps=4)
simulation.advance(2)
print(simulation.step + 1, simulation.frame().positions, simulation.state()["velocity"], simulation.measure()["energy"])
scene = quadrat.run("dam.toml", progress=lambda step, steps: print(step / steps), output="out")
print(scene.frames[0].fields["speed"].max(), scene.statistics["time"].mean(), scene.facts["device"])
for frame in quadrat.frames.read("out"):
    print(frame.time + 1, frame.numbers())
for (column,) in quadrat.tables.open("snap.hdf5").chunks("Coordinates", rows=10):
    print(column.shape, len(quadrat.tables.open("a.fits")))
print(quadrat.frames.write("dam.gsd", scene) + 1, quadrat.frames.write("one.xyz", scene.frames[0]))
print(quadrat.view.write("dam.html", scene, gravity=[0, -1, 0]).upper(), quadrat.view.page("out")[0].upper())
print(quadrat.report.read("results")[0][0].rows, quadrat.report.page("results")[0].upper())
print(quadrat.plot.table("rdf.csv")["r"][0] + 1)
"""
# Each line is an error to both tools, or the comment is one.
WRONG_CALLS = """
import numpy as np
import quadrat
import quadrat.frames

points = np.zeros((10, 3))
quadrat.NeighborList(1.0, skins=0.1)  # type: ignore
quadrat.neighbor_list(points, 1.0, outputs="d", skin=0.1)  # type: ignore
quadrat.CellList([3, 3, 3], deterministic=1)  # type: ignore
quadrat.SpreadPlan([3, 3, 3])  # type: ignore
quadrat.Nufft(8, "small")  # type: ignore
quadrat.Ewald(accuracy="high")  # type: ignore
quadrat.Simulation("dam.toml", steps="all")  # type: ignore
quadrat.clusters(points, 0.2, members=True).centres  # type: ignore
quadrat.run("dam.toml").frame  # type: ignore
quadrat.frames.write("dam.gsd", 5)  # type: ignore
"""


def needs(tool):
    return pytest.mark.skipif(importlib.util.find_spec(tool) is None, reason=f"{tool} is not installed")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("code")
    for page in ("README.md", "docs/guides/python.md"):
        lines = "\n".join(block.text for block in blocks.of("python", page))
        (folder / f"{pathlib.Path(page).stem.lower()}_lines.py").write_text(lines)
    (folder / "every_function.py").write_text(EVERY_FUNCTION)
    (folder / "wrong_calls.py").write_text(WRONG_CALLS)
    for file in (ROOT / "examples").rglob("*.py"):
        (folder / f"{file.parent.name}_{file.name}").write_text(file.read_text())
    for file in (ROOT / "examples").rglob("*.ipynb"):
        cells = json.loads(file.read_text())["cells"]
        code = "\n\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "code")
        if "import torch" not in code:  # it need not be installed, and has no types for all of its functions
            (folder / f"{file.stem}.py").write_text(code + "\n")
    return folder


PATHS = [str(pathlib.Path(path).resolve()) for path in sys.path if path and pathlib.Path(path).is_dir()]


# Strict but for two things: matplotlib's functions have no types for all of their options, and a cell of a notebook may
# end with a value to show.
PYRIGHT = {
    "include": ["."],
    "extraPaths": PATHS,
    "typeCheckingMode": "strict",
    "reportUnnecessaryTypeIgnoreComment": "error",
    "reportUnknownMemberType": "none",
    "reportUnusedExpression": "none",
}


def output_of(folder, *command):
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(PATHS)}
    command = [sys.executable, "-m", *command]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)


@needs("mypy")
def test_mypy_has_nothing_to_say(folder, tmp_path):
    files = sorted(file.name for file in folder.glob("*.py"))
    result = output_of(folder, "mypy", "--strict", f"--cache-dir={tmp_path}", *files)
    assert result.returncode == 0, result.stdout + result.stderr


@needs("pyright")
def test_pyright_has_nothing_to_say(folder):
    (folder / "pyrightconfig.json").write_text(json.dumps(PYRIGHT))
    result = output_of(folder, "pyright", "-p", ".")
    assert result.returncode == 0, result.stdout + result.stderr


@needs("pyright")
def test_everything_public_has_types(tmp_path):
    result = output_of(tmp_path, "pyright", "--verifytypes", "quadrat", "--ignoreexternal")
    assert result.returncode == 0, result.stdout + result.stderr


def test_the_package_says_that_it_has_types():
    assert (pathlib.Path(quadrat.__file__).parent / "py.typed").is_file()
