# SPDX-License-Identifier: BSD-3-Clause
"""Graphs with the calls of PyTorch Geometric: the points of torch_cluster's test_radius.py and test_knn.py, every pair,
and, where a library for it is there, beside its own."""

import numpy as np
import pytest
import quadrat

torch = pytest.importorskip("torch")
from quadrat._torch import graphs  # noqa: E402
from quadrat.torch_geometric import knn, knn_graph, radius, radius_graph  # noqa: E402

SQUARES = torch.tensor([[-1, -1], [-1, 1], [1, 1], [1, -1]] * 2, dtype=torch.float32)
BATCH = torch.tensor([0, 0, 0, 0, 1, 1, 1, 1])
BOXES = torch.eye(3).repeat(3, 1, 1)


def edges(index):
    return set(map(tuple, index.T.tolist()))


def points(count, seed=0, dtype=torch.float64):
    return torch.rand(count, 3, dtype=dtype, generator=torch.Generator().manual_seed(seed))


def test_neighbors_of_queries_are_those_of_their_batch():
    y, of = torch.tensor([[0.0, 0], [0, 1]]), torch.tensor([0, 1])
    found = radius(SQUARES, y, 2, BATCH, of, max_num_neighbors=4)
    assert edges(found) == {(0, 0), (0, 1), (0, 2), (0, 3), (1, 5), (1, 6)} and found.dtype == torch.int64
    skipped = radius(SQUARES, y, 2, 2 * BATCH, 2 * of, max_num_neighbors=4)
    assert torch.equal(skipped, found)
    assert radius(SQUARES, y, 2, max_num_neighbors=4).shape == (2, 8)
    one = torch.tensor([[0.0, 0], [0, 1]])
    assert edges(radius(SQUARES, one, 2, BATCH)) == {(0, k) for k in range(4)} | {(1, 1), (1, 2)}


def test_radius_graphs_have_loops_and_flows():
    square = SQUARES[:4]
    sides = {(0, 1), (0, 3), (1, 0), (1, 2), (2, 1), (2, 3), (3, 0), (3, 2)}
    assert edges(radius_graph(square, 2.5, flow="target_to_source")) == sides
    assert edges(radius_graph(square, 2.5, loop=True)) == sides | {(k, k) for k in range(4)}
    assert edges(radius_graph(square, 2.0)) == set()  # a neighbor is nearer than r
    twice = radius_graph(SQUARES, 2.5, BATCH, flow="source_to_target")
    assert edges(twice) == {(j + 4 * b, i + 4 * b) for i, j in sides for b in (0, 1)}
    assert (twice[1].diff() >= 0).all()


@pytest.mark.parametrize("loop", [False, True])
def test_the_nearest_are_kept_where_there_are_too_many(loop):
    at = points(200)
    near = radius_graph(at, 0.6, loop=loop, max_num_neighbors=5, flow="target_to_source")
    assert edges(near) == edges(knn_graph(at, 5, loop=loop, flow="target_to_source"))
    assert radius_graph(at, 0.6, max_num_neighbors=None).shape[1] > 10 * near.shape[1]
    assert radius_graph(at, 0.6, max_num_neighbors=0).shape == (2, 0)
    batch = torch.arange(200) % 3
    some = radius_graph(at, 0.6, batch, loop, 5, "target_to_source")
    assert edges(some) == edges(knn_graph(at, 5, batch, loop, "target_to_source"))


def test_nearest_neighbors_of_queries_are_those_of_their_batch():
    y, of = torch.tensor([[1.0, 0], [-1, 0]]), torch.tensor([0, 1])
    assert edges(knn(SQUARES[:4], y, 2)) == {(0, 2), (0, 3), (1, 0), (1, 1)}
    assert edges(knn(SQUARES, y, 2, BATCH, of)) == {(0, 2), (0, 3), (1, 4), (1, 5)}
    assert edges(knn(SQUARES, y, 2, BATCH, of, cosine=True)) == {(0, 2), (0, 3), (1, 4), (1, 5)}
    assert edges(knn(SQUARES, y, 2, 2 * BATCH, 2 * of)) == {(0, 2), (0, 3), (1, 4), (1, 5)}
    assert edges(knn(SQUARES, y, 6, BATCH, of)) == {(0, k) for k in range(4)} | {(1, k) for k in range(4, 8)}
    assert knn(SQUARES, y, 2, BATCH, torch.tensor([2, 3])).shape == (2, 0)
    assert edges(knn(SQUARES, y, 2, 2**40 * BATCH, 2**40 * of)) == {(0, 2), (0, 3), (1, 4), (1, 5)}
    lines = torch.tensor([[5.0, 0], [0.1, 0.1], [0, 3]])
    assert edges(knn(lines, torch.tensor([[0.2, 0.0]]), 1, cosine=True)) == {(0, 0)}


