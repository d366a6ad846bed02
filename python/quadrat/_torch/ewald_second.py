# SPDX-License-Identifier: BSD-3-Clause
"""Second derivatives of the energy of charges.

The energy is computed again in operations that have derivatives of every order: pairs of a neighbor list within a
cutoff, and for the smooth part a transform of type 1 of the charges, with Gaussian splitting. Both parts are truncated
where they are a tenth of the accuracy, and then differentiated exactly. Beyond the tolerance of the transform, nothing
depends on a mesh or its window. Computed in double precision.
"""

import contextlib
import math
import threading

import torch

from . import neighbors, transforms
from .._lattice import shortest

NEIGHBORS = 100  # of a point within the cutoff: balances pairs and modes in operations of PyTorch


def in_own_thread(function, *arguments):
    """Calls function(*arguments) in a thread where autograd works: it is off inside an operator, but not in threads
    started there.

    A new thread for each call, because processes may be forked between two calls. Derivatives are computed only in it,
    because autograd's thread for a GPU may be the one that waits here.
    """
    outcome = {}
    device = arguments[0].device
    stream = torch.cuda.stream(torch.cuda.current_stream(device)) if device.type == "cuda" else contextlib.nullcontext()

    def run():
        try:
            with stream, torch.autograd.set_multithreading_enabled(False):
                outcome["result"] = function(*arguments)
        except BaseException as problem:
            outcome["problem"] = problem

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    if "problem" in outcome:
        raise outcome["problem"]
    return outcome["result"]


def hessian_product(points, charges, cell, systems, pairs, scales, factors, accuracy, law, constant):
    """Derivatives by points (N, 3), charges (N,) and cell of the sum of forces, potentials and virials times factors."""
    by_forces, by_potentials, by_virial = factors
    cells = cell.reshape(-1, 3, 3)
    results = torch.zeros_like(points), torch.zeros_like(charges), torch.zeros_like(cells)
    for number in range(cells.shape[0]):
        own = slice(None) if systems is None else (systems == number).nonzero()[:, 0]
        parts = (
            None if by_forces is None else by_forces[own],
            None if by_potentials is None else by_potentials[own],
            None if by_virial is None else by_virial[number],
        )
        excluded = _own_pairs(pairs, scales, points.shape[0], own, points.device)
        found = _of_system(points[own], charges[own], cells[number], excluded, parts, (accuracy, law, constant))
        for result, part, where in zip(results, found, (own, own, number)):
            result[where] = part.to(result.dtype)
    return results[0], results[1], results[2].reshape(cell.shape)


def _own_pairs(pairs, scales, count, own, device):
    """Scaled pairs within a system, by the numbers of its points, with the terms of their scales."""
    if pairs is None or pairs.numel() == 0:
        return None
    numbers = torch.full((count,), -1, dtype=torch.int64, device=device)
    chosen = numbers[own]
    numbers[own] = torch.arange(chosen.shape[0], device=device)
    pairs = numbers[pairs.to(device)]
    inside = (pairs >= 0).all(1)
    extra = torch.full((pairs.shape[0],), -1.0, dtype=torch.float64, device=device)
    return pairs[inside], (extra if scales is None else extra + scales.to(device))[inside]


def _of_system(points, charges, cell, excluded, factors, settings):
    if points.shape[0] == 0:
        return torch.zeros_like(points), torch.zeros_like(charges), torch.zeros_like(cell)
    with torch.enable_grad():
        given = [tensor.detach().double().requires_grad_() for tensor in (points, charges, cell)]
        x, _, h = given
        energy = ewald_energy(*given, excluded, *settings)
        by_x, by_q, by_h = torch.autograd.grad(energy, given, create_graph=True)
        parts = -by_x, by_q, -(h.mT @ by_h + x.mT @ by_x)
        total = sum((part * factor.double()).sum() for part, factor in zip(parts, factors) if factor is not None)
        return torch.autograd.grad(total, given)


