# SPDX-License-Identifier: BSD-3-Clause
"""Power spectra through Python, against NumPy's own transform, and what is refused."""

import itertools

import numpy as np
import pytest
import quadrat

LENGTHS = np.array([1.0, 1.5, 2.0])
MESH = (8, 12, 10)
EDGES = [1.0, 5.0, 9.0, 20.0]


def spread(points, weights, mesh, lengths, shift):
    """By cloud in cell, point by point; the mesh begins `shift` cells lower."""
    values = np.zeros(mesh)
    for point, weight in zip(points, weights):
        u = point / lengths * mesh + shift
        first = np.floor(u).astype(int)
        for corner in itertools.product((0, 1), repeat=len(mesh)):
            parts = np.where(corner, u - first, 1 - (u - first))
            values[tuple((first + corner) % mesh)] += weight * parts.prod()
    return values


def reference(sets, interlaced, compensated):
    """k, modes, power and quadrupole along y by numpy.fft.fftn, in the definitions of nbodykit."""
    n = np.meshgrid(*(np.fft.fftfreq(count, 1 / count) for count in MESH), indexing="ij")
    k = [2 * np.pi * a / length for a, length in zip(n, LENGTHS)]
    fields = []
    for points, weights in sets:
        field = np.fft.fftn(spread(points, weights, MESH, LENGTHS, 0))
        if interlaced:
            turn = np.exp(1j * np.pi * sum(a / count for a, count in zip(n, MESH)))
            field = (field + turn * np.fft.fftn(spread(points, weights, MESH, LENGTHS, 0.5))) / 2
        fields.append(field / weights.sum())
    power = LENGTHS.prod() * (fields[0] * fields[-1].conj()).real
    for a, count in zip(n, MESH):
        window = np.sinc(a / count) ** 4 if interlaced else 1 - 2 / 3 * np.sin(np.pi * a / count) ** 2
        power = power / window if compensated else power
    size = np.sqrt(sum(a**2 for a in k))
    with np.errstate(invalid="ignore"):
        cosine = np.nan_to_num(k[1] / size)
    rows = []
    for low, high in zip(EDGES, EDGES[1:]):
        inside = (size >= low) & (size < high) & np.all([abs(a) < count / 2 for a, count in zip(n, MESH)], axis=0)
        mean = power[inside].mean(), 5 * (power[inside] * (1.5 * cosine[inside] ** 2 - 0.5)).mean()
        rows.append((size[inside].mean(), inside.sum(), *mean))
    return np.array(rows).T


def some(count, seed, dtype=np.float64):
    random = np.random.default_rng(seed)
    return (random.random((count, 3)) * LENGTHS).astype(dtype), (1 + random.random(count)).astype(dtype)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("interlaced", [False, True])
@pytest.mark.parametrize("compensated", [False, True])
def test_spectra_are_those_of_numpy(dtype, interlaced, compensated):
    (points, weights), (others, unweighted) = some(60, 1, dtype), some(50, 2, dtype)
    options = {"order": 2, "interlaced": interlaced, "compensated": compensated, "multipoles": [0, 2], "line_of_sight": 1}
    tolerance = 1e-4 if dtype == np.float32 else 1e-11
    alone = quadrat.power_spectrum(points, LENGTHS, MESH, weights=weights, edges=EDGES[:3], **options)
    crossed = quadrat.power_spectrum(points, LENGTHS, MESH, weights=weights, others=others, edges=EDGES[:3], **options)
    sets = [(points.astype(float), weights.astype(float))], [(points.astype(float), weights.astype(float)), (others, np.ones(50))]
    for found, given in zip((alone, crossed), sets):
        k, modes, power, quadrupole = reference(given, interlaced, compensated)[:, :2]
        np.testing.assert_allclose(found.k, k, rtol=1e-12)
        np.testing.assert_array_equal(found.modes, modes)
        scale = abs(power).max()
        np.testing.assert_allclose(found.power, [power, quadrupole], rtol=0, atol=tolerance * 10 * scale)
    wide = weights.astype(float)
    assert alone.shot_noise == pytest.approx(LENGTHS.prod() * (wide**2).sum() / wide.sum() ** 2, rel=1e-6)
    assert crossed.shot_noise == 0


