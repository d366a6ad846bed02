# SPDX-License-Identifier: BSD-3-Clause
"""Power spectra and structure factors of points in periodic boxes."""

from typing import Any, NamedTuple

import numpy as np

from . import _core
from ._numbers import flag, level_of, method_name, numbers, shown, thread_count, whole
from ._reprs import of_arrays
from ._types import Array, ByAxis
from .mesh import _by_axis

__all__ = ["PowerSpectrum", "power_spectrum"]


class PowerSpectrum(NamedTuple):
    """A power spectrum, as arrays of NumPy.

    k: (bins,) the mean over the modes of each bin, NaN without modes. power: (bins,), or (multipoles, bins) if several
    were asked for. modes: (bins,) of the whole sphere. edges: (bins + 1,). shot_noise: what uncorrelated points have in
    every mode; it is part of `power` unless it was subtracted.
    """

    k: Any
    power: Any
    modes: Any
    edges: Any
    shot_noise: float

    def __repr__(self) -> str:
        return of_arrays(self)


def power_spectrum(
    points: Array,
    box: Array,
    mesh: ByAxis,
    *,
    weights: Array = None,
    others: Array = None,
    other_weights: Array = None,
    edges: Array = None,
    multipoles: Any = 0,
    line_of_sight: int = 0,
    order: int = 4,
    interlaced: bool = True,
    compensated: bool = True,
    subtract_shot_noise: bool = False,
    structure_factor: bool = False,
    origin: Array = None,
    method: str = "auto",
    deterministic: str = "none",
    threads: int | None = None,
) -> PowerSpectrum:
    """The power spectrum V abs(F)^2 / (sum of weights)^2 of points in a periodic box, in the definitions of nbodykit's
    FFTPower, where F is the transform of the weighted points and V the volume.

    Parameters
    ----------
    points, others : (N, D), D = 2 or 3. With `others` the cross power of two sets, the real part of F_1 F_2*.
    box : (D,) lengths
    mesh : points of the mesh, one number or one per axis: products of 2, 3 and 5, the last one even
    weights, other_weights : (N,); None: all 1
    edges : of the bins, increasing, in radians per length. None: multiples of 2 pi / (longest side) up to the Nyquist
        wave number
    multipoles : one or several of the degrees 0, 2 and 4; in 2D 0
    line_of_sight : the axis to which the angles of multipoles are taken
    order : of spreading: 1 nearest grid point, 2 cloud in cell, 3 triangular shaped cloud, 4 piecewise cubic spline
    interlaced : adds a second mesh half a cell away, so that every other alias cancels
    compensated : divides by the square of the window's transform; without `interlaced` with all of its aliases
    subtract_shot_noise : from the multipole 0 of points with themselves
    structure_factor : abs(F)^2 / N instead of the power
    origin : of the box, one number or one per axis
    method, deterministic, threads : see `SpreadPlan`

    Examples
    --------
    ::

        found = quadrat.power_spectrum(points, [1000, 1000, 1000], 128, multipoles=[0, 2])
        monopole, quadrupole = found.power
    """
    dimension = len(np.atleast_1d(_core.numbers(box, "box")))
    degrees = [whole(degree, "multipoles", 0, 2**31 - 1) for degree in numbers(multipoles, "multipoles")]
    if dimension not in (2, 3):
        raise ValueError(f"the box has {dimension} lengths; 2 or 3 are accepted")
    if others is None and other_weights is not None:
        raise ValueError("there are other_weights without others")
    bins = [] if edges is None else np.atleast_1d(_core.numbers(edges, "edges")).ravel().tolist()
    if edges is not None and len(bins) < 2:
        raise ValueError(f"edges is {shown(edges)}; at least 2 edges of bins are needed")
    found_edges, k, modes, power, noise = _core.power_spectrum(
        points,
        weights,
        others,
        other_weights,
        box,
        origin,
        _by_axis(mesh, dimension, "mesh"),
        bins,
        degrees,
        whole(line_of_sight, "line_of_sight", 0, dimension - 1),
        whole(order, "order", 1, 4),
        flag(interlaced, "interlaced"),
        flag(compensated, "compensated"),
        flag(subtract_shot_noise, "subtract_shot_noise"),
        flag(structure_factor, "structure_factor"),
        method_name(method),
        level_of(deterministic),
        thread_count(threads),
    )
    return PowerSpectrum(k, power if np.ndim(multipoles) else power[0], modes, found_edges, noise)
