# SPDX-License-Identifier: BSD-3-Clause
"""Shared by the hostile tests: every command on a small input, and what it may leave when one of its calls fails.

QUADRAT_HOSTILE_ROUNDS: how many disturbed runs of each test (0: all that there are), QUADRAT_HOSTILE_SEED: which ones.
"""

import atexit
import dataclasses
import json
import os
import pathlib
import random
import shutil
import struct
import subprocess
import tempfile

import support

LIBRARY = os.environ.get("QUADRAT_FAILING_CALLS", "")
SEED = int(os.environ.get("QUADRAT_HOSTILE_SEED", "1"))
SECONDS = 60  # for one run

disturbed_runs = 0
atexit.register(lambda: print(f"made {disturbed_runs} disturbed runs") if disturbed_runs else None)

GRAINS = support.SCENE.replace("count = 1000", "count = 64").replace("steps = 200", "steps = 6")
GRAINS = GRAINS.replace("frame_every = 50", "frame_every = 3").replace("checkpoint_every = 20", "checkpoint_every = 2")
GRAINS = GRAINS.replace("statistics_every = 25", "statistics_every = 2")

FRICTION = """\
[scene]
name = "pile"
model = "granular"

[box]
lower = [-0.04, 0, -0.04]
upper = [0.04, 0.16, 0.04]

[[box.walls]]
point = [0, 0.08, 0]
normal = [0, 1, 0]
opening = { center = [0, 0.08, 0], radius = 0.025 }

[particles]
count = 20
radius = 0.006
lower = [-0.04, 0.08, -0.04]
material = ["glass", "steel"]

[physics]
law = "hertz"
young_modulus = 1e6
rolling = "sds"

[[physics.materials]]
name = "glass"

[[physics.materials]]
name = "steel"
density = 7800

[[physics.material_pairs]]
between = ["glass", "steel"]
cohesion = 100

[run]
steps = 6
device = "cpu"
deterministic = "run_to_run"

[output]
frame_every = 3
checkpoint_every = 2
statistics_every = 2
preview = false
"""

CIRCLES = """\
[scene]
name = "rings"
model = "circles"

[box]
width = 8

[run]
steps = 6
device = "cpu"
deterministic = "run_to_run"

[output]
frame_every = 3
frame_format = ["vtp", "xyz"]
checkpoint_every = 2
statistics_every = 2
preview = false
"""

FLOW = """\
[scene]
name = "flow"
model = "srd"

[box]
cells = [4, 6, 4]
boundaries = ["periodic", "wall", "periodic"]

[particles]
per_cell = 3

[solutes]
count = 2

[physics]
time_step = 0.5
acceleration = [0.01, 0, 0]

[measure]
profile = "y"
from = 2
every = 2

[run]
steps = 6
device = "cpu"
deterministic = "run_to_run"

[output]
frame_every = 3
checkpoint_every = 2
statistics_every = 2
preview = false
"""

SPHERES = """\
[scene]
name = "spheres"
model = "brownian"

[particles]
count = 30
start = "chains"
chain_length = 5

[physics]
time_step = 0.1
scheme = "midpoint"
repulsion = 5
spring = 5
spring_length = 2

[run]
steps = 6
device = "cpu"
deterministic = "run_to_run"

[output]
frame_every = 3
checkpoint_every = 2
statistics_every = 2
preview = false
"""


def rounds(usual):
    """How many disturbed runs a test makes: `usual`, unless the environment says otherwise; 0 stands for all."""
    return int(os.environ.get("QUADRAT_HOSTILE_ROUNDS", usual))


def sample(choices, count, name):
    """`count` of the choices, selected by the seed and the name of the test; all of them if count is 0."""
    if count == 0 or count >= len(choices):
        return list(choices)
    return random.Random(f"{SEED} {name}").sample(choices, count)


def npy(descr, shape, data):
    header = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}"
    header += " " * (63 - (len(header) + 10) % 64) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + data


