# SPDX-License-Identifier: BSD-3-Clause
"""Operators of PyTorch: values beside those of NumPy, derivatives of first and second order, compiled functions."""

import importlib.util
import itertools
import threading
import math
import subprocess
import sys

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import quadrat  # noqa: E402
import quadrat.torch as qt  # noqa: E402
from quadrat._torch import ewald as _torch_ewald  # noqa: E402
from quadrat._torch import mesh as _torch_mesh  # noqa: E402
from quadrat._torch import neighbors as _torch_neighbors  # noqa: E402
from quadrat._torch import transforms as _torch_transforms  # noqa: E402

torch.set_num_threads(1)  # sizes are small
ON_GPU = torch.cuda.is_available() and importlib.util.find_spec("quadrat_cuda13") is not None
DEVICES = ["cpu", pytest.param("cuda", marks=pytest.mark.skipif(not ON_GPU, reason="no GPU, or no quadrat_cuda13"))]
DOUBLE = torch.float64


def random(device, *shape, seed=1):
    return torch.rand(shape, dtype=DOUBLE, generator=torch.Generator().manual_seed(seed)).to(device)


def needs(*tensors):
    return tuple(tensor.clone().requires_grad_() for tensor in tensors)


def triclinic(device, length=3.0):
    return length * torch.eye(3, dtype=DOUBLE, device=device) + 0.3 * random(device, 3, 3, seed=2)


def check(function, arguments, atol=1e-5):
    """First derivatives in reverse and forward, and second ones of both over reverse, beside differences."""
    options = {"fast_mode": True, "nondet_tol": 1e-9}
    assert torch.autograd.gradcheck(function, arguments, atol=atol, check_forward_ad=True, **options)
    assert torch.autograd.gradgradcheck(function, arguments, atol=10 * atol, check_fwd_over_rev=True, **options)


@pytest.mark.parametrize("device", DEVICES)
def test_distances_and_vectors_have_derivatives_by_points_and_box(device):
    points, box = needs(3 * random(device, 8, 3), triclinic(device))
    found = qt.neighbor_list(points, 1.4, box=box, sorted=True)
    wanted = quadrat.neighbor_list(points.detach().cpu().numpy(), 1.4, box=box.detach().cpu().numpy(), sorted=True)
    for a, b in zip(found, wanted):
        np.testing.assert_allclose(a.detach().cpu(), b, atol=1e-13)
    check(lambda p, b: qt.neighbor_list(p, 1.4, box=b, sorted=True, outputs="dD"), (points, box))
    flat, sides = needs(random(device, 9, 2), torch.tensor([1.0, 2.0], dtype=DOUBLE, device=device))
    check(lambda p, b: qt.neighbor_list(p, 0.4, box=b, sorted=True, outputs="d"), (flat, sides))


def test_pairs_of_several_systems_use_their_own_boxes():
    points, boxes = needs(3 * random("cpu", 10, 3), torch.stack([triclinic("cpu"), 4 * torch.eye(3, dtype=DOUBLE)]))
    systems = torch.arange(10) % 2

    def lists(p, b):
        return qt.neighbor_list(p, 1.4, box=b, systems=systems, sorted=True, outputs="dD")

    wanted = quadrat.neighbor_list(points.detach().numpy(), 1.4, box=boxes.detach().numpy(), systems=systems, sorted=True)
    np.testing.assert_allclose(lists(points, boxes)[1].detach(), wanted[4], atol=1e-13)
    check(lists, (points, boxes))


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("order, periodic", [(4, True), (5, (True, False, True)), (8, True)])
def test_meshes_have_derivatives_by_points_values_and_box(device, order, periodic):
    values, box = random(device, 2, 5, seed=3), triclinic(device)
    points = (0.45 + 0.1 * random(device, 5, 3, seed=4)) @ box  # footprints stay inside along the open axis
    shape = (4, 9, 3)
    given = needs(points, values, box)
    check(lambda p, v, b: qt.spread(p, v, b, shape, order, periodic=periodic), given, 1e-4)
    mesh = random(device, 2, *shape, seed=5) * (1 + 0.5j)
    check(lambda p, m, b: qt.interpolate(p, m, b, order, periodic=periodic), needs(points, mesh, box), 1e-4)


def test_spreading_has_the_values_of_numpy():
    points, values, box = 3 * random("cpu", 50, 3), random("cpu", 2, 50, seed=3), [3.0, 4.0, 5.0]
    mesh = qt.spread(points, values, box, (4, 5, 6), 6, origin=[1, 2, 3])
    wanted = quadrat.spread(points.numpy(), values.numpy(), box, (4, 5, 6), 6, origin=[1, 2, 3])
    np.testing.assert_allclose(mesh, wanted, atol=1e-13)
    back = qt.interpolate(points, mesh, box, 6, origin=[1, 2, 3])
    np.testing.assert_allclose(back, quadrat.interpolate(points.numpy(), wanted, box, 6, origin=[1, 2, 3]), atol=1e-13)


