# SPDX-License-Identifier: BSD-3-Clause
"""Scenes in memory: what the program computes, progress, and Ctrl-C."""

import os
import pathlib
import signal
import subprocess
import threading
import time

import numpy as np
import pytest
import quadrat

EXAMPLES = pathlib.Path(__file__).parents[2] / "examples"
DAM = EXAMPLES / "dam_break_small.toml"
SMALL = {"particles": 500, "steps": 40, "device": "cpu", "threads": 1}

try:
    quadrat.Simulation(DAM, particles=10, steps=1, device="cpu")
except ValueError as problem:
    pytest.skip(str(problem), allow_module_level=True)


def test_a_run_gives_frames_and_statistics_as_arrays():
    seen = []
    run = quadrat.run(DAM, frame_every=10, statistics_every=20, progress=lambda *s: seen.append(s), **SMALL)
    assert [frame.step for frame in run.frames] == [0, 10, 20, 30, 40]
    assert run.frames[1].time == pytest.approx(10 * run.facts["time_step"])
    assert all(frame.arrays["positions"].shape == (500, 3) for frame in run.frames)
    assert not np.array_equal(run.frames[0].arrays["positions"], run.frames[-1].arrays["positions"])
    assert run.statistics["step"].tolist() == [0, 20, 40] and np.isfinite(run.statistics["kinetic_energy"]).all()
    assert seen[-1] == (40, 40) and all(a < b for a, b in zip(seen, seen[1:]))


def test_the_last_state_is_that_of_the_steps_taken_one_by_one():
    simulation = quadrat.Simulation(DAM, deterministic="run_to_run", **SMALL)
    for _ in range(40):
        simulation.advance()
    run = quadrat.run(DAM, frame_every=0, deterministic="run_to_run", **SMALL)
    assert simulation.step == 40 and len(simulation) == 500 and len(run.frames) == 2
    for name, array in simulation.state().items():
        np.testing.assert_array_equal(array, run.frames[-1].arrays[name])


@pytest.mark.skipif("QUADRAT_PROGRAM" not in os.environ, reason="needs the program")
def test_the_numbers_are_those_of_the_program(tmp_path):
    command = [os.environ["QUADRAT_PROGRAM"], "run", DAM, "--steps", "30", "--particles", "400", "--device", "cpu",
               "--deterministic=run_to_run", "--quiet", "--output", tmp_path / "out"]  # fmt: skip
    subprocess.run(command, check=True)
    table = np.genfromtxt(tmp_path / "out" / "statistics.csv", delimiter=",", names=True)
    run = quadrat.run(DAM, steps=30, particles=400, device="cpu", deterministic="run_to_run")
    assert run.statistics["kinetic_energy"][-1] == pytest.approx(np.atleast_1d(table["kinetic_energy"])[-1], rel=1e-6)


@pytest.mark.parametrize("scene", sorted(path.name for path in EXAMPLES.glob("*.toml")))
def test_every_example_runs(scene):
    simulation = quadrat.Simulation(EXAMPLES / scene, steps=2, device="cpu")
    simulation.advance(2)
    positions = simulation.state()["positions"]
    assert len(positions) > 0 and np.isfinite(positions).all() and simulation.measure()


def test_what_progress_raises_ends_the_run():
    def stop(step, steps):
        raise StopIteration(step)

    with pytest.raises(StopIteration):
        quadrat.run(DAM, progress=stop, **SMALL)


def test_control_c_ends_a_run_and_leaves_a_usable_simulation():
    simulation = quadrat.Simulation(DAM, particles=20_000, steps=10**9, device="cpu")
    timer = threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.start()
    start = time.perf_counter()
    with pytest.raises(KeyboardInterrupt):
        simulation.advance(10**9)
    assert time.perf_counter() - start < 5
    reached = simulation.step
    simulation.advance(1)
    assert simulation.step == reached + 1 and np.isfinite(simulation.state()["positions"]).all()


@pytest.mark.parametrize(
    "call, error, words",
    [
        (lambda: quadrat.run("missing.toml"), OSError, "missing.toml"),
        (lambda: quadrat.run(DAM, device="gpu"), ValueError, "'gpu'.*auto, cpu, cuda"),
        (lambda: quadrat.run(DAM, precision="half"), ValueError, "'half'.*float, double"),
        (lambda: quadrat.run(DAM, steps=-1, device="cpu"), ValueError, "steps"),
        (lambda: quadrat.run(DAM, method="quick", device="cpu"), ValueError, "quick"),
        (lambda: quadrat.run(DAM, frame_every=-1, device="cpu"), ValueError, "frame_every is -1"),
        (lambda: quadrat.Simulation(DAM, **SMALL).advance(0.5), ValueError, "steps is 0.5"),
        (lambda: quadrat.run(__file__, device="cpu"), ValueError, "scenes_test.py"),
    ],
)
def test_bad_arguments_are_named(call, error, words):
    with pytest.raises(error, match=words):
        call()
