# SPDX-License-Identifier: BSD-3-Clause
"""Neighbor lists as an operator of PyTorch. Pairs have no derivatives; distances and vectors are PyTorch's own."""

from collections.abc import Sequence

import torch

from ._torch_derivatives import differentiable, refused
from ._torch_mesh import numbers, settings
from .neighbors import neighbor_list


@torch.library.custom_op("quadrat::pairs", mutates_args=())
def pairs_operator(
    points: torch.Tensor,
    box: torch.Tensor | None,
    systems: torch.Tensor | None,
    periodic: Sequence[bool] | None,
    cutoff: float,
    half: bool,
    ordered: bool,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """i (P,), j (P,) and shifts (P, D), int64. The box (D,), (D, D) or (B, D, D)."""
    return neighbor_list(
        numbers(points),
        cutoff,
        box=None if box is None else numbers(box).cpu(),
        periodic=None if periodic is None else list(periodic),
        half=half,
        sorted=ordered,
        outputs="ijS",
        systems=None if systems is None else numbers(systems),
        threads=settings()["threads"],
    )


@pairs_operator.register_fake
def _(points, box, systems, periodic, cutoff, half, ordered):
    count = torch.library.get_ctx().new_dynamic_size()
    integers = points.new_empty((count,), dtype=torch.int64)
    return integers, torch.empty_like(integers), integers.new_empty((count, points.shape[1]))


pairs = differentiable(
    pairs_operator,
    lambda ctx, inputs, output: ctx.mark_non_differentiable(*output),
    lambda ctx, *_: (None,) * 7,
    lambda ctx, *_: (None,) * 3,
    vmap=refused("lists of several entries may differ in length, so that there is no vmap of them; use systems"),
)


def vectors(points, box, systems, first, second, shifts):
    """points[j] + S @ box - points[i], (P, D), with derivatives of every order by points and box."""
    between = points[second] - points[first]
    if box is None:
        return between
    shifts = shifts.to(points.dtype)
    if box.ndim == 3:
        of = box[0] if box.shape[0] == 1 else box[systems[first]]
        return between + (shifts[:, None, :] @ of)[:, 0] if of.ndim == 3 else between + shifts @ of
    return between + (shifts * box if box.ndim == 1 else shifts @ box)
