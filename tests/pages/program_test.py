# SPDX-License-Identifier: BSD-3-Clause
"""Every command of the pages that runs the program works, and so does every scene."""

import os
import pathlib
import re
import shutil
import subprocess

import blocks
import pytest

PROGRAM = os.environ.get("QUADRAT_PROGRAM") or shutil.which("quadrat") or ""
# Shortens commands that take long.
SHORT = {"run": ["--steps", "1", "--quiet"], "bench": ["--limit", "0"]}
pytestmark = pytest.mark.skipif(not pathlib.Path(PROGRAM).is_file(), reason="the program is not built")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """One for all commands: a later one may read what an earlier one wrote."""
    folder = tmp_path_factory.mktemp("commands")
    (folder / "examples").symlink_to(blocks.ROOT / "examples")
    return folder


def quadrat(folder, *arguments):
    done = subprocess.run([PROGRAM, *arguments], cwd=folder, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, f"quadrat {' '.join(arguments)}\n{done.stderr}"


def is_quick(page, words):
    """Runs and benchmarks of the guides are those of the README and of start/, with other options."""
    first = page == "README.md" or page.startswith("docs/start")
    return words[0] != "tune" and (first or words[0] not in ("run", "bench"))


@pytest.mark.parametrize("page", sorted({page for page, _ in blocks.commands()}))
def test_the_commands_of_the_page_work(folder, page):
    for words in (words for at, words in blocks.commands() if at == page and is_quick(page, words)):
        short = [] if "--steps" in words else SHORT.get(words[0], [])
        quadrat(folder, *words, *short, *(["--overwrite"] if words[0] == "run" and "--overwrite" not in words else []))
        if "-o" in words and (output := words[words.index("-o") + 1]) != "-":
            assert (folder / output).stat().st_size > 0


def test_every_command_of_the_program_is_shown():
    text = subprocess.run([PROGRAM, "--help"], capture_output=True, text=True, check=True).stdout
    names = re.findall(r"^  (\w+) ", text.partition("Subcommands:")[2].partition("\n\n")[0], re.MULTILINE)
    assert {words[0] for _, words in blocks.commands()} >= set(names) - {"help"}


@pytest.mark.parametrize("block", blocks.of("toml"), ids=lambda block: f"{block.page}:{block.line}")
def test_a_scene_of_a_page_takes_a_step(tmp_path, block):
    (tmp_path / "scene.toml").write_text(block.text)
    quadrat(tmp_path, "run", "scene.toml", "--steps", "1", "--output", "out", "--quiet")
