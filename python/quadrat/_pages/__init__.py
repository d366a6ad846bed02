# SPDX-License-Identifier: BSD-3-Clause
"""What pages are made of."""
