# SPDX-License-Identifier: BSD-3-Clause
"""Functions of this package for PyTorch, with derivatives: see docs/guides/python-derivatives.md.

    neighbor_list                       pairs; distances and vectors have derivatives
    spread, interpolate                 values between points and meshes
    nufft1, nufft2, nufft3              Fourier transforms of points
    electrostatics                      energies, forces, potentials and virials of charges

Arguments are tensors of one device and precision. torch.compile(fullgraph=True) can compile all functions; if the size
of the result depends on the points (neighbor_list without a capacity), this needs
torch._dynamo.config.capture_dynamic_output_shape_ops.
"""

import math
from typing import Any

import torch

from ._torch import ewald as _ewald
from ._torch import mesh as _mesh
from ._torch import neighbors as _neighbors
from ._torch import transforms as _transforms
from ._torch.captured import CapturedLists, capturing
from ._cutoffs import by_pairs
from ._numbers import chosen_number, flag, letters, real_number, shown, sign_of, whole, word
from ._types import Array, ByAxis, DType
from .ewald import LAWS, Electrostatics
from .mesh import _ENDS, _index_type
from .neighbors import LETTERS, RULES
from .transforms import ORDERS

__all__ = ["CapturedLists", "Electrostatics", "electrostatics", "interpolate", "neighbor_list", "nufft1", "nufft2", "nufft3", "spread"]

_MOST_SYSTEMS = 2**27  # each has a box in memory


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
    capacity: int | None = None,
    method: str = "auto",
    index_dtype: DType = None,
) -> Any:
    """All pairs (i, j, S) for which points[j] + S @ box - points[i] is shorter than the cutoff.

    Like `quadrat.neighbor_list`; d and D have derivatives of every order by the points, the queries and the box.
    Derivatives of d are not finite for coincident points.

    capacity : the size of i, j, S, d and D, which then does not depend on the data, as in compiled functions. Entries
        beyond the pairs, of which there are n[-1], have i = the number of queries (or of points), j = that of points,
        S and D = 0, and d = the cutoff. More pairs are an error that names their number. For CUDA graphs see
        `CapturedLists`.
    """
    letters(outputs, "outputs", LETTERS)
    _points(points, (2, 3))
    dimension = points.shape[1]
    places = None if queries is None else _points(queries, (dimension,), "queries")
    lattice = None if box is None else _beside(box, points, "box")
    wraps = None if periodic is None else _periodic(periodic, dimension)
    given = {"origin": origin, "radii": radii, "radii_of_queries": radii_of_queries}
    corner, *sizes = (None if value is None else _beside(value, points, name) for name, value in given.items())
    type_cutoffs, types, types_of_queries = by_pairs(points, type_cutoffs, types, types_of_queries)
    given = {"systems": systems, "systems_of_queries": systems_of_queries, "types": types, "types_of_queries": types_of_queries}
    systems, *labels = (None if value is None else _read(value, name, points.device) for name, value in given.items())
    table = None if type_cutoffs is None else _read(type_cutoffs, "type_cutoffs")
    tensors = (points, lattice, systems, corner, places, *labels, *sizes, table, _pairs(excluded, "excluded"))
    integers = _index_type(index_dtype) or "int64"
    room = None if capacity is None else whole(capacity, "capacity", least=0)
    limit, rule = real_number(cutoff, "cutoff"), None if rule is None else word(rule, "rule", RULES)
    settings = (limit, flag(half, "half"), flag(sorted, "sorted"), word(method, "method"), rule, room, integers)
    i, j, shifts = _neighbors.pairs(*tensors, wraps, *settings)
    found = {"i": i, "j": j, "S": shifts}
    rows = len(points if places is None else places)
    if "n" in outputs:
        found["n"] = torch.searchsorted(i, torch.arange(rows + 1, device=i.device, dtype=i.dtype)).to(i.dtype)
    if "d" in outputs or "D" in outputs:
        if lattice is not None and lattice.ndim == 2 and lattice.shape != (dimension, dimension):
            lattice = torch.diag_embed(lattice)
        ends = points, systems, places
        at, of, to = ends if room is None else (_neighbors.with_unused(one) for one in ends)
        found["D"] = _neighbors.vectors(at, lattice, of, i, j, shifts, to)
        found["d"] = _neighbors.distances(found["D"], None if room is None else i < rows, limit)
    arrays = tuple(found[letter] for letter in outputs)
    return arrays[0] if len(arrays) == 1 else arrays


