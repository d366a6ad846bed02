# SPDX-License-Identifier: BSD-3-Clause
"""Runs on several ranks that are threads of one process (--devices)."""

import json
import os
import re
import resource
import shutil
import signal
import subprocess
import time

import support

# A channel with a few heavy solutes, and grains with friction that fall through a plate: every kind of result.
FLUID = """\
[scene]
model = "srd"

[box]
cells = [10, 12, 6]
boundaries = ["periodic", "wall", "periodic"]

[particles]
per_cell = 5

[solutes]
count = 4
mass = 10

[physics]
time_step = 0.4
acceleration = [1e-2, 0, 0]

[measure]
profile = "y"
from = 10
every = 5

[run]
steps = 60
device = "cpu"

[output]
frame_every = 30
checkpoint_every = 20
statistics_every = 20
preview = false
"""
GRAINS = """\
[scene]
model = "granular"

[box]
lower = [-0.05, 0.0, -0.05]
upper = [0.05, 0.1, 0.05]

[[box.walls]]
point = [0, 0.03, 0]
normal = [0, 1, 0]
opening = { center = [0, 0.03, 0], radius = 0.02 }

[particles]
count = 120
radius = 0.006
smallest_radius = 0.003
lower = [-0.05, 0.03, -0.05]

[physics]
law = "hertz"
young_modulus = 5e6
friction = 0.5

[run]
steps = 400
device = "cpu"

[output]
frame_every = 200
checkpoint_every = 100
statistics_every = 50
preview = false
"""


AGENTS = """\
[scene]
model = "circles"

[box]
dimension = 2
width = 30

[physics]
force = 0.3

[run]
steps = 60
device = "cpu"

[output]
frame_every = 30
checkpoint_every = 20
statistics_every = 20
preview = false
"""


IONS = """\
[scene]
model = "electrolyte"

[box]
size = [9, 8, 10]

[ions]
species = [
  {count = 30, charge = 1},
  {count = 30, charge = -1},
]

[electrostatics]
accuracy = 1e-3
method = "spme"

[run]
steps = 40
precision = "double"
device = "cpu"

[output]
frame_every = 20
checkpoint_every = 10
statistics_every = 10
preview = false
"""


SPHERES = """\
[scene]
model = "brownian"

[box]
size = [14, 12, 13]

[particles]
count = 48
start = "chains"
chain_length = 4

[physics]
time_step = 0.05
repulsion = 10
spring = 5
spring_length = 2.2

[hydrodynamics]
method = "split"

[run]
steps = 20
precision = "double"
device = "cpu"

[output]
frame_every = 10
checkpoint_every = 5
statistics_every = 5
preview = false
"""


