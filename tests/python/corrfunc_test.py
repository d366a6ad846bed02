# SPDX-License-Identifier: BSD-3-Clause
"""Pair counts, and the functions of quadrat.corrfunc: against the examples in Corrfunc's documentation, against plain
counts in NumPy, and against Corrfunc itself where it is installed."""

import numpy as np
import pytest
from quadrat import corrfunc
from quadrat.counts import pair_counts

EDGES = np.array([0.167536, 0.238755, 0.340251, 0.484892, 0.691021, 0.984777, 1.40341, 2, 2.8502, 4.06184, 5.78853,
                  8.24925, 11.756, 16.7536, 23.8755])  # fmt: skip
SIDE = 420.0


def catalog(count=10_000, seed=42):
    np.random.seed(seed)
    return [np.random.uniform(0, SIDE, count) for _ in range(3)]


def weighted(count=10_000):
    return {"weights1": np.ones(count), "weight_type": "pair_product", "boxsize": SIDE, "periodic": True}


def test_counts_by_distance_are_those_of_the_documentation():
    found = corrfunc.DD(1, 2, EDGES, *catalog(), output_ravg=True, **weighted())
    assert found.dtype.names == ("rmin", "rmax", "ravg", "npairs", "weightavg")
    assert found.dtype["npairs"] == np.uint64
    counts = [0, 0, 0, 0, 2, 10, 36, 52, 210, 670, 2156, 5990, 17736, 50230]
    assert found["npairs"].tolist() == counts
    assert found["weightavg"].tolist() == [float(count > 0) for count in counts]
    means = [0, 0, 0, 0, 0.945372, 1.340525, 1.732968, 2.549059, 3.559061, 4.996275, 7.124926, 10.201393, 14.517498,
             20.716714]  # fmt: skip
    assert found["ravg"] == pytest.approx(means, abs=1e-6)
    assert found["rmin"].tolist() == EDGES[:-1].tolist() and found["rmax"].tolist() == EDGES[1:].tolist()


def test_counts_along_the_line_of_sight_are_those_of_the_documentation():
    found = corrfunc.DDrppi(1, 2, 40.0, EDGES, *catalog(), output_rpavg=True, **weighted())
    assert found.dtype.names == ("rmin", "rmax", "rpavg", "pimax", "npairs", "weightavg")
    rows = found[519:525]
    assert rows["npairs"].tolist() == [1142, 2602, 2366, 2426, 2460, 2528]
    assert rows["pimax"].tolist() == [40, 1, 2, 3, 4, 5]
    assert rows["rpavg"] == pytest.approx([14.388268, 20.451822, 20.603847, 20.526435, 20.478537, 20.4623], abs=1e-6)


def test_counts_by_mu_are_those_of_the_documentation():
    found = corrfunc.DDsmu(1, 2, EDGES, 1.0, 10, *catalog(), output_savg=True, **weighted())
    assert found.dtype.names == ("smin", "smax", "savg", "mu_max", "npairs", "weightavg")
    rows = found[100:110]
    assert rows["npairs"].tolist() == [230, 236, 210, 254, 182, 222, 238, 170, 208, 206]
    assert rows["mu_max"] == pytest.approx(np.arange(1, 11) / 10)
    assert rows["savg"][:3] == pytest.approx([7.149762, 7.158884, 7.153403], abs=1e-6)


def test_projected_correlations_are_those_of_the_documentation():
    found = corrfunc.wp(SIDE, 40.0, 2, EDGES, *catalog(), weights=np.ones(10_000), weight_type="pair_product")
    assert found.dtype.names == ("rmin", "rmax", "rpavg", "wp", "npairs", "weightavg")
    assert found["npairs"].tolist() == [18, 16, 42, 66, 142, 298, 588, 1466, 2808, 5802, 11926, 23478, 47994, 98042]
    assert found["wp"][[0, 3, 13]] == pytest.approx([66.717143, -15.779885, -0.086433], abs=1e-5)
    assert not found["rpavg"].any()


