# SPDX-License-Identifier: BSD-3-Clause
"""Nearest neighbors, clusters and radial distributions through Python; boxes and bad arguments of all searches."""

import numpy as np
import pytest
import quadrat
import scipy.spatial

DTYPES = (np.float32, np.float64)


@pytest.mark.parametrize("dtype", DTYPES)
def test_nearest_neighbors_are_those_of_a_tree(dtype):
    random = np.random.default_rng(4)
    points = random.uniform(0, 1, (3000, 3)).astype(dtype)
    found = quadrat.knn(points, 9, box=[1, 1, 1])
    distances, indices = scipy.spatial.cKDTree(points.astype(float) % 1, boxsize=1).query(points.astype(float) % 1, 10)
    np.testing.assert_allclose(found.distances, distances[:, 1:], rtol=1e-4 if dtype == np.float32 else 1e-12)
    if dtype == np.float64:
        np.testing.assert_array_equal(found.indices, indices[:, 1:])
    assert found.indices.dtype == np.int64 and found.shifts is None


def test_rows_with_too_few_neighbors_end_with_minus_one_at_infinity():
    found = quadrat.knn([[0.0, 0], [1, 0]], 3, shifts=True)
    assert found.indices.tolist() == [[1, -1, -1], [0, -1, -1]]
    assert found.distances.tolist() == [[1, np.inf, np.inf]] * 2
    assert found.shifts.shape == (2, 3, 2) and not found.shifts.any()


def test_clusters_are_connected_points():
    line = np.arange(0, 5, 0.5)
    points = np.stack([np.concatenate([line, line + 20, [100]]), np.zeros(21), np.zeros(21)], axis=1)
    assert quadrat.clusters(points, 0.6).tolist() == [0] * 10 + [1] * 10 + [2]
    assert quadrat.clusters(points, 0.6, min_points=2).tolist() == [0] * 10 + [1] * 10 + [-1]


@pytest.mark.parametrize("dimension", [2, 3])
@pytest.mark.parametrize("index_dtype", [None, np.int32])
def test_groups_of_clusters_are_their_members_and_centers(dimension, index_dtype):
    random = np.random.default_rng(5)
    middles = np.full((4, dimension), 2.0)
    middles[:, 0] = [0.1, 3, 5, 7.9]  # the first and the last are one cluster, across a face
    points = np.concatenate([middle + random.uniform(-0.2, 0.2, (50, dimension)) for middle in middles])
    points = np.concatenate([points, np.full((1, dimension), 6.5)])[random.permutation(201)]
    box = dict(box=[8.0] * dimension, periodic=[True] + [False] * (dimension - 1))
    found = quadrat.clusters(points % 8, 0.5, min_points=3, members=True, index_dtype=index_dtype, **box)
    assert found.labels.tolist() == quadrat.clusters(points % 8, 0.5, min_points=3, **box).tolist()
    assert found.sizes.tolist() == np.bincount(found.labels[found.labels >= 0]).tolist()
    assert found.offsets[0] == 0 and len(found.offsets) == 4 and found.offsets[-1] == len(found.members) == 200
    assert found.members.dtype == found.offsets.dtype == (index_dtype or np.int64)
    assert found.centers.shape == (3, dimension) and found.centers.dtype == points.dtype
    for label in range(3):
        members = found.members[found.offsets[label] : found.offsets[label + 1]]
        assert members.tolist() == np.flatnonzero(found.labels == label).tolist()
        whole = points[members] - 8 * (points[members] > 7) * np.eye(dimension)[0] * (len(members) == 100)
        away = found.centers[label] - whole.mean(axis=0)
        assert np.abs(away - 8 * np.round(away / 8)).max() < 1e-12
    nothing = quadrat.clusters(points % 8, 0.5, min_points=999, members=True, **box)
    assert nothing.offsets.tolist() == [0] and len(nothing.members) == len(nothing.centers) == 0


