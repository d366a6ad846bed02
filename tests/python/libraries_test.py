# SPDX-License-Identifier: BSD-3-Clause
"""Arrays of PyTorch and JAX: results are theirs, and the numbers are those of NumPy's arrays."""

import importlib.util
import subprocess
import sys

import numpy as np
import pytest
import quadrat

POINTS = np.random.default_rng(1).uniform(0, 3, (400, 3)).astype(np.float32)
CHARGES = np.where(np.arange(400) % 2, 1, -1).astype(np.float32)


def array_and_kind(library):
    if library == "torch":
        torch = pytest.importorskip("torch")
        return torch.from_numpy, torch.Tensor
    jax = pytest.importorskip("jax")
    return lambda array: jax.device_put(array, jax.devices("cpu")[0]), jax.Array


@pytest.mark.parametrize("library", ["torch", "jax"])
def test_results_are_arrays_of_the_library_of_the_points(library):
    array, kind = array_and_kind(library)
    points, charges = array(POINTS), array(CHARGES)
    box = [3, 3, 3]
    calls = [
        lambda p, q: quadrat.neighbor_list(p, 0.5, box=box, sorted=True),
        lambda p, q: quadrat.knn(p, 4, box=box)[:2],
        lambda p, q: (quadrat.clusters(p, 0.2, box=box),),
        lambda p, q: quadrat.Ewald(1e-3, deterministic="run_to_run").compute(p, q, box, potentials=True)[1:3],
        lambda p, q: (quadrat.SpreadPlan(box, 8, dtype=np.float32, deterministic="run_to_run").set_points(p).spread(q),),
        lambda p, q: (quadrat.Nufft((4, 4, 4), 1e-3, dtype=np.float32, deterministic="run_to_run").set_points(p).type1(q),),
        lambda p, q: (quadrat.reduce_by_key(np.arange(400) % 7, q, deterministic="run_to_run"),),
    ]
    for call in calls:
        for found, wanted in zip(call(points, charges), call(POINTS, CHARGES)):
            assert isinstance(found, kind)
            np.testing.assert_array_equal(np.asarray(found), wanted)


def test_tensors_that_need_derivatives_are_refused():
    torch = pytest.importorskip("torch")
    points, values = torch.from_numpy(POINTS), torch.from_numpy(CHARGES)
    leaf, box = points.clone().requires_grad_(), (3.0 * torch.ones(3, dtype=points.dtype)).requires_grad_()
    modes = torch.ones((2, 2, 2), dtype=torch.complex64).requires_grad_()
    calls = {
        "points": lambda: quadrat.neighbor_list(leaf, 0.5, box=[3, 3, 3], outputs="ij"),
        "box": lambda: quadrat.neighbor_list(points, 0.5, box=box),
        "modes": lambda: quadrat.nufft2(points, modes, 1e-3),
        "charges": lambda: quadrat.electrostatics(points, values.clone().requires_grad_(), [3, 3, 3], 1e-3),
    }
    for name, call in calls.items():
        with pytest.raises(ValueError, match=f"^{name}: derivatives .* quadrat.torch, or .detach"):
            call()
        with torch.no_grad():
            call()
    with torch.autograd.forward_ad.dual_level():
        dual = torch.autograd.forward_ad.make_dual(points, torch.ones_like(points))
        with pytest.raises(ValueError, match="^points: derivatives"):
            quadrat.neighbor_list(dual, 0.5)
    for transform in (torch.func.grad, lambda call: torch.func.jvp(call, (points,), (points,))):
        with pytest.raises((ValueError, RuntimeError)):
            transform(lambda p: quadrat.neighbor_list(p, 0.5, outputs="d").sum())(points)
    i, j, shifts = quadrat.neighbor_list(leaf.detach(), 0.5, box=[3, 3, 3], outputs="ijS")
    (leaf[j] + 3.0 * shifts - leaf[i]).square().sum().backward()  # distances with derivatives, from indices and shifts
    assert torch.isfinite(leaf.grad).all()


def test_masked_elements_are_refused_wherever_they_are():
    mask = np.zeros(POINTS.shape, bool)
    whole = np.ma.masked_array(POINTS, mask)
    wanted = quadrat.neighbor_list(POINTS, 0.5, sorted=True)
    assert all(np.array_equal(a, b) for a, b in zip(quadrat.neighbor_list(whole, 0.5, sorted=True), wanted))
    mask[7, 1] = True
    some, one = np.ma.masked_array(POINTS, mask), np.ma.masked_array([3.0, 3, 3], [False, True, False])
    keys = np.ma.masked_array(np.arange(400), np.arange(400) == 9)
    calls = {
        "points": lambda: quadrat.neighbor_list(some, 0.5),
        "box": lambda: quadrat.neighbor_list(POINTS, 0.5, box=one),
        "values": lambda: quadrat.spread(POINTS, np.ma.masked_equal(CHARGES, CHARGES[3]), [3, 3, 3], 4),
        "keys": lambda: quadrat.count_keys(keys),
        "points of frame 0": lambda: quadrat.rdf(some, 1.0, box=[3, 3, 3]),
    }
    for name, call in calls.items():
        with pytest.raises(ValueError, match=f"^{name}: masked elements .*compressed.*filled"):
            call()


