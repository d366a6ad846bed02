# SPDX-License-Identifier: BSD-3-Clause
"""Edges of graphs as operators of PyTorch, which torch.compile does not look into. They have no derivatives."""

from collections.abc import Sequence

import torch

from .mesh import numbers, settings
from .neighbors import by_system
from ..neighbors import knn, neighbor_list


@torch.library.custom_op("quadrat::edges_within", mutates_args=())
def within(
    points: torch.Tensor,
    queries: torch.Tensor | None,
    systems: torch.Tensor | None,
    systems_of_queries: torch.Tensor | None,
    box: torch.Tensor | None,
    periodic: Sequence[bool] | None,
    cutoff: float,
    most: int,
) -> tuple[torch.Tensor, torch.Tensor]:
    """(2, E) queries (or points, without themselves) and points nearer than the cutoff, ordered by query, and (E, D)
    shifts. At most the `most` nearest of each query, ordered by distance where that matters; below 0: all."""
    places = {"queries": queries, "systems": systems, "systems_of_queries": systems_of_queries}
    i, j, shifts, distances, begins = neighbor_list(
        numbers(points),
        cutoff,
        outputs="ijSdn",
        **{name: None if tensor is None else numbers(tensor) for name, tensor in places.items()},
        **_space(points, box, periodic),
        **settings(),
    )
    if most >= 0 and len(i) > 0 and int(begins.diff().max()) > most:
        order = torch.argsort(distances, stable=True)
        order = order[torch.argsort(i[order], stable=True)]
        chosen = order[torch.arange(len(i), device=i.device) - begins[i] < most]
        i, j, shifts = i[chosen], j[chosen], shifts[chosen]
    return torch.stack([i, j]), shifts


@torch.library.custom_op("quadrat::edges_nearest", mutates_args=())
def nearest(
    points: torch.Tensor,
    queries: torch.Tensor | None,
    systems: torch.Tensor | None,
    systems_of_queries: torch.Tensor | None,
    box: torch.Tensor | None,
    periodic: Sequence[bool] | None,
    k: int,
    include_self: bool,
) -> tuple[torch.Tensor, torch.Tensor]:
    """(2, E) queries (or points) and the k nearest points of each, ordered by query and distance, and (E, D) shifts."""
    edges = [torch.empty((2, 0), dtype=torch.int64, device=points.device)]
    moved = [torch.empty((0, points.shape[1]), dtype=torch.int64, device=points.device)]
    rows_of = systems if queries is None else systems_of_queries
    for system, own, rows in _systems(points, points if queries is None else queries, systems, rows_of):
        found = knn(
            numbers(points[own]),
            k,
            queries=None if queries is None else numbers(queries[rows]),
            include_self=include_self,
            shifts=True,
            threads=settings()["threads"],
            **_space(points, box, periodic, system),
        )
        row, column = (found.indices >= 0).nonzero(as_tuple=True)
        edges.append(torch.stack([rows[row], own[found.indices[row, column]]]))
        moved.append(found.shifts[row, column])
    pairs, shifts = torch.cat(edges, 1), torch.cat(moved)
    order = torch.argsort(pairs[0], stable=True)
    return pairs[:, order], shifts[order]


def _systems(points, queries, systems, systems_of_queries):
    """For each system that has points and queries: its number, and the indices of both. None: of all."""
    if systems is None or systems_of_queries is None:
        if len(points) > 0 and len(queries) > 0:
            yield None, *(torch.arange(len(one), device=points.device) for one in (points, queries))
        return
    names, numbered = torch.unique(torch.cat([systems, systems_of_queries]), return_inverse=True)
    if len(names) > 0 and names[0] < 0:
        raise ValueError(f"a batch has the number {int(names[0])}; numbers from 0 are accepted")
    both = numbered[: len(systems)], numbered[len(systems) :]
    groups = [torch.argsort(one, stable=True).split(torch.bincount(one, minlength=len(names)).tolist()) for one in both]
    for system, own, rows in zip(names.tolist(), *groups):
        if len(own) > 0 and len(rows) > 0:
            yield system, own, rows


def _space(points, box, periodic, system=None):
    """The arguments box and periodic, of one system or of all."""
    lattice = None if box is None else numbers(box).cpu()
    wraps = None if periodic is None else by_system(periodic, points.shape[1])
    if system is not None and lattice is not None and lattice.ndim > 1:
        if tuple(lattice.shape) == (points.shape[1],) * 2:
            kinds = "vectors for every system or lengths for each; give (1, D, D), (B, D, D) or (D,)"
            raise ValueError(f"the box has the shape {tuple(lattice.shape)}, which may be {kinds}")
        if 1 < len(lattice) <= system:
            raise ValueError(f"a batch has the number {system}; there are {len(lattice)} boxes")
        lattice = lattice[system if len(lattice) > 1 else 0]
    if system is not None and wraps is not None and not isinstance(wraps, list):
        wraps = wraps[system]
    return {"box": lattice, "periodic": wraps}


@within.register_fake
@nearest.register_fake
def _(points, *rest):
    count = torch.library.get_ctx().new_dynamic_size()
    return points.new_empty((2, count), dtype=torch.int64), points.new_empty((count, points.shape[1]), dtype=torch.int64)
