# SPDX-License-Identifier: BSD-3-Clause
"""Spreading values of points onto a mesh, and interpolating values of a mesh at points."""

import threading

import numpy as np

from . import _core
from ._arrays import as_numpy, kind_of, points_of
from ._boxes import boxes_of

_complex = {"float32": np.complex64, "float64": np.complex128}


def _by_axis(value, dimension, name):
    numbers = [value] * dimension if np.ndim(value) == 0 else list(value)
    if len(numbers) != dimension or any(int(n) != n or n < 1 for n in numbers):
        raise ValueError(f"{name} is {value!r}; a positive integer, or one for each of the {dimension} axes, is accepted")
    return [int(n) for n in numbers]


def _values(value, each, dtype, name):
    """Values by vector: (V, ...) and whether the first axis was added. Real or complex, of the plan's precision."""
    array = as_numpy(value, name)
    if array.dtype.kind in "iub" or not hasattr(value, "dtype"):
        array = array.astype(_complex[dtype] if array.dtype.kind == "c" else dtype)
    if array.dtype not in (np.dtype(dtype), np.dtype(_complex[dtype])):
        raise TypeError(f"{name} have the type {array.dtype}; {dtype} and {np.dtype(_complex[dtype])} are accepted")
    single = array.shape == each
    if not single and (array.ndim != len(each) + 1 or array.shape[1:] != each or array.shape[0] < 1):
        raise ValueError(f"{name} have the shape {array.shape}; {each} is needed, or several of them")
    return np.ascontiguousarray(array[None] if single else array), single


class SpreadPlan:
    """Spreads onto a mesh over a box, and interpolates from it, with cardinal B-splines.

    Parameters
    ----------
    box : (D,) lengths, D = 1, 2 or 3
    mesh : points of the mesh, one number or one per axis. Mesh point k is at origin + k * box / mesh.
    order : of the B-spline, 1 to 8: points of the mesh along an axis that a point reaches
    periodic, origin : see `neighbor_list`
    clip : along open axes, leaves out what falls beyond the mesh; otherwise that is an error
    accept_outside : along open axes, accepts points beyond the box
    uses : expected calls per set of points
    method, run_to_run, threads
        The method, or "auto"; whether results must be the same bits in every run; threads of the CPU, 0: all.
    dtype : float32 or float64, of points and values
    """

    def __init__(
        self,
        box,
        mesh,
        order=4,
        *,
        periodic=True,
        origin=None,
        clip=False,
        accept_outside=False,
        uses=1.0,
        method="auto",
        run_to_run=False,
        threads=0,
        dtype=np.float64,
    ):
        lengths = np.atleast_1d(np.asarray(box, dtype=float))
        dimension = len(lengths)
        if lengths.ndim != 1 or dimension not in (1, 2, 3):
            raise ValueError(f"the box has the shape {lengths.shape}; one to three lengths are accepted")
        self.dtype = np.dtype(dtype).name
        if self.dtype not in _complex:
            raise TypeError(f"dtype is {self.dtype}; float32 and float64 are accepted")
        boxes = boxes_of(lengths, dimension, periodic, origin)
        self.mesh = tuple(_by_axis(mesh, dimension, "mesh"))
        make = getattr(_core, f"Spreading_{self.dtype}_{dimension}")
        self._plan = make(
            list(boxes.origins[0]),
            list(lengths),
            list(map(bool, boxes.periodic[0])),
            list(self.mesh),
            int(order),
            bool(clip),
            bool(accept_outside),
            float(uses),
            method,
            bool(run_to_run),
            int(threads),
        )
        self.dimension = dimension
        self._lock = threading.Lock()

    def set_points(self, points):
        """Takes (N, D) points, which are copied; in 1D also (N,). Points are wrapped along periodic axes."""
        array = points_of(points, (self.dimension,), dtype=self.dtype)
        with self._lock:
            self._plan.set_points(array)
        return self

    def spread(self, values):
        """mesh[k] = sum over points i of values[i] w(i, k). Values: (N,) or (V, N), real or complex."""
        return self._run(self._plan.spread, values, None, "values")

    def interpolate(self, mesh):
        """values[i] = sum over mesh points k of mesh[k] w(i, k): the adjoint of `spread`. Mesh: its shape, or (V, ...)."""
        return self._run(self._plan.interpolate, mesh, self.mesh, "mesh values")

    def gradient(self, mesh):
        """Derivatives of `interpolate` by position, (N, D) or (V, N, D), per unit of length."""
        return self._run(self._plan.gradient, mesh, self.mesh, "mesh values")

    @property
    def method(self):
        """The method of the last points."""
        return self._plan.method()

    def _run(self, call, value, each, name):
        """`each`: the shape of a vector; None: one value per point."""
        with self._lock:
            array, single = _values(value, each or (self._plan.points(),), self.dtype, name)
            result = call(array)
        return kind_of(value)(result[0] if single else result)


def _plan_for(points, box, mesh, order, options):
    array = points_of(points, (1, 2, 3))
    return SpreadPlan(box, mesh, order, dtype=array.dtype, **options).set_points(array)


def spread(points, values, box, mesh, order=4, **options):
    """Values of points on a mesh, in one call; see `SpreadPlan`, whose options it takes."""
    return _plan_for(points, box, mesh, order, options).spread(values)


def interpolate(points, mesh_values, box, order=4, **options):
    """Values of a mesh at points, in one call; the shape of the mesh is that of its values. See `SpreadPlan`."""
    array = points_of(points, (1, 2, 3))
    shape = np.shape(mesh_values)[-array.shape[1] :]
    return _plan_for(array, box, shape, order, options).interpolate(mesh_values)