def test_uniform_points_have_a_radial_distribution_of_one():
    random = np.random.default_rng(6)
    frames = [random.uniform(0, 10, (2000, 3)) for _ in range(5)]
    found = quadrat.rdf(frames, 3.0, box=[10, 10, 10], bins=30)
    assert np.abs(found.rdf[5:] - 1).max() < 0.1 and found.r[0] == pytest.approx(0.05)
    pairs = sum(len(quadrat.neighbor_list(f, 3.0, box=[10, 10, 10], outputs="j")) for f in frames)
    assert found.counts.sum() == pairs
    types = np.arange(2000) % 2
    mixed = quadrat.rdf(frames[0], 3.0, box=[10, 10, 10], bins=30, types=types)
    assert mixed.rdf.shape == (2, 2, 30)
    assert mixed.counts[0, 0].sum() + mixed.counts[1, 1].sum() + 2 * mixed.counts[0, 1].sum() == len(
        quadrat.neighbor_list(frames[0], 3.0, box=[10, 10, 10], outputs="j")
    )


def test_without_a_box_the_density_is_that_in_the_bounding_box():
    points = np.random.default_rng(7).uniform(0, 10, (4000, 3))
    lower, length = points.min(axis=0), np.ptp(points, axis=0)
    for given in (points, points.astype(np.float32)):
        found = quadrat.rdf(given, 1.0, bins=4)
        wanted = quadrat.rdf(given, 1.0, bins=4, box=length, origin=lower, periodic=False)
        np.testing.assert_allclose(found.rdf, wanted.rdf, rtol=1e-5)
        assert found.counts.tolist() == wanted.counts.tolist() and 0.85 < found.rdf[3] < 1
    # Along an axis where all are in one place the box is as long as the cutoff.
    flat = quadrat.rdf(points * [1, 1, 0], 0.5, bins=1)
    assert flat.rdf[0] == pytest.approx(flat.counts[0] / (4000**2 / (length[0] * length[1] * 0.5) * np.pi / 6))
    # Each frame has its own box.
    two = quadrat.rdf([points, points / 2], 1.0, bins=1)
    volume = np.prod(length)
    assert two.rdf[0] == pytest.approx(two.counts[0] / (4000**2 * (1 / volume + 8 / volume) * 4 / 3 * np.pi))
    assert not quadrat.rdf(np.zeros((0, 3)), 1.0).rdf.any()


def test_few_independent_points_have_a_radial_distribution_of_one():
    frames = np.random.default_rng(8).uniform(0, 1, (20_000, 2, 3))
    found = quadrat.rdf(frames, 0.5, box=[1, 1, 1], bins=1, normalization="N(N-1)")
    assert found.rdf[0] == pytest.approx(1, abs=0.02)
    assert quadrat.rdf(frames, 0.5, box=[1, 1, 1], bins=1).rdf[0] == pytest.approx(found.rdf[0] / 2)


def test_types_are_numbers_or_names_of_all_frames_or_of_each():
    random = np.random.default_rng(9)
    frames = [random.uniform(0, 5, (n, 3)) for n in (60, 90)]
    names = [random.choice(["O", "H", "He"], len(frame)) for frame in frames]
    found = quadrat.rdf(frames, 2.0, box=[5, 5, 5], bins=3, types=names)
    assert found.types == ("H", "He", "O") and found.rdf.shape == (3, 3, 3)
    numbers = [np.searchsorted(found.types, one) for one in names]
    by_number = quadrat.rdf(frames, 2.0, box=[5, 5, 5], bins=3, types=numbers)
    assert by_number.types == (0, 1, 2)
    for a, name in enumerate(found.types):
        for b, other in enumerate(found.types):
            assert found.pair(name, other).tolist() == by_number.pair(a, b).tolist() == found.rdf[b, a].tolist()
    alone = [quadrat.rdf(frame, 2.0, box=[5, 5, 5], bins=3, types=list(of)) for frame, of in zip(frames, names)]
    assert (sum(one.counts for one in alone) == found.counts).all()
    r, g, counts = quadrat.rdf([frames[0]] * 2, 2.0, box=[5, 5, 5], bins=3, types=names[0])
    assert (counts == 2 * alone[0].counts).all() and np.allclose(g, alone[0].rdf)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("wraps", [(False, False, False), (True, True, False), (False, True, True), (True, False, False)])
