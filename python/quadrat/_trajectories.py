# SPDX-License-Identifier: BSD-3-Clause
"""Reads frames of LAMMPS' dumps and of ASE's trajectories, one by one."""

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np

from . import _command
from ._frame import Frame, corners
from ._numbers import shown

_PLACES = ("x", "y", "z"), ("xu", "yu", "zu"), ("xs", "ys", "zs"), ("xsu", "ysu", "zsu")
_NAMES = {"q": "charge", "element": "species"}


def ase_trajectory(file: Any) -> Iterator[Frame]:
    """All frames of a .traj file."""
    trajectory, ulm = (_command.needed(name, "files") for name in ("ase.io.trajectory", "ase.io.ulm"))
    try:
        with trajectory.Trajectory(str(file)) as every:
            for atoms in every:
                yield _frame_of_atoms(atoms)
    except (ulm.InvalidULMFileError, LookupError, ValueError, TypeError, AssertionError) as problem:
        raise ValueError(f"{file} is not a trajectory of ASE, or is cut: {problem!r}") from None


def _frame_of_atoms(atoms):
    positions = atoms.positions.astype(np.float32)
    lower, upper, vectors = corners(positions, atoms.cell.array, np.zeros(3))
    fields = {"species": np.array(atoms.get_chemical_symbols(), dtype=str)}
    if atoms.has("momenta"):
        fields["velocity"] = atoms.get_velocities().astype(np.float32)
    named = {"initial_charges": "charge"}
    for name, values in atoms.arrays.items():
        if name not in ("numbers", "positions", "momenta"):
            values = values.astype(np.float32) if values.dtype.kind == "f" else values
            fields[named.get(name, name)] = values
    time = atoms.info.get("time", 0.0)
    return Frame(float(time), positions, fields, lower, upper, np.array(atoms.pbc, dtype=bool), None, vectors)


class _Lines:
    """Lines of a text file with their numbers."""

    def __init__(self, file, source):
        self.file, self.source, self.number = file, iter(source), 0

    def take(self, count, what):
        lines = [line.split() for line in itertools.islice(self.source, count)]
        self.number += len(lines)
        if len(lines) < count:
            raise ValueError(f"{self.file} is cut: it ends before its {what}")
        return lines

    def problem(self, words, back=0):
        return ValueError(f"{self.file}:{self.number - back}: {words}")

    def numbers(self, rows, columns, what):
        """(rows, columns) numbers of the next lines."""
        for row, line in enumerate(lines := self.take(rows, what)):
            try:
                if len([float(word) for word in line]) == columns:
                    continue
            except ValueError:
                pass
            raise self.problem(f"{what} are {shown(' '.join(line))}; {columns} numbers are needed", len(lines) - row - 1)
        return np.array(lines, dtype=float)


def lammps_dump(file: Any) -> Iterator[Frame]:
    """All frames of a dump in text, in order of id, which counts from 0. Scaled positions are made absolute."""
    with open(file, encoding="utf-8", errors="replace") as source:
        lines, facts = _Lines(file, source), {}
        for line in lines.source:
            lines.number += 1
            words = line.split()
            if words[:1] != ["ITEM:"] and words:
                raise lines.problem(f"a line is {shown(line.strip())}; one that begins with ITEM: is expected")
            name = " ".join(words[1:3]) if words[1:3] == ["BOX", "BOUNDS"] else " ".join(words[1:])
            if name == "BOX BOUNDS":
                facts["box"] = _bounds(lines, words[3:])
            elif words[1:2] == ["ATOMS"]:
                yield _frame_of_dump(lines, facts, words[2:])
                facts = {}
            elif name == "UNITS":
                lines.take(1, name)
            elif words:
                value = facts[name] = lines.numbers(1, 1, name)[0, 0]
                if name in ("NUMBER OF ATOMS", "TIMESTEP") and not (0 <= value < 2**63 and value % 1 == 0):
                    raise lines.problem(f"{name} is {value:g}; a whole number from 0 is needed")


