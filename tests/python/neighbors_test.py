# SPDX-License-Identifier: BSD-3-Clause
"""Neighbor lists through Python, beside their definition and other libraries."""

import itertools

import ase
import ase.neighborlist
import numpy as np
import pytest
import quadrat
import quadrat.ase
import vesin
from hypothesis import given, settings
from hypothesis import strategies as st

DTYPES = (np.float32, np.float64)


def plain_list(points, cutoff, vectors, periodic, half=False):
    """Every pair of images, tested."""
    points = np.asarray(points, dtype=float)
    dimension = points.shape[1]
    heights = 1 / np.linalg.norm(np.linalg.inv(vectors), axis=0)
    inside = points @ np.linalg.inv(vectors)
    spread = np.ptp(inside, axis=0) if len(points) else np.zeros(dimension)
    most = [int(np.ceil(cutoff / heights[a] + spread[a])) + 1 if periodic[a] else 0 for a in range(dimension)]
    found = set()
    for shift in itertools.product(*(range(-m, m + 1) for m in most)):
        moved = points + np.array(shift) @ vectors
        distance = np.linalg.norm(moved[None] - points[:, None], axis=2)
        for i, j in zip(*np.nonzero(distance < cutoff)):
            if i == j and not any(shift):
                continue
            if half and (j < i or (i == j and shift < (0,) * dimension)):
                continue
            found.add((int(i), int(j), shift))
    return found


def as_set(i, j, s):
    return set(zip(i.tolist(), j.tolist(), map(tuple, s.tolist())))


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    count=st.integers(0, 40),
    dimension=st.sampled_from((2, 3)),
    dtype=st.sampled_from(DTYPES),
    triclinic=st.booleans(),
    half=st.booleans(),
    data=st.data(),
)
def test_lists_have_the_pairs_of_the_definition(seed, count, dimension, dtype, triclinic, half, data):
    random = np.random.default_rng(seed)
    periodic = data.draw(st.lists(st.booleans(), min_size=dimension, max_size=dimension))
    vectors = np.diag(random.uniform(1, 3, dimension))
    if triclinic and all(periodic):
        vectors += np.triu(random.uniform(-0.5, 0.5, (dimension, dimension)), 1)
    # Multiples of 1/64 have the same distances in both precisions.
    vectors = np.round(vectors * 64) / 64
    points = np.round(random.uniform(-1, 3, (count, dimension)) * 64) / 64
    cutoff = 1.0078125  # no distance of such points: its square is odd in units of 2^-14
    i, j, s, d, v = quadrat.neighbor_list(
        points.astype(dtype), cutoff, box=vectors, periodic=periodic, half=half, outputs="ijSdD"
    )
    wanted = plain_list(points, cutoff, vectors, periodic)
    if half:
        found = as_set(i, j, s)
        mirrored = {(b, a, tuple(-x for x in shift)) for a, b, shift in found}
        assert found | mirrored == wanted and not found & mirrored
    else:
        assert as_set(i, j, s) == wanted
    assert len(i) == len(as_set(i, j, s))
    expected = points[j] + s @ vectors - points[i]
    np.testing.assert_allclose(v, expected, atol=1e-5 if dtype == np.float32 else 1e-12)
    np.testing.assert_allclose(d, np.linalg.norm(expected, axis=1), atol=1e-5 if dtype == np.float32 else 1e-12)
    assert i.dtype == j.dtype == s.dtype == np.int64 and d.dtype == v.dtype == dtype
    assert np.all(np.diff(i) >= 0)


@pytest.mark.parametrize("pbc", [True, False, (True, False, True), (False, False, True)])
def test_the_list_of_ase_has_its_pairs_and_shifts(pbc):
    random = np.random.default_rng(3)
    cell = np.diag([7.0, 8.0, 9.0]) + np.triu(random.uniform(-1, 1, (3, 3)), 1)
    atoms = ase.Atoms("H60", positions=random.uniform(-9, 18, (60, 3)), cell=cell, pbc=pbc)
    own = quadrat.ase.neighbor_list("ijdDS", atoms, 3.1)
    other = ase.neighborlist.neighbor_list("ijdDS", atoms, 3.1)
    assert as_set(own[0], own[1], own[4]) == as_set(other[0], other[1], other[4])
    assert len(own[0]) == len(other[0])
    order = [np.lexsort((*part[4].T[::-1], part[1], part[0])) for part in (own, other)]
    for mine, theirs in zip(own, other):
        np.testing.assert_allclose(mine[order[0]], theirs[order[1]], atol=1e-12)


