# SPDX-License-Identifier: BSD-3-Clause
"""Contacts of bodies."""

from typing import NamedTuple

import numpy as np

from . import _core
from ._numbers import chosen_number, flag, level_of, method_name, shown, thread_count, word
from ._reprs import of_arrays
from ._types import Array, ByAxis, DType
from .mesh import _index_type

__all__ = ["Contacts", "contacts"]

_SHAPES = "sphere", "ellipsoid", "capsule", "box"


class Contacts(NamedTuple):
    """Arrays by contact. Body `a` has the smaller index (with ids, the smaller id); plane k is always `b`,
    as 2**31 + k: `b >= 2**31` are contacts with planes. In int32 these numbers wrap around to -2**31 + k.

    a, b : (C,) indices. depth : (C,), positive. normal : (C, 3), unit vectors from a to b. point_a, point_b : (C, 3),
    on the surfaces: point_a - point_b = depth * normal. shift : (C, 3) integers: b is at center_b + shift * box.
    feature : (C,) integers that distinguish the contacts of one pair and stay the same from step to step.
    """

    a: Array
    b: Array
    depth: Array
    normal: Array
    point_a: Array
    point_b: Array
    shift: Array
    feature: Array

    def __repr__(self) -> str:
        return of_arrays(self)


def contacts(
    centers: Array,
    radii: Array = None,
    *,
    shapes: Array = "sphere",
    sizes: Array = None,
    orientations: Array = None,
    ids: Array = None,
    planes: Array = None,
    box: Array = None,
    periodic: ByAxis = None,
    origin: Array = None,
    systems: Array = None,
    sorted: bool = False,
    bin_size: float | None = None,
    method: str = "auto",
    deterministic: str = "none",
    threads: int | None = None,
    index_dtype: DType = None,
) -> Contacts:
    """All contacts of bodies, each once.

    Parameters
    ----------
    centers : (N, 3) array of float32 or float64
    radii : of spheres, one number or (N,)
    shapes : "sphere", "ellipsoid", "capsule" or "box" for all bodies, or (N,) of these names, or of their numbers from 0
    sizes : (N, 3). Sphere: (radius, -, -). Ellipsoid: half-axes. Capsule: (radius, half the distance of the caps'
        centers, -), along z. Box: half edges. Not needed for spheres with radii.
    orientations : (N, 4) quaternions (w, x, y, z) of any length but 0; by default no body is rotated
    ids : (N,) different integers from 0 to 2**31 - 1 that stay with the bodies when others are added, removed or
        reordered: `a` is then the body with the smaller id, and (ids[a], ids[b], feature) is the same contact from call
        to call
    planes : (P, 4) unit normals and offsets: points p with normal . p < offset are solid
    box, periodic, origin : lengths of a rectangular box, see `neighbor_list`; without one space is open
    systems : (N,) integers from 0, in any order
        Independent systems in one call: bodies of different ones do not meet. Planes are in all of them. `box`,
        `periodic` and `origin` may be given for each, as in `neighbor_list`.
    sorted : orders contacts by (a, b, feature), with ids by those of a and b: the same bits with every method, in every
        run. Otherwise the order is arbitrary.
    bin_size : edge of a bin; None: auto
    method : one of `methods("contacts")`, or "auto"
    deterministic : "none"; "run_to_run" and "canonical" imply `sorted`
    threads, index_dtype : see `neighbor_list`

    Returns
    -------
    `Contacts`, of the library of the centers and on their device.

    Raises
    ------
    ValueError naming the first invalid body, or two bodies with the same id; TypeError for types that are not accepted.

    Examples
    --------
    ::

        found = quadrat.contacts(centers, 0.5, box=[10, 10, 10])
        boxes = quadrat.contacts(centers, shapes="box", sizes=half_edges, planes=[[0, 0, 1, 0]])
    """
    if radii is None and sizes is None:
        raise ValueError("the bodies have no size; a radius of all, radii or sizes are needed")
    shape, kinds = _shapes_of(shapes)
    return Contacts(
        *_core.contacts(
            centers,
            radii,
            shape,
            kinds,
            sizes,
            orientations,
            ids,
            planes,
            box,
            periodic,
            origin,
            systems,
            method_name(method),
            flag(sorted, "sorted"),
            chosen_number(bin_size, "bin_size"),
            level_of(deterministic),
            thread_count(threads),
            _index_type(index_dtype),
        )
    )


def _shapes_of(shapes):
    """(the number of all bodies' shape, the numbers of each body's or None)."""
    if shapes is None or isinstance(shapes, str):
        return _SHAPES.index(word(shapes, "shapes", _SHAPES)), None
    names = np.asarray(shapes) if isinstance(shapes, (list, tuple)) else shapes
    if not isinstance(names, np.ndarray) or names.dtype.kind != "U":
        return 0, shapes
    known = names[..., None] == np.array(_SHAPES)
    if not known.any(-1).all():
        wrong = names[~known.any(-1)][0]
        raise ValueError(f"shapes has {shown(str(wrong))}; {', '.join(_SHAPES)} are accepted")
    return 0, known.argmax(-1)
