# SPDX-License-Identifier: BSD-3-Clause
"""The way of arrays through the library for GPUs, on machines without one: that library is replaced by one that works on
the CPU, and arrays say that they are on a GPU."""

import ctypes
import os
import pathlib
import subprocess
import sys

import numpy as np
import pytest
import quadrat

STANDIN = pathlib.Path(quadrat.__file__).resolve().parents[1] / "standin"
LIBRARY = STANDIN / "quadrat_cuda13" / "libquadrat_cuda13.so"
if not LIBRARY.is_file():
    pytest.skip("the package is not that of a build with tests", allow_module_level=True)

POINTS = np.random.default_rng(1).uniform(0, 3, (500, 3)).astype(np.float32)
CHARGES = np.where(np.arange(500) % 2, 1, -1).astype(np.float32)
BOX = [3.0, 3.0, 3.0]


class Array:
    """Of an unknown library, in the memory of GPU 0."""

    def __init__(self, array):
        self.array = np.asarray(array)
        self.shape, self.dtype, self.ndim = self.array.shape, self.array.dtype, self.array.ndim

    def __dlpack_device__(self):
        return (2, 0)

    def __dlpack__(self, *, stream=None, max_version=None):
        assert isinstance(stream, int)
        return self.array.__dlpack__()

    def astype(self, dtype):
        return Array(self.array.astype(dtype))


class Tensor(ctypes.Structure):
    """DLTensor."""

    _fields_ = [("data", ctypes.c_void_p), ("device", ctypes.c_int * 2), ("ndim", ctypes.c_int),
                ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16),
                ("shape", ctypes.POINTER(ctypes.c_int64))]  # fmt: skip


def on_host(result):
    """The elements of a result, whose memory is the host's here."""
    assert tuple(result.__dlpack_device__()) == (2, 0)
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    capsule = result.__dlpack__()
    tensor = Tensor.from_address(pointer(capsule, b"dltensor"))
    shape = tensor.shape[: tensor.ndim]
    kind = {(0, 32): np.int32, (0, 64): np.int64, (2, 32): np.float32, (2, 64): np.float64, (5, 64): np.complex64}
    dtype = np.dtype(kind[tensor.code, tensor.bits])
    size = int(np.prod(shape)) * dtype.itemsize
    return np.frombuffer((ctypes.c_char * size).from_address(tensor.data), dtype).reshape(shape).copy()


@pytest.fixture(scope="module", autouse=True)
def library():
    sys.path.insert(0, str(STANDIN))
    try:
        quadrat.neighbor_list(Array(POINTS), 0.1)
    finally:
        sys.path.remove(str(STANDIN))


def check(found, wanted):
    assert len(found) == len(wanted)
    for mine, other in zip(found, wanted):
        np.testing.assert_array_equal(on_host(mine), other)
        assert on_host(mine).dtype == other.dtype


def test_results_are_in_the_memory_of_the_gpu_and_have_the_numbers_of_the_cpu():
    arguments = {"box": BOX, "sorted": True, "outputs": "ijSdDn"}
    for _ in range(3):  # later calls work with the list of the first
        check(quadrat.neighbor_list(Array(POINTS), 0.4, **arguments), quadrat.neighbor_list(POINTS, 0.4, **arguments))
    for dtype in (np.int32, np.int64, np.uint32, np.int16):
        systems = np.arange(500).astype(dtype) % 7
        check(quadrat.neighbor_list(Array(POINTS), 0.4, systems=Array(systems), **arguments),
              quadrat.neighbor_list(POINTS, 0.4, systems=systems, **arguments))  # fmt: skip
    check(quadrat.knn(Array(POINTS), 3, shifts=True), quadrat.knn(POINTS, 3, shifts=True))
    check([quadrat.clusters(Array(POINTS), 0.2)], [quadrat.clusters(POINTS, 0.2)])
    check(quadrat.clusters(Array(POINTS), 0.2, members=True), quadrat.clusters(POINTS, 0.2, members=True))
    check(quadrat.contacts(Array(POINTS), 0.1, sorted=True), quadrat.contacts(POINTS, 0.1, sorted=True))
    cells = [quadrat.CellList(BOX, 4, deterministic="run_to_run").build(points) for points in (Array(POINTS), POINTS)]
    check([cells[0].offsets, cells[0].indices], [cells[1].offsets, cells[1].indices])
    keys = np.arange(500) % 7
    check([quadrat.reduce_by_key(Array(keys), Array(POINTS), deterministic="run_to_run")],
          [quadrat.reduce_by_key(keys, POINTS, deterministic="run_to_run")])  # fmt: skip
    check([quadrat.count_keys(Array(keys))], [quadrat.count_keys(keys)])
    sums = quadrat.Ewald(1e-3, deterministic="run_to_run")
    parts = [sums.compute(p, q, BOX, virial=True) for p, q in ((Array(POINTS), Array(CHARGES)), (POINTS, CHARGES))]
    check([parts[0].forces, parts[0].virial], [parts[1].forces, parts[1].virial])
    assert parts[0].energy == parts[1].energy
    counts = [quadrat.rdf([p, p], 0.5, box=BOX, bins=9).counts for p in (Array(POINTS), POINTS)]
    np.testing.assert_array_equal(*counts)


