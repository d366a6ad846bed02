# SPDX-License-Identifier: BSD-3-Clause
"""The version is the same wherever it is told, and what hosts, packagers and readers take from the tree is well formed."""

import os
import re
import shutil
import subprocess
import sys

import blocks
import pytest

VERSION = re.search(r"\bVERSION (\d+\.\d+\.\d+)", (blocks.ROOT / "CMakeLists.txt").read_text())[1]


def test_the_changelog_begins_with_the_version():
    found = re.search(r"^## (\S+)", (blocks.ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert found[1] == VERSION


def test_the_notes_of_a_release_are_what_the_changelog_says_of_it():
    def notes(tag):
        return subprocess.run([blocks.ROOT / "script" / "release-notes", tag], capture_output=True, text=True)

    written = notes(f"v{VERSION}").stdout.strip()
    assert "### Library" in written and "\n## " not in written
    assert written in (blocks.ROOT / "CHANGELOG.md").read_text()
    refused = notes("v9.9.9")
    assert refused.returncode != 0 and f"tag v{VERSION}" in refused.stderr


def test_the_program_and_the_package_tell_the_version():
    package = pytest.importorskip("quadrat")
    assert package.__version__ == VERSION
    told = subprocess.run([os.environ["QUADRAT_PROGRAM"], "--version"], capture_output=True, text=True, check=True).stdout
    assert told == f"quadrat {VERSION}\n"


def test_the_recipes_of_the_build_have_the_version():
    build = blocks.ROOT / os.environ.get("QUADRAT_BUILD", "build/cpu")
    if not (build / "CMakeCache.txt").is_file():
        pytest.skip("there is no build")
    recipes = [build / "packaging" / name for name in ("spack/package.py", "conda/recipe.yaml")]
    for recipe in [*recipes, build / "quadrat.pc"]:
        text = recipe.read_text()
        assert VERSION in text and not re.search(r"@\w+@", text)


@pytest.mark.parametrize("folder", [".", "python/cuda12", "python/cuda13"])
def test_the_packages_of_python_have_the_version_and_a_license(folder, tmp_path, monkeypatch):
    backend = pytest.importorskip("scikit_build_core.build")
    monkeypatch.chdir(blocks.ROOT / folder)
    written = tmp_path / backend.prepare_metadata_for_build_wheel(str(tmp_path))
    lines = (written / "METADATA").read_text().splitlines()
    assert {f"Version: {VERSION}", "License-Expression: BSD-3-Clause"} <= set(lines)
    assert (written / "licenses" / "LICENSE").is_file()
    if folder == ".":  # the part for GPUs must be of the same version
        for part in ("cuda12", "cuda13"):
            assert f'Requires-Dist: quadrat-{part}=={VERSION}; extra == "{part}"' in lines
    else:
        assert f"Name: quadrat-{folder.rpartition('/')[2]}" in lines


def test_the_checks_before_a_commit_pass():
    pytest.importorskip("pre_commit")
    environment = {**os.environ, "SKIP": "format", "PRE_COMMIT_HOME": str(blocks.ROOT / "build" / "pre-commit")}
    command = [sys.executable, "-m", "pre_commit", "run", "--all-files"]
    done = subprocess.run(command, cwd=blocks.ROOT, env=environment, capture_output=True, text=True)
    if done.returncode == 3:  # pre-commit's own failure
        pytest.skip(f"the checks cannot be installed: {done.stdout}")
    assert done.returncode == 0, done.stdout


def test_the_workflows_are_well_formed():
    checker = shutil.which("actionlint")
    if checker is None:
        pytest.skip("actionlint is not installed")
    done = subprocess.run([checker], cwd=blocks.ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


C_HEADER = blocks.ROOT / "include" / "quadrat" / "quadrat.h"
FREE = "int quadrat_free(quadrat_context* context, void* memory);"


def abi_check(header):
    done = subprocess.run([blocks.ROOT / "script" / "abi", "--header", header], capture_output=True, text=True)
    if done.returncode == 77:
        pytest.skip(done.stdout)
    return done


@pytest.mark.parametrize(
    ("former", "changed", "breaks"),
    [
        (FREE, "", "Removed function"),
        (FREE, FREE.replace("void* memory", "void* memory, int wait"), "parameter 3 of type 'int' was added"),
        ("QUADRAT_DATA_ERROR = 2", "QUADRAT_DATA_ERROR = 7", "from value '2' to '7'"),
        ("  int threads;", "  int64_t threads;", "type of 'int threads' changed"),
        ("} quadrat_points;", "int more;\n} quadrat_points;", "type size changed"),  # has no size
        ("} quadrat_context_options;", "int more;\n} quadrat_context_options;", None),
        (FREE, FREE + "\nint quadrat_new(int number);", None),
        ("QUADRAT_INTERNAL_ERROR = 6", "QUADRAT_INTERNAL_ERROR = 6, QUADRAT_NEW_ERROR = 7", None),
    ],
)
def test_a_change_of_the_c_interface_that_breaks_programs_is_found(tmp_path, former, changed, breaks):
    header = tmp_path / "quadrat.h"
    text = C_HEADER.read_text()
    assert text.count(former) == 1
    header.write_text(text.replace(former, changed))
    done = abi_check(header)
    assert (done.returncode != 0) == (breaks is not None), done.stderr
    assert breaks is None or breaks in done.stderr
