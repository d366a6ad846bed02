# SPDX-License-Identifier: BSD-3-Clause
"""Frames in the formats that a scene asks for. tests/python/frames_test.py reads them with the libraries of
other programs."""

import json
import re

import support


class FrameFormatTest(support.ProgramTest):
    def scene_of(self, formats, steps=200):
        text = support.SCENE.replace("frame_every = 50", f"frame_every = 50\nframe_format = {json.dumps(formats)}")
        return self.write_scene(text.replace("steps = 200", f"steps = {steps}"))

    def frames(self, out="out"):
        return sorted(file.name for file in (self.folder / out / "frames").iterdir())

    def listed(self):
        return re.findall(
            r'timestep="([^"]*)" file="frames/frame_0*(\d*\.\w+)"', (self.folder / "out/frames.pvd").read_text()
        )

    def test_every_format_beside_the_others(self):
        summary = self.run_scene("out", scene=self.scene_of(["xyz", "vtp", "vtu"], 100))
        self.assertEqual(
            self.frames(), [f"frame_{step:08}.{one}" for step in (0, 50, 100) for one in ("vtp", "vtu", "xyz")]
        )
        self.assertEqual(summary["files"]["frame_count"], 3)
        self.assertEqual(summary["settings"]["output"]["frame_format"], ["xyz", "vtp", "vtu"])
        self.assertEqual(self.listed(), [("0", ".vtp"), ("0", ".vtu"), ("25", "50.vtp"), ("25", "50.vtu"),
                                         ("50", "100.vtp"), ("50", "100.vtu")])  # fmt: skip
        listed = (self.folder / "out" / "run_files.txt").read_text()
        for name in self.frames():
            self.assertIn(f"\nframes/{name}\n", listed)
        self.assert_whole_files(self.folder / "out")

    def test_the_command_line_can_choose(self):
        self.quadrat("run", "--frame-format", "xyz,vtu", self.scene, "--steps", 50, "--output", "out")
        summary = json.loads((self.folder / "out" / "summary.json").read_text())
        self.assertEqual(self.frames(), [f"frame_{step:08}.{one}" for step in (0, 50) for one in ("vtu", "xyz")])
        self.assertEqual(summary["settings"]["output"]["frame_format"], ["xyz", "vtu"])

    def test_xyz_holds_what_vtp_holds(self):
        self.run_scene("out", scene=self.scene_of(["vtp", "xyz"], 100))
        arrays = support.read_vtp(self.folder / "out" / "frames" / "frame_00000100.vtp")
        lines = (self.folder / "out" / "frames" / "frame_00000100.xyz").read_text().splitlines()
        self.assertEqual(lines[0], "1000")
        self.assertEqual(lines[1], 'Lattice="0.5 0 0 0 0.5 0 0 0 0.5" Origin="-0.25 -0.25 -0.25" pbc="F F F" '
                                   "Properties=species:S:1:pos:R:3:velo:R:3:radius:R:1:id:I:1 Time=50")  # fmt: skip
        import struct

        rows = [line.split() for line in lines[2:]]
        for name, columns in (("Points", slice(1, 4)), ("velocity", slice(4, 7)), ("radius", slice(7, 8))):
            numbers = [float(word) for row in rows for word in row[columns]]
            self.assertEqual(struct.pack(f"<{len(numbers)}f", *numbers), arrays[name], name)
        self.assertEqual([row[0] + row[8] for row in rows], [f"X{k}" for k in range(1000)])

    def test_without_files_for_it_there_is_no_collection(self):
        done = self.quadrat("run", self.scene_of("xyz", 50), "--output", "out")
        self.assertIn("frames     2 in out/frames; a page of them: python3 -m quadrat.view out\n", done.stdout)
        self.assertEqual(self.frames(), ["frame_00000000.xyz", "frame_00000050.xyz"])
        self.assertFalse((self.folder / "out" / "frames.pvd").exists())

    def test_a_resumed_run_has_the_frames_of_an_unbroken_one(self):
        self.run_scene("whole", scene=self.scene_of(["vtp", "xyz"]))
        self.run_scene("out", scene=self.scene_of(["vtp", "xyz"], 110))
        self.run_scene("out", "--resume", scene=self.scene_of(["vtp", "xyz"]))
        self.assert_same_results("whole", "out")

    def test_frames_after_the_checkpoint_go_in_every_format(self):
        self.run_scene("out", scene=self.scene_of(["vtp", "xyz"]))
        earlier = self.run_scene("short", scene=self.scene_of(["vtp", "xyz"], 100))
        checkpoint = (self.folder / "short" / "checkpoint.bin").read_bytes()
        (self.folder / "out" / "checkpoint.bin").write_bytes(checkpoint)
        self.run_scene("out", "--resume", scene=self.scene_of("vtp", 100))
        self.assertEqual(self.frames(), self.frames("short"))
        self.assertEqual(earlier["files"]["frame_count"], 3)

    def test_the_program_reads_its_frames(self):
        self.run_scene("out", scene=self.scene_of("xyz", 50))
        frame = self.folder / "out" / "frames" / "frame_00000050.xyz"
        result = json.loads(self.quadrat("neighbors", frame, "--cutoff", 0.04, "--json").stdout)
        self.assertEqual(result["points"]["count"], 1000)
        self.assertGreater(result["pairs"], 1000)

    def test_a_wrong_format_is_refused_with_its_place(self):
        self.assertIn("gsd", self.fails("run", self.scene, "--frame-format", "vtp,gsd", code=2))
        line = self.fails("run", self.scene, "--frame-format", "xyz,xyz", code=2)
        self.assertIn("--frame-format names xyz twice", line)
        line = self.fails("run", self.scene_of(["vtp", "gsd"]), code=2)
        self.assertIn('output.frame_format cannot be "gsd"; valid are "vtp", "vtu", "xyz"', line)


if __name__ == "__main__":
    support.main()
