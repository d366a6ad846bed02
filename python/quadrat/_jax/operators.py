# SPDX-License-Identifier: BSD-3-Clause
"""Calls of compiled functions from JAX, with derivatives in reverse; those of transforms and splines have any order.

Positions are fractions of a unit box, or angles: derivatives by boxes and periods are JAX's own. Derivatives of complex
numbers are JAX's, without conjugates: those of linear functions are transposes.
"""

import functools

import jax
import jax.numpy as jnp
import numpy as np
from jax.custom_derivatives import SymbolicZero

from .. import _core, _cuda, _splines
from . import ewald_second

THREADS = 0

for _name, _handlers in _core.jax_handlers.items():
    jax.ffi.register_ffi_target(_name, _handlers[0], platform="cpu")
    if _cuda.package() is not None:
        jax.ffi.register_ffi_target(_name, _handlers[1], platform="CUDA")


def _call(name, results, *arrays, **attributes):
    converted = {"threads": np.int64(THREADS)}
    for key, value in attributes.items():
        if isinstance(value, tuple):
            converted[key] = np.array(value, np.int64)
        else:
            converted[key] = value if isinstance(value, (str, np.float64)) else np.int64(value)
    return jax.ffi.ffi_call(name, results, vmap_method="broadcast_all")(*arrays, **converted)


def _like(shape, array):
    return jax.ShapeDtypeStruct(shape, array.dtype)


def _real(product, like):
    return jnp.real(product.sum(0)).astype(like.dtype)


def _mesh(points, values, shape, mesh, order, periodic, operation):
    settings = {"mesh": tuple(mesh), "periodic": tuple(periodic), "order": order, "operation": operation}
    return _call("quadrat_mesh", _like(shape, values), points, values, **settings)


@functools.partial(jax.custom_vjp, nondiff_argnums=(2, 3, 4))
def spread(points, values, mesh, order, periodic):
    """(N, D) fractions and values (V, N): meshes (V, K...)."""
    return _mesh(points, values, (values.shape[0], *mesh), mesh, order, periodic, 0)


@functools.partial(jax.custom_vjp, nondiff_argnums=(2, 3))
def interpolate(points, values, order, periodic):
    """(N, D) fractions and meshes (V, K...): values (V, N)."""
    return _mesh(points, values, (values.shape[0], points.shape[0]), values.shape[1:], order, periodic, 1)


@functools.partial(jax.custom_vjp, nondiff_argnums=(2, 3))
def gradient(points, values, order, periodic):
    """Derivatives (V, N, D) of `interpolate` by the fractions."""
    return _mesh(points, values, (values.shape[0], *points.shape), values.shape[1:], order, periodic, 2)


def _spread_backward(mesh, order, periodic, saved, change):
    points, values = saved
    slopes = gradient(points, change, order, periodic)
    return _real(values[..., None] * slopes, points), interpolate(points, change, order, periodic)


def _interpolate_backward(order, periodic, saved, change):
    points, values = saved
    slopes = gradient(points, values, order, periodic)
    return _real(change[..., None] * slopes, points), spread(points, change, values.shape[1:], order, periodic)


def _gradient_backward(order, periodic, saved, change):
    points, values = saved
    mesh, dimension = values.shape[1:], points.shape[1]
    extents = jnp.array(mesh, points.dtype)
    u, per_mesh = points * extents, change * extents  # derivatives by u, times extents, are those by fractions
    pairs = [(a, b) for a in range(dimension) for b in range(a, dimension)]
    wanted = [_splines.unit(dimension, a, b) for a, b in pairs]
    curved = _splines.interpolate_derivatives(jnp, values, u, order, periodic, wanted)
    columns = [
        _real(sum(per_mesh[..., a] * curved[_splines.unit(dimension, a, b)] for a in range(dimension)), points)
        for b in range(dimension)
    ]
    parts = {_splines.unit(dimension, a): per_mesh[..., a] for a in range(dimension)}
    by_values = _splines.spread_derivatives(jnp, parts, u, mesh, order, periodic)
    return jnp.stack(columns, -1) * extents, by_values


spread.defvjp(lambda points, values, *given: (spread(points, values, *given), (points, values)), _spread_backward)
interpolate.defvjp(lambda points, mesh, *given: (interpolate(points, mesh, *given), (points, mesh)), _interpolate_backward)
gradient.defvjp(lambda points, mesh, *given: (gradient(points, mesh, *given), (points, mesh)), _gradient_backward)


def _transform(points, values, shape, modes, tolerance, sign, order, kind):
    settings = {"modes": tuple(modes), "tolerance": np.float64(tolerance), "sign": sign, "type": kind}
    return _call("quadrat_transform", _like(shape, values), points, values, centered=order == "centered", **settings)


@functools.partial(jax.custom_vjp, nondiff_argnums=(2, 3, 4, 5))
def type1(points, values, modes, tolerance, sign, order):
    """(N, D) angles and complex values (V, N): modes (V, K...)."""
    return _transform(points, values, (values.shape[0], *modes), modes, tolerance, sign, order, 1)


@functools.partial(jax.custom_vjp, nondiff_argnums=(2, 3, 4))
def type2(points, modes, tolerance, sign, order):
    """(N, D) angles and modes (V, K...): values (V, N)."""
    shape = (modes.shape[0], points.shape[0])
    return _transform(points, modes, shape, modes.shape[1:], tolerance, sign, order, 2)


