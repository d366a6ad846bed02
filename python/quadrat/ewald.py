# SPDX-License-Identifier: BSD-3-Clause
"""Electrostatics and dispersion by Ewald sums."""

from typing import Any, NamedTuple

from . import _core
from ._numbers import flag, level_of, method_name, real_number, thread_count, word
from ._reprs import of_arrays
from ._state import State
from ._types import Array, ByAxis

__all__ = ["Electrostatics", "Ewald", "electrostatics"]

LAWS = ("coulomb", "dispersion")


class Electrostatics(NamedTuple):
    """energy: a number, with systems (B,). forces: (N, 3), minus the derivative of the energy by points. potentials:
    (N,), its derivatives by charge. virial: (3, 3) or (B, 3, 3), minus its derivative by a strain of box and points.
    Results that were not requested are None."""

    energy: Array
    forces: Array = None
    potentials: Array = None
    virial: Array = None

    def __repr__(self) -> str:
        return of_arrays(self)


class Ewald(State):
    """Sums over all pairs of charges and all their images.

    Parameters
    ----------
    accuracy : of forces, their root mean square error, in units of k q^2 / d^2 with the mean square charge q^2 and
        d = (volume / N)^(1/3). Cutoff, splitting, mesh and order are chosen to reach it: see `report`.
    law : "coulomb" (k q_i q_j / r) or "dispersion" (-k c_i c_j / r^6)
    coulomb_constant : k
    remove_net_force : subtracts the mean force, which comes from the error of the mesh (docs/guides/electrostatics.md)
    method : "auto", "spme", "esp" or "direct"
    deterministic, threads : see `SpreadPlan`

    Examples
    --------
    ::

        sums = quadrat.Ewald(1e-4)
        found = sums.compute(points, charges, [10, 10, 10], virial=True)
        found.energy, found.forces, found.virial, sums.report["error"]
    """

    def __init__(
        self,
        accuracy: float = 1e-5,
        *,
        law: str = "coulomb",
        coulomb_constant: float = 1.0,
        remove_net_force: bool = False,
        method: str = "auto",
        deterministic: str = "none",
        threads: int | None = None,
    ) -> None:
        self._sums = _core.EwaldSums(
            real_number(accuracy, "accuracy"),
            word(law, "law", LAWS) == "dispersion",
            method_name(method),
            real_number(coulomb_constant, "coulomb_constant"),
            flag(remove_net_force, "remove_net_force"),
            level_of(deterministic),
            thread_count(threads),
        )

    def compute(
        self,
        points: Array,
        charges: Array,
        box: Array,
        *,
        periodic: ByAxis = None,
        systems: Array = None,
        scaled_pairs: Array = None,
        scales: Array = None,
        forces: bool = True,
        potentials: bool = False,
        virial: bool = False,
    ) -> Electrostatics:
        """Energy, and the other requested results, of (N, 3) points with (N,) charges.

        Parameters
        ----------
        box : (3,) lengths or (3, 3) vectors as rows; with `systems`, (N,) integers, as in `neighbor_list`: (3,) or (1,
            3, 3) for all, (B, 3) or (B, 3, 3) for each.
        periodic : along all three vectors, or the first two (a slab).
        scaled_pairs : (P, 2) pairs whose interaction is scaled by scales (P,), by default 0: excluded.
        """
        return Electrostatics(
            *self._sums.compute(
                points,
                charges,
                box,
                periodic,
                systems,
                scaled_pairs,
                scales,
                flag(forces, "forces"),
                flag(potentials, "potentials"),
                flag(virial, "virial"),
            )
        )

    @property
    def report(self) -> dict[str, Any]:
        """The choices of the last call, and the expected errors.

        `error` : of forces, in units of k q^2 / d^2. `energy_error`, `virial_error` : of the energies of points and the
        traces of their virials, in units of k q^2 / d; the errors of a system's energy and of each component of its
        virial, per point, are at most these. With q^2 the mean square charge and d = (volume / points)^(1/3). `mesh` is
        along the shortest vectors with the same images, if the cell is strongly sheared.
        """
        return self._sums.report()


def electrostatics(
    points: Array, charges: Array, box: Array, accuracy: float = 1e-5, *, periodic: ByAxis = None, **options: Any
) -> Electrostatics:
    """Energy and forces in one call; see `Ewald` and `Ewald.compute`, whose options it takes."""
    own = {key: options.pop(key) for key in tuple(options) if key in ("method", "law", "coulomb_constant",
           "remove_net_force", "deterministic", "threads")}  # fmt: skip
    return Ewald(accuracy, **own).compute(points, charges, box, periodic=periodic, **options)
