# SPDX-License-Identifier: BSD-3-Clause
"""Radial distribution functions."""

import itertools
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from . import _core
from ._frame import Frame, placed
from ._numbers import real_number, shown, thread_count, whole, word
from ._types import Array, ByAxis

__all__ = ["RadialDistribution", "rdf"]

NORMALIZATIONS = ("N^2", "N(N-1)")
_MOST_COUNTS = 2**31  # the largest number of pairs of types times bins


class _Histograms(NamedTuple):
    r: np.ndarray
    rdf: np.ndarray
    counts: np.ndarray


class RadialDistribution(_Histograms):
    """r: (bins,) middles of the bins. rdf, counts: (bins,), with types (types, types, bins). `types`: the names of the
    types, or their numbers, in that order; empty without types."""

    types: tuple[Any, ...] = ()

    def pair(self, a: Any, b: Any) -> np.ndarray:
        """g(r) of the types a and b, (bins,). Raises ValueError for other types."""
        for name in (a, b):
            if name not in self.types:
                raise ValueError(f"there is no type {name!r}; there are {', '.join(map(repr, self.types)) or 'none'}")
        return self.rdf[self.types.index(a), self.types.index(b)]

    def __repr__(self) -> str:
        types = f", types {', '.join(map(str, self.types))}" if self.types else ""
        peak = np.unravel_index(np.argmax(self.rdf), self.rdf.shape)
        return (
            f"<RadialDistribution: {len(self.r)} bins, highest {self.rdf[peak]:.4g} at r = {self.r[peak[-1]]:.4g}, "
            f"{self.counts.sum():,} pairs{types}>"
        )


def rdf(
    frames: Array,
    cutoff: float,
    box: Array = None,
    *,
    periodic: ByAxis = None,
    origin: Array = None,
    systems: Array = None,
    bins: int = 200,
    types: Array = None,
    normalization: str = "N^2",
    threads: int | None = None,
) -> RadialDistribution:
    """The radial distribution function g(r) of points, over one frame (N, D) or several: a sequence of (N, D) arrays,
    which may differ in N, with one box or one for each; or one `Frame`, or any iterable of them, as
    `quadrat.frames.read` gives, of which one at a time is in memory.

    Parameters
    ----------
    box, periodic, origin : as in `neighbor_list`. Without a box space is open; the density is then that in the bounding
        box of each frame's points, which is at least as long as the cutoff along each axis, as in `quadrat neighbors
        --rdf`.
    systems : (N,) integers, for all frames: independent systems, with a box each as in `neighbor_list`; each counts as a
        frame of its own
    types : (N,) integers from 0, or names (strings), for all frames; or a sequence of these, one for each frame; or the
        name of a field of each `Frame`, such as "species", whose values are those of the first frame. g(r) is then given
        for each pair of types, by `RadialDistribution.pair` with their names.
    normalization : the divisor of the pairs of each shell, besides its volume
        "N^2": the sum over frames of N_a N_b / V. Independent, uniform points in a periodic box give 1, except for a
        factor 1 - 1 / N_a between equal types. "N(N-1)": without that factor. Near open sides points have fewer
        neighbors, and g(r) is too small: that is not corrected.
    threads : of the CPU; None: all

    `counts` are exact numbers of pairs; pairs of equal types count in both orders. Frames may be in the memory of a
    GPU; results are NumPy arrays. Ctrl-C takes effect between frames.
    """
    distinct = word(normalization, "normalization", NORMALIZATIONS) == "N(N-1)"
    cutoff, bins = real_number(cutoff, "cutoff"), whole(bins, "bins", 1, 2**20)
    first, every = _first_of(frames)
    if isinstance(first, Frame):
        names, parts = _parts_of_frames(first, every, bins, types, box, periodic, origin)
    else:
        names, parts = _parts_of_arrays(_frames(every), bins, types, box, periodic, origin, systems)
    kinds = max(1, len(names))
    pairs = _core.PairHistogram(cutoff, bins, kinds, distinct, thread_count(threads))
    for number, (points, *within, numbers) in enumerate(parts):
        pairs.add(points, f"points of frame {number}", *within, systems, numbers)
    g, counts = pairs.result()
    r = (np.arange(bins) + 0.5) * (cutoff / bins)
    if types is None:
        return RadialDistribution(r, g[0], counts[0])
    a, b = np.triu_indices(kinds)
    tables = [np.empty((kinds, kinds, bins), values.dtype) for values in (g, counts)]
    for table, values in zip(tables, (g, counts)):
        table[a, b] = table[b, a] = values
    result = RadialDistribution(r, *tables)
    result.types = names
    return result


def _first_of(frames):
    """The first frame, if there is one of class Frame, and all of them."""
    given = getattr(frames, "frames", frames)  # those of a Run
    if isinstance(given, Frame):
        return given, [given]
    if isinstance(given, Iterator):
        first = next(given, None)
        every = itertools.chain([] if first is None else [first], given)
        return (first, every) if isinstance(first, Frame) else (None, list(every))
    of_frames = isinstance(given, (list, tuple)) and len(given) > 0 and isinstance(given[0], Frame)
    return (given[0], given) if of_frames else (None, given)


