# SPDX-License-Identifier: BSD-3-Clause
"""Shared by the tests of the program: a folder to work in, scenes, and readers for output files."""

import json
import os
import pathlib
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest

PROGRAM = os.environ.get("QUADRAT_PROGRAM", "quadrat")
SOURCE = pathlib.Path(os.environ.get("QUADRAT_SOURCE_DIR", pathlib.Path(__file__).parents[2]))

# Threads that spin while they wait take the processor from tests that run in parallel.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")

# A wave in a small box: deterministic, and quick to compute.
SCENE = """\
[scene]
name = "wave"
model = "granular"

[box]
lower = [-0.25, -0.25, -0.25]
upper = [0.25, 0.25, 0.25]

[particles]
count = 1000
start = "left_half"

[run]
steps = 200
device = "cpu"
deterministic = "run_to_run"

[output]
frame_every = 50
checkpoint_every = 20
statistics_every = 25
preview = false
"""


class ProgramTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="quadrat-program-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.scene = self.write_scene(SCENE)

    def write_scene(self, text, name="scene.toml"):
        file = self.folder / name
        file.write_text(text)
        return file

    def command(self, *arguments):
        return [PROGRAM, *map(str, arguments)]

    def quadrat(self, *arguments, code=0):
        """Runs the program without a terminal; checks its exit code."""
        done = subprocess.run(self.command(*arguments), cwd=self.folder, capture_output=True, text=True, timeout=120)
        self.assertEqual(done.returncode, code, f"{arguments}\nstdout: {done.stdout}\nstderr: {done.stderr}")
        return done

    def fails(self, *arguments, code):
        """Runs the program, which must fail with one line on stderr and nothing on stdout; returns that line."""
        done = self.quadrat(*arguments, code=code)
        self.assertEqual(done.stdout, "")
        self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
        self.assertTrue(done.stderr.startswith("quadrat: "), done.stderr)
        return done.stderr.strip().removeprefix("quadrat: ")

    def run_scene(self, output, *arguments, scene=None):
        """Runs a scene into that folder, in place of an earlier run, and returns the summary."""
        overwrite = [] if "--resume" in arguments else ["--overwrite"]
        self.quadrat("run", scene or self.scene, "--output", output, *overwrite, *arguments)
        return json.loads((self.folder / output / "summary.json").read_text())

    def assert_same_results(self, one, other):
        """Expects the same bits in all frames and in the table."""
        frames = sorted(file.name for file in (self.folder / one / "frames").iterdir())
        self.assertEqual(frames, sorted(file.name for file in (self.folder / other / "frames").iterdir()))
        for name in [*(f"frames/{frame}" for frame in frames), "frames.pvd", "statistics.csv"]:
            same = (self.folder / one / name).read_bytes() == (self.folder / other / name).read_bytes()
            self.assertTrue(same, f"{name} differs between {one} and {other}")

    def assert_whole_files(self, folder):
        """Every visible file is complete (hidden ones are leftovers of a killed program)."""
        for file in pathlib.Path(folder).rglob("*"):
            if not file.is_file() or file.name.startswith("."):
                continue
            if file.suffix == ".vtp":
                read_vtp(file)
            elif file.suffix == ".xyz":
                lines = file.read_text().split("\n")
                self.assertEqual((len(lines), lines[-1]), (int(lines[0]) + 3, ""), file)
            elif file.suffix == ".png":
                self.assertTrue(file.read_bytes().endswith(b"IEND\xaeB\x60\x82"), file)
            elif file.suffix == ".json":
                json.loads(file.read_text())
            elif file.suffix == ".pvd":
                self.assertTrue(file.read_text().endswith("</VTKFile>\n"), file)


def read_vtp(file):
    """The arrays of a VTP file as raw bytes by name. Raises if the file is not complete."""
    data = file.read_bytes()
    head, payload = data.split(b'<AppendedData encoding="raw">\n_', 1)
    arrays, end = {}, 0
    for name, offset in re.findall(rb'Name="(\w+)" NumberOfComponents="\d" format="appended" offset="(\d+)"', head):
        start = int(offset)
        (size,) = struct.unpack("<Q", payload[start : start + 8])
        arrays[name.decode()] = payload[start + 8 : start + 8 + size]
        if len(arrays[name.decode()]) != size:
            raise ValueError(f"{file} is cut")
        end = max(end, start + 8 + size)
    if payload[end:] != b"\n</AppendedData>\n</VTKFile>\n":
        raise ValueError(f"{file} does not end where it should")
    return arrays


def main():
    unittest.main(argv=[sys.argv[0], *sys.argv[1:]])
