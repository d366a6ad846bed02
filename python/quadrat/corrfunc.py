# SPDX-License-Identifier: BSD-3-Clause
"""Pair counts and correlation functions with the arguments and results of Corrfunc: `from quadrat.corrfunc import DD`.

`DD`, `DDrppi`, `DDsmu`, `wp` and `xi` are those of Corrfunc.theory, `convert_3d_counts_to_cf` and
`convert_rp_pi_counts_to_wp` those of Corrfunc.utils. Counts are Corrfunc's, and follow its conventions: bins hold their
lower edge; in auto counts each pair counts twice, and with an edge of 0 each point counts with itself. Options that
only change Corrfunc's way of counting (`isa`, `verbose`, `copy_particles`, `enable_min_sep_opt`, `max_cells_per_dim`,
`fast_divide_and_NR_steps`, the refine factors) are accepted and ignored.
"""

import time
from typing import Any

import numpy as np

from . import _core
from ._numbers import flag, positive, real_number, shown, whole, word
from ._types import Array
from .counts import PairCounts, pair_counts

__all__ = ["DD", "DDrppi", "DDsmu", "convert_3d_counts_to_cf", "convert_rp_pi_counts_to_wp", "wp", "xi"]

_MOST_BINS = 2**20


def DD(
    autocorr: bool,
    nthreads: int,
    binfile: Any,
    X1: Array,
    Y1: Array,
    Z1: Array,
    weights1: Array = None,
    periodic: bool = True,
    boxsize: Any = None,
    X2: Array = None,
    Y2: Array = None,
    Z2: Array = None,
    weights2: Array = None,
    verbose: bool = False,
    output_ravg: bool = False,
    xbin_refine_factor: int = 2,
    ybin_refine_factor: int = 2,
    zbin_refine_factor: int = 1,
    max_cells_per_dim: int = 100,
    copy_particles: bool = True,
    enable_min_sep_opt: bool = True,
    c_api_timer: bool = False,
    isa: Any = "fastest",
    weight_type: str | None = None,
) -> Any:
    """Counts of pairs by distance: a structured array (rmin, rmax, ravg, npairs, weightavg)."""
    begin = time.perf_counter()
    edges = _edges(binfile)
    first = _positions(X1, Y1, Z1, weights1, weight_type)
    second = None if flag(autocorr, "autocorr") else _positions(X2, Y2, Z2, weights2, weight_type)
    found = _counted(edges, first, second, _box(periodic, boxsize, first, second), nthreads, output_ravg)
    return _timed(_table(edges, found, "r"), c_api_timer, begin)


def DDrppi(
    autocorr: bool,
    nthreads: int,
    pimax: float,
    binfile: Any,
    X1: Array,
    Y1: Array,
    Z1: Array,
    weights1: Array = None,
    periodic: bool = True,
    boxsize: Any = None,
    X2: Array = None,
    Y2: Array = None,
    Z2: Array = None,
    weights2: Array = None,
    verbose: bool = False,
    output_rpavg: bool = False,
    xbin_refine_factor: int = 2,
    ybin_refine_factor: int = 2,
    zbin_refine_factor: int = 1,
    max_cells_per_dim: int = 100,
    copy_particles: bool = True,
    enable_min_sep_opt: bool = True,
    c_api_timer: bool = False,
    isa: Any = "fastest",
    weight_type: str | None = None,
) -> Any:
    """Counts by the distances across and along the third axis, the latter in int(pimax) bins: a structured array (rmin,
    rmax, rpavg, pimax, npairs, weightavg)."""
    begin = time.perf_counter()
    edges = _edges(binfile)
    depths = _linear(pimax, None, "pimax")
    first = _positions(X1, Y1, Z1, weights1, weight_type)
    second = None if flag(autocorr, "autocorr") else _positions(X2, Y2, Z2, weights2, weight_type)
    box = _box(periodic, boxsize, first, second)
    found = _counted(edges, first, second, box, nthreads, output_rpavg, "rp_pi", depths)
    return _timed(_table(edges, found, "rp", [("pimax", depths[1:])]), c_api_timer, begin)