class RanksTest(support.ProgramTest):
    def statistics(self, output):
        return (self.folder / output / "statistics.csv").read_bytes()

    def test_ranks_in_threads_give_the_same_file_as_one(self):
        self.run_scene("one", "--deterministic=canonical")
        for ranks in [2, 3]:
            summary = self.run_scene(f"ranks-{ranks}", "--deterministic=canonical", "--devices", ranks)
            self.assertEqual(self.statistics(f"ranks-{ranks}"), self.statistics("one"))
            self.assertEqual(summary["ranks"]["count"], ranks)
            self.assertEqual(sum(rank["particles"] for rank in summary["ranks"]["by_rank"]), 1000)
            self.assertGreater(summary["ranks"]["by_rank"][0]["bytes_sent"], 0)

    def test_a_run_goes_on_with_other_ranks(self):
        self.run_scene("whole", "--deterministic=canonical")
        self.run_scene("parts", "--deterministic=canonical", "--devices", 3, "--steps", 90)
        self.run_scene("parts", "--deterministic=canonical", "--devices", 2, "--steps", 130, "--resume")
        self.run_scene("parts", "--deterministic=canonical", "--steps", 150, "--resume")
        self.run_scene("parts", "--deterministic=canonical", "--devices", 4, "--resume")
        self.assertEqual(self.statistics("parts"), self.statistics("whole"))

    def payload(self, file, name):
        """The bytes of an array of a VTK file, and its number of points."""
        head, _, payload = file.read_bytes().partition(b'<AppendedData encoding="raw">\n_')
        offset = int(re.search(rf'Name="{name}" [^>]*offset="(\d+)"'.encode(), head).group(1))
        size = int.from_bytes(payload[offset : offset + 8], "little")
        points = int(re.search(rb'NumberOfPoints="(\d+)"', head).group(1))
        return payload[offset + 8 : offset + 8 + size], points

    def test_frames_in_pieces_hold_what_one_rank_writes(self):
        formats = ["--frame-format=vtp,vtu,xyz", "--deterministic=canonical"]
        self.run_scene("one", *formats)
        self.run_scene("three", *formats, "--devices", 3)
        one, three = self.folder / "one/frames", self.folder / "three/frames"
        for step in range(0, 201, 50):
            name = f"frame_{step:08}"
            self.assertEqual((three / f"{name}.xyz").read_bytes(), (one / f"{name}.xyz").read_bytes())
            for kind in ["vtp", "vtu"]:
                pieces = re.findall(r'<Piece Source="([^"]+)"/>', (three / f"{name}.p{kind}").read_text())
                self.assertEqual(pieces, [f"{name}_{rank}.{kind}" for rank in range(3)])
                for array in ["Points", "velocity", "speed", "radius", "id"]:
                    parts = [self.payload(three / piece, array) for piece in pieces]
                    whole = self.payload(one / f"{name}.{kind}", array)
                    self.assertEqual((b"".join(data for data, _ in parts), sum(n for _, n in parts)), whole)
        listed = re.findall(r'file="([^"]+)"', (self.folder / "three/frames.pvd").read_text())
        self.assertEqual(sorted(listed), sorted(f"frames/frame_{step:08}.p{kind}"
                                                for step in range(0, 201, 50) for kind in ["vtp", "vtu"]))  # fmt: skip

    def test_a_checkpoint_has_the_same_bytes_on_any_ranks(self):
        files = []
        for ranks in [2, 3, 5]:
            self.run_scene("same", "--deterministic=canonical", "--devices", ranks)
            files.append((self.folder / "same/checkpoint.bin").read_bytes())
        self.assertEqual(files[1], files[0])
        self.assertEqual(files[2], files[0])

    def test_pieces_belong_to_the_run(self):
        def frames():
            return sorted(file.name for file in (self.folder / "out/frames").iterdir())

        self.run_scene("out", "--devices", 4)
        self.assertEqual(len(frames()), 5 * 5)
        # Frames after the checkpoint go when the run goes on, with their pieces.
        self.run_scene("out", "--devices", 4, "--steps", 60)
        (self.folder / "out/frames/notes.txt").write_text("mine")
        self.run_scene("out", "--devices", 2, "--steps", 200, "--resume")
        self.assertEqual(len(frames()), 2 * 5 + 3 * 3 + 1)
        self.run_scene("out", "--devices", 3, "--steps", 50)
        self.assertEqual(len(frames()), 2 * 4 + 1)
        self.run_scene("out")
        self.assertEqual(len(frames()), 5 + 1)
        # A piece that is not of the run is kept.
        stranger = self.folder / "out/frames/frame_00000050_1.vtp"
        stranger.write_text("mine")
        message = self.fails("run", self.scene, "--output", "out", "--overwrite", "--devices", 2, code=2)
        self.assertIn("frame_00000050_1.vtp", message)
        self.assertEqual(stranger.read_text(), "mine")

    def test_a_signal_ends_ranks_of_one_process_after_the_step(self):
        for number in [signal.SIGINT, signal.SIGTERM]:
            process = subprocess.Popen(
                self.command("run", self.scene, "--deterministic=canonical", "--devices", 3, "--steps", 1000000,
                             "--output", "stopped", "--overwrite"),
                cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            )  # fmt: skip
            while not (self.folder / "stopped/checkpoint.bin").exists():
                self.assertIsNone(process.poll())
                time.sleep(0.01)
            process.send_signal(number)
            _, errors = process.communicate(timeout=30)
            self.assertEqual(process.returncode, 128 + number)
            self.assertEqual(errors.count("quadrat: stopped at step"), 1, errors)
            summary = json.loads((self.folder / "stopped/summary.json").read_text())
            last = summary["run"]["last_step"] + 10
            done = self.run_scene("stopped", "--deterministic=canonical", "--steps", last, "--resume")
            self.assertEqual(done["run"]["first_step"], last - 10)
            shutil.rmtree(self.folder / "stopped")

    def test_where_the_disk_is_full_the_older_checkpoint_stays(self):
        quick = ["--deterministic=canonical", "--devices", "3"]
        self.run_scene("full", *quick, "--steps", 20)
        before = (self.folder / "full/checkpoint.bin").read_bytes()
        # A limit on the size of files, that the part of the last rank exceeds.
        limit = len(before) - 3000
        command = ["run", self.scene, *quick, "--resume", "--output", "full"]
        done = subprocess.run(
            self.command(*command), cwd=self.folder, capture_output=True, text=True, timeout=60,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)),
        )  # fmt: skip
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertRegex(done.stderr, r"^quadrat: (rank \d: )?cannot write .*checkpoint.bin: File too large\n$")
        self.assertEqual((self.folder / "full/checkpoint.bin").read_bytes(), before)
        self.assertEqual([file for file in os.listdir(self.folder / "full") if file.startswith(".")], [])
        self.run_scene("full", *quick, "--resume")

    def test_other_models_give_the_same_files_as_on_one(self):
        for name, text, tables in [("fluid", FLUID, ["profile.csv"]), ("grains", GRAINS, []), ("agents", AGENTS, [])]:
            scene = self.write_scene(text, f"{name}.toml")
            self.run_scene(name, "--deterministic=canonical", scene=scene)
            for ranks in [2, 3]:
                output = f"{name}-{ranks}"
                summary = self.run_scene(output, "--deterministic=canonical", "--devices", ranks, scene=scene)
                self.assertEqual(summary["ranks"]["count"], ranks)
                self.assertEqual(
                    sum(rank["particles"] for rank in summary["ranks"]["by_rank"]), summary["run"]["particles"]
                )
                self.assert_same_results(name, output)
                for table in tables:
                    one, several = (self.folder / folder / table for folder in [name, output])
                    self.assertEqual(one.read_bytes(), several.read_bytes())
            parts = f"{name}-parts"
            last = summary["run"]["last_step"]
            self.run_scene(parts, "--deterministic=canonical", "--devices", 3, "--steps", last // 2, scene=scene)
            self.run_scene(parts, "--deterministic=canonical", "--devices", 2, "--resume", scene=scene)
            self.assertEqual(self.statistics(parts), self.statistics(name))

    def test_models_that_promise_no_bits_follow_one_rank_within_rounding(self):
        for text, count in [(IONS, 60), (SPHERES, 48)]:
            scene = self.write_scene(text, f"scene-{count}.toml")
            names = [f"{name}-{count}" for name in ["one", "three", "parts"]]
            summary = self.run_scene(names[0], scene=scene)
            half = summary["run"]["last_step"] // 2
            summary = self.run_scene(names[1], "--devices", 3, scene=scene)
            self.run_scene(names[2], "--devices", 2, "--steps", half, scene=scene)
            self.run_scene(names[2], "--devices", 3, "--resume", scene=scene)
            self.assertEqual(sum(rank["particles"] for rank in summary["ranks"]["by_rank"]), count)
            one, three, parts = (
                [[float(word) for word in line.split(",")] for line in self.statistics(name).decode().splitlines()[1:]]
                for name in names
            )
            self.assertEqual(len(one), 5)
            for a, b, c in zip(one, three, parts, strict=True):
                for x, y, z in zip(a, b, c, strict=True):
                    self.assertAlmostEqual(x, y, delta=1e-8 * max(1, abs(x)))
                    self.assertAlmostEqual(x, z, delta=1e-8 * max(1, abs(x)))

    def test_steps_of_circles_are_recorded_by_ranks_as_by_one(self):
        scene = self.write_scene(AGENTS.replace("preview = false", "preview = false\nrecord = true"), "agents.toml")
        tables = []
        for output, more in [("one", []), ("three", ["--devices", 3])]:
            self.run_scene(output, "--deterministic=canonical", "--steps", 12, *more, scene=scene)
            rows = [line.split(",") for line in (self.folder / output / "steps.csv").read_text().splitlines()]
            self.assertEqual(rows[0][1], "milliseconds")
            tables.append([row[:1] + row[2:] for row in rows])
        self.assertEqual(len(tables[0]), 13)
        self.assertEqual(tables[0], tables[1])

    def test_what_ranks_cannot_do_is_said_in_one_line(self):
        spheres = self.write_scene(SPHERES.replace('"split"', '"krylov"'), "spheres.toml")
        message = self.fails("run", spheres, "--devices", 2, "--output", "spheres", code=2)
        self.assertIn("over several ranks the mobility is that of the method split, not of krylov", message)
        agents = self.write_scene(AGENTS + '\n[search]\norder = "strips"\n', "agents.toml")
        message = self.fails("run", agents, "--devices", 2, "--output", "agents", code=2)
        self.assertIn("over several ranks it is trimmed over counting", message)
        message = self.fails("run", self.scene, "--devices", 0, code=2)
        self.assertIn("--devices", message)
        message = self.fails("run", self.scene, "--devices", 2, "--method", "hashed", "--output", "other", code=2)
        self.assertIn("over several ranks it is counting", message)
        blown_up = self.write_scene(support.SCENE + "\n[physics]\ntime_step = 300\n", "wild.toml")
        one = self.fails("run", blown_up, "--output", "wild", code=1)
        several = self.fails("run", blown_up, "--output", "wild-3", "--devices", 3, code=1)
        self.assertIn("blew up in step", one)
        self.assertEqual(one, several)

    def test_a_build_without_mpi_refuses_to_be_one_of_several(self):
        if json.loads(self.quadrat("info", "--json").stdout)["mpi"]:
            self.skipTest("MPI is in this build")
        done = subprocess.run(
            self.command("run", self.scene), cwd=self.folder, capture_output=True, text=True,
            env={**os.environ, "OMPI_COMM_WORLD_SIZE": "2"},
        )  # fmt: skip
        self.assertEqual(done.returncode, 1)
        self.assertIn("has no MPI", done.stderr)


if __name__ == "__main__":
    support.main()
