# SPDX-License-Identifier: BSD-3-Clause
"""The Python of the pages runs as it is printed, page by page."""

import blocks
import pytest

PAGES = sorted({block.page for block in blocks.of("python")})


def run(page, folder, monkeypatch):
    pytest.importorskip("quadrat")
    (folder / "examples").symlink_to(blocks.ROOT / "examples")
    monkeypatch.chdir(folder)
    names = {}
    for block in blocks.of("python", page):
        code = compile("\n" * (block.line - 1) + block.text, page, "exec")
        try:
            exec(code, names)
        except ModuleNotFoundError as missing:
            pytest.skip(f"{missing.name} is not installed")
    return names


@pytest.mark.parametrize("page", PAGES)
def test_the_lines_of_the_page_run(page, tmp_path, monkeypatch):
    run(page, tmp_path, monkeypatch)


def test_the_lines_of_the_readme_find_what_they_say(tmp_path, monkeypatch):
    names = run("README.md", tmp_path, monkeypatch)
    assert len(names["i"]) == len(names["j"]) == len(names["S"]) == len(names["d"]) > 0
    assert names["d"].max() < 0.5
    assert abs(names["found"].energy) > 0 and names["found"].forces.shape == (100_000, 3)
    assert names["mesh"].sum() == pytest.approx(names["charges"].sum(), abs=1e-6)
