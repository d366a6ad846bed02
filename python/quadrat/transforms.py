# SPDX-License-Identifier: BSD-3-Clause
"""Fourier transforms between values at points and modes."""

from typing import Any

import numpy as np

from . import _core
from ._numbers import (
    chosen_number,
    flag,
    level_of,
    method_name,
    numbers,
    real_number,
    shown,
    sign_of,
    thread_count,
    whole,
    word,
)
from ._state import State
from ._types import Array, ByAxis, DType
from .mesh import _WIDE, _dtype_name, _extents_of

__all__ = ["NormalOperator", "Nufft", "nufft1", "nufft2", "nufft3"]

ORDERS = ("centered", "fft")


class Nufft(State):
    """Transforms of type 1 and 2 between points and modes.

    type 1: modes[k] = sum over points j of values[j] exp(+i k . x_j); type 2: values[j] = sum over modes k of
    modes[k] exp(-i k . x_j). They are adjoints of each other; `sign` overrides the signs.

    Parameters
    ----------
    n_modes : numbers of modes along each axis, one to three
    tolerance : the largest error of a mode or value, relative to the sum of the moduli of its terms
    real : values are real. Modes are then those of numpy.fft.rfftn: K/2 + 1 along the last axis.
    mode_order : "centered" (-K/2 first) or "fft" (as numpy.fft)
    period : of the points, one number or one per axis; by default 2 pi
    oversampling : of the mesh, above 1 to 4; None: auto
    method, deterministic, threads, dtype : see `SpreadPlan`

    Examples
    --------
    ::

        plan = quadrat.Nufft((64, 64), 1e-9).set_points(points)
        modes = plan.type1(values)  # (64, 64)
    """

    def __init__(
        self,
        n_modes: ByAxis,
        tolerance: float = 1e-6,
        *,
        real: bool = False,
        mode_order: str = "centered",
        period: ByAxis = None,
        oversampling: float | None = None,
        method: str = "auto",
        deterministic: str = "none",
        threads: int | None = None,
        dtype: DType = np.float64,
    ) -> None:
        extents = _modes(n_modes)
        self.dimension: int = len(extents)
        self.dtype: str = _dtype_name(dtype)
        self.real: bool = flag(real, "real")
        self._plan = _core.TransformPlan(
            extents,
            real_number(tolerance, "tolerance"),
            self.real,
            word(mode_order, "mode_order", ORDERS) == "centered",
            _periods(period, self.dimension),
            chosen_number(oversampling, "oversampling"),
            method_name(method),
            level_of(deterministic),
            thread_count(threads),
            _WIDE[self.dtype],
        )
        self.shape: tuple[int, ...] = self._plan.shape()

    def set_points(self, points: Array) -> "Nufft":
        """Copies (N, D) points; in 1D also (N,). The plan then works on their device. Captured in a CUDA graph, it
        accepts at most as many points as the previous call."""
        self._plan.set_points(points)
        return self

    def check(self) -> None:
        """Raises ValueError naming the first point in a replay of a CUDA graph that `set_points` would have refused.
        Waits for the plan's work, not for the stream in which the graph runs."""
        self._plan.check()

    def type1(self, values: Array, *, sign: int = 1) -> Array:
        """Modes, of the shape `shape` or (V, ...), of values (N,) or (V, N). `sign` : of the exponent, 1 or -1"""
        return self._plan.type_1(values, sign_of(sign))

    def type2(self, modes: Array, *, sign: int = -1) -> Array:
        """Values, (N,) or (V, N), of modes of the shape `shape` or (V, ...). `sign` : of the exponent, 1 or -1"""
        return self._plan.type_2(modes, sign_of(sign))

    def density_weights(self, *, iterations: int = 30, tolerance: float = 1e-4) -> Array:
        """Weights (N,) for points of uneven density, in the library of the points: the part of a period's volume that
        each of them represents (Pipe and Menon 1999). Ends when they change by at most `tolerance` of their sum, or
        after so many iterations."""
        return self._plan.density_weights(whole(iterations, "iterations", 1, 2**31 - 1), real_number(tolerance, "tolerance"))

    @property
    def error_bound(self) -> float:
        """The bound of the error, relative to the sum of moduli."""
        return self._plan.error_bound()


