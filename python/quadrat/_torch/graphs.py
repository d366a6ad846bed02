# SPDX-License-Identifier: BSD-3-Clause
"""Edges of graphs as operators of PyTorch, which torch.compile does not look into. They have no derivatives."""

from collections.abc import Sequence

import numpy as np
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
    i, j, shifts, distances, begins = neighbor_list(
        numbers(points),
        cutoff,
        outputs="ijSdn",
        **_space(points, queries, systems, systems_of_queries, box, periodic),
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
    found = knn(
        numbers(points),
        k,
        include_self=include_self,
        shifts=True,
        threads=settings()["threads"],
        **_space(points, queries, systems, systems_of_queries, box, periodic),
    )
    row, column = (found.indices >= 0).nonzero(as_tuple=True)
    return torch.stack([row, found.indices[row, column]]), found.shifts[row, column]


def _space(points, queries, systems, systems_of_queries, box, periodic):
    """Arguments: queries, systems, boxes. Graphs of one box may have any numbers."""
    wraps = None if periodic is None else by_system(periodic, points.shape[1])
    if systems is not None and (box is None or box.ndim == 1 or len(box) == 1) and not isinstance(wraps, np.ndarray):
        both = systems if systems_of_queries is None else torch.cat([systems, systems_of_queries])
        names, numbered = torch.unique(both, return_inverse=True)
        if len(names) > 0 and names[0] < 0:
            raise ValueError(f"a batch has the number {int(names[0])}; numbers from 0 are accepted")
        systems = numbered[: len(systems)]
        systems_of_queries = None if systems_of_queries is None else numbered[len(systems) :]
    tensors = {"queries": queries, "systems": systems, "systems_of_queries": systems_of_queries}
    given = {name: None if tensor is None else numbers(tensor) for name, tensor in tensors.items()}
    return {**given, "box": None if box is None else numbers(box).cpu(), "periodic": wraps}


@within.register_fake
@nearest.register_fake
def _(points, *rest):
    count = torch.library.get_ctx().new_dynamic_size()
    return points.new_empty((2, count), dtype=torch.int64), points.new_empty((count, points.shape[1]), dtype=torch.int64)