def write_inputs(folder):
    """The good files that the commands read."""
    choice = random.Random(7)
    count = 40
    points = [[choice.random() for _ in range(3)] for _ in range(count)]
    flat = [x for point in points for x in point]
    lines = [",".join(map(repr, point)) for point in points]
    (folder / "points.csv").write_text("x,y,z\n" + "\n".join(lines) + "\n")
    (folder / "points.npy").write_bytes(npy("<f8", (count, 3), struct.pack(f"<{3 * count}d", *flat)))
    atoms = [f"Ar {' '.join(map(repr, point))}" for point in points]
    head = f'{count}\nLattice="1 0 0 0 1 0 0 0 1" Properties=species:S:1:pos:R:3 pbc="T T T"\n'
    (folder / "atoms.xyz").write_text(head + "\n".join(atoms) + "\n")
    bodies = [f"{line},{shape},0.1,0.08,0.06" for line, shape in zip(lines, ["ellipsoid", "box"] * count)]
    ions = [f"{' '.join(map(repr, point))} {1 - 2 * (k % 2)}" for k, point in enumerate(points)]
    head = f'{count}\nLattice="1 0 0 0 1 0 0 0 1" Properties=pos:R:3:charge:R:1 pbc="T T T"\n'
    (folder / "ions.xyz").write_text(2 * (head + "\n".join(ions) + "\n"))
    (folder / "bonds.txt").write_text("# bonds\n0 1\n2 3 0.5\n")
    (folder / "bodies.csv").write_text("x,y,z,shape,a,b,c\n" + "\n".join(bodies) + "\n")
    mesh = [choice.random() for _ in range(8**3)]
    (folder / "mesh.npy").write_bytes(npy("<f8", (8, 8, 8), struct.pack(f"<{8**3}d", *mesh)))
    keys = [choice.randrange(9) for _ in range(count)]
    (folder / "keys.npy").write_bytes(npy("<i4", (count,), struct.pack(f"<{count}i", *keys)))
    (folder / "values.npy").write_bytes(npy("<f8", (count, 3), struct.pack(f"<{3 * count}d", *flat)))
    for name, scene in [("grains", GRAINS), ("friction", FRICTION), ("circles", CIRCLES), ("flow", FLOW), ("spheres", SPHERES)]:
        (folder / f"{name}.toml").write_text(scene)
    picture = GRAINS.replace("preview = false", "preview = true").replace("frame_every = 3", "frame_every = 0")
    (folder / "picture.toml").write_text(picture)


@dataclasses.dataclass
class Command:
    name: str
    arguments: list
    output: str = ""  # the file, or the folder of a run
    prepare: list = dataclasses.field(default_factory=list)  # a command that runs first, undisturbed

    @property
    def is_run(self):
        return self.arguments[0] == "run"


