# SPDX-License-Identifier: BSD-3-Clause
"""Fourier transforms with the arguments and results of finufft's calls: `import quadrat.finufft as finufft`.

nufft{1,2,3}d{1,2,3}: the dimension, then the type. Points are 1D arrays x, y, z of float32 or float64, in any period of
2 pi; strengths c are (M,) or (n_trans, M), modes f are (N1, N2, ...) or (n_trans, N1, N2, ...), complex of the points'
precision. `out` receives the result and is returned. A nonnegative `isign` means +. A tolerance `eps` that cannot be
reached becomes the least possible one, with a warning.

Options: modeord (0: modes from -N/2; 1: as numpy.fft), upsampfac, nthreads. Options that only affect speed or messages
are accepted and ignored; others give a warning. Several transforms with the same points are faster with a `Plan`.
"""

import sys
import warnings
from typing import Any

import numpy as np

from ._numbers import numbers, real_number, shown, whole
from ._types import Array, ByAxis
from .transforms import Nufft, nufft3

__all__ = [f"nufft{dimension}d{kind}" for dimension in (1, 2, 3) for kind in (1, 2, 3)] + ["Plan"]

_COMPLEX = {"float32": "complex64", "float64": "complex128"}
_NO_EFFECT = {
    "chkbnds",
    "debug",
    "fftw",
    "maxbatchsize",
    "showwarn",
    "spread_debug",
    "spread_kerevalmeth",
    "spread_kerformula",
    "spread_kerpad",
    "spread_max_sp_size",
    "spread_nthr_atomic",
    "spread_sort",
    "spread_thread",
}


def _name(dtype):
    return str(dtype).removeprefix("torch.")


def _stacked(vectors, names):
    """(N, D) points."""
    for vector, name in zip(vectors, names):
        _check_array(vector, name)
    first = vectors[0]
    precision = _name(first.dtype)
    if precision not in _COMPLEX:
        raise RuntimeError(f"{names[0]} has the type {precision}; float32 and float64 are accepted")
    for vector, name in zip(vectors, names):
        if vector.ndim != 1 or vector.shape != first.shape:
            shape = tuple(vector.shape)
            raise RuntimeError(f"{name} has the shape {shape}; vectors of one length are needed, as {names[0]}")
        if _name(vector.dtype) != precision:
            raise TypeError(f"{name} has the type {_name(vector.dtype)}; {precision} is needed, as {names[0]} has")
    library = np if isinstance(first, np.ndarray) else sys.modules[type(first).__module__.partition(".")[0]]
    return library.stack(list(vectors), 1), precision


def _check_array(value, name):
    if not hasattr(value, "dtype") or not hasattr(value, "ndim"):
        raise TypeError(f"{name} is {shown(value)}; an array is needed")


def _checked(values, name, precision):
    _check_array(values, name)
    if _name(values.dtype) != _COMPLEX[precision]:
        raise TypeError(f"{name} has the type {_name(values.dtype)}; {_COMPLEX[precision]} is needed")
    return values


def _check_strengths(c, count, precision):
    _checked(c, "c", precision)
    if c.ndim not in (1, 2) or c.shape[-1] != count:
        raise RuntimeError(f"c has the shape {tuple(c.shape)}; ({count},) or (n_trans, {count}) is needed")


def _options(given):
    options = {}
    for key, value in given.items():
        if key == "modeord":
            if whole(value, "modeord") not in (0, 1):
                raise RuntimeError(f"modeord is {value}; 0 and 1 are accepted")
            options["mode_order"] = "fft" if value else "centered"
        elif key == "nthreads":
            options["threads"] = whole(value, "nthreads", 0) or None
        elif key == "upsampfac":
            options["oversampling"] = real_number(value, "upsampfac") or None
        elif key == "spreadinterponly" and value:
            raise RuntimeError("spreadinterponly is not served; see quadrat.spread and quadrat.interpolate")
        elif key.startswith("fftw_"):
            raise TypeError(f"the option {key} is not served")
        elif key not in _NO_EFFECT and key != "spreadinterponly":
            warnings.warn(f"there is no option {key}", Warning, stacklevel=4)
    return options