def spread(
    points: Array,
    values: Array,
    box: Array,
    mesh: ByAxis,
    order: int = 4,
    *,
    periodic: ByAxis = None,
    origin: Array = None,
    clip: bool = False,
    accept_outside: bool = False,
    ends: str = "lower",
    method: str = "auto",
) -> torch.Tensor:
    """Values (N,) or (V, N), real or complex, of (N, D) points on a mesh.

    Like `quadrat.spread`, but the box may also be (D, D) vectors as rows; the mesh is then in fractions of them. It has
    derivatives of every order by values, points and box, as far as splines of this order have them: order - 2
    continuous ones.
    """
    fractions, dimension = _fractions(points, box, origin)
    extents = _by_axis(mesh, dimension, "mesh", _extent)
    given, single = _vectors(_tensor(values, fractions, "values"), (points.shape[0],), "values", "(N,) or (V, N)")
    settings = _mesh_settings(order, periodic, dimension, clip, accept_outside, ends, method)
    result = _mesh.spread(fractions, given, extents, *settings)
    return result[0] if single else result


def interpolate(
    points: Array,
    mesh_values: Array,
    box: Array,
    order: int = 4,
    *,
    periodic: ByAxis = None,
    origin: Array = None,
    clip: bool = False,
    accept_outside: bool = False,
    ends: str = "lower",
    method: str = "auto",
) -> torch.Tensor:
    """Values (N,) or (V, N) of a mesh (K...) or (V, K...) at (N, D) points: the adjoint of `spread`.

    Derivatives as for `spread`; the derivative by points is the gradient of the interpolated field.
    """
    fractions, dimension = _fractions(points, box, origin)
    given, single = _meshes(_tensor(mesh_values, fractions, "mesh_values"), dimension, "mesh_values")
    settings = _mesh_settings(order, periodic, dimension, clip, accept_outside, ends, method)
    result = _mesh.interpolate(fractions, given, *settings)
    return result[0] if single else result


def nufft1(
    points: Array,
    values: Array,
    n_modes: ByAxis,
    tolerance: float = 1e-6,
    *,
    sign: int = 1,
    real: bool = False,
    mode_order: str = "centered",
    period: ByAxis = None,
    oversampling: float | None = None,
    method: str = "auto",
) -> torch.Tensor:
    """modes[k] = sum over points j of values[j] exp(i sign k . x_j), as `quadrat.nufft1`.

    (N, D) points, values (N,) or (V, N). Derivatives of every order by values, points and period (a number or one per
    axis; by default 2 pi). With `real`, derivatives in reverse are transforms of complex values.
    """
    angles, dimension = _angles(points, period)
    values, real = _tensor(values, angles, "values"), flag(real, "real")
    given, single = _vectors(values if real else _complex(values), (points.shape[0],), "values", "(N,) or (V, N)")
    extents = _by_axis(n_modes, dimension, "n_modes", _extent)
    settings = _transform_settings(tolerance, mode_order, oversampling, method)
    result = _transforms.type1(angles, given, extents, real, sign_of(sign), *settings)
    return result[0] if single else result