def commands():
    def run(name, *more):
        return Command(f"run_{name}", ["run", f"../in/{name}.toml", "--output", "out", *more], "out")

    # GPU drivers themselves crash when out of memory.
    on_cpu = ["--device", "cpu"]
    resume = run("grains", "--resume")
    resume.name = "resume"
    resume.prepare = ["run", "../in/grains.toml", "--output", "out", "--steps", "4", "--quiet"]
    return [
        run("grains"),
        run("friction"),
        run("circles"),
        run("flow"),
        run("spheres"),
        run("picture"),
        resume,
        Command("neighbors", ["neighbors", "../in/points.csv", "--cutoff", "0.3", *on_cpu, "-o", "pairs.npy"], "pairs.npy"),
        Command("neighbors_xyz", ["neighbors", "../in/atoms.xyz", "--cutoff", "0.3", *on_cpu, "-o", "pairs.csv", "--json"],
                "pairs.csv"),
        Command("nearest", ["neighbors", "../in/points.csv", "--knn", "4", *on_cpu, "-o", "nearest.csv", "--json"], "nearest.csv"),
        Command("radii", ["neighbors", "../in/bodies.csv", "--radii", "a", *on_cpu, "-o", "pairs.csv", "--json"], "pairs.csv"),
        Command("rdf", ["neighbors", "../in/atoms.xyz", "--cutoff", "0.3", "--rdf", "--types", *on_cpu, "-o", "rdf.csv", "--json"],
                "rdf.csv"),
        Command("clusters", ["clusters", "../in/points.csv", "--cutoff", "0.3", "--min-points", "3", *on_cpu, "-o", "labels.csv", "--json"],
                "labels.csv"),
        Command("contacts", ["contacts", "../in/bodies.csv", *on_cpu, "-o", "contacts.npy"], "contacts.npy"),
        Command("contacts_csv", ["contacts", "../in/bodies.csv", *on_cpu, "-o", "contacts.csv", "--json"], "contacts.csv"),
        Command("spread", ["spread", "../in/points.npy", "--mesh", "8,8,8", "--box", "1,1,1", "--origin", "0,0,0",
                           *on_cpu, "-o", "mesh.vti"], "mesh.vti"),
        Command("interpolate", ["interpolate", "../in/points.npy", "--mesh-values", "../in/mesh.npy", "--box", "1,1,1", "--origin",
                                "0,0,0", *on_cpu, "-o", "values.npy"], "values.npy"),
        Command("nufft", ["nufft", "../in/points.npy", "../in/mesh.npy", "--type", "2", *on_cpu, "-o", "values.npy"], "values.npy"),
        Command("pairs", ["pairs", "../in/points.npy", "--edges", "0.1,0.2,0.3", *on_cpu, "-o", "counts.csv", "--json"], "counts.csv"),
        Command("spectrum", ["spectrum", "../in/points.npy", "--mesh", "8", "--box", "1,1,1", *on_cpu, "-o", "spectrum.csv", "--json"],
                "spectrum.csv"),
        Command("electrostatics", ["electrostatics", "../in/ions.xyz", "--exclusions", "../in/bonds.txt", "--virial", "--deterministic", *on_cpu,
                                   "-o", "forces.npy", "--json"], "forces.npy"),
        Command("reduce", ["reduce", "../in/keys.npy", "../in/values.npy", *on_cpu, "-o", "sums.npy"], "sums.npy"),
        *([] if shutil.which("nvidia-smi") else [Command("info", ["info", "--json"])]),
    ]  # fmt: skip


def keep(data, name):
    """Saves the cause of a failure so that it outlives the test; returns the file."""
    file = pathlib.Path(tempfile.mkdtemp(prefix="quadrat-hostile-")) / name
    file.write_bytes(data)
    return file


def contents(folder):
    """All files of a folder, by name."""
    return {str(file.relative_to(folder)): file.read_bytes() for file in folder.rglob("*") if file.is_file()}


