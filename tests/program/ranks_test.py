# SPDX-License-Identifier: BSD-3-Clause
"""Runs on several ranks that are threads of one process (--devices)."""

import json
import os
import subprocess

import support


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
        self.run_scene("parts", "--deterministic=canonical", "--resume")
        self.assertEqual(self.statistics("parts"), self.statistics("whole"))

    def test_what_ranks_cannot_do_is_said_in_one_line(self):
        message = self.fails("run", support.SOURCE / "examples/poiseuille.toml", "--devices", 2, code=2)
        self.assertIn('only scenes with model = "granular"', message)
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