def nufft2(
    points: Array,
    modes: Array,
    tolerance: float = 1e-6,
    *,
    sign: int = -1,
    mode_order: str = "centered",
    period: ByAxis = None,
    oversampling: float | None = None,
    method: str = "auto",
) -> torch.Tensor:
    """values[j] = sum over modes k of modes[k] exp(i sign k . x_j), as `quadrat.nufft2`. Derivatives as for
    `nufft1`."""
    angles, dimension = _angles(points, period)
    given, single = _meshes(_complex(_tensor(modes, angles, "modes")), dimension, "modes")
    settings = _transform_settings(tolerance, mode_order, oversampling, method)
    result = _transforms.type2(angles, given, sign_of(sign), *settings)
    return result[0] if single else result


def nufft3(points: Array, values: Array, targets: Array, tolerance: float = 1e-6, *, sign: int = 1) -> torch.Tensor:
    """results[k] = sum over points j of values[j] exp(i sign s_k . x_j), at any targets s, (M, D).

    Derivatives of every order by values, points and targets.
    """
    at = _points(points, (1, 2, 3))
    to = _points(targets, (at.shape[1],), "targets")
    given, single = _vectors(_complex(_tensor(values, at, "values")), (at.shape[0],), "values", "(N,) or (V, N)")
    result = _transforms.type3(at, given, to, real_number(tolerance, "tolerance"), sign_of(sign))
    return result[0] if single else result


def electrostatics(
    points: Array,
    charges: Array,
    box: Array,
    accuracy: float = 1e-5,
    *,
    periodic: ByAxis = None,
    systems: Array = None,
    scaled_pairs: Array = None,
    scales: Array = None,
    forces: bool = True,
    potentials: bool = False,
    virial: bool = False,
    law: str = "coulomb",
    coulomb_constant: float = 1.0,
    remove_net_force: bool = False,
    method: str = "auto",
) -> Electrostatics:
    """Energy, forces, potentials and virial of (N, 3) points with charges (N,) in a periodic box, as `quadrat.Ewald`.

    box : (3,) lengths or (3, 3) vectors as rows; with `systems`, (N,) integers, (3,) or (1, 3, 3) for all, or (B, 3) or
    (B, 3, 3) for each, as compiled functions need.
    Returns `Electrostatics`, of tensors: energy () or with systems (B,), and, if requested, forces (N, 3), potentials
    (N,) and virial (3, 3) or (B, 3, 3).

    The energy has derivatives by points, charges and box. Forces, potentials and virial also have derivatives (second
    derivatives of the energy, for force losses) for Coulomb's law in boxes that are periodic along all three vectors;
    third derivatives are refused. `backward` computes only what the loss needs.
    """
    at = _points(points, (3,))
    charges = _tensor(charges, at, "charges")
    if charges.shape != at.shape[:1]:
        raise ValueError(f"charges have the shape {tuple(charges.shape)}; one for each of the {len(at)} points is needed")
    systems = None if systems is None else _read(systems, "systems", at.device)
    if systems is not None and systems.shape != at.shape[:1]:
        shape = tuple(systems.shape)
        raise ValueError(f"systems have the shape {shape}; one for each of the {len(at)} points is needed")
    vectors = _boxes(_beside(box, at, "box"), systems)
    factors = None if scales is None else _read(scales, "scales").to(torch.float64)
    words, constant = (word(method, "method"), word(law, "law", LAWS)), real_number(coulomb_constant, "coulomb_constant")
    wraps = _periodic(periodic, 3)
    settings = (real_number(accuracy, "accuracy"), *words, constant, flag(remove_net_force, "remove_net_force"), wraps)
    pairs = _pairs(scaled_pairs, "scaled_pairs")
    wanted = flag(forces, "forces"), flag(potentials, "potentials"), flag(virial, "virial")
    return _ewald.compute(at, charges, vectors, systems, pairs, factors, wanted, settings)


