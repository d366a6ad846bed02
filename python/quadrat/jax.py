# SPDX-License-Identifier: BSD-3-Clause
"""Functions of this package for JAX, under jit, vmap and grad: see docs/guides/python-derivatives.md.

    neighbor_list                       pairs; distances and vectors have derivatives
    spread, interpolate                 values between points and meshes
    nufft1, nufft2, nufft3              Fourier transforms of points
    electrostatics                      energies, forces, potentials and virials of charges

They work on CPUs and, with the package quadrat-cuda13, on GPUs, by XLA's foreign function interface. JAX raises errors
in the data (a point that is not finite, too small a capacity) when results are used, with the library's message.
"""

import math
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from . import _core

if not _core.jax_handlers:
    raise ImportError(
        "this build of quadrat has no functions for JAX: it was made without jaxlib's headers. "
        "Install jax, then build again: pip install --no-build-isolation ."
    )

from ._jax import ewald_second as _ewald_second  # noqa: E402
from ._jax import operators as _operators  # noqa: E402
from ._numbers import flag, method_name, real_number, shown, sign_of, whole, word  # noqa: E402
from ._reprs import of_arrays  # noqa: E402
from ._types import Array, ByAxis  # noqa: E402
from .ewald import LAWS, Electrostatics  # noqa: E402
from .transforms import ORDERS  # noqa: E402

__all__ = ["Electrostatics", "Neighbors", "electrostatics", "interpolate", "neighbor_list"]
__all__ += ["nufft1", "nufft2", "nufft3", "spread"]


class Neighbors(NamedTuple):
    """Arrays of the capacity P: i, j (P,) and shifts (P, D) int32; distances (P,), vectors (P, D); and the number of
    pairs.

    Entries beyond the number have i = j = N, which indexed additions drop; their shift and vector are 0, and their
    distance is the cutoff. If the number is above the capacity, which `strict` lists make an error, no entry is used,
    and distances and vectors are NaN.
    """

    i: jax.Array
    j: jax.Array
    shifts: jax.Array
    distances: jax.Array
    vectors: jax.Array
    count: jax.Array

    @property
    def overflowed(self) -> jax.Array:
        """Whether there are more pairs than the capacity; `count` of them would have fit."""
        return self.count > self.i.shape[-1]

    def __repr__(self) -> str:
        return of_arrays(self)


def neighbor_list(
    points: Array,
    cutoff: float,
    box: Array = None,
    *,
    periodic: ByAxis = None,
    capacity: int,
    half: bool = False,
    sorted: bool = False,
    strict: bool = True,
) -> Neighbors:
    """All pairs (i, j, S) for which points[j] + S @ box - points[i] is shorter than the cutoff, at most `capacity`.

    Like `quadrat.neighbor_list`, with arrays whose size does not depend on the data. More pairs than the capacity are
    an error that names their number; without `strict` they are none: `overflowed` of the result is then true, `count`
    is their number, and distances and vectors are NaN. Returns `Neighbors`; distances and vectors have derivatives of
    every order by points and box.
    """
    points = _points(points, (2, 3))
    count, dimension = points.shape
    if box is None and periodic is not None and any(_by_axis(periodic, dimension, "periodic", flag)):
        raise ValueError("periodic axes need a box: its lengths, or its vectors as rows")
    lattice = jnp.eye(dimension, dtype=points.dtype) if box is None else _vectors(box, points)
    wraps = _by_axis(box is not None if periodic is None else periodic, dimension, "periodic", flag)
    capacity, cutoff = whole(capacity, "capacity", least=0), real_number(cutoff, "cutoff")
    order = flag(half, "half"), flag(sorted, "sorted")
    i, j, shifts, found = _operators.pairs(points, lattice, capacity, cutoff, wraps, *order, flag(strict, "strict"))
    used = jnp.arange(capacity) < jnp.where(found > capacity, 0, found)
    i, j, shifts = jnp.where(used, i, count), jnp.where(used, j, count), jnp.where(used[:, None], shifts, 0)
    between = shifts.astype(points.dtype) @ lattice
    if count:  # indices beyond the last point are clamped to it
        between = between + points[j] - points[i]
    unused = jnp.where(found > capacity, jnp.nan, jnp.asarray([0, cutoff], points.dtype))
    between = jnp.where(used[:, None], between, unused[0])
    squared = jnp.where(used, jnp.square(between).sum(1), unused[1] ** 2)
    return Neighbors(i, j, shifts, jnp.sqrt(squared), between, found)


