# SPDX-License-Identifier: BSD-3-Clause
"""Arrays in the memory of a GPU, of PyTorch, CuPy and JAX: results are theirs, on their device, and the numbers are
those of NumPy's arrays on the CPU. Skipped without a GPU, and for libraries that are not installed."""

import os

os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")

import importlib.util
import threading

import numpy as np
import pytest
import quadrat

if importlib.util.find_spec("quadrat_cuda13") is None:
    pytest.skip("no package quadrat_cuda13", allow_module_level=True)

RANDOM = np.random.default_rng(1)
POINTS = RANDOM.uniform(0, 3, (2000, 3)).astype(np.float32)
CHARGES = np.where(np.arange(2000) % 2, 1, -1).astype(np.float32)
BOX = [3.0, 3.0, 3.0]


class Library:
    """How a library makes an array on the GPU, and what its arrays are."""

    def __init__(self, name):
        module = pytest.importorskip(name)
        if name == "torch":
            there = module.cuda.is_available()
            self.array = lambda a: module.from_numpy(np.ascontiguousarray(a)).cuda()
            self.kind = module.Tensor
            self.numpy = lambda a: a.cpu().numpy()
            self.on_gpu = lambda a: a.is_cuda
        elif name == "cupy":
            there = module.is_available()
            self.array, self.kind, self.numpy = module.asarray, module.ndarray, module.asnumpy
            self.on_gpu = lambda a: True
        else:
            there = any(device.platform == "gpu" for device in module.devices())
            self.array = lambda a: module.device_put(a, module.devices("gpu")[0])
            self.kind, self.numpy = module.Array, np.asarray
            self.on_gpu = lambda a: next(iter(a.devices())).platform == "gpu"
        if not there:
            pytest.skip("no GPU")


@pytest.fixture(params=["torch", "cupy", "jax"])
def library(request):
    return Library(request.param)


@pytest.fixture
def torch():
    Library("torch")
    return pytest.importorskip("torch")


def check(library, found, wanted, tolerance=0.0):
    found = found if isinstance(found, tuple) else (found,)
    wanted = wanted if isinstance(wanted, tuple) else (wanted,)
    assert len(found) == len(wanted)
    for mine, other in zip(found, wanted):
        assert isinstance(mine, library.kind) and library.on_gpu(mine)
        assert tuple(mine.shape) == other.shape
        host = library.numpy(mine)
        if other.dtype.kind != "i":
            assert host.dtype == other.dtype
        scale = max(np.abs(other).max(), 1) if other.size else 1
        np.testing.assert_allclose(host, other, rtol=0, atol=tolerance * scale)


def test_neighbor_lists_have_the_pairs_of_the_cpu(library):
    points = library.array(POINTS)
    arguments = {"box": BOX, "sorted": True}
    for outputs in ("ijSn", "j"):
        check(library, quadrat.neighbor_list(points, 0.4, outputs=outputs, **arguments),
              quadrat.neighbor_list(POINTS, 0.4, outputs=outputs, **arguments))  # fmt: skip
    check(library, quadrat.neighbor_list(points, 0.4, outputs="dD", **arguments),
          quadrat.neighbor_list(POINTS, 0.4, outputs="dD", **arguments), 1e-6)  # fmt: skip
    found = quadrat.neighbor_list(points, 0.4, outputs="ij", index_dtype="int32", **arguments)
    assert all(library.numpy(part).dtype == np.int32 for part in found)
    systems = np.arange(2000, dtype=np.int32) % 7
    check(library, quadrat.neighbor_list(points, 0.5, systems=library.array(systems), outputs="ijS", **arguments),
          quadrat.neighbor_list(POINTS, 0.5, systems=systems, outputs="ijS", **arguments))  # fmt: skip
    queries = POINTS[:100] + np.float32(0.01)
    check(library, quadrat.neighbor_list(points, 0.4, queries=library.array(queries), outputs="ijS", **arguments),
          quadrat.neighbor_list(POINTS, 0.4, queries=queries, outputs="ijS", **arguments))  # fmt: skip