def test_correlations_are_those_of_the_documentation():
    points = catalog(100_000)
    found = corrfunc.xi(SIDE, 2, EDGES, *points, weights=np.ones(100_000), weight_type="pair_product", output_ravg=True)
    assert found["npairs"].tolist() == [4, 12, 40, 106, 336, 1052, 2994, 8614, 24448, 70996, 207392, 601002, 1740084,
                                        5028058]  # fmt: skip
    assert found["xi"][[0, 5, 13]] == pytest.approx([-0.205733, 0.028543, -0.001595], abs=1e-6)
    assert found["ravg"][13] == pytest.approx(20.728773, abs=1e-6)


def plain_counts(points, others, weights, other_weights, edges):
    """Counts and sums of products of weights in open space."""
    distances = np.sqrt(((points[:, None] - others[None]) ** 2).sum(axis=2)).ravel()
    products = (weights[:, None] * other_weights[None]).ravel()
    return np.histogram(distances, edges)[0], np.histogram(distances, edges, weights=products)[0]


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_counts_between_sets_in_open_space_are_those_of_all_pairs(kind):
    random = np.random.default_rng(3)
    points, others = random.random((300, 3)).astype(kind), random.random((200, 3)).astype(kind) + kind(0.25)
    weights, other_weights = random.random(300).astype(kind), random.random(200).astype(kind)
    edges = [0.1, 0.3, 0.7]
    counts, sums = plain_counts(points, others, weights, other_weights, edges)
    found = pair_counts(points, edges, others=others, weights=weights, other_weights=other_weights)
    assert found.counts.tolist() == counts.tolist()
    assert found.weights == pytest.approx(sums, rel=1e-6)
    assert found.mean_separations is None
    table = corrfunc.DD(0, 2, edges, *points.T, weights1=weights, X2=others[:, 0], Y2=others[:, 1], Z2=others[:, 2],
                        weights2=other_weights, periodic=False, weight_type="pair_product")  # fmt: skip
    assert table["npairs"].tolist() == counts.tolist()
    assert table["weightavg"] == pytest.approx(sums / counts, rel=1e-6)


@pytest.mark.parametrize("cross", [False, True])
def test_counts_without_a_region_are_those_of_the_points_of_the_others(cross):
    random = np.random.default_rng(4)
    points, others = random.random((200, 3)), random.random((150, 3))
    weights, other_weights = random.random(200), random.random(150)
    regions, other_regions = (3 * points[:, 0]).astype(int), (3 * others[:, 0]).astype(np.uint32)
    edges = [[0.1, 0.3], [0.0, 0.5, 1.0]]

    def counted(kept, other_kept, **more):
        between = {"others": others[other_kept], "other_weights": other_weights[other_kept]} if cross else {}
        return pair_counts(points[kept], edges[0], [1, 1, 1], weights=weights[kept], coordinates="s_mu",
                           second_edges=edges[1], **between, **more)  # fmt: skip

    more = {"other_regions": other_regions} if cross else {}
    found = counted(slice(None), slice(None), regions=regions, region_count=4, **more)
    assert found.region_counts.shape == found.region_weights.shape == (4, 1, 2)
    for region in range(4):
        left = counted(regions != region, other_regions != region)
        assert (found.counts - found.region_counts[region]).tolist() == left.counts.tolist()
        assert found.weights - found.region_weights[region] == pytest.approx(left.weights, rel=1e-9)
    assert counted(slice(None), slice(None), regions=regions, **more).region_counts.shape == (3, 1, 2)
    assert left.region_counts is None


def test_a_file_of_bins_and_an_edge_of_zero_count_points_with_themselves(tmp_path):
    (tmp_path / "bins").write_text("0 0.5\n0.5 1\n")
    x = np.array([0.0, 0.25, 1.0])
    found = corrfunc.DD(1, 1, tmp_path / "bins", x, x * 0, x * 0, periodic=False)
    assert found["npairs"].tolist() == [5, 2]
    assert found["weightavg"].tolist() == [0, 0]


