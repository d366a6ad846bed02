# SPDX-License-Identifier: BSD-3-Clause
"""The figures of the papers: the rows of `quadrat bench --json` that they show, and the results in the papers."""

import dataclasses
from collections.abc import Callable
from typing import Any, TypeAlias

Row: TypeAlias = dict[str, Any]
Column: TypeAlias = str | Callable[[Row], Any]


@dataclasses.dataclass
class Figure:
    """Lines y over x for the rows that `rows` takes, one for each value of `series`; one panel for each value of
    `panels`, to choose from. A function in place of a column's name is called with the row. `more`: large
    values are better."""

    title: str
    topic: str
    rows: Callable[[Row], bool]
    x: Column
    y: Column
    labels: tuple[str, str]  # of x and y
    findings: tuple[str, ...]
    series: Column = "method"
    panels: Column | None = None
    more: bool = False
    log: tuple[bool, bool] = (True, True)


@dataclasses.dataclass(frozen=True, eq=False)
class Paper:
    name: str
    about: str
    page: str
    figures: tuple[Figure, ...]


def where(**wanted: Any) -> Callable[[Row], bool]:
    """Takes rows with these values; None: without the key."""
    return lambda row: all(row.get(key) == value for key, value in wanted.items())


def _points(row):
    return f"{row['mesh']}^3"


def _mesh_figure(number, title, series, findings):
    return Figure(
        f"Figure {number}: {title}",
        "mesh",
        where(op=f"figure{number}"),
        "n",
        "median_ms",
        ("particles", "milliseconds"),
        findings,
        series,
        _points,
    )


def _variant(row):
    peers = f", {row['finder']}, {row['combination']}" if "finder" in row else ""
    return row["method"] + peers


def _keys(row):
    return f"{row['distribution']} keys"


def _run(row):
    return f"{row['dim']}D, {row['n']:,} agents, k = {row['force']:g}"


def _stretches(rows):
    """A row for each stretch of the runs of Circles, with the speed relative to the order `default` of the same run."""
    usual = {_run(row): row["series"] for row in rows if row["method"] == "default"}
    return [
        {**row, "step": point["step"], "speed": base["median_ms"] / point["median_ms"]}
        for row in rows
        for point, base in zip(row["series"], usual.get(_run(row), ()))
        if row["method"] != "default"
    ]


GRID = Paper(
    "Uniform grids by atomic operations",
    "D. Barbieri, V. Cardellini, S. Filippone, Fast Uniform Grid Construction on GPGPUs Using Atomic Operations "
    "(2014), on a GeForce GTX 660",
    "papers/uniform-grid.md",
    (
        Figure(
            "Insertion into 64^3 cells",
            "cells",
            where(op="insert", cells=64**3, determinism=None, precision="float"),
            "n",
            "inserts_per_s",
            ("particles", "insertions a second"),
            (
                "One atomic exchange per particle builds the grid faster than any other method; sorting is up to 17 "
                "times slower.",
                "The scan over all cells makes counting expensive on fine grids.",
            ),
            more=True,
        ),
        Figure(
            "Figure 2: the whole simulation",
            "granular",
            where(op="simulation", figure=2, positions=None),
            "n",
            "updates_per_s",
            ("grains", "updates a second"),
            (
                "The packed list is slower to insert into than the loose one, yet the simulation is more than twice as "
                "fast.",
                "Below 512K particles every atomic method beats sorting, by up to 7 times; above, sorting that "
                "reorders the data wins.",
                "Rates peak at 64K (loose, packed, fixed), 512K (sorting) and 8K (tight).",
            ),
            more=True,
        ),
        Figure(
            "Figure 3: insertion in the slowest step",
            "cells",
            where(op="slowest_step", figure=3, carried=False),
            "n",
            "inserts_per_s",
            ("grains", "insertions a second"),
            ("Loose lists beat tight ones at every size.",),
            more=True,
        ),
        Figure(
            "Reading through textures",
            "cells",
            where(op="read_paths"),
            "n",
            "median_ms",
            ("particles", "milliseconds"),
            ("Scattered reads through the texture path are up to 45 % faster than plain loads.",),
            "read_path",
            lambda row: f"{row['method']}, memory order {row['order']}",
        ),
        Figure(
            "Hash tables",
            "cells",
            lambda row: row["op"] in ("hash_insert", "hash_find"),
            "n",
            lambda row: row.get("inserts_per_s", row.get("finds_per_s")),
            ("keys", "keys a second"),
            ("Tables with chaining: 2 G pairs a second at 1M.",),
            lambda row: f"{row['method']}, {row['op'][5:]}",
            more=True,
        ),
    ),
)