def test_cutoffs_by_pairs_of_types_and_of_names_select_the_pairs_of_the_cpu(library):
    types, points = np.arange(2000, dtype=np.int32) % 3, library.array(POINTS)
    given = {"box": BOX, "sorted": True, "outputs": "ijS"}
    numbers, names = {(0, 1): 0.4, (1, 1): 0.3}, {("O", "H"): 0.4, ("H", "H"): 0.3}
    wanted = quadrat.neighbor_list(POINTS, 0.4, types=types, type_cutoffs=numbers, **given)
    assert len(wanted[0]) > 100
    check(library, quadrat.neighbor_list(points, 0.4, types=library.array(types), type_cutoffs=numbers, **given), wanted)
    species = np.array(["O", "H", "N"])[types]
    check(library, quadrat.neighbor_list(points, 0.4, types=species, type_cutoffs=names, **given), wanted)
    kept = quadrat.NeighborList(0.4, type_cutoffs=names, sorted=True, outputs="ijS")
    check(library, kept.build(points, box=BOX, types=species).arrays(), wanted)


def test_graphs_and_batches_of_systems_are_those_of_the_cpu(torch):
    from quadrat.torch_geometric import knn_graph, radius_graph
    from quadrat.torch_sim import torchsim_nl

    points, batch = torch.from_numpy(POINTS), torch.arange(2000) % 3
    boxes, sides = torch.eye(3).repeat(3, 1, 1) * torch.tensor([3.0, 3.5, 4.0])[:, None, None], [[True] * 3] * 2 + [[False] * 3]
    space = {"periodic": sides, "return_shifts": True, "flow": "target_to_source"}
    calls = [
        lambda to: radius_graph(points.to(to), 0.5, batch.to(to), max_num_neighbors=None, box=boxes.to(to), **space),
        lambda to: radius_graph(points.to(to), 0.7, batch.to(to), max_num_neighbors=5, box=boxes.to(to), **space),
        lambda to: knn_graph(points.to(to), 5, batch.to(to), box=boxes.to(to), **space),
        lambda to: torchsim_nl(points.to(to), boxes.to(to), torch.tensor(sides).to(to), 0.5, batch.to(to), True)[::2],
    ]
    for call in calls:
        found, wanted = (
            sorted(map(tuple, torch.column_stack([*edges.cpu(), shifts.cpu().long()]).tolist()))
            for edges, shifts in (call("cuda"), call("cpu"))
        )
        assert len(wanted) > 1000 and found == wanted


def test_methods_of_the_gpu_take_its_arrays_and_are_repeatable_on_request(torch):
    points = torch.tensor(np.round(64 * POINTS) / np.float32(64), device="cuda")  # distances are exact on every device
    wanted = quadrat.neighbor_list(points.cpu().numpy(), 0.4, box=BOX, sorted=True, outputs="ij")
    names = quadrat.methods("neighbor_list", device="cuda")
    assert names and names == quadrat.methods("neighbor_list")
    for name in names:
        found = quadrat.neighbor_list(points, 0.4, box=BOX, sorted=True, outputs="ij", method=name)
        assert all(np.array_equal(mine.cpu().numpy(), other) for mine, other in zip(found, wanted)), name
    given = {"box": BOX, "outputs": "j", "deterministic": "run_to_run"}
    assert torch.equal(*(quadrat.neighbor_list(points, 0.4, **given) for _ in range(2)))


def test_a_list_is_kept_up_to_date_and_follows_its_points_from_device_to_device(library):
    points = np.round(64 * POINTS) / np.float32(64)  # distances are exact on every device
    neighbors = quadrat.NeighborList(0.4, skin=0.1, outputs="ijS", sorted=True)
    assert neighbors.update(library.array(points), box=BOX)
    assert not neighbors.update(library.array(points + np.float32(1 / 64)), box=BOX)
    on_gpu = neighbors.arrays()
    assert neighbors.update(points, box=BOX)
    check(library, on_gpu, neighbors.arrays())
    assert isinstance(neighbors.arrays()[0], np.ndarray)


