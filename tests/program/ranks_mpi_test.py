# SPDX-License-Identifier: BSD-3-Clause
"""Runs on several ranks that are processes, where mpirun is here and this build has MPI."""

import json
import os
import pathlib
import random
import re
import resource
import shutil
import signal
import struct
import subprocess
import time
import unittest

import support
from mesh_support import npy
from ranks_test import AGENTS, FLUID, GRAINS, IONS, SPHERES

MPIRUN = shutil.which("mpirun")
# More ranks than cores, as root in containers, which forbid copies from process to process.
os.environ.update(
    {
        "OMPI_ALLOW_RUN_AS_ROOT": "1",
        "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
        "OMPI_MCA_rmaps_base_oversubscribe": "1",
        "OMPI_MCA_hwloc_base_binding_policy": "none",
        "OMPI_MCA_btl_vader_single_copy_mechanism": "none",
        "OMPI_MCA_btl": "self,vader",
        "OMPI_MCA_mpi_yield_when_idle": "1",
    }
)


def built_with_mpi():
    if MPIRUN is None:
        return False
    info = subprocess.run([support.PROGRAM, "info", "--json"], capture_output=True, text=True)
    return json.loads(info.stdout)["mpi"]


def children_of(process):
    """The processes that mpirun has started on this machine, by rank."""
    ranks = {}
    for entry in os.listdir("/proc"):
        if not entry.isdigit():
            continue
        try:
            parent = int(re.search(r"PPid:\s*(\d+)", pathlib.Path(f"/proc/{entry}/status").read_text()).group(1))
            environment = pathlib.Path(f"/proc/{entry}/environ").read_text()
        except (OSError, AttributeError):
            continue
        rank = re.search(r"OMPI_COMM_WORLD_RANK=(\d+)", environment)
        if parent == process.pid and rank:
            ranks[int(rank.group(1))] = int(entry)
    return ranks


# Frames would take most of the time, where a run has gone far.
SCENE = support.SCENE.replace("frame_every = 50", "frame_every = 0")


