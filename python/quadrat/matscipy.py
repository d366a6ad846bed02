# SPDX-License-Identifier: BSD-3-Clause
"""Neighbor lists with the arguments and results of matscipy."""

from typing import Any

import numpy as np

from ._atoms import LETTERS, pairs
from ._numbers import letters

__all__ = ["neighbour_list"]


def neighbour_list(
    quantities: str,
    atoms: Any = None,
    cutoff: Any = None,
    positions: Any = None,
    cell: Any = None,
    pbc: Any = None,
    numbers: Any = None,
    cell_origin: Any = None,
) -> Any:
    """Like matscipy.neighbours.neighbour_list.

    quantities : letters of "ijdDS". Either `atoms`, an ase.Atoms, or `positions` (N, 3), with the vectors `cell` (3, 3)
    as rows, `pbc` and `numbers` of the atoms; without pbc space is open. cutoff : as in
    `quadrat.ase.neighbor_list`; a defaultdict stands for its default. cell_origin has no effect: periodic space has no
    corner, and atoms may lie anywhere. Pairs are ordered by i, then j, then S.
    """
    letters(quantities, "quantities", LETTERS)
    given = {"positions": positions, "cell": cell, "pbc": pbc, "numbers": numbers, "cell_origin": cell_origin}
    both = [name for name, value in given.items() if value is not None]
    if cutoff is None:
        raise ValueError("cutoff is None; a number, a dictionary by elements or radii of the atoms are accepted")
    if atoms is not None and both:
        raise ValueError(f"{both[0]} is given beside atoms; only one of them is accepted")
    if atoms is not None:
        positions, cell, pbc, numbers = atoms.positions, atoms.cell, atoms.pbc, atoms.numbers
    if positions is None:
        raise ValueError("neither atoms nor positions are given; one of them is needed")
    if cell is None:
        cell = np.diag(np.ptp(positions, axis=0))  # around the atoms, as there
    if numbers is None:
        numbers = np.ones(len(positions), dtype=int)  # hydrogen, as there
    limit = cutoff.default_factory() if hasattr(cutoff, "default_factory") else cutoff
    return pairs(quantities, positions, cell, False if pbc is None else pbc, limit, numbers)