def test_searches_give_what_the_cpu_gives(library):
    points = library.array(POINTS)
    found, wanted = quadrat.knn(points, 5, box=BOX, shifts=True), quadrat.knn(POINTS, 5, box=BOX, shifts=True)
    check(library, (found.indices, found.shifts), (wanted.indices, wanted.shifts))
    check(library, found.distances, wanted.distances, 1e-6)
    check(library, quadrat.clusters(points, 0.15, box=BOX), quadrat.clusters(POINTS, 0.15, box=BOX))
    groups, wanted = (quadrat.clusters(p, 0.1, box=BOX, members=True) for p in (points, POINTS))
    check(library, tuple(groups[:3]), tuple(wanted[:3]))
    check(library, groups.centers, wanted.centers, 1e-5)
    catalog, wanted = (quadrat.cluster_catalog(p, 0.1, BOX, velocities=p, least_size=3, by_size=True) for p in (points, POINTS))
    check(library, catalog.rows, wanted.rows)
    np.testing.assert_array_equal(catalog.groups["size"], wanted.groups["size"])
    np.testing.assert_allclose(catalog.groups.velocity, wanted.groups.velocity, atol=1e-5)
    spectra = [quadrat.power_spectrum(p, BOX, 16).power for p in (points, POINTS)]
    np.testing.assert_allclose(*spectra, rtol=1e-3)
    counted = quadrat.rdf(points, 0.7, box=BOX, bins=20)
    assert counted.counts.sum() == quadrat.rdf(POINTS, 0.7, box=BOX, bins=20).counts.sum()
    pairs = quadrat.pair_counts(points, [0.2, 0.7], BOX).counts
    assert pairs.tolist() == quadrat.pair_counts(POINTS, [0.2, 0.7], BOX).counts.tolist()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_meshes_and_transforms_give_what_the_cpu_gives(library, dtype):
    if dtype == np.float64 and library.kind.__module__.startswith("jax"):
        pytest.skip("JAX has single precision unless told otherwise")
    points, values = POINTS.astype(dtype), RANDOM.normal(size=(2, 2000)).astype(dtype)
    tolerance = 1e-5 if dtype == np.float32 else 1e-12
    given = library.array(points), library.array(values)
    plans = [quadrat.SpreadPlan(BOX, 16, 5, dtype=dtype).set_points(p) for p in (given[0], points)]
    mesh = plans[1].spread(values)
    check(library, plans[0].spread(given[1]), mesh, tolerance)
    check(library, plans[0].interpolate(library.array(mesh)), plans[1].interpolate(mesh), tolerance)
    check(library, plans[0].gradient(library.array(mesh)), plans[1].gradient(mesh), tolerance)
    check(library, quadrat.spread(given[0], given[1], BOX, 16), quadrat.spread(points, values, BOX, 16), tolerance)
    wanted = tolerance * 100
    waves = quadrat.nufft1(points, values[0] + 0j, (8, 8, 8), wanted)
    amplitudes = library.array((values[0] + 0j).astype(waves.dtype))
    check(library, quadrat.nufft1(given[0], amplitudes, (8, 8, 8), wanted), waves, 100 * wanted)
    check(library, quadrat.nufft2(given[0], library.array(waves), wanted), quadrat.nufft2(points, waves, wanted),
          100 * wanted)  # fmt: skip
    check(library, quadrat.nufft3(given[0], amplitudes, given[0], wanted),
          quadrat.nufft3(points, values[0] + 0j, points, wanted), 100 * wanted)  # fmt: skip
    with pytest.raises(ValueError, match="CPU memory.*GPU 0"):
        plans[0].spread(values)


