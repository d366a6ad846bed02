# SPDX-License-Identifier: BSD-3-Clause
"""Scenes in memory: what the program computes, progress, and Ctrl-C."""

import json
import os
import pathlib
import signal
import subprocess
import threading
import time

import numpy as np
import pytest
import quadrat
from quadrat import frames

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
    assert all(frame.positions.shape == (500, 3) for frame in run.frames)
    assert not np.array_equal(run.frames[0].positions, run.frames[-1].positions)
    assert run.statistics["step"].tolist() == [0, 20, 40] and np.isfinite(run.statistics["kinetic_energy"]).all()
    assert run.statistics["time"].tolist() == [frame.time for frame in run.frames[::2]]
    assert seen[-1] == (40, 40) and all(a < b for a, b in zip(seen, seen[1:]))


def test_the_last_state_is_that_of_the_steps_taken_one_by_one():
    simulation = quadrat.Simulation(DAM, deterministic="run_to_run", **SMALL)
    for _ in range(40):
        simulation.advance()
    run = quadrat.run(DAM, frame_every=0, deterministic="run_to_run", **SMALL)
    assert simulation.step == 40 and len(simulation) == 500 and len(run.frames) == 2
    state, last = simulation.state(), run.frames[-1]
    assert set(state) == {"positions", "velocity"}
    np.testing.assert_array_equal(state["positions"], last.positions)
    np.testing.assert_array_equal(state["velocity"], last.fields["velocity"])


def test_frames_hold_what_files_hold():
    frame = quadrat.run(DAM, **SMALL).frames[-1]
    assert set(frame.fields) == {"velocity", "speed", "radius", "id"} and frame.step == 40
    assert (frame.lower.tolist(), frame.upper.tolist(), frame.periodic.tolist()) == ([-0.5] * 3, [0.5] * 3, [False] * 3)
    assert frame.fields["radius"].tolist() == [1 / 64] * 500 and frame.fields["id"].tolist() == list(range(500))
    np.testing.assert_allclose(np.linalg.norm(frame.fields["velocity"], axis=1), frame.fields["speed"], rtol=1e-6)


def test_facts_are_those_of_what_was_given():
    facts = quadrat.run(DAM, frame_every=10, statistics_every=20, seed=7, **SMALL).facts
    assert (facts["count"], facts["steps"], facts["frame_every"], facts["statistics_every"]) == (500, 40, 10, 20)
    settings = facts["settings"]
    assert settings["particles"]["count"] == 500 and settings["particles"]["seed"] == 7
    assert settings["run"]["steps"] == 40 and settings["run"]["threads"] == 1
    assert settings["output"]["frame_every"] == 10 and settings["output"]["statistics_every"] == 20
    assert facts["gravity"] == settings["physics"]["gravity"] and facts["gravity"][1] < 0
    assert settings["box"]["lower"] == [-0.5] * 3
    assert quadrat.Simulation(EXAMPLES / "brownian.toml", steps=1, device="cpu").facts["gravity"] is None


@pytest.mark.parametrize("scene", sorted(path.name for path in EXAMPLES.glob("*.toml")))
def test_internals_are_not_shown(scene):
    simulation = quadrat.Simulation(EXAMPLES / scene, steps=1, device="cpu")
    assert set(simulation.state()) <= {"positions", "velocity", "angular_velocity"}
    frame = simulation.frame()
    assert frame.positions.shape == (len(simulation), 3) and len(frame.fields["id"]) == len(simulation)
    assert not {"remainders", "listed_positions", "storage_order"} & set(frame.fields)


def test_frames_of_a_run_are_written_with_their_velocities(tmp_path):
    run = quadrat.run(DAM, frame_every=20, **SMALL)
    assert frames.write(tmp_path / "a.xyz", run) == 3
    for frame, read in zip(run.frames, frames.read(tmp_path / "a.xyz"), strict=True):
        for name in ("velocity", "radius", "id"):
            np.testing.assert_array_equal(read.fields[name], frame.fields[name])
        np.testing.assert_array_equal(read.positions, frame.positions)
        assert (read.time, read.lower.tolist()) == (frame.time, frame.lower.tolist())
    hoomd = pytest.importorskip("gsd.hoomd")
    frames.write(tmp_path / "a.gsd", run.frames)
    with hoomd.open(tmp_path / "a.gsd") as read:
        last = read[2]
    np.testing.assert_array_equal(last.particles.velocity, run.frames[-1].fields["velocity"])
    assert last.configuration.step == 40 and np.abs(last.particles.velocity).max() > 0


