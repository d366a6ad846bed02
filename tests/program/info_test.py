# SPDX-License-Identifier: BSD-3-Clause
"""quadrat info, the help texts, and wrong command lines."""

import json
import os
import unittest.mock

import support


class InfoTest(support.ProgramTest):
    def test_info_for_people(self):
        text = self.quadrat("info").stdout
        self.assertRegex(text, r"^quadrat \d+\.\d+\.\d+ \(commit ")
        for word in ["cpu", "cuda", "threads", "linked_loose", "FFT libraries found"]:
            self.assertIn(word, text)

    def test_info_as_json(self):
        info = json.loads(self.quadrat("info", "--json").stdout)
        self.assertRegex(info["program"]["version"], r"^\d+\.\d+\.\d+$")
        self.assertTrue(info["backends"]["cpu"])
        self.assertGreaterEqual(info["cpu"]["threads"], 1)
        self.assertIn("sorted", [method["name"] for method in info["models"]["granular"]["methods"]])
        self.assertIn("hashed", [method["name"] for method in info["cells"]["methods"]])
        self.assertIn("trimmed", [method["name"] for method in info["search"]["orders"]])
        self.assertIn("strips", [method["name"] for method in info["search"]["neighbors"]["methods"]])
        self.assertIn("particle", [method["name"] for method in info["mesh"]["methods"]])
        self.assertIn("sort_reduce", [method["name"] for method in info["keyed"]["methods"]])
        libraries = {library["name"]: library["cpu"] for library in info["spectral"]["fft"]}
        self.assertEqual(set(libraries), {"own", "fftw", "mkl", "cufft"})
        self.assertEqual((libraries["own"], libraries["cufft"]), (True, False))
        self.assertIn("brute_force", [method["name"] for method in info["contacts"]["methods"]])

    def test_vector_registers_by_name(self):
        with unittest.mock.patch.dict(os.environ, QUADRAT_LANES="plain"):
            self.quadrat("info")
        with unittest.mock.patch.dict(os.environ, QUADRAT_LANES="wide"):
            self.assertIn("QUADRAT_LANES is wide; possible are plain", self.fails("info", code=2))

    def test_version_and_help(self):
        self.assertRegex(self.quadrat("--version").stdout, r"^quadrat \d")
        self.assertIn("Examples:", self.quadrat("--help").stdout)
        for command in ["run", "neighbors", "clusters", "contacts", "spread", "interpolate", "reduce", "info", "bench",
                        "tune", "choose"]:
            self.assertIn(command, self.quadrat("--help").stdout)
        self.assertIn("quadrat run examples/dam_break.toml", self.quadrat("run", "--help").stdout)

    def test_wrong_command_lines(self):
        for arguments in [
            [],
            ["rum"],
            ["run"],
            ["run", "nowhere.toml"],
            ["run", self.scene, "--stesp", 3],
            ["run", self.scene, "--steps", "many"],
            ["run", self.scene, "--device", "tpu"],
            ["run", self.scene, "--precision", "half"],
            ["run", self.scene, "--deterministic=always"],
        ]:
            with self.subTest(arguments):
                self.assertIn("--help", self.fails(*arguments, code=2))


if __name__ == "__main__":
    support.main()
