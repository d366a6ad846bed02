# SPDX-License-Identifier: BSD-3-Clause
"""Lists with a capacity in CUDA graphs of PyTorch. What a capture runs is also run on the CPU, where nothing captures."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import quadrat  # noqa: E402
import quadrat.torch as qt  # noqa: E402
from quadrat._torch import captured as _captured  # noqa: E402
from torch_test import DOUBLE, ON_GPU, random, triclinic  # noqa: E402

needs_gpu = pytest.mark.skipif(not ON_GPU, reason="no GPU, or no quadrat_cuda13")
CUTOFF, CAPACITY, COUNT = 1.4, 4000, 100


def pairs_of(points, box, **options):
    return len(quadrat.neighbor_list(points.cpu().numpy(), CUTOFF, box=box.cpu().numpy(), outputs="i", **options))


@pytest.fixture
def capture_on_cpu(monkeypatch):
    """Switches to what a capture does, which the CPU does at once."""

    def switch(on):
        monkeypatch.setattr(_captured, "capturing", lambda device: on)

    return switch


def test_a_capture_finds_the_pairs_of_its_points_in_the_memory_of_the_call_before(capture_on_cpu):
    boxes, systems = torch.stack([triclinic("cpu", 4.0), triclinic("cpu", 5.0)]), torch.arange(COUNT) % 2
    lists = qt.CapturedLists()
    for case in ({"box": boxes, "systems": systems}, {"box": boxes[0], "queries": 4 * random("cpu", 9, 3, seed=9)},
                 {"box": boxes[0], "types": systems, "type_cutoffs": [[1.2, 0], [0, 1.4]], "periodic": (True, False, True)},
                 {"radii": 0.7 * random("cpu", COUNT), "half": True, "index_dtype": "int32"}):  # fmt: skip
        case = {"sorted": True, "outputs": "ijSdDn", "capacity": CAPACITY, **case}
        inside = case["box"].reshape(-1, 3, 3)[0] if "box" in case else 4 * torch.eye(3, dtype=DOUBLE)
        for seed in (1, 2, 3):
            points = random("cpu", COUNT, 3, seed=seed) @ inside
            capture_on_cpu(False)
            wanted = qt.neighbor_list(points, CUTOFF, **case)
            capture_on_cpu(seed > 1)
            with lists:
                found = qt.neighbor_list(points, CUTOFF, **case)
            assert 50 < int(wanted[-1][-1]) < CAPACITY
            for a, b in zip(found, wanted):
                assert a.dtype == b.dtype
                torch.testing.assert_close(a, b, rtol=0, atol=1e-13)
    lists.check()


def test_what_a_capture_cannot_take_is_refused(capture_on_cpu):
    points, box = 4 * random("cpu", COUNT, 3), 4 * torch.eye(3, dtype=DOUBLE)
    lists = qt.CapturedLists()
    crowd, options = 0.1 * points, {"box": box, "capacity": 2500}
    with lists, pytest.raises(ValueError, match=f"there are {pairs_of(crowd, box)} pairs; the capacity is 2500"):
        qt.neighbor_list(crowd, CUTOFF, **options)
    with lists, pytest.raises(ValueError, match="excluded pairs"):
        qt.neighbor_list(points, CUTOFF, **options, excluded=[[0, 1]])
    capture_on_cpu(True)
    with pytest.raises(ValueError, match="CapturedLists"):
        qt.neighbor_list(points, CUTOFF, **options)
    with lists, pytest.raises(ValueError, match="needs a capacity"):
        qt.neighbor_list(points, CUTOFF, box=box)
    with lists, pytest.raises(ValueError, match="once outside"):
        qt.neighbor_list(points, CUTOFF, **options)
    capture_on_cpu(False)
    with lists:
        qt.neighbor_list(points, CUTOFF, **options)
        capture_on_cpu(True)
        with pytest.raises(ValueError, match=f"there are {pairs_of(crowd, box)} pairs; the capacity is 2500"):
            qt.neighbor_list(crowd, CUTOFF, **options)
        with pytest.raises(ValueError, match="the box is not what it was"):
            qt.neighbor_list(points, CUTOFF, box=2 * box, capacity=2500)
        with pytest.raises(ValueError, match="once outside"):
            qt.neighbor_list(points[1:], CUTOFF, **options)


def step(points, box, systems=None, **options):
    """Pairs, an energy of them, and its derivatives."""
    i, j, shifts, d = qt.neighbor_list(points, CUTOFF, box=box, systems=systems, sorted=True, outputs="ijSd", **options)
    energy = torch.where(i < len(points), torch.exp(-d) - torch.exp(torch.full_like(d, -CUTOFF)), 0).sum()
    return (i, j, shifts, energy, *torch.autograd.grad(energy, (points, box)))


def captured(lists, work):
    """The graph and its results, after the warm-up that PyTorch's manual asks for."""
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with lists, torch.cuda.stream(side):
        for _ in range(3):
            work()
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with lists, torch.cuda.graph(graph):
        found = work()
    return graph, found


