# SPDX-License-Identifier: BSD-3-Clause
"""Options of the functions for PyTorch: they take what those of NumPy take, with the same values, and with derivatives."""

import inspect
import math

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import quadrat  # noqa: E402
import quadrat.torch as qt  # noqa: E402
from quadrat import _lattice  # noqa: E402
from quadrat._torch import transforms as _torch_transforms  # noqa: E402
from signatures_test import accepted  # noqa: E402
from torch_test import DEVICES, DOUBLE, check, needs, random, triclinic  # noqa: E402


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("ends", ["lower", "both"])
def test_what_is_clipped_at_open_ends_has_no_part_in_derivatives(device, ends):
    values, box = random(device, 2, 6, seed=3), triclinic(device)
    points = (1.6 * random(device, 6, 3, seed=4) - 0.3) @ box  # inside, at the ends and beyond them
    options = {"periodic": (False, True, False), "clip": True, "accept_outside": True, "ends": ends, "method": "particle"}
    given = needs(points, values, box)
    check(lambda p, v, b: qt.spread(p, v, b, (4, 5, 6), 5, **options), given, 1e-4)
    mesh = random(device, 2, 4, 5, 6, seed=5) * (1 + 0.5j)
    check(lambda p, m, b: qt.interpolate(p, m, b, 5, **options), needs(points, mesh, box), 1e-4)


