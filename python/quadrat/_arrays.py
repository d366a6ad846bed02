# SPDX-License-Identifier: BSD-3-Clause
"""Arrays of any library in, the same library's arrays out."""

import numpy as np

CPU = 1  # kDLCPU of DLPack


class Kind:
    """The library whose arrays a call got, for its results."""

    def __init__(self, module="numpy"):
        self.module = module

    def __call__(self, array):
        """`array`, a NumPy array, as one of that library; memory is shared where the library can."""
        if array is None or self.module == "numpy":
            return array
        if self.module == "torch":
            import torch

            return torch.from_numpy(array)
        if self.module == "jax":
            import jax

            return jax.device_put(array, jax.devices("cpu")[0])
        return array


def kind_of(value):
    module = type(value).__module__.partition(".")[0]
    return Kind({"torch": "torch", "jax": "jax", "jaxlib": "jax"}.get(module, "numpy"))


def as_numpy(value, name):
    """The array in CPU memory, without a copy if it is one already."""
    if isinstance(value, np.ndarray):
        return value
    if hasattr(value, "__dlpack_device__"):
        device = value.__dlpack_device__()[0]
        if int(device) != CPU:
            raise ValueError(
                f"{name} are in the memory of another device ({type(value).__module__} array); "
                "this package works on CPUs: pass a copy in CPU memory"
            )
    if type(value).__module__.partition(".")[0] == "torch":
        return value.detach().numpy()
    try:
        return np.asarray(value)
    except ValueError as problem:
        raise ValueError(f"{name} cannot be read as an array: {problem}") from None


def floats(value, name, dtype=None):
    """As an array of float32 or float64. Lists and Python numbers become float64, or `dtype`."""
    array = as_numpy(value, name)
    given = isinstance(value, np.ndarray) or hasattr(value, "__dlpack_device__")
    if not given and array.dtype.kind in "iuf":
        array = array.astype(dtype or np.float64)
    if array.dtype not in (np.float32, np.float64):
        raise TypeError(f"{name} have the type {array.dtype}; float32 and float64 are accepted")
    if dtype is not None and array.dtype != dtype:
        raise TypeError(f"{name} have the type {array.dtype}; {np.dtype(dtype)} is needed, as the points have")
    return np.ascontiguousarray(array)


def points_of(value, dimensions, name="points", dtype=None):
    """An N x D array. An empty list is no points of the largest dimension."""
    array = floats(value, name, dtype)
    if array.ndim == 1 and array.size == 0:
        array = array.reshape(0, max(dimensions))
    if array.ndim == 1 and 1 in dimensions:
        array = array.reshape(-1, 1)
    if array.ndim != 2 or array.shape[1] not in dimensions:
        wanted = " or ".join(f"(N, {d})" for d in dimensions)
        raise ValueError(f"{name} have the shape {array.shape}; {wanted} is accepted")
    return array


def indices(value, count, name, of="points"):
    """Numbers from 0 by point, as uint32; None stays None."""
    if value is None:
        return None
    array = as_numpy(value, name)
    if array.dtype.kind not in "iu":
        if array.size:
            raise TypeError(f"{name} have the type {array.dtype}; integers are accepted")
        array = array.astype(np.uint32)
    if array.shape != (count,):
        raise ValueError(f"{name} have the shape {array.shape}; one for each of the {count} {of} is needed")
    if array.size and (array.min() < 0 or array.max() >= 2**32 - 1):
        wrong = int(np.flatnonzero((array < 0) | (array >= 2**32 - 1))[0])
        raise ValueError(f"{name}[{wrong}] is {array[wrong]}; numbers from 0 are accepted")
    return np.ascontiguousarray(array, dtype=np.uint32)


def suffix(array):
    """Of the functions for such points: precision and dimension."""
    return f"_{array.dtype}_{array.shape[1]}"
