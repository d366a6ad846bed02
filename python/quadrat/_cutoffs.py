# SPDX-License-Identifier: BSD-3-Clause
"""Cutoffs as chemists write them: by pairs of types, by types, by points."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from . import _core
from ._numbers import real_number, shown

_MOST_TYPES = 1024  # rows of a table


class PairCutoffs:
    """The table of a dictionary {(a, b): cutoff}, whose types are integers from 0 or names. Pairs that it does not have
    are not neighbors: their types have the last row, of zeros. `name`: of the argument, in messages."""

    def __init__(self, cutoffs: Mapping[Any, Any], name: str) -> None:
        for pair in cutoffs:
            if not isinstance(pair, tuple) or len(pair) != 2:
                raise ValueError(f"{name} has the key {shown(pair)}; pairs of types, as ('O', 'H'), are accepted")
        kinds = {kind for pair in cutoffs for kind in pair}
        self.names = sorted(kinds) if kinds and all(isinstance(kind, str) for kind in kinds) else None
        if self.names is None:
            for kind in kinds:
                if not isinstance(kind, (int, np.integer)) or isinstance(kind, bool) or not 0 <= kind < _MOST_TYPES:
                    accepted = f"names, or integers from 0 to {_MOST_TYPES - 1}, are accepted"
                    raise ValueError(f"{name} has the type {shown(kind)}; {accepted}")
        rows = {kind: kind if self.names is None else self.names.index(kind) for kind in kinds}
        self.others = max(rows.values(), default=-1) + 1
        self.table = np.zeros((self.others + 1, self.others + 1))
        for (a, b), cutoff in cutoffs.items():
            self.table[rows[a], rows[b]] = self.table[rows[b], rows[a]] = _length(cutoff, f"{name}[{a!r}, {b!r}]")

    def rows(self, types: Any) -> Any:
        """The row of each type, in an array of the library of the types; None for None."""
        if types is None:
            return None
        if self.names is None:
            there = types if hasattr(types, "clip") else np.asarray(types)
            wrong = isinstance(there, np.ndarray) and there.dtype.kind not in "iu"  # the library says so
            return there if wrong else there.clip(None, self.others)
        given = np.asarray(types)
        if given.size > 0 and given.dtype.kind != "U":
            raise TypeError(f"types are {shown(types)}; names are accepted, as type_cutoffs has")
        found = np.searchsorted(self.names, given)
        same = np.array([*self.names, ""])[found] == given
        return np.where(same, found, self.others)


def by_pairs(type_cutoffs: Any, *types: Any) -> tuple[Any, ...]:
    """The table of type_cutoffs and the rows of types in it. Tables are returned as they are, with the types."""
    if not isinstance(type_cutoffs, Mapping):
        return type_cutoffs, *types
    given = PairCutoffs(type_cutoffs, "type_cutoffs")
    return given.table, *(given.rows(one) for one in types)


def of_atoms(cutoff: Any, numbers: Any, count: int) -> tuple[float, dict[str, Any]]:
    """The largest cutoff, and the arguments of `neighbor_list` that select pairs of atoms: for a dictionary by pairs of
    elements or by elements, whose radii add up; for a radius of each atom; or none for a number. Elements are symbols
    or atomic numbers."""
    if isinstance(cutoff, Mapping):
        if not cutoff or numbers is None:
            lacking = "numbers of the atoms" if cutoff else "entries"
            raise ValueError(f"cutoff is a dictionary without {lacking}; cutoffs by elements need both")
        elements = np.asarray(numbers)
        if any(isinstance(key, tuple) for key in cutoff):
            named = {_pair(key): value for key, value in cutoff.items()}
            pairs = PairCutoffs(named, "cutoff")
            return pairs.table.max() or 1.0, {"types": pairs.rows(elements), "type_cutoffs": pairs.table}
        of = {_atomic_number(element): _length(radius, f"cutoff[{element!r}]") for element, radius in cutoff.items()}
        radii = np.array([of.get(number, 0.0) for number in elements.tolist()])
    elif isinstance(cutoff, (int, float, str)) or np.ndim(radii := _core.numbers(cutoff, "cutoff")) == 0:
        return real_number(cutoff, "cutoff"), {}
    if radii.shape != (count,):
        raise ValueError(f"cutoff has the shape {radii.shape}; a number, or a radius for each of the {count} atoms, is needed")
    return 2 * radii.max(initial=0.0) or 1.0, {"radii": radii}


def own_of_atoms(limit: float, count: int, options: dict[str, Any]) -> np.ndarray:
    """The cutoff of each atom and itself, of what `of_atoms` returns."""
    if "radii" in options:
        return np.asarray(options["radii"])
    return np.diag(options["type_cutoffs"])[options["types"]] if options else np.full(count, limit)


def _length(value, name):
    length = real_number(value, name)
    if not 0 <= length < math.inf:
        raise ValueError(f"{name} is {shown(value)}; numbers from 0 are accepted")
    return length


def _pair(key):
    return tuple(map(_atomic_number, key)) if isinstance(key, tuple) else key


def _atomic_number(element):
    if not isinstance(element, str):
        return element
    from ase.data import atomic_numbers

    if element not in atomic_numbers:
        raise ValueError(f"cutoff has the element {shown(element)}; symbols and atomic numbers are accepted")
    return atomic_numbers[element]
