# SPDX-License-Identifier: BSD-3-Clause
"""Shortest vectors of a lattice."""

import itertools

import numpy as np


def shortest(vectors):
    """Integers (3, 3), as floats: their product with vectors (3, 3) as rows are vectors of the same lattice that no sum
    with multiples of the other two makes shorter (Minkowski's reduction)."""
    turned, shorter = np.eye(3), True
    while shorter:
        shorter = False
        for k in range(3):
            others, own = [k - 1, k - 2], turned[k] @ vectors
            near = np.rint(np.linalg.lstsq((turned[others] @ vectors).T, own, rcond=None)[0])
            choices = [turned[k] - (near + step) @ turned[others] for step in itertools.product((-1, 0, 1), repeat=2)]
            best = min(choices, key=lambda choice: np.linalg.norm(choice @ vectors))
            if np.linalg.norm(best @ vectors) < (1 - 1e-9) * np.linalg.norm(own):
                turned[k], shorter = best, True
    return turned
