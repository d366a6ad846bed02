# SPDX-License-Identifier: BSD-3-Clause
"""Cutoffs as chemists write them: by pairs of types, by types, by points."""

import itertools
import math
import sys
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from . import _core
from ._numbers import real_number, shown

_MOST_TYPES = 1024  # rows of a table


class PairCutoffs:
    """The table of a dictionary, by pairs of types {(a, b): cutoff} or by types {a: radius}, whose radii add up. Types are
    names or integers from 0, which `kind` makes of those given. Types that it lacks have no neighbors: the last row of
    the table, of zeros. `name`: of the argument, in messages."""

    def __init__(self, cutoffs: Mapping[Any, Any], name: str, kind: Callable[[Any], Any] = lambda given: given) -> None:
        single = not any(isinstance(key, tuple) for key in cutoffs)
        lengths = {}
        for key, value in cutoffs.items():
            if not single and (not isinstance(key, tuple) or len(key) != 2):
                raise ValueError(f"{name} has the key {shown(key)}; pairs of types, as ('O', 'H'), are accepted")
            length = real_number(value, f"{name}[{key!r}]")
            if not 0 <= length < math.inf:
                raise ValueError(f"{name}[{key!r}] is {shown(value)}; numbers from 0 are accepted")
            lengths[kind(key) if single else tuple(map(kind, key))] = length
        if single:
            pairs = itertools.combinations_with_replacement(lengths, 2)
            lengths = {(a, b): lengths[a] + lengths[b] for a, b in pairs}
        kinds = {one for pair in lengths for one in pair}
        self.names = sorted(kinds) if kinds and all(isinstance(one, str) for one in kinds) else None
        for one in kinds if self.names is None else ():
            if not isinstance(one, (int, np.integer)) or isinstance(one, bool) or not 0 <= one < _MOST_TYPES:
                accepted = f"names, or integers from 0 to {_MOST_TYPES - 1}, are accepted"
                raise ValueError(f"{name} has the type {shown(one)}; {accepted}")
        rows = {one: one if self.names is None else self.names.index(one) for one in kinds}
        self.others = max(rows.values(), default=-1) + 1
        self.table = np.zeros((self.others + 1, self.others + 1))
        for (a, b), length in lengths.items():
            self.table[rows[a], rows[b]] = self.table[rows[b], rows[a]] = length

    def rows(self, types: Any, points: Any = None) -> Any:
        """The row of each type, in an array of the library of the types, those of names of the points; None for
        None."""
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
        return _beside(np.where(same, found, self.others), points)


def by_pairs(points: Any, type_cutoffs: Any, *types: Any) -> tuple[Any, ...]:
    """The table of type_cutoffs and the rows of types in it. Tables are returned as they are, with the types."""
    if not isinstance(type_cutoffs, Mapping):
        return type_cutoffs, *types
    given = PairCutoffs(type_cutoffs, "type_cutoffs")
    return given.table, *(given.rows(one, points) for one in types)


def _beside(rows, points):
    """NumPy's integers in an array of the library of the points, on their device."""
    library = type(points).__module__.partition(".")[0]
    if library == "torch":
        return sys.modules["torch"].from_numpy(rows).to(points.device)
    if library == "cupy":
        with points.device:
            return sys.modules["cupy"].asarray(rows)
    if library.startswith("jax"):
        return sys.modules["jax"].device_put(rows, next(iter(points.devices())))
    return rows


def of_atoms(cutoff: Any, numbers: Any, count: int) -> tuple[float, dict[str, Any]]:
    """The largest cutoff, and the arguments of `neighbor_list` that select pairs of atoms: for a dictionary as in
    `PairCutoffs`, of symbols or atomic numbers; for a radius of each atom; or none for a number."""
    if isinstance(cutoff, Mapping):
        if not cutoff or numbers is None:
            lacking = "numbers of the atoms" if cutoff else "entries"
            raise ValueError(f"cutoff is a dictionary without {lacking}; cutoffs by elements need both")
        pairs = PairCutoffs(cutoff, "cutoff", _atomic_number)
        return pairs.table.max() or 1.0, {"types": pairs.rows(np.asarray(numbers)), "type_cutoffs": pairs.table}
    if isinstance(cutoff, (int, float, str)) or np.ndim(radii := _core.numbers(cutoff, "cutoff")) == 0:
        return real_number(cutoff, "cutoff"), {}
    if radii.shape != (count,):
        raise ValueError(f"cutoff has the shape {radii.shape}; a number, or a radius for each of the {count} atoms, is needed")
    return 2 * radii.max(initial=0.0) or 1.0, {"radii": radii}


def own_of_atoms(limit: float, count: int, options: dict[str, Any]) -> np.ndarray:
    """The cutoff of each atom and itself, of what `of_atoms` returns."""
    if "radii" in options:
        return np.asarray(options["radii"])
    return np.diag(options["type_cutoffs"])[options["types"]] if options else np.full(count, limit)


def _atomic_number(element):
    if not isinstance(element, str):
        return element
    from ase.data import atomic_numbers

    if element not in atomic_numbers:
        raise ValueError(f"cutoff has the element {shown(element)}; symbols and atomic numbers are accepted")
    return atomic_numbers[element]
