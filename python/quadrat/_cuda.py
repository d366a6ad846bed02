# SPDX-License-Identifier: BSD-3-Clause
"""Finds the library for GPUs in the package quadrat_cuda13, and its dependencies in other wheels."""

import ctypes
import importlib.util
import pathlib

INSTALL = "pip install 'quadrat[cuda13]'"


def library() -> str:
    """The path of the library. Called once, for the first array in the memory of a GPU."""
    found = importlib.util.find_spec("quadrat_cuda13")
    if found is None or found.origin is None:
        raise ImportError(f"arrays in the memory of a GPU need the package quadrat-cuda13: {INSTALL}")
    path = pathlib.Path(found.origin).parent / "libquadrat_cuda13.so"
    if not path.is_file():
        raise ImportError(f"{path} is missing; install it again: {INSTALL}")
    _load_fft()
    return str(path)


def _load_fft():
    """Loads cuFFT from the vendor's wheel, if installed, so that the library finds it by its name. Otherwise the
    system's is used."""
    found = importlib.util.find_spec("nvidia")
    for folder in found.submodule_search_locations if found else ():
        for path in sorted(pathlib.Path(folder).glob("*/lib/libcufft.so.12")):
            try:
                ctypes.CDLL(str(path))
                return
            except OSError:
                continue
