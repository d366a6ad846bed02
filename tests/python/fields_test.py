# SPDX-License-Identifier: BSD-3-Clause
"""Meshes, Fourier transforms, Ewald sums and keyed reductions through Python."""

import numpy as np
import pytest
import quadrat
import scipy.interpolate
from hypothesis import given, settings
from hypothesis import strategies as st


def spline(order, x):
    """The cardinal B-spline of an order, centered."""
    knots = np.arange(order + 1) - order / 2
    return np.nan_to_num(scipy.interpolate.BSpline.basis_element(knots, extrapolate=False)(x))


@settings(max_examples=30, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    dimension=st.sampled_from((1, 2, 3)),
    order=st.integers(1, 8),
    kind=st.sampled_from((np.float64, np.complex128, np.float32)),
    vectors=st.sampled_from((None, 1, 3)),
)
def test_spreading_sums_the_splines_and_interpolation_is_its_adjoint(seed, dimension, order, kind, vectors):
    random = np.random.default_rng(seed)
    mesh, lengths = random.integers(1, 12, dimension), random.uniform(1, 3, dimension)
    dtype = np.float32 if kind == np.float32 else np.float64
    points = random.uniform(0, 1, (20, dimension)).astype(dtype) * lengths.astype(dtype)
    shape = (20,) if vectors is None else (vectors, 20)
    values = random.normal(size=shape).astype(kind)
    if kind == np.complex128:
        values += 1j * random.normal(size=shape)
    weights = np.ones((20, 1))
    for axis in range(dimension):
        u = points[:, axis].astype(float) / lengths[axis] * mesh[axis]
        images = (np.arange(-10, 11) * mesh[axis])[:, None, None]
        own = spline(order, u[None, :, None] + images - np.arange(mesh[axis])).sum(axis=0)
        weights = (weights[:, :, None] * own[:, None, :]).reshape(20, -1)
    plan = quadrat.SpreadPlan(lengths, mesh, order, dtype=dtype).set_points(points)
    found = plan.spread(values)
    assert found.dtype == values.dtype and found.shape == shape[:-1] + tuple(mesh)
    tolerance = 2e-4 if dtype == np.float32 else 1e-10
    if order > 1:  # a spline of order 1 jumps, where rounding decides
        np.testing.assert_allclose(found.reshape(*shape[:-1], -1), values @ weights, atol=tolerance)
    field = random.normal(size=shape[:-1] + tuple(mesh)).astype(kind)
    back = plan.interpolate(field)
    np.testing.assert_allclose(np.sum(back * values), np.sum(field * found), rtol=10 * tolerance, atol=10 * tolerance)
    assert plan.gradient(field).shape == shape + (dimension,)


def test_functions_for_meshes_are_the_plan_in_one_call():
    random = np.random.default_rng(1)
    points, values = random.uniform(0, 2, (50, 3)), random.normal(size=50)
    plan = quadrat.SpreadPlan([2, 2, 2], 8, 6).set_points(points)
    mesh = quadrat.spread(points, values, [2, 2, 2], 8, 6)
    np.testing.assert_array_equal(mesh.shape, (8, 8, 8))
    np.testing.assert_allclose(mesh, plan.spread(values), atol=1e-14)
    np.testing.assert_allclose(quadrat.interpolate(points, mesh, [2, 2, 2], 6), plan.interpolate(mesh), atol=1e-14)


