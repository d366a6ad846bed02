# SPDX-License-Identifier: BSD-3-Clause
"""Derivatives of spreading and interpolation by position, in the operations of an array library.

The compiled functions give values and gradients; this module gives their derivatives, to any order. Each operation of
the library is differentiable, so these functions need no derivative rules. Memory: N order^D numbers.

A footprint is the part of a mesh that a point reaches: order mesh points along each axis, the first index slowest.
`library` is torch or jax.numpy; positions are in units of the mesh.
"""


def _weights(library, u, order, derivative):
    """The weights (N, order) of a derivative along an axis, in the order of the mesh points, for positions (N,).

    Recursions of the cardinal B-spline M_n on [0, n] (de Boor; Essmann et al. 1995, equations 3.5 and 3.7).
    """
    t = u - order / 2
    t = t - library.floor(t)
    zero = library.zeros_like(t)
    if derivative >= order:
        return library.stack([zero] * order, -1)
    values = [library.ones_like(t)]  # values[m] = M_n(t + m)
    for n in range(2, order - derivative + 1):
        below = [zero, *values]
        values = [((t + m) * a + (n - m - t) * b) / (n - 1) for m, (a, b) in enumerate(zip([*values, zero], below))]
    for _ in range(derivative):
        values = [a - b for a, b in zip([*values, zero], [zero, *values])]
    return library.stack(values[::-1], -1)


def _nodes(library, u, order):
    """The mesh points (N, order) along an axis that are reached from positions (N,)."""
    first = library.floor(u - order / 2) + 1
    # int32 holds all extents, and int64 is not always available.
    return _integers(library, first)[:, None] + library.arange(order, **_beside(library, u))


def _footprints(library, u, order, mesh, periodic):
    """Indices (N, order, ...) into the flattened mesh. Mesh points beyond open ends, whose weights are 0, get the index
    of the end."""
    flat = 0
    for axis, extent in enumerate(mesh):
        nodes = _nodes(library, u[:, axis], order)
        nodes = nodes % extent if periodic[axis] else library.clip(nodes, 0, extent - 1)
        shape = [nodes.shape[0]] + [1] * len(mesh)
        shape[axis + 1] = order
        flat = flat * extent + nodes.reshape(shape)
    return flat


def _integers(library, values):
    return values.long() if library.__name__ == "torch" else values.astype(int)


def _beside(library, u):
    return {"device": u.device} if library.__name__ == "torch" else {}


def _products(library, u, mesh, order, periodic, derivatives):
    """Weights (N, order, ...) of a footprint for a tuple of derivatives, one number per axis."""
    result = None
    for axis, derivative in enumerate(derivatives):
        own = _weights(library, u[:, axis], order, derivative)
        if not periodic[axis]:
            nodes = _nodes(library, u[:, axis], order)
            own = own * ((nodes >= 0) & (nodes < mesh[axis]))
        own = own.reshape([own.shape[0]] + [order if a == axis else 1 for a in range(len(derivatives))])
        result = own if result is None else result * own
    return result


def unit(dimension, *axes):
    """The derivative along each of the axes: (1, 0, 1) of the axes 0 and 2."""
    return tuple(axes.count(axis) for axis in range(dimension))


def spread_derivatives(library, values, u, mesh, order, periodic):
    """mesh[v, k] = sum over derivatives d and points i of values[d][v, i] (derivative d of w)(u_i - k).

    values : a dictionary of (V, N) arrays by derivatives, see `unit`. Returns (V, K...).
    """
    at = _footprints(library, u, order, mesh, periodic).reshape(-1)
    total = 0
    for derivatives, own in values.items():
        weights = _products(library, u, mesh, order, periodic, derivatives).reshape(1, u.shape[0], order ** len(mesh))
        total = total + own[:, :, None] * weights
    vectors, size = total.shape[0], 1
    for extent in mesh:
        size *= extent
    total = total.reshape(vectors, -1)
    if library.__name__ == "torch":
        flat = library.zeros((vectors, size), dtype=total.dtype, device=total.device).index_add(1, at, total)
    else:
        flat = library.zeros((vectors, size), dtype=total.dtype).at[:, at].add(total)
    return flat.reshape(vectors, *mesh)


def interpolate_derivatives(library, values, u, order, periodic, wanted):
    """For each of the wanted derivatives the array (V, N) of sums over k of values[v, k] (derivative of w)(u_i - k).

    values : (V, K...).
    """
    mesh = tuple(values.shape[1:])
    at = _footprints(library, u, order, mesh, periodic)
    size = 1
    for extent in mesh:
        size *= extent
    around = values.reshape(values.shape[0], size)[:, at.reshape(-1)]
    around = around.reshape(values.shape[0], u.shape[0], order ** len(mesh))
    result = {}
    for derivatives in wanted:
        weights = _products(library, u, mesh, order, periodic, derivatives).reshape(1, u.shape[0], order ** len(mesh))
        result[derivatives] = (around * weights).sum(-1)
    return result
