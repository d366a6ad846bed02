# SPDX-License-Identifier: BSD-3-Clause
"""Finds the library for GPUs in the package quadrat_cuda13 or quadrat_cuda12, and its dependencies in other wheels."""

import ctypes
import importlib.util
import pathlib

INSTALL = "pip install 'quadrat[cuda13]', or cuda12"

#: Packages, and the version of cuFFT that each finds.
_CUFFT = {"quadrat_cuda13": 12, "quadrat_cuda12": 11}


def package() -> str | None:
    """The package that is installed, the one of the later CUDA first; None without any."""
    return next((name for name in _CUFFT if importlib.util.find_spec(name) is not None), None)


def library() -> str:
    """The path of the library. Called once, for the first array in the memory of a GPU."""
    name = package()
    if name is None:
        raise ImportError(f"arrays in the memory of a GPU need the package quadrat-cuda13 or quadrat-cuda12: {INSTALL}")
    origin = importlib.util.find_spec(name).origin
    path = pathlib.Path(origin or name).parent / f"lib{name}.so"
    if not path.is_file():
        raise ImportError(f"{path} is missing; install it again: {INSTALL}")
    _load_fft(_CUFFT[name])
    return str(path)


def _load_fft(version):
    """Loads cuFFT from the vendor's wheel, if installed, so that the library finds it by its name. Otherwise the
    system's is used."""
    found = importlib.util.find_spec("nvidia")
    for folder in found.submodule_search_locations if found else ():
        for path in sorted(pathlib.Path(folder).glob(f"*/lib/libcufft.so.{version}")):
            try:
                ctypes.CDLL(str(path))
                return
            except OSError:
                continue