@pytest.mark.skipif("QUADRAT_PROGRAM" not in os.environ, reason="needs the program")
def test_the_files_of_a_run_are_those_of_the_program(tmp_path):
    options = {"particles": 300, "steps": 40, "device": "cpu", "threads": 1, "deterministic": "run_to_run"}
    command = [os.environ["QUADRAT_PROGRAM"], "run", DAM, "--quiet", "--output", tmp_path / "theirs"]
    command += [f"--{name}={value}" for name, value in options.items()]
    subprocess.run(command, check=True)
    run = quadrat.run(DAM, output=tmp_path / "ours", **options)
    names = {one.relative_to(tmp_path / "theirs") for one in (tmp_path / "theirs").rglob("*") if one.is_file()}
    assert {one.relative_to(tmp_path / "ours") for one in (tmp_path / "ours").rglob("*") if one.is_file()} == names
    for name in names:
        if name.suffix in (".vtp", ".csv", ".pvd", ".txt"):
            assert (tmp_path / "ours" / name).read_bytes() == (tmp_path / "theirs" / name).read_bytes(), name
    summaries = [json.loads((tmp_path / one / "summary.json").read_text()) for one in ("ours", "theirs")]
    for key in ("run", "statistics", "device"):
        assert summaries[0][key] == summaries[1][key]
    for ours, theirs in zip(run.frames, frames.read(tmp_path / "ours")):
        np.testing.assert_array_equal(ours.positions, theirs.positions)
        assert set(ours.fields) == set(theirs.fields)
    with pytest.raises(ValueError, match="holds a run already"):
        quadrat.run(DAM, output=tmp_path / "ours", **options)
    quadrat.run(DAM, output=tmp_path / "ours", overwrite=True, **options)


def test_a_run_that_is_stopped_leaves_files_from_which_it_goes_on(tmp_path):
    def stop(step, steps):
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        quadrat.run(DAM, output=tmp_path / "out", progress=stop, **SMALL)
    assert (tmp_path / "out" / "checkpoint.bin").exists()
    assert json.loads((tmp_path / "out" / "summary.json").read_text())["run"]["interrupted"]


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
        (lambda: quadrat.run("missing.toml"), FileNotFoundError, "missing.toml"),
        (lambda: quadrat.run(EXAMPLES), IsADirectoryError, "examples"),
        (lambda: quadrat.run(DAM, device="gpu"), ValueError, "'gpu'.*auto, cpu, cuda"),
        (lambda: quadrat.run(DAM, precision="half"), ValueError, "'half'.*float, double"),
        (lambda: quadrat.run(DAM, steps=-1, device="cpu"), ValueError, "^steps: run.steps is -1"),
        (lambda: quadrat.run(DAM, particles=-1, device="cpu"), ValueError, "^particles: particles.count is -1"),
        (lambda: quadrat.run(DAM, method="quick", device="cpu"), ValueError, "quick"),
        (lambda: quadrat.run(DAM, frame_every=-1, device="cpu"), ValueError, "frame_every is -1"),
        (lambda: quadrat.Simulation(DAM, **SMALL).advance(0.5), ValueError, "steps is 0.5"),
        (lambda: quadrat.run(__file__, device="cpu"), ValueError, "scenes_test.py"),
    ],
)
def test_bad_arguments_are_named(call, error, words):
    with pytest.raises(error, match=words):
        call()


def test_autotune_is_that_of_the_scene_unless_it_is_given():
    for given, wanted in ((None, True), (False, False), (True, True)):
        simulation = quadrat.Simulation(DAM, steps=1, device="cpu", particles=100, autotune=given)
        assert simulation.facts["settings"]["run"]["autotune"] is wanted
    with pytest.raises(TypeError, match="autotune is 'no'; True or False"):
        quadrat.Simulation(DAM, autotune="no")
    with pytest.raises(ValueError, match="autotune: the model brownian times no methods"):
        quadrat.Simulation(EXAMPLES / "brownian.toml", device="cpu", autotune=True)
