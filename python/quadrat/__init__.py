# SPDX-License-Identifier: BSD-3-Clause
"""Everything that happens between particles and a uniform grid, on arrays of NumPy, PyTorch, CuPy and JAX, on CPUs and
GPUs::

    neighbor_list, NeighborList   pairs within a cutoff
    knn                           nearest neighbors
    clusters                      connected points, DBSCAN
    cluster_catalog               sizes, centers, velocities, shapes of clusters
    contacts                      overlaps of bodies of any shape
    CellList                      points by cell of a grid
    rdf                           radial distribution functions
    pair_counts                   numbers of pairs in bins of separation
    SpreadPlan, spread, interpolate   values between points and meshes
    power_spectrum                power spectra, structure factors
    Nufft, nufft1, nufft2, nufft3     Fourier transforms of points
    NormalOperator                type 2, weights and type 1 in one step
    Ewald, electrostatics         sums over charges and their images
    Mobility                      spheres in a fluid, Brownian velocities
    reduce_by_key, count_keys     reductions by key
    run, Simulation               scenes of `quadrat run`, in memory
    choose, methods               the chosen methods and their reasons; all methods
    quadrat.ase, ...              modules with the calls of other packages
"""

from . import _core
from ._frame import Frame
from .cells import CellList
from .choice import Choice, choose, methods
from .contacts import Contacts, contacts
from .counts import PairCounts, pair_counts
from .ewald import Electrostatics, Ewald, electrostatics
from .hydro import Mobility
from .keyed import count_keys, reduce_by_key
from .mesh import SpreadPlan, interpolate, spread
from .neighbors import ClusterCatalog, Clusters, Nearest, NeighborList, cluster_catalog, clusters, knn, neighbor_list
from .radial import RadialDistribution, rdf
from .scenes import Run, Simulation, run
from .spectra import PowerSpectrum, power_spectrum
from .transforms import NormalOperator, Nufft, nufft1, nufft2, nufft3

__version__: str = _core.version
__all__ = [
    "CellList",
    "Choice",
    "ClusterCatalog",
    "Clusters",
    "Contacts",
    "Electrostatics",
    "Ewald",
    "Frame",
    "Mobility",
    "Nearest",
    "NeighborList",
    "NormalOperator",
    "Nufft",
    "PairCounts",
    "PowerSpectrum",
    "RadialDistribution",
    "Run",
    "Simulation",
    "SpreadPlan",
    "choose",
    "cluster_catalog",
    "clusters",
    "contacts",
    "count_keys",
    "electrostatics",
    "interpolate",
    "knn",
    "methods",
    "neighbor_list",
    "nufft1",
    "nufft2",
    "nufft3",
    "pair_counts",
    "power_spectrum",
    "rdf",
    "reduce_by_key",
    "run",
    "spread",
]
