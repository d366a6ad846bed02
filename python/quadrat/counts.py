# SPDX-License-Identifier: BSD-3-Clause
"""Numbers of pairs in bins of separation."""

from typing import NamedTuple

import numpy as np

from . import _core
from ._numbers import flag, thread_count, whole, word
from ._reprs import of_arrays
from ._types import Array, ByAxis

__all__ = ["PairCounts", "pair_counts"]

COORDINATES = ("r", "rp_pi", "s_mu", "theta")


class PairCounts(NamedTuple):
    """Arrays of the shape (bins,), or (bins, second bins) of (r_p, pi) and (s, mu). `counts`: uint64. `weights`: sums of
    the products of weights, None without weights. `mean_separations`: of r, r_p, s or theta, 0 in empty bins; None
    unless asked for. `region_counts`, `region_weights`: (regions, bins...): of the pairs with one point or both in the
    region; None without regions. `counts` - `region_counts` are the counts without the points of each region."""

    counts: np.ndarray
    weights: np.ndarray | None
    mean_separations: np.ndarray | None
    region_counts: np.ndarray | None
    region_weights: np.ndarray | None

    def __repr__(self) -> str:
        return of_arrays(self)


def pair_counts(
    points: Array,
    edges: Array,
    box: Array = None,
    *,
    periodic: ByAxis = None,
    origin: Array = None,
    others: Array = None,
    weights: Array = None,
    other_weights: Array = None,
    coordinates: str = "r",
    second_edges: Array = None,
    mean_separation: bool = False,
    regions: Array = None,
    other_regions: Array = None,
    region_count: int | None = None,
    threads: int | None = None,
) -> PairCounts:
    """The numbers of pairs of `points` (N, 3) with `others` (M, 3) in bins of separation, or with themselves: then
    ordered pairs, so each pair of two points twice, and each point with itself at distance 0.

    Parameters
    ----------
    edges : of the bins, increasing, from 0. Bin k holds edges[k] <= r < edges[k + 1].
    box, periodic, origin : as in `neighbor_list`; images count as there. Without a box space is open.
    weights, other_weights : one for each point; the weight of a pair is their product
    coordinates : what `edges` and `second_edges` divide; the line of sight is the third axis
        "r": distances. "rp_pi": the distance across the line of sight, and pi, the distance along it. "s_mu": the
        distance, and mu = pi / s. "theta": angles in degrees between unit vectors; there is no box.
    second_edges : of pi or mu
    mean_separation : whether the mean of r, r_p, s or theta in each bin is computed
    regions, other_regions : integers from 0, one for each point: jackknife regions, whose pairs are counted in the same
        pass
    region_count : of regions; None: as many as the largest number says
    threads : of the CPU; None: all

    Counts are exact, and all results are the same in every run and with any number of threads. Points may be in the
    memory of a GPU; results are NumPy arrays. Three-point functions are not computed.
    """
    which = COORDINATES.index(word(coordinates, "coordinates", COORDINATES))
    if which == 3 and box is not None:
        raise ValueError("box is given; angles between unit vectors need none")
    first = _core.numbers(edges, "edges")
    second = _core.numbers(() if second_edges is None else second_edges, "second_edges")
    for values, name in ((first, "edges"), (second, "second_edges")):
        if values.ndim != 1:
            raise ValueError(f"{name} have the shape {values.shape}; a row of numbers is accepted")
    for values, name in ((other_weights, "other_weights"), (other_regions, "other_regions")):
        if others is None and values is not None:
            raise ValueError(f"{name} are given; they are of others, which are not")
    found = _core.pair_counts(
        points,
        others,
        weights,
        other_weights,
        box,
        periodic,
        origin,
        which,
        first,
        second,
        flag(mean_separation, "mean_separation"),
        regions,
        other_regions,
        0 if region_count is None else whole(region_count, "region_count", 1, 2**20),
        thread_count(threads),
    )
    shape = (len(first) - 1,) if second_edges is None else (len(first) - 1, len(second) - 1)
    shapes = (shape, shape, shape, (-1, *shape), (-1, *shape))
    return PairCounts(*(None if one is None else one.reshape(to) for one, to in zip(found, shapes)))
