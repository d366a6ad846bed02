# SPDX-License-Identifier: BSD-3-Clause
"""Graphs of points with the arguments and results of PyTorch Geometric, also in periodic boxes.

Edges are (2, E) int64 tensors. Points are (N, D) float32 or float64, D = 2 or 3. Batch vectors may be in any order.
`num_workers` and `batch_size` are accepted and have no effect. In all functions `box` and `periodic` are those of
`quadrat.torch.neighbor_list`; with batch vectors a box is (D,) or (1, D, D) for all or (B, D, D) for each. With a box
each image counts, and `return_shifts` adds (E, D) integers: points[j] + shifts @ box is that neighbor of i.
torch.compile(fullgraph=True) can compile all functions, with torch._dynamo.config.capture_dynamic_output_shape_ops.
Edges have no derivatives; distances made from points[edge] have PyTorch's own.
"""

from typing import Any

import torch

from ._numbers import flag, real_number, whole, word
from ._torch import graphs as _graphs
from .torch import _beside, _periodic, _points, _read

__all__ = ["knn", "knn_graph", "radius", "radius_graph"]

FLOWS = ("source_to_target", "target_to_source")


def radius(
    x: torch.Tensor,
    y: torch.Tensor,
    r: float,
    batch_x: torch.Tensor | None = None,
    batch_y: torch.Tensor | None = None,
    max_num_neighbors: int | None = 32,
    num_workers: int = 1,
    batch_size: int | None = None,
    *,
    box: Any = None,
    periodic: Any = None,
    return_shifts: bool = False,
) -> Any:
    """Like torch_geometric.nn.radius: (indices of y, indices of points x nearer than r), ordered by y. At most the
    nearest `max_num_neighbors` of each y; None: all of them."""
    places, space = _places(x, y, batch_x, batch_y, box, periodic)
    most = -1 if max_num_neighbors is None else whole(max_num_neighbors, "max_num_neighbors", 0)
    return _result(_graphs.within(*places, *space, real_number(r, "r"), most), return_shifts)


def radius_graph(
    x: torch.Tensor,
    r: float,
    batch: torch.Tensor | None = None,
    loop: bool = False,
    max_num_neighbors: int | None = 32,
    flow: str = "source_to_target",
    num_workers: int = 1,
    batch_size: int | None = None,
    *,
    box: Any = None,
    periodic: Any = None,
    return_shifts: bool = False,
) -> Any:
    """Like torch_geometric.nn.radius_graph: (neighbors, points), with flow="target_to_source" (points, neighbors).
    `loop`: a point is also its own neighbor, which counts among the nearest `max_num_neighbors`."""
    at = x if flag(loop, "loop") else None
    places, space = _places(x, at, batch, batch if at is not None else None, box, periodic)
    most = -1 if max_num_neighbors is None else whole(max_num_neighbors, "max_num_neighbors", 0)
    return _result(_graphs.within(*places, *space, real_number(r, "r"), most), return_shifts, flow)


def knn(
    x: torch.Tensor,
    y: torch.Tensor,
    k: int,
    batch_x: torch.Tensor | None = None,
    batch_y: torch.Tensor | None = None,
    cosine: bool = False,
    num_workers: int = 1,
    batch_size: int | None = None,
    *,
    box: Any = None,
    periodic: Any = None,
    return_shifts: bool = False,
) -> Any:
    """Like torch_geometric.nn.knn: (indices of y, indices of the k nearest points x), ordered by y and distance; k is 1
    to 64. `cosine`: nearest by the angle at 0, without a box."""
    places, space = _places(x, y, batch_x, batch_y, box, periodic, cosine)
    return _result(_graphs.nearest(*places, *space, whole(k, "k", 1, 64), False), return_shifts)


def knn_graph(
    x: torch.Tensor,
    k: int,
    batch: torch.Tensor | None = None,
    loop: bool = False,
    flow: str = "source_to_target",
    cosine: bool = False,
    num_workers: int = 1,
    batch_size: int | None = None,
    *,
    box: Any = None,
    periodic: Any = None,
    return_shifts: bool = False,
) -> Any:
    """Like torch_geometric.nn.knn_graph: (the k nearest neighbors, points), with flow="target_to_source" (points,
    neighbors). `loop`: a point is its own neighbor and one of the k."""
    places, space = _places(x, None, batch, None, box, periodic, cosine)
    return _result(_graphs.nearest(*places, *space, whole(k, "k", 1, 64), flag(loop, "loop")), return_shifts, flow)


def _places(x, y, batch_x, batch_y, box, periodic, cosine=False):
    """The tensors of an operator, and its box and periodic axes."""
    points = _points(x, (2, 3), "x").detach()
    queries = None if y is None else _points(y, (points.shape[1],), "y").detach()
    if flag(cosine, "cosine"):
        if box is not None:
            raise ValueError("cosine is True; angles are for points without a box")
        normalize = torch.nn.functional.normalize
        points, queries = normalize(points), None if queries is None else normalize(queries)
    systems, others = _batch(batch_x, points, "batch of x"), None if queries is None else _batch(batch_y, queries, "batch of y")
    if queries is not None and systems is not None and others is None:
        others = torch.zeros_like(queries[:, 0], dtype=systems.dtype)
    if systems is None and others is not None:
        systems = torch.zeros_like(points[:, 0], dtype=others.dtype)
    lattice = None if box is None else _beside(box, points, "box").detach()
    wraps = None if periodic is None else _periodic(periodic, points.shape[1])
    return (points, queries, systems, others), (lattice, wraps)


def _batch(batch, points, name):
    if batch is None:
        return None
    systems = _read(batch, name, points.device)
    if systems.shape != points.shape[:1] or systems.is_floating_point():
        given = f"the shape {tuple(systems.shape)} and the type {systems.dtype}"
        raise ValueError(f"{name} has {given}; one integer for each of the {len(points)} points is needed")
    return systems


def _result(found, shifts, flow="target_to_source"):
    edges, moved = found
    if word(flow, "flow", FLOWS) == "source_to_target":
        edges = edges.flip(0)
    return (edges, moved) if flag(shifts, "return_shifts") else edges
