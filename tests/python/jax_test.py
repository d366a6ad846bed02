# SPDX-License-Identifier: BSD-3-Clause
"""Functions for JAX: under jit and vmap, and their derivatives of first and second order.

QUADRAT_TEST_JAX=cuda runs them on a GPU.
"""

import math
import os

os.environ.setdefault("XLA_FLAGS", "--xla_backend_optimization_level=0")  # most of the time is that of XLA's compiler

import numpy as np  # noqa: E402
import pytest  # noqa: E402

jax = pytest.importorskip("jax")
jax.config.update("jax_enable_x64", True)
jax.config.update("jax_platforms", os.environ.get("QUADRAT_TEST_JAX", "cpu"))

import jax.numpy as jnp  # noqa: E402
import quadrat  # noqa: E402
from quadrat._jax import ewald_second as _jax_ewald_second  # noqa: E402
from jax.test_util import check_grads  # noqa: E402

qj = pytest.importorskip("quadrat.jax", exc_type=ImportError)
quadrat._jax.operators.THREADS = 1  # sizes are small


def random(*shape, seed=1):
    return jnp.asarray(np.random.default_rng(seed).uniform(size=shape))


def triclinic(length=3.0):
    return length * jnp.eye(3) + 0.3 * random(3, 3, seed=2)


def check(function, *arguments, order=2, tolerance=1e-4):
    check_grads(jax.jit(function), arguments, order=order, modes=["rev"], atol=tolerance, rtol=tolerance, eps=1e-5)


def test_lists_have_the_pairs_of_numpy_and_derivatives():
    points, box = 3 * random(9, 3), triclinic()
    found = jax.jit(lambda p, b: qj.neighbor_list(p, 1.4, capacity=200, box=b, sorted=True))(points, box)
    i, j, shifts, distances, vectors = quadrat.neighbor_list(np.asarray(points), 1.4, box=np.asarray(box), sorted=True)
    count = int(found.count)
    assert count == len(i) and (found.i[count:] == 9).all() and (found.distances[count:] == 1.4).all()
    for own, wanted in zip(found[:5], (i, j, shifts, distances, vectors)):
        np.testing.assert_allclose(own[:count], wanted, atol=1e-13)
    check(lambda p, b: qj.neighbor_list(p, 1.4, capacity=200, box=b, sorted=True)[3:5], points, box)
    flat = qj.neighbor_list(random(9, 2), 0.5, capacity=80)
    assert int(flat.count) == len(quadrat.neighbor_list(np.asarray(random(9, 2)), 0.5, outputs="j"))


def test_too_many_pairs_are_an_error_that_says_how_many():
    points = random(9, 3)
    wanted = len(quadrat.neighbor_list(np.asarray(points), 0.9, outputs="j"))
    with pytest.raises(Exception, match=f"there are {wanted} pairs; the capacity is 5"):
        jax.block_until_ready(qj.neighbor_list(points, 0.9, capacity=5))


def test_lists_that_are_not_strict_say_how_many_pairs_did_not_fit():
    points, wide = random(9, 3), jax.vmap(lambda p: qj.neighbor_list(p, 0.9, capacity=40, strict=False))
    wanted = [len(quadrat.neighbor_list(np.asarray(p), 0.9, outputs="j")) for p in (points, 4 * points, 0.1 * points)]
    assert wanted[1] <= 40 < min(wanted[0], wanted[2])
    found = jax.jit(wide)(jnp.stack([points, 4 * points, 0.1 * points]))
    assert found.count.tolist() == wanted and found.overflowed.tolist() == [True, False, True]
    assert (found.i[0] == 9).all() and (found.j[0] == 9).all() and not found.shifts[0].any()
    assert jnp.isnan(found.distances[0]).all() and jnp.isnan(found.vectors[2]).all()
    exact = qj.neighbor_list(4 * points, 0.9, capacity=wanted[1], strict=False, sorted=True)
    assert not exact.overflowed and jnp.isfinite(found.distances[1]).all()
    np.testing.assert_array_equal(exact.j, quadrat.neighbor_list(np.asarray(4 * points), 0.9, outputs="j", sorted=True))
    again = qj.neighbor_list(points, 0.9, capacity=int(found.count[0]), strict=False)
    assert not again.overflowed and int(again.count) == wanted[0]


def slopes(distances):
    """Of the energy (1 - d)^2 of each pair below 1."""
    return -2 * (1 - distances)