def test_zeros_along_open_axes_say_that_a_box_has_no_end_there(wraps, dtype):
    random = np.random.default_rng(12)
    points = random.uniform(-30, 30, (400, 3)).astype(dtype)
    full = np.array([[7.0, 1, 0.5], [0, 8, -0.25], [0.5, 0, 9]])
    rows, wraps = full.copy(), np.array(wraps)
    rows[~wraps] = np.linalg.svd(full[wraps])[2][wraps.sum() :] if wraps.any() else np.eye(3)
    zeros = np.where(wraps[:, None], full, 0)
    lengths = np.where(wraps, [7.0, 8, 9], 0)
    for given, same in ((zeros, rows), (lengths, np.diag(np.where(wraps, lengths, 1)))):
        found, wanted = (
            quadrat.neighbor_list(points, 4.0, box=box, periodic=wraps, outputs="ijS", sorted=True)
            for box in (given, same)
        )
        assert len(found[0]) > 0
        for mine, other in zip(found, wanted):
            np.testing.assert_array_equal(mine, other)
        index, apart = quadrat.knn(points, 5, box=given, periodic=wraps)[:2]
        other_index, other_apart = quadrat.knn(points, 5, box=same, periodic=wraps)[:2]
        np.testing.assert_array_equal(index, other_index)
        np.testing.assert_allclose(apart, other_apart, rtol=1e-5 if dtype == np.float32 else 1e-12)
        parts = [quadrat.clusters(points, 2.0, box=box, periodic=wraps) for box in (given, same)]
        np.testing.assert_array_equal(*parts)


def test_boxes_of_a_batch_may_have_no_end_along_open_axes():
    random = np.random.default_rng(13)
    points, systems = random.uniform(-9, 9, (90, 3)), np.repeat([0, 1, 2], 30)
    boxes = np.stack([np.zeros((3, 3)), np.diag([6.0, 7, 0]), np.diag([6.0, 7, 8])])
    wraps = np.array([[False] * 3, [True, True, False], [True] * 3])
    found = quadrat.neighbor_list(points, 2.5, box=boxes, periodic=wraps, systems=systems, outputs="ijS", sorted=True)
    one = [
        quadrat.neighbor_list(points[systems == k], 2.5, box=boxes[k], periodic=wraps[k], outputs="ijS", sorted=True)
        for k in range(3)
    ]
    np.testing.assert_array_equal(found[0], np.concatenate([part[0] + 30 * k for k, part in enumerate(one)]))
    np.testing.assert_array_equal(found[2], np.concatenate([part[2] for part in one]))


@pytest.mark.parametrize(
    "call, words",
    [
        (lambda p: quadrat.neighbor_list(p, 1.0, box=[4, 0, 4]), "no extent along axis 1, which is periodic"),
        (lambda p: quadrat.neighbor_list(p, 1.0, box=np.diag([4.0, 4, 0])), "no extent along axis 2, which is periodic"),
        (lambda p: quadrat.knn(p, 1, box=[4, -1, 4], periodic=False), "-1.* along axis 1.* positive"),
        (lambda p: quadrat.spread(p, np.ones(len(p)), [4, 4, 0], (8, 8, 8), periodic=[True, True, False]), "axis 2"),
        (lambda p: quadrat.electrostatics(p, np.ones(len(p)), [4, 4, 0], periodic=[True, True, False]), "axis 2"),
    ],
)
def test_a_box_without_an_extent_that_is_needed_is_refused(call, words):
    with pytest.raises(ValueError, match=words):
        call(np.random.default_rng(1).uniform(0, 4, (8, 3)))


