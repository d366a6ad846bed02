# SPDX-License-Identifier: BSD-3-Clause
"""The mobility of spheres through Python."""

import numpy as np
import pytest
import quadrat

BOX = [12.0, 12.0, 12.0]


def mobility_matrix(mobility, count, dtype):
    """The columns are velocities of unit forces."""
    columns = [mobility.multiply(force.reshape(count, 3)).ravel() for force in np.eye(3 * count, dtype=dtype)]
    return np.stack(columns, axis=1)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_sphere_alone_moves_as_hasimoto_found(dtype):
    radius, viscosity, force = 0.7, 2.0, np.array([[1.0, -2, 0.5]], dtype=dtype)
    mobility = quadrat.Mobility(1e-4, radius=radius, viscosity=viscosity)
    found = mobility.set_points(np.array([[3.0, 4, 50]], dtype=dtype), BOX).multiply(force)
    ratio = radius / BOX[0]
    free = 1 / (6 * np.pi * viscosity * radius)
    wanted = free * (1 - 2.837297 * ratio + 4 * np.pi / 3 * ratio**3) * force
    assert found.dtype == dtype
    np.testing.assert_allclose(found, wanted, rtol=2e-3)
    assert mobility.method in ("split", "krylov", "direct")


def test_brownian_velocities_have_the_mobility_as_covariance_and_equal_bits_for_equal_numbers():
    points = np.array([[3.0, 4, 5], [4.5, 4, 5]])
    mobility = quadrat.Mobility(1e-3).set_points(points, BOX)
    matrix = mobility_matrix(mobility, 2, float)
    np.testing.assert_allclose(matrix, matrix.T, atol=1e-3 * matrix.max())
    assert np.linalg.eigvalsh((matrix + matrix.T) / 2).min() > 0
    drawn = np.stack([mobility.velocities(seed=5, step=k, scale=3.0).ravel() for k in range(1500)])
    np.testing.assert_allclose(drawn.T @ drawn / len(drawn) / 9, matrix, atol=0.1 * matrix.max())
    assert np.array_equal(drawn[7], mobility.velocities(seed=5, step=7, scale=3.0).ravel())
    assert not np.array_equal(drawn[7], mobility.velocities(seed=6, step=7, scale=3.0).ravel())
    forces = np.array([[1.0, 0, 2], [0, -1, 0]])
    both = mobility.velocities(forces, seed=5, step=7, scale=3.0)
    np.testing.assert_allclose(both, mobility.multiply(forces) + drawn[7].reshape(2, 3), atol=1e-2 * np.abs(both).max())


def test_points_boxes_and_precisions_may_change():
    mobility = quadrat.Mobility(1e-3)
    random = np.random.default_rng(1)
    for count, box, dtype in [(5, BOX, float), (9, BOX, float), (9, [12, 14, 16], float), (9, BOX, np.float32)]:
        points = random.uniform(0, 12, (count, 3)).astype(dtype)
        forces = random.normal(size=(count, 3)).astype(dtype)
        found = mobility.set_points(points, box).multiply(forces)
        wanted = quadrat.Mobility(1e-3).set_points(points, box).multiply(forces)
        assert found.tolist() == wanted.tolist()


@pytest.mark.parametrize(
    "call, words",
    [
        (lambda m, p: m.multiply(p), "there are no points yet"),
        (lambda m, p: m.set_points(p, [4, 4]), "box has the shape"),
        (lambda m, p: m.set_points(p, [[4, 0, 0], [1, 4, 0], [0, 0, 4]]), "the box is tilted"),
        (lambda m, p: m.set_points(p[:, :2], BOX), "points have the shape"),
        (lambda m, p: m.set_points(p, BOX).multiply(p[:1]), "forces have the shape .1, 3.; .2, 3. is needed"),
        (lambda m, p: m.set_points(p * np.nan, BOX), "point 0"),
        (lambda m, p: m.velocities(seed=-1), "seed is -1"),
        (lambda m, p: quadrat.Mobility(radius=-1).set_points(p, BOX), "radius"),
        (lambda m, p: quadrat.Mobility(method="fast").set_points(p, BOX), "fast"),
    ],
)
def test_bad_arguments_are_named(call, words):
    with pytest.raises(ValueError, match=words):
        call(quadrat.Mobility(1e-2), np.array([[1.0, 2, 3], [4, 5, 6]]))