def test_graphs_of_the_nearest_have_loops_and_flows():
    square = SQUARES[:4]
    sides = {(0, 1), (0, 3), (1, 0), (1, 2), (2, 1), (2, 3), (3, 0), (3, 2)}
    assert edges(knn_graph(square, 2, flow="target_to_source")) == sides
    assert edges(knn_graph(square, 2, flow="source_to_target")) == {(j, i) for i, j in sides}
    spatial = pytest.importorskip("scipy.spatial")
    at = torch.randn(1000, 3, generator=torch.Generator().manual_seed(2))
    _, columns = spatial.cKDTree(at.numpy()).query(at.numpy(), 5)
    within = spatial.cKDTree(at.numpy()).query_ball_point(at.numpy(), 0.5)
    wanted = {(i, j) for i, row in enumerate(within) for j in row}
    assert edges(radius_graph(at, 0.5, loop=True, max_num_neighbors=2000, flow="target_to_source")) == wanted
    found = knn_graph(at, 5, loop=True, flow="target_to_source")
    assert found[1].tolist() == columns.ravel().tolist() and found[0].tolist() == np.repeat(np.arange(1000), 5).tolist()


@pytest.mark.parametrize("nearest", [False, True])
def test_edges_of_periodic_boxes_have_shifts(nearest):
    at, box = 2 * points(60), torch.tensor([2.0, 2.5, 1.5])
    if nearest:
        found, shifts = knn_graph(at, 9, box=box, return_shifts=True, flow="target_to_source")
        wanted = quadrat.knn(at, 9, box=box, shifts=True)
        assert torch.equal(found[1], wanted.indices.flatten()) and torch.equal(shifts, wanted.shifts.flatten(0, 1))
    else:
        found, shifts = radius_graph(at, 0.9, max_num_neighbors=None, box=box, return_shifts=True, flow="target_to_source")
        i, j, s = quadrat.neighbor_list(at, 0.9, box=box, outputs="ijS")
        rows = [set(map(tuple, torch.column_stack(one).tolist())) for one in ((*found, shifts), (i, j, s))]
        assert rows[0] == rows[1]
    distances = (at[found[1]] + shifts * box - at[found[0]]).norm(dim=1)
    assert shifts.any() and distances.max() < 0.9
    assert torch.equal(radius_graph(at, 0.9, box=box, periodic=False), radius_graph(at, 0.9))


@pytest.mark.parametrize("call", [
    lambda at, batch, **space: radius_graph(at, 0.7, batch, max_num_neighbors=6, return_shifts=True, **space),
    lambda at, batch, **space: knn_graph(at, 6, batch, return_shifts=True, **space),
])  # fmt: skip
def test_each_graph_of_a_batch_has_its_box(call):
    at, batch = points(90), torch.tensor([2, 0, 1]).repeat(30)
    boxes = torch.stack([torch.eye(3) * length for length in (1.0, 1.3, 2.0)]).double()
    boxes[1, 2, 0], sides = 0.4, [[True] * 3, [True, False, True], [False] * 3]
    found, shifts = call(at, batch, box=boxes, periodic=sides)
    assert (found[1].diff() >= 0).all() and shifts.any()
    for system in range(3):
        own = (batch == system).nonzero()[:, 0]
        index, moved = call(at[own], None, box=boxes[system], periodic=sides[system])
        chosen = batch[found[0]] == system
        both = (own[index], moved), (found[:, chosen], shifts[chosen])
        rows = [set(map(tuple, torch.column_stack((*pair, s)).tolist())) for pair, s in both]
        assert rows[0] == rows[1] and len(rows[0]) > 50


def test_boxes_along_the_axes_may_be_given_as_lengths():
    at, batch = points(90), torch.arange(90) % 2
    for call in (radius_graph, knn_graph):
        for lengths, vectors in (([1.2, 1, 2], torch.diag(torch.tensor([1.2, 1, 2]))[None]), ([[1.2, 1, 2], [1, 1, 1]], None)):
            each = torch.diag_embed(torch.tensor(lengths)) if vectors is None else vectors
            found, wanted = (call(at, 0.4 if call is radius_graph else 5, batch, box=box) for box in (lengths, each))
            assert edges(found) == edges(wanted)
        with pytest.raises(ValueError, match=r"\(3, 3\), which may be vectors for every system or lengths"):
            call(at, 2, batch, box=torch.eye(3))


