# SPDX-License-Identifier: BSD-3-Clause
"""Sums, extremes, counts and means over the elements that share a key."""

import numpy as np

from . import _core
from ._arrays import as_numpy, kind_of

OPERATIONS = ("sum", "min", "max", "mean")
_keys = (np.int32, np.uint32, np.int64, np.uint64)
_values = (np.int32, np.int64, np.float32, np.float64)


def _keys_of(keys, key_count):
    array = as_numpy(keys, "keys")
    if array.dtype.kind not in "iu" and array.size:
        raise TypeError(f"keys have the type {array.dtype}; integers are accepted")
    if array.ndim != 1:
        raise ValueError(f"keys have the shape {array.shape}; (N,) is accepted")
    if array.dtype not in _keys:
        array = array.astype(np.int64)
    if key_count is None:
        key_count = int(array.max()) + 1 if array.size else 0
    if key_count < 0 or key_count >= 2**31:
        raise ValueError(f"key_count is {key_count}; 0 to 2^31 - 1 is accepted")
    return np.ascontiguousarray(array), int(key_count)


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
    if operation not in OPERATIONS:
        raise ValueError(f"operation is {operation!r}; one of {', '.join(OPERATIONS)} is accepted")
    ids, key_count = _keys_of(keys, key_count)
    array = as_numpy(values, "values")
    if array.dtype.kind == "b" or not hasattr(values, "dtype") and array.dtype not in _values:
        array = array.astype(np.int64 if array.dtype.kind in "iub" else np.float64)
    if operation == "mean" and array.dtype.kind == "i":
        array = array.astype(np.float64)
    if array.dtype not in _values:
        raise TypeError(f"values have the type {array.dtype}; int32, int64, float32 and float64 are accepted")
    single = array.ndim == 1
    rows = np.ascontiguousarray(array.reshape(-1, 1) if single else array)
    if rows.ndim != 2 or len(rows) != len(ids):
        raise ValueError(f"values have the shape {array.shape}; one row for each of the {len(ids)} keys is needed")
    if key_count == 0:
        result = np.empty((0, rows.shape[1]), rows.dtype)
    else:
        result = _core.reduce_by_key(
            ids, rows, key_count, OPERATIONS.index(operation), method, bool(compensated), bool(run_to_run), int(threads)
        )
    return kind_of(values)(result[:, 0] if single else result)


def count_keys(keys, *, key_count=None, method="auto", threads=0):
    """The number of elements with each key, (key_count,) int64. For the parameters see `reduce_by_key`."""
    ids, key_count = _keys_of(keys, key_count)
    if key_count == 0:
        return kind_of(keys)(np.empty(0, np.int64))
    return kind_of(keys)(_core.count_keys(ids, key_count, method, int(threads)))
