# SPDX-License-Identifier: BSD-3-Clause
"""Mobility of spheres in a fluid."""

from . import _core
from ._numbers import level_of, method_name, real_number, thread_count, whole
from ._state import State
from ._types import Array

__all__ = ["Mobility"]


class Mobility(State):
    """The hydrodynamic mobility M of equal spheres in a periodic box, by Rotne, Prager and Yamakawa: velocities from
    forces, and Brownian velocities, whose covariance is M. Spheres may overlap.

    Parameters
    ----------
    accuracy : the root mean square error of velocities for random forces, relative to those of free spheres; up to 0.1
    radius : of each sphere
    viscosity : of the fluid
    method : "auto", "split", "krylov" or "direct"
    deterministic, threads : see `SpreadPlan`

    Examples
    --------
    ::

        mobility = quadrat.Mobility(1e-3, radius=0.5, viscosity=1.0).set_points(points, [20, 20, 20])
        drift = mobility.multiply(forces)
        moved = mobility.velocities(forces, seed=1, step=step, scale=np.sqrt(2 * temperature / dt))
    """

    def __init__(
        self,
        accuracy: float = 1e-3,
        *,
        radius: float = 1.0,
        viscosity: float = 1.0,
        method: str = "auto",
        deterministic: str = "none",
        threads: int | None = None,
    ) -> None:
        self._spheres = _core.SphereMobility(
            real_number(accuracy, "accuracy"),
            real_number(radius, "radius"),
            real_number(viscosity, "viscosity"),
            method_name(method),
            level_of(deterministic),
            thread_count(threads),
        )

    def set_points(self, points: Array, box: Array) -> "Mobility":
        """Copies (N, 3) points, any image of each, of float32 or float64, in an upright box of (3,) lengths, periodic
        along all axes. Parameters are chosen when N, the box, the precision or the device changes. Raises ValueError
        for invalid arguments, naming the first point that is not finite."""
        self._spheres.set_points(points, box)
        return self

    def multiply(self, forces: Array) -> Array:
        """The velocities M forces, (N, 3), of (N, 3) forces, in their library, on the device of the points."""
        return self._spheres.multiply(forces)

    def velocities(self, forces: Array = None, *, seed: int = 0, step: int = 0, scale: float = 1.0) -> Array:
        """Brownian velocities, (N, 3): M forces + scale B z, with B B^T = M and independent standard normal numbers z,
        by the Lanczos method. None: no forces. For Brownian motion in time steps dt, scale is sqrt(2 kT / dt). Equal
        seeds and steps give equal bits; give each step another number."""
        drawn = whole(seed, "seed", 0, 2**64 - 1), whole(step, "step", 0, 2**64 - 1), real_number(scale, "scale")
        return self._spheres.velocities(forces, *drawn)

    @property
    def method(self) -> str:
        """The method for the last points."""
        return self._spheres.choice()[0]
