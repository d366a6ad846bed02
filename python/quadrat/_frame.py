# SPDX-License-Identifier: BSD-3-Clause
"""Particles at one time. Separate from frames.py, which is also a command."""

import dataclasses
from typing import Any

import numpy as np


@dataclasses.dataclass(repr=False)
class Frame:
    """Particles at one time, of a run in memory or of a file. positions: (N, 3) float32; fields: name -> (N,) or
    (N, k), velocities under "velocity", their lengths under "speed", radii under "radius", numbers of the particles
    under "id", names (strings) under "species"; lower, upper: corners of the box, (3,); periodic: (3,) bool; step: None
    if neither the file nor its name has one; vectors: of an oblique box, as rows, (3, 3), which begins at lower and ends
    at upper. `neighbor_list`, `NeighborList`, `knn`, `clusters` and `rdf` take a frame in place of points, with its box.
    `print` shows a line."""

    time: float
    positions: np.ndarray
    fields: dict[str, np.ndarray]
    lower: np.ndarray
    upper: np.ndarray
    periodic: np.ndarray
    step: int | None = None
    vectors: np.ndarray | None = None

    def numbers(self) -> dict[str, np.ndarray]:
        """The numeric fields, without those of strings."""
        return {name: values for name, values in self.fields.items() if values.dtype.kind != "U"}

    def __repr__(self) -> str:
        step = "" if self.step is None else f"step {self.step}, "
        lengths = np.subtract(self.upper, self.lower) if self.vectors is None else np.linalg.norm(self.vectors, axis=1)
        box = " x ".join(f"{length:.4g}" for length in lengths)
        fields = ", ".join(self.fields) or "none"
        return f"<Frame: {step}t = {self.time:.6g}, {len(self.positions):,} particles, box {box}; fields: {fields}>"


def placed(points: Any, box: Any, periodic: Any, origin: Any) -> tuple[Any, Any, Any, Any]:
    """The arguments with those of a frame that is given as points. Without periodic axes its space is open."""
    if not isinstance(points, Frame):
        return points, box, periodic, origin
    for name, value in (("box", box), ("periodic", periodic), ("origin", origin)):
        if value is not None:
            raise ValueError(f"{name} is given beside a frame, which has its own")
    wraps = np.asarray(points.periodic, dtype=bool)
    if not wraps.any():
        return points.positions, None, None, None
    along = np.subtract(points.upper, points.lower)
    lattice = along if points.vectors is None else np.where(wraps[:, None], points.vectors, 0.0)
    return points.positions, lattice, wraps, points.lower


def bounds(positions: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The corners of a box around the finite positions."""
    finite = positions[np.isfinite(positions).all(axis=1)]
    if len(finite) == 0:
        return np.zeros(3), np.ones(3)
    return finite.min(axis=0).astype(float), finite.max(axis=0).astype(float)


def corners(positions: np.ndarray, lattice: Any, origin: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
    """lower, upper and vectors of a frame with this box; None: that around its positions. A vector of zeros is open."""
    lower, upper = bounds(positions)
    if lattice is None:
        return lower, upper, None
    cell, corner = np.asarray(lattice, dtype=float), np.asarray(origin, dtype=float)
    if np.any(cell != np.diag(np.diag(cell))):
        return corner, corner + cell.sum(axis=0), cell
    there = np.diag(cell) != 0
    lower[there], upper[there] = corner[there], (corner + np.diag(cell))[there]
    return lower, upper, None


def along_axes(frame: Frame, what: str) -> Frame:
    """The frame, unless its box is oblique: then an error that says what needs a box along the axes."""
    if frame.vectors is not None:
        raise ValueError(f"the cell of the frame at t = {frame.time:.6g} is oblique; {what} boxes along the axes")
    return frame
