# SPDX-License-Identifier: BSD-3-Clause
"""Types of arguments and results."""

import os
from typing import Any, TypeAlias

# Of NumPy, PyTorch, CuPy or JAX. Results belong to the library of the points, which types cannot express without it.
Array: TypeAlias = Any
# One of a kind for all axes, or one for each; of systems, one row for each.
ByAxis: TypeAlias = Any
# float32, float64, int32 or int64, by name or of a library.
DType: TypeAlias = Any
FilePath: TypeAlias = str | os.PathLike[str]
