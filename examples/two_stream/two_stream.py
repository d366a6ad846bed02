#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The two-stream instability, by particles in cells in one dimension:

    python3 two_stream.py            # prints the rate of growth; draws two_stream.png where matplotlib is installed

Two beams of electrons move through each other over ions at rest. Units: the plasma frequency of one beam, the speed of
a beam, the charge and the mass of an electron are 1."""

import sys
from typing import Any, NamedTuple

import numpy as np
import quadrat

WAVENUMBER = np.sqrt(3) / 2  # of the mode that grows fastest; the box is one wavelength
LENGTH = 2 * np.pi / WAVENUMBER
TIME_STEP = 0.1


def theory(wavenumber: float) -> float:
    """The rate of growth of cold beams: the positive imaginary part of a root of 1 = 1/(w - k)^2 + 1/(w + k)^2."""
    square = wavenumber**2 + 1 - np.sqrt(1 + 4 * wavenumber**2)  # the lower root w^2
    return float(np.sqrt(max(0.0, -square)))


def start(electrons: int) -> tuple[np.ndarray, np.ndarray]:
    """Evenly spaced electrons, every other one moving left, moved a little by a wave."""
    position = np.arange(electrons) * LENGTH / electrons
    velocity = np.where(np.arange(electrons) % 2, -1.0, 1.0)
    return (position - 1e-5 * np.sin(WAVENUMBER * position)) % LENGTH, velocity


class Field:
    """The electric field of electrons over ions of density 2."""

    def __init__(self, mesh: int) -> None:
        self.plan = quadrat.SpreadPlan([LENGTH], mesh, order=3)
        self.wavenumbers = 2 * np.pi * np.fft.rfftfreq(mesh, LENGTH / mesh)
        self.mesh = mesh

    def solve(self, position: np.ndarray) -> np.ndarray:
        """The field on the mesh: dE/dx is the density of charge."""
        self.plan.set_points(position)
        electrons_in_cell = self.plan.spread(np.ones(len(position)))
        charge = 2 - electrons_in_cell * 2 * self.mesh / len(position)
        modes = np.fft.rfft(charge)
        modes[1:] /= 1j * self.wavenumbers[1:]
        modes[0] = 0
        if self.mesh % 2 == 0:
            modes[-1] = 0  # the sign of its derivative is unknown
        return np.fft.irfft(modes, self.mesh)

    def at_electrons(self, field: np.ndarray) -> Any:
        return self.plan.interpolate(field)


class Run(NamedTuple):
    time: np.ndarray
    amplitude: np.ndarray  # of the wave's field
    energy: np.ndarray  # of electrons and field, for each electron
    snapshots: dict[float, tuple[np.ndarray, np.ndarray]]  # positions and velocities


def simulate(
    electrons: int = 40_000, mesh: int = 64, end: float = 45.0, shown: tuple[float, ...] = ()
) -> Run:
    position, velocity = start(electrons)
    field = Field(mesh)
    mesh_field = field.solve(position)
    time: list[float] = []
    amplitude: list[float] = []
    energy: list[float] = []
    snapshots: dict[float, tuple[np.ndarray, np.ndarray]] = {}
    for step in range(round(end / TIME_STEP) + 1):
        time.append(step * TIME_STEP)
        amplitude.append(2 / mesh * float(abs(np.fft.rfft(mesh_field)[1])))
        energy.append(float(np.mean(velocity**2) / 2 + np.mean(mesh_field**2) / 4))
        if any(abs(time[-1] - moment) < TIME_STEP / 2 for moment in shown):
            snapshots[time[-1]] = position.copy(), velocity.copy()
        velocity -= TIME_STEP / 2 * field.at_electrons(mesh_field)
        position = (position + TIME_STEP * velocity) % LENGTH
        mesh_field = field.solve(position)
        velocity -= TIME_STEP / 2 * field.at_electrons(mesh_field)
    return Run(np.array(time), np.array(amplitude), np.array(energy), snapshots)


def growing(run: Run) -> slice:
    """The steps from where the growing wave has left the others far behind to a tenth of its
    largest amplitude."""
    first = np.argmax(run.amplitude > 100 * run.amplitude[0])
    return slice(int(first), int(np.argmax(run.amplitude > run.amplitude.max() / 10)))


def growth_rate(run: Run) -> float:
    """The slope of the amplitude's logarithm while the wave grows."""
    part = growing(run)
    return float(np.polyfit(run.time[part], np.log(run.amplitude[part]), 1)[0])


def draw(run: Run, file: str) -> None:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(2, 2, figsize=(8, 6), layout="constrained")
    first = growing(run).start
    line = run.amplitude[first] * np.exp(theory(WAVENUMBER) * (run.time - run.time[first]))
    axes[0, 0].semilogy(run.time, run.amplitude, label=f"simulation: {growth_rate(run):.3f}")
    axes[0, 0].semilogy(run.time, line, "k--", label=f"theory: {theory(WAVENUMBER):.3f}")
    axes[0, 0].set(xlabel="time", ylabel="field of the wave", ylim=(1e-6, 10), title="rate of growth")
    axes[0, 0].legend(loc="lower right")
    for one, (time, (position, velocity)) in zip(axes.flat[1:], run.snapshots.items()):
        for beam, color in ((0, "C0"), (1, "C3")):
            one.plot(position[beam::2], velocity[beam::2], ".", markersize=1, color=color)
        one.set(xlabel="position", ylabel="velocity", title=f"time {time:.0f}", xlim=(0, LENGTH), ylim=(-2.6, 2.6))
    figure.savefig(file, dpi=90)


def main(file: str = "two_stream.png") -> None:
    run = simulate(shown=(26, 29, 45))
    print(f"growth rate {growth_rate(run):.4f}; theory {theory(WAVENUMBER):.4f}")
    print(f"energy: changes by at most {np.ptp(run.energy) / run.energy[0]:.1e} of it")
    try:
        draw(run, file)
    except ModuleNotFoundError as missing:
        print(f"no picture: {missing.name} is not installed")


if __name__ == "__main__":
    main(*sys.argv[1:])
