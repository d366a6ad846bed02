# SPDX-License-Identifier: BSD-3-Clause
"""Scenes of the program `quadrat run`, in memory."""

import contextlib
import json
import os
import time
from collections.abc import Callable
from typing import Any, NamedTuple, NoReturn

import numpy as np

from . import _core, _cuda
from ._frame import Frame
from ._numbers import LEVELS, flag, method_name, whole, word
from ._types import FilePath

__all__ = ["Run", "Simulation", "run"]

_SECONDS = 0.1  # seconds of work between two checks of Ctrl-C and the clock


class Run(NamedTuple):
    """name; facts of the run, with the given values in place of the scene's; frames, a list of
    `quadrat.Frame`; statistics: arrays by name, one element for each measurement, "step" and "time" among them.

    facts: "count" of particles, which are "particles", "method", "device", "precision", "steps", "time_step",
    "frame_every", "statistics_every", "gravity" (None in models without gravity), and "settings": the tables of the
    scene with every key.
    """

    name: str
    facts: dict[str, Any]
    frames: list[Frame]
    statistics: dict[str, np.ndarray]

    def __repr__(self) -> str:
        facts = self.facts
        return (
            f"<Run {self.name}: {facts['count']:,} {facts['particles']}, {facts['steps']:,} steps by {facts['method']} "
            f"on {facts['device']}; {len(self.frames)} frames, {len(self.statistics)} statistics>"
        )


class Simulation:
    """The simulation of a scene, step by step.

    Parameters
    ----------
    scene : the path of a scene's file (docs/reference/scenes.md); FileNotFoundError if there is none
    steps, particles, seed, precision, frame_every, statistics_every, autotune, method, deterministic, threads : replace
        the scene's values; None keeps them
    device : "auto", "cpu" or "cuda"; replaces the scene's. A GPU needs the package quadrat-cuda13.

    A `Simulation` writes no folder, frames or checkpoints; `run` can.
    """

    def __init__(
        self,
        scene: FilePath,
        *,
        steps: int | None = None,
        particles: int | None = None,
        seed: int | None = None,
        precision: str | None = None,
        frame_every: int | None = None,
        statistics_every: int | None = None,
        device: str | None = None,
        autotune: bool | None = None,
        method: str | None = None,
        deterministic: str | None = None,
        threads: int | None = None,
        _output: FilePath | None = None,
    ) -> None:
        scene = os.fspath(scene)  # a number would be an open file
        with open(scene, "rb"):  # the type of the error shows what is wrong with the path
            pass
        choices = {
            "device": (device, ("auto", "cpu", "cuda")),
            "precision": (precision, ("float", "double")),
            "deterministic": (deterministic, LEVELS),
        }
        for name, (value, accepted) in choices.items():
            if value is not None:
                word(value, name, accepted)
        if method is not None:
            method_name(method)
        gpu = device == "cuda" or (device != "cpu" and _cuda.package() is not None)
        every = {"frame_every": frame_every, "statistics_every": statistics_every}
        numbers = {"steps": steps, "particles": particles, "threads": threads, "seed": seed, **every}
        given = (
            None if value is None else whole(value, name, 0 if name in every else -(2**63), 2**63 - 1)
            for name, value in numbers.items()
        )
        self._simulation = _core.SceneSimulation(
            gpu, os.fsdecode(scene), device or "", method or "", precision or "", deterministic or "",
            "" if _output is None else os.fsdecode(_output), None if autotune is None else flag(autotune, "autotune"), *given,
        )  # fmt: skip
        facts = self._simulation.facts()
        settings = json.loads(facts.pop("settings"))
        gravity = settings.get("physics", {}).get("gravity")
        self.facts: dict[str, Any] = {"count": len(self), **facts, "gravity": gravity, "settings": settings}

    @property
    def step(self) -> int:
        """Steps taken so far."""
        return self._simulation.step()

    def __len__(self) -> int:
        """The number of particles."""
        return self._simulation.size()

    def advance(self, steps: int = 1) -> None:
        """Takes steps and waits for them. Raises ValueError or OverflowError naming the step of the error. Ctrl-C takes
        effect within about a tenth of a second; the state is then that of the last step taken."""
        self._advance_to(self.step + whole(steps, "steps", 0, 2**63 - 1 - self.step))

    def __repr__(self) -> str:
        facts = self.facts
        return (
            f"<Simulation {facts['name']}: {len(self):,} {facts['particles']} at step {self.step:,} of "
            f"{facts['steps']:,}, by {facts['method']} on {facts['device']}>"
        )

    def state(self) -> dict[str, np.ndarray]:
        """The present state as new arrays of NumPy in the precision of the run, (N, D): "positions", and "velocity" and
        "angular_velocity" if the model has them."""
        return self._simulation.state()

    def frame(self) -> Frame:
        """The present state as `quadrat.Frame`: the contents of a file of frames, in float32 and three dimensions."""
        step = self.step
        fields, lower, upper, periodic = self._simulation.frame()
        positions = fields.pop("positions")
        if "velocity" in fields:
            fields["speed"] = np.linalg.norm(fields["velocity"], axis=1)
        fields["id"] = np.arange(len(positions), dtype=np.uint32)
        corners = np.array(lower), np.array(upper), np.array(periodic)
        return Frame(step * self.facts["time_step"], positions, fields, *corners, step)

    def measure(self) -> dict[str, float]:
        """The measurements of the model, by name."""
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

    def __reduce__(self) -> NoReturn:
        raise TypeError("a Simulation cannot be pickled; open the scene where it is needed")