def test_splines_are_as_smooth_as_their_order_says():
    points = random("cpu", 6, 1)
    mesh = random("cpu", 7, seed=2)
    for order in (1, 2, 3):
        given = needs(points, mesh)
        (slope,) = torch.autograd.grad(qt.interpolate(*given, [1.0], order).sum(), given[0], create_graph=True)
        (curved,) = torch.autograd.grad(slope.sum(), given[0], allow_unused=True)
        assert slope.abs().max() > 0 or order == 1
        assert (curved.abs().max() > 0) == (order == 3)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("dimension", [1, 3])
def test_transforms_have_derivatives_by_points_values_and_period(device, dimension):
    shape = (4, 3, 2)[:dimension]
    points, values = random(device, 5, dimension), random(device, 2, 5, seed=2) * (1 - 2j)
    period = 2 + random(device, dimension, seed=3)
    first = needs(points, values, period)
    check(lambda p, v, t: qt.nufft1(p, v, shape, 1e-12, period=t, mode_order="fft"), first, 1e-4)
    modes = random(device, *shape, seed=4) * (1 + 1j)
    check(lambda p, m, t: qt.nufft2(p, m, 1e-12, period=t), needs(points, modes, period), 1e-4)


@pytest.mark.parametrize("device", DEVICES)
def test_transforms_to_targets_have_derivatives_by_all_they_take(device):
    points, values, targets = random(device, 4, 1), random(device, 4, seed=2) * (1 - 2j), 3 * random(device, 3, 1, seed=3)
    check(lambda p, v, t: qt.nufft3(p, v, t, 1e-10), needs(points, values, targets), 1e-3)


def test_transforms_have_the_values_of_their_sums():
    points, values = random("cpu", 30, 2), random("cpu", 30, seed=2) * (1 - 2j)
    for order, first in (("centered", -2), ("fft", 0)):
        k = torch.tensor([(a, b) for a in range(4) for b in range(5)]) - 2
        k = k if first else torch.stack([torch.fft.fftfreq(4, 0.25)[k[:, 0] + 2], torch.fft.fftfreq(5, 0.2)[k[:, 1] + 2]], 1)
        wanted = torch.exp(1j * (k.double() @ points.T)) @ values
        found = qt.nufft1(points, values, (4, 5), 1e-10, mode_order=order)
        np.testing.assert_allclose(found.reshape(-1), wanted, atol=1e-8)
        back = torch.exp(-1j * (points @ k.double().T)) @ wanted
        np.testing.assert_allclose(qt.nufft2(points, wanted.reshape(4, 5), 1e-10, mode_order=order), back, atol=1e-6)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("law", ["coulomb", "dispersion"])
def test_energies_of_charges_have_first_and_second_derivatives(device, law):
    points, charges, cell = 3 * random(device, 6, 3), random(device, 6, seed=3) - 0.3, triclinic(device)
    given = needs(points, charges, cell)

    def all_results(p, q, h):
        return qt.electrostatics(p, q, h, 1e-9, law=law, potentials=True, virial=True)

    assert torch.autograd.gradcheck(all_results, given, atol=1e-4, check_forward_ad=True, fast_mode=True)
    check(lambda *a: all_results(*a).energy, given, 1e-5)
    found = all_results(*given)
    wanted = quadrat.electrostatics(
        points.cpu().numpy(), charges.cpu().numpy(), cell.cpu().numpy(), 1e-9, law=law, potentials=True, virial=True
    )
    for a, b in zip(found, wanted):
        np.testing.assert_allclose(a.detach().cpu(), b, atol=1e-8)


@pytest.mark.parametrize("device", DEVICES)
def test_charges_of_several_systems_with_excluded_pairs_have_second_derivatives(device):
    cells = torch.stack([triclinic(device), 4 * torch.eye(3, dtype=DOUBLE, device=device)])
    given = needs(3 * random(device, 9, 3), random(device, 9, seed=3) - 0.3, cells)
    systems = torch.tensor([0, 1, 1, 0, 1, 0, 0, 1, 1], device=device)

    def all_results(p, q, h):
        return qt.electrostatics(p, q, h, 1e-9, systems=systems, scaled_pairs=[[0, 3], [1, 8]], scales=[0.0, 0.5],
                                 potentials=True, virial=True)  # fmt: skip

    assert torch.autograd.gradcheck(all_results, given, atol=1e-4, check_forward_ad=True, fast_mode=True)
    check(lambda *a: all_results(*a).energy, given, 1e-5)


