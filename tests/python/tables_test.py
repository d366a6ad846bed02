# SPDX-License-Identifier: BSD-3-Clause
"""Columns of HDF5 snapshots and FITS tables, as h5py and astropy write them, and what is refused."""

import tracemalloc

import numpy as np
import pytest
import quadrat

from quadrat import tables

RNG = np.random.default_rng(1)
POINTS = RNG.uniform(0, 100, (1000, 3)).astype(np.float32)
IDS = RNG.permutation(1000).astype(np.uint64) + 2**60 + 1


@pytest.fixture
def h5py():
    return pytest.importorskip("h5py")


@pytest.fixture
def fits():
    return pytest.importorskip("astropy.io.fits")


def snapshot(h5py, path, columns, box=100.0, total=None, files=1, **header):
    """A snapshot, or one of its files."""
    count = len(next(iter(columns.values()), ()))
    with h5py.File(path, "w") as file:
        attributes = file.create_group("Header").attrs
        total = count if total is None else total
        attributes.update({"NumFilesPerSnapshot": files, "NumPart_Total": np.array([0, total, 0], np.uint32)}, **header)
        if box is not None:
            attributes["BoxSize"] = box
        for name, values in columns.items():
            file[f"PartType1/{name}"] = values
    return path


def test_a_snapshot_keeps_types_and_ids(h5py, tmp_path):
    columns = {"Coordinates": POINTS.astype(">f4"), "ParticleIDs": IDS}
    table = tables.open(snapshot(h5py, tmp_path / "a.hdf5", columns, MassTable=[0.0, 2.5, 0.0], Redshift=0.5))
    points, ids, masses = table.read("Coordinates", "ParticleIDs", "Masses")
    assert points.dtype == np.float32 and points.dtype.isnative and ids.dtype == np.uint64 and len(table) == 1000
    np.testing.assert_array_equal(points, POINTS)
    np.testing.assert_array_equal(ids, IDS)
    np.testing.assert_array_equal(masses, np.full(1000, 2.5))
    np.testing.assert_array_equal(table.box, [100, 100, 100])
    assert table.header["Redshift"] == 0.5 and "Coordinates" in repr(table)
    found = quadrat.pair_counts(points, [0.0, 1.0, 10.0], table.box)
    np.testing.assert_array_equal(found.counts, quadrat.pair_counts(POINTS, [0.0, 1.0, 10.0], [100] * 3).counts)


def split(h5py, folder, cuts=(0, 400, 400, 1000), **facts):
    for k, (first, end) in enumerate(zip(cuts[:-1], cuts[1:])):
        columns = {"Coordinates": POINTS[first:end], "ParticleIDs": IDS[first:end]} if end > first else {}
        snapshot(h5py, folder / f"snap_000.{k}.hdf5", columns, total=1000, files=len(cuts) - 1, **facts)
    return folder / "snap_000.0.hdf5"


def test_files_of_one_snapshot_are_one_table(h5py, tmp_path):
    table = tables.open(split(h5py, tmp_path, box=[100.0, 200.0, 300.0]))
    parts = list(table.chunks("ParticleIDs", "Coordinates", rows=300))
    assert [len(ids) for ids, _ in parts] == [300, 100, 300, 300]
    np.testing.assert_array_equal(np.concatenate([ids for ids, _ in parts]), IDS)
    np.testing.assert_array_equal(table.read("Coordinates")[0], POINTS)
    np.testing.assert_array_equal(table.box, [100, 200, 300])


def test_a_missing_file_of_a_snapshot_is_named(h5py, tmp_path):
    first = split(h5py, tmp_path)
    (tmp_path / "snap_000.2.hdf5").unlink()
    with pytest.raises(ValueError, match=r"snap_000\.2\.hdf5 is missing; the snapshot has 3 files"):
        tables.open(first)