@pytest.mark.parametrize("ends", ["lower", "both"])
def test_meshes_take_the_options_of_those_of_numpy(ends):
    points, values, box = 4 * random("cpu", 50, 3) - 0.5, random("cpu", 2, 50, seed=3), [3.0, 4.0, 5.0]
    options = {"periodic": (True, False, False), "clip": True, "accept_outside": True, "ends": ends, "method": "particle"}
    mesh = qt.spread(points, values, box, (4, 5, 6), 6, **options)
    torch.testing.assert_close(mesh, quadrat.spread(points, values, box, (4, 5, 6), 6, **options))
    back = qt.interpolate(points, mesh, box, 6, **options)
    torch.testing.assert_close(back, quadrat.interpolate(points, mesh, box, 6, **options))
    for refused in ({"clip": False}, {"accept_outside": False}):
        with pytest.raises(ValueError, match="along the open axis"):
            qt.spread(points, values, box, (4, 5, 6), 6, **(options | refused))


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("order", ["centered", "fft"])
@pytest.mark.parametrize("shape", [(4, 3), (3, 4), (5,)])
def test_transforms_of_real_values_have_the_derivatives_of_their_modes(device, order, shape):
    points, values = random(device, 5, len(shape)), random(device, 2, 5, seed=2)
    options = {"tolerance": 1e-12, "mode_order": order, "oversampling": 2.0, "method": "particle", "sign": -1}

    def transform(p, v):
        return qt.nufft1(p, v, shape, real=True, **options)

    wanted = quadrat.nufft1(points, values, shape, real=True, **options)
    torch.testing.assert_close(transform(points, values), wanted)
    odd = (*shape[:-1], 2 * (shape[-1] // 2) + 1)
    whole = qt.nufft1(points, values, odd, **options)
    half = slice(shape[-1] // 2, None) if order == "centered" else slice(shape[-1] // 2 + 1)
    torch.testing.assert_close(whole[..., half], wanted)
    check(transform, needs(points, values), 1e-4)


@pytest.mark.parametrize("oversampling", [1.25, 2.0])
def test_transforms_take_the_options_of_those_of_numpy(oversampling):
    points, values = 6 * random("cpu", 30, 2), random("cpu", 30, seed=2) * (1 - 2j)
    options = {"tolerance": 1e-7, "oversampling": oversampling, "method": "particle"}
    modes = qt.nufft1(points, values, (6, 5), **options)
    assert torch.equal(modes, quadrat.nufft1(points, values, (6, 5), threads=1, **options))
    assert torch.equal(qt.nufft2(points, modes, **options), quadrat.nufft2(points, modes, threads=1, **options))


@pytest.mark.parametrize("device", DEVICES)
def test_forces_without_a_sum_have_second_derivatives(device):
    points, charges, cell = needs(3 * random(device, 6, 3), random(device, 6, seed=3) - 0.3, triclinic(device))

    def forces(p, q, h, accuracy=1e-9):
        return qt.electrostatics(p, q, h, accuracy, method="spme", remove_net_force=True).forces

    assert forces(points, charges, cell, 1e-3).sum(0).abs().max() < 1e-12
    assert qt.electrostatics(points, charges, cell, 1e-3, method="spme").forces.sum(0).abs().max() > 1e-9
    assert torch.autograd.gradcheck(forces, (points, charges, cell), atol=1e-4, check_forward_ad=True, fast_mode=True)


@pytest.mark.parametrize("shear, reduced", [(1, True), (30, True), (900, True), (1e9, False), (1e17, False)])
def test_shortest_vectors_are_of_the_same_lattice(shear, reduced):
    draw = np.random.default_rng(4)
    for _ in range(20):
        vectors, turn = 2 * np.eye(3) + draw.normal(size=(3, 3)), np.eye(3)
        turn[[1, 2, 2], [0, 0, 1]] = np.rint(draw.uniform(-shear, shear, 3))
        found = _lattice.shortest(turn @ vectors)
        a, b, c = found.astype(np.int64)
        assert np.dot(a, np.cross(b, c)) in (-1, 1)
        lengths = np.linalg.norm(found @ turn @ vectors, axis=1)
        if reduced:
            assert lengths.prod() <= 2**0.5 * abs(np.linalg.det(vectors)) * (1 + 1e-6)


def test_second_derivatives_of_sheared_boxes_are_those_of_the_shortest_vectors(monkeypatch):
    points, charges, cell = 3 * random("cpu", 6, 3), random("cpu", 6, seed=3) - 0.3, triclinic("cpu")
    turn = torch.tensor([[1.0, 0, 0], [4, 1, 0], [-20, 3, 1]], dtype=DOUBLE)
    modes, type1 = [], _torch_transforms.type1
    monkeypatch.setattr(_torch_transforms, "type1", lambda *given: modes.append(math.prod(given[2])) or type1(*given))

    def slopes(h):
        given = needs(points, charges, h)
        return torch.autograd.grad(qt.electrostatics(*given, 1e-6).forces.square().sum(), given)

    wanted, found = slopes(cell), slopes(turn @ cell)
    assert modes[1] == modes[0]
    for a, b in zip((*wanted[:2], wanted[2]), (*found[:2], turn.T @ found[2])):
        torch.testing.assert_close(b, a, rtol=1e-4, atol=1e-4 * a.abs().max().item())


def test_lists_have_the_integers_that_are_asked_for():
    points = random("cpu", 20, 3)
    for given in ("int32", torch.int32, np.int32):
        found = qt.neighbor_list(points, 0.5, box=[1.0, 1, 1], sorted=True, outputs="ijSdn", index_dtype=given)
        wanted = quadrat.neighbor_list(points, 0.5, box=[1.0, 1, 1], sorted=True, outputs="ijSdn", index_dtype="int32")
        for a, b in zip(found, wanted):
            torch.testing.assert_close(a, b)


# Of each function: options of quadrat's that quadrat.torch's does not have, and why.
PYTORCH = {"threads": "torch.get_num_threads()", "deterministic": "torch.use_deterministic_algorithms()"}
OWN = "each call has points of its own"
PLANS = {**PYTORCH, "dtype": "the type of the points", "uses": OWN, "autotune": OWN}
NOT_TAKEN = {
    "neighbor_list": PYTORCH,
    "spread": PLANS,
    "interpolate": PLANS,
    "nufft1": PLANS,
    "nufft2": {**PLANS, "real": "numbers of modes cannot be told from their shape: refused by quadrat.nufft2, too"},
    "nufft3": PYTORCH,
    "electrostatics": PYTORCH,
}
@pytest.mark.parametrize("name", sorted(set(qt.__all__) - {"Electrostatics", "CapturedLists"}))  # no functions
def test_functions_take_what_those_of_numpy_take(name):
    assert set(accepted(name)) - set(inspect.signature(getattr(qt, name)).parameters) <= set(NOT_TAKEN[name])