def spread(
    points: Array,
    values: Array,
    box: Array,
    mesh: ByAxis,
    order: int = 4,
    *,
    periodic: ByAxis = None,
    origin: Array = None,
) -> Array:
    """Values (N,) or (V, N), real or complex, of (N, D) points on a mesh.

    Like `quadrat.spread`, but the box may also be (D, D) vectors as rows; the mesh is then in fractions of them. It has
    derivatives of every order by values, points and box, as far as splines of this order have them.
    """
    fractions, wraps, dimension = _fractions(points, box, periodic, origin)
    given, single = _several(_values(values, fractions, "values"), 1, "values")
    if given.shape[1] != fractions.shape[0]:
        count = len(fractions)
        raise ValueError(f"values have the shape {jnp.shape(values)}; one for each of the {count} points is needed")
    result = _operators.spread(fractions, given, _by_axis(mesh, dimension, "mesh", _extent), whole(order, "order"), wraps)
    return result[0] if single else result


def interpolate(
    points: Array, mesh_values: Array, box: Array, order: int = 4, *, periodic: ByAxis = None, origin: Array = None
) -> Array:
    """Values (N,) or (V, N) of a mesh (K...) or (V, K...) at (N, D) points: the adjoint of `spread`."""
    fractions, wraps, dimension = _fractions(points, box, periodic, origin)
    given, single = _several(_values(mesh_values, fractions, "mesh_values"), dimension, "mesh_values")
    result = _operators.interpolate(fractions, given, whole(order, "order"), wraps)
    return result[0] if single else result


def nufft1(
    points: Array,
    values: Array,
    n_modes: ByAxis,
    tolerance: float = 1e-6,
    *,
    sign: int = 1,
    mode_order: str = "centered",
    period: ByAxis = None,
) -> Array:
    """modes[k] = sum over points j of values[j] exp(i sign k . x_j), as `quadrat.nufft1`.

    (N, D) points, values (N,) or (V, N). Derivatives of every order by values, points and period.
    """
    angles, dimension = _angles(points, period)
    given, single = _several(_complex(values, angles, "values"), 1, "values")
    if given.shape[1] != angles.shape[0]:
        count = len(angles)
        raise ValueError(f"values have the shape {jnp.shape(values)}; one for each of the {count} points is needed")
    extents = _by_axis(n_modes, dimension, "n_modes", _extent)
    result = _operators.type1(angles, given, extents, *_settings(tolerance, sign, mode_order))
    return result[0] if single else result


def nufft2(
    points: Array,
    modes: Array,
    tolerance: float = 1e-6,
    *,
    sign: int = -1,
    mode_order: str = "centered",
    period: ByAxis = None,
) -> Array:
    """values[j] = sum over modes k of modes[k] exp(i sign k . x_j), as `quadrat.nufft2`. Derivatives as for
    `nufft1`."""
    angles, dimension = _angles(points, period)
    given, single = _several(_complex(modes, angles, "modes"), dimension, "modes")
    result = _operators.type2(angles, given, *_settings(tolerance, sign, mode_order))
    return result[0] if single else result


def nufft3(points: Array, values: Array, targets: Array, tolerance: float = 1e-6, *, sign: int = 1) -> Array:
    """results[k] = sum over points j of values[j] exp(i sign s_k . x_j), at any targets s, (M, D).

    Derivatives of every order by values, points and targets.
    """
    at = _points(points, (1, 2, 3))
    to = _points(targets, (at.shape[1],), "targets")
    given, single = _several(_complex(values, at, "values"), 1, "values")
    if given.shape[1] != at.shape[0]:
        raise ValueError(f"values have the shape {jnp.shape(values)}; one for each of the {len(at)} points is needed")
    result = _operators.type3(at, given, to, *_settings(tolerance, sign)[:2])
    return result[0] if single else result


def electrostatics(
    points: Array,
    charges: Array,
    box: Array,
    accuracy: float = 1e-5,
    *,
    periodic: ByAxis = None,
    forces: bool = True,
    potentials: bool = False,
    virial: bool = False,
    law: str = "coulomb",
    coulomb_constant: float = 1.0,
    method: str = "auto",
) -> Electrostatics:
    """Energy, forces, potentials and virial of (N, 3) points with charges (N,) in a periodic box, as `quadrat.Ewald`.

    Returns `Electrostatics` with the requested results. The energy has derivatives by points, charges and box ((3,)
    lengths or (3, 3) vectors). So do forces, potentials and virial (second derivatives of the energy), if the box is
    periodic along all three vectors and is a constant when the function is traced. Several systems: vmap.
    """
    at = _points(points, (3,))
    given = _values(charges, at, "charges")
    if jnp.iscomplexobj(given):
        raise TypeError(f"charges have the type {given.dtype}; real numbers are accepted")
    if given.shape != at.shape[:1]:
        raise ValueError(f"charges have the shape {given.shape}; one for each of the {len(at)} points is needed")
    dispersion, method = word(law, "law", LAWS) == "dispersion", method_name(method)
    accuracy, constant = real_number(accuracy, "accuracy"), real_number(coulomb_constant, "coulomb_constant")
    wraps = _wraps(periodic, 3)
    vectors = _vectors(box, at)
    sizes = _ewald_second.sizes_of(box, at.shape[0], accuracy, at.dtype == jnp.float32)
    settings = (accuracy, constant, dispersion, method, wraps, sizes)
    energy, *others = _operators.charges(at, given, vectors, *settings)
    wanted = flag(forces, "forces"), flag(potentials, "potentials"), flag(virial, "virial")
    return Electrostatics(energy, *(one if kept else None for one, kept in zip(others, wanted)))