def test_an_isolated_cell_of_zeros_is_open():
    atoms = ase.Atoms("H3", positions=[[0, 0, 0], [0, 0, 1], [0, 0, 9]])
    assert quadrat.ase.neighbor_list("ij", atoms, 2.0)[1].tolist() == [1, 0]
    with pytest.raises(ValueError, match=r"\(2,\).*3 atoms"):
        quadrat.ase.neighbor_list("ij", atoms, [1.0, 2.0])


@pytest.mark.parametrize("self_interaction", (False, True))
@pytest.mark.parametrize("cutoff", [2.5, {("H", "O"): 2.0, ("H", 1): 1.1, (8, 8): 3.0}, np.linspace(0.3, 1.5, 60).tolist()])
def test_lists_of_ase_have_its_cutoffs_by_elements_and_atoms(cutoff, self_interaction):
    random = np.random.default_rng(4)
    atoms = ase.Atoms("H20O30N10", positions=random.uniform(-2, 9, (60, 3)), cell=[7, 8, 9], pbc=(True, True, False))
    arguments = {"a": atoms, "cutoff": cutoff, "self_interaction": self_interaction, "max_nbins": 100}
    own = quadrat.ase.neighbor_list(quantities="ijSdD", **arguments)
    other = ase.neighborlist.neighbor_list(quantities="ijSdD", **arguments)
    order = np.lexsort((*other[2].T[::-1], other[1], other[0]))
    assert len(own[0]) > 60 * self_interaction
    for mine, theirs in zip(own, other):
        np.testing.assert_allclose(mine, theirs[order], atol=1e-12)


def test_lists_agree_with_vesin():
    random = np.random.default_rng(5)
    points, cell = random.uniform(0, 12, (2000, 3)), np.diag([12.0, 12, 12])
    i, j, s = quadrat.neighbor_list(points, 2.0, box=cell, outputs="ijS")
    other = vesin.NeighborList(cutoff=2.0, full_list=True).compute(points, cell, True, "ijS")
    assert as_set(i, j, s) == as_set(*other)


def test_strided_and_transposed_points_are_read_as_they_are():
    table = np.random.default_rng(1).uniform(0, 1, (6, 400))
    points = table[::2].T[::-1]
    assert not points.flags.c_contiguous
    found = quadrat.neighbor_list(points, 0.2, outputs="ijS", sorted=True)
    wanted = quadrat.neighbor_list(np.ascontiguousarray(points), 0.2, outputs="ijS", sorted=True)
    assert all(np.array_equal(a, b) for a, b in zip(found, wanted))


def test_a_list_with_a_skin_is_built_anew_only_after_half_the_skin():
    random = np.random.default_rng(8)
    points = random.uniform(0, 6, (500, 3))
    neighbors = quadrat.NeighborList(1.0, skin=0.4, outputs="ijSD", sorted=True)
    with pytest.raises(ValueError, match="update"):
        neighbors.arrays()
    assert neighbors.update(points, box=[6, 6, 6])
    assert not neighbors.update(points + 0.1, box=[6, 6, 6])
    assert neighbors.update(points + [0.3, 0, 0], box=[6, 6, 6])
    moved = points + [0.2, 0.15, 0]
    assert not neighbors.update(moved, box=[6, 6, 6])
    i, j, s, v = neighbors.arrays()
    np.testing.assert_allclose(v, moved[j] + s @ np.diag([6.0, 6, 6]) - moved[i], atol=1e-12)
    near = np.linalg.norm(v, axis=1) < 1.0
    exact = quadrat.neighbor_list(moved, 1.0, box=[6, 6, 6], outputs="ijS")
    assert as_set(i[near], j[near], s[near]) == as_set(*exact)
    # Other points, another precision: what belongs to the earlier ones is gone.
    assert neighbors.update(points[:7].astype(np.float32), box=[6, 6, 6])
    assert neighbors.arrays()[3].dtype == np.float32


def test_a_failed_update_leaves_no_list():
    neighbors = quadrat.NeighborList(1.0)
    neighbors.update(np.zeros((2, 3)))
    with pytest.raises(ValueError, match="point 1 at .*nan"):
        neighbors.update([[0.0, 0, 0], [np.nan, 0, 0]])
    with pytest.raises(ValueError, match="update"):
        neighbors.arrays()
    neighbors.update(np.zeros((2, 3)))
    assert len(neighbors.arrays()[0]) == 2