def test_second_derivatives_are_as_exact_as_the_accuracy_says():
    points, charges = 8 * random("cpu", 300, 3), random("cpu", 300, seed=3) - 0.5
    cell, along = 8 * torch.eye(3, dtype=DOUBLE), random("cpu", 300, 3, seed=4) - 0.5

    def product(accuracy):
        at, q = needs(points, charges)
        forces = qt.electrostatics(at, q, cell, accuracy).forces
        return torch.autograd.grad((forces * along).sum(), (at, q))

    for found, wanted in zip(product(1e-4), product(1e-9)):
        assert (found - wanted).square().mean().sqrt() < 1e-4 * wanted.square().mean().sqrt()


def test_force_losses_are_those_of_torch_pme():
    torchpme = pytest.importorskip("torchpme")
    points, charges, cell = 6 * random("cpu", 60, 3), random("cpu", 60, seed=3) - 0.5, 6 * torch.eye(3, dtype=DOUBLE)
    charges = charges - charges.mean()
    calculator = torchpme.P3MCalculator(
        torchpme.CoulombPotential(smearing=0.6), mesh_spacing=0.3, interpolation_nodes=5, full_neighbor_list=True
    ).to(dtype=DOUBLE)

    def other(p, q):
        i, j, d = qt.neighbor_list(p, 3.6, box=cell, outputs="ijd")
        return (q[:, None] * calculator(q[:, None], cell, p, torch.stack([i, j], 1), d)).sum()

    def slopes(energy):
        at, q = needs(points, charges)
        forces = torch.autograd.grad(energy(at, q), at, create_graph=True)[0]
        return forces.detach(), *torch.autograd.grad(forces.square().sum(), (at, q))

    for found, wanted in zip(slopes(lambda p, q: qt.electrostatics(p, q, cell, 1e-7).energy), slopes(other)):
        assert (found - wanted).square().mean().sqrt() < 1e-4 * wanted.square().mean().sqrt()


def test_single_precision_has_derivatives_in_single_precision():
    points, charges, cell = (t.float() for t in (3 * random("cpu", 6, 3), random("cpu", 6, seed=3), triclinic("cpu")))
    given = needs(points, charges, cell)
    found = qt.electrostatics(*given, 1e-3)
    slopes = torch.autograd.grad(found.forces.square().sum() + found.energy, given)
    exact = needs(*(t.double() for t in (points, charges, cell)))
    result = qt.electrostatics(*exact, 1e-7)
    for a, b in zip(slopes, torch.autograd.grad(result.forces.square().sum() + result.energy, exact)):
        assert a.dtype == torch.float32
        np.testing.assert_allclose(a, b, rtol=2e-2, atol=2e-2 * b.abs().max())


def test_a_slab_has_first_derivatives_and_refuses_second_ones():
    points, charges = needs(3 * random("cpu", 4, 3), random("cpu", 4, seed=2))
    found = qt.electrostatics(points, charges, [3.0, 3.0, 3.0], 1e-6, periodic=(True, True, False))
    (slope,) = torch.autograd.grad(found.energy, points, retain_graph=True)
    np.testing.assert_allclose(slope, -found.forces.detach())
    with pytest.raises(NotImplementedError, match="periodic along all three"):
        found.forces.sum().backward()


def test_third_derivatives_of_energies_are_refused():
    points, charges = needs(3 * random("cpu", 4, 3), random("cpu", 4, seed=2))
    forces = qt.electrostatics(points, charges, [3.0, 3.0, 3.0], 1e-4).forces
    (second,) = torch.autograd.grad(forces.square().sum(), points, create_graph=True)
    with pytest.raises(NotImplementedError, match="third derivatives"):
        second.sum().backward()


def functions():
    """Of everything with derivatives: function and arguments, those that it is linear in at the number `values`."""
    points, charges, cell = 3 * random("cpu", 6, 3), random("cpu", 6, seed=3) - 0.4, triclinic("cpu")
    mesh, targets, period = random("cpu", 4, 5, 3), 3 * random("cpu", 4, 3), 2 + random("cpu", 3)
    return {
        "neighbor_list": (lambda p, b: qt.neighbor_list(p, 1.4, box=b, sorted=True, outputs="D"), (points, cell), None),
        "spread": (lambda p, v, b: qt.spread(p, v, b, (4, 5, 3)), (points, charges, cell), 1),
        "interpolate": (qt.interpolate, (points, mesh, cell), 1),
        "nufft1": (lambda p, v, t: qt.nufft1(p, v, (4, 3, 2), 1e-12, period=t), (points, charges * 1j, period), 1),
        "clipped": (lambda p, v, b: qt.spread(p, v, b, 4, periodic=False, clip=True, accept_outside=True), (points, charges, cell), 1),
        "real": (lambda p, v, t: qt.nufft1(p, v, (4, 3, 4), 1e-12, period=t, real=True), (points, charges, period), 1),
        "nufft2": (lambda p, m, t: qt.nufft2(p, m, 1e-12, period=t), (points, mesh * (1 - 1j), period), 1),
        "nufft3": (lambda p, v, t: qt.nufft3(p, v, t, 1e-10), (points / 3, charges * 1j, targets), 1),
        "electrostatics": (lambda *given: qt.electrostatics(*given, 1e-9).energy, (points, charges, cell), None),
    }