STRIPS = Paper(
    "Modular bin strips",
    "R. Chisholm, P. Richmond, S. Maddock, Improved GPU Near Neighbours Through Modular Bin Strips",
    "papers/modular-bin-strips.md",
    (
        Figure(
            "Speed as agents gather",
            "search",
            where(op="circles"),
            "step",
            "speed",
            ("step", "speed relative to the default order"),
            (
                "Strips are faster than the default order throughout, by a nearly constant factor.",
                "Modular and hybrid gain as agents gather, the more so the denser they are.",
                "Hybrid is the fastest at the end of every run; at best 1.19 times in 2D and 1.28 times in 3D.",
            ),
            panels=_run,
            more=True,
            log=(False, False),
        ),
    ),
)

BINNING = Paper(
    "Parallel binning",
    "Parallel Collision Detection (slides, ME964, University of Wisconsin, 2008)",
    "papers/parallel-binning.md",
    (
        Figure(
            "How big should the bins be? Does a sort for load balancing make sense?",
            "contacts",
            lambda row: row["op"] == "bins" and "bin_in_diameters" in row,
            "bin_in_diameters",
            "median_ms",
            ("bin size in mean diameters", "milliseconds"),
            ("Both are open questions of the slides.",),
            lambda row: (
                row["method"] + (f", {'sorted' if row['balanced'] else 'not sorted'}" if "balanced" in row else "")
            ),
            lambda row: f"{row['distribution']}, memory {row['memory']}",
        ),
        Figure(
            "Can bins have variable size?",
            "contacts",
            where(op="methods"),
            "distribution",
            "median_ms",
            ("bodies", "milliseconds"),
            ("An open question of the slides: levels has a grid for each range of sizes.",),
            log=(False, True),
        ),
    ),
)

SPREADING = Paper(
    "Particle-mesh spreading",
    "X. Guo, X. Liu, P. Xu, Z. Du, E. Chow, Efficient Particle-Mesh Spreading on GPUs (2015), on a Tesla K40c and a "
    "GTX 480",
    "papers/particle-mesh-spreading.md",
    (
        _mesh_figure(
            3,
            "threads for a mesh point",
            lambda row: f"{row['compute_unit']} threads",
            ("Best is the mean number of contributions to a mesh point, rounded down to a power of two, at most 16.",),
        ),
        _mesh_figure(
            4,
            "mesh points in a group",
            lambda row: f"{row['group_size']} points",
            ("64 mesh points in a group are best for any density.",),
        ),
        _mesh_figure(
            5,
            "reduction",
            "reduction",
            ("Shuffles are never slower than shared memory, and equally fast from about 20 contributions on.",),
        ),
        _mesh_figure(
            6,
            "with and without atomic operations",
            "method",
            ("Atomic operations are a large part of the time on Fermi, a small one on Kepler.",),
        ),
        _mesh_figure(7, "gather", "method", ("Gather is faster than the particle method on Fermi, slower on Kepler.",)),
        _mesh_figure(
            8,
            "spreading alone",
            "method",
            ("The particle method is best for few particles, the hybrid mesh generally for more.",),
        ),
        _mesh_figure(9, "building", "method", ("The group mesh is built fastest, the hybrid mesh generally slowest.",)),
        Figure(
            "Section 4.5: repetitions",
            "mesh",
            where(op="repetitions", among="all"),
            "repetitions",
            "median_ms",
            ("repetitions", "milliseconds of the fastest method"),
            ("For one spreading the particle method wins; for very many, the hybrid mesh.",),
            "method",
            lambda row: f"{row['mesh']}^3, {row['n']:,} particles",
        ),
    ),
)

VOTING = Paper(
    "Voting and shuffling",
    "Voting and Shuffling to Optimize Atomic Operations (NVIDIA developer blog, 2015), on Kepler and Maxwell",
    "papers/voting-and-shuffling.md",
    (
        Figure(
            "Figure 1: sums by key, everything on the fly",
            "keyed",
            where(op="paper"),
            _keys,
            lambda row: row.get("graph_ms", row["median_ms"]),
            ("order of the keys", "milliseconds"),
            (
                "Single precision: plain atomic additions are never significantly slower than anything else.",
                "Double precision, ordered and shifted keys: combining peers in the warp first is faster.",
                "Random keys: any attempt to reduce work is slower.",
                "Linked lists are a bad replacement on Kepler; bins of a block in shared memory are significantly "
                "slower.",
            ),
            _variant,
            "precision",
            log=(False, True),
        ),
        Figure(
            "From few elements to many",
            "keyed",
            where(op="sizes"),
            "n",
            lambda row: row["n"] / row.get("graph_ms", row["median_ms"]) * 1e3,
            ("elements", "elements a second"),
            ("The paper has one size.",),
            _variant,
            _keys,
            more=True,
        ),
    ),
)

PAPERS = (GRID, STRIPS, BINNING, SPREADING, VOTING)


def rows_for(figure: Figure, rows: list[Row]) -> list[Row]:
    taken = [row for row in rows if figure.rows(row)]
    return _stretches(taken) if figure.y == "speed" else taken


def value(row: Row, column: Column) -> Any:
    return column(row) if callable(column) else row.get(column)
