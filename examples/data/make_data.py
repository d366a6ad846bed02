#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Writes the files of this folder, which the commands of the README and of docs/ read: the same bytes in every run."""

import math
import pathlib
import random
import struct
from collections.abc import Callable, Sequence

FOLDER = pathlib.Path(__file__).parent
draw = random.Random(1)


def write_npy(name: str, shape: tuple[int, ...], numbers: Sequence[float], descr: str) -> None:
    """An array as NumPy writes it."""
    header = "{'descr': '%s', 'fortran_order': False, 'shape': (%s,), }" % (descr, ", ".join(map(str, shape)))
    header = header.ljust(128 - 11) + "\n"
    data = struct.pack(f"<{len(numbers)}{ {'<f4': 'f', '<i4': 'i'}[descr] }", *numbers)
    (FOLDER / name).write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + data)


def write_atoms() -> None:
    """Solid argon near its melting point: 4 x 4 x 4 cubic cells of 5.31 angstroms with 4 atoms each, none in its
    place."""
    edge, cells = 5.31, 4
    corners = [(0, 0, 0), (0, 0.5, 0.5), (0.5, 0, 0.5), (0.5, 0.5, 0)]
    lines: list[str] = []
    for k in range(cells**3):
        cell = (k % cells, k // cells % cells, k // cells**2)
        for corner in corners:
            place = [edge * (a + b) + draw.gauss(0, 0.3) for a, b in zip(cell, corner)]
            lines.append("Ar " + " ".join(f"{x:.4f}" for x in place))
    length = f"{edge * cells:g}"
    lattice = " ".join(length if k % 4 == 0 else "0" for k in range(9))
    head = f'{len(lines)}\nLattice="{lattice}" pbc="T T T" Properties=species:S:1:pos:R:3\n'
    (FOLDER / "atoms.xyz").write_text(head + "\n".join(lines) + "\n")


def write_salt() -> None:
    """Hot rock salt: 216 ions at a lattice constant of 5.64 angstroms, none in its place."""
    edge, cells = 2.82, 6
    lines: list[str] = []
    for k in range(cells**3):
        cell = (k % cells, k // cells % cells, k // cells**2)
        place = [edge * a + draw.gauss(0, 0.2) for a in cell]
        name, charge = ("Cl", -1) if sum(cell) % 2 else ("Na", 1)
        lines.append(f"{name} " + " ".join(f"{x:.4f}" for x in place) + f" {charge}")
    length = f"{edge * cells:g}"
    lattice = " ".join(length if k % 4 == 0 else "0" for k in range(9))
    head = f'{len(lines)}\nLattice="{lattice}" pbc="T T T" Properties=species:S:1:pos:R:3:charge:R:1\n'
    (FOLDER / "salt.xyz").write_text(head + "\n".join(lines) + "\n")


def write_bodies() -> None:
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


def write_water() -> None:
    """Two frames of 4 x 4 x 4 molecules of water, 3.1 angstroms apart, turned anyhow."""
    edge, cells, bond, angle = 3.1, 4, 0.9572, math.radians(104.52)
    length = f"{edge * cells:g}"
    lattice = " ".join(length if k % 4 == 0 else "0" for k in range(9))
    frames: list[str] = []
    for _ in range(2):
        lines: list[tuple[str, list[float]]] = []
        for k in range(cells**3):
            place = [edge * a + draw.gauss(0, 0.2) for a in (k % cells, k // cells % cells, k // cells**2)]
            one = unit([draw.gauss(0, 1) for _ in range(3)])
            other = [draw.gauss(0, 1) for _ in range(3)]
            along = sum(a * b for a, b in zip(one, other))
            other = unit([b - along * a for a, b in zip(one, other)])
            second = [math.cos(angle) * a + math.sin(angle) * b for a, b in zip(one, other)]
            lines.append(("O", place))
            lines += [("H", [x + bond * a for x, a in zip(place, way)]) for way in (one, second)]
        frames.append(f'{len(lines)}\nLattice="{lattice}" pbc="T T T" Properties=species:S:1:pos:R:3\n')
        frames += [f"{name} " + " ".join(f"{x:.3f}" for x in place) + "\n" for name, place in lines]
    (FOLDER / "water.xyz").write_text("".join(frames))


def unit(v: list[float]) -> list[float]:
    length = math.sqrt(sum(x * x for x in v))
    return [x / length for x in v]


def write_csv(name: str, columns: str, count: int, row: Callable[[], list[float]]) -> None:
    lines = [columns, *(",".join(f"{x:.5f}" for x in row()) for _ in range(count))]
    (FOLDER / name).write_text("\n".join(lines) + "\n")


def write_signal() -> None:
    """Two tones and noise, at 500 uneven times in radians."""
    times = sorted(draw.uniform(0, 2 * math.pi) for _ in range(500))
    (FOLDER / "times.csv").write_text("x\n" + "".join(f"{t:.6f}\n" for t in times))
    signal = [math.sin(40 * t) + 0.5 * math.cos(123 * t) + draw.gauss(0, 0.2) for t in times]
    write_npy("signal.npy", (len(signal),), signal, "<f4")


def write_potential() -> None:
    """A potential on 16^3 mesh points, x first."""
    wave = [math.sin(2 * math.pi * k / 16) for k in range(16)]
    write_npy("potential.npy", (16, 16, 16), [a + 0.5 * b * c for a in wave for b in wave for c in wave], "<f4")


def main() -> None:
    write_atoms()
    write_bodies()
    write_npy("points.npy", (1000, 3), [draw.random() for _ in range(3000)], "<f4")
    write_npy("keys.npy", (1000,), [draw.randrange(50) for _ in range(1000)], "<i4")
    write_npy("values.npy", (1000,), [draw.gauss(0, 1) for _ in range(1000)], "<f4")
    write_salt()
    write_water()
    write_signal()
    write_potential()
    write_csv("points.csv", "x,y,z", 500, lambda: [draw.random() for _ in range(3)])
    write_csv("particles.csv", "x,y,z,h", 500, lambda: [*(draw.random() for _ in range(3)), draw.uniform(0.05, 0.15)])
    write_npy("charges.npy", (1000,), [(-1.0) ** k for k in range(1000)], "<f4")
    write_npy("cells.npy", (2000,), [draw.randrange(1000) for _ in range(2000)], "<i4")
    write_npy("momenta.npy", (2000, 3), [draw.gauss(0, 1) for _ in range(6000)], "<f4")
    write_npy("frequencies.npy", (300, 3), [draw.uniform(-20, 20) for _ in range(900)], "<f4")


if __name__ == "__main__":
    main()