@unittest.skipUnless(built_with_mpi(), "no mpirun, or a build without MPI")
class ProcessesTest(support.ProgramTest):
    def setUp(self):
        super().setUp()
        self.scene = self.write_scene(SCENE)

    def mpirun(self, ranks, *arguments):
        return [MPIRUN, "-n", str(ranks), *self.command(*arguments)]

    def test_processes_give_the_same_file_as_one(self):
        self.run_scene("one", "--deterministic=canonical")
        for ranks in [1, 3]:
            done = subprocess.run(
                self.mpirun(ranks, "run", self.scene, "--deterministic=canonical", "--output", f"m{ranks}", "--json"),
                cwd=self.folder, capture_output=True, text=True, timeout=60,
            )  # fmt: skip
            self.assertEqual(done.returncode, 0, done.stderr)
            summary = json.loads(done.stdout)
            self.assertEqual("ranks" in summary, ranks > 1)
            one, several = (self.folder / name / "statistics.csv" for name in ["one", f"m{ranks}"])
            self.assertEqual(one.read_bytes(), several.read_bytes())

    def test_other_models_give_the_same_file_as_one(self):
        for name, text in [("fluid", FLUID), ("grains", GRAINS), ("agents", AGENTS)]:
            scene = self.write_scene(text, f"{name}.toml")
            self.run_scene(name, "--deterministic=canonical", scene=scene)
            done = subprocess.run(
                self.mpirun(3, "run", scene, "--deterministic=canonical", "--output", f"{name}-3"),
                cwd=self.folder, capture_output=True, text=True, timeout=60,
            )  # fmt: skip
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assert_same_results(name, f"{name}-3")

    def test_processes_find_the_pairs_and_clusters_of_one(self):
        numbers = random.Random(2)
        (self.folder / "points.npy").write_bytes(npy([300, 3], [numbers.random() for _ in range(900)]))
        (self.folder / "regions.npy").write_bytes(npy([300], [i % 4 for i in range(300)], "<i8"))
        space = ["--box", "1,1,1", "--periodic", "xyz", "--device", "cpu"]
        pairs = ["pairs", "points.npy", "--edges", "0,0.1,0.2", "--regions", "regions.npy", *space, "--json"]
        clusters = ["clusters", "points.npy", "--cutoff", "0.08", *space, "--json", "-o"]
        one = json.loads(self.quadrat(*pairs).stdout)
        sizes = json.loads(self.quadrat(*clusters, "one.npy").stdout)["sizes"]
        for command in pairs, [*clusters, "three.npy"]:
            done = subprocess.run(self.mpirun(3, *command), cwd=self.folder, capture_output=True, text=True, timeout=60)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            found = json.loads(done.stdout)
            self.assertEqual(found["ranks"], 3)
            self.assertEqual(found.get("pairs"), one["pairs"] if command is pairs else None)
            self.assertEqual(found.get("sizes"), None if command is pairs else sizes)
        self.assertEqual((self.folder / "one.npy").read_bytes(), (self.folder / "three.npy").read_bytes())

    def test_what_is_wrong_is_said_once(self):
        for arguments in [["nothing.toml"], [self.scene, "--steps", "-1"], [self.scene, "--method", "hashed"]]:
            done = subprocess.run(
                self.mpirun(3, "run", *arguments), cwd=self.folder, capture_output=True, text=True, timeout=60
            )
            self.assertNotEqual(done.returncode, 0)
            self.assertEqual(done.stderr.count("quadrat: "), 1, done.stderr)
        (self.folder / "broken.csv").write_text("x,y,z\n0,0,0\nnan,0,0\n")
        for command in ["pairs", "broken.csv", "--edges", "0,1"], ["clusters", "broken.csv", "--cutoff", "0.1"]:
            done = subprocess.run(
                self.mpirun(3, *command, "--device", "cpu"), cwd=self.folder, capture_output=True, text=True, timeout=60
            )
            self.assertNotEqual(done.returncode, 0)
            self.assertEqual(done.stderr.count("quadrat: broken.csv:3: point 1"), 1, done.stderr)

    def started(self, output, *arguments, ranks=3, scene=None, level="canonical", **options):
        """A long run, once it has written a checkpoint."""
        process = subprocess.Popen(
            self.mpirun(ranks, "run", scene or self.scene, f"--deterministic={level}", "--steps", 100000,
                        "--output", output, *arguments),
            cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options,
        )  # fmt: skip
        self.addCleanup(process.kill)
        limit = time.monotonic() + 60
        while not (self.folder / output / "checkpoint.bin").exists():
            self.assertIsNone(process.poll())
            self.assertLess(time.monotonic(), limit)
            time.sleep(0.01)
        return process

    def assert_goes_on(self, output, scene=None):
        """The checkpoint is whole: one rank goes on from it, as if nothing had happened. Returns its step."""
        header = (self.folder / output / "checkpoint.bin").read_bytes()[:32]
        last = struct.unpack("<Q", header[24:])[0] + 25
        summary = self.run_scene(output, "--deterministic=canonical", "--steps", last, "--resume", scene=scene)
        self.assertEqual(summary["run"]["first_step"], last - 25)
        self.run_scene("whole", "--deterministic=canonical", "--steps", last, scene=scene)
        one, several = (self.folder / name / "statistics.csv" for name in ["whole", output])
        self.assertEqual(one.read_bytes(), several.read_bytes())
        return last - 25

    def test_a_signal_ends_all_ranks_after_the_step_with_a_checkpoint(self):
        rounds = int(os.environ.get("QUADRAT_HOSTILE_ROUNDS", "1"))
        for number in range(max(rounds, 3)):
            # To mpirun, which sends SIGTERM to all ranks; or to one rank, as a batch system might.
            how = [signal.SIGINT, signal.SIGTERM, None][number % 3]
            output = f"stopped-{number}"
            process = self.started(output)
            time.sleep(random.random() * 0.2)
            if how is None:
                os.kill(children_of(process)[random.randrange(3)], signal.SIGTERM)
            else:
                process.send_signal(how)
            _, errors = process.communicate(timeout=30)
            self.assertNotEqual(process.returncode, 0)
            found = re.findall(r"quadrat: stopped at step ([\d,]+) of 100,000", errors)
            self.assertEqual(len(found), 1, errors)
            self.assertEqual(self.assert_goes_on(output), int(found[0].replace(",", "")))

    def test_where_the_disk_is_full_the_older_checkpoint_stays(self):
        process = self.started("full")
        # A limit on the size of files, from now on: MPI has made its own.
        limit = (self.folder / "full/checkpoint.bin").stat().st_size - 3000
        for rank in children_of(process).values():
            resource.prlimit(rank, resource.RLIMIT_FSIZE, (limit, limit))
        _, errors = process.communicate(timeout=30)
        self.assertNotEqual(process.returncode, 0)
        self.assertEqual(errors.count("quadrat: "), 1, errors)
        self.assertRegex(errors, "cannot write .*/checkpoint.bin: ")
        self.assertEqual([file for file in os.listdir(self.folder / "full") if file.startswith(".")], [])
        self.assert_goes_on("full")

    def assert_goes_on_within_rounding(self, output, scene):
        """The checkpoint is whole: one rank and two go on from it in the same way, for a while."""
        header = (self.folder / output / "checkpoint.bin").read_bytes()[:32]
        last = struct.unpack("<Q", header[24:])[0] + 10
        shutil.copytree(self.folder / output, self.folder / f"{output}-two")
        tables = []
        for name, ranks in [(output, []), (f"{output}-two", ["--devices", 2])]:
            more = ["--deterministic=run_to_run", "--steps", last, "--resume", *ranks]
            summary = self.run_scene(name, *more, scene=scene)
            self.assertEqual(summary["run"]["first_step"], last - 10)
            rows = (self.folder / name / "statistics.csv").read_text().splitlines()
            tables.append([float(word) for word in rows[-1].split(",")])
        self.assertEqual(tables[0][0], last)
        for one, two in zip(*tables, strict=True):
            self.assertAlmostEqual(one, two, delta=1e-6 * max(1, abs(one)))

    def test_a_killed_rank_ends_the_run_and_leaves_a_checkpoint(self):
        rounds = int(os.environ.get("QUADRAT_HOSTILE_ROUNDS", "4"))
        scenes = [self.scene]
        for name, text in [("agents", AGENTS), ("ions", IONS), ("spheres", SPHERES), ("fluid", FLUID), ("grains", GRAINS)]:
            scenes.append(self.write_scene(re.sub(r"frame_every = \d+", "frame_every = 0", text), f"{name}.toml"))
        longest = 0
        for number in range(rounds):
            output = f"killed-{number}"
            scene = scenes[number % len(scenes)]
            rounded = scene.name in ["ions.toml", "spheres.toml"]
            process = self.started(output, scene=scene, level="run_to_run" if rounded else "canonical")
            time.sleep(random.random() * 0.2)
            victim = random.randrange(3)
            os.kill(children_of(process)[victim], signal.SIGKILL)
            killed = time.monotonic()
            _, errors = process.communicate(timeout=30)
            longest = max(longest, time.monotonic() - killed)
            self.assertNotEqual(process.returncode, 0)
            self.assertRegex(errors, rf"rank {victim} with PID .* signal 9")
            if rounded:
                self.assert_goes_on_within_rounding(output, scene)
            else:
                self.assert_goes_on(output, scene)
        print(f"ranks_mpi_test: {rounds} kills; all ranks had ended after at most {longest:.1f} s")


if __name__ == "__main__":
    support.main()