def test_odd_tensors_are_read_as_they_are_or_refused():
    torch = pytest.importorskip("torch")
    points = torch.from_numpy(POINTS)
    wanted = quadrat.neighbor_list(POINTS, 0.3, sorted=True)
    mirrored = torch.complex(points, -points).conj().imag  # PyTorch keeps its sign apart
    for odd in (points.T.contiguous().T, mirrored):
        assert all(np.array_equal(a, b) for a, b in zip(quadrat.neighbor_list(odd, 0.3, sorted=True), wanted))
    for wrong in (points.to("meta"), points.to_sparse(), points.half(), points.bfloat16(), points.int()):
        with pytest.raises(TypeError, match="points (are|have|cannot)"):
            quadrat.neighbor_list(wrong, 0.3)


def test_fields_of_packed_records_and_other_byte_orders_are_read():
    packed = np.zeros(400, np.dtype([("tag", "u1"), ("at", "f4", 3), ("charge", "f4"), ("kind", "i4")]))
    packed["at"], packed["charge"], packed["kind"] = POINTS, CHARGES, np.arange(400) % 7
    swapped = {name: packed[name].astype(packed[name].dtype.newbyteorder(">")) for name in ("at", "charge", "kind")}
    wanted = quadrat.neighbor_list(POINTS, 0.5, box=[3, 3, 3], sorted=True)
    sums = quadrat.reduce_by_key(np.arange(400) % 7, CHARGES)
    for given in (packed, swapped):
        found = quadrat.neighbor_list(given["at"], 0.5, box=np.array([3, 3, 3], ">f8"), sorted=True)
        assert all(np.array_equal(a, b) for a, b in zip(found, wanted))
        assert np.array_equal(quadrat.reduce_by_key(given["kind"], given["charge"]), sums)
    with pytest.raises(TypeError, match="points cannot be read as an array of numbers"):
        quadrat.neighbor_list(POINTS.astype(object), 0.5)


class device_array:
    """What CUDA arrays of other libraries show of themselves."""

    shape, dtype, ndim = (2, 3), np.dtype(np.float32), 2

    def __init__(self, device):
        self.device = device

    def __dlpack_device__(self):
        return self.device

    def __dlpack__(self, **_):
        raise AssertionError("must not be asked for")


@pytest.mark.skipif(importlib.util.find_spec("quadrat_cuda13") is not None, reason="the package is there")
def test_an_array_on_a_gpu_without_the_cuda_package_gets_the_command_to_install_it():
    with pytest.raises(ImportError, match=r"pip install 'quadrat\[cuda13\]'"):
        quadrat.neighbor_list(device_array((2, 0)), 1.0)


def test_arrays_of_other_devices_are_refused():
    with pytest.raises(TypeError, match="DLPack's type 10"):
        quadrat.neighbor_list(device_array((10, 0)), 1.0)
    with pytest.raises(ValueError, match="queries are in the memory of GPU 1.*CPU memory"):
        quadrat.neighbor_list(POINTS, 1.0, queries=device_array((2, 1)))
    plan = quadrat.SpreadPlan([3, 3, 3], 8, dtype=np.float32).set_points(POINTS)
    transform = quadrat.Nufft((4, 4, 4), 1e-3, dtype=np.float32).set_points(POINTS)
    for call in (plan.spread, plan.interpolate, plan.gradient, transform.type1, transform.type2):
        with pytest.raises(ValueError, match="GPU 0.*CPU memory"):
            call(device_array((2, 0)))
    with pytest.raises(ValueError, match="charges are in the memory of GPU 0"):
        quadrat.electrostatics(POINTS, device_array((2, 0)), [3, 3, 3])
    with pytest.raises(ValueError, match="keys are in the memory of GPU 0"):
        quadrat.reduce_by_key(device_array((2, 0)), CHARGES)


@pytest.mark.parametrize(
    "points",
    [
        POINTS.astype(np.float16),
        POINTS.astype(np.longdouble),
        POINTS.astype(complex),
        POINTS > 1,
        POINTS.astype(object),
        np.array([["a", "b", "c"]]),
        np.zeros(3, dtype=[("x", "f4")]),
        {"x": 1},
        "points",
        None,
        b"1234",
    ],
)
def test_what_are_no_points_is_refused_with_its_type(points):
    with pytest.raises((TypeError, ValueError), match="points (have|cannot)"):
        quadrat.neighbor_list(points, 1.0)


def test_arrays_in_odd_memory_are_read_as_they_are():
    wanted = quadrat.neighbor_list(POINTS, 0.3, sorted=True)
    locked = POINTS.copy()
    locked.flags.writeable = False
    buffer = np.zeros(POINTS.nbytes + 1, np.uint8)
    unaligned = buffer[1:].view(np.float32).reshape(POINTS.shape)
    unaligned[:] = POINTS
    for odd in (locked, unaligned, np.asfortranarray(POINTS), POINTS[::-1][::-1], np.ma.array(POINTS), POINTS.view(np.matrix)):
        assert all(np.array_equal(a, b) for a, b in zip(quadrat.neighbor_list(odd, 0.3, sorted=True), wanted))


def test_importing_the_package_loads_neither_cuda_nor_other_array_libraries():
    program = (
        "import sys, quadrat\n"
        "maps = open('/proc/self/maps').read()\n"
        "assert 'libcuda.so' not in maps and 'libcufft' not in maps and 'quadrat_cuda13' not in maps\n"
        "assert not {'torch', 'jax', 'cupy', 'scipy'} & set(sys.modules)\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
