# SPDX-License-Identifier: BSD-3-Clause
"""Contacts of bodies and cells of points through Python."""

import numpy as np
import pytest
import quadrat
from hypothesis import given, settings
from hypothesis import strategies as st


def plain_contacts(centers, radii, box=None):
    """Every pair of spheres, tested at the nearest image."""
    found = {}
    for a in range(len(centers)):
        for b in range(a + 1, len(centers)):
            apart = centers[b] - centers[a]
            shift = np.zeros(3) if box is None else -np.round(apart / box)
            apart = apart + (0 if box is None else shift * box)
            depth = radii[a] + radii[b] - np.linalg.norm(apart)
            if depth > 0:
                found[a, b] = (depth, apart / np.linalg.norm(apart), shift)
    return found


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), count=st.integers(0, 60), periodic=st.booleans(), wide=st.booleans())
def test_spheres_touch_where_they_overlap(seed, count, periodic, wide):
    random = np.random.default_rng(seed)
    dtype = np.float64 if wide else np.float32
    box = np.array([3.0, 4.0, 5.0])
    centers = (random.uniform(0, 1, (count, 3)) * box).astype(dtype)
    radii = random.uniform(0.05, 0.4, count).astype(dtype)
    found = quadrat.contacts(centers, radii, box=box if periodic else None, sorted=True)
    wanted = plain_contacts(centers.astype(float), radii.astype(float), box if periodic else None)
    limit = 1e-5
    mine = {(a, b): k for k, (a, b) in enumerate(zip(found.a.tolist(), found.b.tolist()))}
    assert len(mine) == len(found.a) and found.a.dtype == np.int64 and found.depth.dtype == dtype
    assert {pair for pair in mine if found.depth[mine[pair]] > limit} == {p for p in wanted if wanted[p][0] > limit}
    for pair, k in mine.items():
        if pair not in wanted or wanted[pair][0] < 1e-3:
            continue
        depth, normal, shift = wanted[pair]
        assert found.depth[k] == pytest.approx(depth, abs=limit)
        np.testing.assert_allclose(found.normal[k], normal, atol=1e-3 if dtype == np.float32 else 1e-9)
        np.testing.assert_array_equal(found.shift[k], shift)
        np.testing.assert_allclose(found.point_a[k] - found.point_b[k], found.depth[k] * found.normal[k], atol=1e-5)


def test_bodies_of_several_shapes_meet_a_plane_and_each_other():
    centers = np.array([[0.0, 0, 0.9], [5, 0, 0.4], [9.9, 0, 1.0], [5, 0, 1.35]])
    sizes = np.array([[1.0, 0, 0], [0.5, 0.5, 0.5], [0.25, 0.5, 0], [0.5, 0.5, 0.5]])
    found = quadrat.contacts(centers, shapes=[0, 3, 2, 0], sizes=sizes, planes=[[0, 0, 1, 0.0]], sorted=True)
    pairs = set(zip(found.a.tolist(), found.b.tolist()))
    assert pairs == {(0, 2**31), (1, 2**31), (1, 3)}  # a box lies on the plane with its corners; the capsule stands above it
    sphere = list(zip(found.a.tolist(), found.b.tolist())).index((0, 2**31))
    assert found.depth[sphere] == pytest.approx(0.1)
    turned = np.array([[np.cos(np.pi / 8), np.sin(np.pi / 8), 0, 0]])  # a cube on its edge reaches further down
    assert len(quadrat.contacts([[0.0, 0, 0.6]], shapes="box", sizes=[[0.5, 0.5, 0.5]], planes=[[0, 0, 1, 0]]).a) == 0
    found = quadrat.contacts(
        [[0.0, 0, 0.6]], shapes="box", sizes=[[0.5, 0.5, 0.5]], planes=[[0, 0, 1, 0]], orientations=turned
    )
    assert found.depth == pytest.approx(np.full(len(found.depth), np.sqrt(0.5) - 0.6)) and len(found.depth) == 2


@pytest.mark.parametrize("method", ["auto", *quadrat.methods("contacts", device="cpu")])
def test_every_method_finds_the_same_contacts(method):
    random = np.random.default_rng(3)
    centers = random.uniform(0, 4, (300, 3))
    found = quadrat.contacts(centers, 0.3, method=method, sorted=True)
    wanted = quadrat.contacts(centers, 0.3, method="brute_force", sorted=True)
    assert len(found.a) > 100
    for mine, other in zip(found, wanted):
        np.testing.assert_array_equal(mine, other)


