# SPDX-License-Identifier: BSD-3-Clause
"""The CUDA library of the package `quadrat`, which loads it for the first array in the memory of a GPU."""