@pytest.mark.parametrize("order", [2, 4, 5])
def test_both_ends_of_open_axes_have_mesh_points(order):
    random = np.random.default_rng(5)
    lengths, origin, mesh = np.array([2.0, 3.0]), np.array([-1.0, 0.5]), (5, 6)
    points, values = origin + random.uniform(0, 1, (30, 2)) * lengths, random.normal(size=30)
    points[:2] = origin + lengths * [1, 0.3], origin  # on the upper face of the open axis, and on both lower ones
    first = spline(order, (points[:, :1] - origin[0]) / lengths[0] * 4 - np.arange(5))
    second = (points[:, 1:] - origin[1]) / lengths[1] * 6 - np.arange(6)
    second = sum(spline(order, second + 6 * image) for image in range(-3, 4))
    options = {"periodic": (False, True), "origin": origin, "clip": True, "ends": "both"}
    found = quadrat.spread(points, values, lengths, mesh, order, **options)
    np.testing.assert_allclose(found, np.einsum("i,ia,ib->ab", values, first, second), atol=1e-12)
    field = random.normal(size=mesh)
    back = quadrat.interpolate(points, field, lengths, order, **options)
    np.testing.assert_allclose(back, np.einsum("ab,ia,ib->i", field, first, second), atol=1e-12)
    plan = quadrat.SpreadPlan(lengths, mesh, 2, **(options | {"clip": False})).set_points(points)
    linear = np.arange(5)[:, None] * lengths[0] / 4 + np.zeros(mesh)
    np.testing.assert_allclose(plan.interpolate(linear), points[:, 0] - origin[0], atol=1e-12)
    np.testing.assert_allclose(plan.gradient(linear)[2:], np.tile([1.0, 0.0], (28, 1)), atol=1e-12)


def test_ends_are_one_of_two_words():
    points = np.array([[0.5]])
    for wrong, error in ((True, TypeError), ("upper", ValueError), (None, TypeError)):
        with pytest.raises(error, match="ends is .*; .*lower, both"):
            quadrat.spread(points, np.ones(1), [1.0], 4, 2, periodic=False, ends=wrong)
    with pytest.raises(ValueError, match="at least 2 are needed"):
        quadrat.spread(points, np.ones(1), [1.0], 1, 2, periodic=False, ends="both")


def plain_modes(points, values, shape, sign):
    phase = np.zeros((len(points), *shape))
    for axis, extent in enumerate(shape):
        k = np.arange(extent) - extent // 2
        phase += (points[:, axis, None] * k).reshape(len(points), *(extent if a == axis else 1 for a in range(len(shape))))
    return np.tensordot(values, np.exp(1j * sign * phase), axes=1)


@settings(max_examples=25, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    dimension=st.sampled_from((1, 2, 3)),
    tolerance=st.sampled_from((1e-3, 1e-6, 1e-10)),
)
def test_transforms_are_within_the_tolerance(seed, dimension, tolerance):
    random = np.random.default_rng(seed)
    shape = tuple(random.integers(1, 14, dimension))
    points = random.uniform(-np.pi, np.pi, (60, dimension))
    values = random.normal(size=60) + 1j * random.normal(size=60)
    modes = quadrat.nufft1(points, values, shape, tolerance)
    wanted = plain_modes(points, values, shape, 1)
    assert np.abs(modes - wanted).max() <= tolerance * np.abs(values).sum()
    back = quadrat.nufft2(points, wanted, tolerance)
    exact = np.array([np.sum(wanted * plain_modes(point[None], np.ones(1), shape, -1)) for point in points])
    assert np.abs(back - exact).max() <= tolerance * np.abs(wanted).sum()
    targets = random.uniform(-5, 5, (30, dimension))
    third = quadrat.nufft3(points, values, targets, tolerance)
    assert np.abs(third - np.exp(1j * targets @ points.T) @ values).max() <= tolerance * np.abs(values).sum()


def test_real_values_have_half_of_the_modes():
    random = np.random.default_rng(2)
    points, values = random.uniform(0, 2 * np.pi, (40, 2)), random.normal(size=40)
    plan = quadrat.Nufft((8, 6), 1e-9, real=True, mode_order="fft").set_points(points)
    modes = plan.type1(values)
    assert plan.shape == modes.shape == (8, 4) and plan.error_bound <= 1e-9
    wanted = np.fft.ifftshift(plain_modes(points, values, (8, 6), 1))[:, :3]
    np.testing.assert_allclose(modes[:, :3], wanted, atol=1e-7)
    assert plan.type2(modes).dtype == np.float64
    with pytest.raises(TypeError, match="complex"):
        plan.type1(values * 1j)


