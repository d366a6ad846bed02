# SPDX-License-Identifier: BSD-3-Clause
"""Runs of the program for tests of what it writes."""

import os
import shutil
import subprocess

import pytest

PROGRAM = os.environ.get("QUADRAT_PROGRAM") or shutil.which("quadrat")

SCENE = """\
[scene]
name = "small_wave"
model = "granular"
[box]
lower = [-0.25, -0.25, -0.25]
upper = [0.25, 0.25, 0.25]
[particles]
count = 500
start = "left_half"
[run]
steps = 60
device = "cpu"
deterministic = "run_to_run"
[output]
frame_every = 20
frame_format = ["vtp", "vtu", "xyz"]
preview = true
"""


def quadrat(*arguments, cwd):
    if PROGRAM is None:
        pytest.skip("the program quadrat is not there")
    done = subprocess.run([PROGRAM, *map(str, arguments)], cwd=cwd, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout


def run(folder, scene=SCENE):
    """The folder of a run of that scene."""
    (folder / "scene.toml").write_text(scene)
    quadrat("run", "scene.toml", "--output", "out", "--quiet", cwd=folder)
    return folder / "out"
