# SPDX-License-Identifier: BSD-3-Clause
"""Neighbors within a cutoff, nearest neighbors and clusters."""

from collections.abc import Mapping
from typing import Any, Literal, NamedTuple, overload

import numpy as np

from . import _core
from ._cutoffs import PairCutoffs, by_pairs
from ._frame import placed
from ._numbers import flag, letters, level_of, method_name, real_number, thread_count, whole, word
from ._reprs import of_arrays
from ._state import State
from ._types import Array, ByAxis, DType
from .mesh import _index_type

__all__ = ["ClusterCatalog", "Clusters", "Nearest", "NeighborList", "cluster_catalog", "clusters", "knn", "neighbor_list"]

LETTERS = "ijSdDn"
RULES = ("uniform", "sum_of_radii", "larger_radius", "own_radius", "table_of_types")


def _rule(rule, radii, type_cutoffs):
    """The number of the cutoff rule, from the given arguments."""
    if rule is None:
        rule = "sum_of_radii" if radii else "table_of_types" if type_cutoffs is not None else "uniform"
    return RULES.index(word(rule, "rule", RULES))


class NeighborList(State):
    """A list of all pairs (i, j, S) for which points[j] + S @ box - points[i] is shorter than a cutoff, kept up to date
    while points move. The box, the periodic axes and the number of points may change from one call to the next.

    Parameters
    ----------
    cutoff : float
    skin : float
        The list holds pairs up to cutoff + skin, and `update` rebuilds it only when a point has moved by more than half
        of the skin. Distances and vectors always belong to the last `update`.
    rule, type_cutoffs, half, sorted, outputs, method, deterministic, threads, index_dtype
        As in `neighbor_list`; for radii, `rule` must be given here.
    autotune : see `SpreadPlan`

    Examples
    --------
    ::

        neighbors = quadrat.NeighborList(1.0, skin=0.2, outputs="ij")
        for points in trajectory:
            neighbors.update(points, box=[10, 10, 10])
            i, j = neighbors.arrays()
    """

    def __init__(
        self,
        cutoff: float,
        *,
        skin: float = 0.0,
        rule: str | None = None,
        type_cutoffs: Array = None,
        half: bool = False,
        sorted: bool = False,
        outputs: str = "ijSdD",
        autotune: bool = False,
        method: str = "auto",
        deterministic: str = "none",
        threads: int | None = None,
        index_dtype: DType = None,
    ) -> None:
        self._pairs = PairCutoffs(type_cutoffs, "type_cutoffs") if isinstance(type_cutoffs, Mapping) else None
        table = type_cutoffs if self._pairs is None else self._pairs.table
        self._list = _core.Neighbors(
            real_number(cutoff, "cutoff"),
            real_number(skin, "skin"),
            _rule(rule, False, table),
            table,
            flag(half, "half"),
            flag(sorted, "sorted"),
            letters(outputs, "outputs", LETTERS),
            flag(autotune, "autotune"),
            method_name(method),
            level_of(deterministic),
            thread_count(threads),
            _index_type(index_dtype),
        )

    def build(
        self,
        points: Array,
        box: Array = None,
        *,
        periodic: ByAxis = None,
        origin: Array = None,
        queries: Array = None,
        systems: Array = None,
        systems_of_queries: Array = None,
        radii: Array = None,
        types: Array = None,
        radii_of_queries: Array = None,
        types_of_queries: Array = None,
        excluded: Array = None,
    ) -> "NeighborList":
        """Builds the list of these points (see `neighbor_list`), even if they have hardly moved. With queries the skin
        must be 0. Raises the errors of `neighbor_list`; then there is no list."""
        kinds, others = (self._rows(one, points) for one in (types, types_of_queries))
        places = queries, systems, systems_of_queries, radii, kinds, radii_of_queries, others, excluded
        self._list.update(*placed(points, box, periodic, origin), *places, True)
        return self

    def update(
        self,
        points: Array,
        box: Array = None,
        *,
        periodic: ByAxis = None,
        origin: Array = None,
        queries: Array = None,
        systems: Array = None,
        systems_of_queries: Array = None,
        radii: Array = None,
        types: Array = None,
        radii_of_queries: Array = None,
        types_of_queries: Array = None,
        excluded: Array = None,
    ) -> bool:
        """Updates the list to these points. Rebuilds it if they have moved too far or their number has changed; returns
        whether it did. Otherwise like `build`."""
        kinds, others = (self._rows(one, points) for one in (types, types_of_queries))
        places = queries, systems, systems_of_queries, radii, kinds, radii_of_queries, others, excluded
        return self._list.update(*placed(points, box, periodic, origin), *places, False)

    def arrays(self) -> Array:
        """The arrays of `outputs`, as a tuple; a single array is returned directly. Each call makes new arrays, on the
        device and of the library of the last points."""
        return self._list.arrays()

    @property
    def method(self) -> str:
        """The method of the last build."""
        return self._list.method()

    def _rows(self, types: Array, points: Array) -> Array:
        return types if self._pairs is None else self._pairs.rows(types, points)


