#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Halos in a box: particles fall together under their gravity in an expanding universe, and friends-of-friends finds
what they have formed:

    python3 halos.py                 # prints the largest halos; draws halos.png where matplotlib is installed

A particle-mesh simulation of the Einstein-de Sitter universe in comoving coordinates. Units: the edge of the periodic
box, its mass and the Hubble constant today are 1. The scale factor a is 1 today."""

import math
import sys
from typing import Any, NamedTuple

import numpy as np
import quadrat

SLOPE = -1.5  # of the power spectrum of the initial density
SMOOTH = 1 / 16  # the radius of the spheres in which the linear density of today has a standard deviation of 1
LINK = 0.2  # mean spacings
BOX = [1.0, 1.0, 1.0]


def wavevectors(cells: int) -> tuple[list[Any], Any]:
    """The components of k on the mesh of a real transform, and 1 / k^2. That is 0 at k = 0, and where a component is
    the highest of an even mesh: the sign of a derivative is unknown there."""
    full, half = np.fft.fftfreq(cells, 1 / cells), np.fft.rfftfreq(cells, 1 / cells)
    modes: list[Any] = list(np.meshgrid(full, full, half, indexing="ij", sparse=True))
    kept = (abs(modes[0]) < cells / 2) & (abs(modes[1]) < cells / 2) & (modes[2] < cells / 2)
    kept[0, 0, 0] = False
    k = [2 * np.pi * one for one in modes]
    return k, kept / np.maximum(k[0] ** 2 + k[1] ** 2 + k[2] ** 2, 1)


def lattice(across: int) -> np.ndarray:
    points = np.meshgrid(*[(np.arange(across) + 0.5) / across] * 3, indexing="ij")
    return np.stack(points, axis=-1).reshape(-1, 3)


def displacements(across: int, seed: int) -> np.ndarray:
    """Zel'dovich's displacements psi at the points of the lattice, for a = 1: -div psi is a random
    density of the given spectrum."""
    k, inverse = wavevectors(across)
    noise = np.fft.rfftn(np.random.default_rng(seed).standard_normal((across,) * 3))
    power = inverse ** (-SLOPE / 2)
    x = SMOOTH * np.sqrt(np.maximum(k[0] ** 2 + k[1] ** 2 + k[2] ** 2, 1))
    sphere = 3 * (np.sin(x) - x * np.cos(x)) / x**3
    times = np.where(k[2] > 0, 2, 1)  # modes at -k are not stored
    variance = np.sum(times * power * sphere**2) / across**3
    density = noise * np.sqrt(power / variance)
    modes = [1j * one * density * inverse for one in k]
    psi = [np.fft.irfftn(one, (across,) * 3, axes=(0, 1, 2)) for one in modes]
    return np.stack(psi, axis=-1).reshape(-1, 3)


class Gravity:
    """The acceleration -grad phi of particles, where laplace phi = 3/2 (density - 1). Spreading
    softens it at distances of a cell or two."""

    def __init__(self, cells: int) -> None:
        self.plan = quadrat.SpreadPlan(BOX, cells, order=4)
        self.cells = cells
        self.inverse = wavevectors(cells)[1]

    def __call__(self, position: np.ndarray) -> Any:
        self.plan.set_points(position)
        density = self.plan.spread(np.full(len(position), self.cells**3 / len(position)))
        modes = -1.5 * np.fft.rfftn(density) * self.inverse
        return -self.plan.gradient(np.fft.irfftn(modes, density.shape, axes=(0, 1, 2)))


def simulate(across: int = 64, steps: int = 40, start: float = 0.05, seed: int = 3) -> Any:
    """Positions today of across^3 particles, by leapfrog from a = start."""
    psi = displacements(across, seed)
    position = (lattice(across) + start * psi) % 1
    momentum = start**1.5 * psi
    gravity = Gravity(2 * across)
    force = gravity(position)
    roots = np.linspace(math.sqrt(start), 1.0, steps + 1)  # of a
    for before, after in zip(roots[:-1], roots[1:]):
        half = (before + after) / 2
        momentum += 2 * (half - before) * force  # the integral of 1 / a^(1/2)
        drift = 2 * (1 / before - 1 / after)  # the integral of 1 / a^(3/2)
        position = (position + drift * momentum) % 1
        force = gravity(position)
        momentum += 2 * (after - half) * force
    return position


class Halos(NamedTuple):
    sizes: np.ndarray  # particles, largest first
    centers: np.ndarray


def find_halos(position: np.ndarray, least: int = 20) -> Halos:
    """Friends-of-friends of at least that many particles."""
    link = LINK / len(position) ** (1 / 3)
    found = quadrat.clusters(position, link, box=BOX, members=True)
    sizes = np.diff(found.offsets)
    order = np.argsort(-sizes, kind="stable")
    order = order[sizes[order] >= least]
    return Halos(sizes[order], found.centers[order])


def press_schechter(mass: np.ndarray) -> np.ndarray:
    """Halos heavier than each mass, by W. H. Press and P. Schechter, ApJ 187 (1974) 425. Masses increase evenly in
    their logarithm; beyond the last one there are none."""
    steepness = (SLOPE + 3) / 6
    nu = 1.686 * (mass / (4 / 3 * np.pi * SMOOTH**3)) ** steepness
    each = np.sqrt(2 / np.pi) / mass * steepness * nu * np.exp(-(nu**2) / 2) * np.log(mass[1] / mass[0])
    return np.cumsum(each[::-1])[::-1]


def draw(position: np.ndarray, halos: Halos, file: str, thickness: float = 0.1) -> None:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
    from matplotlib.patches import Circle

    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 4.5), layout="constrained")
    slab = position[position[:, 2] < thickness]
    column = quadrat.spread(slab[:, :2].copy(), np.ones(len(slab)), BOX[:2], 192, order=4)
    left.imshow(np.log(column.T + 0.05), origin="lower", extent=(0, 1, 0, 1), cmap="magma")
    for size, center in zip(halos.sizes, halos.centers):
        if center[2] < thickness:
            radius = (size / len(position) / 178 / (4 / 3 * np.pi)) ** (1 / 3)
            left.add_patch(Circle(center[:2], 1.5 * radius, fill=False, color="cyan", linewidth=0.7))
    left.set(title="a slice, and its halos", xticks=(0, 1), yticks=(0, 1))
    mass = np.geomspace(float(halos.sizes[-1]) / len(position), 0.02, 500)
    right.loglog(halos.sizes / len(position), np.arange(len(halos.sizes)) + 1, drawstyle="steps-pre", label="found")
    right.loglog(mass, press_schechter(mass), "k--", label="Press and Schechter")
    right.set(xlabel="part of the mass in the box", ylabel="halos heavier than that", ylim=(0.7, None))
    right.legend()
    figure.savefig(file, dpi=90)


def main(file: str = "halos.png", across: str = "64") -> None:
    position = simulate(int(across))
    halos = find_halos(position)
    print(f"{len(halos.sizes)} halos hold {halos.sizes.sum() / len(position):.0%} of the mass; the largest:")
    for size, center in zip(halos.sizes[:5], halos.centers):
        print(f"  {size:6d} particles at ({center[0]:.3f}, {center[1]:.3f}, {center[2]:.3f})")
    try:
        draw(position, halos, file)
    except ModuleNotFoundError as missing:
        print(f"no picture: {missing.name} is not installed")


if __name__ == "__main__":
    main(*sys.argv[1:])