def DDsmu(
    autocorr: bool,
    nthreads: int,
    binfile: Any,
    mu_max: float,
    nmu_bins: int,
    X1: Array,
    Y1: Array,
    Z1: Array,
    weights1: Array = None,
    periodic: bool = True,
    boxsize: Any = None,
    X2: Array = None,
    Y2: Array = None,
    Z2: Array = None,
    weights2: Array = None,
    verbose: bool = False,
    output_savg: bool = False,
    fast_divide_and_NR_steps: int = 0,
    xbin_refine_factor: int = 2,
    ybin_refine_factor: int = 2,
    zbin_refine_factor: int = 1,
    max_cells_per_dim: int = 100,
    copy_particles: bool = True,
    enable_min_sep_opt: bool = True,
    c_api_timer: bool = False,
    isa: Any = "fastest",
    weight_type: str | None = None,
) -> Any:
    """Counts by the distance s and by mu = abs(z) / s, in nmu_bins bins up to mu_max: a structured array (smin, smax,
    savg, mu_max, npairs, weightavg)."""
    begin = time.perf_counter()
    edges = _edges(binfile)
    cosines = _linear(mu_max, whole(nmu_bins, "nmu_bins", 1, _MOST_BINS), "mu_max")
    first = _positions(X1, Y1, Z1, weights1, weight_type)
    second = None if flag(autocorr, "autocorr") else _positions(X2, Y2, Z2, weights2, weight_type)
    box = _box(periodic, boxsize, first, second)
    found = _counted(edges, first, second, box, nthreads, output_savg, "s_mu", cosines)
    return _timed(_table(edges, found, "s", [("mu_max", cosines[1:])]), c_api_timer, begin)


def wp(
    boxsize: Any,
    pimax: float,
    nthreads: int,
    binfile: Any,
    X: Array,
    Y: Array,
    Z: Array,
    weights: Array = None,
    weight_type: str | None = None,
    verbose: bool = False,
    output_rpavg: bool = False,
    xbin_refine_factor: int = 2,
    ybin_refine_factor: int = 2,
    zbin_refine_factor: int = 1,
    max_cells_per_dim: int = 100,
    copy_particles: bool = True,
    enable_min_sep_opt: bool = True,
    c_api_timer: bool = False,
    c_cell_timer: bool = False,
    isa: Any = "fastest",
) -> Any:
    """The projected correlation function in a periodic box, against the pairs expected of uniform points: a structured
    array (rmin, rmax, rpavg, wp, npairs, weightavg)."""
    begin = time.perf_counter()
    if flag(c_cell_timer, "c_cell_timer"):
        raise ValueError("c_cell_timer is True; times of cells are not measured")
    edges, depth = _edges(binfile), real_number(pimax, "pimax")
    points = _positions(X, Y, Z, weights, weight_type)
    box = _box(True, boxsize, points, None)
    found = _counted(edges, points, None, box, nthreads, output_rpavg, "rp_pi", [0.0, depth])
    found = PairCounts(*(values if values is None else values[:, 0] for values in found))
    values = 2 * depth * _excess(found, 2 * depth * np.pi * edges**2, edges, points, box)
    return _timed(_table(edges, found, "rp", [("wp", values)]), c_api_timer, begin)


def xi(
    boxsize: Any,
    nthreads: int,
    binfile: Any,
    X: Array,
    Y: Array,
    Z: Array,
    weights: Array = None,
    weight_type: str | None = None,
    verbose: bool = False,
    output_ravg: bool = False,
    xbin_refine_factor: int = 2,
    ybin_refine_factor: int = 2,
    zbin_refine_factor: int = 1,
    max_cells_per_dim: int = 100,
    copy_particles: bool = True,
    enable_min_sep_opt: bool = True,
    c_api_timer: bool = False,
    isa: Any = "fastest",
) -> Any:
    """The correlation function in a periodic box, against the pairs expected of uniform points: a structured array
    (rmin, rmax, ravg, xi, npairs, weightavg)."""
    begin = time.perf_counter()
    edges = _edges(binfile)
    points = _positions(X, Y, Z, weights, weight_type)
    box = _box(True, boxsize, points, None)
    found = _counted(edges, points, None, box, nthreads, output_ravg)
    values = _excess(found, 4 / 3 * np.pi * edges**3, edges, points, box)
    return _timed(_table(edges, found, "r", [("xi", values)]), c_api_timer, begin)