def test_state_objects_follow_their_points():
    plan = quadrat.SpreadPlan(BOX, 8, dtype=np.float32, deterministic="run_to_run").set_points(POINTS)
    wanted = plan.spread(CHARGES)
    check([plan.set_points(Array(POINTS)).spread(Array(CHARGES))], [wanted])
    check([plan.interpolate(Array(wanted))], [quadrat.interpolate(POINTS, wanted, BOX, deterministic="run_to_run")])
    with pytest.raises(ValueError, match="values are in CPU memory.*GPU 0"):
        plan.spread(CHARGES)
    np.testing.assert_array_equal(plan.set_points(POINTS).spread(CHARGES), wanted)
    transform = quadrat.Nufft((4, 4, 4), 1e-3, dtype=np.float32, deterministic="run_to_run")
    modes = transform.set_points(POINTS).type1(CHARGES)
    check([transform.set_points(Array(POINTS)).type1(Array(CHARGES))], [modes])
    neighbors = quadrat.NeighborList(0.4, skin=0.1, outputs="n")
    assert neighbors.update(POINTS) and neighbors.update(Array(POINTS)) and not neighbors.update(Array(POINTS))
    check([neighbors.arrays()], [quadrat.neighbor_list(POINTS, 0.5, outputs="n")])


def test_errors_have_the_words_of_the_cpu():
    with pytest.raises(ValueError, match=r"systems\[1\] is -1"):
        quadrat.neighbor_list(Array(POINTS), 0.4, systems=Array(-np.arange(500)))
    with pytest.raises(ValueError, match="key 3; keys must be 0 to 2"):
        quadrat.reduce_by_key(Array(np.arange(500)), Array(POINTS), key_count=3)
    with pytest.raises(TypeError, match="float16"):
        quadrat.neighbor_list(Array(POINTS.astype(np.float16)), 0.4)
    with pytest.raises(ValueError, match="not C-ordered"):
        quadrat.neighbor_list(Array(np.asfortranarray(POINTS)), 0.4)
    bad = POINTS.copy()
    bad[7] = np.nan
    with pytest.raises(ValueError, match="point 7 at"):
        quadrat.neighbor_list(Array(bad), 0.4)
    check([quadrat.neighbor_list(Array(POINTS), 0.4, outputs="n")], [quadrat.neighbor_list(POINTS, 0.4, outputs="n")])


@pytest.mark.parametrize("package", ["quadrat_cuda12", "quadrat_cuda13"])
def test_a_library_of_another_version_is_refused(tmp_path, package):
    (tmp_path / package).mkdir()
    (tmp_path / package / "__init__.py").touch()
    program = (
        "import quadrat, standin_test as s\n"
        "try:\n"
        "    quadrat.neighbor_list(s.Array(s.POINTS), 1.0)\n"
        "except ImportError as problem:\n"
        "    print(problem)\n"
    )
    others = [path for path in sys.path if not pathlib.Path(path, "quadrat_cuda13").is_dir()]
    (tmp_path / "quadrat").symlink_to(pathlib.Path(quadrat.__file__).parent)
    path = os.pathsep.join([str(tmp_path), str(pathlib.Path(__file__).parent), *others])

    def words():
        done = subprocess.run([sys.executable, "-c", program], env={**os.environ, "PYTHONPATH": path}, text=True,
                              capture_output=True, check=True)  # fmt: skip
        return done.stdout

    assert "is missing" in words()
    file = tmp_path / package / f"lib{package}.so"
    file.write_bytes(b"not a library")
    assert "cannot be opened" in words()
    file.write_bytes(LIBRARY.read_bytes().replace(b"0.1.0\0", b"0.0.9\0"))
    assert f"lib{package}.so 0.0.9 do not fit" in words()