@pytest.mark.parametrize("own_boxes", [True, False])
def test_systems_have_the_contacts_of_each_alone(own_boxes):
    random = np.random.default_rng(8)
    systems = random.integers(0, 5, 400)
    systems[systems == 3] = 4  # an empty one
    boxes = random.uniform(3, 5, (5, 3)) if own_boxes else np.full((5, 3), 4.0)
    centers, radii = random.uniform(0, 5, (400, 3)), random.uniform(0.1, 0.5, 400)
    periodic = random.integers(0, 2, (5, 3)).astype(bool) if own_boxes else True
    found = quadrat.contacts(
        centers, radii, box=boxes if own_boxes else boxes[0], periodic=periodic, systems=systems, sorted=True
    )
    assert (systems[found.a] == systems[found.b]).all() and len(found.a) > 100
    for system in range(5):
        members = np.flatnonzero(systems == system)
        axes = periodic[system] if own_boxes else True
        alone = quadrat.contacts(centers[members], radii[members], box=boxes[system], periodic=axes, sorted=True)
        mine = systems[found.a] == system
        np.testing.assert_array_equal(found.a[mine], members[alone.a])
        np.testing.assert_array_equal(found.b[mine], members[alone.b])
        np.testing.assert_array_equal(found.depth[mine], alone.depth)
        np.testing.assert_array_equal(found.shift[mine], alone.shift)


@settings(max_examples=25, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    count=st.integers(0, 200),
    dimension=st.sampled_from((2, 3)),
    dtype=st.sampled_from((np.float32, np.float64)),
)
def test_cells_hold_the_points_within_their_faces(seed, count, dimension, dtype):
    random = np.random.default_rng(seed)
    cells, box = random.integers(1, 9, dimension), 2.0 ** random.integers(-1, 3, dimension)
    points = (random.integers(0, 64, (count, dimension)) / 64 * box).astype(dtype)
    list_of_cells = quadrat.CellList(box, cells, deterministic="run_to_run").build(points)
    assert list_of_cells.cells == tuple(cells)
    index = np.floor(points.astype(float) / (box / cells) + 1e-12).astype(int)
    number = np.ravel_multi_index(tuple(index.T[::-1]), tuple(cells[::-1])) if count else np.zeros(0, int)
    offsets, indices = list_of_cells.offsets, list_of_cells.indices
    np.testing.assert_array_equal(np.diff(offsets), np.bincount(number, minlength=np.prod(cells)))
    np.testing.assert_array_equal(indices, np.argsort(number, kind="stable"))


def test_cells_may_be_chosen_by_a_cutoff_and_hold_periodic_images():
    found = quadrat.CellList([1.0, 1.0], cutoff=0.24).build([[0.1, 0.1], [1.1, -0.9], [0.9, 0.1]])
    assert found.cells == (4, 4) and found.offsets[:2].tolist() == [0, 2] and sorted(found.indices[:2].tolist()) == [0, 1]
    assert found.build(np.full((3, 2), 0.5, np.float32)).indices.dtype == np.int64