def run(
    scene: FilePath,
    *,
    progress: Callable[[int, int], object] | None = None,
    output: FilePath | None = None,
    overwrite: bool = False,
    **options: Any,
) -> Run:
    """Runs a scene to its last step and returns `Run`, with frames as arrays.

    Ctrl-C ends the run with KeyboardInterrupt; files then end with a checkpoint, from which `quadrat run --resume`
    continues. To keep the state in memory, use a `Simulation`. `quadrat.frames.write` writes the frames of a run into
    one file, `quadrat.view.page` makes a page of it.

    Parameters
    ----------
    scene, options : see `Simulation`; frame_every, statistics_every: steps between frames and between measurements; 0:
        only the first and the last state
    progress : called as progress(step, steps) about ten times a second; an exception from it ends the run
    output : a folder for the files of `quadrat run` (docs/reference/scenes.md); by default nothing is written
    overwrite : replaces a run in the folder, like `quadrat run --overwrite`; otherwise such a folder is a ValueError
    """
    overwrite = flag(overwrite, "overwrite")
    simulation = Simulation(scene, _output=output, **options)
    facts, steps = simulation.facts, simulation.facts["steps"]
    frames_at = _every(facts["frame_every"], steps)
    measured_at = _every(facts["statistics_every"], steps)
    saved_at = _every(facts["settings"]["output"]["checkpoint_every"], steps)
    frames, measured = [], []
    report = None if progress is None else lambda step: progress(step, steps)
    with _recording(simulation, output is not None, overwrite) as record:
        for step in sorted({*frames_at, *measured_at, *saved_at} if output is not None else {*frames_at, *measured_at}):
            simulation._advance_to(step, report)
            record()
            if step in frames_at:
                frames.append(simulation.frame())
            if step in measured_at:
                measured.append({"step": step, "time": step * facts["time_step"], **simulation.measure()})
    names = measured[0] if measured else ()
    statistics = {name: np.array([row[name] for row in measured]) for name in names}
    return Run(facts["name"], facts, frames, statistics)


@contextlib.contextmanager
def _recording(simulation, wanted, overwrite):
    """The function to call at every step that writes something."""
    if not wanted:
        yield lambda: None
        return
    files = simulation._simulation
    files.begin_record(overwrite)
    complete = False
    try:
        yield lambda: files.record() if simulation.step > 0 else None  # step 0 is written at the beginning
        complete = True
    finally:
        files.end_record(complete)


def _every(every, steps):
    return {0, steps} if every == 0 else {*range(0, steps + 1, every), steps}
