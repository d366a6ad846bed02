# SPDX-License-Identifier: BSD-3-Clause
"""The CUDA library of the package `quadrat`, which opens it when an array in the memory of a GPU comes."""
