# SPDX-License-Identifier: BSD-3-Clause
"""Neighbor lists with the arguments and results of ASE and matscipy."""

import numpy as np

from .neighbors import neighbor_list as _neighbor_list


def neighbor_list(quantities, atoms, cutoff):
    """As ase.neighborlist.neighbor_list(quantities, atoms, cutoff), for one cutoff.

    quantities : letters of "ijdDS". atoms : an ase.Atoms, or whatever has `positions`, `cell` and `pbc`; atoms may lie
    anywhere. Pairs are ordered by i, then j, then S; shifts are those of the positions as given.
    """
    if np.ndim(cutoff) != 0:
        raise TypeError("the cutoff is not a number; cutoffs by element or atom are not served")
    positions = np.asarray(atoms.positions, dtype=float)
    periodic = np.asarray(atoms.pbc, dtype=bool)
    cell = np.array(atoms.cell, dtype=float).reshape(3, 3)
    cell[~periodic] = 0  # whatever an open vector is, it may even be parallel to another
    return _neighbor_list(positions, float(cutoff), box=cell, periodic=periodic, outputs=quantities, sorted=True)

