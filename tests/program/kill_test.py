# SPDX-License-Identifier: BSD-3-Clause
"""Runs and commands that are killed (SIGKILL) at random times: every file whole, every index true, and a run that goes on
ends in the bits of one that was never killed.

QUADRAT_HOSTILE_ROUNDS says how many kills there are to be (200), QUADRAT_HOSTILE_SEED where they fall. The last line that
is printed counts what happened."""

import collections
import os
import random
import re
import subprocess
import sys
import time
import unittest

import support

ROUNDS = int(os.environ.get("QUADRAT_HOSTILE_ROUNDS", "200"))
SEED = int(os.environ.get("QUADRAT_HOSTILE_SEED", "11"))
LEFTOVER = re.compile(r"\.(.+)\.[0-9a-f]{16}\.tmp")
FOREIGN = ("notes.txt", "frames/notes.txt", "frames/.frame_00000001.vtp.0123456789abcdef.tmp")
counts = collections.Counter()


class KillTest(support.ProgramTest):
    def setUp(self):
        super().setUp()
        self.choice = random.Random(f"{SEED} {self.id()}")
        # Writes files all the time, so that mostly the writing of one is killed.
        self.scene = self.write_scene(
            support.SCENE.replace("frame_every = 50", "frame_every = 4")
            .replace("count = 1000", "count = 200")
            .replace("checkpoint_every = 20", "checkpoint_every = 6")
            .replace('device = "cpu"', 'device = "cpu"\nthreads = 1')
        )

    def killed(self, command, longest):
        """Runs a command, kills it after a random time, and returns whether it was still running."""
        process = subprocess.Popen(command, cwd=self.folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        try:
            process.wait(self.choice.uniform(0, longest))
        except subprocess.TimeoutExpired:
            process.kill()
        _, errors = process.communicate()
        self.assertIn(process.returncode, (0, -9), errors)
        counts["kills" if process.returncode else "ends"] += 1
        return process.returncode != 0

    def seconds_of(self, *arguments):
        began = time.monotonic()
        self.quadrat(*arguments)
        return time.monotonic() - began

    def check_leftover(self, file, targets):
        """A killed writer leaves a file only if it was about to rename it, or could not write without a name."""
        target = LEFTOVER.fullmatch(file.name)
        self.assertTrue(target and target[1] in targets, file)
        counts["leftovers"] += 1

    def check_folder(self, out):
        """Conditions that hold at any time."""
        self.assert_whole_files(out)
        index = out / "run_files.txt"
        listed = index.read_text().splitlines()[1:] if index.exists() else []
        files = [file for file in out.rglob("*") if file.is_file()]
        for file in files:
            name = str(file.relative_to(out))
            if name in FOREIGN or file == index:
                continue
            if file.name.startswith("."):
                self.check_leftover(file, [name.split("/")[-1] for name in (*listed, "run_files.txt")])
            else:
                self.assertIn(name, listed, "a file of the run is not in the index")
        if (out / "frames.pvd").exists():
            for frame in re.findall(r'file="(\S+)"', (out / "frames.pvd").read_text()):
                self.assertTrue((out / frame).exists(), f"frames.pvd lists {frame}")

    def check_end(self, out):
        """Conditions that hold at the end of a run."""
        self.check_folder(out)
        frames = sorted(str(file.relative_to(out)) for file in (out / "frames").glob("frame_*.vtp"))
        self.assertEqual(re.findall(r'file="(\S+)"', (out / "frames.pvd").read_text()), frames)
        files = [str(file.relative_to(out)) for file in out.rglob("*") if file.is_file()]
        listed = (out / "run_files.txt").read_text().splitlines()[1:]
        self.assertEqual(sorted(files), sorted([*listed, "run_files.txt", *FOREIGN]))
        for name in FOREIGN:
            self.assertEqual((out / name).read_text(), "mine")

    def test_a_run_that_is_killed_and_resumed_ends_in_the_same_bits(self):
        steps = ["--steps", 40]
        whole = self.seconds_of("run", self.scene, "--output", "whole", *steps)
        out = self.folder / "out"
        (out / "frames").mkdir(parents=True)
        for folder in (out, self.folder / "whole"):
            for name in FOREIGN:
                (folder / name).write_text("mine")
        for _ in range(ROUNDS * 3 // 4):
            resume = (out / "checkpoint.bin").exists()
            arguments = ["--resume" if resume else "--overwrite", *steps]
            if not self.killed(self.command("run", self.scene, "--output", "out", *arguments), 1.2 * whole):
                self.check_end(out)
                self.assert_same_results("whole", "out")
                counts["resumed to the end"] += 1
                # The next one is killed while it replaces this one, or soon after.
                command = self.command("run", self.scene, "--output", "out", "--overwrite", *steps)
                self.killed(command, 0.3 * whole)
            self.check_folder(out)
        self.quadrat("run", self.scene, "--output", "out", *steps,
                     "--resume" if (out / "checkpoint.bin").exists() else "--overwrite")  # fmt: skip
        self.check_end(out)
        self.assert_same_results("whole", "out")

    def test_a_command_that_is_killed_leaves_the_old_file_or_the_new_one(self):
        points = self.folder / "points.csv"
        points.write_text("x,y,z\n" + "".join(f"{0.1 * i},{0.01 * (i % 7)},0\n" for i in range(2000)))
        (self.folder / "results").mkdir()
        output = self.folder / "results" / "pairs.csv"
        texts = []
        for cutoff in (0.3, 0.5):
            seconds = self.seconds_of("neighbors", points, "--cutoff", cutoff, "--threads", 1, "-o", output)
            texts.append(output.read_bytes())
        for i in range(ROUNDS // 4):
            command = self.command("neighbors", points, "--cutoff", (0.3, 0.5)[i % 2], "--threads", 1, "-o", output)
            self.killed(command, 1.2 * seconds)
            self.assertIn(output.read_bytes(), texts)
            for file in output.parent.iterdir():
                if file != output:
                    self.check_leftover(file, [output.name])
                    file.unlink()

    def test_writers_of_one_file_all_succeed_and_one_of_them_has_it(self):
        points = self.folder / "points.csv"
        points.write_text("x,y,z\n" + "".join(f"{0.1 * i},0,0\n" for i in range(3000)))
        (self.folder / "results").mkdir()
        output = self.folder / "results" / "pairs.csv"
        commands, texts = [], []
        for cutoff in (0.15, 0.25, 0.35, 0.45):
            commands.append(self.command("neighbors", points, "--cutoff", cutoff, "--threads", 1, "-o", output))
            subprocess.run(commands[-1], check=True, capture_output=True)
            texts.append(output.read_bytes())
        for _ in range(max(1, ROUNDS // 20)):
            chosen = self.choice.sample(commands, self.choice.choice((2, 3, 4)))
            processes = [subprocess.Popen(command, stdout=subprocess.DEVNULL) for command in chosen]
            self.assertEqual([process.wait(60) for process in processes], [0] * len(chosen))
            self.assertIn(output.read_bytes(), texts)
            self.assertEqual(list(output.parent.iterdir()), [output])
            counts["simultaneous writers"] += len(chosen)


if __name__ == "__main__":
    success = unittest.main(argv=sys.argv[:1] + sys.argv[1:], exit=False).result.wasSuccessful()
    sys.stderr.flush()
    print(f"kill_test: seed {SEED}; " + ", ".join(f"{counts[name]} {name}" for name in sorted(counts)))
    sys.exit(0 if success else 1)
