#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Writes the files of this folder, which the commands of the README read: the same bytes in every run."""

import pathlib
import random
import struct

FOLDER = pathlib.Path(__file__).parent
draw = random.Random(1)


def write_npy(name, shape, numbers, descr):
    """An array as NumPy writes it."""
    header = "{'descr': '%s', 'fortran_order': False, 'shape': (%s,), }" % (descr, ", ".join(map(str, shape)))
    header = header.ljust(128 - 11) + "\n"
    data = struct.pack(f"<{len(numbers)}{ {'<f4': 'f', '<i4': 'i'}[descr] }", *numbers)
    (FOLDER / name).write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + data)


def write_atoms():
    """Solid argon near its melting point: 4 x 4 x 4 cubic cells of 5.31 angstroms with 4 atoms each, none in its place."""
    edge, cells = 5.31, 4
    corners = [(0, 0, 0), (0, 0.5, 0.5), (0.5, 0, 0.5), (0.5, 0.5, 0)]
    lines = []
    for k in range(cells**3):
        cell = (k % cells, k // cells % cells, k // cells**2)
        for corner in corners:
            place = [edge * (a + b) + draw.gauss(0, 0.3) for a, b in zip(cell, corner)]
            lines.append("Ar " + " ".join(f"{x:.4f}" for x in place))
    length = f"{edge * cells:g}"
    lattice = " ".join(length if k % 4 == 0 else "0" for k in range(9))
    head = f'{len(lines)}\nLattice="{lattice}" pbc="T T T" Properties=species:S:1:pos:R:3\n'
    (FOLDER / "atoms.xyz").write_text(head + "\n".join(lines) + "\n")


def write_salt():
    """Hot rock salt: 216 ions at a lattice constant of 5.64 angstroms, none in its place."""
    edge, cells = 2.82, 6
    lines = []
    for k in range(cells**3):
        cell = (k % cells, k // cells % cells, k // cells**2)
        place = [edge * a + draw.gauss(0, 0.2) for a in cell]
        name, charge = ("Cl", -1) if sum(cell) % 2 else ("Na", 1)
        lines.append(f"{name} " + " ".join(f"{x:.4f}" for x in place) + f" {charge}")
    length = f"{edge * cells:g}"
    lattice = " ".join(length if k % 4 == 0 else "0" for k in range(9))
    head = f'{len(lines)}\nLattice="{lattice}" pbc="T T T" Properties=species:S:1:pos:R:3:charge:R:1\n'
    (FOLDER / "salt.xyz").write_text(head + "\n".join(lines) + "\n")


def write_bodies():
    """Spheres, ellipsoids, capsules and boxes, turned anyhow, in a box that is too small for them."""
    needs = {"sphere": ["radius"], "ellipsoid": "abc", "capsule": ["radius", "half_length"], "box": "abc"}
    columns = ["shape", "x", "y", "z", "radius", "half_length", "a", "b", "c", "qw", "qx", "qy", "qz"]
    rows = [",".join(columns)]
    for shape in [*needs] * 15:
        row = {"shape": shape}
        row |= {name: f"{draw.uniform(0, 4):.3f}" for name in "xyz"}
        row |= {name: f"{draw.uniform(0.3, 0.7):.3f}" for name in needs[shape]}
        row |= {name: f"{draw.gauss(0, 1):.3f}" for name in columns[-4:]}
        rows.append(",".join(row.get(name, "") for name in columns))
    (FOLDER / "bodies.csv").write_text("\n".join(rows) + "\n")


def main():
    write_atoms()
    write_bodies()
    write_npy("points.npy", (1000, 3), [draw.random() for _ in range(3000)], "<f4")
    write_npy("keys.npy", (1000,), [draw.randrange(50) for _ in range(1000)], "<i4")
    write_npy("values.npy", (1000,), [draw.gauss(0, 1) for _ in range(1000)], "<f4")
    write_salt()


if __name__ == "__main__":
    main()