class HostileTest(support.ProgramTest):
    """Runs a command with one failing call, and checks what it leaves behind."""

    def setUp(self):
        super().setUp()
        (self.folder / "in").mkdir()
        write_inputs(self.folder / "in")
        self.inputs = contents(self.folder / "in")

    def environment(self, **variables):
        return {**os.environ, "OMP_NUM_THREADS": "1", **{name: str(value) for name, value in variables.items()}}

    def start(self, command, folder, **variables):
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        if command.prepare:
            done = subprocess.run(self.command(*command.prepare), cwd=folder, capture_output=True, text=True,
                                  timeout=SECONDS, env=self.environment())  # fmt: skip
            self.assertEqual(done.returncode, 0, done.stderr)
        if variables.get("older") and command.output:
            (folder / command.output).write_text("older\n")
        variables.pop("older", None)
        return subprocess.run(self.command(*command.arguments), cwd=folder, capture_output=True, text=True,
                              timeout=SECONDS, env=self.environment(**variables))  # fmt: skip

    def undisturbed(self, command):
        """How often each call is made, and the files that come out."""
        folder, counts = self.folder / "whole", self.folder / "counts"
        done = self.start(command, folder, LD_PRELOAD=LIBRARY, QUADRAT_FAIL_COUNTS=counts)
        self.assertEqual((done.returncode, done.stderr), (0, ""), command.name)
        calls = dict(line.split() for line in counts.read_text().splitlines())
        return {name: int(number) for name, number in calls.items()}, contents(folder)

    def disturbed(self, command, whole, call, at, problem, always=False, threads=1):
        """One run in which that call fails. Returns what is wrong with it, or "" if nothing is."""
        global disturbed_runs
        disturbed_runs += 1
        folder = self.folder / "broken"
        older = at % 2 == 1 and not command.is_run
        variables = {"LD_PRELOAD": LIBRARY, "QUADRAT_FAIL_CALL": call, "QUADRAT_FAIL_AT": at,
                     "QUADRAT_FAIL_WITH": problem, "QUADRAT_FAIL_ALWAYS": int(always), "older": older,
                     "OMP_NUM_THREADS": threads}  # fmt: skip
        try:
            done = self.start(command, folder, **variables)
        except subprocess.TimeoutExpired:
            return f"it did not end within {SECONDS} s"
        found = contents(folder)
        wrong = self.wrong_end(done, threads > 1)
        if not wrong and contents(self.folder / "in") != self.inputs:
            wrong = "it changed its inputs"
        # A temporary file that cannot be removed stays.
        if not wrong and call != "unlink" and (hidden := [n for n in found if pathlib.Path(n).name.startswith(".")]):
            wrong = f"it left {hidden}"
        if not wrong and done.returncode == 0:
            wrong = self.wrong_result(command, whole, found)
        elif not wrong:
            wrong = self.wrong_rest(command, whole, found, folder, older)
        if not wrong:
            return ""
        line = " ".join(f"{n}={v}" for n, v in variables.items() if n != "older")
        return (f"{command.name}: {wrong}\n  status {done.returncode}, stderr {done.stderr!r}\n"
                f"  again: cd {self.folder}/broken && {line} {' '.join(self.command(*command.arguments))}")  # fmt: skip

    def wrong_end(self, done, several_threads):
        """Expects one line that says what failed, and a failing status."""
        lines = done.stderr.splitlines()
        # OpenMP's runtime ends the process with its own message if it has no memory for its threads.
        if several_threads and done.returncode == 1 and lines and lines[-1].startswith("libgomp: "):
            return ""
        if done.returncode == 0:
            return "" if not lines else "it succeeded, but printed errors"
        if done.returncode not in (1, 2):
            return "it crashed"
        return "" if len(lines) == 1 and lines[0].startswith("quadrat: ") else "it did not print one error"

    def wrong_result(self, command, whole, found):
        """Success means all files with the bits of the undisturbed run, except times that a run measures."""
        if set(whole) != set(found):
            return f"files differ: {sorted(set(whole) ^ set(found))}"
        for name, data in whole.items():
            if name.endswith("summary.json"):
                json.loads(found[name])
            elif name in ("out/steps.csv", "out/checkpoint.bin") and "out/steps.csv" in whole:
                continue
            elif data != found[name]:
                return f"{name} differs"
        return ""

    def wrong_rest(self, command, whole, found, folder, older):
        """After a failure a file is unchanged or complete; files of a run are complete, and the run can be resumed."""
        if not command.is_run:
            kept = {command.output: b"older\n"} if older else {}
            return "" if found == kept or found == whole else f"it left {sorted(found)}, which are not whole"
        try:
            self.assert_whole_files(folder)
        except (AssertionError, ValueError) as problem:
            return f"a file is not whole: {problem}"
        return self.wrong_resumption(command, whole, folder) if "out/checkpoint.bin" in found else ""

    def wrong_resumption(self, command, whole, folder):
        resume = [] if "--resume" in command.arguments else ["--resume"]
        done = subprocess.run(self.command(*command.arguments, *resume), cwd=folder, capture_output=True, text=True,
                              timeout=SECONDS, env=self.environment())  # fmt: skip
        if done.returncode != 0:
            return f"it cannot be resumed: {done.stderr!r}"
        wrong = self.wrong_result(command, whole, contents(folder))
        return f"resumed, {wrong}" if wrong else ""