def test_charges_give_what_the_cpu_gives(library):
    points, charges = library.array(POINTS), library.array(CHARGES)
    arguments = {"potentials": True, "virial": True}
    sums = quadrat.Ewald(1e-4)
    found, wanted = sums.compute(points, charges, BOX, **arguments), sums.compute(POINTS, CHARGES, BOX, **arguments)
    assert found.energy == pytest.approx(wanted.energy, rel=1e-3) and isinstance(found.energy, float)
    check(library, (found.forces, found.potentials), (wanted.forces, wanted.potentials), 1e-3)


def test_keys_are_reduced_as_on_the_cpu(library):
    keys, values = RANDOM.integers(0, 50, 5000).astype(np.int32), RANDOM.normal(size=(5000, 3)).astype(np.float32)
    for operation in ("sum", "min", "max", "mean"):
        check(library, quadrat.reduce_by_key(library.array(keys), library.array(values), operation),
              quadrat.reduce_by_key(keys, values, operation), 1e-5)  # fmt: skip
    check(library, quadrat.count_keys(library.array(keys), key_count=60), quadrat.count_keys(keys, key_count=60))


def test_bodies_and_cells_are_those_of_the_cpu(library):
    centers, radii = library.array(POINTS), RANDOM.uniform(0.02, 0.15, 2000).astype(np.float32)
    found = quadrat.contacts(centers, library.array(radii), box=BOX, sorted=True)
    wanted = quadrat.contacts(POINTS, radii, box=BOX, sorted=True)
    assert abs(len(found.a) - len(wanted.a)) <= 2  # touching may be a matter of rounding
    if len(found.a) == len(wanted.a):
        check(library, (found.a, found.b, found.shift), (wanted.a, wanted.b, wanted.shift))
        check(library, (found.depth, found.normal), (wanted.depth, wanted.normal), 1e-4)
    cells = quadrat.CellList(BOX, (5, 6, 7), deterministic="run_to_run")
    found, wanted = cells.build(centers), quadrat.CellList(BOX, (5, 6, 7), deterministic="run_to_run").build(POINTS)
    check(library, (found.offsets, found.indices), (wanted.offsets, wanted.indices))


def test_scenes_run_on_the_gpu(torch):
    scene = os.path.join(os.path.dirname(__file__), "..", "..", "examples", "dam_break_small.toml")
    try:
        found = quadrat.run(scene, steps=20, particles=500, device="cuda", deterministic="canonical")
    except ValueError as problem:
        pytest.skip(str(problem))
    wanted = quadrat.run(scene, steps=20, particles=500, device="cpu", deterministic="canonical")
    assert found.facts["device"] == "cuda" and wanted.facts["device"] == "cpu"
    positions = [run.frames[-1].positions for run in (found, wanted)]
    np.testing.assert_allclose(positions[0], positions[1], atol=1e-4)


def test_nothing_gives_nothing(library):
    empty = library.array(np.zeros((0, 3), np.float32))
    assert all(len(part) == 0 for part in quadrat.neighbor_list(empty, 1.0))
    assert library.numpy(quadrat.neighbor_list(empty, 1.0, outputs="n")).tolist() == [0]
    assert len(quadrat.clusters(empty, 1.0)) == 0


def test_bad_data_are_named(library):
    wrong = POINTS.copy()
    wrong[17, 1] = np.nan
    with pytest.raises(ValueError, match="point 17 at .*nan"):
        quadrat.neighbor_list(library.array(wrong), 0.4)
    with pytest.raises(ValueError, match="GPU 0.*CPU memory|CPU memory.*GPU 0"):
        quadrat.electrostatics(library.array(POINTS), CHARGES, BOX)
    with pytest.raises(TypeError, match="int32.*float32 and float64"):
        quadrat.neighbor_list(library.array(np.ones((4, 3), np.int32)), 0.4)
    with pytest.raises(ValueError, match=r"systems\[1\] is -1"):
        quadrat.neighbor_list(library.array(POINTS), 0.4, box=BOX, systems=library.array(-np.arange(2000, dtype=np.int32)))
    with pytest.raises(ValueError, match="7"):
        quadrat.reduce_by_key(library.array(np.array([0, 7], np.int32)), library.array(POINTS[:2]), key_count=3)