def test_angles_are_counted_between_unit_vectors():
    sky = np.array([[0, 0, 1.0], [0, 1.0, 0], [0, 0, -1.0]])
    found = pair_counts(sky, [0, 45, 135, 180], coordinates="theta", mean_separation=True)
    assert found.counts.tolist() == [3, 4, 0]  # 180 degrees are the last edge, which is in no bin
    assert found.mean_separations.tolist() == pytest.approx([0, 90, 0])


def test_uniform_data_have_no_correlation_and_estimators_are_theirs():
    random = np.random.default_rng(5)
    data, randoms = random.random((2000, 3)), random.random((4000, 3))
    edges = [0.05, 0.1, 0.2]
    dd, dr, rr = (pair_counts(a, edges, others=b).counts for a, b in ((data, None), (data, randoms), (randoms, None)))
    sizes = 2000, 2000, 4000, 4000
    landy = corrfunc.convert_3d_counts_to_cf(*sizes, dd, dr, dr, rr)
    assert landy == pytest.approx(4 * dd / rr - 4 * dr / rr + 1)
    assert abs(landy).max() < 0.1
    natural = corrfunc.convert_3d_counts_to_cf(*sizes, dd, dr, dr, rr, estimator="natural")
    assert natural == pytest.approx(4 * dd / rr - 1)
    assert np.isnan(corrfunc.convert_3d_counts_to_cf(*sizes, [1], [0], [0], [0])).all()
    flat = np.repeat(dd, 3)
    projected = corrfunc.convert_rp_pi_counts_to_wp(*sizes, flat, flat, flat, flat, 2, 3)
    assert projected == pytest.approx([2 * 3 * (4 - 2 * 2 + 1 - 0)] * 2)
    tenths = corrfunc.convert_rp_pi_counts_to_wp(*sizes, flat, flat, flat, flat, 2, 0.3, 0.1)
    assert tenths == pytest.approx(projected / 10)


def test_files_of_edges_hold_bins_that_meet(tmp_path):
    (tmp_path / "bins").write_text("1e-9 2e-9\n2e-9 3e-9\n")
    x = np.array([0, 1.5e-9])
    assert corrfunc.DD(1, 1, tmp_path / "bins", x, 0 * x, 0 * x, periodic=False)["npairs"].tolist() == [2, 0]
    (tmp_path / "bins").write_text("1e-9 2e-9\n5e-9 6e-9\n")
    with pytest.raises(ValueError, match="where the last one ended"):
        corrfunc.DD(1, 1, tmp_path / "bins", x, 0 * x, 0 * x, periodic=False)