class NormalOperator(State):
    """A transform of type 2, a weight for each point, then type 1 with the other sign, as iterative inversions need it
    in each step: by two fast Fourier transforms, whatever the number of points.

    Parameters
    ----------
    As in `Nufft`, for complex values.

    Examples
    --------
    ::

        normal = quadrat.NormalOperator((64, 64), 1e-6).set_points(points, weights)
        modes = normal.apply(modes)
    """

    def __init__(
        self,
        n_modes: ByAxis,
        tolerance: float = 1e-6,
        *,
        mode_order: str = "centered",
        period: ByAxis = None,
        oversampling: float | None = None,
        method: str = "auto",
        deterministic: str = "none",
        threads: int | None = None,
        dtype: DType = np.float64,
    ) -> None:
        extents = _modes(n_modes)
        self.dtype: str = _dtype_name(dtype)
        self.shape: tuple[int, ...] = tuple(extents)
        self._plan = _core.NormalPlan(
            extents,
            real_number(tolerance, "tolerance"),
            word(mode_order, "mode_order", ORDERS) == "centered",
            _periods(period, len(extents)),
            chosen_number(oversampling, "oversampling"),
            method_name(method),
            level_of(deterministic),
            thread_count(threads),
            _WIDE[self.dtype],
        )

    def set_points(self, points: Array, weights: Array = None) -> "NormalOperator":
        """Takes (N, D) points and (N,) weights of any sign, by default all 1; neither is needed afterwards. The
        operator then works on their device."""
        self._plan.set_points(points, weights)
        return self

    def apply(self, modes: Array, *, sign: int = -1) -> Array:
        """Of modes of the shape `shape` or (V, ...). `sign` : of the exponent of type 2, 1 or -1"""
        return self._plan.apply(modes, sign_of(sign))

    @property
    def error_bound(self) -> float:
        """The bound of the error of a mode, relative to the sum of the moduli of the weights, times that of the
        modes."""
        return self._plan.error_bound()


def _modes(n_modes):
    """Numbers of modes by axis."""
    extents = [whole(extent, "n_modes", least=1) for extent in numbers(n_modes, "n_modes")]
    if len(extents) not in (1, 2, 3):
        raise ValueError(f"n_modes is {shown(n_modes)}; numbers for one to three axes are accepted")
    return extents


def _periods(period, dimension):
    """By axis; 0 stands for exactly 2 pi."""
    if period is None:
        return [0.0] * dimension
    periods = [real_number(length, "period") for length in numbers(period, "period")]
    if len(periods) not in (1, dimension) or not all(0 < length < np.inf for length in periods):
        accepted = f"a positive number, or one for each of the {dimension} axes, is accepted"
        raise ValueError(f"period is {shown(period)}; {accepted}")
    return periods * (dimension // len(periods))


def nufft1(
    points: Array, values: Array, n_modes: ByAxis, tolerance: float = 1e-6, *, sign: int = 1, **options: Any
) -> Array:
    """Modes of values at points, in one call. Options as in `Nufft`."""
    _, dtype = _core.kind_of_points(points)
    return Nufft(n_modes, tolerance, dtype=dtype, **options).set_points(points).type1(values, sign=sign)


def nufft2(points: Array, modes: Array, tolerance: float = 1e-6, *, sign: int = -1, **options: Any) -> Array:
    """Values at points of complex modes (K...) or (V, K...), in one call; the shape of the modes gives their numbers.
    Options as in `Nufft`."""
    if flag(options.get("real", False), "real"):
        raise ValueError("for real values the numbers of modes cannot be told from the shape; make a Nufft")
    dimension, dtype = _core.kind_of_points(points)
    shape = _extents_of(modes, "modes", dimension)
    return Nufft(shape, tolerance, dtype=dtype, **options).set_points(points).type2(modes, sign=sign)


def nufft3(
    points: Array,
    values: Array,
    targets: Array,
    tolerance: float = 1e-6,
    *,
    sign: int = 1,
    deterministic: str = "none",
    threads: int | None = None,
) -> Array:
    """results[k] = sum over points j of values[j] exp(i sign s_k . x_j), (M,) or (V, M), at any targets s, (M, D), of
    values (N,) or (V, N). `tolerance` : of `Nufft`"""
    given = real_number(tolerance, "tolerance"), sign_of(sign), level_of(deterministic), thread_count(threads)
    return _core.type_3(points, values, targets, *given)