def _parts_of_frames(first, every, bins, types, box, periodic, origin):
    """(names of the types, what PairHistogram takes of each frame)."""
    if types is not None and not isinstance(types, str):
        names, (numbers,) = _numbered(types, 1, bins)
        return names, ((*placed(frame, box, periodic, origin), numbers) for frame in every)
    if types is None:
        return (), ((*placed(frame, box, periodic, origin), None) for frame in every)
    if types not in first.fields:
        raise ValueError(f"types is {shown(types)}; the frames have the fields {', '.join(first.fields) or 'none'}")
    names = np.unique(first.fields[types])
    if len(names) ** 2 * bins > _MOST_COUNTS:
        raise ValueError(f"the field {types} has {len(names)} values; all their pairs have too many histograms of {bins} bins")

    def parts() -> Iterator[Any]:
        for number, frame in enumerate(every):
            if types not in frame.fields:
                raise ValueError(f"frame {number} has no field {types}, which the first frame has")
            values = frame.fields[types]
            numbers = np.minimum(np.searchsorted(names, values), len(names) - 1)
            other = np.flatnonzero(names[numbers] != values) if len(names) > 0 else np.arange(len(values))
            if len(other) > 0:
                raise ValueError(f"frame {number} has the {types} {values[other[0]].item()!r}, which the first frame lacks")
            yield *placed(frame, box, periodic, origin), numbers

    return tuple(names.tolist()), parts()


def _parts_of_arrays(listed, bins, types, box, periodic, origin, systems):
    """(names of the types, what PairHistogram takes of each array)."""
    boxes = None if box is None or systems is not None or len(listed) == 1 else _core.numbers(box, "box")
    own = boxes is not None and _core.boxes_in(boxes, _core.kind_of_points(listed[0])[0], "frame") != 1
    if own and len(boxes) != len(listed):
        count = len(listed)
        raise ValueError(f"there are {len(boxes)} boxes and {count} frames; one for all or one for each is accepted")
    names, numbers = ((), [None] * len(listed)) if types is None else _numbered(types, len(listed), bins)
    each = boxes if own else [box] * len(listed)
    return names, ((points, of, periodic, origin, kinds) for points, of, kinds in zip(listed, each, numbers))


def _frames(frames):
    """A list of frames, of one or several."""
    if hasattr(frames, "ndim") and frames.ndim != 3 or isinstance(frames, str):
        return [frames]
    try:
        listed = list(frames)
        one = bool(listed) and np.ndim(listed[0]) < 2
    except (TypeError, ValueError):
        return [frames]
    if not listed:
        raise ValueError("there are no frames")
    return [frames] if one else listed


def _numbered(types, frames, bins):
    """(names of the types, the numbers of each frame's points): of types for all frames, or for each."""
    each = [_types_of(one) for one in _rows(types)]
    if len(each) not in (1, frames):
        raise ValueError(f"there are types for {len(each)} frames; there are {frames} frames")
    if any(_are_names(one) for one in each):
        names = sorted({str(name) for one in each for name in one})
        number = {name: k for k, name in enumerate(names)}
        numbers = [np.array([number[str(name)] for name in one], dtype=np.int64) for one in each]
    else:
        names, numbers = range(max((int(one.max()) for one in each if len(one) > 0), default=0) + 1), each
        if names.stop**2 * bins > _MOST_COUNTS:
            raise ValueError(f"types are up to {names.stop - 1}; all their pairs have too many histograms of {bins} bins")
    return tuple(names), numbers * frames if len(each) == 1 else numbers


def _rows(types):
    """Types of all frames as one row, or those of each."""
    if hasattr(types, "__array__") and not hasattr(types, "ndim"):
        types = np.asarray(types)
    if hasattr(types, "ndim"):
        return list(types) if types.ndim == 2 else [types]
    try:
        listed = list(types)
        nested = bool(listed) and not isinstance(listed[0], str) and np.ndim(listed[0]) > 0
    except (TypeError, ValueError):
        raise TypeError(f"types is {shown(types)}; integers or names are accepted, or rows of them, one for each frame") from None
    return listed if nested else [listed]


def _types_of(types):
    """An array of integers or of names."""
    try:
        array = types if hasattr(types, "dtype") and hasattr(types, "max") else np.asarray(types)
    except ValueError as problem:
        raise ValueError(f"types cannot be read as an array: {problem}") from None
    kind = array.dtype.name if isinstance(array, np.ndarray) else str(array.dtype).removeprefix("torch.")
    if array.ndim != 1:
        raise ValueError(f"types have the shape {tuple(array.shape)}; (N,) is accepted, or one row for each frame")
    if len(array) > 0 and not kind.startswith(("int", "uint")) and not _are_names(array):
        raise TypeError(f"types have the type {kind}; integers or names are accepted")
    return array


def _are_names(types):
    if not isinstance(types, np.ndarray) or len(types) == 0:
        return False
    return types.dtype.kind == "U" or (types.dtype.kind == "O" and all(isinstance(name, str) for name in types))