@pytest.mark.parametrize("call, words", [
    (lambda x: corrfunc.DD(1, 1, [0, 1], x, x, x), "periodic is True without a boxsize"),
    (lambda x: corrfunc.DD(0, 1, [0, 1], x, x, x, periodic=False), "X2, Y2 and Z2 are needed"),
    (lambda x: corrfunc.DD(1, 1, [0, 1], x, x, x[:2], periodic=False), "three equal rows"),
    (lambda x: corrfunc.DD(1, 1, [0, 1], x, x, x, weights1=x, periodic=False, weight_type="sum"), "weight_type is 'sum'"),
    (lambda x: corrfunc.DD(1, 1, [1, 0], x, x, x, periodic=False), "edges must increase"),
    (lambda x: corrfunc.DDrppi(1, 1, 0.5, [0, 1], x, x, x, periodic=False), "pimax is 0.5"),
    (lambda x: corrfunc.DDsmu(1, 1, [0, 1], 2.0, 4, x, x, x, periodic=False), "of mu is 1.5"),
    (lambda x: corrfunc.wp(1.0, 1.0, 1, [0, 0.2], x, x, x, c_cell_timer=True), "c_cell_timer"),
    (lambda x: corrfunc.xi([1.0, 1.0, -1.0], 1, [0, 0.2], x, x, x), "periodic along all axes"),
    (lambda x: corrfunc.DDrppi(1, 1, np.inf, [0, 1], x, x, x, periodic=False), "pimax is inf; .* from 1 to 1048576"),
    (lambda x: corrfunc.DDrppi(1, 1, 1e9, [0, 1], x, x, x, periodic=False), "pimax is 1000000000.0; .* from 1 to 1048576"),
    (lambda x: corrfunc.DDrppi(1, 1, np.nan, [0, 1], x, x, x, periodic=False), "pimax is nan"),
    (lambda x: corrfunc.DDsmu(1, 1, [0, 1], 0, 4, x, x, x, periodic=False), "mu_max is 0.0; a number above 0"),
    (lambda x: corrfunc.DD(1, 1, [0, 1], x, x, x, boxsize=[1, 1]), r"boxsize has the shape \(2,\); one length, or three"),
    (lambda x: corrfunc.DD(1, 1, [0, 1], np.ma.masked_less(x, 0.1), x, x, boxsize=1), "positions: masked elements"),
    (lambda x: corrfunc.DD(1, 1, [0, 1], x, x, x, np.ma.masked_less(x, 0.1), boxsize=1, weight_type="pair_product"),
     "weights: masked elements"),
    (lambda x: corrfunc.convert_3d_counts_to_cf(0, 1, 1, 1, x, x, x, x), "ND1 is 0; a positive number"),
    (lambda x: corrfunc.convert_rp_pi_counts_to_wp(1, 1, 1, 1, x, x, x, x, 1, 1, 0), "dpi is 0; a positive number"),
    (lambda x: pair_counts(np.ones((2, 3)), [0, 1], weights=[1e200, 1e-200]), "largest weights are 1e.?200 and 1e.?200"),
    (lambda x: pair_counts(np.ones((2, 3)), [0, 1], weights=np.full(2, 1e-155)), "largest weights are 1e-155"),
    (lambda x: pair_counts(np.ones((2, 3)), [0, 1], coordinates="rp"), "coordinates is 'rp'"),
    (lambda x: pair_counts(np.ones((2, 3)), [0, 1], box=[1, 1, 1], coordinates="theta"), "box is given"),
    (lambda x: pair_counts(np.ones((2, 3)), [[0, 1]]), "edges have the shape"),
    (lambda x: pair_counts(np.ones((2, 3)), [0, 1], regions=[0]), "regions have the shape"),
    (lambda x: pair_counts(np.ones((2, 3)), [0, 1], regions=[0, -2]), r"regions\[1\] is -2"),
    (lambda x: pair_counts(np.ones((2, 3)), [0, 1], regions=[0, 2], region_count=2), "point 1 is in region 2"),
    (lambda x: pair_counts(np.ones((2, 3)), [0, 1], regions=[0, 2**21]), "2097153 regions"),
    (lambda x: pair_counts(np.ones((2, 3)), [0, 1], region_count=2), "each point needs a region"),
    (lambda x: pair_counts(np.ones((2, 3)), [0, 1], other_regions=[0, 1]), "other_regions are given"),
    (lambda x: pair_counts(np.ones((2, 3)), [0, 1], other_weights=np.ones(2)), "other_weights are given"),
])  # fmt: skip
def test_impossible_arguments_are_named(call, words):
    with pytest.raises((ValueError, TypeError), match=words):
        call(np.linspace(0, 0.9, 3))


def test_corrfunc_itself_counts_the_same():
    theory = pytest.importorskip("Corrfunc.theory")
    points = catalog(20_000, seed=1)
    weights = np.random.default_rng(1).random(20_000)
    same = {"weights1": weights, "weight_type": "pair_product", "boxsize": SIDE, "periodic": True}
    calls = [("DD", (1, 2, EDGES), {"output_ravg": True}), ("DDrppi", (1, 2, 20.0, EDGES), {"output_rpavg": True})]
    for name, arguments, more in calls:
        theirs = getattr(theory, name)(*arguments, *points, **same, **more)
        ours = getattr(corrfunc, name)(*arguments, *points, **same, **more)
        assert ours.dtype == theirs.dtype
        assert ours["npairs"].tolist() == theirs["npairs"].tolist()
        for field in ours.dtype.names:
            assert ours[field] == pytest.approx(theirs[field], rel=1e-6)