def neighbor_list(
    points: Array,
    cutoff: float,
    box: Array = None,
    *,
    periodic: ByAxis = None,
    origin: Array = None,
    queries: Array = None,
    systems: Array = None,
    systems_of_queries: Array = None,
    rule: str | None = None,
    radii: Array = None,
    types: Array = None,
    radii_of_queries: Array = None,
    types_of_queries: Array = None,
    type_cutoffs: Array = None,
    excluded: Array = None,
    half: bool = False,
    sorted: bool = False,
    outputs: str = "ijSdD",
    method: str = "auto",
    deterministic: str = "none",
    threads: int | None = None,
    index_dtype: DType = None,
) -> Any:
    """All pairs (i, j, S) for which points[j] + S @ box - points[i] is shorter than the cutoff.

    S is an integer vector, 0 along open axes. (i, i, 0) is not a pair; pairs with other images of the same point are.
    Pairs are ordered by i. Their set is always the same; their order within an i only if `sorted` or `deterministic`.

    Parameters
    ----------
    points : (N, D) array of float32 or float64, D = 2 or 3; or a `Frame`, which has its own box
    cutoff : float, in the units of the points
    box : (D,) lengths or (D, D) vectors as rows; None: open. With `systems`, (D,) lengths or (1, D, D) vectors for all
        of them, or (S, D) lengths or (S, D, D) vectors for each; (D, D) is refused, because it could be vectors for all
        or lengths for each of D systems.
    periodic : bool, or one per axis; by default all axes are periodic if there is a box
    origin : corner of the box, (D,); by default 0
    queries : (M, D) array
        Positions whose neighbors are listed instead; i is then the number of a query. Not with `half`.
    systems, systems_of_queries : (N,) and (M,) integers
        Independent systems in one call: both points of a pair belong to the same one.
    rule : the cutoff of a pair
        "uniform": the cutoff. "sum_of_radii" (the default with radii), "larger_radius" or "own_radius" (that of i): of
        the (N,) `radii`. "table_of_types" (the default with a table): the entry of `type_cutoffs` for both types, a symmetric
        table with 0 for no pair, with the (N,) integers `types`; or a dictionary by pairs such as {("O", "H"): 1.2} or
        of radii that add up such as {"O": 0.7, "H": 0.5}, without other pairs and types, with (N,) names or integers.
        `cutoff` is then an upper bound on all of these.
    radii_of_queries, types_of_queries : (M,) numbers and integers
        Radii and types of the queries, for the same rules: i is a query, j a point. With "own_radius", points need no
        `radii`.
    excluded : (P, 2) indices: point i is not listed with any image of point j, nor j with i; not with queries
    half : bool
        Each pair once: with j > i, or in one order for images of a point itself.
    sorted : bool
        Orders the pairs of each i by (j, S): the same bits with every method, in every run.
    outputs : letters of the arrays to return, in this order
        i, j : (P,) integers. S : (P, D) integers. d : (P,) distances. D : (P, D) vectors from i to the image of j.
        n : (N + 1,) integers, where the pairs of each i begin.
    method : one of `methods("neighbor_list")`, or "auto"
    deterministic : "none"; "run_to_run" and "canonical": the same bits in every run, with any number of threads
    threads : of the CPU; None: all
    index_dtype : "int64" or "int32" for integers; by default int64 (JAX: int32, unless jax_enable_x64 is set)

    Returns
    -------
    A tuple of the arrays in `outputs` (a single array directly), of the library of the points (NumPy, PyTorch, CuPy,
    JAX), on their device. They are complete: other streams may use them immediately.

    Raises
    ------
    ValueError for invalid arguments, naming the first point that is not finite; TypeError for types that are not
    accepted; MemoryError.

    Examples
    --------
    ::

        i, j, d = quadrat.neighbor_list(points, 1.5, box=[10, 10, 10], outputs="ijd")
    """
    type_cutoffs, types, types_of_queries = by_pairs(points, type_cutoffs, types, types_of_queries)
    points, box, periodic, origin = placed(points, box, periodic, origin)
    return _core.neighbor_list(
        points,
        real_number(cutoff, "cutoff"),
        box,
        periodic,
        origin,
        queries,
        systems,
        systems_of_queries,
        _rule(rule, radii is not None, type_cutoffs),
        radii,
        types,
        radii_of_queries,
        types_of_queries,
        type_cutoffs,
        excluded,
        flag(half, "half"),
        flag(sorted, "sorted"),
        letters(outputs, "outputs", LETTERS),
        method_name(method),
        level_of(deterministic),
        thread_count(threads),
        _index_type(index_dtype),
    )