def _sign(isign):
    return 1 if whole(isign, "isign") >= 0 else -1


def _within_reach(call, eps):
    """call(tolerance) with eps, or the least possible tolerance above it."""
    tolerance = eps = real_number(eps, "eps")
    while True:
        try:
            result = call(tolerance)
        except ValueError as problem:
            if "cannot be reached" not in str(problem) or not 0 < tolerance < 1e-2:
                raise
            tolerance *= 1.5
            continue
        if tolerance > eps:
            warnings.warn(f"eps is {eps}, which cannot be reached; {tolerance:.1e} is used", Warning, stacklevel=4)
        return result


def _check_out(out, shape, precision):
    """For one transform, a first axis of 1 is optional."""
    if out is None:
        return
    _checked(out, "out", precision)
    short = shape[1:] if shape[0] == 1 else shape
    if tuple(out.shape) not in (shape, short, (1, *shape)):
        raise RuntimeError(f"out has the shape {tuple(out.shape)}; {shape} is needed")


def _given(result, out):
    if out is None:
        return result
    out[...] = result.reshape(out.shape)
    return out


def _type1(points, c, n_modes, out, eps, isign, given):
    array, precision = _stacked(points, "xyz")
    dimension = array.shape[1]
    _check_strengths(c, array.shape[0], precision)
    if n_modes is None:
        if out is None:
            raise RuntimeError("n_modes or out is needed")
        n_modes = tuple(out.shape)[-dimension:]
    modes = tuple(whole(extent, "n_modes", least=1) for extent in numbers(n_modes, "n_modes"))
    modes = modes * dimension if len(modes) == 1 else modes
    if len(modes) != dimension:
        raise RuntimeError(f"n_modes is {shown(n_modes)}; one number, or {dimension}, are needed")
    _check_out(out, (*c.shape[:-1], *modes), precision)
    options = _options(given)

    def call(tolerance):
        plan = Nufft(modes, tolerance, dtype=precision, **options).set_points(array)
        return plan.type1(c, sign=_sign(isign))

    return _given(_within_reach(call, eps), out)


def _type2(points, f, out, eps, isign, given):
    array, precision = _stacked(points, "xyz")
    dimension = array.shape[1]
    _checked(f, "f", precision)
    if f.ndim not in (dimension, dimension + 1):
        needed = f"{dimension} axes are needed, or one more for several transforms"
        raise RuntimeError(f"f has the shape {tuple(f.shape)}; {needed}")
    modes = tuple(f.shape)[-dimension:]
    _check_out(out, (*f.shape[:-dimension], array.shape[0]), precision)
    options = _options(given)

    def call(tolerance):
        plan = Nufft(modes, tolerance, dtype=precision, **options).set_points(array)
        return plan.type2(f, sign=_sign(isign))

    return _given(_within_reach(call, eps), out)


def _type3(points, c, targets, out, eps, isign, given):
    array, precision = _stacked(points, "xyz")
    at, _ = _stacked(targets, "stu")
    if _name(at.dtype) != precision:
        raise TypeError(f"s has the type {_name(at.dtype)}; {precision} is needed, as x has")
    _check_strengths(c, array.shape[0], precision)
    _check_out(out, (*c.shape[:-1], at.shape[0]), precision)
    options = _options(given)
    threads, sign = options.get("threads"), _sign(isign)

    def call(tolerance):
        return nufft3(array, c, at, tolerance, sign=sign, threads=threads)

    return _given(_within_reach(call, eps), out)