@pytest.mark.parametrize("name", functions())
def test_derivatives_are_the_same_in_all_ways_of_torch_func(name):
    function, arguments, _ = functions()[name]
    along = tuple(random("cpu", *a.shape, seed=7).to(a.dtype) for a in arguments)

    def scalar(*given):
        return (function(*given).abs() ** 2).sum()

    everything = tuple(range(len(arguments)))
    slopes = torch.func.grad(scalar, everything)(*arguments)
    value, pull = torch.func.vjp(scalar, *arguments)
    torch.testing.assert_close(pull(torch.ones_like(value)), slopes)
    torch.testing.assert_close(torch.autograd.grad(scalar(*(given := needs(*arguments))), given), slopes)
    directional = sum((slope.conj() * step).real.sum() for slope, step in zip(slopes, along))
    torch.testing.assert_close(torch.func.jvp(scalar, arguments, along)[1], directional, rtol=1e-6, atol=1e-8)
    assert directional.abs() > 1e-3
    curved = torch.func.jvp(torch.func.grad(scalar, everything), arguments, along)[1]
    other = torch.func.grad(lambda *given: torch.func.jvp(scalar, given, along)[1], everything)(*arguments)
    torch.testing.assert_close(other, curved, rtol=1e-6, atol=1e-8)
    rest = arguments[1:]
    whole = torch.func.hessian(lambda p: scalar(p, *rest))(arguments[0])
    wanted = torch.func.jvp(lambda p: torch.func.grad(scalar)(p, *rest), arguments[:1], along[:1])[1]
    torch.testing.assert_close((whole * along[0]).sum((-2, -1)), wanted, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("name", [name for name in functions() if name != "neighbor_list"])
def test_vmap_is_a_call_for_each_entry(name, recwarn):
    function, arguments, values = functions()[name]
    for k in range(len(arguments)):
        several = torch.stack([arguments[k], 0.9 * arguments[k], 0.8 * arguments[k]], 1)
        dims = tuple(1 if a == k else None for a in range(len(arguments)))
        given = [several if a == k else value for a, value in enumerate(arguments)]
        found = torch.func.vmap(function, dims)(*given)
        for entry in range(3):
            wanted = function(*[several[:, entry] if a == k else value for a, value in enumerate(arguments)])
            torch.testing.assert_close(found[entry], wanted)
    assert not [warning for warning in recwarn if "performance" in str(warning.message)]
    slopes = torch.func.grad(lambda *given: (function(*given).abs() ** 2).sum())
    both = torch.stack([arguments[0], 0.9 * arguments[0]])
    found = torch.func.vmap(slopes, (0, *[None] * (len(arguments) - 1)))(both, *arguments[1:])
    torch.testing.assert_close(found[1], slopes(both[1], *arguments[1:]))


def test_vmap_over_values_of_the_same_points_is_one_call(monkeypatch):
    calls, plan = [], _torch_transforms._plan
    monkeypatch.setattr(_torch_transforms, "_plan", lambda *given: calls.append(given) or plan(*given))
    points, values = random("cpu", 6, 2), random("cpu", 5, 6, seed=2)
    found = torch.func.vmap(lambda v: qt.nufft1(points, v, 4))(values)
    assert len(calls) == 1
    torch.testing.assert_close(found, qt.nufft1(points, values, 4))


def test_vmap_of_lists_and_forward_derivatives_that_are_not_there_are_refused():
    points, charges = 3 * random("cpu", 4, 3), random("cpu", 4, seed=2)
    with pytest.raises(NotImplementedError, match="vmap.*systems"):
        torch.func.vmap(lambda p: qt.neighbor_list(p, 1.0, outputs="d"))(points[None])
    with pytest.raises(NotImplementedError, match="periodic along all three"):
        slab = (True, True, False)
        torch.func.jvp(lambda p: qt.electrostatics(p, charges, [3.0, 3, 3], periodic=slab).energy, (points,), (points,))
    with pytest.raises(NotImplementedError, match="third derivatives"):
        squares = torch.func.grad(lambda p: qt.electrostatics(p, charges, [3.0, 3, 3]).forces.square().sum())
        torch.func.jvp(squares, (points,), (points,))


def test_tangents_are_not_lost_in_compiled_functions():
    points, values = random("cpu", 6, 2), random("cpu", 6, seed=2)

    def directional(p):
        return torch.func.jvp(lambda at: qt.nufft1(at, values, 4).abs().square().sum(), (p,), (p,))[1]

    torch.testing.assert_close(torch.compile(directional, backend="eager")(points), directional(points))
    compiled = torch.compile(lambda at: qt.nufft1(at, values, 4).abs().square().sum(), backend="eager")
    compiled(points)
    torch.testing.assert_close(torch.func.jvp(compiled, (points,), (points,))[1], directional(points))


def loss(points, charges, cell):
    """Something of everything, with forces in it."""
    found = qt.electrostatics(points, charges, cell, 1e-6)
    mesh = qt.spread(points, charges, cell, (4, 4, 4))
    modes = qt.nufft1(points, charges, (3, 3, 3), 1e-6)
    energy = qt.interpolate(points, mesh, cell) @ charges + modes.abs().square().sum()
    return found.energy + found.forces.square().sum() + energy


@pytest.mark.parametrize("device", DEVICES)
def test_functions_are_compiled_without_graph_breaks(device):
    given = needs(3 * random(device, 6, 3), random(device, 6, seed=2), triclinic(device))
    wanted = loss(*given)
    found = torch.compile(loss, fullgraph=True, backend="aot_eager")(*given)
    torch.testing.assert_close(found, wanted)
    for a, b in zip(torch.autograd.grad(found, given), torch.autograd.grad(wanted, given)):
        torch.testing.assert_close(a, b)


def test_lists_are_compiled_where_shapes_may_depend_on_data():
    points, box = needs(3 * random("cpu", 8, 3), triclinic("cpu"))

    def energy(p, b):
        i, d = qt.neighbor_list(p, 1.4, box=b, outputs="id")
        return torch.zeros(8, dtype=DOUBLE).index_add(0, i, torch.exp(-d)).square().sum()

    with torch._dynamo.config.patch(capture_dynamic_output_shape_ops=True):
        found = torch.compile(energy, fullgraph=True, backend="aot_eager")(points, box)
        slopes = torch.autograd.grad(found, (points, box))
    for a, b in zip(slopes, torch.autograd.grad(energy(points, box), (points, box))):
        torch.testing.assert_close(a, b)


def operators():
    points, charges, cell = needs(random("cpu", 5, 3), random("cpu", 5, seed=2), triclinic("cpu"))
    plain = [tensor.detach() for tensor in (points, charges, cell)]
    values, mesh = needs(random("cpu", 2, 5), random("cpu", 2, 4, 4, 4))
    wave, modes = needs(values.detach() * 1j, mesh.detach() * 1j)
    around, none = [True] * 3, [None] * 3
    clipped = [4, [True, False, True], True, True, "both", "particle"]
    return {
        "spread": (_torch_mesh.spread_operator, (points, values, [4, 4, 4], *clipped)),
        "interpolate": (_torch_mesh.interpolate_operator, (points, mesh, *clipped)),
        "gradient": (_torch_mesh.gradient_operator, (points, mesh, *clipped)),
        "type 1": (_torch_transforms.type1_operator, (points, wave, [3, 3, 3], False, 1, 1e-6, "centered", None, "auto")),
        "type 1 of real values": (_torch_transforms.type1_operator, (points, values, [3, 4, 4], True, -1, 1e-6, "fft", 2.0, "particle")),
        "type 2": (_torch_transforms.type2_operator, (points, modes, 1, 1e-6, "centered", 2.0, "particle")),
        "type 3": (_torch_transforms.type3_operator, (points, wave, plain[0] * 2, 1e-6, 1)),
        "pairs": (_torch_neighbors.pairs_operator, (plain[0], plain[2], *[None] * 10, around, 1.5, True, True, "auto", None, None, "int32")),
        "room for pairs": (_torch_neighbors.pairs_operator, (plain[0], plain[2], *[None] * 10, around, 1.5, False, True, "", None, 300, "int64")),
        "charges": (_torch_ewald.electrostatics_operator, (points, charges, cell, *none, True, 1e-4, "auto", "coulomb", 1.0, True, around)),
        "second": (_torch_ewald.second_operator, (*plain, *none, plain[0], None, None, 1e-4, "coulomb", 1.0)),
    }


@pytest.mark.parametrize("name", operators())
def test_operators_keep_the_rules_of_operators(name):
    operator, arguments = operators()[name]
    torch.library.opcheck(operator, arguments)


def test_numbers_may_be_lists():
    points = random("cpu", 4, 3)
    charges, systems = [1.0, -1.0, 2.0, -2.0], [0, 0, 1, 1]
    values, cells = torch.tensor(charges, dtype=DOUBLE), torch.stack([torch.eye(3), 2 * torch.eye(3)])
    found = qt.electrostatics(points, charges, cells.tolist(), 1e-6, systems=systems)
    wanted = qt.electrostatics(points, values, cells, 1e-6, systems=torch.tensor(systems))
    torch.testing.assert_close(found.energy, wanted.energy)
    torch.testing.assert_close(qt.spread(points, charges, [1, 1, 1], 4), qt.spread(points, values, [1, 1, 1], 4))
    assert qt.neighbor_list(points, 0.5, box=[1, 1, 1], systems=systems, outputs="i").dtype == torch.int64


def test_lists_take_what_those_of_numpy_take():
    points, queries, systems = 3 * random("cpu", 40, 3), 3 * random("cpu", 9, 3, seed=2), torch.arange(40) % 2
    boxes, table = [[3.0, 3, 3], [4.0, 4, 5]], [[0.5, 1.1], [1.1, 0.8]]
    cases = [
        {"systems": systems, "box": boxes, "periodic": [[True] * 3, [True, False, True]]},
        {"systems": systems, "box": [3.0, 3, 3], "queries": queries, "systems_of_queries": torch.arange(9) % 2},
        {"types": systems, "type_cutoffs": table, "box": [3.0, 3, 3], "origin": [1.0, 1, 1]},
        {"radii": 0.6 * random("cpu", 40), "rule": "larger_radius", "excluded": [[0, 1], [2, 3]]},
        {"queries": queries, "radii": 0.6 * random("cpu", 40), "radii_of_queries": 0.6 * random("cpu", 9)},
        {"queries": queries, "types": systems, "types_of_queries": torch.arange(9) % 2, "type_cutoffs": table},
    ]
    for case in cases:
        found = qt.neighbor_list(points, 1.3, sorted=True, outputs="ijSdDn", **case)
        wanted = quadrat.neighbor_list(points, 1.3, sorted=True, outputs="ijSdDn", **case)
        assert len(found[0]) > 5
        for a, b in zip(found, wanted):
            torch.testing.assert_close(a, b)


        count = len(wanted[0])
        roomy = qt.neighbor_list(points, 1.3, sorted=True, outputs="ijSdDn", capacity=count + 7, **case)
        rows = len(case.get("queries", points))
        for a, b, rest in zip(roomy, wanted, (rows, len(points), 0, 1.3, 0)):
            torch.testing.assert_close(a[:count], b)
            assert a.shape == (count + 7, *b.shape[1:]) and (a[count:] == rest).all()
        torch.testing.assert_close(roomy[5], wanted[5])
        exact = qt.neighbor_list(points, 1.3, sorted=True, outputs="ijSdDn", capacity=count, **case)
        for a, b in zip(exact, wanted):
            torch.testing.assert_close(a, b)


@pytest.mark.parametrize("device", DEVICES)
def test_lists_with_a_capacity_have_derivatives_and_no_more_pairs_than_it(device):
    points, box = needs(3 * random(device, 8, 3), triclinic(device))
    count = len(qt.neighbor_list(points, 1.4, box=box, outputs="i"))
    check(lambda p, b: qt.neighbor_list(p, 1.4, box=b, sorted=True, outputs="dD", capacity=count + 3), (points, box))
    with pytest.raises(ValueError, match=f"there are {count} pairs; the capacity is {count - 1}"):
        qt.neighbor_list(points, 1.4, box=box, capacity=count - 1)
    none = torch.zeros((0, 3), dtype=DOUBLE, device=device)
    assert qt.neighbor_list(none, 1.0, outputs="d", capacity=3).tolist() == [1.0] * 3
    i, between = qt.neighbor_list(none, 1.0, outputs="iD", capacity=2)
    assert i.tolist() == [0, 0] and not between.any()


def test_dynamics_of_many_systems_run_in_one_compiled_call():
    count, each, room = 64, 12, 5000
    boxes = torch.stack([(2.2 + 0.01 * k) * torch.eye(3, dtype=DOUBLE) for k in range(count)])
    systems = torch.arange(count).repeat_interleave(each)
    start = (random("cpu", count * each, 3)[:, None] @ boxes[systems])[:, 0]
    speeds = random("cpu", count * each, 3, seed=2) - 0.5

    def moved(p, v, cells, of, capacity):
        most = torch.zeros((), dtype=torch.int64)
        for _ in range(4):
            i, d, between, n = qt.neighbor_list(p, 1.0, cells, systems=of, outputs="idDn", capacity=capacity)
            forces = p.new_zeros((len(p) + 1, 3)).index_add(0, i, -2 * ((1 - d) / d)[:, None] * between)
            v = v + 0.01 * forces[:-1]
            p, most = p + 0.01 * v, torch.maximum(most, n[-1])
        return p, v, most

    with torch._dynamo.config.patch(error_on_recompile=True):
        run = torch.compile(moved, fullgraph=True, backend="aot_eager", dynamic=False)
        p, v, most = run(start, speeds, boxes, systems, room)
        p, v, later = run(p, v, boxes, systems, room)
        near = 0.01 * p
        pairs = len(qt.neighbor_list(near, 1.0, boxes, systems=systems, outputs="i"))
        with pytest.raises(ValueError, match=f"there are {pairs} pairs; the capacity is {room}"):
            run(near, v, boxes, systems, room)
    assert 0 < int(torch.maximum(most, later)) <= room < pairs
    for k in (0, 31, 63):
        own, alone = systems == k, (boxes[k : k + 1], torch.zeros(each, dtype=torch.int64))
        q, w, _ = moved(start[own], speeds[own], *alone, None)
        q, w, _ = moved(q, w, *alone, None)
        torch.testing.assert_close(p[own], q)
        torch.testing.assert_close(v[own], w)


def test_systems_of_charges_may_share_a_box_or_have_lengths_of_their_own():
    points, charges, systems = 3 * random("cpu", 6, 3), random("cpu", 6, seed=2), torch.arange(6) % 2
    one, each = [3.0, 3.0, 3.0], [[3.0, 3, 3], [4.0, 4, 4]]
    for box, vectors in ((one, [torch.diag(torch.tensor(one))] * 2), ([one], None), (each, [3 * torch.eye(3), 4 * torch.eye(3)])):
        vectors = torch.stack(vectors) if vectors else 3 * torch.eye(3)[None]
        found = qt.electrostatics(points, charges, box, systems=systems).energy
        assert found.shape == (2,)
        torch.testing.assert_close(found, qt.electrostatics(points, charges, vectors, systems=systems).energy)


def test_no_points_have_no_values_and_no_slopes():
    points, values = needs(torch.zeros((0, 3), dtype=DOUBLE), torch.zeros(0, dtype=DOUBLE))
    assert qt.neighbor_list(points, 1.0, outputs="d").shape == (0,)
    mesh = qt.spread(points, values, [1.0, 1, 1], 4)
    assert mesh.shape == (4, 4, 4) and not mesh.any()
    assert torch.autograd.grad(mesh.sum(), points)[0].shape == (0, 3)


@pytest.mark.parametrize(
    "call, error, words",
    [
        (lambda p, q: qt.neighbor_list(p, 1.0, outputs="x"), ValueError, "'x'"),
        (lambda p, q: qt.neighbor_list(p.numpy(), 1.0), TypeError, "ndarray"),
        (lambda p, q: qt.neighbor_list(p.half(), 1.0), TypeError, "float16"),
        (lambda p, q: qt.neighbor_list(p * torch.nan, 1.0), ValueError, "point 0"),
        (lambda p, q: qt.spread(p, q[:3], [1, 1, 1], 4), ValueError, r"\(3,\)"),
        (lambda p, q: qt.spread(p, q.float(), [1, 1, 1], 4), TypeError, "float32"),
        (lambda p, q: qt.spread(p, q, [1, 1], 4), ValueError, r"\(2,\)"),
        (lambda p, q: qt.interpolate(p, q, [1, 1, 1]), ValueError, "mesh_values"),
        (lambda p, q: qt.spread(p, q, [1, 1, 1], 4, periodic=[[True] * 3]), ValueError, "periodic is"),
        (lambda p, q: qt.nufft1(p, q, 0), ValueError, "modes"),
        (lambda p, q: qt.nufft1(p, q, 4, sign=2), ValueError, "sign is 2"),
        (lambda p, q: qt.nufft1(p, q, 4, mode_order="sorted"), ValueError, "sorted"),
        (lambda p, q: qt.nufft1(p, q * 1j, 4, real=True), TypeError, "values are complex"),
        (lambda p, q: qt.nufft1(p, q, 4, method="fast"), ValueError, '"fast"'),
        (lambda p, q: qt.spread(p, q, [1, 1, 1], 4, method=3), TypeError, "method is 3"),
        (lambda p, q: qt.neighbor_list(p, 1.0, index_dtype="int16"), TypeError, "index_dtype is int16; int32 and int64"),
        (lambda p, q: qt.nufft3(p, q, p[:, :2]), ValueError, "targets"),
        (lambda p, q: qt.electrostatics(p, q[:2], [1, 1, 1]), ValueError, "charges"),
        (lambda p, q: qt.electrostatics(p, q, [1, 1, 1], law="gravity"), ValueError, "gravity"),
        (lambda p, q: qt.electrostatics(p, q, [1, 1]), ValueError, r"\(2,\)"),
        (lambda p, q: qt.electrostatics(p, q, torch.eye(3), systems=[0, 0, 1, 1, 1]), ValueError, r"\(3, 3\).*\(1, 3, 3\).*\(B, 3, 3\)"),
        (lambda p, q: qt.electrostatics(p, q, torch.ones(2, 3, 3), systems=[0.5] * 5), TypeError, "systems"),
        (lambda p, q: qt.spread(p, q, [1, 1, 1], 2.5), ValueError, "mesh is 2.5"),
        (lambda p, q: qt.spread(p, q, [1, -1, 1], 4), ValueError, r"box is \[1, -1, 1\]; positive"),
        (lambda p, q: qt.spread(p, q, [1, math.inf, 1], 4), ValueError, "box is .*inf.*; positive"),
        (lambda p, q: qt.spread(p, q, [1, 1, 1], 4, origin=torch.zeros(5, 3)), ValueError, r"origin has the shape \(5, 3\)"),
        (lambda p, q: qt.spread(p, q, [1, 1, 1], 4, clip="no"), TypeError, "clip is 'no'; True or False"),
        (lambda p, q: qt.spread(p, q, [1, 1, 1], 4, periodic=[1, 2, 1]), TypeError, "periodic is 2; True or False"),
        (lambda p, q: qt.spread(p, q, 1j * torch.ones(3), 4), TypeError, "box have the type torch.complex64; real"),
        (lambda p, q: qt.nufft1(p, q, 4, period=-2.0), ValueError, "period is -2.0; positive"),
        (lambda p, q: qt.nufft1(p, q, 4, period=torch.ones(5, 1)), ValueError, r"period has the shape \(5, 1\)"),
        (lambda p, q: qt.neighbor_list(p, 1.0, capacity=-1), ValueError, "capacity is -1; a whole number from 0"),
        (lambda p, q: qt.neighbor_list(p, 1.0, half="no"), TypeError, "half is 'no'"),
        (lambda p, q: qt.neighbor_list(p, 1.0, excluded=[[0.5, 1]]), TypeError, "excluded have the type torch.float32; integers"),
        (lambda p, q: qt.electrostatics(p, q, [1, 1, 1], systems=7), ValueError, r"systems have the shape \(\); .* 5 points"),
        (lambda p, q: qt.electrostatics(p, q, [1, 1, 1], systems=[2**40] * 5), ValueError, "up to 1099511627776; 0 to 134217727"),
        (lambda p, q: qt.electrostatics(p, q, [1, 1, 1], scaled_pairs=[[0, 1, 2]] * 2), ValueError, r"\(2, 3\); \(P, 2\)"),
        (lambda p, q: qt.spread(p, q, [1, 1, 1], 4, 2.5), ValueError, "order is 2.5"),
    ],
)
def test_bad_arguments_are_named(call, error, words):
    with pytest.raises(error, match=words):
        call(random("cpu", 5, 3), random("cpu", 5, seed=2))


def test_forked_processes_are_told_that_they_have_no_threads():
    """Not left waiting for the threads of a plan that the first process has made."""
    code = """
import os, torch, quadrat.torch as qt
torch.set_num_threads(2)
points = torch.rand(2000, 3, dtype=torch.float64)
call = [lambda: qt.nufft1(points, points[:, 0], 8), lambda: qt.electrostatics(points, points[:, 0] - 0.5, [1, 1, 1], 1e-3)]
for each in call:
    each()
    child = os.fork()
    if child == 0:
        try:
            each()
        except RuntimeError as error:
            os._exit(0 if "fork" in str(error) else 2)
        os._exit(3)
    assert os.waitpid(child, 0)[1] == 0
"""
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


def test_only_what_is_asked_for_of_charges_is_there():
    points, charges = random("cpu", 4, 3), torch.tensor([1.0, -1, 1, -1], dtype=DOUBLE)
    for forces, potentials, virial in itertools.product((False, True), repeat=3):
        wanted = {"forces": forces, "potentials": potentials, "virial": virial}
        found = qt.electrostatics(points, charges, [1.0, 1, 1], 1e-3, **wanted)
        assert {name: getattr(found, name) is not None for name in wanted} == wanted


def test_sums_are_kept_by_the_thread_that_made_them():
    points, charges = random("cpu", 4, 3), torch.tensor([1.0, -1, 1, -1], dtype=DOUBLE)
    _torch_ewald._kept._objects.clear()
    worker = threading.Thread(target=lambda: qt.electrostatics(points, charges, [1.0, 1, 1], 1e-3))
    worker.start()
    worker.join()
    assert not _torch_ewald._kept._objects
    qt.electrostatics(points, charges, [1.0, 1, 1], 1e-3)
    assert _torch_ewald._kept._objects
