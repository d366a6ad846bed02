# SPDX-License-Identifier: BSD-3-Clause
"""The Python lines of the pages run as they are printed."""

import pathlib
import re

import numpy as np
import pytest
import quadrat

ROOT = pathlib.Path(__file__).parents[2]


def lines_of(page):
    return re.findall(r"```python\n(.*?)```", (ROOT / page).read_text(), re.DOTALL)


@pytest.mark.parametrize("page", ["README.md", "docs/guides/python.md"])
def test_the_lines_of_the_page_run(page):
    names = {}
    exec(lines_of(page)[0], names)
    assert len(names["i"]) == len(names["j"]) == len(names["S"]) == len(names["d"]) > 0
    assert names["d"].max() < 0.5
    assert np.isfinite(names["found"].energy) and names["found"].forces.shape == (100_000, 3)
    assert names["mesh"].sum() == pytest.approx(names["charges"].sum(), abs=1e-6)


def test_the_lines_about_scenes_run(tmp_path, monkeypatch):
    pytest.importorskip("k3d")
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    monkeypatch.chdir(tmp_path)
    names = {"quadrat": quadrat}
    try:
        exec(lines_of("docs/guides/python.md")[1], names)
    except ValueError as problem:
        pytest.skip(str(problem))
    assert len(names["run"].frames) == 11 and names["last"].time == names["run"].statistics["time"][-1]
    assert (tmp_path / "dam.html").exists() and (tmp_path / "dam.xyz").exists()
    assert (tmp_path / "out" / "dam" / "frames.pvd").exists()
