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


def source(found, includes=()):
    includes, bodies = dict.fromkeys(includes), []
    for number, block in enumerate(found):
        text = f"{block.given}\n{block.text}"
        includes.update(dict.fromkeys(INCLUDE.findall(text)))
        given, text = INCLUDE.sub("", block.given), INCLUDE.sub("", block.text)
        body = f'{given}\n#line {block.line} "{block.page}"\n{text}'
        if "int main(" not in text:
            body = f"[[maybe_unused]] static void body() {{\n{body}\n}}"
        bodies.append(f"namespace block_{number} {{\n{body}\n}}\n")
    return "\n".join([*includes, "", *bodies])


def errors_of(text, folder):
    compiler = os.environ.get("CXX") or shutil.which("g++") or shutil.which("c++")
    if compiler is None or not (BUILD / "include" / "quadrat" / "core" / "config.hpp").exists():
        pytest.skip(f"no compiler, or no configured build in {BUILD}")
    file = folder / "pages.cpp"
    file.write_text(text)
    command = [compiler, "-std=c++20", "-fsyntax-only", "-fopenmp", "-Wno-return-type", "-I", blocks.ROOT / "include",
               "-I", BUILD / "include", file]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    return done.stderr if done.returncode else ""


def test_the_blocks_compile(tmp_path):
    found = blocks.of("cpp")
    assert found
    assert not (errors := errors_of(source(found, ["#include <quadrat/quadrat.hpp>"]), tmp_path)), errors
    print(f"{len(found)} blocks of C++ compile")


def test_the_headers_that_a_block_names_suffice(tmp_path):
    found = [block for block in blocks.of("cpp") if "#include <quadrat/" in block.text]
    assert len(found) > 5
    for block in found:
        assert not (errors := errors_of(source([block]), tmp_path)), errors


def test_blocks_with_sums_over_neighbors_name_a_header():
    for block in blocks.of("cpp"):
        named = "#include <quadrat/" in block.given + block.text
        assert named or "accumulate_" not in block.text, f"{block.page}:{block.line}"