@pytest.mark.parametrize("shear", [1, 10, 30, 300])
def test_searches_in_sheared_boxes_are_those_of_the_same_lattice(shear):
    random = np.random.default_rng(14)
    points = random.uniform(0, 12, (80, 3))
    upright = np.diag([4.0, 4.5, 5.0])
    box = upright.copy()
    box[1] += shear * upright[0]
    index, apart, shifts = quadrat.knn(points, 6, box=box, shifts=True)
    np.testing.assert_allclose(apart, quadrat.knn(points, 6, box=upright)[1], atol=1e-9)
    np.testing.assert_allclose(np.linalg.norm(points[index] + shifts @ box - points[:, None], axis=2), apart, atol=1e-9)
    np.testing.assert_array_equal(quadrat.clusters(points, 1.6, box=box), quadrat.clusters(points, 1.6, box=upright))
    i, j, s = quadrat.neighbor_list(points, 1.9, box=box, outputs="ijS")
    assert len(i) == len(quadrat.neighbor_list(points, 1.9, box=upright, outputs="ij")[0])
    assert np.all(np.linalg.norm(points[j] + s @ box - points[i], axis=1) < 1.9)
    own, same = (quadrat.rdf([points], 6.0, box=vectors, bins=50) for vectors in (box, upright))
    np.testing.assert_array_equal(own.counts, same.counts)
    np.testing.assert_allclose(own.rdf, same.rdf)


@pytest.mark.parametrize("dimension", (2, 3))
def test_vectors_that_could_be_lengths_of_as_many_systems_are_refused(dimension):
    random = np.random.default_rng(7)
    points, systems = random.uniform(0, 4, (90, dimension)), np.arange(90) % dimension
    lengths = 4 + np.arange(dimension)[:, None] + np.arange(dimension)
    cells = np.stack([np.diag(one) for one in lengths])
    clash = rf"\({dimension}, {dimension}\).*\(1, {dimension}, {dimension}\).*\(number of systems, {dimension}"
    with pytest.raises(ValueError, match=clash):
        quadrat.neighbor_list(points, 1.5, box=lengths, systems=systems)
    found = quadrat.neighbor_list(points, 1.5, box=cells, systems=systems, outputs="ij", sorted=True)
    for k, cell in enumerate(cells):
        one = np.flatnonzero(systems == k)
        i, j = quadrat.neighbor_list(points[one], 1.5, box=cell, outputs="ij", sorted=True)
        mine = systems[found[0]] == k
        assert np.array_equal(found[0][mine], one[i]) and np.array_equal(found[1][mine], one[j])
    shared = [quadrat.neighbor_list(points, 1.5, box=box, systems=systems, sorted=True) for box in (cells[:1], lengths[0])]
    for a, b in zip(*shared):
        assert np.array_equal(a, b)

    frames = list(points.reshape(dimension, -1, dimension))
    with pytest.raises(ValueError, match=clash.replace("systems", "frames")):
        quadrat.rdf(frames, 1.5, box=lengths)
    with pytest.raises(ValueError, match=f"4 boxes and {dimension} frames"):
        quadrat.rdf(frames, 1.5, box=np.ones((4, dimension)))
    each = sum(quadrat.rdf(frame, 1.5, box=cell).counts for frame, cell in zip(frames, cells))
    assert np.array_equal(quadrat.rdf(frames, 1.5, box=cells).counts, each)
    assert np.array_equal(quadrat.rdf(frames, 1.5, box=cells[:1]).counts, quadrat.rdf(frames, 1.5, box=lengths[0]).counts)


def test_no_points_have_no_pairs():
    for points in ([], np.zeros((0, 3)), np.zeros((0, 2), np.float32)):
        assert all(len(part) == 0 for part in quadrat.neighbor_list(points, 1.0))
        assert quadrat.neighbor_list(points, 1.0, outputs="n").tolist() == [0]
        assert len(quadrat.clusters(points, 1.0)) == 0


