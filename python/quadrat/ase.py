# SPDX-License-Identifier: BSD-3-Clause
"""Neighbor lists with the arguments and results of ASE."""

from typing import Any

from ._atoms import LETTERS, pairs
from ._numbers import flag, letters

__all__ = ["neighbor_list"]


def neighbor_list(quantities: str, a: Any, cutoff: Any, self_interaction: bool = False, max_nbins: float = 1e6) -> Any:
    """Like ase.neighborlist.neighbor_list.

    quantities : letters of "ijdDS". a : an ase.Atoms, or an object with `positions`, `cell`, `pbc` and, for a
    dictionary, `numbers`; atoms may lie anywhere. cutoff : a number; a dictionary by pairs of elements, such as {("H",
    "O"): 1.2}, which excludes all other pairs; a radius for each atom, or a dictionary of radii by elements: pairs are
    nearer than the sum of their radii. self_interaction : each atom is also a neighbor of itself. max_nbins has no
    effect: memory does not depend on the cell. Pairs are ordered by i, then j, then S; shifts belong to the positions
    as given.
    """
    letters(quantities, "quantities", LETTERS)
    selves = flag(self_interaction, "self_interaction")
    return pairs(quantities, a.positions, a.cell, a.pbc, cutoff, getattr(a, "numbers", None), selves)