def test_rock_salt_has_the_energy_of_madelung():
    ions = np.array([[x, y, z] for x in (0, 1) for y in (0, 1) for z in (0, 1)], dtype=float)
    charges = 1 - 2.0 * (ions.sum(axis=1) % 2)
    sums = quadrat.Ewald(1e-10)
    found = sums.compute(ions, charges, [2, 2, 2], potentials=True, virial=True)
    assert found.energy / 4 == pytest.approx(-1.747564594633182, rel=1e-8)
    np.testing.assert_allclose(found.forces, 0, atol=1e-8)
    np.testing.assert_allclose(found.potentials @ charges / 2, found.energy, rtol=1e-8)
    # The energy is proportional to 1 / length: the trace of the virial is the energy.
    assert np.trace(found.virial) == pytest.approx(found.energy, rel=1e-6)
    assert sums.report["method"] in ("spme", "esp", "direct")
    both = sums.compute(np.concatenate([ions, ions * 2]), np.tile(charges, 2), [[2, 2, 2], [4, 4, 4]],
                        systems=np.repeat([0, 1], 8))  # fmt: skip
    np.testing.assert_allclose(both.energy, [found.energy, found.energy / 2], rtol=1e-8)
    three = np.concatenate([ions, ions, ions]), np.tile(charges, 3)
    with pytest.raises(ValueError, match=r"\(3, 3\).*vectors for every system or lengths for each"):
        sums.compute(*three, 2 * np.ones((3, 3)), systems=np.repeat([0, 1, 2], 8))
    same = sums.compute(*three, 2 * np.eye(3)[None], systems=np.repeat([0, 1, 2], 8))
    np.testing.assert_allclose(same.energy, 3 * [found.energy], rtol=1e-8)


@pytest.mark.parametrize("shear", [1, 10, 50, 300])
def test_sums_in_a_sheared_cell_are_those_of_the_same_lattice(shear):
    random = np.random.default_rng(4)
    points, charges = random.uniform(0, 4, (6, 3)), np.tile([1.0, -1.0], 3)
    upright = np.diag([4.0, 4.5, 5.0])
    cell = upright.copy()
    cell[1] += shear * upright[0]
    sums = quadrat.Ewald(1e-6)
    wanted = sums.compute(points, charges, upright, virial=True)
    mesh = sums.report["mesh"]
    found = sums.compute(points, charges, cell, virial=True)
    assert sums.report["mesh"] == mesh
    assert found.energy == pytest.approx(wanted.energy, rel=1e-9)
    np.testing.assert_allclose(found.forces, wanted.forces, atol=1e-9)
    np.testing.assert_allclose(found.virial, wanted.virial, atol=1e-9)


def test_the_report_bounds_the_errors_of_energy_and_virial():
    random = np.random.default_rng(5)
    points = (np.indices((6, 6, 6)).reshape(3, -1).T + 0.3 * random.uniform(size=(216, 3))).astype(float)
    charges = 1 - 2.0 * (np.indices((6, 6, 6)).sum(axis=0).ravel() % 2)
    sums = quadrat.Ewald(1e-4)
    found = sums.compute(points, charges, [6, 6, 6], virial=True)
    exact = quadrat.electrostatics(points, charges, [6, 6, 6], 1e-12, virial=True)
    assert 0 < abs(found.energy - exact.energy) / 216 <= sums.report["energy_error"] < 1e-3
    assert 0 < abs(np.trace(found.virial - exact.virial)) / 216 <= sums.report["virial_error"] < 1e-2


def test_a_zero_is_a_zero_and_not_what_is_chosen():
    points, charges = np.array([[0, 0, 0], [0.5, 0, 0]]), np.array([1.0, -1])
    found = quadrat.Ewald(coulomb_constant=0.0).compute(points, charges, [4, 4, 4])
    assert found.energy == 0 and not found.forces.any()
    with pytest.raises(ValueError, match="the accuracy is 0;"):
        quadrat.electrostatics(points, charges, [4, 4, 4], 0.0)
    with pytest.raises(ValueError, match="cutoff"):
        quadrat.knn(points, 1, cutoff=0.0)
    with pytest.raises(ValueError, match="components"):
        quadrat.reduce_by_key([0, 1], np.empty((2, 0)))


