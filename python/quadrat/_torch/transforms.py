# SPDX-License-Identifier: BSD-3-Clause
"""Fourier transforms of points as operators of PyTorch.

A derivative of a transform by a position is a transform of modes times their numbers, so that derivatives of every order
are transforms again. Positions are angles: the derivatives by periods are PyTorch's own.
"""

from collections.abc import Sequence

import torch

from .derivatives import differentiable, keep, total
from .kept import KeptObjects
from .mesh import numbers, real_part, settings
from ..transforms import Nufft, nufft3

_kept: KeptObjects[Nufft] = KeptObjects()


def _plan(points, n_modes, real, tolerance, order, oversampling, method):
    """A plan with these points, kept because making one takes milliseconds."""
    options = {"real": real, "mode_order": order, "oversampling": oversampling, "method": method, **settings()}
    dtype = str(points.dtype).removeprefix("torch.")
    key = (points.device, dtype, tuple(n_modes), tolerance, *options.values())
    plan = _kept.get(key, lambda: Nufft(list(n_modes), tolerance, dtype=dtype, **options))
    plan.set_points(numbers(points))
    return plan


@torch.library.custom_op("quadrat::nufft1", mutates_args=())
def type1_operator(
    points: torch.Tensor,
    values: torch.Tensor,
    n_modes: Sequence[int],
    real: bool,
    sign: int,
    tolerance: float,
    order: str,
    oversampling: float | None,
    method: str,
) -> torch.Tensor:
    """(N, D) angles and values (V, N), complex or real: modes (V, K...), of real values K/2 + 1 along the last axis."""
    return _plan(points, n_modes, real, tolerance, order, oversampling, method).type1(numbers(values), sign=sign)


