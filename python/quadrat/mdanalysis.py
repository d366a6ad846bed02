# SPDX-License-Identifier: BSD-3-Clause
"""Pairs within a cutoff with the arguments and results of MDAnalysis."""

import math
from typing import Any

import numpy as np

from . import _core
from ._numbers import flag, real_number, shown, word
from .neighbors import neighbor_list

__all__ = ["capped_distance", "self_capped_distance"]

METHODS = ("bruteforce", "nsgrid", "pkdtree")
BACKENDS = ("serial", "openmp", "distopia")


def capped_distance(
    reference: Any,
    configuration: Any,
    max_cutoff: float,
    min_cutoff: float | None = None,
    box: Any = None,
    method: str | None = None,
    return_distances: bool = True,
    backend: str = "serial",
) -> Any:
    """Like MDAnalysis.lib.distances.capped_distance: (P, 2) pairs of indices of the reference and of the configuration,
    and their (P,) distances, if requested, which are above min_cutoff and up to max_cutoff.

    reference, configuration : (N, 3) or (3,) positions, read as float32, or an AtomGroup. box : lengths and angles
    [lx, ly, lz, alpha, beta, gamma]; a length of 0 is open. Each pair counts once, with its nearest image. method,
    backend : names are accepted and have no effect. Pairs are ordered by both indices.
    """
    _known(method, backend)
    places = {"points": _positions(configuration, "configuration"), "queries": _positions(reference, "reference")}
    i, j, d = _pairs(places, max_cutoff, min_cutoff, box)
    return _result(i, j, d, return_distances)


def self_capped_distance(
    reference: Any,
    max_cutoff: float,
    min_cutoff: float | None = None,
    box: Any = None,
    method: str | None = None,
    return_distances: bool = True,
    backend: str = "serial",
) -> Any:
    """Like MDAnalysis.lib.distances.self_capped_distance: pairs i < j of one group of positions. Otherwise like
    `capped_distance`."""
    _known(method, backend)
    i, j, d = _pairs({"points": _positions(reference, "reference"), "half": True}, max_cutoff, min_cutoff, box)
    once = i < j
    return _result(i[once], j[once], d[once], return_distances)


def _pairs(places, most, least, box):
    most = real_number(most, "max_cutoff")
    least = -math.inf if least is None else real_number(least, "min_cutoff")
    if not 0 <= most < math.inf:
        raise ValueError(f"max_cutoff is {shown(most)}; a number from 0 is accepted")
    vectors, periodic = _vectors(box)
    beyond = most * (1 + 1e-12) + 1e-150  # pairs at the cutoff itself count there
    if vectors is not None and np.all(periodic):  # no nearest image is farther, and others do not count
        beyond = min(beyond, 0.51 * np.linalg.norm(vectors, axis=1).sum())
    i, j, d = neighbor_list(cutoff=beyond, box=vectors, periodic=periodic, sorted=True, outputs="ijd", **places)
    again = (np.diff(i) == 0) & (np.diff(j) == 0)
    if again.any():  # the nearest image of each pair becomes the first
        order = np.lexsort((d, j, i))
        i, j, d = i[order], j[order], d[order]
    chosen = (d <= most) & (d > least)
    chosen[1:] &= ~again
    return i[chosen], j[chosen], d[chosen]


def _result(i, j, d, distances):
    pairs = np.stack([i, j], axis=1)
    return (pairs, d) if flag(distances, "return_distances") else pairs


def _positions(value, name):
    array = _core.numbers(getattr(value, "positions", value), name).astype(np.float32)
    if array.ndim not in (1, 2) or array.shape[-1] != 3:
        raise ValueError(f"{name} has the shape {array.shape}; (N, 3) or (3,) is accepted")
    return array.reshape(-1, 3).astype(float)


def _vectors(box):
    """Vectors as rows, and which axes are periodic."""
    if box is None:
        return None, None
    sides = np.asarray(box, dtype=np.float32)
    if sides.shape != (6,):
        raise ValueError(f"box has the shape {sides.shape}; [lx, ly, lz, alpha, beta, gamma] is accepted")
    if np.all(sides[3:] == 90):
        return np.diag(sides[:3].astype(float)), sides[:3] > 0
    from MDAnalysis.lib.mdamath import triclinic_vectors

    vectors = triclinic_vectors(sides).astype(float)
    if not vectors.any() and sides[:3].any():
        raise ValueError(f"box is {shown(box)}; lengths and angles of a cell are needed")
    return vectors, vectors.any(axis=1)


def _known(method, backend):
    if method is not None:
        word(word(method, "method").lower(), "method", METHODS)
    word(word(backend, "backend").lower(), "backend", BACKENDS)