def _points(points, dimensions, name="points"):
    if not isinstance(points, torch.Tensor):
        raise TypeError(f"{name} are a {type(points).__name__}; a tensor is needed")
    _dense(points, name)
    if points.dtype not in (torch.float32, torch.float64):
        raise TypeError(f"{name} have the type {points.dtype}; float32 and float64 are accepted")
    given = points[:, None] if points.ndim == 1 and 1 in dimensions else points
    if given.ndim != 2 or given.shape[1] not in dimensions:
        wanted = " or ".join(f"(N, {d})" for d in dimensions)
        raise ValueError(f"{name} have the shape {tuple(points.shape)}; {wanted} is accepted")
    return given


def _read(value, name, device=None):
    """A tensor of real numbers."""
    elsewhere = device is not None and not (isinstance(value, torch.Tensor) and value.device == device)
    if elsewhere and not torch.compiler.is_compiling() and capturing(device):
        raise ValueError(f"{name} is not on {device}, and a CUDA graph cannot capture its copy; give a tensor that is")
    try:
        tensor = torch.as_tensor(value, device=device)
    except (TypeError, ValueError, OverflowError, RuntimeError):
        raise TypeError(f"{name} is {shown(value)}; numbers are accepted") from None
    if tensor.is_complex() or tensor.is_quantized:
        raise TypeError(f"{name} have the type {tensor.dtype}; real numbers are accepted")
    return _dense(tensor, name)


def _dense(tensor, name):
    if tensor.layout != torch.strided or tensor.is_nested:
        raise TypeError(f"{name} cannot be read: a sparse or nested tensor; dense ones are accepted")
    return tensor


def _lengths(value, points, name):
    """A number, or one for each axis, as a tensor. Numbers that are not tensors must be positive."""
    numbers = value if isinstance(value, (list, tuple)) else [value]
    if any(isinstance(number, (int, float)) and not 0 < number < math.inf for number in numbers):
        raise ValueError(f"{name} is {shown(value)}; positive numbers are accepted")
    return _one_or_each(_beside(value, points, name), points, name)


def _one_or_each(tensor, points, name):
    dimension = points.shape[1]
    if tensor.shape not in ((), (1,), (dimension,)):
        accepted = f"one value, or one for each of the {dimension} axes, is accepted"
        raise ValueError(f"{name} has the shape {tuple(tensor.shape)}; {accepted}")
    return tensor


def _beside(value, points, name):
    """A tensor of the precision of the points, on their device."""
    return _read(value, name, points.device).to(points.dtype)


def _tensor(values, points, name):
    return _dense(values, name) if isinstance(values, torch.Tensor) else _beside(values, points, name)


def _pairs(value, name):
    """(P, 2) indices, on the CPU."""
    if value is None:
        return None
    pairs = _read(value, name)
    if pairs.numel() > 0 and (pairs.ndim != 2 or pairs.shape[1] != 2):
        raise ValueError(f"{name} have the shape {tuple(pairs.shape)}; (P, 2) integers are needed")
    if pairs.numel() > 0 and (pairs.is_floating_point() or pairs.dtype == torch.bool):
        raise TypeError(f"{name} have the type {pairs.dtype}; integers are accepted")
    return pairs.reshape(-1, 2).to(torch.int64)


def _periodic(periodic, dimension):
    """By axis, or by system and axis, in one list; all axes for None."""
    rows = periodic.tolist() if hasattr(periodic, "tolist") else periodic
    if isinstance(rows, (list, tuple)) and len(rows) and isinstance(rows[0], (list, tuple)):
        return [wraps for row in rows for wraps in _by_axis(row, dimension, "periodic", flag)]
    return _wraps(rows, dimension)


def _wraps(periodic, dimension):
    """By axis; all axes for None."""
    return _by_axis(True if periodic is None else periodic, dimension, "periodic", flag)


