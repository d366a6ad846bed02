# SPDX-License-Identifier: BSD-3-Clause
"""Ctrl-C and other signals, in every command and at every stage; how threads wait."""

import array
import json
import os
import pathlib
import signal
import subprocess
import threading
import time

import large_inputs
import support
from large_inputs import npy

# Seconds in which a command must have ended. It takes milliseconds; a busy machine may take longer.
PROMPT = 3

CIRCLES = """\
[scene]
model = "circles"

[box]
width = 400

[physics]
radius = 200

[run]
steps = 1000000
device = "cpu"

[output]
frame_every = 0
checkpoint_every = 0
statistics_every = 0
preview = false
"""


class StoppingTest(large_inputs.LargeInputTest):
    def start(self, *arguments, **options):
        process = subprocess.Popen(
            self.command(*arguments), cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            **options,
        )  # fmt: skip
        killer = threading.Timer(90, process.kill)
        killer.start()
        self.addCleanup(killer.cancel)
        return process

    def names(self):
        return sorted(str(file.relative_to(self.folder)) for file in self.folder.rglob("*"))

    def stop(self, process, number=signal.SIGINT, times=1):
        """Sends the signal and returns what the program printed; it must end soon, with the signal's status."""
        self.assertIsNone(process.poll(), "it had come to its end before the signal")
        begin = time.monotonic()
        for _ in range(times):
            process.send_signal(number)
            time.sleep(0.001)
        out, problem = process.communicate(timeout=60)
        self.assertLess(time.monotonic() - begin, PROMPT)
        self.assertEqual(process.returncode, 128 + number, problem)
        return out, problem

    def assert_stopped_at_work(self, *arguments, number=signal.SIGINT, name="Ctrl-C", after=0.7):
        """While it computes: one line, and nothing new in the folder."""
        before = self.names()
        process = self.start(*arguments)
        time.sleep(after)
        out, problem = self.stop(process, number)
        self.assertEqual(out, "")
        self.assertEqual(problem, f"quadrat: stopped by {name}; nothing was written\n")
        self.assertEqual(self.names(), before)

    def test_while_neighbors_are_searched(self):
        points = self.random_points(1000000)
        self.put("pairs.npy", b"older")
        for output in ([], ["-o", "pairs.npy"]):
            self.assert_stopped_at_work("neighbors", points, "--cutoff", 0.5, "--device", "cpu", "--quiet", *output)
        self.assert_stopped_at_work(
            "neighbors", points, "--cutoff", 0.5, "--device", "cpu", "--quiet", number=signal.SIGTERM, name="SIGTERM"
        )
        self.assert_stopped_at_work(
            "neighbors", points, "--cutoff", 0.5, "--device", "cpu", "--quiet", number=signal.SIGHUP, name="SIGHUP"
        )
        self.assertEqual((self.folder / "pairs.npy").read_bytes(), b"older")

    def test_while_contacts_are_searched(self):
        bodies = self.random_spheres(400000)
        self.assert_stopped_at_work(
            "contacts", bodies, "--method", "brute_force", "--device", "cpu", "-o", "contacts.npy", after=2
        )

    def test_while_values_are_spread(self):
        points = self.random_points(3000000)
        head = npy(b"", (16, 3000000))
        with open(self.folder / "values.npy", "wb") as values:
            values.write(head)
            values.truncate(len(head) + 16 * 3000000 * 4)
        self.assert_stopped_at_work(
            "spread", points, "--values", "values.npy", "--mesh", 16, "--order", 8, "--method", "gather",
            "--device", "cpu", "--threads", 1, "-o", "mesh.npy", after=1,
        )  # fmt: skip

    def test_while_files_are_read(self):
        points = self.put("points.npy", npy(array.array("f", [0.5] * 6).tobytes(), (2, 3)))
        os.mkfifo(self.folder / "pipe.npy")
        os.mkfifo(self.folder / "pipe.csv")
        os.mkfifo(self.folder / "pipe.toml")
        for arguments in (
            ("neighbors", "pipe.npy", "--cutoff", 1),
            ("contacts", "pipe.csv"),
            ("spread", "pipe.npy", "--mesh", 8),
            ("interpolate", points, "--mesh-values", "pipe.npy"),
            ("reduce", "pipe.npy", "--op", "count"),
            ("run", "pipe.toml"),
        ):
            with self.subTest(arguments[0]):
                self.assert_stopped_at_work(*arguments, after=0.3)

    def test_while_methods_are_timed(self):
        process = self.start("bench", "cells", "--full", "--device", "cpu", "--json", "bench.json")
        time.sleep(0.7)
        _, problem = self.stop(process)
        self.assertEqual(problem, "quadrat: stopped by Ctrl-C; nothing was written\n")
        self.assertEqual(self.names(), [])

    def test_the_operations_that_were_timed_before_a_signal_are_in_the_file(self):
        process = self.start(
            "bench", "neighbors", "--full", "--method", "strips", "--device", "cpu", "--json", "bench.json"
        )
        limit = time.monotonic() + 60
        while not (self.folder / "bench.json").exists():
            self.assertLess(time.monotonic(), limit)
            time.sleep(0.01)
        _, problem = self.stop(process)
        self.assertEqual(problem, "quadrat: stopped by Ctrl-C; files that had been written before are whole\n")
        result = json.loads((self.folder / "bench.json").read_text())
        self.assertFalse(result["meta"]["complete"])
        self.assertGreater(len(result["rows"]), 0)

    def test_a_signal_while_the_output_is_written_leaves_the_older_file(self):
        points = self.random_points(20000)
        self.put("pairs.csv", b"older")
        process = self.start("neighbors", points, "--cutoff", 0.25, "--device", "cpu", "-o", "pairs.csv")
        time.sleep(2)
        _, problem = self.stop(process)
        self.assertEqual(problem, "quadrat: stopped by Ctrl-C; nothing was written\n")
        self.assertEqual((self.folder / "pairs.csv").read_bytes(), b"older")
        self.assertEqual(self.names(), ["pairs.csv", "points.npy"])

    def test_a_reader_that_does_not_read_holds_nobody(self):
        points = self.random_points(1000)
        os.mkfifo(self.folder / "pipe.csv")
        reader = os.open(self.folder / "pipe.csv", os.O_RDONLY | os.O_NONBLOCK)
        self.addCleanup(os.close, reader)
        process = self.start("neighbors", points, "--cutoff", 0.5, "--device", "cpu", "-o", "pipe.csv")
        time.sleep(1)
        self.stop(process)

    def test_signals_that_are_ignored_stay_ignored(self):
        points = self.random_points(1000)

        def ignore():
            signal.signal(signal.SIGINT, signal.SIG_IGN)

        os.mkfifo(self.folder / "pipe.npy")
        process = self.start("neighbors", "pipe.npy", "--cutoff", 0.1, preexec_fn=ignore)
        time.sleep(0.3)
        process.send_signal(signal.SIGINT)
        time.sleep(0.3)
        self.assertIsNone(process.poll())
        (self.folder / "pipe.npy").write_bytes((self.folder / points).read_bytes())
        process.communicate(timeout=60)
        self.assertEqual(process.returncode, 0)

    def test_before_the_first_step(self):
        large = self.write_scene(
            support.SCENE.replace("-0.25", "-25").replace("0.25", "25").replace("count = 1000", "count = 6000000")
        )
        process = self.start("run", large, "--output", "large")
        time.sleep(0.5)
        _, problem = self.stop(process)
        self.assertRegex(problem, r"^quadrat: stopped by Ctrl-C; .*\n$")
        self.assertEqual([name for name in self.names() if ".tmp" in name], [])

    def test_a_long_step_is_waited_for_until_a_second_signal(self):
        process = self.start("run", self.write_scene(CIRCLES), "--output", "out")
        time.sleep(2)
        process.send_signal(signal.SIGINT)
        time.sleep(2)
        _, problem = self.stop(process)
        lines = problem.splitlines()
        self.assertEqual(len(lines), 2, problem)
        self.assertIn("stopping after this step", lines[0])
        self.assertIn("Ctrl-C once more stops at once", lines[0])
        self.assertTrue(lines[1].startswith("quadrat: stopped by Ctrl-C"), problem)
        self.assert_whole_files(self.folder / "out")

    def test_signals_that_come_together_are_one(self):
        scene = self.write_scene(support.SCENE)
        process = self.start("run", scene, "--output", "out", "--steps", 1000000)
        limit = time.monotonic() + 60
        while not (self.folder / "out" / "frames" / "frame_00000050.vtp").exists():
            self.assertLess(time.monotonic(), limit)
            time.sleep(0.01)
        # as `timeout` sends it: to the process, then to its group
        _, problem = self.stop(process, signal.SIGTERM, times=4)
        self.assertRegex(problem, r"^quadrat: stopped at step .*--resume")
        self.assertTrue((self.folder / "out" / "checkpoint.bin").exists())

    def test_frames_that_will_not_fit_the_disk_are_announced(self):
        scene = self.write_scene(support.SCENE.replace("frame_every = 50", "frame_every = 1"))
        process = self.start("run", scene, "--output", "out", "--steps", 10**13)
        line = process.stderr.readline()
        self.assertRegex(line, r"^quadrat: note: .* more frames will take about .*B, but out has .*B free")
        self.stop(process)

    def test_threads_wait_passively_unless_they_are_told_how(self):
        os.mkfifo(self.folder / "pipe.npy")
        for given, wanted in (
            ({}, b"OMP_WAIT_POLICY=passive"),
            ({"OMP_WAIT_POLICY": "active"}, b"OMP_WAIT_POLICY=active"),
            ({"GOMP_SPINCOUNT": "1000"}, None),
        ):
            environment = {key: value for key, value in os.environ.items() if key != "OMP_WAIT_POLICY"} | given
            process = self.start("neighbors", "pipe.npy", "--cutoff", 1, env=environment)
            time.sleep(0.5)
            system = pathlib.Path(f"/proc/{process.pid}")
            seen = [text for text in (system / "environ").read_bytes().split(b"\0") if text.startswith(b"OMP_WAIT")]
            self.assertEqual(seen, [wanted] if wanted else [])
            self.assertEqual((system / "comm").read_text(), "quadrat\n")
            self.assertEqual((system / "cmdline").read_bytes().split(b"\0")[0].decode(), support.PROGRAM)
            self.stop(process)


if __name__ == "__main__":
    support.main()
