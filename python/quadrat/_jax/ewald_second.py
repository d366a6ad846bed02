# SPDX-License-Identifier: BSD-3-Clause
"""The energy of charges in operations of JAX that have derivatives of every order: see ewald_second, which has the
formulas and the parameters. Sizes follow from the cell that is known when a function is traced."""

import math

import jax
import jax.numpy as jnp
import numpy as np

from .._lattice import shortest

NEIGHBORS = 100  # neighbors of a point within the cutoff


def sizes_of(cell, points, accuracy, single):
    """The sizes that must be known before the points: (modes, splitting times spacing, cutoff by spacing, tolerance,
    capacity, spacing, the cell's shortest vectors in units of its vectors); the spacing is (volume / N)^(1/3). None if
    the cell is not known either."""
    if isinstance(cell, jax.core.Tracer) or points == 0:
        return None
    vectors = np.asarray(cell, dtype=float)
    vectors = np.diag(vectors) if vectors.ndim == 1 else vectors
    volume = abs(np.linalg.det(vectors)) if vectors.shape == (3, 3) else 0.0
    if not (np.isfinite(volume) and volume > 0):
        return None
    spacing = (volume / points) ** (1 / 3)
    cutoff = (3 * NEIGHBORS / (4 * math.pi)) ** (1 / 3)
    depth = math.sqrt(-math.log(max(0.1 * accuracy, 1e-7 if single else 1e-15)))
    alpha = depth / cutoff
    reduction = shortest(vectors)
    lengths = np.linalg.norm(reduction @ vectors, axis=1) / spacing
    modes = tuple(2 * math.ceil(2 * alpha * depth * length / (2 * math.pi)) + 1 for length in lengths)
    tolerance = max(0.01 * accuracy, 4e-6 if single else 1e-13)
    return modes, alpha, cutoff, tolerance, points * NEIGHBORS, spacing, tuple(map(tuple, reduction))


def results(pairs, type1, points, charges, cell, sizes, constant, dispersion):
    """Forces, potentials and virial, by the derivatives of the energy."""

    def energy(x, q, h):
        return _energy(pairs, type1, x, q, h, sizes, constant, dispersion)

    by_points, by_charges, by_cell = jax.grad(energy, argnums=(0, 1, 2))(points, charges, cell)
    return -by_points, by_charges, -(cell.T @ by_cell + points.T @ by_points)


def _energy(pairs, type1, points, charges, cell, sizes, constant, dispersion):
    modes, alpha, cutoff, tolerance, capacity, spacing, reduction = sizes
    cell = (jnp.asarray(reduction, cell.dtype)[:, :, None] * cell).sum(1)  # GPUs would round the factors of products
    alpha, cutoff = alpha / spacing, cutoff * spacing
    volume = jnp.abs(jnp.linalg.det(cell))
    i, j, shifts, count = pairs(points, cell, capacity, cutoff, (True,) * 3, True, False)
    used = jnp.arange(capacity) < count
    i, j, shifts = jnp.where(used, i, 0), jnp.where(used, j, 0), jnp.where(used[:, None], shifts, 0)
    between = points[j] - points[i] + shifts.astype(points.dtype) @ cell
    far = jnp.square(jnp.where(used[:, None], between, cutoff)).sum(1)
    short = jnp.where(used, charges[i] * charges[j] * _short_range(dispersion, alpha, far), 0).sum()
    angles = 2 * math.pi * jnp.linalg.solve(cell.T, points.T).T
    waves = charges[None].astype(jnp.complex64 if points.dtype == jnp.float32 else jnp.complex128)
    sums = type1(angles, waves, modes, tolerance, 1, "centered")[0]
    power = jnp.square(sums.real) + jnp.square(sums.imag)
    axes = np.meshgrid(*(np.arange(extent) - extent // 2 for extent in modes), indexing="ij")
    numbers = np.stack(axes, -1).reshape(-1, 3)
    wave = 2 * math.pi * jnp.asarray(numbers, points.dtype) @ jnp.linalg.inv(cell).T
    smooth = (_influence(dispersion, alpha, wave, numbers) * power.reshape(-1)).sum() / (2 * volume)
    return constant * (short + smooth + _own(dispersion, alpha, charges, volume))


def _short_range(dispersion, alpha, squared):
    if not dispersion:
        far = jnp.sqrt(squared)
        return jax.scipy.special.erfc(alpha * far) / far
    a = alpha**2 * squared
    return -(1 + a + a**2 / 2) * jnp.exp(-a) / squared**3


def _influence(dispersion, alpha, wave, numbers):
    none = ~numbers.any(axis=1)
    safe = jnp.where(none, 1.0, jnp.square(wave).sum(-1))
    b = safe / (4 * alpha**2)
    if not dispersion:
        return jnp.where(none, 0.0, 4 * math.pi * jnp.exp(-b) / safe)
    root = jnp.sqrt(b)
    bracket = math.sqrt(math.pi) * jax.scipy.special.erfc(root) + (1 / (2 * b * root) - 1 / root) * jnp.exp(-b)
    return jnp.where(none, -(math.pi**1.5) * alpha**3 / 3, -(math.pi**1.5) / 12 * safe**1.5 * bracket)


def _own(dispersion, alpha, charges, volume):
    squares = jnp.square(charges).sum()
    if not dispersion:
        background = math.pi / (2 * alpha**2 * volume) * jnp.square(charges.sum())
        return -alpha / math.sqrt(math.pi) * squares - background
    return alpha**6 / 12 * squares