@pytest.mark.parametrize(
    "call, error, words",
    [
        (lambda p: quadrat.neighbor_list(p.astype(int), 1.0), TypeError, "int64.*float32 and float64"),
        (lambda p: quadrat.neighbor_list(p[:, :1], 1.0), ValueError, r"\(10, 1\).*\(N, 2\) or \(N, 3\)"),
        (lambda p: quadrat.neighbor_list(p, 0.0), ValueError, "cutoff is 0"),
        (lambda p: quadrat.neighbor_list(p, float("nan")), ValueError, "cutoff is .*nan"),
        (lambda p: quadrat.neighbor_list(p, 1.0, outputs="ijx"), ValueError, "'ijx'"),
        (lambda p: quadrat.neighbor_list(p, 1.0, outputs=""), ValueError, "outputs"),
        (lambda p: quadrat.neighbor_list(p, 1.0, periodic=True), ValueError, "need a box"),
        (lambda p: quadrat.neighbor_list(p, 1.0, box=[1, 2]), ValueError, r"\(2,\).*\(3,\) lengths"),
        (lambda p: quadrat.neighbor_list(p, 1.0, box=np.zeros((3, 3))), ValueError, "volume|length"),
        (lambda p: quadrat.neighbor_list(p, 1.0, box=[9, 9, 9], periodic=[True, False]), ValueError, r"\(2,\).*3 axes"),
        (lambda p: quadrat.neighbor_list(p, 1.0, systems=[0, 1]), ValueError, r"\(2,\).*10 points"),
        (lambda p: quadrat.neighbor_list(p, 1.0, systems=-np.arange(10)), ValueError, r"systems\[1\] is -1"),
        (lambda p: quadrat.neighbor_list(p, 1.0, method="quick"), ValueError, "quick"),
        (lambda p: quadrat.neighbor_list(p, 1.0, threads=-1), ValueError, "threads"),
        (lambda p: quadrat.neighbor_list(p * np.inf, 1.0), ValueError, "point 0 at .*inf"),
        (lambda p: quadrat.neighbor_list([[1, 2, 3], [1, 2]], 1.0), ValueError, "points cannot be read as an array"),
        (lambda p: quadrat.neighbor_list(p, 1.0, radii=[1.0]), ValueError, r"radii have the shape \(1,\).*10 points"),
        (lambda p: quadrat.neighbor_list(p, 1.0, radii=p[:, 0]), ValueError, "radius"),
        (lambda p: quadrat.neighbor_list(p, 1.0, rule="nearest"), ValueError, "'nearest'.*sum_of_radii"),
        (lambda p: quadrat.neighbor_list(p, 1.0, rule="own_radius"), ValueError, "radii"),
        (lambda p: quadrat.neighbor_list(p, 1.0, type_cutoffs=[[1.0]]), ValueError, "types"),
        (lambda p: quadrat.neighbor_list(p, 1.0, types=np.arange(10)), ValueError, "types are given without type_cutoffs"),
        (lambda p: quadrat.neighbor_list(p, 1.0, radii=p[:, 0], rule="uniform"), ValueError, "radii are given; .*own_radius"),
        (lambda p: quadrat.neighbor_list(p, 1.0, types_of_queries=[0]), ValueError, "types_of_queries are given without queries"),
        (lambda p: quadrat.neighbor_list(p, 1.0, systems_of_queries=[0]), ValueError, "systems_of_queries are .*without queries"),
        (lambda p: quadrat.neighbor_list(p, 1.0, queries=p, radii=p[:, 0] / 9), ValueError, "radius of each query"),
        (
            lambda p: quadrat.neighbor_list(p, 1.0, queries=p, radii_of_queries=p[1:, 0], rule="own_radius"),
            ValueError,
            r"radii_of_queries have the shape \(9,\); one for each of the 10 queries",
        ),
        (lambda p: quadrat.NeighborList(1.0, skin=0.1).update(p, queries=p), ValueError, "skin is 0.1; with queries"),
        (lambda p: quadrat.neighbor_list(p, 1.0, type_cutoffs=[1.0, 2.0], types=np.arange(10)), ValueError, "table|types"),
        (lambda p: quadrat.neighbor_list(p, 1.0, excluded=[[0, 10]]), ValueError, r"excluded\[0\].*10 points"),
        (lambda p: quadrat.neighbor_list(p, 1.0, excluded=[0, 1]), ValueError, r"\(P, 2\)"),
        (lambda p: quadrat.knn(p, 0), ValueError, "k is 0"),
        (lambda p: quadrat.knn(p, 65), ValueError, "k is 65"),
        (lambda p: quadrat.knn(p, 3, queries=p.astype(np.float32)), TypeError, "float32.*float64"),
        (lambda p: quadrat.clusters(p, -1.0), ValueError, "-1"),
        (lambda p: quadrat.clusters(p, 1.0, min_points=0), ValueError, "min_points is 0"),
        (lambda p: quadrat.rdf(p, 1.0, box=[9, 9, 9], bins=0), ValueError, "bins"),
        (lambda p: quadrat.rdf(p, 1.0, normalization="N"), ValueError, r"'N'; one of N\^2, N\(N-1\)"),
        (lambda p: quadrat.rdf([p, p, p], 1.0, types=[["A"] * 10] * 2), ValueError, "types for 2 frames; there are 3"),
        (lambda p: quadrat.rdf([p, p], 1.0, types=[["A"] * 10, ["B"] * 9]), ValueError, r"types.*\(9,\).*10 points"),
        (lambda p: quadrat.rdf(p, 1.0, types=["A"] * 10).pair("A", "B"), ValueError, "no type 'B'; there are 'A'"),
    ],
)
def test_bad_arguments_are_named(call, error, words):
    with pytest.raises(error, match=words):
        call(np.ones((10, 3)) + np.arange(10)[:, None])


