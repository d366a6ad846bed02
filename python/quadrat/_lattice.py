# SPDX-License-Identifier: BSD-3-Clause
"""Shortest vectors of a lattice."""

import itertools

import numpy as np

MOST = 2.0**25  # of the integers: products of them are exact
ROUNDS = 100  # vectors that double precision can tell apart need fewer


def shortest(vectors):
    """Integers (3, 3), as floats: their product with vectors (3, 3) as rows are vectors of the same lattice that no sum
    with multiples of the other two makes shorter (Minkowski's reduction), as far as integers below MOST get there."""
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