def test_systems_have_no_pairs_with_each_other():
    random = np.random.default_rng(2)
    points, systems = random.uniform(0, 3, (90, 3)), np.arange(90) % 3
    boxes = np.stack([np.diag([3.0 + k, 3, 3]) for k in range(3)])
    i, j, s = quadrat.neighbor_list(points, 1.0, box=boxes, systems=systems, outputs="ijS")
    wanted = set()
    for k in range(3):
        own = np.flatnonzero(systems == k)
        a, b, shift = quadrat.neighbor_list(points[own], 1.0, box=boxes[k], outputs="ijS")
        wanted |= as_set(own[a], own[b], shift)
    assert as_set(i, j, s) == wanted


def test_systems_may_share_a_box():
    random = np.random.default_rng(4)
    points, systems = random.uniform(0, 3, (100, 3)), np.arange(100) % 5
    wanted = quadrat.neighbor_list(points, 1.0, box=np.stack([np.eye(3) * 3] * 5), systems=systems, sorted=True)
    for box in (np.eye(3)[None] * 3, [3, 3, 3]):
        found = quadrat.neighbor_list(points, 1.0, box=box, systems=systems, sorted=True)
        assert all(np.array_equal(a, b) for a, b in zip(found, wanted))
    with pytest.raises(ValueError, match="point 2 belongs to system 2; there are 2"):
        quadrat.neighbor_list(points, 1.0, box=np.stack([np.eye(3)] * 2), systems=systems)


def test_cutoffs_may_come_from_radii_and_types_and_pairs_may_be_excluded():
    random = np.random.default_rng(7)
    points, radii, types = random.uniform(0, 4, (150, 3)), random.uniform(0.1, 0.6, 150), random.integers(0, 3, 150)
    i, j, s, d = quadrat.neighbor_list(points, 1.2, box=[4, 4, 4], outputs="ijSd")
    pairs = list(zip(i.tolist(), j.tolist(), map(tuple, s.tolist()), d.tolist()))
    table = np.array([[0, 0.5, 0.9], [0.5, 1.1, 0.7], [0.9, 0.7, 0.3]])
    limits = {
        "sum_of_radii": lambda a, b: radii[a] + radii[b],
        "larger_radius": lambda a, b: max(radii[a], radii[b]),
        "own_radius": lambda a, b: radii[a],
        "table_of_types": lambda a, b: table[types[a], types[b]],
    }
    for rule, limit in limits.items():
        arguments = {"types": types} if rule == "table_of_types" else {"radii": radii}
        own = {"type_cutoffs": table} if rule == "table_of_types" else {}
        wanted = {(a, b, shift) for a, b, shift, distance in pairs if distance < limit(a, b)}
        found = quadrat.neighbor_list(points, 1.2, box=[4, 4, 4], rule=rule, outputs="ijS", **arguments, **own)
        assert as_set(*found) == wanted and len(wanted) > 20
        neighbors = quadrat.NeighborList(1.2, rule=rule, outputs="ijS", **own)
        neighbors.update(points, box=[4, 4, 4], **arguments)
        assert as_set(*neighbors.arrays()) == wanted
    excluded = np.stack([i[::7], j[::7]], axis=1)
    found = quadrat.neighbor_list(points, 1.2, box=[4, 4, 4], outputs="ijS", excluded=excluded)
    without = {frozenset(pair) for pair in excluded.tolist()}
    assert as_set(*found) == {(a, b, shift) for a, b, shift, _ in pairs if frozenset((a, b)) not in without}
    assert as_set(*quadrat.neighbor_list(points, 1.2, radii=radii, outputs="ijS")) == {
        (a, b, shift) for a, b, shift, distance in pairs if distance < radii[a] + radii[b] and shift == (0, 0, 0)
    }


