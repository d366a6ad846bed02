# SPDX-License-Identifier: BSD-3-Clause
"""Shortest vectors of a lattice."""

import itertools

import numpy as np

MOST = 2.0**25  # largest integers, so that products are exact
ROUNDS = 100  # vectors distinct in double precision need fewer


def shortest(vectors):
    """Integers (3, 3), as floats. Their product with vectors (3, 3) as rows gives vectors of the same lattice that no
    sum with multiples of the other two makes shorter (Minkowski's reduction), as far as integers below MOST allow."""
    turned = np.eye(3)
    for _ in range(ROUNDS):
        before = turned.copy()
        for k in range(3):
            others, own = [k - 1, k - 2], turned[k] @ vectors
            near = np.rint(np.linalg.lstsq((turned[others] @ vectors).T, own, rcond=None)[0])
            choices = [turned[k] - (near + step) @ turned[others] for step in itertools.product((-1, 0, 1), repeat=2)]
            best = min(choices, key=lambda choice: np.linalg.norm(choice @ vectors))
            exact = max(np.abs(near).max(), np.abs(best).max()) < MOST
            if exact and np.linalg.norm(best @ vectors) < (1 - 1e-9) * np.linalg.norm(own):
                turned[k] = best
        if np.array_equal(turned, before):
            break
    return turned
