# SPDX-License-Identifier: BSD-3-Clause
"""Neighbor lists with the arguments and results of torch-sim, for its models."""

from typing import Any

import torch

from ._numbers import flag, shown
from .torch import neighbor_list as _neighbor_list

__all__ = ["torchsim_nl"]


def torchsim_nl(
    positions: torch.Tensor,
    cell: torch.Tensor,
    pbc: Any,
    cutoff: Any,
    system_idx: torch.Tensor,
    self_interaction: bool = False,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Like torch_sim.neighbors.torchsim_nl: all pairs of atoms of one system that are nearer than the cutoff.

    positions : (N, 3), anywhere. cell : vectors of the S systems as rows, (3 S, 3) or (S, 3, 3). pbc : bool, (3,), or
    (S, 3) for each system; any axes. cutoff : a number. system_idx : (N,), in any order. self_interaction : each atom
    is also a neighbor of itself.
    Returns (mapping, system_mapping, shifts): (2, P) indices of the central atoms, in their order, and of their
    neighbors; (P,) systems; (P, 3) shifts of the type of the positions, so that positions[j] + shifts @ cell -
    positions[i] is nearer than the cutoff. They have no derivatives. All systems are one call.
    """
    if cell.numel() == 0 or cell.shape[-1] != 3 or cell.numel() % 9 != 0:
        raise ValueError(f"cell has the shape {tuple(cell.shape)}; (3 S, 3) or (S, 3, 3) vectors as rows are needed")
    vectors = cell.detach().reshape(-1, 3, 3)
    periodic = torch.as_tensor(pbc, dtype=torch.bool, device=cell.device)
    if periodic.numel() not in (1, 3, 3 * len(vectors)):
        raise ValueError(f"pbc is {shown(pbc)}; a bool, three, or three for each of the {len(vectors)} systems are accepted")
    periodic = periodic.reshape(-1, 3 if periodic.numel() > 1 else 1).expand(len(vectors), 3)
    last = int(system_idx.max()) if len(vectors) == 1 and system_idx.numel() > 0 else 0  # one box would serve all systems
    if last > 0:
        raise ValueError(f"system_idx has the system {last}; 0 to 0 is accepted, since cell has the vectors of one system")
    vectors = torch.where(periodic[:, :, None], vectors, 0)  # the given open vector may be anything
    given = {"systems": system_idx, "periodic": periodic, "outputs": "ijS"}
    first, second, shifts = _neighbor_list(positions.detach(), cutoff, vectors, **given)
    if flag(self_interaction, "self_interaction"):
        own = torch.arange(len(positions), device=first.device)
        order = torch.argsort(torch.cat([own, first]), stable=True)
        first, second = (torch.cat([own, one])[order] for one in (first, second))
        shifts = torch.cat([shifts.new_zeros(len(positions), 3), shifts])[order]
    return torch.stack([first, second]), system_idx[first], shifts.to(positions.dtype)
