# SPDX-License-Identifier: BSD-3-Clause
"""Frames of a run, read by this package and by others (ASE, meshio, gsd), and written for them."""

import dataclasses
import json
import pathlib

import numpy as np
import pytest
import quadrat
import runs

from quadrat import frames


@pytest.fixture(scope="module")
def out(tmp_path_factory):
    return runs.run(tmp_path_factory.mktemp("run"))


def frame_in(out, suffix, step=60):
    return out / "frames" / f"frame_{step:08}.{suffix}"


def one(path):
    (frame,) = frames.read(path)
    return frame


def assert_same(frame, other):
    assert frame.time == other.time
    np.testing.assert_array_equal(frame.positions, other.positions)
    np.testing.assert_array_equal(frame.lower, other.lower)
    np.testing.assert_array_equal(frame.upper, other.upper)
    np.testing.assert_array_equal(frame.periodic, other.periodic)
    for name in set(frame.fields) & set(other.fields):
        np.testing.assert_array_equal(frame.fields[name], other.fields[name])


def test_a_run_is_read_frame_by_frame(out):
    read = list(frames.read(out))
    assert [frame.time for frame in read] == [0, 10, 20, 30] and [frame.step for frame in read] == [0, 20, 40, 60]
    last = read[-1]
    assert last.positions.shape == (500, 3) and last.positions.dtype == np.float32
    assert set(last.fields) == {"velocity", "speed", "radius", "id"}
    np.testing.assert_allclose(np.linalg.norm(last.fields["velocity"], axis=1), last.fields["speed"], rtol=1e-6)
    assert last.fields["radius"].tolist() == [1 / 64] * 500 and last.fields["id"].tolist() == list(range(500))
    assert (last.lower.tolist(), last.upper.tolist(), last.periodic.tolist()) == ([-0.25] * 3, [0.25] * 3, [False] * 3)
    assert (np.abs(last.positions) <= 0.25).all()
    assert last.positions[:, 1].mean() < read[0].positions[:, 1].mean() - 0.01


def test_all_formats_hold_the_same(out):
    vtp = one(frame_in(out, "vtp"))
    assert_same(vtp, one(frame_in(out, "vtu")))
    xyz = one(frame_in(out, "xyz"))
    assert set(xyz.fields) == {"species", "velocity", "radius", "id"}
    assert_same(vtp, xyz)


def test_frames_in_pieces_are_read_as_those_of_one_rank(out, tmp_path):
    canonical = ["run", out.parent / "scene.toml", "--deterministic=canonical"]
    runs.quadrat(*canonical, "--devices", 3, "--output", "three", cwd=tmp_path)
    runs.quadrat(*canonical, "--output", "one", cwd=tmp_path)
    three = list(frames.read(tmp_path / "three"))
    assert len(three) == 4
    for frame, other in zip(three, frames.read(tmp_path / "one")):
        assert_same(frame, other)
        assert set(frame.fields) == set(other.fields)
    assert_same(three[-1], one(frame_in(tmp_path / "three", "pvtu")))
    assert_same(three[-1], one(frame_in(tmp_path / "three", "xyz")))
    # A folder of one rank and of several, after a run has gone on with others.
    frame_in(tmp_path / "three", "pvtp").unlink()
    frame_in(tmp_path / "one", "vtp").rename(frame_in(tmp_path / "three", "vtp"))
    assert [frame.time for frame in frames.read(tmp_path / "three")] == [0, 10, 20, 30]
    piece = tmp_path / "three" / "frames" / "frame_00000020_1.vtp"
    piece.write_bytes(piece.read_bytes()[:-100])
    with pytest.raises(ValueError, match="frame_00000020_1.vtp is cut"):
        list(frames.read(tmp_path / "three"))