def test_forces_are_slopes_of_the_energy_and_excluded_pairs_do_not_interact():
    random = np.random.default_rng(3)
    points, charges = random.uniform(0, 4, (12, 3)), random.normal(size=12)
    charges -= charges.mean()
    cell = np.diag([4.0, 4, 4]) + np.triu(random.uniform(-0.5, 0.5, (3, 3)), 1)
    pairs = [[0, 1], [4, 7]]

    def energy(at):
        return quadrat.electrostatics(at, charges, cell, 1e-10, scaled_pairs=pairs).energy

    forces = quadrat.electrostatics(points, charges, cell, 1e-10, scaled_pairs=pairs).forces
    for i, axis in ((0, 0), (7, 2)):
        step = np.zeros_like(points)
        step[i, axis] = 1e-4
        assert forces[i, axis] == pytest.approx(-(energy(points + step) - energy(points - step)) / 2e-4, rel=1e-4)


@pytest.mark.parametrize("name", ["int8", "int16", "uint8", "uint16", "uint32", "uint64", "float16", "bool"])
def test_values_of_all_widths_are_reduced(name):
    random = np.random.default_rng(4)
    keys, values = random.integers(0, 5, 300), random.integers(0, 2 if name == "bool" else 100, 300).astype(name)
    wide = values.astype(np.float32 if name == "float16" else np.int64)
    for operation in ("sum", "min", "max", "mean"):
        found, wanted = (quadrat.reduce_by_key(keys, given, operation) for given in (values, wide))
        assert found.dtype == wanted.dtype
        np.testing.assert_array_equal(found, wanted)
    np.testing.assert_array_equal(quadrat.reduce_by_key(keys, wide), np.bincount(keys, wide))
    with pytest.raises(ValueError, match="values are as large as 2"):
        quadrat.reduce_by_key([0], np.array([2**63], np.uint64))


def test_negative_keys_are_left_out_on_request():
    keys, values = np.array([1, -1, 0, -1, 1, 2]), np.arange(6.0)
    assert quadrat.reduce_by_key(keys, values, ignore_negative=True).tolist() == [2.0, 4.0, 5.0]
    assert quadrat.reduce_by_key(keys.tolist(), values[:, None], key_count=4, ignore_negative=True).shape == (4, 1)
    assert quadrat.count_keys(keys, ignore_negative=True).tolist() == [1, 2, 1]
    with pytest.raises(ValueError, match="-1"):
        quadrat.count_keys(keys, key_count=3)
    with pytest.raises(ValueError, match=r"values have the shape \(2,\).*3 keys"):
        quadrat.reduce_by_key([0, -1, 1], [1.0, 2.0], ignore_negative=True)


@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    operation=st.sampled_from(("sum", "min", "max", "mean")),
    value=st.sampled_from((np.int32, np.int64, np.float32, np.float64)),
    key=st.sampled_from((np.int16, np.int32, np.uint32, np.int64, np.uint64)),
    components=st.sampled_from((None, 1, 3, 8)),
)
def test_reductions_are_those_of_numpy(seed, operation, value, key, components):
    random = np.random.default_rng(seed)
    keys = random.integers(0, 9, 200).astype(key)
    values = random.integers(-50, 50, (200, *(() if components is None else (components,)))).astype(value)
    found = quadrat.reduce_by_key(keys, values, operation, key_count=9)
    function = {"sum": np.sum, "min": np.min, "max": np.max, "mean": np.mean}[operation]
    for k in range(9):
        if (keys == k).any():
            np.testing.assert_allclose(found[k], function(values[keys == k], axis=0), rtol=1e-6)
    np.testing.assert_array_equal(quadrat.count_keys(keys, key_count=9), np.bincount(keys.astype(int), minlength=9))


