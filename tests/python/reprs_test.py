# SPDX-License-Identifier: BSD-3-Clause
"""What objects show of themselves, in a terminal and in a notebook."""

import pathlib
import re

import numpy as np
import pytest
import quadrat
from quadrat import frames, vesin

POINTS = np.random.default_rng(1).uniform(0, 9, (50, 3))
BOX = [9.0, 9.0, 9.0]
DAM = pathlib.Path(__file__).parents[2] / "examples" / "dam_break_small.toml"


def simulation():
    try:
        return quadrat.Simulation(DAM, particles=200, steps=4, frame_every=1, device="cpu", threads=1)
    except ValueError as problem:
        pytest.skip(str(problem))


MADE = {
    "NeighborList": (lambda: quadrat.NeighborList(1.5, skin=0.25), r"<NeighborList\(1.5, skin=0.25\)>"),
    "vesin.NeighborList": (
        lambda: vesin.NeighborList(cutoff=2, full_list=True),
        r"<NeighborList\(cutoff=2, full_list=True\)>",
    ),
    "CellList": (lambda: quadrat.CellList(BOX, cutoff=3), r"<CellList\(\[9.0, 9.0, 9.0\], cutoff=3\)>"),
    "SpreadPlan": (lambda: quadrat.SpreadPlan(np.array(BOX), 16), r"<SpreadPlan\(float64 \(3,\), 16\)>"),
    "Nufft": (lambda: quadrat.Nufft((8, 8), 1e-5, real=True), r"<Nufft\(\(8, 8\), 1e-05, real=True\)>"),
    "NormalOperator": (lambda: quadrat.NormalOperator((8, 8), 1e-5), r"<NormalOperator\(\(8, 8\), 1e-05\)>"),
    "Mobility": (lambda: quadrat.Mobility(1e-2, radius=0.5), r"<Mobility\(0.01, radius=0.5\)>"),
    "Ewald": (lambda: quadrat.Ewald(1e-4), r"<Ewald\(0.0001\)>"),
    "Electrostatics": (
        lambda: quadrat.electrostatics(POINTS, np.tile([1.0, -1.0], 25), BOX, 1e-3),
        r"<Electrostatics energy: -?[\d.]+, forces: float64 \(50, 3\)>",
    ),
    "Contacts": (
        lambda: quadrat.contacts(POINTS, 0.5, box=BOX),
        r"<Contacts a: int64 \(\d+,\), b: .*normal: float64 \(\d+, 3\)",
    ),
    "Clusters": (
        lambda: quadrat.clusters(POINTS, 1.0, members=True),
        r"<Clusters labels: int64 \(50,\), offsets: .*members: int64 \(50,\), centers: float64 \(\d+, 3\)>",
    ),
    "ClusterCatalog": (
        lambda: quadrat.cluster_catalog(POINTS, 1.0),
        r"<ClusterCatalog groups: .* \(\d+,\), rows: int64 \(50,\)>",
    ),
    "PowerSpectrum": (
        lambda: quadrat.power_spectrum(POINTS, BOX, 8),
        r"<PowerSpectrum k: float64 \(3,\), power: float64 \(3,\), modes: int64 \(3,\), .*shot_noise: [\d.]+>",
    ),
    "Nearest": (lambda: quadrat.knn(POINTS, 4), r"<Nearest indices: int64 \(50, 4\), distances: float64 \(50, 4\)>"),
    "PairCounts": (
        lambda: quadrat.pair_counts(POINTS, [0, 1, 2], BOX, mean_separation=True),
        r"<PairCounts counts: uint64 \(2,\).*mean_separations: float64 \(2,\)>",
    ),
    "RadialDistribution": (
        lambda: quadrat.rdf(POINTS, 2.0, box=BOX, types=["O", "H"] * 25),
        r"<RadialDistribution: 200 bins, highest [\d.]+ at r = [\d.]+, \d+ pairs, types H, O>",
    ),
    "Choice": (
        lambda: quadrat.choose("neighbor_list", points=1e6, device="cpu", explain=True),
        r"<Choice: \w+, [\d.e+]+ ms expected, of \d+ methods; print shows why>",
    ),
    "Simulation": (simulation, r"<Simulation dam_break_small: 200 grains at step 0 of 4, by \w+ on cpu>"),
    "Frame": (lambda: simulation().frame(), r"<Frame: step 0, t = 0, 200 particles, box 1 x 1 x 1; fields: velocity, "),
    "Run": (
        lambda: simulation() and quadrat.run(DAM, particles=200, steps=4, frame_every=1, device="cpu", threads=1),
        r"<Run dam_break_small: 200 grains, 4 steps by \w+ on cpu; 5 frames, \d+ statistics>",
    ),
}  # fmt: skip


def test_every_public_class_is_here():
    public = {name for name in quadrat.__all__ if isinstance(getattr(quadrat, name), type)}
    assert public == {name for name in MADE if "." not in name} and quadrat.Frame is frames.Frame


@pytest.mark.parametrize("name", MADE)
def test_objects_show_a_line_that_says_what_they_are(name):
    make, words = MADE[name]
    text = repr(make())
    assert re.match(words, text), text
    assert len(text) < 300 and "\n" not in text and " at 0x" not in text


def test_libraries_with_derivatives_show_a_line():
    torch = pytest.importorskip("torch")
    import quadrat.torch

    found = quadrat.torch.electrostatics(
        torch.tensor(POINTS), torch.tensor([1.0, -1.0] * 25, dtype=torch.float64), torch.tensor(BOX).double(), 1e-3
    )
    assert re.match(r"<Electrostatics energy: float64 \(\), forces: float64 \(50, 3\)>", repr(found))


def test_a_choice_is_a_table_in_a_notebook():
    choice = quadrat.choose("spread", points=1e6, device="cpu", explain=True)
    table = choice._repr_html_()
    assert table.count("<tr>") == len(choice.candidates) + 1 and table.count("<td>chosen</td>") == 1
    assert all(f"<td>{one['method']}</td>" in table for one in choice.candidates)
