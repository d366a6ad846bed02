# SPDX-License-Identifier: BSD-3-Clause
"""Spreading values of points onto a mesh, and interpolating values of a mesh at points."""

from typing import Any

import numpy as np

from . import _core
from ._numbers import flag, level_of, method_name, numbers, real_number, shown, thread_count, whole, word
from ._state import State
from ._types import Array, ByAxis, DType

__all__ = ["SpreadPlan", "interpolate", "spread"]

_WIDE = {"float32": False, "float64": True}
_ENDS = "lower", "both"


def _dtype_name(dtype, argument="dtype", accepted=("float32", "float64")):
    """The name of an accepted type, given by name or as a type of NumPy or PyTorch."""
    name = dtype.__name__ if isinstance(dtype, type) else dtype if isinstance(dtype, str) else getattr(dtype, "name", None)
    name = (name if isinstance(name, str) else shown(dtype)).removeprefix("torch.")
    if name not in accepted:
        given = name if name.isidentifier() and len(name) < 20 else shown(dtype)
        raise TypeError(f"{argument} is {given}; {' and '.join(accepted)} are accepted")
    return name


def _index_type(index_dtype):
    return None if index_dtype is None else _dtype_name(index_dtype, "index_dtype", ("int32", "int64"))


def _extents_of(array, name, dimension):
    """The last axes of an array."""
    try:
        shape = tuple(array.shape) if hasattr(array, "shape") else np.shape(array)
    except (ValueError, RuntimeError) as problem:
        raise ValueError(f"{name} cannot be read as an array: {problem}") from None
    if len(shape) < dimension:
        raise ValueError(f"{name} have the shape {shape}; {dimension} axes are needed, or one more for several")
    return shape[-dimension:]


def _by_axis(value, dimension, name):
    given = numbers(value, name)
    if len(given) not in (1, dimension):
        accepted = f"a positive integer, or one for each of the {dimension} axes of the box, is accepted"
        raise ValueError(f"{name} is {shown(value)}; {accepted}")
    return [whole(n, name, least=1) for n in given] * (dimension // len(given))


class SpreadPlan(State):
    """Spreads onto a mesh over a box, and interpolates from it, with cardinal B-splines.

    Parameters
    ----------
    box : (D,) lengths, D = 1, 2 or 3
    mesh : points of the mesh, one number or one per axis. Mesh point k is at origin + k * box / mesh; see `ends`.
    order : of the B-spline, 1 to 8: points of the mesh along an axis that a point reaches
    periodic, origin : see `neighbor_list`
    clip : along open axes, ignores contributions beyond the mesh; otherwise they are an error
    accept_outside : along open axes, accepts points beyond the box
    ends : mesh points of open axes
        "lower": the first on the lower face of the box, none on the upper one. "both": also the last on the upper face;
        mesh point k is then at origin + k * box / (mesh - 1), as in `numpy.linspace`, and `mesh` is at least 2.
    uses : expected calls per set of points
    autotune : the first calls time the methods that may be fastest, and the fastest is kept (docs/concepts/choosing.md)
    method : one of `methods("spread")`, or "auto"
    deterministic : "none"; "run_to_run": the same bits in every run, with any number of threads; "canonical": the same
        bits also with every method that has this level. Then without autotune.
    threads : of the CPU; None: all
    dtype : float32 or float64, of points and values

    Examples
    --------
    ::

        plan = quadrat.SpreadPlan([10, 10, 10], 32).set_points(points)
        mesh_values = plan.spread(charges)            # (32, 32, 32)
        values = plan.interpolate(mesh_values)        # (N,)
    """

    def __init__(
        self,
        box: Array,
        mesh: ByAxis,
        order: int = 4,
        *,
        periodic: ByAxis = None,
        origin: Array = None,
        clip: bool = False,
        accept_outside: bool = False,
        ends: str = "lower",
        uses: float = 1.0,
        autotune: bool = False,
        method: str = "auto",
        deterministic: str = "none",
        threads: int | None = None,
        dtype: DType = np.float64,
    ) -> None:
        lengths = np.atleast_1d(_core.numbers(box, "box"))
        dimension = len(lengths)
        if lengths.ndim != 1 or dimension not in (1, 2, 3):
            raise ValueError(f"the box has the shape {lengths.shape}; one to three lengths are accepted")
        self.dtype: str = _dtype_name(dtype)
        self.mesh: tuple[int, ...] = tuple(_by_axis(mesh, dimension, "mesh"))
        self._plan = _core.MeshPlan(
            lengths,
            list(self.mesh),
            whole(order, "order"),
            periodic,
            origin,
            flag(clip, "clip"),
            flag(accept_outside, "accept_outside"),
            word(ends, "ends", _ENDS) == "both",
            real_number(uses, "uses"),
            flag(autotune, "autotune"),
            method_name(method),
            level_of(deterministic),
            thread_count(threads),
            _WIDE[self.dtype],
        )
        self.dimension = dimension

    def set_points(self, points: Array) -> "SpreadPlan":
        """Copies (N, D) points; in 1D also (N,). Points are wrapped along periodic axes. The plan then works on their
        device. Captured in a CUDA graph, it accepts at most as many points as the previous call."""
        self._plan.set_points(points)
        return self

    def check(self) -> None:
        """Raises ValueError naming the first point in a replay of a CUDA graph that `set_points` would have refused.
        Waits for the plan's work, not for the stream in which the graph runs."""
        self._plan.check()

    def spread(self, values: Array) -> Array:
        """mesh_values[k] = sum over points i of values[i] w(i, k), of the shape `mesh` or (V, ...). Values: (N,) or
        (V, N), real or complex."""
        return self._plan.spread(values)

    def interpolate(self, mesh_values: Array) -> Array:
        """values[i] = sum over mesh points k of mesh_values[k] w(i, k), (N,) or (V, N): the adjoint of `spread`. Mesh
        values: of the shape `mesh`, or (V, ...)."""
        return self._plan.interpolate(mesh_values)

    def gradient(self, mesh_values: Array) -> Array:
        """Derivatives of `interpolate` by position, (N, D) or (V, N, D), per unit of length."""
        return self._plan.gradient(mesh_values)

    @property
    def method(self) -> str:
        """The method of the last points."""
        return self._plan.method()


def spread(points: Array, values: Array, box: Array, mesh: ByAxis, order: int = 4, **options: Any) -> Array:
    """Spreads values of points onto a mesh in one call. Options as in `SpreadPlan`."""
    _, dtype = _core.kind_of_points(points)
    return SpreadPlan(box, mesh, order, dtype=dtype, **options).set_points(points).spread(values)


def interpolate(points: Array, mesh_values: Array, box: Array, order: int = 4, **options: Any) -> Array:
    """Interpolates values of a mesh at points in one call; the values give the shape of the mesh. Options as in
    `SpreadPlan`."""
    dimension, dtype = _core.kind_of_points(points)
    mesh = _extents_of(mesh_values, "mesh_values", dimension)
    return SpreadPlan(box, mesh, order, dtype=dtype, **options).set_points(points).interpolate(mesh_values)
