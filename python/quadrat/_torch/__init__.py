# SPDX-License-Identifier: BSD-3-Clause
"""PyTorch's operators."""
