# SPDX-License-Identifier: BSD-3-Clause
"""Neighbors within a cutoff, nearest neighbors, clusters and radial distribution functions."""

import threading
from typing import NamedTuple

import numpy as np

from . import _core
from ._arrays import indices, kind_of, points_of, suffix
from ._boxes import boxes_of, systems_in

OUTPUTS = "ijSdDn"


def _outputs(outputs):
    wrong = [letter for letter in outputs if letter not in OUTPUTS]
    if not outputs or wrong:
        raise ValueError(f"outputs is {outputs!r}; letters of {OUTPUTS!r} are accepted")
    return outputs


class NeighborList:
    """A list of all pairs (i, j, S) for which points[j] + S @ box - points[i] is shorter than a cutoff, kept up to date
    while points move.

    Parameters
    ----------
    cutoff : float
    skin : float
        The list holds pairs up to cutoff + skin, and `update` builds it anew only when a point has moved by more than
        half of the skin. Distances and vectors are always those of the last `update`.
    half, sorted, outputs, method, threads
        As in `neighbor_list`.

    The box, the periodic axes and the number of points may change from one update to the next.
    """

    def __init__(self, cutoff, *, skin=0.0, half=False, sorted=False, outputs="ijSdD", method="auto", threads=0):
        own = "" if method == "auto" else method
        self._options = (float(cutoff), float(skin), bool(half), bool(sorted), _outputs(outputs), own)
        self._threads = int(threads)
        self._search = None
        self._key = None
        self._current = False  # whether the list belongs to the last points
        self._lock = threading.Lock()

    def update(self, points, *, box=None, periodic=None, origin=None, systems=None):
        """Updates the list to these points (see `neighbor_list`); returns whether it was built anew."""
        with self._lock:
            return self._update(points, box, periodic, origin, systems, None, None)

    def arrays(self):
        """The arrays of `outputs`, as a tuple; a single one alone. They are new at every call."""
        with self._lock:
            if not self._current:
                raise ValueError("there is no list: no points yet, or the last update failed; call update")
            arrays = tuple(self._kind(array) for array in self._search.arrays())
        return arrays[0] if len(arrays) == 1 else arrays

    @property
    def method(self):
        """The method of the last build."""
        return self._search.method() if self._current else ""

    def _update(self, points, box, periodic, origin, systems, queries, systems_of_queries):
        self._current = False
        self._kind = kind_of(points)
        array = points_of(points, (2, 3))
        count = systems_in(systems, box, array.shape[1])
        boxes = boxes_of(box, array.shape[1], periodic, origin, count)
        key = (suffix(array), boxes.open)
        if key != self._key:
            make = getattr(_core, "NeighborSearch" + suffix(array))
            self._search, self._key = make(*self._options, boxes.open, self._threads), key
        if queries is not None:
            queries = points_of(queries, (array.shape[1],), "queries", array.dtype)
        built = self._search.update(
            array,
            boxes.core(),
            indices(systems, len(array), "systems"),
            queries,
            None if queries is None else indices(systems_of_queries, len(queries), "systems_of_queries", "queries"),
        )
        self._current = True
        return built


def neighbor_list(
    points,
    cutoff,
    *,
    box=None,
    periodic=None,
    origin=None,
    half=False,
    sorted=False,
    outputs="ijSdD",
    queries=None,
    systems=None,
    systems_of_queries=None,
    method="auto",
    threads=0,
):
    """All pairs (i, j, S) for which points[j] + S @ box - points[i] is shorter than the cutoff.

    S is an integer vector, 0 along open axes; (i, i, 0) is no pair, other images of a point are. Pairs are ordered by i.

    Parameters
    ----------
    points : (N, D) array of float32 or float64, D = 2 or 3
    cutoff : float, in the units of the points
    box : (D,) lengths or (D, D) vectors as rows; None: open. With `systems`, one box or one for each system.
    periodic : bool, or one per axis; by default all axes are periodic if there is a box
    origin : corner of the box, (D,); by default 0
    half : bool
        Each pair once: with j > i, or in one order for images of a point itself.
    sorted : bool
        Orders the pairs of each i by (j, S).
    outputs : letters of the arrays to return, in this order
        i, j : (P,) int64. S : (P, D) int64. d : (P,) distances. D : (P, D) vectors from i to the image of j.
        n : (N + 1,) int64, where the pairs of each i begin.
    queries : (M, D) array
        Places whose neighbors are listed instead: i is then the number of a query.
    systems, systems_of_queries : (N,) and (M,) integers
        Independent systems in one call: both points of a pair belong to the same one.
    method : one of `neighbor_methods`, or "auto"
    threads : of the CPU; 0: all

    Returns
    -------
    A tuple of the arrays in `outputs` (a single one alone), of the library that the points are of: NumPy, PyTorch, JAX.

    Raises
    ------
    ValueError for impossible arguments, naming the first point that is not finite; TypeError for types that are not
    accepted; MemoryError.

    The set of pairs is always the same; their order within an i only if `sorted`.
    """
    search = NeighborList(cutoff, half=half, sorted=sorted, outputs=outputs, method=method, threads=threads)
    search._update(points, box, periodic, origin, systems, queries, systems_of_queries)
    return search.arrays()


