# SPDX-License-Identifier: BSD-3-Clause
"""The Python lines of the pages run as they are printed."""

import pathlib
import re

import numpy as np
import pytest

ROOT = pathlib.Path(__file__).parents[2]


@pytest.mark.parametrize("page", ["README.md", "docs/python.md"])
def test_the_lines_of_the_page_run(page):
    (lines,) = re.findall(r"```python\n(.*?)```", (ROOT / page).read_text(), re.DOTALL)
    names = {}
    exec(lines, names)
    assert len(names["i"]) == len(names["j"]) == len(names["S"]) == len(names["d"]) > 0
    assert names["d"].max() < 0.5
    assert np.isfinite(names["found"].energy) and names["found"].forces.shape == (100_000, 3)
    assert names["mesh"].sum() == pytest.approx(names["charges"].sum(), abs=1e-6)