def moved_in_numpy(points, speeds, box, steps):
    for _ in range(steps):
        i, d, vectors = quadrat.neighbor_list(points, 1.0, box=box, outputs="idD")
        forces = np.zeros_like(points)
        np.add.at(forces, i, (slopes(d) / d)[:, None] * vectors)
        speeds = speeds + 0.01 * forces
        points = points + 0.01 * speeds
    return points


def test_dynamics_run_in_a_loop_that_is_compiled():
    points, speeds, box = 3 * random(40, 3), random(40, 3, seed=2) - 0.5, triclinic()

    def energy(p):
        return jnp.square(1 - qj.neighbor_list(p, 1.0, box=box, capacity=400, half=True, strict=False).distances).sum()

    def step(state, _):
        p, v, most = state
        count = qj.neighbor_list(p, 1.0, box=box, capacity=400, half=True, strict=False).count
        v = v - 0.01 * jax.grad(energy)(p)
        return (p + 0.01 * v, v, jnp.maximum(most, count)), None

    run = jax.jit(lambda p, v: jax.lax.scan(step, (p, v, jnp.int32(0)), length=20)[0])
    found, _, most = run(points, speeds)
    assert 0 < int(most) <= 400
    np.testing.assert_allclose(found, moved_in_numpy(np.asarray(points), np.asarray(speeds), np.asarray(box), 20), atol=1e-12)


@pytest.mark.parametrize("order, periodic", [(4, (True, True, True)), (5, (True, False))])
def test_meshes_have_derivatives_by_points_values_and_box(order, periodic):
    dimension = len(periodic)
    values, box, shape = random(2, 3, seed=3), triclinic()[:dimension, :dimension], (4, 9, 3)[:dimension]
    points = (0.45 + 0.1 * random(3, dimension, seed=4)) @ box
    check(lambda p, v, b: qj.spread(p, v, b, shape, order, periodic=periodic), points, values, box)
    mesh = random(2, *shape, seed=5) * (1 + 0.5j)
    check(lambda p, m, b: qj.interpolate(p, m, b, order, periodic=periodic), points, mesh, box)


def test_meshes_have_the_values_of_numpy():
    points, values, box = 3 * random(40, 3), random(2, 40, seed=3), [3.0, 4.0, 5.0]
    mesh = qj.spread(points, values, box, (4, 5, 6), 6, origin=[1, 2, 3])
    wanted = quadrat.spread(np.asarray(points), np.asarray(values), box, (4, 5, 6), 6, origin=[1, 2, 3])
    np.testing.assert_allclose(mesh, wanted, atol=1e-13)
    single = qj.spread(points.astype(jnp.float32), values[0], box, 4)
    assert single.dtype == jnp.float32 and single.shape == (4, 4, 4)


def test_transforms_have_derivatives_by_all_they_take():
    points, values, period = random(5, 2), random(5, seed=2) * (1 - 2j), 2 + random(2, seed=3)
    check(lambda p, v, t: qj.nufft1(p, v, (4, 3), 1e-12, period=t, mode_order="fft"), points, values, period)
    check(lambda p, m, t: qj.nufft2(p, m, 1e-12, period=t), points, random(4, 3, seed=4) * (1 + 1j), period)
    line, targets = random(4, 1), 3 * random(3, 1, seed=3)
    check(lambda p, v, t: qj.nufft3(p, v, t, 1e-10), line, values[:4], targets, tolerance=1e-3)


def test_transforms_have_the_values_of_numpy():
    points, values = np.asarray(random(30, 2)), np.asarray(random(3, 30, seed=2)) * (1 - 2j)
    for order in ("centered", "fft"):
        modes = quadrat.nufft1(points, values, (4, 5), 1e-10, mode_order=order)
        np.testing.assert_allclose(qj.nufft1(points, values, (4, 5), 1e-10, mode_order=order), modes, atol=1e-11)
        back = quadrat.nufft2(points, modes, 1e-10, mode_order=order)
        np.testing.assert_allclose(qj.nufft2(points, modes, 1e-10, mode_order=order), back, atol=1e-11)
    third = quadrat.nufft3(points, values, points[:7] * 3, 1e-8)
    np.testing.assert_allclose(qj.nufft3(points, values, points[:7] * 3, 1e-8), third, atol=1e-11)


