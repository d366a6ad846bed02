# SPDX-License-Identifier: BSD-3-Clause
"""Runs on several ranks that are processes, where mpirun is here and this build has MPI."""

import json
import os
import pathlib
import random
import re
import shutil
import signal
import struct
import subprocess
import time
import unittest

import support

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


@unittest.skipUnless(built_with_mpi(), "no mpirun, or a build without MPI")
class ProcessesTest(support.ProgramTest):
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

    def test_what_is_wrong_is_said_once(self):
        for arguments in [["nothing.toml"], [self.scene, "--steps", "-1"], [self.scene, "--method", "hashed"]]:
            done = subprocess.run(
                self.mpirun(3, "run", *arguments), cwd=self.folder, capture_output=True, text=True, timeout=60
            )
            self.assertNotEqual(done.returncode, 0)
            self.assertEqual(done.stderr.count("quadrat: "), 1, done.stderr)

    def test_a_killed_rank_ends_the_run_and_leaves_a_checkpoint(self):
        rounds = int(os.environ.get("QUADRAT_HOSTILE_ROUNDS", "1"))
        for number in range(rounds):
            output = f"killed-{number}"
            process = subprocess.Popen(
                self.mpirun(3, "run", self.scene, "--deterministic=canonical", "--steps", 100000, "--output", output),
                cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            )  # fmt: skip
            limit = time.monotonic() + 60
            while not (self.folder / output / "checkpoint.bin").exists():
                self.assertIsNone(process.poll())
                self.assertLess(time.monotonic(), limit)
                time.sleep(0.01)
            time.sleep(random.random() * 0.2)
            victim = random.randrange(3)
            os.kill(children_of(process)[victim], signal.SIGKILL)
            _, errors = process.communicate(timeout=30)
            self.assertNotEqual(process.returncode, 0)
            self.assertRegex(errors, rf"rank {victim} with PID .* signal 9")
            # The checkpoint is whole: one rank goes on from it, as if nothing had happened.
            header = (self.folder / output / "checkpoint.bin").read_bytes()[:32]
            last = struct.unpack("<Q", header[24:])[0] + 25
            summary = self.run_scene(output, "--deterministic=canonical", "--steps", last, "--resume")
            self.assertEqual(summary["run"]["first_step"], last - 25)
            self.run_scene("whole", "--deterministic=canonical", "--steps", last)
            one, several = (self.folder / name / "statistics.csv" for name in ["whole", output])
            self.assertEqual(one.read_bytes(), several.read_bytes())


if __name__ == "__main__":
    support.main()
