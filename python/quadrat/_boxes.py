# SPDX-License-Identifier: BSD-3-Clause
"""Boxes as arguments: lengths, vectors, one or one per system."""

from dataclasses import dataclass

import numpy as np

from . import _core
from ._arrays import as_numpy


@dataclass
class Boxes:
    """What the extension module takes: vectors (B, D, D), origins (B, D), periodic (B, D)."""

    vectors: np.ndarray
    origins: np.ndarray
    periodic: np.ndarray

    @property
    def open(self):
        """Whether some axis is open: points may then be anywhere along it."""
        return not self.periodic.all()

    def core(self):
        return _core.Boxes(self.vectors, self.origins, self.periodic)


def boxes_of(box, dimension, periodic=None, origin=None, systems=1):
    """`box`: None (open), D lengths, D vectors as rows, or one of these per system."""
    if box is None:
        if periodic is not None and np.any(periodic):
            raise ValueError("periodic axes need a box: its lengths, or its vectors as rows")
        vectors, periodic = np.eye(dimension), False
    else:
        vectors = _vectors_of(box, dimension, systems)
    vectors = np.broadcast_to(vectors, (systems, dimension, dimension))
    wraps = _by_axis(True if periodic is None else periodic, "periodic", bool, systems, dimension)
    origins = _by_axis(0.0 if origin is None else origin, "origin", float, systems, dimension)
    return Boxes(np.ascontiguousarray(vectors, dtype=float), origins, wraps)


def _vectors_of(box, dimension, systems):
    array = as_numpy(box, "box").astype(float)
    if array.shape == (dimension,):
        return np.diag(array)
    if array.ndim >= 2 and array.shape[-2:] == (dimension, dimension) and array.shape[:-2] in ((), (systems,)):
        return array
    if array.ndim == 2 and array.shape == (systems, dimension):
        return np.stack([np.diag(lengths) for lengths in array])
    raise ValueError(
        f"the box has the shape {array.shape}; ({dimension},) lengths or ({dimension}, {dimension}) vectors are accepted"
        + (f", or one of them for each of the {systems} systems" if systems > 1 else "")
    )


def _by_axis(value, name, dtype, systems, dimension):
    array = as_numpy(value, name)
    if dtype is bool and array.dtype != bool and not np.isin(array, (0, 1)).all():
        raise ValueError(f"{name} is {value!r}; True or False is accepted, for all axes or for each")
    try:
        return np.ascontiguousarray(np.broadcast_to(array.astype(dtype), (systems, dimension)))
    except ValueError:
        raise ValueError(
            f"{name} has the shape {array.shape}; one value, or one for each of the {dimension} axes, is accepted"
        ) from None


def systems_in(systems, box, dimension):
    """The number of systems: of the boxes, if there is one for each; else as many as points belong to."""
    if systems is None:
        return 1
    shape = () if box is None else as_numpy(box, "box").shape
    if len(shape) == 3 or (len(shape) == 2 and shape != (dimension, dimension)):
        return max(shape[0], 1)
    array = as_numpy(systems, "systems")
    return int(array.max()) + 1 if array.size and array.dtype.kind in "iu" and array.max() >= 0 else 1
