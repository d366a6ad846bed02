# SPDX-License-Identifier: BSD-3-Clause
"""Scenes of the program `quadrat run`, in memory."""

import importlib.util
import os
import time
from typing import NamedTuple

import numpy as np

from . import _core
from ._numbers import whole

_SECONDS = 0.1  # of work between two looks at Ctrl-C and the clock


class Frame(NamedTuple):
    """The state at a step. arrays: by name, "positions" (N, D) among them; what else there is depends on the model."""

    step: int
    time: float
    arrays: dict


class Run(NamedTuple):
    """name, model's facts (method, device, precision, ...), frames, and statistics: arrays by name, one element for each
    measurement, "step" among them."""

    name: str
    facts: dict
    frames: list
    statistics: dict


class Simulation:
    """The simulation of a scene, step by step.

    Parameters
    ----------
    scene : the path of a scene's file (docs/scenes.md)
    steps, method, precision, deterministic, particles, threads, seed : in place of the scene's values
    device : "auto", "cpu" or "cuda", in place of the scene's. A GPU needs the package quadrat-cuda13.

    Nothing is written: no folder, frames or checkpoints.
    """

    def __init__(
        self,
        scene,
        *,
        steps=None,
        device=None,
        method=None,
        precision=None,
        deterministic=None,
        particles=None,
        threads=None,
        seed=None,
    ):
        choices = {
            "device": (device, ("auto", "cpu", "cuda")),
            "precision": (precision, ("float", "double")),
            "deterministic": (deterministic, ("none", "run_to_run", "canonical")),
        }
        for name, (value, accepted) in choices.items():
            if value is not None and value not in accepted:
                raise ValueError(f"{name} is {value!r}; one of {', '.join(accepted)} is accepted")
        gpu = device == "cuda" or (device != "cpu" and importlib.util.find_spec("quadrat_cuda13") is not None)
        numbers = {"steps": steps, "particles": particles, "threads": threads, "seed": seed}
        given = (None if value is None else whole(value, name, -(2**63), 2**63 - 1) for name, value in numbers.items())
        self._simulation = _core.SceneSimulation(
            gpu, os.fsdecode(scene), device or "", method or "", precision or "", deterministic or "", *given
        )
        self.facts = self._simulation.facts()

    @property
    def step(self):
        """Steps taken so far."""
        return self._simulation.step()

    def __len__(self):
        """The number of particles."""
        return self._simulation.size()

    def advance(self, steps=1):
        """Takes steps and waits for them. Raises ValueError or OverflowError naming the step at which something is
        wrong. Ctrl-C is heeded about every tenth of a second; the state is then that of the last step taken."""
        self._advance_to(self.step + whole(steps, "steps", 0, 2**63 - 1 - self.step))

    def state(self):
        """The arrays of the present state by name, as new arrays of NumPy."""
        return self._simulation.state()

    def frame(self):
        """The present state with its step and time."""
        step = self.step
        return Frame(step, step * self.facts["time_step"], self.state())

    def measure(self):
        """What the model measures, by name."""
        return self._simulation.measure()

    def _advance_to(self, last, progress=None):
        chunk = 1
        while (step := self.step) < last:
            start = time.perf_counter()
            taken = min(chunk, last - step)
            self._simulation.advance(taken)
            seconds = time.perf_counter() - start
            fitting = taken * _SECONDS / seconds if seconds > 0 else 2 * chunk
            chunk = max(1, min(int(fitting), 2 * chunk))
            if progress is not None:
                progress(step + taken)

    def __reduce__(self):
        raise TypeError("a Simulation cannot be pickled; open the scene where it is needed")


def run(scene, *, frame_every=None, statistics_every=None, progress=None, **options):
    """Runs a scene to its last step, in memory, and returns `Run` with frames as arrays.

    scene, options : see `Simulation`
    frame_every, statistics_every : steps between frames and between measurements, in place of the scene's; 0: only the
        first and the last state
    progress : called as progress(step, steps) about ten times a second; what it raises ends the run

    Ctrl-C ends the run with KeyboardInterrupt. To keep what there is then, use a `Simulation`. Writes no files; `quadrat
    run` does.
    """
    simulation = Simulation(scene, **options)
    steps = simulation.facts["steps"]
    frames_at = _every(simulation.facts["frame_every"] if frame_every is None else frame_every, "frame_every", steps)
    measured_at = _every(
        simulation.facts["statistics_every"] if statistics_every is None else statistics_every, "statistics_every", steps
    )
    frames, measured = [], []
    report = None if progress is None else lambda step: progress(step, steps)
    for step in sorted({*frames_at, *measured_at}):
        simulation._advance_to(step, report)
        if step in frames_at:
            frames.append(simulation.frame())
        if step in measured_at:
            measured.append({"step": step, **simulation.measure()})
    names = measured[0] if measured else ()
    statistics = {name: np.array([row[name] for row in measured]) for name in names}
    return Run(simulation.facts["name"], simulation.facts, frames, statistics)


def _every(every, name, steps):
    every = whole(every, name, 0, 2**63 - 1)
    return {0, steps} if every == 0 else {*range(0, steps + 1, every), steps}
