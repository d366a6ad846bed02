# SPDX-License-Identifier: BSD-3-Clause
"""Neighbor lists with the arguments and results of ASE and matscipy."""

from typing import Any

import numpy as np

from . import _core
from ._numbers import flag, letters, real_number
from .neighbors import neighbor_list as _neighbor_list

__all__ = ["neighbor_list"]


def neighbor_list(quantities: str, a: Any, cutoff: Any, self_interaction: bool = False, max_nbins: float = 1e6) -> Any:
    """Like ase.neighborlist.neighbor_list.

    quantities : letters of "ijdDS". a : an ase.Atoms, or an object with `positions`, `cell`, `pbc` and, for a
    dictionary, `numbers`; atoms may lie anywhere. cutoff : a number; a dictionary by pairs of elements, such as {("H",
    "O"): 1.2}, which excludes all other pairs; or a radius for each atom: pairs are nearer than the sum of their radii.
    self_interaction : each atom is also a neighbor of itself. max_nbins has no effect: memory does not depend on the
    cell. Pairs are ordered by i, then j, then S; shifts belong to the positions as given.
    """
    letters(quantities, "quantities", "ijdDS")
    self_interaction = flag(self_interaction, "self_interaction")
    positions = np.asarray(a.positions, dtype=float)
    periodic = np.asarray(a.pbc, dtype=bool)
    cell = np.array(a.cell, dtype=float).reshape(3, 3)
    cell[~periodic] = 0  # the given open vector may be anything, even parallel to another one
    limit, options = _limits(a, cutoff, len(positions))
    arrays = _neighbor_list(positions, limit, box=cell, periodic=periodic, outputs="ijSdD", sorted=True, **options)
    found = dict(zip("ijSdD", arrays))
    if self_interaction:
        found = _with_selves(found, _own_limits(limit, len(positions), options) > 0)
    wanted = tuple(found[letter] for letter in quantities)
    return wanted[0] if len(wanted) == 1 else wanted


def _limits(atoms, cutoff, count):
    """The largest cutoff, and the other arguments that select pairs."""
    if isinstance(cutoff, dict):
        numbers, types = np.unique(np.asarray(atoms.numbers), return_inverse=True)
        table = np.zeros((len(numbers), len(numbers)))
        for pair, limit in cutoff.items():
            first, second = (np.flatnonzero(numbers == _atomic_number(element)) for element in pair)
            table[first[:, None], second] = table[second[:, None], first] = limit
        return max(cutoff.values()), {"types": types, "type_cutoffs": table}
    radii = cutoff if isinstance(cutoff, (int, float, str)) else _core.numbers(cutoff, "cutoff")
    if np.ndim(radii) == 0:
        return real_number(radii, "cutoff"), {}
    if radii.shape != (count,):
        raise ValueError(f"cutoff has the shape {radii.shape}; a number, or a radius for each of the {count} atoms, is needed")
    return 2 * radii.max(initial=0.5), {"radii": radii}


def _atomic_number(element):
    if not isinstance(element, str):
        return element
    from ase.data import atomic_numbers

    return atomic_numbers[element]


def _own_limits(limit, count, options):
    if "radii" in options:
        return options["radii"]
    return np.diag(options["type_cutoffs"])[options["types"]] if options else np.full(count, limit)


def _with_selves(found, chosen):
    own = np.flatnonzero(chosen)
    extra = {"i": own, "j": own, "S": np.zeros((len(own), 3), int), "d": np.zeros(len(own)), "D": np.zeros((len(own), 3))}
    joined = {letter: np.concatenate([array, extra[letter]]) for letter, array in found.items()}
    order = np.lexsort((*joined["S"].T[::-1], joined["j"], joined["i"]))
    return {letter: array[order] for letter, array in joined.items()}
