# SPDX-License-Identifier: BSD-3-Clause
"""Fourier transforms with the arguments and results of finufft's simple calls: `import quadrat.finufft as finufft`.

nufft{1,2,3}d{1,2,3}: the dimension, then the type. Points are 1D arrays x, y, z of float32 or float64, in any period of
2 pi; strengths c are (M,) or (n_trans, M), modes f are (N1, N2, ...) or (n_trans, N1, N2, ...), complex of the points'
precision. `out` receives the result and is returned. A nonnegative `isign` means +. A tolerance `eps` that cannot be
reached becomes the least possible one, with a warning.

Options: modeord (0: modes from -N/2; 1: as numpy.fft), upsampfac, nthreads. Options that only affect speed or messages
are accepted and ignored; others give a warning. Several transforms with the same points are faster with
`quadrat.Nufft`.
"""

import sys
import warnings
from typing import Any

import numpy as np

from ._numbers import numbers, real_number, shown, whole
from ._types import Array, ByAxis
from .transforms import Nufft, nufft3

__all__ = [f"nufft{dimension}d{kind}" for dimension in (1, 2, 3) for kind in (1, 2, 3)]

_COMPLEX = {"float32": "complex64", "float64": "complex128"}
_NO_EFFECT = {
    "chkbnds",
    "debug",
    "fftw",
    "maxbatchsize",
    "showwarn",
    "spread_debug",
    "spread_kerevalmeth",
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