@pytest.mark.parametrize("law", ["coulomb", "dispersion"])
def test_energies_of_charges_have_derivatives_by_points_charges_and_cell(law):
    points, charges, cell = 3 * random(6, 3), random(6, seed=3) - 0.3, triclinic()
    found = qj.electrostatics(points, charges, cell, 1e-9, law=law, potentials=True, virial=True)
    wanted = quadrat.electrostatics(
        np.asarray(points), np.asarray(charges), np.asarray(cell), 1e-9, law=law, potentials=True, virial=True
    )
    for own, other in zip(found, wanted):
        np.testing.assert_allclose(own, other, atol=1e-10)
    check(lambda *a: qj.electrostatics(*a, 1e-9, law=law).energy, points, charges, cell, order=1)


@pytest.mark.parametrize("law", ["coulomb", "dispersion"])
def test_forces_of_charges_have_derivatives_where_the_cell_is_known(law):
    points, charges, cell = 3 * random(5, 3), random(5, seed=3) - 0.3, triclinic()

    along = random(5, 3, seed=5)

    @jax.jit
    def loss(p, q):
        forces = jax.grad(lambda at: qj.electrostatics(at, q, cell, 1e-9, law=law).energy)(p)
        found = qj.electrostatics(p, q, cell, 1e-9, law=law, potentials=True, virial=True)
        return jnp.sum(forces * along) + jnp.square(found.potentials).sum() + jnp.square(found.virial).sum()

    check_grads(loss, (points, charges), order=1, modes=["rev"], atol=1e-4, rtol=1e-4, eps=1e-5)


def test_second_derivatives_of_sheared_boxes_are_those_of_the_shortest_vectors():
    points, charges, cell = 3 * random(5, 3), random(5, seed=3) - 0.3, triclinic()
    sheared = jnp.asarray([[1.0, 0, 0], [4, 1, 0], [-20, 3, 1]]) @ cell
    most = [math.prod(_jax_ewald_second.sizes_of(box, 5, 1e-6, False)[0]) for box in (cell, sheared)]
    assert most[1] == most[0]

    def slope(box):
        return jax.jit(jax.grad(lambda p: jnp.square(qj.electrostatics(p, charges, box, 1e-6).forces).sum()))(points)

    np.testing.assert_allclose(slope(sheared), slope(cell), rtol=1e-4, atol=1e-4)


def test_second_derivatives_of_charges_are_refused_where_sizes_are_not_known():
    points, charges, cell = 3 * random(6, 3), random(6, seed=3) - 0.3, triclinic()
    with pytest.raises(NotImplementedError, match="known when the function is traced"):
        jax.jit(jax.grad(lambda p, h: qj.electrostatics(p, charges, h).forces[0, 0]))(points, cell)
    with pytest.raises(NotImplementedError, match="periodic along all three"):
        jax.grad(lambda p: qj.electrostatics(p, charges, cell, periodic=(True, True, False)).forces[0, 0])(points)


def test_functions_are_mapped_over_batches():
    points, values = 3 * random(4, 7, 3), random(4, 7, seed=2)
    cells = 3 + random(4, 3, seed=3)

    def everything(p, q, b):
        mesh = qj.spread(p, q, b, 4)
        modes = qj.nufft1(p, q, 3, 1e-9)
        return (
            qj.electrostatics(p, q, b, 1e-6).energy,
            mesh,
            qj.interpolate(p, mesh, b),
            modes,
            qj.nufft2(p, modes, 1e-9),
            qj.nufft3(p, q, p, 1e-6),
            qj.neighbor_list(p, 1.0, capacity=60, box=b, sorted=True).distances,
        )

    mapped = jax.jit(jax.vmap(everything))(points, values, cells)
    for entry in range(4):
        for own, wanted in zip(mapped, everything(points[entry], values[entry], cells[entry])):
            np.testing.assert_allclose(own[entry], wanted, atol=1e-7)
    shared = jax.vmap(lambda q: qj.spread(points[0], q, cells[0], 4))(values)
    np.testing.assert_allclose(shared, qj.spread(points[0], values, cells[0], 4), atol=1e-12)
    energy = jax.vmap(jax.grad(lambda p, q: qj.electrostatics(p, q, cells[0], 1e-6).energy))
    forces = qj.electrostatics(points[1], values[1], cells[0], 1e-6).forces
    np.testing.assert_allclose(energy(points, values)[1], -forces, atol=1e-7)
    slopes = jax.vmap(jax.grad(lambda p, q: qj.interpolate(p, qj.spread(p, q, cells[0], 4), cells[0]).sum()))(points, values)
    assert slopes.shape == points.shape and bool(jnp.isfinite(slopes).all())