@functools.partial(jax.custom_vjp, nondiff_argnums=(3, 4))
def type3(points, values, targets, tolerance, sign):
    """(N, D) points, complex values (V, N), (M, D) targets: results (V, M)."""
    shape = _like((values.shape[0], targets.shape[0]), values)
    return _call("quadrat_type_3", shape, points, values, targets, tolerance=np.float64(tolerance), sign=sign)


def _mode_numbers(modes, axis, order):
    numbers = np.arange(modes[axis]) - modes[axis] // 2
    numbers = np.fft.ifftshift(numbers) if order == "fft" else numbers
    return numbers.reshape([-1 if a == axis else 1 for a in range(len(modes))])


def _slopes(points, modes, tolerance, sign, order):
    """The derivatives (V, N, D) of type2 by the angles: one transform of V D vectors."""
    vectors, *extents = modes.shape
    scaled = jnp.stack([modes * _mode_numbers(extents, a, order).astype(points.dtype) for a in range(len(extents))])
    values = type2(points, scaled.reshape(-1, *extents), tolerance, sign, order)
    return 1j * sign * jnp.moveaxis(values.reshape(len(extents), vectors, -1), 0, -1)


def _type1_backward(modes, tolerance, sign, order, saved, change):
    points, values = saved
    slopes = _slopes(points, change, tolerance, sign, order)
    return _real(values[..., None] * slopes, points), type2(points, change, tolerance, sign, order)


def _type2_backward(tolerance, sign, order, saved, change):
    points, modes = saved
    slopes = _slopes(points, modes, tolerance, sign, order)
    by_modes = type1(points, change, modes.shape[1:], tolerance, sign, order)
    return _real(change[..., None] * slopes, points), by_modes


def _type3_slopes(at, values, of, tolerance, sign):
    """The derivatives (V, M, D) by `of` of the transform of values (V, N) at `at`."""
    scaled = jnp.stack([values * at[:, axis] for axis in range(at.shape[1])])
    results = type3(at, scaled.reshape(-1, at.shape[0]), of, tolerance, sign)
    return 1j * sign * jnp.moveaxis(results.reshape(at.shape[1], values.shape[0], -1), 0, -1)


def _type3_backward(tolerance, sign, saved, change):
    points, values, targets = saved
    by_points = _real(values[..., None] * _type3_slopes(targets, change, points, tolerance, sign), points)
    by_values = type3(targets, change, points, tolerance, sign)
    by_targets = _real(change[..., None] * _type3_slopes(points, values, targets, tolerance, sign), targets)
    return by_points, by_values, by_targets


type1.defvjp(lambda points, values, *given: (type1(points, values, *given), (points, values)), _type1_backward)
type2.defvjp(lambda points, modes, *given: (type2(points, modes, *given), (points, modes)), _type2_backward)
type3.defvjp(lambda *given: (type3(*given), given[:3]), _type3_backward)


def pairs(points, box, capacity, cutoff, periodic, half, ordered, strict=True):
    """i, j (P,), shifts (P, D), int32, and their number; nothing is written beyond it. No derivatives.

    strict : a number above the capacity is an error; otherwise it is a result, and nothing else is written."""
    one = jax.ShapeDtypeStruct((capacity,), jnp.int32)
    results = one, one, jax.ShapeDtypeStruct((capacity, points.shape[1]), jnp.int32), jax.ShapeDtypeStruct((), jnp.int32)
    arrays = jax.lax.stop_gradient((points, box))
    settings = {"periodic": tuple(periodic), "cutoff": np.float64(cutoff), "half": half, "sorted": ordered}
    settings["strict"] = strict
    return _call("quadrat_pairs", results, *arrays, **settings)


@functools.partial(jax.custom_vjp, nondiff_argnums=(3, 4, 5, 6, 7, 8))
def charges(points, values, cell, accuracy, constant, dispersion, method, periodic, sizes):
    """The energy (), forces (N, 3), potentials (N,) and virial (3, 3) of charges.

    sizes : of ewald_second; None: forces, potentials and virial have no derivatives.
    """
    results = _like((), points), _like(points.shape, points), _like(values.shape, points), _like((3, 3), points)
    numbers = {"accuracy": np.float64(accuracy), "constant": np.float64(constant)}
    settings = {"dispersion": dispersion, "method": method, "periodic": tuple(periodic)}
    return _call("quadrat_charges", results, points, values, cell, **numbers, **settings)


def _charges_forward(points, values, cell, *given):
    results = charges(points.value, values.value, cell.value, *given)
    return results, (points.value, values.value, cell.value, results)


def _charges_backward(accuracy, constant, dispersion, method, periodic, sizes, saved, change):
    points, values, cell, (_, forces, potentials, virial) = saved
    by_energy = jnp.zeros((), points.dtype) if isinstance(change[0], SymbolicZero) else change[0]
    # As in ewald: the transpose of the cell times the derivative by it is points^T forces - virial.
    by_cell = jnp.linalg.solve(cell.T, points.T @ forces - virial)
    first = -by_energy * forces, by_energy * potentials, by_energy * by_cell
    if all(isinstance(part, SymbolicZero) for part in change[1:]):
        return first
    if sizes is None or not all(periodic):
        raise NotImplementedError(
            "second derivatives of electrostatics are served for a box that is periodic along all three vectors, and that "
            "is known when the function is traced"
        )

    def again(*at):
        return ewald_second.results(pairs, type1, *at, sizes, constant, dispersion)

    factors = tuple(jnp.zeros(part.shape, part.dtype) if isinstance(part, SymbolicZero) else part for part in change[1:])
    second = jax.vjp(again, points, values, cell)[1](factors)
    return tuple(a + b for a, b in zip(first, second))


charges.defvjp(_charges_forward, _charges_backward, symbolic_zeros=True)
