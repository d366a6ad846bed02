# SPDX-License-Identifier: BSD-3-Clause
"""The same examples in every run."""

try:
    import hypothesis
except ImportError:  # the tests that need it say so; those on GPUs do not
    pass
else:
    hypothesis.settings.register_profile("quadrat", derandomize=True, database=None, deadline=None)
    hypothesis.settings.load_profile("quadrat")