def test_no_points_have_no_values():
    none, nothing = jnp.zeros((0, 3)), jnp.zeros(0)
    assert int(qj.neighbor_list(none, 1.0, capacity=4).count) == 0
    assert not qj.spread(none, nothing, [1.0, 1, 1], 4).any()


@pytest.mark.parametrize(
    "call, error, words",
    [
        (lambda p, q: qj.neighbor_list(p.astype(int), 1.0, capacity=9), TypeError, "int64"),
        (lambda p, q: qj.neighbor_list(p, 1.0, capacity=-1), ValueError, "capacity is -1"),
        (lambda p, q: qj.neighbor_list(p, 1.0, capacity=9, periodic=True), ValueError, "need a box"),
        (lambda p, q: qj.spread(p, q[:3], [1, 1, 1], 4), ValueError, r"\(3,\)"),
        (lambda p, q: qj.spread(p, q, [1, 1], 4), ValueError, r"\(2,\)"),
        (lambda p, q: qj.interpolate(p, q, [1, 1, 1]), ValueError, "mesh_values"),
        (lambda p, q: qj.nufft1(p, q, 4, sign=2), ValueError, "sign is 2"),
        (lambda p, q: qj.nufft1(p, q, 4, mode_order="sorted"), ValueError, "sorted"),
        (lambda p, q: qj.nufft3(p, q, p[:, :2]), ValueError, "targets"),
        (lambda p, q: qj.electrostatics(p, q[:2], [1, 1, 1]), ValueError, "charges"),
        (lambda p, q: qj.electrostatics(p, q, [1, 1, 1], law="gravity"), ValueError, "gravity"),
        (lambda p, q: qj.electrostatics(p, q * 1j, [1, 1, 1]), TypeError, "charges have the type complex128; real"),
        (lambda p, q: qj.neighbor_list(p, 1.0, capacity=9, half="no"), TypeError, "half is 'no'; True or False"),
        (lambda p, q: qj.neighbor_list(p, 1.0, capacity=9, strict=2), TypeError, "strict is 2; True or False"),
        (lambda p, q: qj.neighbor_list(p, 1.0, capacity=9, box=[1, 1, 1], periodic=[1, 2, 1]), TypeError, "periodic is 2; True or False"),
        (lambda p, q: qj.spread(p, q, [1, 1, 1], 0), ValueError, "mesh is 0; a whole number from 1"),
        (lambda p, q: qj.spread(p, q, [1, 1, 1], 4, 2.5), ValueError, "order is 2.5"),
        (lambda p, q: qj.spread(p, q, [1, -1, 1], 4), ValueError, "box is .*-1.*; positive"),
        (lambda p, q: qj.spread(p, q, [1, jnp.inf, 1], 4), ValueError, "box is .*inf.*; finite"),
        (lambda p, q: jax.jit(lambda x: qj.spread(x, q, [1, -1, 1], 4))(p), ValueError, "box is .*-1.*; positive"),
        (lambda p, q: qj.spread(p, q, [1, 1, 1], 4, origin=jnp.zeros((5, 3))), ValueError, r"origin has the shape \(5, 3\)"),
        (lambda p, q: qj.nufft1(p, q, 4, period=-1.0), ValueError, "period is -1.0; positive"),
        (lambda p, q: qj.nufft1(p, q, 4, "x" * 1000), TypeError, r"^tolerance is 'x{20,60}\.\.\.x+'; a number is accepted$"),
        (lambda p, q: jax.block_until_ready(qj.neighbor_list(p * jnp.nan, 1.0, capacity=9)), Exception, "point 0"),
        (lambda p, q: jax.block_until_ready(qj.spread(p, q, [1, 1, 1], 4, 9)), Exception, "9"),
        (lambda p, q: jax.block_until_ready(qj.nufft1(p, q, 4, 1e-30)), Exception, "tolerance"),
        (lambda p, q: jax.block_until_ready(qj.electrostatics(p, q, [1, 1, 1], method="quick")), Exception, "quick"),
    ],
)
def test_bad_arguments_are_named(call, error, words):
    with pytest.raises(error, match=words):
        call(random(5, 3), random(5, seed=2))