def test_vtk_reads_pieces(out, tmp_path):
    vtk = pytest.importorskip("vtk")
    numpy_of = pytest.importorskip("vtk.util.numpy_support").vtk_to_numpy
    runs.quadrat("run", out.parent / "scene.toml", "--devices", 3, "--output", "three", cwd=tmp_path)
    for kind, reader in [("pvtp", vtk.vtkXMLPPolyDataReader()), ("pvtu", vtk.vtkXMLPUnstructuredGridReader())]:
        ours = one(frame_in(tmp_path / "three", kind))
        reader.SetFileName(str(frame_in(tmp_path / "three", kind)))
        reader.Update()
        data = reader.GetOutput()
        np.testing.assert_array_equal(numpy_of(data.GetPoints().GetData()), ours.positions)
        for name, values in ours.fields.items():
            np.testing.assert_array_equal(numpy_of(data.GetPointData().GetArray(name)), values)


def test_ase_reads_xyz(out):
    ase_io = pytest.importorskip("ase.io")
    atoms, ours = ase_io.read(frame_in(out, "xyz")), one(frame_in(out, "vtp"))
    np.testing.assert_array_equal(atoms.positions.astype(np.float32), ours.positions)
    np.testing.assert_array_equal(atoms.arrays["velo"].astype(np.float32), ours.fields["velocity"])
    np.testing.assert_array_equal(atoms.arrays["radius"].astype(np.float32), ours.fields["radius"])
    np.testing.assert_array_equal(atoms.arrays["id"], ours.fields["id"])
    np.testing.assert_array_equal(np.asarray(atoms.cell), 0.5 * np.eye(3))
    assert not atoms.pbc.any() and atoms.info["Time"] == 30 and set(atoms.symbols) == {"X"}


def test_meshio_reads_vtu(out):
    meshio = pytest.importorskip("meshio")
    mesh, ours = meshio.read(frame_in(out, "vtu")), one(frame_in(out, "vtp"))
    np.testing.assert_array_equal(mesh.points, ours.positions)
    np.testing.assert_array_equal(mesh.point_data["velocity"], ours.fields["velocity"])
    np.testing.assert_array_equal(mesh.point_data["radius"][:, 0], ours.fields["radius"])
    assert [(block.type, len(block.data)) for block in mesh.cells] == [("vertex", 500)]


def test_the_program_reads_its_own_frames(out):
    text = runs.quadrat("neighbors", frame_in(out, "xyz"), "--cutoff", 0.03125, "--quiet", "-o", "-", cwd=out)
    points = one(frame_in(out, "xyz")).positions.astype(np.float64)
    distances = np.linalg.norm(points[:, None] - points[None], axis=2)
    assert len(text.splitlines()) - 1 == np.count_nonzero(distances < 0.03125) - 500


def test_gsd(out, tmp_path):
    hoomd = pytest.importorskip("gsd.hoomd")
    assert frames.write(tmp_path / "a.gsd", frames.read(out)) == 4
    ours = one(frame_in(out, "vtp"))
    with hoomd.open(tmp_path / "a.gsd") as read:
        assert [float(frame.log["configuration/time"][0]) for frame in read] == [0, 10, 20, 30]
        last = read[3]
    np.testing.assert_array_equal(last.particles.position, ours.positions)
    np.testing.assert_array_equal(last.particles.velocity, ours.fields["velocity"])
    np.testing.assert_array_equal(last.particles.diameter, 2 * ours.fields["radius"])
    assert last.configuration.box.tolist() == [0.5, 0.5, 0.5, 0, 0, 0]


