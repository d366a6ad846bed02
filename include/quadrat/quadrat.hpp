// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// All of Quadrat. Each header also works alone, and begins with what it is for: including only what is used compiles
/// faster. The first lines of a program:
///
///     const quadrat::cpu_context context;  // or cuda_context
///     const auto box = quadrat::make_box<float, 3>({0, 0, 0}, {1, 1, 1}, {true, true, true});
///     auto cells = quadrat::make_cells(context, box, 0.1f);
///     auto list = quadrat::make_neighbor_list(context, box, {.cutoff = 0.1f});
///     auto nearest = quadrat::make_nearest_neighbors(context, box, {.k = 8});
///     auto clusters = quadrat::make_cluster_finder(context, box, {.cutoff = 0.1f});
///     auto contacts = quadrat::make_contact_detector(context, box);
///     auto plan = quadrat::make_spread_plan(context, box, {64, 64, 64}, 6);
///     auto reducer = quadrat::make_key_reducer(context, key_count);

// Vectors, boxes, grids, views of points, contexts, arrays.
#include "quadrat/core/array.hpp"
#include "quadrat/core/box.hpp"
#include "quadrat/core/config.hpp"
#include "quadrat/core/context.hpp"
#include "quadrat/core/curves.hpp"
#include "quadrat/core/error.hpp"
#include "quadrat/core/grid.hpp"
#include "quadrat/core/lattice.hpp"
#include "quadrat/core/method.hpp"
#include "quadrat/core/philox.hpp"
#include "quadrat/core/types.hpp"
#include "quadrat/core/vec.hpp"
#include "quadrat/core/version.hpp"
#include "quadrat/core/views.hpp"

// Loops, sums, scans, sorting, atomic operations, CUDA graphs.
#include "quadrat/parallel/atomic.hpp"
#include "quadrat/parallel/cuda_graph.hpp"
#include "quadrat/parallel/for_each.hpp"
#include "quadrat/parallel/reduce.hpp"
#include "quadrat/parallel/scan.hpp"
#include "quadrat/parallel/sort.hpp"

// Particles in the cells of a grid.
#include "quadrat/cells/buckets.hpp"
#include "quadrat/cells/make_cells.hpp"
#include "quadrat/cells/methods.hpp"

// Neighbors: walks, functors over all pairs, lists, tiles of pairs, nearest neighbors, clusters, distances of pairs.
#include "quadrat/search/cluster_pairs.hpp"
#include "quadrat/search/lattice_cells.hpp"
#include "quadrat/search/line.hpp"
#include "quadrat/search/make_cluster_finder.hpp"
#include "quadrat/search/make_nearest_neighbors.hpp"
#include "quadrat/search/make_neighbor_list.hpp"
#include "quadrat/search/neighborhood.hpp"
#include "quadrat/search/pair_correlation.hpp"
#include "quadrat/search/pair_counts.hpp"
#include "quadrat/search/pair_histogram.hpp"
#include "quadrat/search/visit.hpp"
#include "quadrat/search/visit_clusters.hpp"
#include "quadrat/search/visit_list.hpp"
#include "quadrat/search/visit_points.hpp"
#include "quadrat/search/visit_radii.hpp"

// Contacts of bodies.
#include "quadrat/contacts/collide.hpp"
#include "quadrat/contacts/make_contact_detector.hpp"
#include "quadrat/contacts/mesh_contact_detector.hpp"

// Values of particles on a mesh.
#include "quadrat/mesh/make_spread_plan.hpp"
#include "quadrat/mesh/methods.hpp"

// Fourier transforms, of meshes and non-uniform.
#include "quadrat/spectral/density.hpp"
#include "quadrat/spectral/fft.hpp"
#include "quadrat/spectral/fft_libraries.hpp"
#include "quadrat/spectral/normal_operator.hpp"
#include "quadrat/spectral/nufft_plan.hpp"
#include "quadrat/spectral/nufft_target_plan.hpp"
#include "quadrat/spectral/power_spectrum.hpp"

// Electrostatics: Ewald sums. The mobility of spheres in a fluid.
#include "quadrat/ewald/electrostatics.hpp"
#include "quadrat/hydro/mobility.hpp"

// Reduction by key.
#include "quadrat/keyed/make_key_reducer.hpp"
#include "quadrat/keyed/methods.hpp"

// Many ranks: processes under MPI, or GPUs of one process.
#include "quadrat/distributed/cluster_finder.hpp"
#include "quadrat/distributed/communicator.hpp"
#include "quadrat/distributed/contacts.hpp"
#include "quadrat/distributed/decomposition.hpp"
#include "quadrat/distributed/electrostatics.hpp"
#include "quadrat/distributed/fft.hpp"
#include "quadrat/distributed/halo.hpp"
#include "quadrat/distributed/in_process.hpp"
#include "quadrat/distributed/key_reducer.hpp"
#include "quadrat/distributed/mesh_halo.hpp"
#include "quadrat/distributed/migration.hpp"
#include "quadrat/distributed/mobility.hpp"
#include "quadrat/distributed/mpi.hpp"
#include "quadrat/distributed/nccl.hpp"
#include "quadrat/distributed/nearest_neighbors.hpp"
#include "quadrat/distributed/nufft_plan.hpp"
#include "quadrat/distributed/pair_counts.hpp"
#include "quadrat/distributed/power_spectrum.hpp"
#include "quadrat/distributed/sparse_migration.hpp"
#include "quadrat/distributed/spread_plan.hpp"
#include "quadrat/distributed/visit.hpp"
// How methods are chosen.
#include "quadrat/choice/choose_method.hpp"
#include "quadrat/tune/device_profile.hpp"
#include "quadrat/tune/explanation.hpp"

// Models.
#include "quadrat/models/brownian.hpp"
#include "quadrat/models/brownian_forces.hpp"
#include "quadrat/models/circles.hpp"
#include "quadrat/models/distributed_brownian.hpp"
#include "quadrat/models/distributed_circles.hpp"
#include "quadrat/models/distributed_electrolyte.hpp"
#include "quadrat/models/distributed_granular.hpp"
#include "quadrat/models/distributed_granular_friction.hpp"
#include "quadrat/models/distributed_model.hpp"
#include "quadrat/models/distributed_srd.hpp"
#include "quadrat/models/electrolyte.hpp"
#include "quadrat/models/granular.hpp"
#include "quadrat/models/granular_friction.hpp"
#include "quadrat/models/rank_report.hpp"
#include "quadrat/models/srd.hpp"
