# SPDX-License-Identifier: BSD-3-Clause
"""The README's measured times are those of the committed results."""

import subprocess
import sys

import blocks


def test_the_table_of_the_readme_is_what_the_results_say():
    script = blocks.ROOT / "benchmarks" / "performance_pages.py"
    command = [sys.executable, script, blocks.ROOT / "benchmarks" / "results", "--readme"]
    table = subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    assert table.count("\n") > 5 and table in (blocks.ROOT / "README.md").read_text()