class Nearest(NamedTuple):
    """Of each point or query, in the order of distance: (N, k) indices, distances, and if wanted (N, k, D) shifts."""

    indices: object
    distances: object
    shifts: object = None


def knn(
    points,
    k,
    *,
    box=None,
    periodic=None,
    origin=None,
    cutoff=float("inf"),
    queries=None,
    include_self=False,
    shifts=False,
    threads=0,
):
    """The k nearest neighbors (1 to 64) of each point, or of each query; images in periodic boxes included.

    Where fewer are nearer than `cutoff`, rows end with the index -1 at an infinite distance. Ties are in the order of
    indices. A point is not its own neighbor unless `include_self`. For the other parameters see `neighbor_list`.
    Returns `Nearest`. Results are always the same bits.
    """
    kind = kind_of(points)
    array = points_of(points, (2, 3))
    boxes = boxes_of(box, array.shape[1], periodic, origin)
    if queries is not None:
        queries = points_of(queries, (array.shape[1],), "queries", array.dtype)
    if int(k) != k or not 1 <= k <= 64:
        raise ValueError(f"k is {k}; 1 to 64 is accepted")
    found = getattr(_core, "nearest" + suffix(array))(
        array, boxes.core(), int(k), float(cutoff), bool(include_self), bool(shifts), queries, int(threads)
    )
    return Nearest(*(kind(part) for part in found))


def clusters(points, link, *, min_points=1, box=None, periodic=None, origin=None, threads=0):
    """Labels of clusters, (N,) int64 from 0, in the order of the smallest index of a core point; -1 for noise.

    Points nearer than `link` are linked. With `min_points` 1 clusters are connected points (friends of friends), above
    they are DBSCAN's, with core points that have at least so many points within `link`, themselves included. For the
    other parameters see `neighbor_list`. Labels are always the same.
    """
    kind = kind_of(points)
    array = points_of(points, (2, 3))
    boxes = boxes_of(box, array.shape[1], periodic, origin)
    if int(min_points) != min_points or not 1 <= min_points < 2**32:
        raise ValueError(f"min_points is {min_points}; a positive integer is accepted")
    find = getattr(_core, "clusters" + suffix(array))
    return kind(find(array, boxes.core(), float(link), int(min_points), boxes.open, int(threads)))


class RadialDistribution(NamedTuple):
    """r: (bins,) middles of the bins. rdf, counts: (bins,), with several types (types, types, bins)."""

    r: np.ndarray
    rdf: np.ndarray
    counts: np.ndarray


def rdf(frames, cutoff, *, box, bins=200, types=None, periodic=None, origin=None, threads=0):
    """The radial distribution function of points, over one frame (N, D) or several: a sequence of (N, D) arrays, with
    one box or one for each.

    `types` : (N,) integers from 0; g(r) is then given for each pair of types. `counts` are numbers of pairs, those of
    equal types counted in both orders. Counts are exact. For the other parameters see `neighbor_list`.
    """
    several = not hasattr(frames, "ndim") or frames.ndim == 3
    listed = list(frames) if several else [frames]
    if several and listed and np.ndim(listed[0]) < 2:
        listed = [frames]
        several = False
    if not listed:
        raise ValueError("there are no frames")
    first = points_of(listed[0], (2, 3))
    dimension = first.shape[1]
    own = several and np.ndim(box) >= 2 and np.shape(box)[0] == len(listed) and np.shape(box) != (dimension, dimension)
    kinds = 1 if types is None else int(np.max(types, initial=0)) + 1
    histogram = None
    for number, frame in enumerate(listed):
        array = points_of(frame, (dimension,), f"points of frame {number}", first.dtype)
        boxes = boxes_of(box[number] if own else box, dimension, periodic, origin)
        if histogram is None:
            make = getattr(_core, "Histogram" + suffix(array))
            histogram = make(float(cutoff), int(bins), kinds, boxes.open, int(threads))
        histogram.add(array, boxes.core(), indices(types, len(array), "types"))
    g, counts = histogram.result()
    r = (np.arange(int(bins)) + 0.5) * (float(cutoff) / int(bins))
    if types is None:
        return RadialDistribution(r, g[0], counts[0])
    a, b = np.triu_indices(kinds)
    table = np.empty((kinds, kinds, int(bins)))
    numbers = np.empty((kinds, kinds, int(bins)), dtype=np.int64)
    table[a, b] = table[b, a] = g
    numbers[a, b] = numbers[b, a] = counts
    return RadialDistribution(r, table, numbers)
