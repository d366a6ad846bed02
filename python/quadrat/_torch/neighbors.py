# SPDX-License-Identifier: BSD-3-Clause
"""Neighbor lists as an operator of PyTorch. Pairs have no derivatives; distances and vectors are PyTorch's own."""

from collections.abc import Sequence

import numpy as np
import torch

from .captured import built_by, current
from .derivatives import differentiable, refused
from .mesh import numbers, settings
from ..neighbors import neighbor_list


@torch.library.custom_op("quadrat::pairs", mutates_args=())
def pairs_operator(
    points: torch.Tensor,
    box: torch.Tensor | None,
    systems: torch.Tensor | None,
    origin: torch.Tensor | None,
    queries: torch.Tensor | None,
    systems_of_queries: torch.Tensor | None,
    types: torch.Tensor | None,
    types_of_queries: torch.Tensor | None,
    radii: torch.Tensor | None,
    radii_of_queries: torch.Tensor | None,
    type_cutoffs: torch.Tensor | None,
    excluded: torch.Tensor | None,
    periodic: Sequence[bool] | None,
    cutoff: float,
    half: bool,
    ordered: bool,
    method: str,
    rule: str | None,
    capacity: int | None,
    index_dtype: str,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """i (P,), j (P,) and shifts (P, D) of the index type. The box (D,), (D, D) or (B, D, D); periodic (D) or (B D).

    With a capacity, P is that, and entries beyond the pairs have the number of queries, that of points, and 0."""
    given = {
        "systems": systems,
        "queries": queries,
        "systems_of_queries": systems_of_queries,
        "types": types,
        "types_of_queries": types_of_queries,
        "radii": radii,
        "radii_of_queries": radii_of_queries,
    }
    settings_given = {"box": box, "origin": origin, "type_cutoffs": type_cutoffs, "excluded": excluded}
    wraps = None if periodic is None else by_system(periodic, points.shape[1])
    lists = current(points, capacity)
    if lists is not None:
        kind = (cutoff, half, ordered, method, rule, index_dtype, capacity, periodic and tuple(periodic))
        found = built_by(lists, points, given, settings_given, wraps, kind)
        if found is not None:
            return found
    found = neighbor_list(
        numbers(points),
        cutoff,
        periodic=wraps,
        half=half,
        sorted=ordered,
        outputs="ijS",
        method=method,
        **settings(),
        rule=rule,
        index_dtype=index_dtype,
        **{name: None if tensor is None else numbers(tensor) for name, tensor in given.items()},
        **{name: None if tensor is None else numbers(tensor).cpu() for name, tensor in settings_given.items()},
    )
    if capacity is None:
        return found
    room = capacity - len(found[0])
    if room < 0:
        raise ValueError(f"there are {len(found[0])} pairs; the capacity is {capacity}")
    unused = len(points if queries is None else queries), len(points), 0
    i, j, shifts = (torch.cat([one, one.new_full((room, *one.shape[1:]), n)]) for one, n in zip(found, unused))
    return i, j, shifts


def by_system(periodic, dimension):
    """The array of an operator's list argument, (D,) or (B, D)."""
    return list(periodic) if len(periodic) == dimension else np.reshape(periodic, (-1, dimension))


@pairs_operator.register_fake
def _(points, *rest):
    count = torch.library.get_ctx().new_dynamic_size() if rest[-2] is None else rest[-2]
    integers = points.new_empty((count,), dtype=getattr(torch, rest[-1]))
    return integers, torch.empty_like(integers), integers.new_empty((count, points.shape[1]))


pairs = differentiable(
    pairs_operator,
    lambda ctx, inputs, output: ctx.mark_non_differentiable(*output),
    lambda ctx, *_: (None,) * 20,
    lambda ctx, *_: (None,) * 3,
    vmap=refused("lists of several entries may differ in length, so that there is no vmap of them; use systems"),
)


def with_unused(tensor):
    """The tensor with a row of zeros at its end, for entries of lists with a capacity that are no pairs."""
    return None if tensor is None else torch.cat([tensor, tensor.new_zeros((1, *tensor.shape[1:]))])


def distances(between, used, cutoff):
    """Lengths (P,) of vectors (P, D), with derivatives of every order; the cutoff for those that are not used."""
    if used is None:
        return torch.linalg.vector_norm(between, dim=1)
    return torch.where(used, torch.linalg.vector_norm(torch.where(used[:, None], between, 1), dim=1), cutoff)


def vectors(points, box, systems, first, second, shifts, queries=None):
    """points[j] + S @ box - points[i], (P, D), with derivatives of every order by points, queries and box."""
    between = points[second] - (points if queries is None else queries)[first]
    if box is None:
        return between
    shifts = shifts.to(points.dtype)
    if box.ndim == 3:
        of = box[0] if box.shape[0] == 1 else box[systems[second]]
        return between + (shifts[:, None, :] @ of)[:, 0] if of.ndim == 3 else between + shifts @ of
    return between + (shifts * box if box.ndim == 1 else shifts @ box)
