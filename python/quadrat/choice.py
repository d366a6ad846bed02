# SPDX-License-Identifier: BSD-3-Clause
"""Which method would be chosen for a load, without data."""

import html
import importlib.util
import json
import typing
from typing import Any

import numpy as np

from . import _core
from ._numbers import flag, numbers, real_number, run_to_run, whole, word
from ._types import ByAxis, DType
from .mesh import _dtype_name


DEVICES = "auto", "cpu", "cuda"


class Choice(typing.NamedTuple):
    """Why a method was chosen; `print` shows a table.

    candidates: one dict for each method with `method`, `milliseconds` (expected; None if it was not considered),
    `bytes` of memory (None: not known) and `why_not` (empty if it could be chosen), those expected to be fastest first.
    load: what the choice went by. profile: which constants.
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


def choose(
    task: str | None = None,
    *,
    n: float,
    cells: ByAxis = (64, 64, 64),
    order: int = 6,
    uses: float = 1,
    keys: float | None = None,
    dtype: DType = "float32",
    device: str = "auto",
    deterministic: str = "none",
    threads: int = 0,
    explain: bool = False,
) -> Any:
    """The method that would be chosen for each task, or with `explain` the `Choice`; for one task, that alone.

    Points are taken to be distributed evenly, in random order; keys to be equally frequent, in random order. Times are
    those that the profile of the device predicts (`quadrat tune` measures one; docs/concepts/choosing.md).

    Parameters
    ----------
    task : "spread", "reduce", "neighbors" or "contacts"; None: all, as a dict
    n : number of points, elements or bodies
    cells : mesh points, or cells as large as the cutoff, along 1 to 3 axes; a number: along each of three
    order : of the window of spreading, 1 to 8
    uses : of what is prepared once
    keys : of a reduction, below 2^31; by default as many as cells
    dtype : "float32" or "float64"
    device : "cpu", "cuda" or "auto", the GPU where there is one and the package quadrat-cuda13. "cuda" answers for an
        NVIDIA H200 elsewhere.
    deterministic, threads : see `SpreadPlan`
    """
    tasks = _core.method_tasks if task is None else (word(task, "task", _core.method_tasks),)
    wide = _dtype_name(dtype) == "float64"
    gpus = word(device, "device", DEVICES) != "cpu" and importlib.util.find_spec("quadrat_cuda13") is not None
    axes = [whole(along, "cells") for along in numbers(cells, "cells")]
    axes = axes * 3 if np.ndim(cells) == 0 else axes
    n, uses = real_number(n, "n"), real_number(uses, "uses")
    given = None if keys is None else real_number(keys, "keys")
    if given is not None and not given > 0:
        raise ValueError(f"keys is {given:g}; it must be above 0")
    explain = flag(explain, "explain")
    found = {}
    for name in tasks:
        text, result = _core.choose(
            _core.method_tasks.index(name), n, axes, whole(order, "order"), uses, given or 0.0, wide, device, gpus,
            run_to_run(deterministic), whole(threads, "threads"),
        )  # fmt: skip
        if explain:
            parts = json.loads(result)
            found[name] = Choice(parts["chosen"], parts["candidates"], parts["load"], parts["profile"], text)
        else:
            found[name] = json.loads(result)["chosen"]
    return found if task is None else found[task]
