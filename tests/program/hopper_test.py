# SPDX-License-Identifier: BSD-3-Clause
"""quadrat run with grains that have friction: examples/hopper.toml and smaller scenes."""

import csv
import struct

import support

# A few grains fall through a wide opening, with grains soft enough for long steps.
SCENE = """\
[scene]
name = "silo"
model = "granular"

[box]
lower = [-0.04, 0, -0.04]
upper = [0.04, 0.16, 0.04]

[[box.walls]]
point = [0, 0.08, 0]
normal = [0, 1, 0]
opening = { center = [0, 0.08, 0], radius = 0.025 }

[particles]
count = 120
radius = 0.006
smallest_radius = 0.003
lower = [-0.04, 0.08, -0.04]

[physics]
law = "hertz"
young_modulus = 1e6

[run]
steps = 5000
device = "cpu"
deterministic = "run_to_run"

[output]
frame_every = 2500
checkpoint_every = 1600
statistics_every = 1000
preview = false
"""


MATERIALS = """\
young_modulus = 1e6
rolling = "sds"
rolling_friction = 0.05
rolling_damping = 0.3

[[physics.materials]]
name = "glass"

[[physics.materials]]
name = "steel"
density = 7800

[[physics.material_pairs]]
between = ["glass", "steel"]
cohesion = 2000
"""

MIXED = (
    SCENE.replace("young_modulus = 1e6\n", MATERIALS)
    .replace("radius = 0.025 }", 'radius = 0.025 }\nmaterial = "steel"')
    .replace("smallest_radius = 0.003", 'smallest_radius = 0.003\nmaterial = ["glass", "steel"]')
)


# A funnel of eight triangles instead of the plate, upside down in its file and twice as large.
FUNNEL = """\
[[box.meshes]]
file = "shapes/funnel.obj"
scale = 0.5
rotate = [180, 0, 0]
translate = [0, 0.08, 0]
"""

WITH_FUNNEL = (
    SCENE[: SCENE.index("[[box.walls]]")] + FUNNEL + SCENE[SCENE.index("\n[particles]") :].replace("0.08, -", "0.1, -")
)


def funnel():
    """From a square of side 0.16 at y = -0.04 to one of side 0.1 at y = 0.04."""
    corners = [(-1, -1), (-1, 1), (1, 1), (1, -1)]
    lines = [f"v {0.08 * x} -0.04 {0.08 * z}" for x, z in corners] + [f"v {0.05 * x} 0.04 {0.05 * z}" for x, z in corners]
    lines += [f"f {k + 1} {(k + 1) % 4 + 1} {(k + 1) % 4 + 5} {k + 5}" for k in range(4)]
    return "\n".join(lines) + "\n"