class Plan:
    """A transform for points that are used several times: `setpts`, then `execute` as often as you like.

    nufft_type: 1, 2 or 3. n_modes_or_dim: numbers of modes along each axis; for type 3 the dimension. isign: by default
    + for types 1 and 3, - for type 2. dtype: "complex64" or "complex128". Options as in the simple calls. A plan of
    type 3 keeps its points and targets, and is built anew by each execution. Points and results may be arrays of any
    library.
    """

    def __init__(
        self,
        nufft_type: int,
        n_modes_or_dim: ByAxis,
        n_trans: int = 1,
        eps: float = 1e-6,
        isign: int | None = None,
        dtype: Any = "complex128",
        **kwargs: Any,
    ) -> None:
        self.type: int = whole(nufft_type, "nufft_type")
        if self.type not in (1, 2, 3):
            raise RuntimeError(f"nufft_type is {self.type}; 1, 2 and 3 are accepted")
        self.dtype: np.dtype[Any] = np.dtype(dtype)
        if self.dtype.name not in _COMPLEX.values():
            raise RuntimeError(f"dtype is {self.dtype.name}; complex64 and complex128 are accepted")
        self.n_trans: int = whole(n_trans, "n_trans", least=1)
        self._precision = next(real for real, name in _COMPLEX.items() if name == self.dtype.name)
        self._sign = _sign(isign) if isign is not None else -1 if self.type == 2 else 1
        self._eps, self._points = real_number(eps, "eps"), None
        self._make(n_modes_or_dim, kwargs)

    def _make(self, n_modes_or_dim: Any, given: dict[str, Any]) -> None:
        options = _options(given)
        extents = [whole(extent, "n_modes_or_dim", least=1) for extent in numbers(n_modes_or_dim, "n_modes_or_dim")]
        self._threads = options.get("threads")
        if self.type == 3:
            if len(extents) != 1 or extents[0] > 3:
                raise RuntimeError(f"n_modes_or_dim is {shown(n_modes_or_dim)}; a type 3 plan needs its dimension, 1 to 3")
            self.dim: int = extents[0]
            return
        if len(extents) > 3:
            raise RuntimeError(f"n_modes_or_dim is {shown(n_modes_or_dim)}; one to three numbers of modes are needed")
        self.dim = len(extents)
        self.n_modes: tuple[int, ...] = tuple(extents)
        self._plan = _within_reach(lambda eps: Nufft(extents, eps, dtype=self._precision, **options), self._eps)

    def setpts(
        self, x: Array = None, y: Array = None, z: Array = None, s: Array = None, t: Array = None, u: Array = None
    ) -> None:
        """Sets the points x, y, z, and for type 3 the targets s, t, u: as many of each as the plan has axes."""
        self._points = None
        points = self._stack((x, y, z), "xyz", True)
        self._targets = self._stack((s, t, u), "stu", self.type == 3)
        if self.type != 3:
            self._plan.set_points(points)
        self._points = points

    def _stack(self, vectors: tuple[Array, ...], names: str, needed: bool) -> Array:
        least = self.dim if needed else 0
        for number, (vector, name) in enumerate(zip(vectors, names)):
            if (vector is not None) != (number < least):
                what = "is needed" if vector is None else "is given, but not used"
                raise RuntimeError(f"{name} {what}: the plan is of type {self.type} in {self.dim}D")
        if not needed:
            return None
        array, precision = _stacked(vectors[:least], names)
        if precision != self._precision:
            raise TypeError(f"{names[0]} has the type {precision}; {self._precision} is needed, as the plan is {self.dtype.name}")
        return array

    def execute(self, data: Array, out: Array = None) -> Any:
        """The transform of strengths (M,) or (n_trans, M), for type 2 of modes (N1, ...) or (n_trans, N1, ...)."""
        return self._run(data, out, self.type, self._sign, False)

    def execute_adjoint(self, data: Array, out: Array = None) -> Any:
        """The adjoint of `execute`: from what that returns to what it takes, with the other sign."""
        return self._run(data, out, {1: 2, 2: 1, 3: 3}[self.type], -self._sign, True)

    def _run(self, data: Array, out: Array, kind: int, sign: int, adjoint: bool) -> Any:
        if self._points is None:
            raise RuntimeError("there are no points yet, or the last were refused; call setpts")
        count = self._points.shape[0]
        from_shape, to_shape = ((count,),) * 2
        if kind == 3:
            ends = self._points, self._targets
            start, end = ends[::-1] if adjoint else ends
            from_shape, to_shape = (start.shape[0],), (end.shape[0],)
        elif kind == 2:
            from_shape = self.n_modes
        else:
            to_shape = self.n_modes
        _checked(data, "data", self._precision)
        lead = tuple(data.shape[: -len(from_shape)])
        if tuple(data.shape) != (*lead, *from_shape) or lead not in ((self.n_trans,), ()) or (not lead and self.n_trans > 1):
            needed = (self.n_trans, *from_shape) if self.n_trans > 1 else from_shape
            raise RuntimeError(f"data has the shape {tuple(data.shape)}; {needed} is needed")
        _check_out(out, (*lead, *to_shape), self._precision)
        if kind == 3:
            options = dict(sign=sign, threads=self._threads)
            return _given(_within_reach(lambda eps: nufft3(start, data, end, eps, **options), self._eps), out)
        return _given((self._plan.type1 if kind == 1 else self._plan.type2)(data, sign=sign), out)


