# SPDX-License-Identifier: BSD-3-Clause
"""Sums, extremes, counts and means over the elements that share a key."""

from . import _core
from ._numbers import whole


def reduce_by_key(
    keys, values, operation="sum", *, key_count=None, method="auto", compensated=False, run_to_run=False, threads=0
):
    """result[k] = the operation over the values of all elements with key k.

    Parameters
    ----------
    keys : (N,) integers, 0 to key_count - 1, in any order
    values : (N,) or (N, C) with C up to 8; int32, int64, float32 or float64
    operation : "sum", "min", "max" or "mean"; means of integers are those of float64
    key_count : by default the largest key plus 1
    compensated : sums that carry the rounding error
    method, run_to_run, threads : see `SpreadPlan`

    Returns
    -------
    (key_count,) or (key_count, C). A key without elements gets 0 (sums), NaN (means), or the largest or smallest number
    of the type (minima, maxima; infinity for floats). Minima and maxima ignore NaN. Sums of integers wrap around.

    Raises
    ------
    ValueError naming the first key that is out of range.
    """
    key_count = None if key_count is None else whole(key_count, "key_count", 0)
    return _core.reduce_by_key(
        keys, values, operation, key_count, method, bool(compensated), bool(run_to_run), whole(threads, "threads")
    )


def count_keys(keys, *, key_count=None, method="auto", threads=0):
    """The number of elements with each key, (key_count,) int64. For the parameters see `reduce_by_key`."""
    key_count = None if key_count is None else whole(key_count, "key_count", 0)
    return _core.count_keys(keys, key_count, method, whole(threads, "threads"))
