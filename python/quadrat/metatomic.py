# SPDX-License-Identifier: BSD-3-Clause
"""The neighbor lists that a model of metatomic asks for, with the call of vesin.metatomic."""

import importlib
from collections.abc import Sequence
from typing import Any

import torch

from ._numbers import word
from .torch import neighbor_list as _neighbor_list

__all__ = ["compute_requested_neighbors"]

_SAMPLES = ["first_atom", "second_atom", "cell_shift_a", "cell_shift_b", "cell_shift_c"]


def compute_requested_neighbors(
    systems: Any, system_length_unit: str, model: Any, *, check_consistency: bool = False
) -> None:
    """Adds to each System of metatomic.torch the neighbor lists that the model asks for.

    systems : a System or several, of one type and device; positions anywhere, cells of any shape, any periodic axes.
    system_length_unit : of their positions and cells; the model's cutoffs are converted to it.
    model : an AtomisticModel, or anything else whose requested_neighbor_lists() knows the unit of its cutoffs.
    Each list of all systems is one search. Half lists have each pair once, in either direction. Vectors have derivatives
    by the positions and the cell of their system, by metatomic's register_autograd_neighbors, which checks them with
    `check_consistency`.
    """
    several = list(systems) if isinstance(systems, Sequence) else [systems]
    register = importlib.import_module("metatomic.torch").register_autograd_neighbors
    for options in model.requested_neighbor_lists() if several else ():
        cutoff = options.engine_cutoff(word(system_length_unit, "system_length_unit"))
        for system, block in zip(several, _blocks(several, cutoff, options.full_list)):
            register(system, block, check_consistency)
            system.add_neighbor_list(options, block)


def _blocks(systems, cutoff, full):
    """A TensorBlock for each system: vectors (P, 3, 1), by atoms and shifts of cells."""
    tensors = importlib.import_module("metatensor.torch")
    positions = torch.cat([one.positions.detach() for one in systems])
    cells, periodic = (torch.stack(rows) for rows in zip(*((one.cell.detach(), one.pbc) for one in systems)))
    sizes = torch.tensor([len(one.positions) for one in systems], device=positions.device)
    of = torch.repeat_interleave(sizes)
    given = {"systems": of, "periodic": periodic, "half": not full, "outputs": "ijSD"}
    first, second, shifts, vectors = _neighbor_list(positions, cutoff, cells, **given)
    counts = torch.bincount(of[first], minlength=len(systems)).tolist()
    begins = (sizes.cumsum(0) - sizes)[of[first]]
    samples = torch.cat([torch.stack([first - begins, second - begins], 1), shifts], 1).to(torch.int32)
    xyz = tensors.Labels(["xyz"], torch.arange(3, dtype=torch.int32, device=positions.device)[:, None])
    distance = tensors.Labels(["distance"], xyz.values[:1])
    for own, between in zip(samples.split(counts), vectors.split(counts)):
        yield tensors.TensorBlock(between.reshape(-1, 3, 1), tensors.Labels(_SAMPLES, own), [xyz], distance)