def nufft1d1(
    x: Array, c: Array, n_modes: ByAxis = None, out: Array = None, eps: float = 1e-6, isign: int = 1, **kwargs: Any
) -> Any:
    """f[k1] = sum over j of c[j] exp(+/-i k1 x[j])"""
    return _type1((x,), c, n_modes, out, eps, isign, kwargs)


def nufft1d2(x: Array, f: Array, out: Array = None, eps: float = 1e-6, isign: int = -1, **kwargs: Any) -> Any:
    """c[j] = sum over k1 of f[k1] exp(+/-i k1 x[j])"""
    return _type2((x,), f, out, eps, isign, kwargs)


def nufft1d3(x: Array, c: Array, s: Array, out: Array = None, eps: float = 1e-6, isign: int = 1, **kwargs: Any) -> Any:
    """f[k] = sum over j of c[j] exp(+/-i s[k] x[j])"""
    return _type3((x,), c, (s,), out, eps, isign, kwargs)


def nufft2d1(
    x: Array,
    y: Array,
    c: Array,
    n_modes: ByAxis = None,
    out: Array = None,
    eps: float = 1e-6,
    isign: int = 1,
    **kwargs: Any,
) -> Any:
    """f[k1, k2] = sum over j of c[j] exp(+/-i (k1 x[j] + k2 y[j]))"""
    return _type1((x, y), c, n_modes, out, eps, isign, kwargs)


def nufft2d2(x: Array, y: Array, f: Array, out: Array = None, eps: float = 1e-6, isign: int = -1, **kwargs: Any) -> Any:
    """c[j] = sum over k1, k2 of f[k1, k2] exp(+/-i (k1 x[j] + k2 y[j]))"""
    return _type2((x, y), f, out, eps, isign, kwargs)


def nufft2d3(
    x: Array,
    y: Array,
    c: Array,
    s: Array,
    t: Array,
    out: Array = None,
    eps: float = 1e-6,
    isign: int = 1,
    **kwargs: Any,
) -> Any:
    """f[k] = sum over j of c[j] exp(+/-i (s[k] x[j] + t[k] y[j]))"""
    return _type3((x, y), c, (s, t), out, eps, isign, kwargs)


def nufft3d1(
    x: Array,
    y: Array,
    z: Array,
    c: Array,
    n_modes: ByAxis = None,
    out: Array = None,
    eps: float = 1e-6,
    isign: int = 1,
    **kwargs: Any,
) -> Any:
    """f[k1, k2, k3] = sum over j of c[j] exp(+/-i (k1 x[j] + k2 y[j] + k3 z[j]))"""
    return _type1((x, y, z), c, n_modes, out, eps, isign, kwargs)


def nufft3d2(
    x: Array, y: Array, z: Array, f: Array, out: Array = None, eps: float = 1e-6, isign: int = -1, **kwargs: Any
) -> Any:
    """c[j] = sum over k1, k2, k3 of f[k1, k2, k3] exp(+/-i (k1 x[j] + k2 y[j] + k3 z[j]))"""
    return _type2((x, y, z), f, out, eps, isign, kwargs)


def nufft3d3(
    x: Array,
    y: Array,
    z: Array,
    c: Array,
    s: Array,
    t: Array,
    u: Array,
    out: Array = None,
    eps: float = 1e-6,
    isign: int = 1,
    **kwargs: Any,
) -> Any:
    """f[k] = sum over j of c[j] exp(+/-i (s[k] x[j] + t[k] y[j] + u[k] z[j]))"""
    return _type3((x, y, z), c, (s, t, u), out, eps, isign, kwargs)
