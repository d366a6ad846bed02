# SPDX-License-Identifier: BSD-3-Clause
"""Capped distances, by every pair and, where it is there, beside MDAnalysis."""

import itertools

import numpy as np
import pytest
from quadrat.mdanalysis import capped_distance, self_capped_distance

BOX = [8.0, 9.0, 7.0, 90, 90, 90]
SKEWED = [8.0, 9.0, 7.0, 70, 100, 65]


def positions(seed, count):
    return np.random.default_rng(seed).uniform(-4, 12, (count, 3)).astype(np.float32)


def every_pair(a, b, box, most, least):
    """The pairs in a box along the axes, a side of 0 of which is open, by their nearest images."""
    between = b[None].astype(float) - a[:, None].astype(float)
    sides = np.array(box[:3])
    between -= np.where(sides > 0, sides * np.rint(between / np.where(sides > 0, sides, 1)), 0)
    distances = np.linalg.norm(between, axis=2)
    chosen = (distances <= most) & (distances > least)
    return np.argwhere(chosen), distances[chosen]


@pytest.mark.parametrize("box", [BOX, [8.0, 0, 7.0, 90, 90, 90], None])
@pytest.mark.parametrize("most, least", [(1.5, None), (3.0, 1.0), (6.5, 2.0)])
def test_pairs_are_those_of_nearest_images(box, most, least):
    a, b = positions(1, 40), positions(2, 70)
    pairs, distances = capped_distance(a, b, most, least, box)
    wanted, d = every_pair(a, b, box or [0, 0, 0], most, -1 if least is None else least)
    assert len(wanted) > 10 and pairs.dtype == np.int64 and distances.dtype == np.float64
    np.testing.assert_array_equal(pairs, wanted)
    np.testing.assert_allclose(distances, d, atol=1e-12)
    np.testing.assert_array_equal(capped_distance(a, b, most, least, box, return_distances=False), wanted)
    pairs, distances = self_capped_distance(a, most, least, box)
    wanted, d = every_pair(a, a, box or [0, 0, 0], most, -1 if least is None else least)
    once = wanted[:, 0] < wanted[:, 1]
    np.testing.assert_array_equal(pairs, wanted[once])
    np.testing.assert_allclose(distances, d[once], atol=1e-12)


def test_pairs_at_the_largest_cutoff_count_and_those_at_the_smallest_do_not():
    a = [[0, 0, 0], [1, 0, 0], [3, 0, 0], [3, 0, 0]]
    assert self_capped_distance(a, 2.0)[0].tolist() == [[0, 1], [1, 2], [1, 3], [2, 3]]
    assert self_capped_distance(a, 2.0, 1.0)[0].tolist() == [[1, 2], [1, 3]]
    assert self_capped_distance(a, 0.0)[0].tolist() == [[2, 3]]
    assert capped_distance([0, 0, 0], a, 1.0, 0.0)[0].tolist() == [[0, 1]]
    for cutoff in np.random.default_rng(3).uniform(0.1, 5, 40).astype(np.float32):
        assert len(self_capped_distance([[0, 0, 0], [cutoff, 0, 0]], float(cutoff), box=[20, 20, 20, 90, 90, 90])[0]) == 1


def test_large_cutoffs_in_small_boxes_cost_no_images():
    a = positions(8, 30)
    pairs, distances = self_capped_distance(a, 1e6, box=[1.0, 1.5, 0.7, 90, 90, 90])  # 4e18 images of each
    wanted, d = every_pair(a, a, [1.0, 1.5, 0.7], 1e6, -1)
    once = wanted[:, 0] < wanted[:, 1]
    assert len(pairs) == 30 * 29 // 2
    np.testing.assert_array_equal(pairs, wanted[once])
    np.testing.assert_allclose(distances, d[once], atol=1e-6)


def test_empty_positions_have_no_pairs():
    none = np.empty((0, 3), np.float32)
    for pairs, distances in (capped_distance(none, [0, 0, 0], 1.0, box=BOX), self_capped_distance(none, 1.0)):
        assert pairs.shape == (0, 2) and distances.shape == (0,)


@pytest.mark.parametrize("box", [BOX, SKEWED, [5.0, 5, 5, 90, 90, 60], None])
@pytest.mark.parametrize("most, least", [(1.5, None), (2.0, 0.5)])
def test_pairs_are_those_of_mdanalysis(box, most, least):
    theirs = pytest.importorskip("MDAnalysis.lib.distances")
    a, b = positions(4, 60), positions(5, 80)
    for ours, wanted in (
        (capped_distance(a, b, most, least, box), theirs.capped_distance(a, b, most, least, box, method="bruteforce")),
        (self_capped_distance(a, most, least, box), theirs.self_capped_distance(a, most, least, box, method="bruteforce")),
    ):
        order = np.lexsort(wanted[0].T[::-1])
        assert len(order) > 5
        np.testing.assert_array_equal(ours[0], wanted[0][order])
        np.testing.assert_allclose(ours[1], wanted[1][order], atol=1e-5)


@pytest.mark.parametrize(
    "given, error, words",
    [
        ({"box": [1, 2, 3]}, ValueError, r"box has the shape \(3,\)"),
        ({"reference": np.ma.masked_less([[0.0, 1, 1]], 1)}, ValueError, "reference: masked elements"),
        ({"reference": [[1, 2]]}, ValueError, r"reference has the shape \(1, 2\)"),
        ({"max_cutoff": -1.0}, ValueError, "max_cutoff is -1.0"),
        ({"max_cutoff": float("nan")}, ValueError, "max_cutoff is nan"),
        ({"method": "octree"}, ValueError, "method is 'octree'; one of bruteforce, nsgrid, pkdtree"),
        ({"backend": "gpu"}, ValueError, "backend is 'gpu'"),
        ({"min_cutoff": "0"}, TypeError, "min_cutoff is '0'"),
    ],
)
def test_bad_arguments_are_named(given, error, words):
    with pytest.raises(error, match=words):
        capped_distance(**({"reference": [0, 0, 0], "configuration": [[0, 0, 1]], "max_cutoff": 1.0} | given))


def test_names_of_methods_and_backends_change_nothing():
    a, b = positions(6, 30), positions(7, 30)
    wanted = capped_distance(a, b, 2.0, box=BOX)[0]
    for method, backend in itertools.product((None, "nsgrid", "BruteForce"), ("serial", "OpenMP", "distopia")):
        np.testing.assert_array_equal(capped_distance(a, b, 2.0, box=BOX, method=method, backend=backend)[0], wanted)