def test_gsd_is_read_without_its_package(tmp_path):
    hoomd = pytest.importorskip("gsd.hoomd")
    with hoomd.open(tmp_path / "a.gsd", "w") as out:
        for k in range(3):
            one = hoomd.Frame()
            one.configuration.step = 10 * k
            one.configuration.box = [4, 6, 8, 0, 0, 0]
            one.particles.N = 3 + k
            one.particles.position = np.arange(9 + 3 * k).reshape(-1, 3) / 8 - 1
            one.particles.types, one.particles.typeid = ["H", "He"], [0, 1, 0] + [1] * k
            one.particles.velocity = one.particles.position * (k + 1)
            one.particles.diameter = [0.5] * (3 + k)
            one.log["configuration/time"], one.log["particles/heat"] = np.array([k / 2]), np.arange(3.0 + k)
            out.append(one)
    read = list(frames.read(tmp_path / "a.gsd"))
    assert [(one.time, one.step, len(one.positions)) for one in read] == [(0, 0, 3), (0.5, 10, 4), (1, 20, 5)]
    last = read[2]
    np.testing.assert_array_equal(last.positions, np.arange(15).reshape(-1, 3) / 8 - 1)
    np.testing.assert_array_equal(last.fields["velocity"], last.positions * 3)
    assert last.fields["species"].tolist() == ["H", "He", "H", "He", "He"]
    assert last.fields["radius"].tolist() == [0.25] * 5 and last.fields["heat"].tolist() == [0, 1, 2, 3, 4]
    assert (last.lower.tolist(), last.upper.tolist(), last.periodic.all()) == ([-2, -3, -4], [2, 3, 4], True)
    frames.write(tmp_path / "b.gsd", read)
    for frame, again in zip(read, frames.read(tmp_path / "b.gsd"), strict=True):
        assert_same(frame, again)
        assert frame.step == again.step and set(frame.fields) == set(again.fields)
    (tmp_path / "c.gsd").write_bytes((tmp_path / "b.gsd").read_bytes()[:-40])
    with pytest.raises(ValueError, match="c.gsd: .*cut"):
        list(frames.read(tmp_path / "c.gsd"))


@pytest.mark.parametrize("name", ["a.extxyz", "a.gsd"])
def test_the_program_reads_the_frames_that_the_package_writes(tmp_path, name):
    if name == "a.gsd":
        pytest.importorskip("gsd.hoomd")
    points = np.random.default_rng(3).uniform(-1, 1, (200, 3)).astype(np.float32)
    species = np.array(["O", "H"] * 100)
    box = np.full(3, -1.0), np.full(3, 1.0), np.full(3, True)
    frames.write(tmp_path / name, frames.Frame(0.0, points, {"species": species}, *box))
    found = json.loads(runs.quadrat("neighbors", name, "--cutoff", 0.5, "--json", cwd=tmp_path))
    assert found["pairs"] == len(quadrat.neighbor_list(points.astype(float), 0.5, box=[2, 2, 2], outputs="j"))
    report = json.loads(runs.quadrat("neighbors", name, "--cutoff", 0.5, "--rdf", "--types", "--json", cwd=tmp_path))
    assert report["rdf"]["species"] == ["H", "O"]


def test_lammps_dump(out, tmp_path):
    assert frames.write(tmp_path / "a.lammpstrj", frames.read(out)) == 4
    text = (tmp_path / "a.lammpstrj").read_text()
    assert text.startswith("ITEM: TIMESTEP\n0\nITEM: NUMBER OF ATOMS\n500\nITEM: BOX BOUNDS ff ff ff\n-0.25 0.25\n")
    assert text.count("ITEM: ATOMS id type x y z vx vy vz radius\n") == 4
    ase_io = pytest.importorskip("ase.io")
    read, ours = ase_io.read(tmp_path / "a.lammpstrj", index=3, format="lammps-dump-text"), one(frame_in(out, "vtp"))
    np.testing.assert_allclose(read.positions, ours.positions.astype(float), atol=1e-9)


def test_no_field_is_left_out(tmp_path):
    values = np.arange(6, dtype=np.float32).reshape(2, 3) / 7
    frame = frames.Frame(
        0.5, values, {"velocity": -values, "force": values * 3, "heat": values[:, 0], "charge": values[:, 1],
                      "pair": values[:, 1:]},
        np.zeros(3), np.ones(3), np.array([True, False, True])
    )  # fmt: skip
    frames.write(tmp_path / "a.xyz", [frame])
    read = one(tmp_path / "a.xyz")
    assert set(read.fields) == {*frame.fields, "species", "id"}
    assert_same(frame, read)
    frames.write(tmp_path / "a.lammpstrj", [frame])
    head, row = (tmp_path / "a.lammpstrj").read_text().splitlines()[8:10]
    assert head == "ITEM: ATOMS id type x y z vx vy vz c_force_x c_force_y c_force_z c_heat q c_pair_0 c_pair_1"
    expected = [*values[0], *-values[0], *values[0] * 3, values[0, 0], values[0, 1], *values[0, 1:]]
    assert [np.float32(word) for word in row.split()] == [1, 1, *expected]