def convert_3d_counts_to_cf(
    ND1: float,
    ND2: float,
    NR1: float,
    NR2: float,
    D1D2: Any,
    D1R2: Any,
    D2R1: Any,
    R1R2: Any,
    estimator: str = "LS",
) -> np.ndarray:
    """The correlation function from counts of data and random points: arrays of numbers, or results of `DD` and the
    others, whose counts are weighted if they have weights. "LS" is that of Landy and Szalay, "natural" is DD / RR - 1.
    NaN where there are no random pairs."""
    pairs = [_pairs(one) for one in (D1D2, D1R2, D2R1, R1R2)]
    first, second = (positive(a, f"NR{k}") / positive(b, f"ND{k}") for k, a, b in ((1, NR1, ND1), (2, NR2, ND2)))
    data = first * second * pairs[0]
    if word(estimator, "estimator", ("LS", "natural")) == "LS":
        data = data - first * pairs[1] - second * pairs[2] + 2 * pairs[3]
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(pairs[3] > 0, data / pairs[3] - 1, np.nan)


def convert_rp_pi_counts_to_wp(
    ND1: float,
    ND2: float,
    NR1: float,
    NR2: float,
    D1D2: Any,
    D1R2: Any,
    D2R1: Any,
    R1R2: Any,
    nrpbins: int,
    pimax: float,
    dpi: float = 1.0,
    estimator: str = "LS",
) -> np.ndarray:
    """The projected correlation function from counts of `DDrppi`: the sum over pi of twice the correlation function
    times `dpi`."""
    cf = convert_3d_counts_to_cf(ND1, ND2, NR1, NR2, D1D2, D1R2, D2R1, R1R2, estimator)
    bins, depths = whole(nrpbins, "nrpbins", 1), round(positive(pimax, "pimax") / positive(dpi, "dpi"))
    if len(cf) != bins * depths:
        raise ValueError(f"there are {len(cf)} counts; {bins} bins of r_p times {depths} of pi are {bins * depths}")
    return 2 * dpi * cf.reshape(bins, depths).sum(axis=1)


def _edges(binfile):
    """Edges from an array, or from a file with the lower and upper edge of a bin in each line."""
    if not isinstance(binfile, (str, bytes)) and not hasattr(binfile, "__fspath__"):
        return _core.numbers(binfile, "binfile")
    bins = np.loadtxt(binfile, ndmin=2)
    if bins.shape[1] != 2 or not np.allclose(bins[1:, 0], bins[:-1, 1], atol=0):
        raise ValueError(f"{binfile}: each line must have the lower and upper edge of a bin, where the last one ended")
    return np.append(bins[:, 0], bins[-1, 1])


def _linear(most, bins, name):
    """Edges up to `most`; without a number of bins these are about 1 wide."""
    most = real_number(most, name)
    least = 0 if bins else 1
    if not least <= most <= _MOST_BINS or most == 0:
        lowest = f"from {least}" if least else "above 0"
        raise ValueError(f"{name} is {shown(most)}; a number {lowest} to {_MOST_BINS} is accepted")
    return np.linspace(0, most, (bins or int(most)) + 1)


