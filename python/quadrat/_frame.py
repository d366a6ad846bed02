# SPDX-License-Identifier: BSD-3-Clause
"""Particles at one time. Separate from frames.py, which is also a command."""

import dataclasses

import numpy as np


@dataclasses.dataclass(repr=False)
class Frame:
    """Particles at one time, of a run in memory or of a file. positions: (N, 3) float32; fields: name -> (N,) or
    (N, k), velocities under "velocity", their lengths under "speed", radii under "radius", numbers of the particles
    under "id", names (strings) under "species"; lower, upper: corners of the box, (3,); periodic: (3,) bool; step: None
    if neither the file nor its name has one. `print` shows a line."""

    time: float
    positions: np.ndarray
    fields: dict[str, np.ndarray]
    lower: np.ndarray
    upper: np.ndarray
    periodic: np.ndarray
    step: int | None = None

    def numbers(self) -> dict[str, np.ndarray]:
        """The numeric fields, without those of strings."""
        return {name: values for name, values in self.fields.items() if values.dtype.kind != "U"}

    def __repr__(self) -> str:
        step = "" if self.step is None else f"step {self.step}, "
        box = " x ".join(f"{length:.4g}" for length in np.subtract(self.upper, self.lower))
        fields = ", ".join(self.fields) or "none"
        return f"<Frame: {step}t = {self.time:.6g}, {len(self.positions):,} particles, box {box}; fields: {fields}>"
