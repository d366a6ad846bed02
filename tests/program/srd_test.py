# SPDX-License-Identifier: BSD-3-Clause
"""quadrat run with scenes of the SRD fluid."""

import csv
import json
import math
import signal
import subprocess
import time

import support

SCENE = """\
[scene]
name = "flow"
model = "srd"

[box]
cells = [6, 10, 6]
boundaries = ["periodic", "wall", "periodic"]

[particles]
per_cell = 5

[solutes]
count = 4

[physics]
time_step = 0.5
acceleration = [0.01, 0, 0]

[measure]
profile = "y"
from = 20
every = 4

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

WAVE = """\
[scene]
name = "wave"
model = "srd"

[box]
dimension = 2
cells = [24, 16, 1]

[particles]
start = "shear_wave"

[physics]
time_step = 0.5
thermostat = false

[measure]
every = 3

[run]
steps = 90
device = "cpu"
deterministic = "run_to_run"

[output]
frame_every = 45
checkpoint_every = 20
"""


class SrdTest(support.ProgramTest):
    def scene_with(self, old="", new="", text=SCENE):
        self.assertIn(old, text)
        return self.write_scene(text.replace(old, new) if old else text, "flow.toml")

    def example(self, name, changes):
        """A shorter version of an example."""
        text = (support.SOURCE / "examples" / name).read_text()
        for old, new in changes.items():
            self.assertIn(old, text)
            text = text.replace(old, new)
        return self.write_scene(text, name)

    def rows(self, output, name):
        with open(self.folder / output / name) as file:
            return [{key: float(value) for key, value in row.items()} for row in csv.DictReader(file)]

    def assert_same_tables(self, one, other, *names):
        self.assert_same_results(one, other)
        for name in names:
            self.assertEqual((self.folder / one / name).read_bytes(), (self.folder / other / name).read_bytes(), name)

    def test_everything_that_a_run_leaves(self):
        scene = self.scene_with("preview = false", "preview = true")
        summary = self.run_scene("out", scene=scene)
        self.assertEqual(summary["run"]["particles"], 6 * 10 * 6 * 5 + 4)
        self.assertEqual(summary["run"]["time"], 30)
        self.assertEqual(summary["settings"]["solutes"], {"count": 4, "mass": 5.0})
        self.assertEqual(summary["settings"]["box"]["boundaries"], ["periodic", "wall", "periodic"])
        for file in ["preview.png", "checkpoint.bin", "statistics.csv", "profile.csv", "frames.pvd"]:
            self.assertTrue((self.folder / "out" / file).exists(), file)
        self.assertFalse((self.folder / "out" / "steps.csv").exists())
        self.assert_whole_files(self.folder / "out")
        arrays = support.read_vtp(self.folder / "out" / "frames" / "frame_00000060.vtp")
        self.assertEqual(len(arrays["velocity"]), 12 * 1804)
        steps = [row["step"] for row in self.rows("out", "statistics.csv")]
        self.assertEqual(steps, [0, 20, 40, 60])

    def test_a_profile_is_the_mean_of_its_samples(self):
        # Steps 20, 24, ..., 60.
        summary = self.run_scene("out", scene=self.scene_with())
        self.assertEqual(summary["result"]["profiles"], 11)
        rows = self.rows("out", "profile.csv")
        self.assertEqual([row["position"] for row in rows], [k + 0.5 for k in range(10)])
        self.assertEqual(list(rows[0]), ["position", "velocity_x", "velocity_y", "velocity_z", "density", "theory_velocity_x"])
        self.assertAlmostEqual(sum(row["density"] for row in rows) * 6 * 6, 1804, places=6)
        # One sample holds the momentum of the whole: masses are all 1 without the solutes.
        scene = self.scene_with("[solutes]\ncount = 4\n", "")
        scene.write_text(scene.read_text().replace("from = 20", "from = 40\nto = 43\nbins = 3"))
        self.run_scene("one", scene=scene)
        rows = self.rows("one", "profile.csv")
        self.assertEqual(len(rows), 3)
        momentum = sum(row["density"] * (row["velocity_x"] + 0.5 * 0.01 / 2) for row in rows) * 6 * 6 * 10 / 3
        table = {row["step"]: row for row in self.rows("one", "statistics.csv")}
        self.assertAlmostEqual(momentum / table[40]["momentum_x"], 1, places=4)

    def test_poiseuille_flow_is_the_parabola_of_theory(self):
        scene = self.example("poiseuille.toml", {
            "[12, 32, 12]": "[8, 16, 8]", "1.5e-3": "6e-3", "from = 800": "from = 200", "2_400": "1_200",
            "checkpoint_every = 400": "checkpoint_every = 0",
        })  # fmt: skip
        done = self.quadrat("run", scene, "--output", "out", "--threads", 2, "--json")
        result = json.loads(done.stdout)["result"]
        self.assertAlmostEqual(result["theory_viscosity"], 0.568, places=3)
        self.assertAlmostEqual(result["theory_maximum"], 6e-3 * 16**2 / (8 * result["theory_viscosity"]))
        self.assertLess(abs(result["deviation_percent"]), 6)
        self.assertLess(abs(result["wall_slip"]), 0.04 * result["theory_maximum"])
        deviation = 100 * (result["maximum"] / result["theory_maximum"] - 1)
        self.assertAlmostEqual(result["deviation_percent"], deviation)
        for row in self.rows("out", "profile.csv"):
            y = row["position"]
            theory = 6e-3 / (2 * result["theory_viscosity"]) * y * (16 - y)
            self.assertAlmostEqual(row["theory_velocity_x"], theory, delta=1e-12)
            self.assertLess(abs(row["velocity_x"] - theory), 0.08 * result["theory_maximum"], y)
            self.assertLess(abs(row["velocity_z"]), 0.08 * result["theory_maximum"], y)
            self.assertLess(abs(row["density"] - 10), 1, y)

    def test_a_wall_drags_the_fluid_along(self):
        scene = self.scene_with("[physics]", "[wall_velocity]\nlower_y = [0.1, 0, 0]\nupper_y = [0.6, 0, 0]\n[physics]")
        text = scene.read_text().replace("acceleration = [0.01, 0, 0]", "").replace("steps = 60", "steps = 1000")
        scene.write_text(text.replace("from = 20", "from = 300").replace("time_step = 0.5", "time_step = 1"))
        result = self.run_scene("out", scene=scene)["result"]
        self.assertAlmostEqual(result["theory_shear_rate"], 0.05)
        self.assertLess(abs(result["deviation_percent"]), 12)

    def test_a_shear_wave_decays_as_theory_says(self):
        scene = self.example("shear_wave.toml", {
            "[32, 32, 32]": "[16, 16, 16]", "steps = 100": "steps = 20", "checkpoint_every = 50": "checkpoint_every = 0",
        })  # fmt: skip
        done = self.quadrat("run", scene, "--output", "out", "--threads", 2)
        self.assertIn("theory: 0.5684", done.stdout)
        result = json.loads((self.folder / "out" / "summary.json").read_text())["result"]
        self.assertLess(abs(result["deviation_percent"]), 12)
        wave_number = 2 * math.pi / 16
        self.assertAlmostEqual(result["decay_rate"], result["viscosity"] * wave_number**2)
        self.assertAlmostEqual(result["theory_in_all"], 0.5759, places=4)
        self.assertEqual(result["theory_long_time_tail"], 0)
        rows = self.rows("out", "steps.csv")
        self.assertEqual([row["step"] for row in rows], list(range(21)))
        self.assertAlmostEqual(rows[0]["amplitude"], 1, delta=0.05)
        self.assertAlmostEqual(rows[20]["amplitude"], math.exp(-20 * result["decay_rate"]), delta=0.05)
        theory = [math.exp(-row["time"] * result["theory_decay_rate"]) for row in rows]
        self.assertAlmostEqual(max(abs(row["theory_amplitude"] - one) for row, one in zip(rows, theory)), 0)
        self.assertIn("python3 -m quadrat.plot out/steps.csv -o out/steps.png", done.stdout)
        self.assertTrue((self.folder / "out" / "preview.png").exists())

    def test_a_wave_in_two_dimensions_is_compared_with_theory_and_its_long_time_tails(self):
        text = WAVE.replace("time_step = 0.5\nthermostat = false", "time_step = 0.6\nangle = 90")
        text = text.replace("[24, 16, 1]", "[96, 24, 1]").replace('"shear_wave"', '"shear_wave"\nper_cell = 8')
        done = self.quadrat("run", self.write_scene(text, "wave.toml"), "--output", "out", "--steps", 150)
        self.assertIn("0.2105 of theory with the thermostat and the long-time tails of two dimensions", done.stdout)
        result = json.loads((self.folder / "out" / "summary.json").read_text())["result"]
        self.assertAlmostEqual(result["theory_viscosity"], 0.1644, places=4)
        self.assertAlmostEqual(result["theory_with_thermostat"], 0.1866, places=4)
        self.assertAlmostEqual(result["theory_in_all"], result["theory_with_thermostat"] + result["theory_long_time_tail"])
        self.assertLess(abs(result["viscosity"] / result["theory_in_all"] - 1), 0.2)

    def test_without_thermostat_momentum_and_energy_stay(self):
        scene = self.write_scene(WAVE.replace('"run_to_run"', '"run_to_run"\nprecision = "double"'), "wave.toml")
        self.run_scene("out", scene=scene)
        rows = self.rows("out", "statistics.csv")
        for row in rows[1:]:
            self.assertLess(abs(row["kinetic_energy"] / rows[0]["kinetic_energy"] - 1), 1e-9)
            self.assertLess(abs(row["momentum_x"] - rows[0]["momentum_x"]), 1e-6)
            self.assertLess(abs(row["momentum_y"] - rows[0]["momentum_y"]), 1e-6)

    def test_going_on_gives_the_bits_of_an_unbroken_run(self):
        for name, text, table in [("flow", SCENE, "profile.csv"), ("wave", WAVE, "steps.csv")]:
            with self.subTest(name):
                scene = self.write_scene(text, f"{name}.toml")
                steps = 60 if name == "flow" else 90
                self.run_scene(f"{name}-whole", "--steps", steps, scene=scene)
                self.run_scene(f"{name}-broken", "--steps", 40, scene=scene)
                summary = self.run_scene(f"{name}-broken", "--resume", "--threads", 1, "--steps", steps, scene=scene)
                self.assertEqual(summary["run"]["first_step"], 40)
                self.assert_same_tables(f"{name}-whole", f"{name}-broken", table)
        message = self.fails("run", self.scene_with("time_step = 0.5", "time_step = 0.25"),
                             "--output", "flow-whole", "--resume", code=2)  # fmt: skip
        self.assertIn("cannot resume: physics.time_step was 0.5 in flow-whole/checkpoint.bin, but is 0.25", message)

    def test_the_order_in_memory_does_not_show(self):
        for threads, sort_every in [(1, 1), (2, 7)]:
            scene = self.scene_with("steps = 60", f"steps = 60\nsort_every = {sort_every}")
            self.run_scene(f"run{threads}", "--threads", threads, scene=scene)
        self.assert_same_tables("run1", "run2", "profile.csv")

    def test_ctrl_c_leaves_whole_files_and_a_checkpoint(self):
        scene = self.scene_with()
        self.run_scene("whole", "--steps", 2000, scene=scene)
        process = subprocess.Popen(
            self.command("run", scene, "--output", "broken", "--steps", 2000),
            cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        limit = time.monotonic() + 60
        while not (self.folder / "broken" / "frames" / "frame_00000060.vtp").exists():
            self.assertIsNone(process.poll(), "the run ended too early")
            self.assertLess(time.monotonic(), limit)
            time.sleep(0.002)
        process.send_signal(signal.SIGINT)
        _, stderr = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 130, stderr)
        self.assert_whole_files(self.folder / "broken")
        self.assertTrue((self.folder / "broken" / "profile.csv").read_text().endswith("\n"))
        self.run_scene("broken", "--steps", 2000, "--resume", scene=scene)
        self.assert_same_tables("whole", "broken", "profile.csv")

    def test_options_replace_values_of_the_scene(self):
        scene = self.scene_with()
        summary = self.run_scene("out", "--particles", 900, "--seed", 9, "--precision", "double", scene=scene)
        self.assertEqual(summary["settings"]["particles"]["per_cell"], 2.5)
        self.assertEqual(summary["settings"]["particles"]["seed"], 9)
        self.assertEqual(summary["run"]["particles"], 904)

    def test_scenes_that_cannot_be(self):
        for old, new, words in [
            ('"srd"', '"sdr"', 'flow.toml:3:9: unknown model "sdr"; did you mean "srd"?'),
            ("[box]", "[boks]", 'flow.toml:5:2: unknown table [boks]; did you mean "box"?'),
            ("per_cell = 5", "per_sell = 5", 'flow.toml:10:1: unknown key "per_sell" in [particles]; did you mean "per_cell"?'),
            ("per_cell = 5", "per_cell = 0", "flow.toml:10:12: particles.per_cell is 0, but must be positive"),
            ("time_step = 0.5", "time_step = inf", "physics.time_step is inf, not a finite number"),
            ("time_step = 0.5", "angle = 181", "must lie above 0 and not above 180 degrees"),
            ('"wall"', '"walls"', 'box.boundaries cannot be "walls"; valid are "periodic", "wall"'),
            ("from = 20", "from = 20\nto = 10", "must not lie before measure.from (20)"),
            ('"run_to_run"', '"run_to_run"\nsums = "floating"', "run.sums is \"floating\""),
        ]:  # fmt: skip
            with self.subTest(new):
                scene = self.scene_with(old, new)
                self.assertIn(words, self.fails("run", scene.name, "--output", "out", code=2))
                self.assertFalse((self.folder / "out").exists(), "nothing may be started")
        scene = self.scene_with()
        self.assertIn("--particles: particles.count is 0", self.fails("run", scene, "--particles", 0, code=2))
        self.assertIn("no neighbors to find", self.fails("run", scene, "--method", "hybrid", code=2))


if __name__ == "__main__":
    support.main()