def test_results_have_the_shapes_that_were_asked_for():
    points, _ = some(100, 3)
    one = quadrat.power_spectrum(points, LENGTHS, 16)
    assert one.power.shape == one.k.shape == one.modes.shape == (len(one.edges) - 1,)
    assert one.edges[0] == pytest.approx(2 * np.pi / 2)
    np.testing.assert_array_equal(quadrat.power_spectrum(points, LENGTHS, 16, multipoles=[0]).power.shape, (1, len(one.k)))
    less = quadrat.power_spectrum(points, LENGTHS, 16, subtract_shot_noise=True)
    np.testing.assert_allclose(less.power, one.power - one.shot_noise, atol=1e-9)
    flat = quadrat.power_spectrum(points[:, :2].copy(), LENGTHS[:2], 16, edges=[1, 20, 1000, 2000])
    assert flat.modes[2] == 0 and np.isnan(flat.power[2])
    charges = np.resize([1.0, -1.0], 100)
    structure = quadrat.power_spectrum(points, LENGTHS, 16, weights=charges, structure_factor=True)
    assert structure.shot_noise == 1
    np.testing.assert_allclose(structure.power.mean(), 1, atol=0.5)
    repeated = [quadrat.power_spectrum(points, LENGTHS, 16, deterministic="run_to_run", threads=n).power for n in (1, 2)]
    np.testing.assert_array_equal(*repeated)
    moved = quadrat.power_spectrum(points + 0.125, LENGTHS, 16, origin=[0.125] * 3)
    np.testing.assert_allclose(moved.power, one.power, rtol=1e-9)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"mesh": 7}, "7"),
        ({"mesh": [8, 8]}, "mesh"),
        ({"box": [1, 1, 1, 1]}, "4 lengths"),
        ({"box": [1.0]}, "1 lengths"),
        ({"edges": [1]}, "at least 2 edges"),
        ({"edges": [2, 1]}, "increase"),
        ({"multipoles": 1}, "multipole is 1"),
        ({"line_of_sight": 3}, "line_of_sight"),
        ({"order": 5}, "order"),
        ({"weights": np.ones(3)}, "weights"),
        ({"weights": np.zeros(9)}, "add up to 0"),
        ({"other_weights": np.ones(9)}, "without others"),
        ({"others": np.full((4, 3), np.nan)}, "others: point 0"),
        ({"points": np.zeros((0, 3))}, "no points"),
        ({"method": "none_such"}, "none_such"),
    ],
)
def test_what_is_refused(change, words):
    given = {"points": some(9, 4)[0], "mesh": 8, "box": LENGTHS} | change
    with pytest.raises((ValueError, TypeError), match=words):
        quadrat.power_spectrum(given.pop("points"), given.pop("box"), given.pop("mesh"), **given)


def test_pylians_definitions_are_those_of_one_mesh():
    """Pylians' Pk with MAS="None": bins [i, i + 1) of the fundamental wave number without the mode 0, the mean k, one of
    each pair of modes k and -k, (2 l + 1) in front of multipoles, shot noise kept."""
    rng, count, length = np.random.default_rng(5), 12, 3.0
    points = rng.uniform(0, length, (300, 3))
    delta = spread(points, np.ones(300), (count,) * 3, np.full(3, length), 0) / (300 / count**3) - 1
    n = np.array(np.meshgrid(*[np.fft.fftfreq(count, 1 / count)] * 3, indexing="ij")).reshape(3, -1)
    power = np.abs(np.fft.fftn(delta)).ravel() ** 2 * (length / count**2) ** 3
    half = (n[2] > 0) | ((n[2] == 0) & ((n[1] > 0) | ((n[1] == 0) & (n[0] > 0))))
    size = np.sqrt((n**2).sum(axis=0))
    found = quadrat.power_spectrum(
        points, [length] * 3, count, multipoles=[0, 2, 4], line_of_sight=2, order=2, interlaced=False, compensated=False
    )
    first = int(round(found.edges[0] * length / (2 * np.pi)))
    for bin in range(1, count // 2 - 1):
        here = half & (size.astype(int) == bin)
        mu2 = (n[2, here] / size[here]) ** 2
        legendre = [np.ones_like(mu2), (3 * mu2 - 1) / 2, (35 * mu2**2 - 30 * mu2 + 3) / 8]
        assert found.modes[bin - first] == 2 * here.sum()
        np.testing.assert_allclose(found.k[bin - first], 2 * np.pi / length * size[here].mean(), rtol=1e-6)
        wanted = [(2 * degree + 1) * (power[here] * values).mean() for degree, values in zip((0, 2, 4), legendre)]
        np.testing.assert_allclose(found.power[:, bin - first], wanted, rtol=1e-5, atol=1e-7)
    assert found.shot_noise == pytest.approx(length**3 / 300)