def test_work_in_the_stream_of_the_producer_is_waited_for(torch):
    wanted = quadrat.neighbor_list(POINTS, 0.4, box=BOX, sorted=True, outputs="ij")
    source, points = torch.from_numpy(POINTS).cuda(), torch.zeros(POINTS.shape, device="cuda")
    torch.cuda.synchronize()
    for _ in range(5):
        points.zero_()
        with torch.cuda.stream(torch.cuda.Stream()):
            torch.cuda.current_stream().wait_stream(torch.cuda.default_stream())
            torch.cuda._sleep(50_000_000)  # some 30 ms
            points.copy_(source)
            found = quadrat.neighbor_list(points, 0.4, box=BOX, sorted=True, outputs="ij")
        assert all(np.array_equal(mine.cpu().numpy(), other) for mine, other in zip(found, wanted))


def test_memory_that_a_pending_kernel_still_writes_is_not_overwritten_by_it(torch):
    points = torch.from_numpy(POINTS).cuda()
    wanted = quadrat.neighbor_list(POINTS, 0.4, box=BOX, sorted=True, outputs="j")
    torch.cuda.empty_cache()
    for _ in range(5):
        former = torch.zeros(len(wanted), dtype=torch.int64, device="cuda")
        torch.cuda._sleep(50_000_000)
        former.fill_(-7)
        del former  # its memory is free for the next array of this size, while the kernel waits
        found = quadrat.neighbor_list(points, 0.4, box=BOX, sorted=True, outputs="j")
        assert np.array_equal(found.cpu().numpy(), wanted)


def test_arrays_may_be_overwritten_as_soon_as_a_call_returns(torch):
    count = 300_000
    points = np.random.default_rng(3).uniform(0, 30, (count, 3)).astype(np.float32)
    box, other = [30.0] * 3, torch.cuda.Stream()
    lists = [quadrat.NeighborList(1.0, skin=0.2, outputs="jS", sorted=True) for _ in range(2)]
    plans = [quadrat.SpreadPlan(box, 32, 4, dtype=np.float32) for _ in range(2)]
    values = torch.ones(count, device="cuda")
    for shift in (0.0, 0.01, 0.3):  # a first list; the same pairs, some wrapped; a new list
        given = torch.from_numpy((points + np.float32(shift)) % np.float32(30)).cuda()
        kept = given.clone()
        torch.cuda.synchronize()
        lists[0].update(given, box=box)
        plans[0].set_points(given)
        with torch.cuda.stream(other):
            given.zero_()
        lists[1].update(kept, box=box)
        plans[1].set_points(kept)
        assert all(torch.equal(a, b) for a, b in zip(lists[0].arrays(), lists[1].arrays()))
        torch.testing.assert_close(plans[0].spread(values), plans[1].spread(values), rtol=1e-4, atol=1e-4)


def test_plans_are_captured_in_graphs_with_their_points(torch):
    random = np.random.default_rng(4)
    sets = [torch.from_numpy(random.uniform(0, 3, (5000, 3)).astype(np.float32)).cuda() for _ in range(3)]
    values = torch.from_numpy(random.normal(size=5000).astype(np.float32)).cuda()
    plan, other = (quadrat.SpreadPlan(BOX, 24, 4, dtype=np.float32, method="tiles") for _ in range(2))
    waves, others = (quadrat.Nufft((8, 8, 8), 1e-4, period=BOX, dtype=np.float32) for _ in range(2))
    points = sets[0].clone()

    def work():
        mesh = plan.set_points(points).spread(values)
        return mesh, plan.interpolate(mesh), plan.gradient(mesh), waves.type1(values + 0j)

    waves.set_points(points)
    work()  # makes all memory
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        found = work()
    for given in sets:
        points.copy_(given)
        graph.replay()
        mesh = other.set_points(given).spread(values)
        wanted = mesh, other.interpolate(mesh), other.gradient(mesh), others.set_points(sets[0]).type1(values + 0j)
        for mine, theirs in zip(found, wanted):
            assert (mine - theirs).abs().max() <= 1e-4 * theirs.abs().max()
    torch.cuda.synchronize()
    plan.check()
    points[7, 1] = float("nan")
    graph.replay()
    torch.cuda.synchronize()
    with pytest.raises(ValueError, match="point 7 .*is not finite"):
        plan.check()


