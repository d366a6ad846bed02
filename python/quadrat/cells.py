# SPDX-License-Identifier: BSD-3-Clause
"""The points in each cell of a grid."""

from . import _core
from ._numbers import flag, level_of, real_number, thread_count
from ._state import State
from ._types import Array, ByAxis, DType
from .mesh import _by_axis, _index_type

__all__ = ["CellList"]


class CellList(State):
    """Points by cell of a uniform grid over a box.

    Cell (x, y, z) has the number x + nx (y + ny z): x runs fastest. The points of cell c are
    `indices[offsets[c]:offsets[c + 1]]`.

    Parameters
    ----------
    box : (D,) lengths, D = 2 or 3
    cells : along each axis, one number or one per axis
    cutoff : instead of `cells`: the finest grid whose cells are at least this long
    periodic, origin : see `neighbor_list`; points are wrapped along periodic axes
    accept_outside : along open axes, stores points beyond the box in the nearest cell; otherwise such points are an
        error
    deterministic : "none": the points of a cell in any order; "run_to_run" and "canonical": in increasing order
    threads, index_dtype : see `neighbor_list`

    Examples
    --------
    ::

        cells = quadrat.CellList([10, 10, 10], 4).build(points)
        first = cells.indices[: cells.offsets[1]]  # the points of cell 0
    """

    def __init__(
        self,
        box: Array,
        cells: ByAxis = None,
        *,
        cutoff: float | None = None,
        periodic: ByAxis = None,
        origin: Array = None,
        accept_outside: bool = False,
        deterministic: str = "none",
        threads: int | None = None,
        index_dtype: DType = None,
    ) -> None:
        if (cells is None) == (cutoff is None):
            raise ValueError("cells or a cutoff is needed, and not both")
        lengths = _core.numbers(box, "box")
        dimension = lengths.shape[0] if lengths.ndim > 0 else 0
        if dimension not in (2, 3):
            raise ValueError(f"the box has the shape {lengths.shape}; 2 or 3 lengths are accepted")
        self._cells = _core.CellLists(
            lengths,
            [] if cells is None else _by_axis(cells, dimension, "cells"),
            0.0 if cutoff is None else real_number(cutoff, "cutoff"),
            periodic,
            origin,
            flag(accept_outside, "accept_outside"),
            level_of(deterministic),
            thread_count(threads),
            dimension,
            _index_type(index_dtype),
        )
        self._arrays: tuple[Array, Array] | None = None

    def build(self, points: Array) -> "CellList":
        """Puts (N, D) points into cells. Raises ValueError naming the first that is not finite or outside."""
        self._arrays = None
        self._cells.build(points)
        self._arrays = self._cells.arrays()
        return self

    @property
    def cells(self) -> tuple[int, ...]:
        """Along each axis."""
        return self._cells.cells()

    @property
    def offsets(self) -> Array:
        """(cells + 1,) integers, where the points of each cell begin, of the library of the last points and on their
        device."""
        return self._built()[0]

    @property
    def indices(self) -> Array:
        """(N,) integers, the points cell by cell."""
        return self._built()[1]

    def _built(self):
        if self._arrays is None:
            raise ValueError("there is no list: no points yet, or the last build failed; call build")
        return self._arrays
