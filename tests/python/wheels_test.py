# SPDX-License-Identifier: BSD-3-Clause
"""The wheels as script/wheels packs them from this build: what is in them, how large they are, and that they work."""

import importlib.util
import os
import pathlib
import subprocess
import sys
import zipfile

import pytest
import quadrat

SOURCE = pathlib.Path(__file__).parents[2]
BUILD = pathlib.Path(quadrat.__file__).parents[2]  # BUILD/python/quadrat

if not (BUILD / "CMakeCache.txt").is_file():
    pytest.skip("the package is not that of a build", allow_module_level=True)
if sys.version_info < (3, 11) or not all(map(importlib.util.find_spec, ("auditwheel", "wheel", "scikit_build_core"))):
    pytest.skip("script/python-packages has not been run", allow_module_level=True)


@pytest.fixture(scope="module")
def wheels(tmp_path_factory):
    folder = tmp_path_factory.mktemp("wheels")
    subprocess.run([sys.executable, SOURCE / "script" / "wheels", BUILD, "--output", folder], check=True)
    return {path.name.partition("-")[0]: path for path in folder.glob("*.whl")}


@pytest.fixture
def wheel(wheels):
    if "quadrat" not in wheels:
        pytest.skip("a build with CUDA")
    return wheels["quadrat"]


def test_the_wheel_is_small_and_says_from_which_system_on_it_works(wheel):
    assert "-manylinux_" in wheel.name
    names = zipfile.ZipFile(wheel).namelist()
    assert {"quadrat/__init__.py", "quadrat/_core.pyi", "quadrat/py.typed"} <= set(names)
    if any("libhdf5" in name for name in names):
        pytest.skip("a build with MPI, whose HDF5 is larger than all else; script/test-wheel packs one without")
    assert wheel.stat().st_size < 10e6


def test_the_installed_wheel_works_without_the_build(wheel, tmp_path):
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index", "--target", tmp_path]
    subprocess.run([*command, wheel], check=True)
    program = (
        "import numpy as np, quadrat\n"
        f"assert quadrat.__file__.startswith({str(tmp_path)!r})\n"
        "assert len(quadrat.neighbor_list(np.random.rand(100, 3), 0.3)) == 5\n"
    )
    packages = os.pathsep.join([str(tmp_path), str(SOURCE / "build" / "python")])
    subprocess.run([sys.executable, "-c", program], check=True, env={**os.environ, "PYTHONPATH": packages})


def test_the_library_for_gpus_is_one_for_all_versions_of_python(wheels):
    package = next((name for name in wheels if name.startswith("quadrat_cuda")), None)
    if package is None:
        pytest.skip("this build has no CUDA")
    assert "-py3-none-manylinux_" in wheels[package].name
    assert wheels[package].stat().st_size < 300e6
    names = zipfile.ZipFile(wheels[package]).namelist()
    assert {f"{package}/__init__.py", f"{package}/lib{package}.so"} <= set(names)
    assert not any(name.endswith(".so") and "core" in name for name in names)
