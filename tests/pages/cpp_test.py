# SPDX-License-Identifier: BSD-3-Clause
"""The C++ of the pages compiles against the library: all blocks in one source, errors at the lines of the pages."""

import os
import pathlib
import re
import shutil
import subprocess

import blocks
import pytest

BUILD = pathlib.Path(os.environ.get("QUADRAT_BUILD", blocks.ROOT / "build" / "cpu"))
INCLUDE = re.compile(r"^#include .*$", re.MULTILINE)


def source(found):
    includes, bodies = {"#include <quadrat/quadrat.hpp>": None}, []
    for number, block in enumerate(found):
        text = f"{block.given}\n{block.text}"
        includes.update(dict.fromkeys(INCLUDE.findall(text)))
        given, text = INCLUDE.sub("", block.given), INCLUDE.sub("", block.text)
        body = f'{given}\n#line {block.line} "{block.page}"\n{text}'
        if "int main(" not in text:
            body = f"[[maybe_unused]] static void body() {{\n{body}\n}}"
        bodies.append(f"namespace block_{number} {{\n{body}\n}}\n")
    return "\n".join([*includes, "", *bodies])


def test_the_blocks_compile(tmp_path):
    compiler = os.environ.get("CXX") or shutil.which("g++") or shutil.which("c++")
    if compiler is None or not (BUILD / "include" / "quadrat" / "core" / "config.hpp").exists():
        pytest.skip(f"no compiler, or no configured build in {BUILD}")
    found = blocks.of("cpp")
    assert found
    file = tmp_path / "pages.cpp"
    file.write_text(source(found))
    command = [compiler, "-std=c++20", "-fsyntax-only", "-fopenmp", "-Wno-return-type", "-I", blocks.ROOT / "include",
               "-I", BUILD / "include", file]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    print(f"{len(found)} blocks of C++ compile")
