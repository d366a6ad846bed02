# SPDX-License-Identifier: BSD-3-Clause
"""The same examples in every run."""

import hypothesis

hypothesis.settings.register_profile("quadrat", derandomize=True, database=None, deadline=None)
hypothesis.settings.load_profile("quadrat")
