# SPDX-License-Identifier: BSD-3-Clause
"""Catalogs of clusters through Python."""

import numpy as np
import pytest
import quadrat


def blobs(dimension, dtype):
    """Points in three blobs across the faces of a box of 10, the sizes 5, 12 and 8, velocities and potentials."""
    random = np.random.default_rng(dimension)
    blob = np.repeat([0, 1, 2], [5, 12, 8])
    random.shuffle(blob)
    points = random.uniform(-0.5, 0.5, (25, dimension)) + np.where(np.arange(dimension) == 0, 0, 10)
    points[:, 0] += 3 * blob
    return points.astype(dtype), random.normal(size=(25, dimension)).astype(dtype), random.normal(size=25).astype(dtype)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("dimension", [2, 3])
def test_groups_are_sums_over_members(dimension, dtype):
    points, velocities, potentials = blobs(dimension, dtype)
    box = [10.0] * dimension
    labels = quadrat.clusters(points, 1.0, box)
    found = quadrat.cluster_catalog(points, 1.0, box, velocities=velocities, potentials=potentials, by_size=True)
    assert found.groups["size"].tolist() == [12, 8, 5] and found.groups.center.dtype == dtype
    for row, group in enumerate(found.groups):
        members = np.flatnonzero(labels == group.label)
        np.testing.assert_array_equal(np.flatnonzero(found.rows == row), members)
        assert group["size"] == len(members)
        center = points[members].astype(float).mean(axis=0)
        arms = points[members] - center
        inertia = (arms**2).sum() * np.eye(dimension) - arms.T @ arms
        away = (group.center - center + 5) % 10 - 5
        np.testing.assert_allclose(away, 0, atol=1e-5)
        np.testing.assert_allclose(group.velocity, velocities[members].mean(axis=0), atol=1e-5)
        np.testing.assert_allclose(group.inertia, inertia, atol=1e-4)
        assert group.central == members[potentials[members].argmin()]
    densest = quadrat.cluster_catalog(points, 1.0, box, densities=-potentials, by_size=True)
    assert densest.groups.central.tolist() == found.groups.central.tolist()
    assert not densest.groups.velocity.any()


def test_many_systems_have_the_groups_of_each():
    points = blobs(3, np.float64)[0]
    both = [points, points[::2]]
    systems = np.repeat([0, 1], [len(one) for one in both])
    order = np.random.default_rng(5).permutation(len(systems))
    points, boxes = np.concatenate(both)[order], [[10.0] * 3, [12.0] * 3]
    found = quadrat.cluster_catalog(points, 1.0, boxes, systems=systems[order])
    wanted = [quadrat.cluster_catalog(one, 1.0, box).groups for one, box in zip(both, boxes)]
    assert sorted(found.groups["size"].tolist()) == sorted(np.concatenate([one["size"] for one in wanted]).tolist())
    with pytest.raises(ValueError, match="system 2"):
        quadrat.cluster_catalog(points, 1.0, boxes, systems=2 * systems[order])


def test_small_clusters_are_left_out():
    points, _, _ = blobs(3, np.float64)
    found = quadrat.cluster_catalog(points, 1.0, [10.0] * 3, least_size=8)
    assert sorted(found.groups["size"].tolist()) == [8, 12]
    assert (found.rows == -1).sum() == 5
    assert len(quadrat.cluster_catalog(points, 1.0, [10.0] * 3, least_size=13).groups) == 0
    assert len(quadrat.cluster_catalog(np.zeros((0, 3)), 1.0, [10.0] * 3).groups) == 0
    assert "\n" not in repr(found)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"velocities": np.zeros((3, 3))}, "3 velocities"),
        ({"potentials": np.zeros(3)}, "potentials"),
        ({"potentials": np.zeros(25), "densities": np.zeros(25)}, "potentials and densities"),
        ({"least_size": -1}, "least_size"),
        ({"by_size": "no"}, "by_size"),
    ],
)
def test_what_is_refused(options, words):
    with pytest.raises((ValueError, TypeError), match=words):
        quadrat.cluster_catalog(blobs(3, np.float64)[0], 1.0, [10.0] * 3, **options)
