# SPDX-License-Identifier: BSD-3-Clause
"""Lists of atoms for the modules that have the calls of other packages for atoms."""

from typing import Any

import numpy as np

from . import _core
from ._cutoffs import of_atoms, own_of_atoms
from .neighbors import neighbor_list

LETTERS = "ijdDS"


def cell_of(vectors: Any, periodic: Any) -> np.ndarray:
    """The vectors as rows, (3, 3) or (B, 3, 3), with zeros for open directions, where anything may be given, even a
    vector parallel to another one. periodic: (3,) or (B, 3)."""
    return np.where(np.asarray(periodic, dtype=bool)[..., None], np.asarray(vectors, dtype=float), 0.0)


def pairs(
    quantities: str, positions: Any, cell: Any, pbc: Any, cutoff: Any, numbers: Any = None, selves: bool = False
) -> Any:
    """The arrays of `quantities` as a tuple, a single one directly. Ordered by i, then j, then S; `cutoff` as in
    `of_atoms`; with `selves` each atom that has a cutoff is its own neighbor."""
    positions, periodic = _core.numbers(positions, "positions"), np.broadcast_to(np.asarray(pbc, dtype=bool), 3)
    limit, options = of_atoms(cutoff, numbers, len(positions))
    box = cell_of(np.reshape(np.asarray(cell, dtype=float), (3, 3)), periodic)
    outputs = "ijSdD" if selves else "".join(dict.fromkeys(quantities))
    arrays = neighbor_list(positions, limit, box=box, periodic=periodic, outputs=outputs, sorted=True, **options)
    found = dict(zip(outputs, arrays if len(outputs) > 1 else [arrays]))
    if selves:
        found = _with_selves(found, own_of_atoms(limit, len(positions), options) > 0)
    wanted = tuple(found[letter] for letter in quantities)
    return wanted[0] if len(wanted) == 1 else wanted


def _with_selves(found, chosen):
    own = np.flatnonzero(chosen)
    extra = {"i": own, "j": own, "S": np.zeros((len(own), 3), int), "d": np.zeros(len(own)), "D": np.zeros((len(own), 3))}
    joined = {letter: np.concatenate([array, extra[letter]]) for letter, array in found.items()}
    order = np.lexsort((*joined["S"].T[::-1], joined["j"], joined["i"]))
    return {letter: array[order] for letter, array in joined.items()}