def _points(points, dimensions, name="points"):
    array = _read(points, name)
    if array.dtype not in (jnp.float32, jnp.float64):
        raise TypeError(f"{name} have the type {array.dtype}; float32 and float64 are accepted")
    given = array[:, None] if array.ndim == 1 and 1 in dimensions else array
    if given.ndim != 2 or given.shape[1] not in dimensions:
        wanted = " or ".join(f"(N, {d})" for d in dimensions)
        raise ValueError(f"{name} have the shape {array.shape}; {wanted} is accepted")
    return given


def _read(value, name):
    try:
        return jnp.asarray(value)
    except (TypeError, ValueError, OverflowError):
        raise TypeError(f"{name} is {shown(value)}; numbers are accepted") from None


def _values(values, points, name):
    """Real or complex numbers of the precision of the points."""
    array = _read(values, name)
    return _complex(array, points, name) if jnp.iscomplexobj(array) else array.astype(points.dtype)


def _complex(values, points, name):
    return _read(values, name).astype(jnp.complex64 if points.dtype == jnp.float32 else jnp.complex128)


def _known(value):
    """The numbers as a NumPy array; None while they are traced."""
    try:
        return np.asarray(value, dtype=float)
    except TypeError:
        return np.empty(0)


def _beside(value, points, name):
    """Real numbers in the precision of the points. Known numbers must be finite."""
    array = _read(value, name)
    if jnp.iscomplexobj(array):
        raise TypeError(f"{name} has the type {array.dtype}; real numbers are accepted")
    if not np.isfinite(_known(value)).all():
        raise ValueError(f"{name} is {shown(value)}; finite numbers are accepted")
    return array.astype(points.dtype)


def _one_or_each(value, points, name):
    """A number, or one for each axis."""
    array, dimension = _beside(value, points, name), points.shape[1]
    if array.shape not in ((), (1,), (dimension,)):
        accepted = f"one value, or one for each of the {dimension} axes, is accepted"
        raise ValueError(f"{name} has the shape {array.shape}; {accepted}")
    return array


def _lengths(value, points, name):
    """The same for positive numbers, if they are known."""
    array = _one_or_each(value, points, name)
    if not (_known(value) > 0).all():
        raise ValueError(f"{name} is {shown(value)}; positive numbers are accepted")
    return array


def _several(values, axes, name):
    if values.ndim not in (axes, axes + 1):
        raise ValueError(f"{name} have the shape {values.shape}; {axes} axes are needed, or one more for several")
    return (values[None], True) if values.ndim == axes else (values, False)


def _vectors(box, points):
    dimension = points.shape[1]
    lattice = _beside(box, points, "box")
    if lattice.shape == (dimension,):
        return jnp.diag(_lengths(box, points, "box"))
    if lattice.shape != (dimension, dimension):
        wanted = f"({dimension},) lengths or ({dimension}, {dimension}) vectors are accepted"
        raise ValueError(f"the box has the shape {lattice.shape}; {wanted}")
    return lattice


def _fractions(points, box, periodic, origin):
    at = _points(points, (1, 2, 3))
    if origin is not None:
        at = at - _one_or_each(origin, at, "origin")
    if jnp.shape(_beside(box, at, "box")) == (at.shape[1],):
        fractions = at / _lengths(box, at, "box")
    else:
        fractions = jnp.linalg.solve(_vectors(box, at).T, at.T).T
    return fractions, _wraps(periodic, at.shape[1]), at.shape[1]


def _angles(points, period):
    at = _points(points, (1, 2, 3))
    return at if period is None else at * (2 * math.pi / _lengths(period, at, "period")), at.shape[1]


def _by_axis(value, dimension, name, checked):
    numbers = value.tolist() if hasattr(value, "tolist") else value
    numbers = tuple(numbers) if isinstance(numbers, (list, tuple)) else (numbers,) * dimension
    if len(numbers) != dimension:
        raise ValueError(f"{name} is {shown(value)}; one value, or one for each of the {dimension} axes, is accepted")
    return tuple(checked(number, name) for number in numbers)


def _wraps(periodic, dimension):
    """By axis; all axes for None."""
    return _by_axis(True if periodic is None else periodic, dimension, "periodic", flag)


def _extent(value, name):
    return whole(value, name, least=1)


def _settings(tolerance, sign, mode_order="centered"):
    return real_number(tolerance, "tolerance"), sign_of(sign), word(mode_order, "mode_order", ORDERS)