def _bounds(lines, words):
    """The corner of the box, its vectors as rows, and which are periodic."""
    sides = words[-3:] if len(words) >= 3 else ["pp"] * 3
    kind = words[:-3]
    table = lines.numbers(3, {0: 2, 2: 4}.get(len(kind), 3), "BOX BOUNDS")
    periodic = np.array([side.startswith("p") for side in sides])
    if kind == ["abc", "origin"]:
        return table[:, 3], table[:, :3], periodic
    low, high = table[:, 0].copy(), table[:, 1].copy()
    for axis in np.flatnonzero(periodic & ~(high > low)):
        raise lines.problem(f"the box is from {low[axis]:g} to {high[axis]:g} along a periodic axis", 2 - axis)
    vectors = np.zeros((3, 3))
    if len(kind) == 3:  # the bounds are those of a box along the axes around the oblique one
        xy, xz, yz = table[:, 2]
        low -= min(0, xy, xz, xy + xz), min(0, yz), 0
        high -= max(0, xy, xz, xy + xz), max(0, yz), 0
        vectors[1, 0], vectors[2, 0], vectors[2, 1] = xy, xz, yz
    return low, vectors + np.diag(high - low), periodic


def _frame_of_dump(lines, facts, names):
    for needed in ("NUMBER OF ATOMS", "box"):
        if needed not in facts:
            raise lines.problem(f"ITEM: {needed.replace('box', 'BOX BOUNDS')} is missing before ITEM: ATOMS")
    rows = lines.take(int(facts["NUMBER OF ATOMS"]), "atoms")
    for number, row in enumerate(rows):
        if len(row) != len(names):
            raise lines.problem(f"an atom has {len(row)} values; {len(names)} are needed", len(rows) - number - 1)
    columns = {name: _column([row[k] for row in rows]) for k, name in enumerate(names)}
    for name in {"id", "vx", "vy", "vz"} & columns.keys():
        if columns[name].dtype.kind not in ("i" if name == "id" else "if"):
            raise lines.problem(f"{name} is not a {'whole ' if name == 'id' else ''}number in each row", len(rows))
    corner, vectors, periodic = facts["box"]
    positions = _positions(columns, corner, vectors)
    if positions is None:
        raise lines.problem("positions are missing; numbers x y z, xu yu zu, xs ys zs or xsu ysu zsu are needed", len(rows))
    if "id" in columns:
        order = np.argsort(columns["id"], kind="stable")
        positions, columns = positions[order], {name: values[order] for name, values in columns.items()}
        columns["id"] = columns["id"] - 1
    if {"vx", "vy", "vz"} <= columns.keys():
        columns["velocity"] = np.stack([columns.pop(name) for name in ("vx", "vy", "vz")], axis=1)
    fields = {_NAMES.get(name, name.removeprefix("c_")): _narrow(values) for name, values in columns.items()}
    lower, upper, oblique = corners(positions, vectors, corner)
    step = int(facts["TIMESTEP"]) if "TIMESTEP" in facts else None
    return Frame(facts.get("TIME", 0.0), positions.astype(np.float32), fields, lower, upper, periodic, step, oblique)


def _positions(columns, corner, vectors):
    """Takes the positions out of the columns; None if there are none."""
    for names in _PLACES:
        if all(name in columns and columns[name].dtype.kind in "if" for name in names):
            values = np.stack([columns.pop(name) for name in names], axis=1)
            return corner + values @ vectors if "s" in names[0] else values
    return None


def _column(words):
    """Integers, real numbers or text."""
    for kind in (np.int64, np.float64):
        try:
            return np.array(words, dtype=kind)
        except (ValueError, OverflowError):
            continue
    return np.array(words, dtype=str)


def _narrow(values):
    return values.astype(np.float32) if values.dtype.kind == "f" else values