@needs_gpu
@pytest.mark.parametrize("batched", [False, True])
def test_lists_are_replayed_with_their_derivatives(batched):
    box = triclinic("cuda", 4.0)
    if batched:
        box = torch.stack([box, triclinic("cuda", 5.0)])
    systems = torch.arange(COUNT, device="cuda") % 2 if batched else None
    box, points = box.requires_grad_(), (4 * random("cuda", COUNT, 3)).requires_grad_()
    lists = qt.CapturedLists()
    graph, found = captured(lists, lambda: step(points, box, systems, capacity=CAPACITY))
    for seed in (2, 3, 4):
        with torch.no_grad():
            points.copy_(4 * random("cuda", COUNT, 3, seed=seed))
        graph.replay()
        lists.check()
        wanted = step(points, box, systems)
        count = len(wanted[0])
        assert 50 < count < CAPACITY and (found[0][count:] == COUNT).all()
        for a, b in zip(found[:3], wanted):
            assert torch.equal(a[:count], b)
        for a, b in zip(found[3:], wanted[3:]):
            torch.testing.assert_close(a, b)


@needs_gpu
def test_a_check_after_many_replays_names_the_largest_number_of_pairs():
    points, box = (4 * random("cuda", COUNT, 3)).requires_grad_(), triclinic("cuda", 4.0).requires_grad_()
    lists = qt.CapturedLists()
    graph, found = captured(lists, lambda: step(points, box, capacity=CAPACITY))
    good, needed = points.detach().clone(), []
    for scale in (0.3, 0.1, 0.2):
        with torch.no_grad():
            points.copy_(scale * good)
        needed.append(pairs_of(points.detach(), box.detach()))
        graph.replay()
        torch.cuda.synchronize()
        assert (found[0] == COUNT).all() and (found[1] == COUNT).all(), "a list without room has no pairs"
    with torch.no_grad():
        points.copy_(good)
    graph.replay()
    assert min(needed) > CAPACITY
    with pytest.raises(ValueError, match=f"there are {max(needed)} pairs; the capacity is {CAPACITY}"):
        lists.check()
    lists.check()
    graph.replay()
    lists.check()
    with torch.no_grad():
        points[7, 1] = float("nan")
    graph.replay()
    with pytest.raises(ValueError, match="point 7 .*is not finite"):
        lists.check()
    with torch.no_grad():
        points.copy_(good)
    graph.replay()
    lists.check()
    with torch.no_grad():
        box.mul_(1.1)
    graph.replay()
    with pytest.raises(ValueError, match="the box is not what it was"):
        lists.check()


@needs_gpu
def test_lists_of_one_kind_share_memory_within_a_graph():
    points, box = 4 * random("cuda", COUNT, 3), triclinic("cuda", 4.0)

    def two_steps():
        first = qt.neighbor_list(points, CUTOFF, box=box, sorted=True, outputs="ij", capacity=CAPACITY)
        return first, qt.neighbor_list(0.9 * points, CUTOFF, box=box, sorted=True, outputs="ij", capacity=CAPACITY)

    lists = qt.CapturedLists()
    graph, found = captured(lists, two_steps)
    points.copy_(4 * random("cuda", COUNT, 3, seed=5))
    graph.replay()
    lists.check()
    for mine, at in zip(found, (points, 0.9 * points)):
        wanted = quadrat.neighbor_list(at, CUTOFF, box=box, sorted=True, outputs="ij")
        assert all(torch.equal(a[: len(b)], b) for a, b in zip(mine, wanted))
    points.copy_(0.3 * points)  # the second list of the replay is one of two that have no room
    graph.replay()
    with pytest.raises(ValueError, match=f"there are {pairs_of(0.9 * points, box)} pairs"):
        lists.check()


@needs_gpu
def test_copies_in_a_capture_are_refused_before_they_spoil_it():
    points, lists = 4 * random("cuda", COUNT, 3), qt.CapturedLists()
    graph = torch.cuda.CUDAGraph()
    with lists:
        qt.neighbor_list(points, CUTOFF, box=[4.0, 4, 4], capacity=CAPACITY)
        with torch.cuda.graph(graph):
            with pytest.raises(ValueError, match="box is not on cuda"):
                qt.neighbor_list(points, CUTOFF, box=[4.0, 4, 4], capacity=CAPACITY)
            moved = points + 1
    graph.replay()
    torch.cuda.synchronize()
    np.testing.assert_array_equal(moved.cpu(), (points + 1).cpu())
