# SPDX-License-Identifier: BSD-3-Clause
"""What mypy and pyright say of code that uses the package: strictly of the lines of the pages and of calls of every function,
by their defaults of the examples and notebooks, whose own functions have no types."""

import importlib.util
import json
import os
import pathlib
import re
import subprocess
import sys

import pytest
import quadrat

ROOT = pathlib.Path(__file__).parents[2]
EVERY_FUNCTION = """
import numpy as np
import quadrat
import quadrat.ase
import quadrat.finufft
import quadrat.vesin

points = np.zeros((10, 3))
neighbors = quadrat.NeighborList(1.0, skin=0.1, outputs="ij")
again: bool = neighbors.update(points, box=[3, 3, 3])
i, j = neighbors.arrays()
distances = quadrat.neighbor_list(points, 1.0, outputs="d")
first, second = quadrat.neighbor_list(points, 1.0, box=[3, 3, 3], outputs="ij", index_dtype="int32")
print(distances.shape, first[0], second[0], i, j, neighbors.method)
print(quadrat.knn(points, 3).indices, quadrat.clusters(points, 0.2), quadrat.rdf(points, 1.0, box=[3, 3, 3]).r.mean())
print(quadrat.contacts(points, 0.1).depth, quadrat.CellList([3, 3, 3], 4).build(points).order)
plan = quadrat.SpreadPlan([3, 3, 3], 8).set_points(points)
print(plan.interpolate(plan.spread(points[:, 0])), quadrat.interpolate(points, np.zeros((4, 4, 4)), [3, 3, 3]))
print(quadrat.Nufft(8, 1e-3).set_points(points).type1(points[:, 0]), quadrat.nufft2(points, np.zeros((4, 4, 4), complex)))
print(quadrat.nufft1(points, points[:, 0], 4), quadrat.nufft3(points, points[:, 0], points))
sums = quadrat.Ewald(1e-4)
print(sums.compute(points, points[:, 0], [3, 3, 3], virial=True).virial, sums.report["method"])
print(quadrat.reduce_by_key([0], [1.0], "mean"), quadrat.count_keys([0]), quadrat.choose("spread", n=100, explain=True))
print(quadrat.ase.neighbor_list("ij", None, 1.0), quadrat.finufft.nufft1d1(points[:, 0], points[:, 0], 4))
print(quadrat.vesin.NeighborList(cutoff=1.0, full_list=True).compute(points, np.eye(3), True))
"""


def needs(tool):
    return pytest.mark.skipif(importlib.util.find_spec(tool) is None, reason=f"{tool} is not installed")


@pytest.fixture(scope="module")
def strict(tmp_path_factory):
    folder = tmp_path_factory.mktemp("strict")
    for page in ("README.md", "docs/python.md"):
        (lines,) = re.findall(r"```python\n(.*?)```", (ROOT / page).read_text(), re.DOTALL)
        (folder / f"{pathlib.Path(page).stem.lower()}_lines.py").write_text(lines)
    (folder / "every_function.py").write_text(EVERY_FUNCTION)
    return folder


@pytest.fixture(scope="module")
def plain(tmp_path_factory):
    folder = tmp_path_factory.mktemp("plain")
    for file in (ROOT / "examples").rglob("*.py"):
        (folder / f"{file.parent.name}_{file.name}").write_text(file.read_text())
    for file in (ROOT / "examples").rglob("*.ipynb"):
        cells = json.loads(file.read_text())["cells"]
        code = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
        (folder / f"{file.stem}.py").write_text("\n\n".join(code) + "\n")
    return folder


PATHS = [str(pathlib.Path(path).resolve()) for path in sys.path if path and pathlib.Path(path).is_dir()]


def run(folder, *command):
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(PATHS)}
    command = [sys.executable, "-m", *command]
    result = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    assert result.returncode == 0, result.stdout + result.stderr


@needs("mypy")
@pytest.mark.parametrize("kind", ["strict", "plain"])
def test_mypy_has_nothing_to_say(kind, request, tmp_path):
    folder = request.getfixturevalue(kind)
    files = sorted(file.name for file in folder.glob("*.py"))
    run(folder, "mypy", *["--strict"] * (kind == "strict"), f"--cache-dir={tmp_path}", *files)


@needs("pyright")
@pytest.mark.parametrize("kind", ["strict", "plain"])
def test_pyright_has_nothing_to_say(kind, request):
    folder = request.getfixturevalue(kind)
    settings = {"include": ["."], "extraPaths": PATHS, "typeCheckingMode": "strict" if kind == "strict" else "basic"}
    (folder / "pyrightconfig.json").write_text(json.dumps(settings))
    run(folder, "pyright", "-p", ".")


def test_the_package_says_that_it_has_types():
    assert (pathlib.Path(quadrat.__file__).parent / "py.typed").is_file()
