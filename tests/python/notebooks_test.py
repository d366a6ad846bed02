# SPDX-License-Identifier: BSD-3-Clause
"""The notebooks run from the first cell to the last, and find what they say."""

import json
import pathlib

import pytest
import quadrat

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")

ROOT = pathlib.Path(__file__).parents[2]
FOLDER = ROOT / "examples" / "notebooks"

# What must hold at the end of each.
FINDINGS = {
    "neighbors_for_potentials": lambda n: n["invariance"] < 1e-9 and n["error"] < 0.05 and n["alone"] == len(n["i"]),
    "potential_from_forces": lambda n: (
        n["error"] < 0.25 and abs(n["derivative"] - n["difference"]) < 1e-5 * abs(n["difference"]) and n["drift"] < 1e-2
    ),
    "dam_break": lambda n: n["front"][0] < 0.01 < 0.4 < max(n["front"]) and n["total"][-1] < n["total"][0] / 2,
    "charge_density": lambda n: (
        abs(n["moment"] - n["dipole"]).max() < 1e-9 and abs(n["dipole"] @ n["dipole"] - (2.35 * 0.20819) ** 2) < 2e-3
    ),
    "radial_image": lambda n: (
        n["errors"]["conjugate gradients"] < n["errors"]["weights"] < n["errors"]["no weights"] / 2
    ),
    "keyed_means": lambda n: (
        n["difference"] < 1e-9 and n["same"][0] == n["same"][1] and abs(n["deviation"].mean() - 6) < 0.1
    ),
    "which_method": lambda n: set(n["ratio"]) == set(n["sizes"]) and len(n["table"]) > 2 and len(n["series"]) > 8,
}


NEEDED = {"potential_from_forces": "torch"}
WITH_RESULTS = {"which_method"}  # their last part needs the committed results, and says so elsewhere


def has_scenes(folder):
    (folder / "none.toml").write_text("")
    try:
        quadrat.Simulation(folder / "none.toml")
    except ValueError as problem:
        return "has no scenes" not in str(problem)


def test_every_notebook_is_tested():
    assert {file.stem for file in FOLDER.glob("*.ipynb")} == set(FINDINGS)


@pytest.mark.parametrize("name", FINDINGS)
def test_notebook(name, tmp_path, monkeypatch):
    notebook = json.loads((FOLDER / f"{name}.ipynb").read_text())
    assert not any(cell.get("outputs") for cell in notebook["cells"]), "committed with outputs"
    cells = ["".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == "code"]
    if name in NEEDED:
        pytest.importorskip(NEEDED[name])
    if any("quadrat.run(" in cell for cell in cells) and not has_scenes(tmp_path):
        pytest.skip("the package has no scenes")
    monkeypatch.setenv("PATH", "")  # the installed package is enough: no program
    monkeypatch.chdir(tmp_path)
    if name in WITH_RESULTS:
        (tmp_path / "benchmarks").symlink_to(ROOT / "benchmarks")
    names = {"__name__": "__main__"}
    for number, cell in enumerate(cells):
        exec(compile(cell, f"{name}.ipynb, code cell {number}", "exec"), names)
        matplotlib.pyplot.close("all")
    assert FINDINGS[name](names), {
        key: names[key] for key in ("error", "errors", "ratio", "derivative", "difference", "drift") if key in names
    }