def test_meshes_of_chunks_add_up(h5py, tmp_path):
    table = tables.open(split(h5py, tmp_path))
    mesh = sum(quadrat.spread(points, np.ones(len(points), points.dtype), table.box, 16)
               for (points,) in table.chunks("Coordinates", rows=100))  # fmt: skip
    np.testing.assert_allclose(mesh, quadrat.spread(POINTS, np.ones(1000, np.float32), [100] * 3, 16), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(
    "columns, facts, words",
    [
        ({"Coordinates": POINTS, "ParticleIDs": IDS[:5]}, {}, "different lengths"),
        ({"Coordinates": POINTS.reshape(10, 10, 10, 3)}, {"total": 10}, r"shape \(10, 10, 10, 3\)"),
        ({"Coordinates": POINTS}, {"total": 999}, "1000 particles of PartType1; its header says 999"),
        ({"Coordinates": POINTS}, {"box": [1.0, 2.0]}, "BoxSize"),
        ({"Coordinates": POINTS}, {"box": -1.0}, "BoxSize"),
        ({"Coordinates": POINTS}, {"files": 2}, "no number in its name"),
    ],
)
def test_wrong_snapshots_are_refused(h5py, tmp_path, columns, facts, words):
    with pytest.raises(ValueError, match=words):
        tables.open(snapshot(h5py, tmp_path / "a.hdf5", columns, **facts))


def test_what_is_not_there_is_named_with_what_is(h5py, tmp_path):
    path = snapshot(h5py, tmp_path / "a.hdf5", {"Coordinates": POINTS, "Names": np.full(1000, b"x")}, box=0.0)
    assert tables.open(path).box is None
    with pytest.raises(ValueError, match="no column 'Position'; it has Coordinates, Names"):
        tables.open(path).chunks("Position")
    with pytest.raises(ValueError, match="no group 'PartType4'; it has PartType1"):
        tables.open(path, "PartType4")
    with pytest.raises(ValueError, match="Names has the type"):
        tables.open(path).read("Names")
    with pytest.raises(FileNotFoundError):
        tables.open(tmp_path / "b.hdf5")
    with pytest.raises(ValueError, match="ends otherwise"):
        tables.open(tmp_path / "b.txt")


@pytest.mark.filterwarnings("ignore:File may have been truncated")
def test_cut_files_are_refused(h5py, fits, tmp_path):
    path = snapshot(h5py, tmp_path / "a.hdf5", {"Coordinates": POINTS})
    path.write_bytes(path.read_bytes()[:-4000])
    with pytest.raises(ValueError, match=r"a\.hdf5.*cut"):
        tables.open(path).read("Coordinates")
    path = catalog(fits, tmp_path / "a.fits", fits.Column("RA", "D", array=np.arange(1000.0)))
    path.write_bytes(path.read_bytes()[:-5000])
    with pytest.raises(ValueError, match=r"a\.fits is cut"):
        tables.open(path).read("RA")
    path.write_bytes(b"SIMPLE")
    with pytest.raises(ValueError, match=r"a\.fits"):
        tables.open(path)


def test_no_particles_are_an_empty_table(h5py, fits, tmp_path):
    path = snapshot(h5py, tmp_path / "a.hdf5", {"Coordinates": POINTS[:0], "ParticleIDs": IDS[:0]})
    points, ids = tables.open(path).read("Coordinates", "ParticleIDs")
    assert points.shape == (0, 3) and points.dtype == np.float32 and ids.dtype == np.uint64
    path = catalog(fits, tmp_path / "a.fits", fits.Column("RA", "D", array=np.zeros(0)))
    assert tables.open(path).read("RA")[0].shape == (0,)


def catalog(fits, path, *columns):
    fits.BinTableHDU.from_columns(columns, name="DATA").writeto(path, overwrite=True)
    return path


def test_fits_columns_are_those_of_astropy(fits, tmp_path):
    columns = [
        fits.Column("RA", "D", unit="deg", array=np.linspace(0, 360, 1000)),
        fits.Column("XYZ", "3E", array=POINTS),
        fits.Column("ID", "K", bzero=2**63, array=IDS),
        fits.Column("SIGNED", "K", array=(IDS - 2**62).astype(np.int64)),
        fits.Column("SCALED", "I", array=np.arange(1000)),
        fits.Column("NAME", "5A", array=np.full(1000, "abc")),
    ]
    path = catalog(fits, tmp_path / "a.fits", *columns)
    fits.setval(path, "TSCAL5", ext=1, value=0.5)
    fits.setval(path, "TZERO5", ext=1, value=3.0)
    table = tables.open(path, "DATA")
    with fits.open(tmp_path / "a.fits") as file:
        for name in ("RA", "XYZ", "ID", "SIGNED", "SCALED"):
            wanted = file[1].data[name]
            (found,) = table.read(name)
            assert found.dtype == np.dtype(wanted.dtype).newbyteorder("=") and found.dtype.isnative, name
            np.testing.assert_array_equal(found, wanted)
            np.testing.assert_array_equal(np.concatenate([one for (one,) in table.chunks(name, rows=77)]), wanted)
    assert table.columns["RA"]["unit"] == "deg" and table.box is None and len(table) == 1000
    with pytest.raises(ValueError, match="NAME has the format 5A"):
        table.read("NAME")
    with pytest.raises(ValueError, match="no column 'DEC'; it has RA, XYZ"):
        table.read("DEC")
    with pytest.raises(ValueError, match="no binary table 'RANDOMS'; it has 1 DATA"):
        tables.open(tmp_path / "a.fits", "RANDOMS")


def test_nulls_are_refused_with_their_row(fits, tmp_path):
    values = np.arange(1000)
    values[321] = -99
    table = tables.open(catalog(fits, tmp_path / "a.fits", fits.Column("W", "J", null=-99, array=values)))
    with pytest.raises(ValueError, match="column W has no value .* in row 321"):
        list(table.chunks("W", rows=100))


@pytest.mark.parametrize("kind", ["hdf5", "fits"])
def test_chunks_need_the_memory_of_a_chunk(request, tmp_path, kind):
    library, path = request.getfixturevalue({"hdf5": "h5py", "fits": "fits"}[kind]), tmp_path / f"a.{kind}"
    many = np.zeros((400_000, 3))
    if kind == "hdf5":
        snapshot(library, path, {"Coordinates": many})
    else:
        catalog(library, path, library.Column("Coordinates", "3D", array=many))
    table = tables.open(path)
    list(table.chunks("Coordinates", rows=400_000))
    tracemalloc.start()
    rows = sum(len(points) for (points,) in table.chunks("Coordinates", rows=10_000))
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert rows == 400_000 and most < many.nbytes / 8


@pytest.mark.parametrize("package, suffix", [("h5py", "hdf5"), ("astropy", "fits")])
def test_a_missing_package_is_named(monkeypatch, tmp_path, package, suffix):
    monkeypatch.setattr("importlib.import_module", absent(package))
    (tmp_path / f"a.{suffix}").touch()
    with pytest.raises(ImportError, match=rf'{package}.* is not installed; it comes with pip install "quadrat\[files\]"'):
        tables.open(tmp_path / f"a.{suffix}")


def absent(package):
    def import_module(name):
        raise ModuleNotFoundError(f"No module named {package!r}", name=package)

    return import_module


def test_damaged_snapshots_are_read_or_named(h5py, tmp_path):
    raw = snapshot(h5py, tmp_path / "a.hdf5", {"Coordinates": POINTS[:50], "ParticleIDs": IDS[:50]}).read_bytes()
    damaged, refused = tmp_path / "b.hdf5", 0
    for _ in range(200):
        content = bytearray(raw)
        for at in RNG.integers(0, len(raw), 3):
            content[at] = RNG.integers(0, 256)
        damaged.write_bytes(content)
        try:
            tables.open(damaged).read("Coordinates", "ParticleIDs")
        except ValueError as problem:
            assert str(damaged) in str(problem)
            refused += 1
    assert refused > 20
