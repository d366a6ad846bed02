# SPDX-License-Identifier: BSD-3-Clause
"""What pyproject.toml leaves to CMakeLists.txt, where it is written once: scikit-build-core calls `dynamic_metadata`."""

import pathlib
import re

PROJECT = (pathlib.Path(__file__).resolve().parents[2] / "CMakeLists.txt").read_text()
VERSION = re.search(r"\bVERSION (\d+\.\d+\.\d+)", PROJECT)[1]
ADDRESS = re.search(r'\bHOMEPAGE_URL "(.+)"', PROJECT)[1]


def dynamic_metadata(field, settings):
    """The value of a field of [project]; `settings` have more extras. The parts for GPUs must be of this version."""
    facts = {
        "version": VERSION,
        "urls": {"Homepage": ADDRESS},
        "optional-dependencies": settings | {part: [f"quadrat-{part}=={VERSION}"] for part in ("cuda12", "cuda13")},
    }
    return facts[field]