def test_calls_that_wait_for_results_refuse_to_be_captured(torch):
    points = torch.from_numpy(POINTS).cuda()
    neighbors = quadrat.NeighborList(0.4)
    neighbors.update(points, box=BOX)
    graph = torch.cuda.CUDAGraph()
    with pytest.raises(ValueError, match="cannot be captured in a CUDA graph"):
        with torch.cuda.graph(graph):
            neighbors.update(points, box=BOX)
    assert neighbors.update(points, box=BOX)
    assert len(neighbors.arrays()[0]) > 0


def test_arrays_of_any_strides_are_read_and_those_with_gradients_refused(torch):
    points = torch.from_numpy(POINTS).cuda()
    wanted = quadrat.neighbor_list(points, 0.4, box=BOX, sorted=True)
    wide = torch.zeros((3, 4000), device="cuda")
    wide[:, ::2] = points.T
    found = quadrat.neighbor_list(wide.T[::2], 0.4, box=torch.eye(3, device="cuda") * 3, sorted=True)
    assert all(torch.equal(a, b) for a, b in zip(found, wanted))
    with pytest.raises(ValueError, match="points: derivatives are needed"):
        quadrat.neighbor_list(points.clone().requires_grad_(), 0.4, box=BOX)


def test_the_current_device_stays(torch):
    last = torch.cuda.device_count() - 1
    points = torch.from_numpy(POINTS).to(f"cuda:{last}")
    for current in range(last + 1):
        with torch.cuda.device(current):
            found = quadrat.neighbor_list(points, 0.4, box=BOX)
            assert torch.cuda.current_device() == current and found[0].device.index == last


def test_threads_with_streams_of_their_own_do_not_disturb_each_other(torch):
    sets = [np.random.default_rng(k).uniform(0, 3, (1000 + 100 * k, 3)).astype(np.float32) for k in range(6)]
    wanted = [quadrat.neighbor_list(p, 0.5, box=BOX, sorted=True, outputs="ij") for p in sets]
    shared, wrong = quadrat.NeighborList(0.5, outputs="n"), []

    def work(k):
        with torch.cuda.stream(torch.cuda.Stream()):
            for _ in range(20):
                points = torch.from_numpy(sets[k]).cuda(non_blocking=True)
                found = quadrat.neighbor_list(points, 0.5, box=BOX, sorted=True, outputs="ij")
                if not all(np.array_equal(a.cpu().numpy(), b) for a, b in zip(found, wanted[k])):
                    wrong.append(k)
                shared.update(points, box=BOX)
                if len(shared.arrays()) - 1 not in {len(p) for p in sets}:
                    wrong.append(k)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_a_process_forked_after_use_is_told_to_spawn(torch):
    points = torch.from_numpy(POINTS).cuda()
    quadrat.neighbor_list(points, 0.4)
    child = os.fork()
    if child == 0:
        status = 1
        try:
            quadrat.neighbor_list(points, 0.4)
        except RuntimeError as error:
            status = 0 if "spawn" in str(error) else 2
        finally:
            os._exit(status)
    assert os.waitpid(child, 0)[1] == 0


def test_memory_is_given_back(torch):
    points = torch.rand((200_000, 3), device="cuda")
    quadrat.neighbor_list(points, 0.03, box=[1, 1, 1])
    torch.cuda.synchronize()
    torch.cuda.empty_cache()
    before = torch.cuda.mem_get_info()[0]
    for _ in range(50):
        quadrat.neighbor_list(points, 0.03, box=[1, 1, 1])
    torch.cuda.synchronize()
    torch.cuda.empty_cache()
    assert torch.cuda.mem_get_info()[0] > before - 2**28