def test_xyz_and_vtu_are_written_and_read_back(out, tmp_path):
    ours = list(frames.read(out))
    assert frames.write(tmp_path / "a.xyz", ours) == 4
    for frame, read in zip(ours, frames.read(tmp_path / "a.xyz"), strict=True):
        assert_same(frame, read)
    meshio = pytest.importorskip("meshio")
    frames.main([str(out), "-o", str(tmp_path / "a.vtu"), "--frame", "-1"])
    np.testing.assert_array_equal(meshio.read(tmp_path / "a.vtu").points, ours[-1].positions)
    with pytest.raises(ValueError, match="one frame, not 4"):
        frames.write(tmp_path / "b.vtu", ours)
    assert sorted(file.name for file in tmp_path.iterdir()) == ["a.vtu", "a.xyz"]


# In a skewed box, out of order, with scaled positions.
DUMP = """ITEM: UNITS
metal
ITEM: TIME
2.5
ITEM: TIMESTEP
40
ITEM: NUMBER OF ATOMS
2
ITEM: BOX BOUNDS xy xz yz pp pp pp
1.0 8.0 2.0
0.0 3.0 1.0
-1.0 3.0 0.5
ITEM: ATOMS id element xs ys zs vx vy vz q c_heat
7 O 0.5 0.5 0.5 1 2 3 -1 0.25
3 H 0.25 0 0.5 0 0 1 1 0.5
"""


def test_dumps_of_lammps_are_read_in_order_of_id(tmp_path):
    (tmp_path / "a.dump").write_text(2 * DUMP)
    first, second = frames.read(tmp_path / "a.dump")
    assert_same(first, second)
    vectors = np.array([[4.0, 0, 0], [2, 2.5, 0], [1, 0.5, 4]])
    np.testing.assert_array_equal(first.vectors, vectors)
    assert (first.lower.tolist(), first.time, first.step, first.periodic.all()) == ([1, 0, -1], 2.5, 40, True)
    scaled = np.array([[0.25, 0, 0.5], [0.5, 0.5, 0.5]])
    np.testing.assert_allclose(first.positions, first.lower + scaled @ vectors, rtol=1e-6)
    assert {name: values.tolist() for name, values in first.fields.items()} == {
        "id": [2, 6], "species": ["H", "O"], "velocity": [[0, 0, 1], [1, 2, 3]], "charge": [1, -1], "heat": [0.5, 0.25]}  # fmt: skip
    found = quadrat.neighbor_list(first, 4.5, outputs="d", sorted=True)
    wanted = quadrat.neighbor_list(first.positions, 4.5, vectors, origin=first.lower, outputs="d", sorted=True)
    assert len(found) > 10 and np.array_equal(found, wanted)
    frames.write(tmp_path / "a.xyz", [first])
    np.testing.assert_array_equal(one(tmp_path / "a.xyz").vectors, vectors)
    for name in ("a.gsd", "a.lammpstrj"):
        if name == "a.gsd":
            pytest.importorskip("gsd.hoomd")
        with pytest.raises(ValueError, match="cell of the frame at t = 2.5 is oblique; .* boxes along the axes"):
            frames.write(tmp_path / name, [first])


def test_dumps_are_read_back_as_they_were_written(out, tmp_path):
    ours = list(frames.read(out))
    frames.write(tmp_path / "a.lammpstrj", ours)
    for frame, read in zip(ours, frames.read(tmp_path / "a.lammpstrj"), strict=True):
        assert (frame.step, set(read.fields)) == (read.step, {"id", "type", "velocity", "radius"})
        read.time = frame.time  # dumps have steps
        assert_same(frame, read)