def systems_of_all_kinds(random, dimension, dtype):
    """(points, systems, boxes, periodic) of systems in any order, of which some are empty."""
    counts = [40, 0, 1, 90, 7, 0]
    boxes = random.uniform(3, 6, (len(counts), dimension))
    systems = random.permutation(np.repeat(np.arange(len(counts)), counts))
    points = (random.uniform(0, 1, (len(systems), dimension)) * boxes[systems]).astype(dtype)
    return points, systems, boxes, random.uniform(0, 1, boxes.shape) < 0.6


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("dimension", [2, 3])
def test_systems_in_one_call_are_those_of_a_call_for_each(dimension, dtype):
    random = np.random.default_rng(8)
    points, systems, boxes, periodic = systems_of_all_kinds(random, dimension, dtype)
    queries = points[random.permutation(len(points))[:50]]
    of_queries = random.integers(0, len(boxes), 50)
    given = dict(box=boxes, periodic=periodic, systems=systems)
    near = quadrat.knn(points, 5, cutoff=1.2, shifts=True, **given)
    at_queries = quadrat.knn(points, 5, cutoff=1.2, queries=queries, systems_of_queries=of_queries, **given)
    labels = quadrat.clusters(points, 0.9, min_points=3, **given)
    found = quadrat.clusters(points, 0.9, min_points=3, members=True, **given)
    assert found.labels.tolist() == labels.tolist()
    counts = 0
    for system, box in enumerate(boxes):
        own = np.flatnonzero(systems == system)
        asked = np.flatnonzero(of_queries == system)
        alone = dict(box=box, periodic=periodic[system])
        wanted = quadrat.knn(points[own], 5, cutoff=1.2, shifts=True, **alone)
        named = np.append(own, -1)  # -1 stays -1
        assert near.indices[own].tolist() == named[wanted.indices].tolist()
        assert near.distances[own].tolist() == wanted.distances.tolist()
        assert near.shifts[own].tolist() == wanted.shifts.tolist()
        wanted = quadrat.knn(points[own], 5, cutoff=1.2, queries=queries[asked], **alone)
        assert at_queries.indices[asked].tolist() == named[wanted.indices].tolist()
        wanted = quadrat.clusters(points[own], 0.9, min_points=3, members=True, **alone)
        names = sorted({(a, b) for a, b in zip(wanted.labels.tolist(), labels[own].tolist())})
        assert [a for a, b in names] == sorted(set(wanted.labels.tolist()))
        assert [b for a, b in names] == sorted({b for a, b in names})
        for mine, label in names:
            if label >= 0:
                assert found.centers[label].tolist() == wanted.centers[mine].tolist()
        counts += quadrat.rdf(points[own], 1.2, box, periodic=periodic[system], bins=10).counts
    assert quadrat.rdf(points, 1.2, bins=10, **given).counts.tolist() == counts.tolist()


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("dimension", [2, 3])
def test_nearest_neighbors_in_systems_need_no_cutoff(dimension, dtype):
    random = np.random.default_rng(10)
    points, systems, boxes, periodic = systems_of_all_kinds(random, dimension, dtype)
    queries, of_queries = points[:50], random.integers(0, len(boxes), 50)
    given = dict(box=boxes, periodic=periodic, systems=systems, shifts=True)
    near = quadrat.knn(points, 5, **given)
    at_queries = quadrat.knn(points, 5, queries=queries, systems_of_queries=of_queries, **given)
    for system, box in enumerate(boxes):
        own, asked = np.flatnonzero(systems == system), np.flatnonzero(of_queries == system)
        alone, named = dict(box=box, periodic=periodic[system], shifts=True), np.append(own, -1)
        for found, rows, places in ((near, own, {}), (at_queries, asked, {"queries": queries[asked]})):
            wanted = quadrat.knn(points[own], 5, **places, **alone)
            assert found.indices[rows].tolist() == named[wanted.indices].tolist()
            assert found.distances[rows].tolist() == wanted.distances.tolist()
            assert found.shifts[rows].tolist() == wanted.shifts.tolist()