class Nearest(NamedTuple):
    """For each point or query, in the order of distance: (N, k) indices, distances and, if requested, (N, k, D)
    shifts."""

    indices: Array
    distances: Array
    shifts: Array = None

    def __repr__(self) -> str:
        return of_arrays(self)


def knn(
    points: Array,
    k: int,
    box: Array = None,
    *,
    periodic: ByAxis = None,
    origin: Array = None,
    cutoff: float = float("inf"),
    queries: Array = None,
    systems: Array = None,
    systems_of_queries: Array = None,
    include_self: bool = False,
    shifts: bool = False,
    threads: int | None = None,
    index_dtype: DType = None,
) -> Nearest:
    """The k nearest neighbors (1 to 64) of each point, or of each query, including images in periodic boxes.

    If fewer are nearer than `cutoff`, rows end with the index -1 at an infinite distance. Ties are in the order of
    indices. A point is not its own neighbor unless `include_self`. With `systems` and a `cutoff` there must be memory
    for all pairs nearer than that. For the other parameters see `neighbor_list`. Returns `Nearest`. Results are always
    the same bits.
    """
    points, box, periodic, origin = placed(points, box, periodic, origin)
    return Nearest(
        *_core.knn(
            points,
            whole(k, "k", 1, 64),
            box,
            periodic,
            origin,
            real_number(cutoff, "cutoff"),
            queries,
            systems,
            systems_of_queries,
            flag(include_self, "include_self"),
            flag(shifts, "shifts"),
            thread_count(threads),
            _index_type(index_dtype),
        )
    )


class Clusters(NamedTuple):
    """Labels of points, and for each label its points and their center.

    labels: (N,) from 0, -1 for noise. members: points by label, by increasing index, without noise; those of label k
    are `members[offsets[k]:offsets[k + 1]]`. centers: (clusters, D) mean positions in the box.
    """

    labels: Array
    offsets: Array
    members: Array
    centers: Array

    @property
    def sizes(self) -> Array:
        """The number of points of each label."""
        return self.offsets[1:] - self.offsets[:-1]

    def __repr__(self) -> str:
        return of_arrays(self)


