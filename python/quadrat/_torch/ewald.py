# SPDX-License-Identifier: BSD-3-Clause
"""Ewald sums as operators of PyTorch.

The library computes the first derivatives of the energy: forces, potentials, virial. Second derivatives are products of
the Hessian with the changes passed to `backward`; see ewald_second.
"""

from collections.abc import Sequence

import torch

from .derivatives import differentiable, keep, refused, total
from .ewald_second import hessian_product, in_own_thread
from .kept import KeptObjects
from .mesh import numbers, settings
from .neighbors import by_system
from ..ewald import Electrostatics, Ewald

_kept: KeptObjects[Ewald] = KeptObjects()


def _sums(device, accuracy, **options):
    """The sums of these options, kept because making them chooses parameters."""
    options |= settings()
    return _kept.get((device, accuracy, *options.values()), lambda: Ewald(accuracy, **options))


@torch.library.custom_op("quadrat::electrostatics", mutates_args=())
def electrostatics_operator(
    points: torch.Tensor,
    charges: torch.Tensor,
    cell: torch.Tensor,
    systems: torch.Tensor | None,
    pairs: torch.Tensor | None,
    scales: torch.Tensor | None,
    virial: bool,
    accuracy: float,
    method: str,
    law: str,
    constant: float,
    remove_net_force: bool,
    periodic: Sequence[bool],
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]:
    """Energies (B,), forces (N, 3), potentials (N,), virials (B, 3, 3) or (0, 3, 3)."""
    options = {"method": method, "law": law, "coulomb_constant": constant, "remove_net_force": remove_net_force}
    found = _sums(points.device, accuracy, **options).compute(
        numbers(points),
        numbers(charges),
        numbers(cell if systems is not None else cell.reshape(3, 3)).cpu(),
        periodic=by_system(periodic, 3),
        systems=None if systems is None else numbers(systems),
        scaled_pairs=None if pairs is None else numbers(pairs).cpu().numpy(),
        scales=None if scales is None else numbers(scales).cpu().numpy(),
        forces=True,
        potentials=True,
        virial=virial,
    )
    energy = torch.as_tensor(found.energy, dtype=points.dtype, device=points.device).reshape(-1)
    stress = points.new_empty((0, 3, 3))
    if virial:
        stress = torch.as_tensor(found.virial, dtype=points.dtype, device=points.device).reshape(-1, 3, 3)
    return energy, found.forces, found.potentials, stress


@electrostatics_operator.register_fake
def _(points, charges, cell, systems, pairs, scales, virial, *_):
    energy = points.new_empty((cell.shape[0] if cell.ndim == 3 else 1,))
    stress = points.new_empty((energy.shape[0] if virial else 0, 3, 3))
    return energy, torch.empty_like(points), torch.empty_like(charges), stress


