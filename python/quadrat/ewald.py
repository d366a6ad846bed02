# SPDX-License-Identifier: BSD-3-Clause
"""Electrostatics and dispersion by Ewald sums."""

import threading
from typing import NamedTuple

import numpy as np

from . import _core
from ._arrays import as_numpy, floats, indices, kind_of, points_of
from ._boxes import boxes_of, systems_in

LAWS = ("coulomb", "dispersion")


class EwaldResult(NamedTuple):
    """energy: float, with several systems (B,). forces: (N, 3). potentials: (N,), derivatives of the energy by charge.
    virial: (3, 3) or (B, 3, 3), minus the derivative of the energy by strain. None for what was not asked for."""

    energy: object
    forces: object = None
    potentials: object = None
    virial: object = None


class Ewald:
    """Sums over all pairs of charges and all their images.

    Parameters
    ----------
    accuracy : root mean square error of forces, in units of k q^2 / d^2 with the mean square charge q^2 and
        d = (volume / N)^(1/3). Cutoff, splitting, mesh and order are chosen to reach it: see `report`.
    method : "auto", "spme", "esp" or "direct"
    law : "coulomb" (k q_i q_j / r) or "dispersion" (-k c_i c_j / r^6)
    coulomb_constant : k
    remove_net_force, run_to_run, threads : see docs/electrostatics.md
    """

    def __init__(
        self,
        accuracy=1e-5,
        *,
        method="auto",
        law="coulomb",
        coulomb_constant=1.0,
        remove_net_force=False,
        run_to_run=False,
        threads=0,
    ):
        if law not in LAWS:
            raise ValueError(f"law is {law!r}; one of {', '.join(LAWS)} is accepted")
        self._arguments = (
            float(accuracy),
            law == "dispersion",
            method,
            float(coulomb_constant),
            bool(remove_net_force),
            bool(run_to_run),
            int(threads),
        )
        self._sums = {}
        self._last = None
        self._lock = threading.Lock()

    def compute(
        self,
        points,
        charges,
        cell,
        *,
        periodic=True,
        systems=None,
        scaled_pairs=None,
        scales=None,
        forces=True,
        potentials=False,
        virial=False,
    ):
        """Energy, and what else is asked for, of (N, 3) points with (N,) charges.

        cell : (3,) lengths or (3, 3) vectors as rows; with `systems`, (N,) integers, one for all or one for each.
        periodic : along all three vectors, or the first two (a slab).
        scaled_pairs : (P, 2) pairs whose interaction is scaled by scales (P,), by default 0: excluded.
        """
        array = points_of(points, (3,))
        given = floats(charges, "charges", array.dtype)
        if given.shape != (len(array),):
            raise ValueError(f"charges have the shape {given.shape}; one for each of the {len(array)} points is needed")
        boxes = boxes_of(cell, 3, periodic, None, systems_in(systems, cell, 3))
        name = array.dtype.name
        with self._lock:
            if name not in self._sums:
                self._sums[name] = getattr(_core, "Ewald_" + name)(*self._arguments)
        pairs, factors = _pairs(scaled_pairs, scales, len(array))
        numbers = indices(systems, len(array), "systems")
        with self._lock:
            self._last = None
            parts = self._sums[name].compute(
                array, given, boxes.core(), numbers, pairs, factors, forces, potentials, virial
            )
            self._last = name
        energy, force, potential, stress = parts
        kind = kind_of(points)
        if systems is None:
            return EwaldResult(float(energy[0]), kind(force), kind(potential), None if stress is None else kind(stress[0]))
        return EwaldResult(kind(energy), kind(force), kind(potential), kind(stress))

    @property
    def report(self):
        """What was chosen in the last call, and the error that is expected."""
        if self._last is None:
            raise ValueError("nothing has been computed yet")
        return self._sums[self._last].report()


def _pairs(pairs, scales, count):
    if pairs is None:
        if scales is not None:
            raise ValueError("scales are given without scaled_pairs")
        return None, None
    array = as_numpy(pairs, "scaled_pairs")
    array = array.reshape(0, 2) if array.size == 0 else array
    if array.ndim != 2 or array.shape[1] != 2 or array.dtype.kind not in "iuf" or (array != np.floor(array)).any():
        raise ValueError(f"scaled_pairs have the shape {array.shape} and the type {array.dtype}; (P, 2) integers are needed")
    array = np.ascontiguousarray(array, dtype=np.int64)
    if array.size and (array.min() < 0 or array.max() >= count):
        row = int(np.flatnonzero(((array < 0) | (array >= count)).any(axis=1))[0])
        raise ValueError(f"scaled_pairs[{row}] is {tuple(array[row])}; there are {count} points")
    if scales is None:
        return array, None
    factors = np.ascontiguousarray(as_numpy(scales, "scales"), dtype=np.float64)
    if factors.shape != (len(array),):
        raise ValueError(f"scales have the shape {factors.shape}; one for each of the {len(array)} pairs is needed")
    return array, factors


def electrostatics(points, charges, cell, accuracy=1e-5, *, periodic=True, **options):
    """Energy and forces in one call; see `Ewald` and `Ewald.compute`, whose options it takes."""
    own = {key: options.pop(key) for key in tuple(options) if key in ("method", "law", "coulomb_constant",
           "remove_net_force", "run_to_run", "threads")}  # fmt: skip
    return Ewald(accuracy, **own).compute(points, charges, cell, periodic=periodic, **options)