@pytest.mark.parametrize(
    "call, error, words",
    [
        (lambda: quadrat.reduce_by_key([0, 5], [1.0, 2.0], key_count=3), ValueError, "5"),
        (lambda: quadrat.reduce_by_key([0, -1], [1.0, 2.0], key_count=3), ValueError, "-1"),
        (lambda: quadrat.reduce_by_key(np.array([2**63], np.uint64), [1.0]), ValueError, "9223372036854775807 or more"),
        (lambda: quadrat.reduce_by_key([0, 1], [1.0]), ValueError, r"\(1,\).*2 keys"),
        (lambda: quadrat.reduce_by_key([0.5, 1], [1.0, 2.0]), TypeError, "float64.*integers"),
        (lambda: quadrat.reduce_by_key([0], [1.0], "product"), ValueError, "product"),
        (lambda: quadrat.reduce_by_key([0], np.ones((1, 9))), ValueError, "9"),
        (lambda: quadrat.SpreadPlan([1, 1, 1], 8, 9), ValueError, "9"),
        (lambda: quadrat.SpreadPlan([1, 1, 1], (8, 8)), ValueError, "mesh"),
        (lambda: quadrat.SpreadPlan([1, 1, 1], 0), ValueError, "mesh is 0"),
        (lambda: quadrat.SpreadPlan([1.0], 8).spread([]), ValueError, "no points"),
        (lambda: quadrat.spread([[0.5]], [1.0, 2.0], [1.0], 8), ValueError, r"\(2,\)"),
        (lambda: quadrat.spread([[np.nan]], [1.0], [1.0], 8), ValueError, "point 0"),
        (lambda: quadrat.Nufft(8, 1e-20), ValueError, "tolerance"),
        (lambda: quadrat.Nufft(8, mode_order="sorted"), ValueError, "sorted"),
        (lambda: quadrat.nufft1([[0.1]], [1.0], 0), ValueError, "modes is 0"),
        (lambda: quadrat.electrostatics([[0.0, 0, 0]], [1.0, 2.0], [1, 1, 1]), ValueError, "charges"),
        (lambda: quadrat.electrostatics([[0.0, 0, 0]], [np.nan], [1, 1, 1]), ValueError, "charge of point 0 is"),
        (lambda: quadrat.Ewald(1e-5, law="gravity"), ValueError, "gravity"),
        (lambda: quadrat.electrostatics([[0.0, 0, 0]], [1.0], [1, 1, 1], scaled_pairs=[[0, 1]]), ValueError, "there are 1"),
        (lambda: quadrat.electrostatics([[0.0, 0, 0]], [1.0], [1, 1, 1], scaled_pairs=[1, 2, 3]), ValueError, r"\(P, 2\)"),
    ],
)
def test_bad_arguments_are_named(call, error, words):
    with pytest.raises(error, match=words):
        call()


def test_nothing_is_reduced_to_nothing():
    assert quadrat.reduce_by_key([], []).shape == (0,)
    assert quadrat.reduce_by_key([], np.zeros((0, 2)), key_count=3).tolist() == [[0, 0]] * 3
    assert quadrat.count_keys([], key_count=2).tolist() == [0, 0]


def test_canonical_spreading_is_by_methods_of_that_level_and_the_same_with_any_threads():
    random = np.random.default_rng(5)
    points, values = random.uniform(0, 1, (4000, 3)), random.normal(size=4000)
    with pytest.raises(ValueError, match="tiles.*canonical"):
        quadrat.SpreadPlan([1, 1, 1], 16, method="tiles", deterministic="canonical")
    found = set()
    for threads in (1, 2):
        plan = quadrat.SpreadPlan([1, 1, 1], 16, deterministic="canonical", threads=threads).set_points(points)
        found |= {(plan.method, plan.spread(values).tobytes())}
    assert len(found) == 1
    np.testing.assert_allclose(plan.spread(values), quadrat.spread(points, values, [1, 1, 1], 16), atol=1e-12)