@overload
def clusters(points: Array, cutoff: float, box: Array = None, *, members: Literal[True], **options: Any) -> Clusters: ...
@overload
def clusters(
    points: Array,
    cutoff: float,
    box: Array = None,
    *,
    periodic: ByAxis = None,
    origin: Array = None,
    systems: Array = None,
    min_points: int = 1,
    members: bool = False,
    threads: int | None = None,
    index_dtype: DType = None,
) -> Any: ...
def clusters(
    points: Array,
    cutoff: float,
    box: Array = None,
    *,
    periodic: ByAxis = None,
    origin: Array = None,
    systems: Array = None,
    min_points: int = 1,
    members: bool = False,
    threads: int | None = None,
    index_dtype: DType = None,
) -> Any:
    """Labels of clusters, (N,) from 0, in the order of the smallest index of a core point; -1 for noise.

    Points nearer than `cutoff` are linked. With `min_points` = 1, clusters are connected points (friends of friends).
    With larger values they are those of DBSCAN, whose core points have at least `min_points` points within `cutoff`,
    themselves included. With `members` the result is `Clusters`, which also has the members and the center of each
    cluster. With `systems`, points of different systems are not linked, and labels are those of all systems together.
    Along a periodic axis a center is that of the unwrapped cluster, which should be shorter than half the box.
    For the other parameters see `neighbor_list`. Results are always the same.
    """
    wanted, least = flag(members, "members"), whole(min_points, "min_points", 1, 2**32 - 1)
    points, box, periodic, origin = placed(points, box, periodic, origin)
    given = box, periodic, origin, systems, least, wanted, thread_count(threads), _index_type(index_dtype)
    found = _core.clusters(points, real_number(cutoff, "cutoff"), *given)
    return Clusters(*found) if wanted else found


class ClusterCatalog(NamedTuple):
    """Records of clusters, and the row of each point's.

    groups: a record array of NumPy with the fields label (that of `clusters`), size, central (the index of a point),
    center (D), velocity (D), the mean, and inertia (D, D), the tensor of inertia about the center for points of mass 1.
    rows: (N,) the place of the point's cluster in groups; -1 if it is in none of them.
    """

    groups: Any
    rows: Array

    def __repr__(self) -> str:
        return of_arrays(self)


def cluster_catalog(
    points: Array,
    cutoff: float,
    box: Array = None,
    *,
    periodic: ByAxis = None,
    origin: Array = None,
    systems: Array = None,
    velocities: Array = None,
    potentials: Array = None,
    densities: Array = None,
    least_size: int = 1,
    by_size: bool = False,
    min_points: int = 1,
    threads: int | None = None,
    index_dtype: DType = None,
) -> ClusterCatalog:
    """A record for each cluster of at least `least_size` points, by label, or with `by_size` the largest first.

    `velocities` (N, D): without them, those of clusters are 0. `potentials` or `densities` (N,): the central point is
    that of the least potential, the most bound one, or of the largest density; without both the one nearest to the
    center. For the other parameters, and for centers along periodic axes, see `clusters`. Results are always the same.
    """
    given = box, periodic, origin, systems, whole(min_points, "min_points", 1, 2**32 - 1)
    least = whole(least_size, "least_size", 0, 2**32 - 1)
    by_point = velocities, potentials, densities
    how = least, flag(by_size, "by_size"), thread_count(threads), _index_type(index_dtype)
    data, kind, dimension, rows = _core.cluster_catalog(points, real_number(cutoff, "cutoff"), *given, *by_point, *how)
    integers = [("label", "i4"), ("size", "u4"), ("central", "u4")]
    vectors = [("center", kind, (dimension,)), ("velocity", kind, (dimension,)), ("inertia", kind, (dimension, dimension))]
    groups = np.frombuffer(data, np.dtype(integers + vectors, align=True)).copy()
    return ClusterCatalog(groups.view(np.recarray), rows)
