# SPDX-License-Identifier: BSD-3-Clause
"""Neighbor lists whose builds are captured in CUDA graphs."""

import threading

import torch

from .. import _core
from .._numbers import level_of
from ..neighbors import _rule
from .mesh import numbers, settings

_of_thread = threading.local()


class CapturedLists:
    """The neighbor lists with a capacity of a CUDA graph: owns their memory, and knows what went wrong in replays.

    It is a context for one call of the work outside of the graph, which makes the memory, and for the capture. Keep it
    as long as the graph. The box, the origin and the type cutoffs stay the same from that call to the last replay; they
    are tensors on the GPU. If a replay has more pairs than a capacity, its list has no pairs.

    Examples
    --------
    ::

        lists = quadrat.torch.CapturedLists()
        graph = torch.cuda.CUDAGraph()
        with lists:
            step(points)
            with torch.cuda.graph(graph):
                forces = step(points)
        graph.replay()
        lists.check()
    """

    def __init__(self) -> None:
        self._lists: dict = {}

    def __enter__(self) -> "CapturedLists":
        _contexts().append(self)
        return self

    def __exit__(self, *_: object) -> None:
        _contexts().remove(self)

    def check(self) -> None:
        """Raises ValueError if a replay since the last check had more pairs than a capacity, with the largest number;
        points that a list refuses; or another box, origin or table. Waits for the work of the GPU."""
        for kept in self._lists.values():
            kept.check()


class _KeptList:
    """A list whose memory a graph can work in. `constants`: what must stay the same."""

    def __init__(self, kind, given, constants):
        cutoff, half, ordered, method, rule, index_dtype, capacity, _ = kind
        table = None if constants["type_cutoffs"] is None else numbers(constants["type_cutoffs"]).cpu()
        radii = given["radii"] is not None or given["radii_of_queries"] is not None
        how = settings()
        options = False, method, level_of(how["deterministic"]), how["threads"], index_dtype, capacity
        self._list = _core.Neighbors(cutoff, 0.0, _rule(rule, radii, table), table, half, ordered, "ijS", *options)
        self._constants = {name: one.detach().clone() for name, one in constants.items() if one is not None}
        self._changed = None
        self.captured = False

    def build(self, points, given, wraps):
        """Builds and waits. Makes the memory."""
        box, origin = (self._constants.get(name) for name in ("box", "origin"))
        places = {name: None if tensor is None else numbers(tensor) for name, tensor in given.items()}
        self._list.update(numbers(points), box, wraps, origin, excluded=None, anew=True, **places)
        self._changed = points.new_zeros((), dtype=torch.bool)
        return self._list.arrays()

    def build_async(self, points, given, constants):
        """Builds without waiting, in the memory of the last `build`."""
        for name, former in self._constants.items():
            now = constants[name].detach()
            if now.is_cuda:
                torch.logical_or(self._changed, (now != former).any(), out=self._changed)
            elif not torch.equal(now, former):
                self._refuse()
        places = {name: None if tensor is None else _narrowed(numbers(tensor)) for name, tensor in given.items()}
        self._list.build_async(numbers(points), **places)
        self.captured = True
        return self._list.arrays()

    def check(self):
        if self._changed.is_cuda:
            torch.cuda.synchronize(self._changed.device)
        self._list.check()
        if self._changed:
            self._changed.zero_()
            self._refuse()

    def _refuse(self):
        names = " or ".join(self._constants)
        raise ValueError(f"the {names} is not what it was when the memory of a list was made; capture the graph anew")


def current(points, capacity):
    """The CapturedLists in whose context this is, for a list with a capacity. Raises ValueError in a capture without."""
    lists = _contexts()[-1] if _contexts() and capacity is not None else None
    if lists is None and capturing(points.device):
        words = "needs a capacity, and the context of a quadrat.torch.CapturedLists"
        raise ValueError(f"a list cannot be captured in a CUDA graph alone: it {words}")
    return lists


def built_by(lists, points, given, constants, wraps, kind):
    """i, j and S of the operator. None outside of a capture for a list that a graph works in already."""
    if constants["excluded"] is not None:
        raise ValueError("excluded pairs are given, which a list in a CUDA graph cannot take")
    tensors = (points, *given.values(), *constants.values())
    shapes = (None if one is None else (one.shape, one.dtype, one.device) for one in tensors)
    key = (*kind, *settings().values(), *shapes)
    kept = lists._lists.get(key)
    if capturing(points.device):
        if kept is None:
            once = "call the function once outside of the graph, in the context of the same CapturedLists"
            raise ValueError(f"there is no memory for a list with a capacity of {kind[6]} and tensors of these shapes; {once}")
        return kept.build_async(points, given, constants)
    if kept is not None and kept.captured:
        return None
    kept = _KeptList(kind, given, constants)
    found = kept.build(points, given, wraps)
    lists._lists[key] = kept
    return found


def _contexts():
    if not hasattr(_of_thread, "contexts"):
        _of_thread.contexts = []
    return _of_thread.contexts


def capturing(device):
    """Whether a CUDA graph captures the work of this device's current stream."""
    return device.type == "cuda" and torch.cuda.is_current_stream_capturing()


def _narrowed(tensor):
    """Integers as the 32 bits that a call without waiting takes; what is out of range stays so."""
    return tensor if tensor.is_floating_point() else tensor.to(torch.int64).clamp(-1, 2**31 - 1).to(torch.int32)
