# SPDX-License-Identifier: BSD-3-Clause
"""Modifiers for OVITO's pipelines: `pipeline.modifiers.append(quadrat.ovito.clusters(3.0))`. OVITO is not imported."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from . import neighbors
from ._cutoffs import PairCutoffs
from ._numbers import real_number, whole

__all__ = ["clusters", "coordination"]


def clusters(cutoff: float, *, min_points: int = 1) -> Callable[[int, Any], None]:
    """A modifier that gives particles the property "Cluster": from 1, in the order of the smallest index, 0 for noise,
    and data the attribute "quadrat.clusters", their number. Arguments as in `quadrat.clusters`."""
    cutoff, min_points = real_number(cutoff, "cutoff"), whole(min_points, "min_points", 1)

    def modify(frame: int, data: Any) -> None:
        labels = neighbors.clusters(_positions(data), cutoff, min_points=min_points, **_space(data))
        data.particles_.create_property("Cluster", data=labels + 1)
        data.attributes["quadrat.clusters"] = int(labels.max(initial=-1)) + 1

    return modify


def coordination(cutoff: float | Mapping[Any, float]) -> Callable[[int, Any], None]:
    """A modifier that gives particles the property "Coordination": their neighbors nearer than the cutoff, images
    included. cutoff : a number; or a dictionary by names of particle types, of pairs {("Si", "O"): 2.0} or of radii
    that add up {"Si": 1.1, "O": 0.9}, without other pairs and types."""
    pairs = PairCutoffs(cutoff, "cutoff") if isinstance(cutoff, Mapping) else None
    longest = real_number(cutoff, "cutoff") if pairs is None else pairs.table.max() or 1.0

    def modify(frame: int, data: Any) -> None:
        options = {} if pairs is None else {"types": pairs.rows(_type_names(data)), "type_cutoffs": pairs.table}
        begins = neighbors.neighbor_list(_positions(data), longest, outputs="n", **_space(data), **options)
        data.particles_.create_property("Coordination", data=np.diff(begins))

    return modify


def _positions(data):
    return np.asarray(data.particles.positions, dtype=float)


def _space(data):
    """The box of OVITO's cell, whose vectors are columns beside its origin."""
    if data.cell is None:
        return {}
    cell = np.asarray(data.cell, dtype=float)
    periodic = np.array(data.cell.pbc, dtype=bool) & [True, True, not data.cell.is2D]
    if not periodic.any():
        return {}
    return {"box": np.where(periodic[:, None], cell[:, :3].T, 0.0), "periodic": periodic, "origin": cell[:, 3]}


def _type_names(data):
    kinds = data.particles.particle_types
    if kinds is None:
        raise ValueError("cutoff is a dictionary by names of types; the particles have no types")
    names = {kind.id: kind.name or str(kind.id) for kind in kinds.types}
    return [names.get(number, str(number)) for number in np.asarray(kinds).tolist()]