def ewald_energy(points, charges, cell, excluded, accuracy, law, constant):
    """The energy with derivatives of every order by points, charges and cell, in double precision."""
    cell = torch.as_tensor(shortest(cell.detach().cpu().numpy()), device=cell.device) @ cell  # it has the fewest modes
    volume = torch.linalg.det(cell).abs()
    spacing = (float(volume.detach()) / points.shape[0]) ** (1 / 3)
    cutoff = spacing * (3 * NEIGHBORS / (4 * math.pi)) ** (1 / 3)
    depth = math.sqrt(-math.log(max(0.1 * accuracy, 1e-15)))
    alpha = depth / cutoff
    i, j, shifts = neighbors.pairs(points, cell, *[None] * 10, [True] * 3, cutoff, True, False, "auto", None, None, "int64")
    far = neighbors.vectors(points, cell, None, i, j, shifts).square().sum(1)
    short = (charges[i] * charges[j] * _short_range(law, alpha, far)).sum()
    if excluded is not None and excluded[0].shape[0]:
        first, second = excluded[0].unbind(1)
        near = _nearest(points[second] - points[first], cell).square().sum(1)
        short = short + (excluded[1] * charges[first] * charges[second] * _whole(law, near)).sum()
    angles = 2 * math.pi * torch.linalg.solve(cell, points, left=False)
    lengths = torch.linalg.vector_norm(cell.detach(), dim=1)
    modes = [2 * math.ceil(2 * alpha * depth * float(length) / (2 * math.pi)) + 1 for length in lengths]
    tolerance = max(0.01 * accuracy, 1e-13)
    waves = charges[None].to(torch.complex128)
    sums = transforms.type1(angles, waves, modes, False, 1, tolerance, "centered", None, "auto")[0]
    power = sums.real.square() + sums.imag.square()
    smooth = (_influence(law, alpha, _squared_wave_numbers(modes, cell)) * power).sum() / (2 * volume)
    return constant * (short + smooth + _constants(law, alpha, charges, volume))


def _squared_wave_numbers(modes, cell):
    axes = [torch.arange(extent, device=cell.device, dtype=cell.dtype) - extent // 2 for extent in modes]
    grid = torch.stack(torch.meshgrid(*axes, indexing="ij"), -1)
    return (2 * math.pi * grid @ torch.linalg.inv(cell).mT).square().sum(-1)


def _whole(law, squared):
    return squared.rsqrt() if law == "coulomb" else -(squared**-3)


def _short_range(law, alpha, squared):
    if law == "coulomb":
        far = squared.sqrt()
        return torch.special.erfc(alpha * far) / far
    a = alpha**2 * squared
    return -(1 + a + a**2 / 2) * torch.exp(-a) / squared**3


def _influence(law, alpha, squared):
    """The transform of the smooth part of a pair, by the squared wave number; 0 for Coulomb's law at 0."""
    none = squared == 0
    safe = torch.where(none, torch.ones_like(squared), squared)
    b = safe / (4 * alpha**2)
    if law == "coulomb":
        return torch.where(none, torch.zeros_like(safe), 4 * math.pi * torch.exp(-b) / safe)
    root = b.sqrt()  # Essmann et al. 1995, section V
    bracket = math.sqrt(math.pi) * torch.special.erfc(root) + (1 / (2 * b * root) - 1 / root) * torch.exp(-b)
    long = -(math.pi**1.5) / 12 * safe**1.5 * bracket
    return torch.where(none, torch.full_like(safe, -(math.pi**1.5) * alpha**3 / 3), long)


def _constants(law, alpha, charges, volume):
    """The terms that subtract each charge's interaction with itself, and the background of a net charge."""
    squares = charges.square().sum()
    if law == "coulomb":
        return -alpha / math.sqrt(math.pi) * squares - math.pi / (2 * alpha**2 * volume) * charges.sum().square()
    return alpha**6 / 12 * squares


def _nearest(vectors, cell):
    """The nearest image of each vector, for the shortest vectors of a cell."""
    with torch.no_grad():
        start = -torch.round(torch.linalg.solve(cell, vectors, left=False))
        steps = torch.cartesian_prod(*[torch.arange(-2.0, 3.0, device=cell.device, dtype=cell.dtype)] * 3)
        lengths = ((vectors + start @ cell)[:, None] + steps @ cell).square().sum(-1)
        shifts = start + steps[lengths.argmin(1)]
    return vectors + shifts @ cell
