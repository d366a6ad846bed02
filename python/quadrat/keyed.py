# SPDX-License-Identifier: BSD-3-Clause
"""Sums, extremes, counts and means over the elements that share a key."""

import numpy as np

from . import _core
from ._numbers import flag, level_of, method_name, thread_count, whole, word
from ._types import Array

__all__ = ["count_keys", "reduce_by_key"]


def reduce_by_key(
    keys: Array,
    values: Array,
    operation: str = "sum",
    *,
    key_count: int | None = None,
    ignore_negative: bool = False,
    compensated: bool = False,
    method: str = "auto",
    deterministic: str = "none",
    threads: int | None = None,
) -> Array:
    """result[k] = the operation over the values of all elements with key k.

    Parameters
    ----------
    keys : (N,) integers, 0 to key_count - 1, in any order
    values : (N,) or (N, C) with C up to 8; integers and floats. int8 to uint64 count as int64, float16 as float32.
    operation : "sum", "min", "max" or "mean"; means of integers are those of float64
    key_count : by default the largest key plus 1
    ignore_negative : ignores elements with negative keys, which pandas.factorize gives to missing values
    compensated : sums that carry the rounding error
    method : one of `methods("reduce_by_key")`, or "auto"
    deterministic : "none"; "run_to_run": sums of floats have the same bits in every run; "canonical": also in every
        order of the elements. All other results are always the same.
    threads : of the CPU; None: all

    Returns
    -------
    (key_count,) or (key_count, C). A key without elements gets 0 (sums), NaN (means), or the largest or smallest number
    of the type (minima, maxima; infinity for floats). Minima and maxima ignore NaN. Sums of integers wrap around.

    Raises
    ------
    ValueError naming the first key that is out of range.

    Examples
    --------
    ::

        quadrat.reduce_by_key([0, 2, 0], [1.0, 5.0, 3.0], "mean")  # [2, nan, 5]
    """
    key_count = None if key_count is None else whole(key_count, "key_count", 0)
    if flag(ignore_negative, "ignore_negative"):
        keys, values = _without_negative(keys, values)
    return _core.reduce_by_key(
        keys,
        values,
        word(operation, "operation", ("sum", "min", "max", "mean")),
        key_count,
        method_name(method),
        flag(compensated, "compensated"),
        level_of(deterministic),
        thread_count(threads),
    )


def _without_negative(keys, *others):
    """The elements with nonnegative keys."""
    _core.check_keys(keys)
    keys, *others = (_array(given, name) for given, name in zip((keys, *others), ("keys", "values")))
    for array in others:
        if array.ndim == 0 or len(array) != len(keys):
            shape = tuple(array.shape)
            raise ValueError(f"values have the shape {shape}; one row for each of the {len(keys)} keys is needed")
    chosen = keys >= 0
    return keys[chosen], *(array[chosen] for array in others)


def _array(given, name):
    if hasattr(given, "dtype") and hasattr(given, "__ge__") and hasattr(given, "__dlpack__"):
        return given
    try:
        return np.asarray(given)
    except ValueError as problem:
        raise ValueError(f"{name} cannot be read as an array: {problem}") from None


def count_keys(
    keys: Array,
    *,
    key_count: int | None = None,
    ignore_negative: bool = False,
    method: str = "auto",
    threads: int | None = None,
) -> Array:
    """The number of elements with each key, (key_count,) int64: always the same. For the parameters see
    `reduce_by_key`."""
    key_count = None if key_count is None else whole(key_count, "key_count", 0)
    if flag(ignore_negative, "ignore_negative"):
        (keys,) = _without_negative(keys)
    return _core.count_keys(keys, key_count, method_name(method), thread_count(threads))