def test_a_plan_that_times_its_methods_has_the_same_mesh():
    random = np.random.default_rng(5)
    points, values = random.uniform(0, 1, (4000, 3)), random.normal(size=4000)
    plan, used, wanted = quadrat.SpreadPlan([1, 1, 1], 16, autotune=True), set(), quadrat.spread(points, values, [1, 1, 1], 16)
    for _ in range(20):
        np.testing.assert_allclose(plan.set_points(points).spread(values), wanted, atol=1e-12)
        used.add(plan.method)
    assert len(used) > 1 and used <= set(quadrat.methods("spread", device="cpu"))
    with pytest.raises(ValueError, match="autotune"):
        quadrat.SpreadPlan([1, 1, 1], 16, autotune=True, deterministic="canonical")


def test_canonical_reductions_do_not_depend_on_the_order_of_elements():
    random = np.random.default_rng(5)
    keys, values, order = random.integers(0, 9, 5000), random.normal(size=5000), random.permutation(5000)
    one = quadrat.reduce_by_key(keys, values, key_count=9, deterministic="canonical")
    two = quadrat.reduce_by_key(keys[order], values[order], key_count=9, deterministic="canonical")
    assert one.tobytes() == two.tobytes()


def test_what_is_chosen_is_none_and_no_number():
    points = np.zeros((2, 3))
    for name, call in {
        "oversampling": lambda: quadrat.Nufft(8, oversampling=0),
        "bin_size": lambda: quadrat.contacts(points, 1.0, bin_size=0),
        "threads": lambda: quadrat.Ewald(threads=0),
        "sign": lambda: quadrat.nufft3(points, [1, 1], points, sign=0),
    }.items():
        with pytest.raises(ValueError, match=f"^{name} is 0; .* accepted"):
            call()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_normal_operator_is_type_2_then_weights_then_type_1(dtype):
    random = np.random.default_rng(6)
    points = random.uniform(-4, 4, (300, 2)).astype(dtype)
    options = dict(mode_order="fft", period=[3, 7], dtype=dtype)
    plan = quadrat.Nufft((10, 7), 1e-5, **options).set_points(points)
    weights = plan.density_weights()
    assert weights.dtype == dtype and weights.shape == (300,) and 0.3 < weights.sum() < 3
    normal = quadrat.NormalOperator((10, 7), 1e-5, **options).set_points(points, weights)
    modes = (random.normal(size=(2, 10, 7)) + 1j * random.normal(size=(2, 10, 7))).astype(weights.dtype.char.upper())
    for sign in (-1, 1):
        wanted = plan.type1(weights * plan.type2(modes, sign=sign), sign=-sign)
        found = normal.apply(modes, sign=sign)
        assert found.dtype == modes.dtype
        np.testing.assert_allclose(found, wanted, atol=1e-4 * np.abs(wanted).max())
        assert np.array_equal(normal.apply(modes[0], sign=sign), found[0])
    normal.set_points(points)
    np.testing.assert_allclose(normal.apply(modes), plan.type1(plan.type2(modes)), atol=1e-2)
    assert 0 < normal.error_bound <= 1e-5
    assert normal.shape == (10, 7)


@pytest.mark.parametrize(
    "call, words",
    [
        (lambda p: quadrat.NormalOperator(8).apply(np.ones(8)), "there are no points yet"),
        (lambda p: quadrat.NormalOperator((8, 8)).set_points(p, [1.0, 2]), "weights have the shape .2,."),
        (lambda p: quadrat.NormalOperator((8, 8)).set_points(p).apply(np.ones((8, 7))), "modes have the shape"),
        (lambda p: quadrat.NormalOperator(8, 1e-20), "tolerance"),
        (lambda p: quadrat.Nufft((8, 8)).density_weights(), "there are no points yet"),
        (lambda p: quadrat.Nufft((8, 8)).set_points(p).density_weights(tolerance=-1), "tolerance"),
    ],
)
def test_bad_arguments_of_weights_and_the_normal_operator_are_named(call, words):
    with pytest.raises(ValueError, match=words):
        call(np.array([[1.0, 2], [3, 4], [5, 6]]))