def test_trajectories_of_ase_are_read_frame_by_frame(tmp_path):
    ase = pytest.importorskip("ase")
    trajectory = pytest.importorskip("ase.io.trajectory")
    water = ase.Atoms("OH2", [[0, 0, 0], [0, 0, 1], [0, 1, 0]], cell=[[4, 0, 0], [1, 5, 0], [0, 0, 6]], pbc=True)
    water.set_velocities([[1, 2, 3], [0, 0, 0], [4, 5, 6]])
    slab = ase.Atoms("Cu2", [[0, 0, 0], [1, 1, 9]], cell=[3, 3, 0], pbc=[True, True, False])
    with trajectory.Trajectory(str(tmp_path / "a.traj"), "w") as out:
        for atoms in (water, slab):
            out.write(atoms)
    reading = frames.read(tmp_path / "a.traj")
    first, second = next(reading), next(reading)
    np.testing.assert_array_equal(first.vectors, water.cell)
    np.testing.assert_allclose(first.fields["velocity"], water.get_velocities(), rtol=1e-6)
    assert first.fields["species"].tolist() == ["O", "H", "H"] and second.vectors is None
    assert (second.lower.tolist(), second.upper.tolist(), second.periodic.tolist()) == ([0, 0, 0], [3, 3, 9], [True, True, False])
    import quadrat.ase

    for frame, atoms in ((first, water), (second, slab)):
        assert len(quadrat.neighbor_list(frame, 4.0, outputs="i")) == len(quadrat.ase.neighbor_list("i", atoms, 4.0)) > 0
    whole = (tmp_path / "a.traj").read_bytes()
    for content in (b"1\n\nX 0 0 0\n", b"", *(whole[:size] for size in range(8, len(whole) // 2, 97))):
        (tmp_path / "b.traj").write_bytes(content)
        with pytest.raises(ValueError, match="b.traj is not a trajectory of ASE, or is cut"):
            list(frames.read(tmp_path / "b.traj"))


WATER = pathlib.Path(__file__).parents[2] / "examples" / "data" / "water.xyz"


def test_calls_take_frames_with_their_boxes():
    frame = next(frames.read(WATER))
    box = frame.upper - frame.lower
    arrays = {"box": box, "periodic": frame.periodic, "origin": frame.lower}
    for call in (quadrat.neighbor_list, quadrat.clusters):
        for found, wanted in zip(call(frame, 1.2), call(frame.positions, 1.2, **arrays)):
            np.testing.assert_array_equal(found, wanted)
    np.testing.assert_array_equal(quadrat.knn(frame, 4).indices, quadrat.knn(frame.positions, 4, **arrays).indices)
    kept = quadrat.NeighborList(1.2, outputs="i")
    assert kept.update(frame) and np.array_equal(kept.arrays(), kept.build(frame.positions, **arrays).arrays())
    with pytest.raises(ValueError, match="box is given beside a frame, which has its own"):
        quadrat.clusters(frame, 1.2, box)


def test_radial_distributions_read_frames_one_by_one(tmp_path):
    frame = next(frames.read(WATER))
    other = dataclasses.replace(frame, positions=frame.positions[::-1], upper=frame.upper + 1)
    other.fields = {"species": frame.fields["species"][::-1]}
    both, alive = [frame, other], []

    def reading():
        for one in both:
            alive.append(one)
            yield one

    boxes = [one.upper - one.lower for one in both]
    species = [one.fields["species"].tolist() for one in both]
    wanted = quadrat.rdf([one.positions for one in both], 4.0, boxes, origin=frame.lower, types=species)
    for given in (reading(), both, [*both]):
        found = quadrat.rdf(given, 4.0, types="species")
        assert found.types == wanted.types == ("H", "O")
        np.testing.assert_array_equal(found.counts, wanted.counts)
        np.testing.assert_allclose(found.rdf, wanted.rdf)
    assert len(alive) == 2
    one = quadrat.rdf(frame, 4.0)
    np.testing.assert_array_equal(one.counts, quadrat.rdf(frame.positions, 4.0, boxes[0], origin=frame.lower).counts)
    with pytest.raises(ValueError, match="types is 'kind'; the frames have the fields species"):
        quadrat.rdf(frame, 4.0, types="kind")
    other.fields = {"species": np.where(np.arange(len(other.positions)) == 3, "N", "O")}
    with pytest.raises(ValueError, match="frame 1 has the species 'N', which the first frame lacks"):
        quadrat.rdf(both, 4.0, types="species")
    other.fields = {}
    with pytest.raises(ValueError, match="frame 1 has no field species, which the first frame has"):
        quadrat.rdf(both, 4.0, types="species")
    with pytest.raises(ValueError, match="there are no frames"):
        quadrat.rdf(iter([]), 4.0)


def test_bad_input_is_named(out, tmp_path):
    with pytest.raises(FileNotFoundError, match="there is no"):
        list(frames.read(tmp_path / "nowhere"))
    with pytest.raises(FileNotFoundError, match="holds no frames; a run writes them where"):
        list(frames.read(tmp_path))
    whole = frame_in(out, "vtp").read_bytes()
    for name, content, words in [
        ("cut.vtp", whole[:-9000], "is cut: the array"),
        ("other.vtp", b"<VTKFile/>", "is not a frame of quadrat run"),
        ("a.png", b"", "those end in .vtp, .vtu, .pvtp, .pvtu, .xyz, .extxyz, .gsd, .lammpstrj, .dump, .traj"),
        ("none.pvtp", b"<VTKFile/>", "lists no pieces"),
        ("word.xyz", b"two\n\n", 'word.xyz:1: the first line must be the number of atoms, but is "two"'),
        ("cut.xyz", b"2\n\nX 1 2 3\n", "cut.xyz:3: the file ends after 1 of 2 atoms"),
        ("letter.xyz", b"1\n\nX 1 2 three\n", 'letter.xyz:3: column 4 .z. is "three"'),
        ("word.dump", b"ITEM: TIMESTEP\n0\natoms\n", "word.dump:3: a line is 'atoms'; one that begins with ITEM"),
        ("bounds.dump", b"ITEM: BOX BOUNDS pp pp pp\n0 1\n0 x\n0 1\n", "bounds.dump:3: BOX BOUNDS are '0 x'; 2 numbers"),
        ("cut.dump", DUMP.encode()[:-12], "cut.dump.*(is cut|values)"),
        ("none.dump", DUMP.replace("xs ys zs", "fx fy fz").encode(), "none.dump:13: positions are missing"),
        ("flat.dump", b"ITEM: BOX BOUNDS pp pp ff\n0 1\n3 3\n0 0\n", "flat.dump:3: the box is from 3 to 3 along a periodic"),
        ("few.dump", DUMP.replace("ATOMS\n2", "ATOMS\n-2").encode(), "few.dump:8: NUMBER OF ATOMS is -2; a whole number"),
        ("half.dump", DUMP.replace("ATOMS\n2", "ATOMS\n2.5").encode(), "half.dump:8: NUMBER OF ATOMS is 2.5; a whole"),
        ("endless.dump", DUMP.replace("ATOMS\n2", "ATOMS\ninf").encode(), "NUMBER OF ATOMS is inf; a whole number"),
        ("late.dump", DUMP.replace("\n40", "\nnan").encode(), "late.dump:6: TIMESTEP is nan; a whole number"),
        ("name.dump", DUMP.replace("7 O", "seven O").encode(), "name.dump:13: id is not a whole number in each row"),
        ("id.dump", DUMP.replace("7 O", f"{2**64} O").encode(), "id.dump:13: id is not a whole number"),
        ("fast.dump", DUMP.replace("1 2 3", "1 x 3").encode(), "fast.dump:13: vy is not a number in each row"),
        ("box.dump", b"ITEM: NUMBER OF ATOMS\n1\nITEM: ATOMS id x y z\n1 0 0 0\n", "box.dump:3: ITEM: BOX BOUNDS is missing"),
        ("grammar.extxyz", b"1\nLattice=[[1, 0], [0]]\nX 0 0 0\n", "grammar.extxyz:2: the rows of Lattice differ"),
    ]:
        (tmp_path / name).write_bytes(content)
        with pytest.raises(ValueError, match=words):
            list(frames.read(tmp_path / name))
    with pytest.raises(ValueError, match="ends otherwise"):
        frames.write(tmp_path / "a.pdb", [])
    with pytest.raises(ValueError, match="--frame is 4; .* has 4 frames"):
        frames.main([str(out), "-o", str(tmp_path / "a.xyz"), "--frame", "4"])
    with pytest.raises(FileNotFoundError, match="folder"):
        frames.write(tmp_path / "nowhere" / "a.xyz", [])


def test_large_ids_stay_exact(tmp_path):
    (tmp_path / "a.xyz").write_text("1\nProperties=species:S:1:pos:R:3:id:I:1\nX 0 0 0 16777217\n")
    assert one(tmp_path / "a.xyz").fields["id"].tolist() == [16777217]


@pytest.mark.parametrize("equals", ["=", " = "])
@pytest.mark.parametrize("pbc", ['"True False TRUE"', '"T F T"', "[T, false, true]", "{TRUE FALSE True}"])
@pytest.mark.parametrize(
    "lattice", ['"2 0 0 0 3 0 0 0 4"', "[[2, 0, 0], [0, 3, 0], [0, 0, 4]]", '"2.D0 0 0 0 .3d+1 0 0 0 4"']
)
def test_the_grammar_of_extended_xyz_is_the_program_s(tmp_path, equals, pbc, lattice):
    comment = f"Lattice = {lattice} pbc = {pbc} Properties = species:S:1:velo:R:3:pos:R:3:fixed:L:1:kind:I:1 Time = 1.5"
    comment += r' note = "a \"pbc=F\" b" Origin = {1 0 0}'
    (tmp_path / "a.extxyz").write_text(f"1\n{comment.replace(' = ', equals)}\nHe 7 8 9 1 2 3.5D-1 F 16777217\n")
    frame = one(tmp_path / "a.extxyz")
    assert frame.positions.tolist() == [[1, 2, np.float32(0.35)]] and frame.fields["velocity"].tolist() == [[7, 8, 9]]
    assert frame.periodic.tolist() == [True, False, True] and frame.time == 1.5
    assert (frame.lower.tolist(), frame.upper.tolist()) == ([1, 0, 0], [3, 3, 4])
    assert frame.fields["species"].tolist() == ["He"] and frame.fields["fixed"].tolist() == [False]
    assert frame.fields["kind"].tolist() == [16777217]
    frames.write(tmp_path / "b.extxyz", frame)
    again = one(tmp_path / "b.extxyz")
    assert_same(frame, again)
    assert set(again.fields) == {*frame.fields, "id"}


def test_open_files_have_no_box(tmp_path):
    (tmp_path / "a.xyz").write_text('2\npbc = "F F F" Lattice="2 0 0 0 3 0 0 0 0"\nX 0 0 5\nX 1 1 7\n')
    frame = one(tmp_path / "a.xyz")
    assert not frame.periodic.any() and (frame.lower.tolist(), frame.upper.tolist()) == ([0, 0, 5], [2, 3, 7])


def test_an_empty_frame(tmp_path):
    (tmp_path / "a.xyz").write_text('0\nLattice="1 0 0 0 1 0 0 0 1" Properties=species:S:1:pos:R:3\n')
    frame = one(tmp_path / "a.xyz")
    assert frame.positions.shape == (0, 3)
    assert frames.write(tmp_path / "b.lammpstrj", [frame]) == 1