def test_queries_are_no_points():
    points = np.array([[0.0, 0, 0], [1, 0, 0]])
    i, j, n = quadrat.neighbor_list(points, 0.5, queries=[[0.0, 0, 0], [5, 5, 5], [1.1, 0, 0]], outputs="ijn")
    assert (i.tolist(), j.tolist(), n.tolist()) == ([0, 2], [0, 1], [0, 1, 1, 2])


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("rule", ["uniform", "sum_of_radii", "larger_radius", "own_radius", "table_of_types"])
def test_queries_have_radii_types_and_systems_of_their_own(rule, dtype):
    random = np.random.default_rng(11)
    points, queries = (random.uniform(-1, 5, (count, 3)).astype(dtype) for count in (200, 70))
    radii, types = random.uniform(0.1, 0.6, 200).astype(dtype), random.integers(0, 3, 200)
    own_radii, own_types = random.uniform(0.1, 0.6, 70).astype(dtype), random.integers(0, 3, 70)
    systems, own_systems = random.integers(0, 2, 200), random.integers(0, 2, 70)
    table = np.array([[0, 0.5, 0.9], [0.5, 1.1, 0.7], [0.9, 0.7, 0.3]])
    limits = {
        "uniform": np.full((70, 200), 1.2),
        "sum_of_radii": own_radii[:, None] + radii,
        "larger_radius": np.maximum(own_radii[:, None], radii),
        "own_radius": own_radii[:, None] + np.zeros(200),
        "table_of_types": table[own_types[:, None], types],
    }
    away = points.astype(float) - queries[:, None].astype(float)
    shifts = np.round(-away / 4)
    distances = np.linalg.norm(away + 4 * shifts, axis=2)
    a, b = np.nonzero((distances < limits[rule]) & (own_systems[:, None] == systems))
    wanted = {(i, j, tuple(shifts[i, j])) for i, j in zip(a.tolist(), b.tolist())}

    given = {"queries": queries, "box": [4, 4, 4], "systems": systems, "systems_of_queries": own_systems}
    if rule == "table_of_types":
        given |= {"types": types, "types_of_queries": own_types}
    elif rule != "uniform":
        given |= {"radii_of_queries": own_radii} | ({} if rule == "own_radius" else {"radii": radii})
    settings = {"rule": rule, "outputs": "ijS"} | ({"type_cutoffs": table} if rule == "table_of_types" else {})
    found = quadrat.neighbor_list(points, 1.2, **given, **settings)
    assert as_set(*found) == wanted and len(wanted) > 20
    neighbors = quadrat.NeighborList(1.2, **settings)
    assert neighbors.update(points, **given) and as_set(*neighbors.arrays()) == wanted
    assert neighbors.update(points) if rule == "uniform" else True  # the queries are gone
    if rule == "uniform":
        assert as_set(*neighbors.arrays()) == as_set(*quadrat.neighbor_list(points, 1.2, outputs="ijS"))


def test_build_makes_the_list_anew_where_update_does_not():
    points = np.random.default_rng(3).uniform(0, 5, (200, 3))
    neighbors = quadrat.NeighborList(1.0, skin=0.5, outputs="ij")
    assert neighbors.update(points, box=[5, 5, 5]) and not neighbors.update(points, box=[5, 5, 5])
    moved = points + [0.2, 0, 0]
    i, _ = neighbors.build(moved, box=[5, 5, 5]).arrays()
    assert len(i) == len(quadrat.neighbor_list(points, 1.5, box=[5, 5, 5], outputs="i"))
    assert not neighbors.update(points + [0.4, 0, 0], box=[5, 5, 5])  # 0.4 from the first points, but 0.2 from those of build
    with pytest.raises(ValueError, match="point 0"):
        neighbors.build(np.full((3, 3), np.nan), box=[5, 5, 5])
    with pytest.raises(ValueError, match="call build or update"):
        neighbors.arrays()


@pytest.mark.parametrize("level", ["run_to_run", "canonical"])
def test_lists_that_must_be_repeatable_are_the_same_with_any_number_of_threads(level):
    points = np.random.default_rng(3).uniform(0, 5, (3000, 3))
    one, two = (quadrat.neighbor_list(points, 1.0, box=[5, 5, 5], deterministic=level, threads=n) for n in (1, 2))
    for a, b in zip(one, two):
        np.testing.assert_array_equal(a, b)


def test_a_list_that_times_its_methods_has_the_same_pairs():
    points = np.random.default_rng(3).uniform(0, 5, (2000, 3))
    wanted = len(quadrat.neighbor_list(points, 1.0, box=[5, 5, 5], outputs="i"))
    neighbors = quadrat.NeighborList(1.0, outputs="i", autotune=True)
    for _ in range(10):
        assert len(neighbors.build(points, box=[5, 5, 5]).arrays()) == wanted
    with pytest.raises(ValueError, match="autotune"):
        quadrat.NeighborList(1.0, autotune=True, deterministic="run_to_run").build(points)
