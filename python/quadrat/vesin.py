# SPDX-License-Identifier: BSD-3-Clause
"""Neighbor lists with the arguments and results of vesin: `from quadrat.vesin import NeighborList`."""

import sys
from typing import Any

import numpy as np

from . import neighbors
from ._numbers import flag, numbers, real_number, shown, whole, word
from ._state import State
from ._types import Array, ByAxis

__all__ = ["NeighborList"]

ALGORITHMS = ("auto", "brute_force", "cell_list")
LETTERS = "ijPSdD"


class NeighborList(State):
    """Like vesin.NeighborList, for arrays of NumPy and the other libraries of this package.

    Pairs are ordered by their first point, and with `sorted` also by the second one and the shift. A half list has each
    pair once, with i < j, or in one order for images of a point itself. `algorithm` is accepted and ignored: this
    package chooses. Derivatives of distances: `quadrat.torch.neighbor_list`.
    """

    def __init__(
        self,
        *,
        cutoff: float,
        full_list: bool,
        sorted: bool = False,
        algorithm: str = "auto",
        skin: float = 0.0,
        n_threads: int = 0,
    ) -> None:
        self.cutoff: float = real_number(cutoff, "cutoff")
        self.skin: float = real_number(skin, "skin")
        self.full_list: bool = flag(full_list, "full_list")
        self.sorted: bool = flag(sorted, "sorted")
        self._algorithm = _known(algorithm)
        self.n_threads: int = whole(n_threads, "n_threads", 0)
        self._list = neighbors.NeighborList(
            self.cutoff,
            skin=self.skin,
            half=not self.full_list,
            sorted=self.sorted,
            outputs="ijSdD",
            threads=self.n_threads or None,
        )

    @property
    def algorithm(self) -> str:
        return self._algorithm

    @algorithm.setter
    def algorithm(self, value: str) -> None:
        self._algorithm = self._arguments[1]["algorithm"] = _known(value)

    def compute(
        self, points: Array, box: Array, periodic: ByAxis, quantities: str = "ij", copy: bool = True
    ) -> tuple[Any, ...]:
        """The arrays of `quantities`, as a tuple: letters of "ijPSdD".

        points : (N, 3); computations are in float64. box : (3, 3) vectors as rows, of the type of the points; vectors
        of open directions may be zero. periodic : bool, or three. i, j (P,) and both of them P (P, 2) are uint64,
        shifts S (P, 3) int32, distances d (P,) and vectors D (P, 3) of the type of the points. Results are always new
        arrays.
        """
        if set(word(quantities, "quantities")) - set(LETTERS):
            raise ValueError(f"quantities is {shown(quantities)}; letters of {LETTERS!r} are accepted")
        points, box = _array(points), _array(box)
        if getattr(points, "requires_grad", False) or getattr(box, "requires_grad", False):
            raise RuntimeError("NeighborList.compute has no derivatives; quadrat.torch.neighbor_list has them")
        if tuple(box.shape) != (3, 3):
            raise ValueError(f"the box has the shape {tuple(box.shape)}; (3, 3) is needed")
        if points.ndim != 2 or points.shape[1] != 3:
            raise ValueError(f"points have the shape {tuple(points.shape)}; (N, 3) is needed")
        if box.dtype != points.dtype:
            raise RuntimeError(f"points have the type {points.dtype} and the box {box.dtype}; they must have the same")
        wraps = np.array([flag(wrap, "periodic") for wrap in numbers(periodic, "periodic")])
        if len(wraps) not in (1, 3):
            raise ValueError(f"periodic is {shown(periodic)}; one truth value, or three, are accepted")
        wraps = np.broadcast_to(wraps, 3)
        vectors = _on_host(box).astype(float)
        vectors[~wraps] = 0  # the given open vector may be anything, even parallel to another one
        floating = str(points.dtype).removeprefix("torch.") in ("float32", "float64", "float16", "bfloat16")
        self._list.update(_cast(points, "float64"), box=vectors, periodic=wraps)
        arrays = self._list.arrays()
        if self.skin > 0:  # the list has pairs within cutoff + skin
            near = arrays[3] < self.cutoff
            arrays = [array[near] for array in arrays]
        i, j, shifts, distances, between = arrays
        result = []
        for letter in quantities:
            if letter in "ij":
                result.append(_cast(i if letter == "i" else j, "uint64"))
            elif letter == "P":
                result.append(_cast(_library(i).stack([i, j], 1), "uint64"))
            elif letter == "S":
                result.append(_cast(shifts, "int32"))
            else:
                found = distances if letter == "d" else between
                result.append(_cast(found, str(points.dtype).removeprefix("torch.") if floating else "float64"))
        return tuple(result)


def _known(algorithm):
    return word(word(algorithm, "algorithm").lower(), "algorithm", ALGORITHMS)


def _array(value):
    return value if hasattr(value, "__dlpack__") else np.asarray(value)


def _library(array):
    return sys.modules[type(array).__module__.partition(".")[0]] if not isinstance(array, np.ndarray) else np


def _cast(array, name):
    library = _library(array)
    if library.__name__ == "torch":
        return array.to(getattr(library, name))
    return array.astype(name)


def _on_host(value):
    if hasattr(value, "cpu"):
        value = value.cpu()
    return value.get() if hasattr(value, "get") else np.asarray(value)
