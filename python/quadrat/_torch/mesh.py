# SPDX-License-Identifier: BSD-3-Clause
"""Spreading and interpolation as operators of PyTorch.

Positions are fractions of a periodic or open unit box, so that the derivatives by boxes are PyTorch's own.
"""

from collections.abc import Sequence

import torch

from .. import _splines
from .derivatives import differentiable, keep, total
from ..mesh import SpreadPlan


def numbers(tensor):
    """The tensor in a form that other libraries can read, without its graph and lazy conjugates and signs."""
    return tensor.detach().resolve_conj().resolve_neg().contiguous()


def settings():
    """PyTorch's threads and determinism, as options of this package."""
    level = "run_to_run" if torch.are_deterministic_algorithms_enabled() else "none"
    return {"threads": torch.get_num_threads(), "deterministic": level}


def _plan(points, mesh, order, periodic, clip, accept_outside, ends, method):
    plan = SpreadPlan(
        [1.0] * len(mesh),
        list(mesh),
        order,
        periodic=list(periodic),
        clip=clip,
        accept_outside=accept_outside,
        ends=ends,
        method=method,
        dtype=str(points.dtype).removeprefix("torch."),
        **settings(),
    )
    return plan.set_points(numbers(points))


@torch.library.custom_op("quadrat::spread", mutates_args=())
def spread_operator(
    points: torch.Tensor,
    values: torch.Tensor,
    mesh: Sequence[int],
    order: int,
    periodic: Sequence[bool],
    clip: bool,
    accept_outside: bool,
    ends: str,
    method: str,
) -> torch.Tensor:
    """(N, D) fractions and values (V, N): meshes (V, K...)."""
    return _plan(points, mesh, order, periodic, clip, accept_outside, ends, method).spread(numbers(values))


@spread_operator.register_fake
def _(points, values, mesh, *_):
    return values.new_empty((values.shape[0], *mesh))


def _at_points(name, call, shape):
    """An operator of (N, D) fractions and meshes (V, K...), whose result has that shape for (V, N, D)."""

    @torch.library.custom_op(name, mutates_args=())
    def operator(
        points: torch.Tensor,
        values: torch.Tensor,
        order: int,
        periodic: Sequence[bool],
        clip: bool,
        accept_outside: bool,
        ends: str,
        method: str,
    ) -> torch.Tensor:
        plan = _plan(points, values.shape[1:], order, periodic, clip, accept_outside, ends, method)
        return call(plan, numbers(values))

    operator.register_fake(lambda points, values, *_: values.new_empty(shape(values.shape[0], *points.shape)))
    return operator


# Values (V, N), and their derivatives (V, N, D) by the fractions.
interpolate_operator = _at_points("quadrat::interpolate", SpreadPlan.interpolate, lambda v, n, d: (v, n))
gradient_operator = _at_points("quadrat::interpolate_gradient", SpreadPlan.gradient, lambda v, n, d: (v, n, d))


def _cells(points, mesh, ctx):
    """Cells of the mesh along each axis: factors from fractions to positions on the mesh."""
    _, periodic, _, _, ends, _ = ctx.settings
    return points.new_tensor([k if wraps or ends == "lower" else k - 1 for k, wraps in zip(mesh, periodic)])


def real_part(product, like):
    """The sum over vectors, as a derivative by real numbers."""
    total = product.sum(0)
    return (total.real if total.is_complex() else total).to(like.dtype)


def _spread_setup(ctx, inputs, output):
    points, values, ctx.mesh, *ctx.settings = inputs
    keep(ctx, points, values)


def _spread_forward(ctx, along, change, *_):
    points, values = ctx.saved_tensors
    moved = None
    if along is not None:
        cells = _cells(points, ctx.mesh, ctx)
        steps = along * cells
        parts = {_splines.unit(len(ctx.mesh), a): values * steps[:, a] for a in range(len(ctx.mesh))}
        moved = _splines.spread_derivatives(torch, parts, points * cells, ctx.mesh, *ctx.settings[:2])
    return total(moved, None if change is None else spread(points, change, ctx.mesh, *ctx.settings))


def _spread_backward(ctx, change):
    points, values = ctx.saved_tensors
    by_points = by_values = None
    if ctx.needs_input_grad[0]:
        slopes = gradient(points, change, *ctx.settings)
        by_points = real_part(values.conj()[..., None] * slopes, points)
    if ctx.needs_input_grad[1]:
        by_values = interpolate(points, change, *ctx.settings)
    return by_points, by_values, None, *[None] * len(ctx.settings)


def _interpolate_setup(ctx, inputs, output):
    points, values, *ctx.settings = inputs
    keep(ctx, points, values)


def _interpolate_forward(ctx, along, change, *_):
    points, values = ctx.saved_tensors
    moved = None if along is None else (gradient(points, values, *ctx.settings) * along).sum(-1)
    return total(moved, None if change is None else interpolate(points, change, *ctx.settings))


def _interpolate_backward(ctx, change):
    points, values = ctx.saved_tensors
    by_points = by_values = None
    if ctx.needs_input_grad[0]:
        slopes = gradient(points, values, *ctx.settings)
        by_points = real_part(change.conj()[..., None] * slopes, points)
    if ctx.needs_input_grad[1]:
        by_values = spread(points, change, list(values.shape[1:]), *ctx.settings)
    return by_points, by_values, *[None] * len(ctx.settings)


def _curvatures(ctx, points, values):
    """Second derivatives (V, N, D, D) of `interpolate` by the fractions."""
    dimension, cells = points.shape[1], _cells(points, values.shape[1:], ctx)
    pairs = [(a, b) for a in range(dimension) for b in range(dimension)]
    wanted = {_splines.unit(dimension, a, b) for a, b in pairs}
    found = _splines.interpolate_derivatives(torch, values, points * cells, *ctx.settings[:2], wanted)
    curved = torch.stack([found[_splines.unit(dimension, a, b)] for a, b in pairs], -1)
    return curved.unflatten(-1, (dimension, dimension)) * cells[:, None] * cells


def _gradient_forward(ctx, along, change, *_):
    points, values = ctx.saved_tensors
    moved = None if along is None else (_curvatures(ctx, points, values) * along[:, None, :]).sum(-1)
    return total(moved, None if change is None else gradient(points, change, *ctx.settings))


def _gradient_backward(ctx, change):
    points, values = ctx.saved_tensors
    mesh, dimension = list(values.shape[1:]), points.shape[1]
    cells = _cells(points, mesh, ctx)
    u, per_mesh = points * cells, change * cells  # derivatives by u, times cells, are those by fractions
    by_points = by_values = None
    if ctx.needs_input_grad[0]:
        by_points = real_part((change.conj()[..., None] * _curvatures(ctx, points, values)).sum(-2), points)
    if ctx.needs_input_grad[1]:
        parts = {_splines.unit(dimension, a): per_mesh[..., a] for a in range(dimension)}
        by_values = _splines.spread_derivatives(torch, parts, u, mesh, *ctx.settings[:2])
    return by_points, by_values, *[None] * len(ctx.settings)


spread = differentiable(spread_operator, _spread_setup, _spread_backward, _spread_forward, vectors=True)
interpolate = differentiable(interpolate_operator, _interpolate_setup, _interpolate_backward, _interpolate_forward, vectors=True)
gradient = differentiable(gradient_operator, _interpolate_setup, _gradient_backward, _gradient_forward, vectors=True)