@pytest.mark.parametrize(
    "call, error, words",
    [
        (lambda: quadrat.contacts([[0.0, 0]], 1.0), ValueError, r"centers have the shape \(1, 2\).*\(N, 3\)"),
        (lambda: quadrat.contacts([[0.0, 0, 0]], [1.0, 2.0]), ValueError, r"radii have the shape \(2,\).*1 bodies"),
        (lambda: quadrat.contacts([[0.0, 0, 0]], -1.0), ValueError, "radius"),
        (lambda: quadrat.contacts([[0.0, 0, 0]]), ValueError, "radius"),
        (lambda: quadrat.contacts([[0.0, 0, np.nan]], 1.0), ValueError, "body 0|nan"),
        (lambda: quadrat.contacts([[0.0, 0, 0]], 1.0, shapes="cone"), ValueError, "'cone'.*sphere, ellipsoid"),
        (lambda: quadrat.contacts([[0.0, 0, 0]], 1.0, shapes=None), TypeError, "shapes is None; text is accepted, one of sphere"),
        (lambda: quadrat.contacts([[0.0, 0, 0]], shapes=[9], sizes=[[1.0, 1, 1]]), ValueError, "shape"),
        (lambda: quadrat.contacts([[0.0, 0, 0]], 1.0, planes=[[0, 0, 1]]), ValueError, r"planes have the shape \(1, 3\)"),
        (lambda: quadrat.contacts([[0.0, 0, 0]], 1.0, planes=[[0, 0, 2, 0]]), ValueError, "length must be 1"),
        (lambda: quadrat.contacts(np.zeros((3, 3)), 1.0, ids=[4, 2, 4]), ValueError, "bodies 0 and 2 both have the id 4"),
        (lambda: quadrat.contacts([[0.0, 0, 0]], 1.0, ids=[2**31]), ValueError, "body 0 has the id 2147483648"),
        (lambda: quadrat.contacts([[0.0, 0, 0]], 1.0, ids=[1, 2]), ValueError, "ids"),
        (lambda: quadrat.contacts([[0.0, 0, 0]], 1.0, box=np.ones((3, 3))), ValueError, "not rectangular"),
        (lambda: quadrat.contacts([[0.0, 0, 0]], 1.0, method="quick"), ValueError, "quick"),
        (lambda: quadrat.contacts([[0.0, 0, 0]], 1.0, systems=[0], method="levels"), ValueError, "levels serves .* one system"),
        (lambda: quadrat.contacts([[0.0, 0, 0]], 1.0, systems=[0, 1]), ValueError, "systems"),
        (lambda: quadrat.contacts([[0.0, 0, 0]], 1.0, systems=[2], box=np.full((2, 3), 9.0)), ValueError, "body 0 is of system 2; systems are below 2"),
        (lambda: quadrat.CellList([1, 1, 1]), ValueError, "cells or a cutoff"),
        (lambda: quadrat.CellList([1, 1, 1], 0), ValueError, "cells is 0"),
        (lambda: quadrat.CellList([1, 1, 1], cutoff=-1), ValueError, "cutoff is -1"),
        (lambda: quadrat.CellList([1], 4), ValueError, r"\(1,\); 2 or 3 lengths"),
        (lambda: quadrat.CellList([1, 1], 4).offsets, ValueError, "call build"),
        (lambda: quadrat.CellList([1, 1], 4, periodic=False).build([[0.5, 2.0]]), ValueError, "point 0"),
        (lambda: quadrat.CellList([1, 1], 4).build([[0.5, 2.0, 1.0]]), ValueError, r"\(N, 2\)"),
    ],
)
def test_bad_arguments_are_named(call, error, words):
    with pytest.raises(error, match=words):
        call()


def test_contacts_are_known_by_ids_when_bodies_come_go_and_change_places():
    random = np.random.default_rng(8)
    centers, sizes = random.uniform(0, 3, (60, 3)), random.uniform(0.2, 0.5, (60, 3))
    shapes, ids = np.arange(60) % 4, random.permutation(1000)[:60]

    def keyed(rows):
        made = quadrat.contacts(
            centers[rows], shapes=shapes[rows], sizes=sizes[rows], ids=ids[rows], planes=[[0, 0, 1, 0.3]]
        )
        own = ids[rows].tolist()
        second = [own[b] if b < 2**31 else b for b in made.b.tolist()]
        keys = zip([own[a] for a in made.a.tolist()], second, made.feature.tolist())
        return dict(zip(keys, made.normal.tolist()))

    before, rows = keyed(np.arange(60)), random.permutation(60)[:50]
    after = keyed(rows)
    assert after == {key: before[key] for key in before if {*key[:2]} <= {*ids[rows].tolist(), 2**31}}
    assert len(after) > 50 and all(a < b for a, b, _ in after)


def test_shapes_are_names_or_their_numbers():
    random = np.random.default_rng(8)
    centers, sizes, numbers = random.uniform(0, 3, (60, 3)), random.uniform(0.2, 0.5, (60, 3)), np.arange(60) % 4
    names = np.array(["sphere", "ellipsoid", "capsule", "box"])[numbers]
    wanted = quadrat.contacts(centers, shapes=numbers, sizes=sizes, sorted=True)
    for shapes in (names, names.tolist(), tuple(numbers.tolist())):
        for mine, other in zip(quadrat.contacts(centers, shapes=shapes, sizes=sizes, sorted=True), wanted):
            np.testing.assert_array_equal(mine, other)
    with pytest.raises(ValueError, match="shapes has 'cone'; sphere, ellipsoid, capsule, box are accepted"):
        quadrat.contacts(centers[:2], shapes=["box", "cone"], sizes=sizes[:2])


def test_planes_have_the_same_bits_in_32_bit_indices():
    two = [[0, 0, 1, 0], [0, 0, 1, 0.5]]
    wide = quadrat.contacts([[0.0, 0, 0.4]], 1.0, planes=two, sorted=True)
    narrow = quadrat.contacts([[0.0, 0, 0.4]], 1.0, planes=two, sorted=True, index_dtype="int32")
    assert wide.b.tolist() == [2**31, 2**31 + 1]
    assert narrow.b.view(np.uint32).tolist() == wide.b.tolist()


def test_no_bodies_have_no_contacts():
    assert all(len(part) == 0 for part in quadrat.contacts(np.zeros((0, 3)), 1.0))
