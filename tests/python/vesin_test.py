# SPDX-License-Identifier: BSD-3-Clause
"""The drop-in for vesin beside vesin itself."""

import numpy as np
import pytest
import quadrat.vesin

vesin = pytest.importorskip("vesin")


def as_table(i, j, shifts, distances, half):
    """Pairs in one order; those of a half list seen from their smaller end."""
    rows = []
    for a, b, s, d in zip(i.tolist(), j.tolist(), shifts.tolist(), distances.tolist()):
        turned = (b, a, [-x for x in s])
        a, b, s = min((a, b, s), turned) if half else (a, b, s)
        rows.append((a, b, *s, d))
    return np.array(sorted(rows)).reshape(-1, 6)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("full_list", [True, False])
def test_lists_are_those_of_vesin(seed, full_list):
    random = np.random.default_rng(seed)
    dtype = (np.float64, np.float32)[seed % 2]
    box = (np.diag(random.uniform(1, 4, 3)) + np.triu(random.uniform(-0.5, 0.5, (3, 3)), 1)).astype(dtype)
    points = (random.uniform(-1, 2, (40, 3)) @ box).astype(dtype)
    periodic = random.integers(0, 2, 3).astype(bool) if seed < 4 else bool(seed % 2)
    arguments = {"cutoff": 1.1, "full_list": full_list, "sorted": bool(seed % 3)}
    found = quadrat.vesin.NeighborList(**arguments).compute(points, box, periodic, "ijPSdD")
    wanted = vesin.NeighborList(**arguments).compute(points, box, periodic, "ijPSdD")
    assert [a.dtype for a in found] == [b.dtype for b in wanted] and [a.ndim for a in found] == [b.ndim for b in wanted]
    (i, j, both, s, d, D), (a, b, _, t, e, _) = found, wanted
    tolerance = 1e-12 if dtype == np.float64 else 1e-5
    np.testing.assert_allclose(as_table(i, j, s, d, not full_list), as_table(a, b, t, e, not full_list), atol=tolerance)
    np.testing.assert_array_equal(both, np.stack([i, j], 1))
    np.testing.assert_allclose(D, points[j] - points[i] + s @ box, atol=1e-5)


def test_open_boxes_may_be_zero_and_integers_become_doubles():
    points, box = np.array([[0, 0, 0], [1, 0, 0], [5, 0, 0]]), np.zeros((3, 3), dtype=int)
    for module in (quadrat.vesin, vesin):
        i, j, d = module.NeighborList(cutoff=2, full_list=False).compute(points, box, False, "ijd")
        assert (i.tolist(), j.tolist(), d.tolist(), d.dtype) == ([0], [1], [1.0], np.float64)
    assert len(quadrat.vesin.NeighborList(cutoff=2, full_list=True).compute([[0.0, 0, 0]], np.zeros((3, 3)), False)[0]) == 0


def test_a_list_with_a_skin_follows_its_points():
    random = np.random.default_rng(1)
    points, box = random.uniform(0, 4, (60, 3)), 4 * np.eye(3)
    kept = quadrat.vesin.NeighborList(cutoff=1.0, full_list=True, skin=0.4, n_threads=1)
    for _ in range(8):
        points = points + random.normal(0, 0.05, points.shape)
        fresh = vesin.NeighborList(cutoff=1.0, full_list=True, skin=0.4).compute(points, box, True, "ijSd")
        found = kept.compute(points, box, True, "ijSd")
        np.testing.assert_allclose(as_table(*found, False), as_table(*fresh, False), atol=1e-12)


@pytest.mark.parametrize(
    "call, error, words",
    [
        (lambda p, b: quadrat.vesin.NeighborList(cutoff=1, full_list=True, algorithm="octree"), ValueError, "octree"),
        (lambda p, b: quadrat.vesin.NeighborList(cutoff=1, full_list=True, n_threads=-1), ValueError, "-1"),
        (lambda p, b: quadrat.vesin.NeighborList(cutoff=1, full_list=True).compute(p, b, True, "ix"), ValueError, "'ix'"),
        (lambda p, b: quadrat.vesin.NeighborList(cutoff=1, full_list=True).compute(p, b[0], True), ValueError, r"\(3,\)"),
        (lambda p, b: quadrat.vesin.NeighborList(cutoff=1, full_list=True).compute(p[0], b, True), ValueError, r"\(3,\)"),
        (
            lambda p, b: quadrat.vesin.NeighborList(cutoff=1, full_list=True).compute(p, b.astype("f4"), True),
            RuntimeError,
            "float32",
        ),
    ],
)
def test_bad_arguments_are_named(call, error, words):
    with pytest.raises(error, match=words):
        call(np.zeros((2, 3)), np.eye(3))
