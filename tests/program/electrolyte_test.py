# SPDX-License-Identifier: BSD-3-Clause
"""quadrat run with scenes of the electrolyte."""

import csv

import support

SCENE = """\
[scene]
name = "salt"
model = "electrolyte"

[box]
size = [8, 8, 10]

[ions]
species = [
  {count = 40, charge = 2, mass = 3, diameter = 1.2},
  {count = 80, charge = -1},
]

[electrostatics]
accuracy = 1e-3

[physics]
time_step = 0.002

[run]
steps = 60
device = "cpu"
deterministic = "run_to_run"

[output]
frame_every = 20
checkpoint_every = 25
statistics_every = 20
preview = false
"""


class ElectrolyteTest(support.ProgramTest):
    def setUp(self):
        super().setUp()
        self.scene = self.write_scene(SCENE, "salt.toml")

    def rows(self, output):
        with open(self.folder / output / "statistics.csv") as file:
            return [{key: float(value) for key, value in row.items()} for row in csv.DictReader(file)]

    def refused(self, old, new):
        self.assertIn(old, SCENE)
        return self.fails("run", self.write_scene(SCENE.replace(old, new), "bad.toml"), "--output", "bad", code=2)

    def test_everything_that_a_run_leaves(self):
        scene = self.write_scene(SCENE.replace("preview = false", "preview = true"), "salt.toml")
        summary = self.run_scene("out", scene=scene)
        self.assertEqual(summary["run"]["particles"], 120)
        self.assertAlmostEqual(summary["run"]["time"], 0.12)
        self.assertEqual(
            summary["settings"]["ions"]["species"],
            [
                {"count": 40, "charge": 2.0, "mass": 3.0, "diameter": 1.2},
                {"count": 80, "charge": -1.0, "mass": 1.0, "diameter": 1.0},
            ],
        )
        self.assertLessEqual(summary["result"]["predicted_error"], 1e-3)
        for file in ["preview.png", "checkpoint.bin", "statistics.csv", "frames.pvd"]:
            self.assertTrue((self.folder / "out" / file).exists(), file)
        self.assert_whole_files(self.folder / "out")
        arrays = support.read_vtp(self.folder / "out" / "frames" / "frame_00000060.vtp")
        self.assertEqual(len(arrays["velocity"]), 12 * 120)
        self.assertEqual(len(arrays["radius"]), 4 * 120)
        rows = self.rows("out")
        self.assertEqual([row["step"] for row in rows], [0, 20, 40, 60])
        for row in rows:
            potential = row["coulomb_energy"] + row["repulsion_energy"]
            self.assertAlmostEqual(row["potential_energy"], potential, places=6)
            self.assertAlmostEqual(row["total_energy"], row["kinetic_energy"] + potential, places=4)
        self.assertAlmostEqual(rows[0]["temperature"], 1, places=4)

    def test_a_resumed_run_has_the_same_bits(self):
        for precision in ("float", "double"):
            self.run_scene("whole", "--precision", precision)
            self.run_scene("parts", "--precision", precision, "--steps", 30)
            self.run_scene("parts", "--precision", precision, "--resume")
            self.assert_same_results("whole", "parts")
            self.run_scene("parts", "--precision", precision, "--threads", 1)
            self.assert_same_results("whole", "parts")

    def test_a_changed_scene_is_not_resumed(self):
        self.run_scene("out", "--steps", 30)
        for old, new, key in (
            ("mass = 3", "mass = 4", "ions.species"),
            ("accuracy = 1e-3", "accuracy = 1e-4", "electrostatics.accuracy"),
            ("time_step = 0.002", "time_step = 0.003", "physics.time_step"),
        ):
            scene = self.write_scene(SCENE.replace(old, new), "changed.toml")
            message = self.fails("run", scene, "--output", "out", "--resume", code=2)
            self.assertIn(key, message)

    def test_energy_is_conserved_without_a_thermostat(self):
        changes = 'dynamics = "verlet"\nequilibration = 20\ntime_step = 0.001'
        scene = self.write_scene(SCENE.replace("time_step = 0.002", changes), "verlet.toml")
        self.run_scene("out", "--steps", 200, "--precision", "double", scene=scene)
        energies = [row["total_energy"] for row in self.rows("out") if row["step"] >= 20]
        self.assertLess(max(energies) - min(energies), 0.02 * 120)

    def test_bad_values_are_refused_with_their_place(self):
        for old, new, words in (
            ("charge = -1", "charge = -1.5", ["ions.species", "add up to -40", "background"]),
            ("charge = -1", "charge = nan", ["charge = nan", "kind 1"]),
            ("mass = 3", "mass = 0", ["mass = 0", "kind 0"]),
            ("count = 80, ", "", ["ions.species lacks", '"count"']),
            ("mass = 3", "weight = 3", ['"weight"', "ions.species"]),
            ("count = 80", "count = 8.5", ["ions.species.count", "integer"]),
            ("count = 80", "count = -1", ["count = -1", "kind 1"]),
            ("count = 40, charge = 2", "count = 0, charge = 0", ["ions.species", "add up to -80"]),
            ("size = [8, 8, 10]", "size = [2, 8, 10]", ["box.size is 2 along x", "2.69"]),
            ("size = [8, 8, 10]", "size = [4, 4, 4]", ["120 ions", "27"]),
            ("accuracy = 1e-3", "accuracy = 0", ["electrostatics.accuracy is 0"]),
            ("accuracy = 1e-3", "accuracy = nan", ["electrostatics.accuracy is nan"]),
            ("accuracy = 1e-3", 'method = "pppm"', ['"pppm"', "spme"]),
            ("time_step = 0.002", "time_step = 0", ["physics.time_step is 0"]),
            ("time_step = 0.002", "time_step = -inf", ["physics.time_step is -inf"]),
            ("time_step = 0.002", "equilibration = 5", ["physics.equilibration", "verlet"]),
        ):
            with self.subTest(new):
                message = self.refused(old, new)
                for word in words:
                    self.assertIn(word, message)
                self.assertTrue(message.startswith(("bad.toml:", str(self.folder / "bad.toml") + ":")), message)
        self.assertIn("counted by kind", self.fails("run", self.scene, "--particles", 10, code=2))
        self.assertIn("1e-06", self.fails("run", self.write_scene(SCENE.replace("1e-3", "1e-9")), code=2))

    def test_a_run_that_blows_up_says_when(self):
        scene = self.write_scene(SCENE.replace("time_step = 0.002", "time_step = 5"), "wild.toml")
        self.assertIn("blew up in step", self.fails("run", scene, "--output", "wild", code=1))

    def test_a_net_charge_is_balanced_when_asked(self):
        text = SCENE.replace("charge = -1", "charge = -1.5").replace("accuracy = 1e-3", "background = true")
        self.run_scene("out", scene=self.write_scene(text, "net.toml"))


if __name__ == "__main__":
    support.main()
