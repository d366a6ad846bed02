# SPDX-License-Identifier: BSD-3-Clause
"""The method that would be chosen for a load, without data."""

import html
import json
import typing
from typing import Any

import numpy as np

from . import _core, _cuda
from ._numbers import flag, level_of, numbers, real_number, shown, thread_count, whole, word
from ._types import ByAxis, DType
from .mesh import _dtype_name

__all__ = ["Choice", "choose", "methods"]

TASKS = "spread", "reduce_by_key", "neighbor_list", "contacts"
DEVICES = "auto", "cpu", "cuda"


class Choice(typing.NamedTuple):
    """Why a method was chosen; `print` shows a table.

    candidates: one dict for each method with `method`, `milliseconds` (expected; None if it was not considered),
    `bytes` of memory (None: not known) and `why_not` (empty if it could be chosen), those expected to be fastest first.
    load: the input of the choice. profile: the constants used.
    """

    chosen: str
    candidates: list[dict[str, Any]]
    load: dict[str, Any]
    profile: str
    text: str

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        (milliseconds,) = [one["milliseconds"] for one in self.candidates if one["method"] == self.chosen] or [None]
        expected = "" if milliseconds is None else f", {milliseconds:.3g} ms expected"
        return f"<Choice: {self.chosen}{expected}, of {len(self.candidates)} methods; print shows why>"

    def _repr_html_(self) -> str:
        """A table of the methods, for notebooks."""
        rows = "".join(
            f"<tr><td>{html.escape(one['method'])}</td><td>{_shown(one['milliseconds'])}</td>"
            f"<td>{'' if one['bytes'] is None else format(one['bytes'], ',.0f')}</td>"
            f"<td>{'chosen' if one['method'] == self.chosen else html.escape(one['why_not'])}</td></tr>"
            for one in self.candidates
        )
        load = html.escape(", ".join(f"{name} {value}" for name, value in self.load.items()))
        return (
            f"<p><b>{html.escape(self.chosen)}</b> for {load} (constants: {html.escape(self.profile)})</p>"
            "<table><thead><tr>"
            f"<th>method</th><th>expected ms</th><th>bytes</th><th></th></tr></thead><tbody>{rows}</tbody></table>"
        )


def _shown(milliseconds):
    return "" if milliseconds is None else f"{milliseconds:.3g}"


def _has_package():
    return _cuda.package() is not None


def methods(task: str, *, device: str = "auto") -> list[str]:
    """The names of the methods for a task on a device, as accepted by `method`.

    task, device : as of `choose`; "cuda" is an ImportError without the package quadrat-cuda13

    ::

        for name in quadrat.methods("neighbor_list", device="cpu"):
            quadrat.neighbor_list(points, 1.0, method=name)
    """
    number = TASKS.index(word(task, "task", TASKS))
    return _core.methods(number, word(device, "device", DEVICES), _has_package())


def choose(
    task: str | None = None,
    *,
    points: float,
    mesh: ByAxis = 64,
    order: int = 4,
    uses: float = 1.0,
    key_count: int | None = None,
    explain: bool = False,
    device: str = "auto",
    deterministic: str = "none",
    threads: int | None = None,
    dtype: DType = np.float64,
) -> Any:
    """The method that would be chosen for each task, or with `explain` the `Choice`; for one task, that alone.

    Points are assumed evenly distributed, in random order; keys equally frequent, in random order. Times are
    those that the profile of the device predicts (`quadrat tune` measures one; docs/concepts/choosing.md).

    Parameters
    ----------
    task : the name of a function, "spread", "reduce_by_key", "neighbor_list" or "contacts"; None: all, as a dict
    points : number of points, elements or bodies, up to 1e15
    mesh : points of the mesh along 1 to 3 axes, a number: along each of three. For lists and contacts: cells as large
        as the cutoff
    order, uses : as in `SpreadPlan`; `uses` also applies to the keys of a reduction
    key_count : of a reduction; by default as many as mesh points
    device : "cpu", "cuda" or "auto": the GPU, if there is one and the package quadrat-cuda13 is installed. Without a
        GPU, "cuda" answers for an NVIDIA H200.
    deterministic, threads, dtype : see `SpreadPlan`

    Raises
    ------
    ValueError naming what is out of range.
    """
    tasks = TASKS if task is None else (word(task, "task", TASKS),)
    count = whole(points, "points", 0, 10**15)
    axes = [whole(along, "mesh", 1) for along in numbers(mesh, "mesh")]
    if len(axes) not in (1, 2, 3):
        raise ValueError(f"mesh is {shown(mesh)}; numbers along one to three axes are accepted")
    axes = axes * 3 if np.ndim(mesh) == 0 else axes
    keys = 0 if key_count is None else whole(key_count, "key_count", 1)
    order, uses, explain = whole(order, "order"), real_number(uses, "uses"), flag(explain, "explain")
    where = word(device, "device", DEVICES), _has_package(), level_of(deterministic), thread_count(threads)
    wide, found = _dtype_name(dtype) == "float64", {}
    for name in tasks:
        text, result = _core.choose(TASKS.index(name), count, axes, order, uses, keys, wide, *where)
        parts = json.loads(result)
        found[name] = parts["chosen"]
        if explain:
            found[name] = Choice(parts["chosen"], parts["candidates"], parts["load"], parts["profile"], text)
    return found if task is None else found[task]