@pytest.mark.parametrize("batch, box", [(None, None), (BATCH, BOXES[:1])])
def test_operators_keep_the_rules_of_pytorch(batch, box):
    sides, at = None if box is None else [True, False, True], points(8)
    box = None if box is None else box.double()
    for queries in (None, at):
        space = at, queries, batch, None if queries is None else batch, box, sides
        torch.library.opcheck(graphs.within, (*space, 0.5, 3))
        torch.library.opcheck(graphs.nearest, (*space, 3, False))


def test_functions_of_lengths_can_be_transformed():
    at, batch = points(40), torch.arange(40) % 2

    def energy(at):
        return sum((at[a] - at[b]).square().sum() for a, b in (radius_graph(at, 0.5, batch), knn_graph(at, 4, batch)))

    leaf = at.clone().requires_grad_()
    energy(leaf).backward()
    torch.testing.assert_close(torch.func.grad(energy)(at), leaf.grad)


def test_compiled_functions_find_the_same_edges():
    torch._dynamo.config.capture_dynamic_output_shape_ops = True
    at, batch = points(80), torch.arange(80) % 2

    def lengths(at, batch):
        near = radius_graph(at, 0.5, batch, max_num_neighbors=8)
        nearest = knn_graph(at, 4, batch)
        return sum((at[a] - at[b]).square().sum() for a, b in (near, nearest))

    leaf = at.clone().requires_grad_()
    compiled = torch.compile(lengths, fullgraph=True, backend="aot_eager")
    value = compiled(leaf, batch)
    value.backward()
    again = at.clone().requires_grad_()
    wanted = lengths(again, batch)
    wanted.backward()
    torch.testing.assert_close(value, wanted)
    torch.testing.assert_close(leaf.grad, again.grad)


def test_graphs_are_those_of_pytorch_geometric():
    typing = pytest.importorskip("torch_geometric.typing")
    if not (typing.WITH_KNN and typing.WITH_RADIUS):
        pytest.skip("pyg-lib is not installed")
    import torch_geometric.nn as theirs

    at, batch = points(300, dtype=torch.float32), torch.arange(300) // 100
    for flow in ("source_to_target", "target_to_source"):
        for loop in (False, True):
            given = {"loop": loop, "flow": flow}
            wanted = theirs.radius_graph(at, 0.2, batch, max_num_neighbors=100, **given)
            assert edges(radius_graph(at, 0.2, batch, max_num_neighbors=100, **given)) == edges(wanted)
            assert edges(knn_graph(at, 6, batch, **given)) == edges(theirs.knn_graph(at, 6, batch, **given))


@pytest.mark.parametrize(
    "call, error, words",
    [
        (lambda: radius_graph(torch.rand(4, 5), 1.0), ValueError, r"x have the shape \(4, 5\)"),
        (lambda: radius_graph(torch.rand(4, 3), "1"), TypeError, "r is '1'"),
        (lambda: radius_graph(torch.rand(4, 3), 1.0, flow="up"), ValueError, "flow is 'up'; one of source_to_target"),
        (lambda: radius_graph(torch.rand(4, 3), 1.0, torch.zeros(3, dtype=int)), ValueError, r"batch of x has the shape \(3,\)"),
        (lambda: radius(torch.rand(4, 3), torch.rand(2, 2), 1.0), ValueError, r"y have the shape \(2, 2\)"),
        (lambda: knn_graph(torch.rand(4, 3), 65), ValueError, "k is 65; a whole number from 1 to 64"),
        (lambda: knn_graph(torch.rand(4, 3), 2, torch.tensor([0, 0, -1, 0])), ValueError, "a batch has the number -1"),
        (lambda: knn_graph(torch.rand(2, 3), 2, torch.tensor([0, 3]), box=BOXES), ValueError, "belongs to system 3; there are 3"),
        (lambda: radius_graph(torch.rand(2, 3), 0.2, torch.tensor([0, 3]), box=BOXES), ValueError, "3"),
        (lambda: knn_graph(torch.rand(4, 3), 2, cosine=True, box=[1.0, 1, 1]), ValueError, "cosine is True"),
        (lambda: radius_graph(torch.rand(4, 3), 1.0, max_num_neighbors=-1), ValueError, "max_num_neighbors is -1"),
    ],
)
def test_bad_arguments_are_named(call, error, words):
    with pytest.raises(error, match=words):
        call()