def _boxes(box, systems):
    """Vectors (3, 3), or with systems (B, 3, 3)."""
    if systems is None and box.shape == (3, 3):
        return box
    if box.ndim in (1, 2) and box.shape[-1] == 3 and (box.ndim == 1 or (systems is not None and box.shape != (3, 3))):
        box = torch.diag_embed(box)
        if systems is None:
            return box
        box = box.reshape(-1, 3, 3)
    if systems is None or box.ndim != 3 or box.shape[1:] != (3, 3):
        wanted = "(3,) or (3, 3)" if systems is None else "with systems (3,) or (1, 3, 3) for all, (B, 3) or (B, 3, 3) for each,"
        raise ValueError(f"the box has the shape {tuple(box.shape)}; {wanted} is accepted")
    if box.shape[0] > 1 or systems.numel() == 0 or systems.is_floating_point():
        return box
    last = int(systems.max())
    if last >= _MOST_SYSTEMS:
        raise ValueError(f"systems are numbered up to {last}; 0 to {_MOST_SYSTEMS - 1} is accepted")
    return box.expand(last + 1, 3, 3)


def _by_axis(value, dimension, name, checked):
    numbers = value.tolist() if hasattr(value, "tolist") else value
    numbers = list(numbers) if isinstance(numbers, (list, tuple)) else [numbers] * dimension
    if len(numbers) != dimension:
        raise ValueError(f"{name} is {shown(value)}; one value, or one for each of the {dimension} axes, is accepted")
    return [checked(number, name) for number in numbers]


def _extent(value, name):
    return whole(value, name, least=1)


def _mesh_settings(order, periodic, dimension, clip, accept_outside, ends, method):
    """The arguments of the operators of _mesh after their tensors."""
    axes, flags = _wraps(periodic, dimension), (flag(clip, "clip"), flag(accept_outside, "accept_outside"))
    return whole(order, "order"), axes, *flags, word(ends, "ends", _ENDS), word(method, "method")


def _transform_settings(tolerance, mode_order, oversampling, method):
    """The arguments of the operators of _transforms after the sign."""
    given = real_number(tolerance, "tolerance"), word(mode_order, "mode_order", ORDERS)
    return *given, chosen_number(oversampling, "oversampling") or None, word(method, "method")


def _fractions(points, box, origin):
    at = _points(points, (1, 2, 3))
    dimension = at.shape[1]
    lattice = _beside(box, at, "box")
    if lattice.ndim < 2:
        lattice = _lengths(box, at, "box")
    if origin is not None:
        at = at - _one_or_each(_beside(origin, at, "origin"), at, "origin")
    if lattice.shape == (dimension,) or (lattice.ndim == 0 and dimension == 1):
        fractions = at / lattice
    elif lattice.shape == (dimension, dimension):
        # Not by solve: PyTorch 2.11 has wrong derivatives in reverse over those forward.
        fractions = at @ torch.linalg.inv(lattice)
    else:
        shape = tuple(lattice.shape)
        raise ValueError(f"the box has the shape {shape}; ({dimension},) lengths or ({dimension}, {dimension}) vectors are accepted")
    return fractions, dimension


def _vectors(values, each, name, wanted):
    single = values.ndim == len(each)
    given = values[None] if single else values
    if given.ndim != len(each) + 1 or given.shape[1:] != each or given.shape[0] < 1:
        raise ValueError(f"{name} have the shape {tuple(values.shape)}; {wanted} is needed, with N = {each[0]}")
    return given, single


def _meshes(values, dimension, name):
    single = values.ndim == dimension
    if not single and values.ndim != dimension + 1:
        raise ValueError(f"{name} have the shape {tuple(values.shape)}; {dimension} axes are needed, or one more for several")
    return values[None] if single else values, single


def _complex(values):
    return values if values.is_complex() else values.to(torch.complex64 if values.dtype == torch.float32 else torch.complex128)


def _angles(points, period):
    at = _points(points, (1, 2, 3))
    return at if period is None else at * (2 * math.pi / _lengths(period, at, "period")), at.shape[1]