@torch.library.custom_op("quadrat::electrostatics_second", mutates_args=())
def second_operator(
    points: torch.Tensor,
    charges: torch.Tensor,
    cell: torch.Tensor,
    systems: torch.Tensor | None,
    pairs: torch.Tensor | None,
    scales: torch.Tensor | None,
    by_forces: torch.Tensor | None,
    by_potentials: torch.Tensor | None,
    by_virial: torch.Tensor | None,
    accuracy: float,
    law: str,
    constant: float,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Derivatives by points, charges and cell of the sum of forces, potentials and virials times the factors."""
    factors = (by_forces, by_potentials, by_virial)
    return in_own_thread(
        hessian_product, points, charges, cell, systems, pairs, scales, factors, accuracy, law, constant
    )


@second_operator.register_fake
def _(points, charges, cell, *_):
    return torch.empty_like(points), torch.empty_like(charges), torch.empty_like(cell)


_no_third = refused("third derivatives of electrostatics are not served; energies have first and second ones")
second = differentiable(second_operator, lambda ctx, inputs, output: None, _no_third, _no_third)


def _setup(ctx, inputs, output):
    ctx.virial, *ctx.settings = inputs[6:]
    keep(ctx, *inputs[:6], *output)


def _given(ctx):
    """Points, charges, cell, systems, scaled pairs, scales, forces, potentials and virials (B, 3, 3)."""
    *given, _, forces, potentials, virial = ctx.saved_tensors
    if virial.shape[0] == 0:  # not requested, but derivatives by the cell need it
        virial = electrostatics(*given, True, *ctx.settings)[3]
    return (*given, forces, potentials, virial)


def _second(ctx, given, factors):
    accuracy, _, law, constant, _, periodic = ctx.settings
    if not all(periodic):
        raise NotImplementedError("second derivatives are served for boxes that are periodic along all three vectors")
    return second(*given, *factors, accuracy, law, constant)


def _by_cell(points, cell, systems, forces, virial):
    """The derivative of the energies by their cells (B, 3, 3), at fixed points.

    A strain e moves points and cells, x (1 + e) and h (1 + e), and changes the energy by -tr(virial e): so the
    transpose of h times the derivative by h is x^T forces - virial.
    """
    moments = _by_system(points[:, :, None] * forces[:, None, :], systems, cell)
    return torch.linalg.solve(cell.reshape(-1, 3, 3).mT, moments - virial)


def _by_system(each, systems, cell):
    """Sums over the points of each system, (B, ...)."""
    if systems is None:
        return each.sum(0, keepdim=True)
    return each.new_zeros((cell.shape[0], *each.shape[1:])).index_add(0, systems.long(), each)


def _forward(ctx, along, change, strain, *_):
    """The tangents of all results. The Hessian is symmetric, so they are its product in `second` with factors from the
    tangents. A change of the cell by its vectors times g also moves points, which is subtracted."""
    points, charges, cell, systems, pairs, scales, forces, potentials, virial = _given(ctx)
    along = torch.zeros_like(points) if along is None else along
    g = None if strain is None else torch.linalg.solve(cell.reshape(-1, 3, 3), strain.reshape(-1, 3, 3))
    own = None if g is None else (g[0] if systems is None else g[systems.long()])

    def moved(vectors, by):
        return (vectors[:, None, :] @ by)[:, 0]

    factors = (-along if g is None else moved(points, own) - along, change, None if g is None else -g)
    by_points, by_charges, by_cell = _second(ctx, (points, charges, cell, systems, pairs, scales), factors)
    d_forces = -by_points if g is None else -by_points - moved(forces, own.mT)
    rates = -(along * forces).sum(1) if change is None else change * potentials - (along * forces).sum(1)
    d_energy = _by_system(rates, systems, cell)
    d_virial = torch.zeros_like(virial)
    if g is not None:
        slopes = _by_cell(points, cell, systems, forces, virial)
        d_energy = d_energy + (slopes * strain.reshape(-1, 3, 3)).sum((1, 2))
        d_virial = d_virial - strain.reshape(-1, 3, 3).mT @ slopes + cell.reshape(-1, 3, 3).mT @ (slopes @ g.mT)
    if ctx.virial:
        outer = along[:, :, None] * forces[:, None, :] + points[:, :, None] * d_forces[:, None, :]
        d_virial = d_virial - cell.reshape(-1, 3, 3).mT @ by_cell.reshape(-1, 3, 3) + _by_system(outer, systems, cell)
    return d_energy, d_forces, by_charges, d_virial if ctx.virial else d_virial[:0]


def _backward(ctx, by_energy, by_forces, by_potentials, by_virial):
    points, charges, cell, systems, pairs, scales, forces, potentials, virial = _given(ctx)
    slopes = [None, None, None]
    if by_energy is not None:
        rates = by_energy if systems is None else by_energy[systems.long()]
        if ctx.needs_input_grad[0]:
            slopes[0] = -rates[:, None] * forces
        if ctx.needs_input_grad[1]:
            slopes[1] = rates * potentials
        if ctx.needs_input_grad[2]:
            slopes[2] = (by_energy[:, None, None] * _by_cell(points, cell, systems, forces, virial)).reshape(cell.shape)
    factors = (by_forces, by_potentials, by_virial if ctx.virial else None)
    if any(factor is not None for factor in factors):
        extra = _second(ctx, (points, charges, cell, systems, pairs, scales), factors)
        slopes = [total(*both) if needed else None for *both, needed in zip(slopes, extra, ctx.needs_input_grad)]
    return (*slopes, *[None] * (4 + len(ctx.settings)))


electrostatics = differentiable(electrostatics_operator, _setup, _backward, _forward)


def compute(points, charges, cell, systems, pairs, scales, wanted, options):
    """`wanted` : whether the results have forces, potentials, and the virial"""
    virial = wanted[2] or cell.requires_grad  # derivatives by the cell go through it
    energy, forces, potentials, virials = electrostatics(points, charges, cell, systems, pairs, scales, virial, *options)
    if systems is None:
        energy, virials = energy[0], virials[0] if virial else None
    return Electrostatics(
        energy, *(one if kept else None for one, kept in zip((forces, potentials, virials), wanted))
    )