def test_queries_may_be_in_systems_without_points():
    points, systems = np.zeros((2, 3)), [0, 1]
    given = dict(queries=np.ones((2, 3)), systems=systems, systems_of_queries=[1, 7])
    assert quadrat.knn(points, 1, **given).indices.tolist() == [[1], [-1]]
    assert quadrat.neighbor_list(points, 2.0, outputs="j", **given).tolist() == [1]


def test_several_frames_of_several_systems_count_together():
    random = np.random.default_rng(9)
    points, systems, boxes, _ = systems_of_all_kinds(random, 3, float)
    kinds = random.integers(0, 2, len(points))
    once = quadrat.rdf(points, 1.0, boxes, systems=systems, types=kinds, bins=8)
    twice = quadrat.rdf([points, points], 1.0, boxes, systems=systems, types=kinds, bins=8)
    assert twice.counts.tolist() == (2 * once.counts).tolist()
    np.testing.assert_allclose(twice.rdf, once.rdf)


@pytest.mark.parametrize(
    "call, words",
    [
        (lambda p: quadrat.knn(p, 2, [4, 4], systems=[0, 1, -1]), r"systems\[2\] is -1"),
        (lambda p: quadrat.knn(p, 2, [[4, 4]] * 3, cutoff=1, systems=[0, 1, 3]), "point 2 belongs to system 3; there are 3"),
        (lambda p: quadrat.knn(p, 2, cutoff=1, systems=[0, 1]), "systems have the shape .2,."),
        (lambda p: quadrat.knn(p, 2, cutoff=1, systems_of_queries=[0, 1, 1]), "but no queries"),
        (lambda p: quadrat.knn(p, 2, cutoff=1, queries=p, systems_of_queries=[0, 1, 1]), "no systems of the points"),
        (lambda p: quadrat.knn(p, 2, cutoff=1, queries=p, systems=[0, 1, 1]), "no system of each query"),
        (lambda p: quadrat.clusters(p, 1, [[4, 4]] * 3, systems=[0, 7, 3]), "point 1 belongs to system 7; there are 3"),
        (lambda p: quadrat.clusters(p, 1, [4, 4], systems=[0, -1, 3]), "-1"),
        (lambda p: quadrat.clusters(p, 3, [[9, 9], [4, 4], [9, 9]], systems=[0, 1, 1]), "more than half the periodic box"),
        (lambda p: quadrat.rdf(p, 1, systems=[0, 1, 1]), "there are systems, but no box"),
        (lambda p: quadrat.rdf(p, 1, [[4, 4]] * 3, systems=[0, 7, 3]), "point 1 belongs to system 7; there are 3"),
    ],
)
def test_impossible_systems_are_named(call, words):
    with pytest.raises(ValueError, match=words):
        call([[0.0, 0], [1, 0], [2, 0]])