@type1_operator.register_fake
def _(points, values, n_modes, real, *_):
    extents = (*n_modes[:-1], n_modes[-1] // 2 + 1) if real else n_modes
    return values.new_empty((values.shape[0], *extents), dtype=values.dtype.to_complex())


@torch.library.custom_op("quadrat::nufft2", mutates_args=())
def type2_operator(
    points: torch.Tensor,
    modes: torch.Tensor,
    sign: int,
    tolerance: float,
    order: str,
    oversampling: float | None,
    method: str,
) -> torch.Tensor:
    """(N, D) angles and modes (V, K...): values (V, N)."""
    return _plan(points, modes.shape[1:], False, tolerance, order, oversampling, method).type2(numbers(modes), sign=sign)


@type2_operator.register_fake
def _(points, modes, *_):
    return modes.new_empty((modes.shape[0], points.shape[0]))


@torch.library.custom_op("quadrat::nufft3", mutates_args=())
def type3_operator(
    points: torch.Tensor, values: torch.Tensor, targets: torch.Tensor, tolerance: float, sign: int
) -> torch.Tensor:
    """(N, D) points, complex values (V, N), (M, D) targets: results (V, M)."""
    return nufft3(numbers(points), numbers(values), numbers(targets), tolerance, sign=sign, **settings())


@type3_operator.register_fake
def _(points, values, targets, tolerance, sign):
    return values.new_empty((values.shape[0], targets.shape[0]))


def mode_numbers(n_modes, axis, order, like, real=False):
    """Numbers of the modes along an axis, in a shape that broadcasts over (V, K...)."""
    extent = n_modes[axis]
    numbers_along = torch.arange(extent, device=like.device, dtype=torch.int64) - extent // 2
    if real and axis == len(n_modes) - 1:
        numbers_along = torch.arange(extent // 2 + 1, device=like.device)
    elif order == "fft":
        numbers_along = torch.roll(numbers_along, -(extent // 2))
    return numbers_along.to(like.dtype).reshape([-1 if a == axis else 1 for a in range(len(n_modes))])


def _with_negative(modes, order):
    """Modes of real values, with zeros for negative mode numbers along the last axis."""
    zeros = torch.zeros_like(modes[..., 1:])
    return torch.cat([modes, zeros] if order == "fft" else [zeros, modes], -1)


def _slopes(points, modes, sign, tolerance, order, *rest):
    """The derivatives (V, N, D) of type2 by the angles: one transform of V D vectors."""
    extents = modes.shape[1:]
    scaled = torch.stack([modes * mode_numbers(extents, a, order, points) for a in range(len(extents))])
    values = type2(points, scaled.flatten(0, 1), sign, tolerance, order, *rest)
    return 1j * sign * values.reshape(len(extents), modes.shape[0], -1).movedim(0, -1)


def _type1_setup(ctx, inputs, output):
    points, values, ctx.n_modes, ctx.real, ctx.sign, *ctx.settings = inputs
    keep(ctx, points, values)


def _type1_forward(ctx, along, change, *_):
    points, values = ctx.saved_tensors
    settings = (ctx.n_modes, ctx.real, ctx.sign, *ctx.settings)
    moved = None
    if along is not None:
        scaled = torch.stack([values * along[:, axis] for axis in range(len(ctx.n_modes))])
        modes = type1(points, scaled.flatten(0, 1), *settings).unflatten(0, scaled.shape[:2])
        order, axes = ctx.settings[1], range(len(ctx.n_modes))
        numbers_along = [mode_numbers(ctx.n_modes, axis, order, points, ctx.real) for axis in axes]
        moved = 1j * ctx.sign * sum(number * part for number, part in zip(numbers_along, modes))
    return total(moved, None if change is None else type1(points, change, *settings))


def _type1_backward(ctx, change):
    points, values = ctx.saved_tensors
    by_points = by_values = None
    if ctx.real:
        change = _with_negative(change, ctx.settings[1])
    if ctx.needs_input_grad[0]:
        slopes = _slopes(points, change, -ctx.sign, *ctx.settings)
        by_points = real_part(values.conj()[..., None] * slopes, points)
    if ctx.needs_input_grad[1]:
        by_values = type2(points, change, -ctx.sign, *ctx.settings)
        by_values = by_values.real if ctx.real else by_values
    return by_points, by_values, None, None, None, *[None] * len(ctx.settings)


def _type2_setup(ctx, inputs, output):
    points, modes, ctx.sign, *ctx.settings = inputs
    keep(ctx, points, modes)


def _type2_forward(ctx, along, change, *_):
    points, modes = ctx.saved_tensors
    settings = (ctx.sign, *ctx.settings)
    moved = None if along is None else (_slopes(points, modes, *settings) * along).sum(-1)
    return total(moved, None if change is None else type2(points, change, *settings))


def _type2_backward(ctx, change):
    points, modes = ctx.saved_tensors
    by_points = by_modes = None
    if ctx.needs_input_grad[0]:
        slopes = _slopes(points, modes, ctx.sign, *ctx.settings)
        by_points = real_part(change.conj()[..., None] * slopes, points)
    if ctx.needs_input_grad[1]:
        by_modes = type1(points, change, list(modes.shape[1:]), False, -ctx.sign, *ctx.settings)
    return by_points, by_modes, None, *[None] * len(ctx.settings)


def _type3_slopes(at, values, of, tolerance, sign):
    """The derivatives (V, M, D) by `of` of the transform of values (V, N) at `at`."""
    scaled = torch.stack([values * at[:, axis] for axis in range(at.shape[1])])
    results = type3(at, scaled.flatten(0, 1), of, tolerance, sign)
    return 1j * sign * results.reshape(at.shape[1], values.shape[0], -1).movedim(0, -1)


def _type3_setup(ctx, inputs, output):
    points, values, targets, ctx.tolerance, ctx.sign = inputs
    keep(ctx, points, values, targets)


def _type3_forward(ctx, along, change, aside, *_):
    points, values, targets = ctx.saved_tensors
    settings = (ctx.tolerance, ctx.sign)
    parts = [None if change is None else type3(points, change, targets, *settings)]
    if along is not None:
        scaled = torch.stack([values * along[:, axis] for axis in range(points.shape[1])])
        results = type3(points, scaled.flatten(0, 1), targets, *settings).unflatten(0, scaled.shape[:2])
        parts.append(1j * ctx.sign * (targets.T[:, None] * results).sum(0))
    if aside is not None:
        parts.append((_type3_slopes(points, values, targets, *settings) * aside).sum(-1))
    return total(*parts)


def _type3_backward(ctx, change):
    points, values, targets = ctx.saved_tensors
    by_points = by_values = by_targets = None
    if ctx.needs_input_grad[0]:
        slopes = _type3_slopes(targets, change, points, ctx.tolerance, -ctx.sign)
        by_points = real_part(values.conj()[..., None] * slopes, points)
    if ctx.needs_input_grad[1]:
        by_values = type3(targets, change, points, ctx.tolerance, -ctx.sign)
    if ctx.needs_input_grad[2]:
        slopes = _type3_slopes(points, values, targets, ctx.tolerance, ctx.sign)
        by_targets = real_part(change.conj()[..., None] * slopes, targets)
    return by_points, by_values, by_targets, None, None


type1 = differentiable(type1_operator, _type1_setup, _type1_backward, _type1_forward, vectors=True)
type2 = differentiable(type2_operator, _type2_setup, _type2_backward, _type2_forward, vectors=True)
type3 = differentiable(type3_operator, _type3_setup, _type3_backward, _type3_forward, vectors=True)