class HopperTest(support.ProgramTest):
    def scene_with(self, old="", new=""):
        self.assertIn(old, SCENE)
        return self.write_scene(SCENE.replace(old, new) if old else SCENE, "silo.toml")

    def refused(self, old, new, *arguments):
        return self.fails("run", self.scene_with(old, new).name, "--output", "out", *arguments, code=2)

    def rows(self, output):
        with open(self.folder / output / "statistics.csv") as file:
            return [{key: float(value) for key, value in row.items()} for row in csv.DictReader(file)]

    def test_grains_pass_the_opening_and_slow_down(self):
        summary = self.run_scene("out", scene=self.scene_with("preview = false", "preview = true"))
        self.assertEqual(summary["run"]["particles"], 120)
        self.assertEqual(summary["settings"]["physics"]["law"], "hertz")
        self.assertEqual(summary["settings"]["box"]["walls"][0]["opening"]["radius"], 0.025)
        rows = self.rows("out")
        self.assertEqual(rows[0]["passed"], 0)
        self.assertGreater(rows[-1]["passed"], 30)
        self.assertLess(rows[-1]["kinetic_energy"], 0.5 * max(row["kinetic_energy"] for row in rows))
        self.assertLess(rows[-1]["mean_height"], rows[0]["mean_height"])
        energy = [r["kinetic_energy"] + r["rotational_energy"] + r["elastic_energy"] + r["gravitational_energy"]
                  for r in rows]  # fmt: skip
        self.assertLess(max(energy), 1.0001 * energy[0])
        self.assert_whole_files(self.folder / "out")
        frame = support.read_vtp(self.folder / "out" / "frames" / "frame_00005000.vtp")
        radii = struct.unpack("<120f", frame["radius"])
        self.assertGreaterEqual(min(radii), 0.003 * (1 - 1e-6))
        self.assertLessEqual(max(radii), 0.006 * (1 + 1e-6))

    def test_linear_springs(self):
        springs = 'law = "linear"\nnormal_spring = 2000\ntangential_spring = 1500'
        scene = self.scene_with('law = "hertz"\nyoung_modulus = 1e6', springs)
        self.run_scene("out", "--precision", "double", scene=scene)
        self.assertGreater(self.rows("out")[-1]["passed"], 10)

    def test_going_on_gives_the_bits_of_an_unbroken_run(self):
        scene = self.scene_with()
        self.run_scene("whole", scene=scene)
        self.run_scene("broken", "--steps", 2100, scene=scene)
        summary = self.run_scene("broken", "--resume", "--threads", 1, scene=scene)
        self.assertEqual(summary["run"]["first_step"], 2100)
        self.assert_same_results("whole", "broken")
        message = self.fails(
            "run", self.scene_with("radius = 0.025", "radius = 0.03").name, "--output", "broken", "--resume", code=2
        )
        self.assertIn("box.walls", message)

    def test_materials_go_on_from_checkpoints_with_the_same_bits(self):
        scene = self.write_scene(MIXED, "silo.toml")
        whole = self.run_scene("whole", scene=scene)
        self.assertEqual(whole["settings"]["physics"]["materials"][1], {"name": "steel", "density": 7800.0})
        self.assertEqual(whole["settings"]["physics"]["material_pairs"][0]["between"], ["glass", "steel"])
        self.assertEqual(whole["settings"]["box"]["walls"][0]["material"], "steel")
        self.run_scene("broken", "--steps", 2100, scene=scene)
        self.run_scene("broken", "--resume", "--threads", 1, scene=scene)
        self.assert_same_results("whole", "broken")
        self.run_scene("ranks", "--devices", 2, scene=scene)
        self.assertEqual(self.rows("ranks"), self.rows("whole"))
        other = self.write_scene(MIXED.replace("7800", "7700"), "silo.toml")
        message = self.fails("run", other.name, "--output", "broken", "--resume", code=2)
        self.assertIn("physics.materials", message)

    def scene_with_funnel(self, old="", new=""):
        (self.folder / "shapes").mkdir(exist_ok=True)
        (self.folder / "shapes" / "funnel.obj").write_text(funnel())
        self.assertIn(old, WITH_FUNNEL)
        return self.write_scene(WITH_FUNNEL.replace(old, new) if old else WITH_FUNNEL, "silo.toml")

    def test_grains_flow_through_a_mesh_and_go_on_with_the_same_bits(self):
        scene = self.scene_with_funnel("preview = false", "preview = true")
        whole = self.run_scene("whole", scene=scene)
        self.assertEqual(whole["settings"]["box"]["meshes"][0]["scale"], 0.5)
        frame = support.read_vtp(self.folder / "whole" / "frames" / "frame_00005000.vtp")
        positions = struct.unpack("<360f", frame["Points"])
        below = sum(1 for y in positions[1::3] if y < 0.06)
        self.assertGreater(below, 30)
        for x, y, z in zip(positions[0::3], positions[1::3], positions[2::3], strict=True):
            if 0.065 < y < 0.095:  # in the funnel, which is 2 cm high at each side of y = 0.08
                self.assertLess(max(abs(x), abs(z)), 0.025 + 0.015 * (y - 0.06) / 0.04)
        self.run_scene("broken", "--steps", 2100, scene=scene)
        self.run_scene("broken", "--resume", "--threads", 1, scene=scene)
        self.assert_same_results("whole", "broken")

    def test_meshes_that_cannot_be(self):
        def refused(old, new, *arguments):
            scene = self.scene_with_funnel(old, new)
            return self.fails("run", scene.name, "--output", "out", *arguments, code=2)

        self.assertIn(
            "silo.toml:9:1: box.meshes has a mesh that is refused: cannot read shapes/no.obj: No such file",
            refused("funnel.obj", "no.obj"),
        )
        self.assertIn("names end in .stl or .obj", refused("funnel.obj", "funnel.ply"))
        self.assertIn("with a scale of -1; it must be positive", refused("scale = 0.5", "scale = -1"))
        self.assertIn("box.meshes.rotate must have three components", refused("[180, 0, 0]", "[180]"))
        self.assertIn('box.meshes lacks the key "file"', refused('file = "shapes/funnel.obj"\n', ""))
        self.assertIn('names the material "tin"', refused("scale = 0.5", 'scale = 0.5\nmaterial = "tin"'))
        self.assertIn("in which grain", refused("[0, 0.08, 0]", "[0, 0.12, 0]"))
        self.assertIn("1 meshes; over ranks", refused("", "", "--devices", 2))

    def test_scenes_that_cannot_be(self):
        self.assertEqual(
            self.refused("young_modulus = 1e6", "normal_spring = 300"),
            'silo.toml:22:17: physics.normal_spring belongs to the law "linear"; "hertz" has physics.young_modulus',
        )
        self.assertEqual(
            self.refused('law = "hertz"\n', ""),
            'silo.toml:9:7: the key "walls" in [box] belongs to scenes with law = "hertz" or "linear" in [physics] '
            "(and 3 more)",
        )
        self.assertIn("one way to find neighbors", self.refused("", "", "--method", "sorted"))
        self.assertIn("--particles: particles.count is 9999", self.refused("", "", "--particles", 9999))

    def test_grains_of_several_materials_come_to_rest_as_the_page_says(self):
        scene = support.SOURCE / "examples" / "materials.toml"
        self.run_scene("out", "--device", "cpu", scene=scene)
        last = self.rows("out")[-1]
        self.assertAlmostEqual(last["mean_height"], 0.031, delta=0.001)
        self.assertAlmostEqual(last["contacts_per_particle"], 4.3, delta=0.2)
        self.assertLess(last["max_speed"], 1e-4)
        self.assertLess(last["rotational_energy"], 1e-10)

    def test_the_example_runs(self):
        scene = support.SOURCE / "examples" / "hopper.toml"
        summary = self.run_scene("out", "--steps", 200, "--device", "cpu", scene=scene)
        self.assertEqual(summary["run"]["last_step"], 200)
        self.assertGreater(summary["run"]["particles"], 1000)

    def test_the_example_with_a_cone_runs(self):
        scene = support.SOURCE / "examples" / "cone_hopper.toml"
        self.run_scene("out", "--steps", 200, "--device", "cpu", scene=scene)
        self.assertEqual(self.rows("out")[-1]["step"], 200)


if __name__ == "__main__":
    support.main()