def _positions(x, y, z, weights, weight_type):
    """(points, weights or None). Weights without a type are ignored, as in Corrfunc."""
    if x is None or y is None or z is None:
        raise ValueError("X2, Y2 and Z2 are needed unless autocorr is set")
    axes = [_core.numbers(axis, "positions") for axis in (x, y, z)]
    if len({axis.shape for axis in axes}) != 1 or axes[0].ndim != 1:
        shapes = ", ".join(str(axis.shape) for axis in axes)
        raise ValueError(f"positions have the shapes {shapes}; three equal rows are needed")
    kind = np.float32 if all(getattr(axis, "dtype", None) == np.float32 for axis in (x, y, z)) else np.float64
    points = np.stack(axes, axis=1).astype(kind, copy=False)
    if weight_type is None:
        return points, None
    word(weight_type, "weight_type", ("pair_product",))
    if weights is None:
        raise ValueError("weight_type is given without weights")
    given = _core.numbers(weights, "weights").astype(kind)
    if given.ndim == 2 and len(given) == 1:
        given = given[0]
    return points, np.full(len(points), given, dtype=kind) if given.ndim == 0 else given


def _box(periodic, boxsize, first, second):
    """Lengths, 0 along open axes; None for open space."""
    if not flag(periodic, "periodic"):
        return None
    if boxsize is None:
        raise ValueError("periodic is True without a boxsize; give it, or periodic=False")
    given = _core.numbers(boxsize, "boxsize")
    if given.shape not in ((), (1,), (3,)):
        raise ValueError(f"boxsize has the shape {given.shape}; one length, or three, are accepted")
    lengths = np.broadcast_to(given, 3).copy()
    points = np.concatenate([first[0]] + ([] if second is None else [second[0]]))
    for axis in range(3):
        if lengths[axis] == 0 and len(points) > 0:
            lengths[axis] = np.ptp(points[:, axis])
        elif lengths[axis] == -1:
            lengths[axis] = 0
    return lengths


def _counted(edges, first, second, box, nthreads, means, coordinates="r", second_edges=None):
    return pair_counts(
        first[0],
        edges,
        box,
        periodic=None if box is None else box > 0,
        others=None if second is None else second[0],
        weights=first[1],
        other_weights=None if second is None else second[1],
        coordinates=coordinates,
        second_edges=second_edges,
        mean_separation=means,
        threads=nthreads,
    )


def _table(edges, found, name, columns=()):
    """Rows of all bins, the second coordinate fastest."""
    counts = found.counts.ravel()
    with np.errstate(divide="ignore", invalid="ignore"):
        average = 0.0 if found.weights is None else np.where(counts > 0, found.weights.ravel() / counts, 0)
    times = len(counts) // (len(edges) - 1)
    prefix = "s" if name == "s" else "r"
    table = [(f"{prefix}min", np.repeat(edges[:-1], times)), (f"{prefix}max", np.repeat(edges[1:], times))]
    table.append((f"{name}avg", 0.0 if found.mean_separations is None else found.mean_separations.ravel()))
    table += [(key, np.tile(values, len(counts) // len(values))) for key, values in columns]
    table += [("npairs", counts), ("weightavg", average)]
    result = np.zeros(len(counts), dtype=[(key, np.uint64 if key == "npairs" else np.float64) for key, _ in table])
    for key, values in table:
        result[key] = values
    return result


def _excess(found, volumes, edges, points, box):
    """Weighted pairs over those of uniform points with the mean weight, minus 1. `volumes`: within each edge."""
    weights = np.ones(len(points[0])) if points[1] is None else points[1].astype(np.float64)
    total, squares, count = weights.sum(), (weights**2).sum(), max(len(weights), 1)
    if not np.all(box > 0):
        raise ValueError(f"boxsize is {shown(box)}; the box must be periodic along all axes")
    expected = total * (total - total / count) / np.prod(box) * np.diff(volumes)
    expected[edges[:-1] == 0] += squares  # the pairs of points with themselves
    pairs = found.counts if found.weights is None else found.weights
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(expected > 0, pairs / expected - 1, -2.0)


def _pairs(one):
    """Numbers of pairs: an array, or those of a structured one, weighted if it has weights."""
    array = np.asarray(one)
    if array.dtype.names is None:
        return array.astype(np.float64)
    weighted = np.any(array["weightavg"] != 0)
    return array["npairs"] * array["weightavg"] if weighted else array["npairs"].astype(np.float64)


def _timed(result, timer, begin):
    return (result, time.perf_counter() - begin) if flag(timer, "c_api_timer") else result
