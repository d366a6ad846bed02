# SPDX-License-Identifier: BSD-3-Clause
"""Arrays of PyTorch and JAX: results are theirs, and the numbers are those of NumPy's arrays."""

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
        lambda p, q: quadrat.Ewald(1e-3, run_to_run=True).compute(p, q, box, potentials=True)[1:3],
        lambda p, q: (quadrat.SpreadPlan(box, 8, dtype=np.float32, run_to_run=True).set_points(p).spread(q),),
        lambda p, q: (quadrat.Nufft((4, 4, 4), 1e-3, dtype=np.float32, run_to_run=True).set_points(p).type1(q),),
        lambda p, q: (quadrat.reduce_by_key(np.arange(400) % 7, q, run_to_run=True),),
    ]
    for call in calls:
        for found, wanted in zip(call(points, charges), call(POINTS, CHARGES)):
            assert isinstance(found, kind)
            np.testing.assert_array_equal(np.asarray(found), wanted)


def test_tensors_that_need_gradients_are_read_as_numbers():
    torch = pytest.importorskip("torch")
    points = torch.from_numpy(POINTS).requires_grad_()
    i, j, shifts = quadrat.neighbor_list(points, 0.5, box=[3, 3, 3], outputs="ijS")
    # Distances with derivatives, from indices and shifts.
    vectors = points[j] + 3.0 * shifts - points[i]
    vectors.square().sum().backward()
    assert points.grad.shape == points.shape and torch.isfinite(points.grad).all()


def test_arrays_in_the_memory_of_a_gpu_are_refused():
    torch = pytest.importorskip("torch")
    if not torch.cuda.is_available():
        pytest.skip("no GPU")
    with pytest.raises(ValueError, match="another device.*CPU"):
        quadrat.neighbor_list(torch.from_numpy(POINTS).cuda(), 0.5)
