// SPDX-License-Identifier: BSD-3-Clause
#include "topics.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "cells/operations.hpp"
#include "choice/operations.hpp"
#include "contacts/operations.hpp"
#include "core/method_choice.hpp"
#include "distributed/operations.hpp"
#include "ewald/operations.hpp"
#include "harness/stopwatch.hpp"
#include "hydro/operations.hpp"
#include "keyed/operations.hpp"
#include "mesh/operations.hpp"
#include "models/granular/operations.hpp"
#include "models/srd/operations.hpp"
#include "neighbors/operations.hpp"
#include "quadrat/cells/methods.hpp"
#include "quadrat/contacts/methods.hpp"
#include "quadrat/ewald/electrostatics.hpp"
#include "quadrat/hydro/mobility.hpp"
#include "quadrat/keyed/methods.hpp"
#include "quadrat/mesh/methods.hpp"
#include "quadrat/models/granular.hpp"
#include "quadrat/search/neighbor_list.hpp"
#include "quadrat/search/orders.hpp"
#include "quadrat/spectral/fft_libraries.hpp"
#include "search/operations.hpp"
#include "spectral/operations.hpp"

namespace quadrat::bench {

namespace {

constexpr std::array<operation, 2> brownian_operations{{
    {"step", "velocities of spheres with noise, from new positions", 0, run_brownian_step},
    {"methods", "the same with each method for the noise", 0, run_brownian_methods},
}};

constexpr std::array<operation, 8> cells_operations{{
    {"insert", "building every cell list, random points on 64^3 cells", 0, run_insert},
    {"boxes", "building every cell list at 2, 3.5 and 8 particles per cell", 0, run_boxes},
    {"blob", "building counting and sorted, 10M points in a Gaussian blob on 200^3 cells", 0, run_blob},
    {"carry", "building with position and velocity carried into the order of cells", 0, run_carry},
    {"walk", "walking the neighborhood of every particle, over every cell list", 0, run_walk},
    {"read_paths", "hand-written walks: texture, plain and read-only loads (CUDA)", 0, run_read_paths},
    {"hash", "a hash table over the same buckets", 0, run_hash},
    {"slowest_step", "building in the slowest step of the wave", 3, run_slowest_step},
}};

constexpr std::array<operation, 8> choice_operations{{
    {"mesh", "spreading: all methods on random cases", 0, run_choice_mesh},
    {"keyed", "reduction by key: the same", 0, run_choice_keyed},
    {"neighbors", "neighbor lists: the same", 0, run_choice_neighbors},
    {"contacts", "contacts: the same", 0, run_choice_contacts},
    {"ewald", "Ewald sums: orders, cutoffs and methods on random cases", 0, run_choice_ewald},
    {"nufft", "transforms: oversampling on random cases", 0, run_choice_nufft},
    {"models", "steps of models: the same", 0, run_choice_models},
    {"regret", "how much slower the chosen methods are than the best, over the cases before", 0, run_choice_regret},
}};

constexpr std::array<operation, 5> contacts_operations{{
    {"detect", "from positions to records: spheres of one size and of many, ellipsoids", 0, run_detect},
    {"methods", "every method on the same scenes", 0, run_contact_methods},
    {"bins", "the nine stages by bin size, with and without the second sort, by order in memory", 0, run_bins},
    {"sparse", "spheres in domains much larger than they are", 0, run_sparse_contacts},
    {"friction", "the granular model with friction: the step of settled grains", 0, run_friction},
}};

constexpr std::array<operation, 13> distributed_operations{{
    {"weak", "the granular step, grains per rank fixed, compared with one context", 0, run_weak_scaling},
    {"strong", "the granular step, total number of grains fixed", 0, run_strong_scaling},
    {"exchange", "the granular step, without and with grains that change ranks in each", 0, run_exchange},
    {"overlap", "the granular step: the work while ghosts travel, and after that", 0, run_overlap},
    {"srd", "the step of the SRD fluid, total number of particles fixed", 0, run_distributed_srd},
    {"circles", "the step of Circles, total number of agents fixed", 0, run_distributed_circles},
    {"ewald", "energy and forces, total number of charges fixed", 0, run_distributed_ewald},
    {"spread", "spreading, total number of points fixed", 0, run_distributed_spread},
    {"brownian", "the step of Brownian dynamics, total number of spheres fixed", 0, run_distributed_brownian},
    {"halo", "positions of ghosts, packing included", 0, run_halo},
    {"migration", "one particle of a hundred changes its rank", 0, run_migration},
    {"fft", "Fourier transforms of complex meshes in slabs", 0, run_distributed_fft},
    {"nufft", "non-uniform transforms, total number of points fixed", 0, run_distributed_nufft},
}};

constexpr std::array<operation, 5> electrostatics_operations{{
    {"reciprocal", "the mesh part of charges at random places", 0, run_reciprocal},
    {"whole", "energy and forces of water", 0, run_electrostatics},
    {"methods", "the same by every method with a mesh", 0, run_equal_errors},
    {"lattice", "charges on a jittered lattice, 20,000 to a million", 0, run_lattice},
    {"batch", "many small systems in one call", 0, run_small_systems},
}};

constexpr std::array<operation, 1> fft_operations{{
    {"to_modes", "from a mesh to its modes, by every library found", 0, run_fft},
}};

constexpr std::array<operation, 5> granular_operations{{
    {"step", "the step on frozen positions, by number of grains and grains per cell", 0, run_step},
    {"levels", "the step at each level of reproducibility, and in double precision", 0, run_levels},
    {"sparse", "the step in boxes much wider than the grains", 0, run_sparse_step},
    {"threads", "the speedup by a second thread (CPU)", 0, run_threads},
    {"simulation", "updates per second over the whole wave", 2, run_simulation},
}};

constexpr std::array<operation, 6> keyed_operations{{
    {"reach", "sums in three orders of keys by every method: ten elements per key", 0, run_keyed_reach},
    {"paper", "the paper's experiment: every variant of finding and combining peers, keys kept or not", 1,
     run_keyed_paper},
    {"auto", "the automatic choice against the best method, on many combinations", 0, run_keyed_auto},
    {"host", "sums, counts and means compared with a plain loop (CPU)", 0, run_keyed_host},
    {"sizes", "from a few thousand elements to the device's largest", 0, run_keyed_sizes},
    {"deterministic", "the same bits in every run, and compensated sums", 0, run_keyed_deterministic},
}};

constexpr std::array<operation, 15> mesh_operations{{
    {"spread", "values of points onto a mesh, by mesh, number of points and kind of values", 0, run_spread},
    {"interpolate", "values of a mesh at the points", 0, run_interpolate},
    {"interpolate_gradient", "their gradients", 0, run_interpolate_gradient},
    {"interpolate_with_gradient", "both in one pass", 0, run_interpolate_with_gradient},
    {"set_points", "setting the points of a plan", 0, run_set_points},
    {"crowds", "all of these with the points on a line, in a spot and in one place", 0, run_crowds},
    {"power_spectrum", "power spectra: the points set and spread by TSC, the transform, bins", 0, run_power_spectrum},
    {"figure3", "single_mesh by size of compute units", 3, run_figure_3},
    {"figure4", "group_mesh by size of groups", 4, run_figure_4},
    {"figure5", "single_mesh, by warp shuffles and through shared memory", 5, run_figure_5},
    {"figure6", "the particle method with and without atomic operations", 6, run_figure_6},
    {"figure7", "the particle method against gather", 7, run_figure_7},
    {"figure8", "spreading by every method", 8, run_figure_8},
    {"figure9", "setting the points of every method", 9, run_figure_9},
    {"repetitions", "the fastest method for each number of repetitions (section 4.5)", 0, run_repetitions},
}};

constexpr std::array<operation, 15> neighbors_operations{{
    {"csr", "full lists by size, number of neighbors and precision, uniform points", 0, run_csr},
    {"clustered", "full lists of points in 64 blobs", 0, run_clustered},
    {"sparse", "lists in boxes much larger than their points", 0, run_sparse},
    {"triclinic", "lists in periodic boxes of one volume and several shapes", 0, run_triclinic},
    {"cutoffs", "a radius for each point, over 1:100, compared with one cutoff and as many pairs", 0, run_cutoffs},
    {"small", "one small periodic system, its state object reused", 0, run_small},
    {"batch", "thousands of small periodic systems in one call", 0, run_batch},
    {"separations", "full lists with vectors and shifts in a periodic cube", 0, run_separations},
    {"outputs", "half, sorted, pairs, distances, vectors, matrix", 0, run_outputs},
    {"rdf", "a frame of a radial distribution function", 0, run_rdf},
    {"pairs", "pair counts in logarithmic bins, by precision, coordinates and sums", 0, run_pairs},
    {"clusters", "friends-of-friends and DBSCAN by size and number of neighbors", 0, run_clusters},
    {"knn", "the k nearest neighbors of all points, by k, precision and distribution", 0, run_nearest},
    {"lj_step", "a step of a Lennard-Jones liquid: forces over a list with a skin, rebuilds included", 0, run_lj_step},
    {"cluster_pairs", "Lennard-Jones forces over a neighbor list and over cluster pairs", 0, run_cluster_pairs},
}};

constexpr std::array<operation, 3> nufft_operations{{
    {"1d", "types 1 to 3 by modes, tolerance, precision and kind of values, in one dimension", 0, run_nufft_1d},
    {"2d", "the same in two dimensions", 0, run_nufft_2d},
    {"3d", "the same in three dimensions", 0, run_nufft_3d},
}};

constexpr std::array<operation, 5> search_operations{{
    {"step", "Circles, sine form: the whole step, every order over every cell list", 0, run_circles_step},
    {"circles", "the paper's experiment: the four orders along a run of the original form", 0, run_circles_experiment},
    {"original", "the original form by width of the box and by radius", 0, run_original_sweeps},
    {"sine", "the sine form by volume, density and reach", 0, run_sine_sweeps},
    {"visit", "counting the 40 neighbors of every point, building included", 0, run_visit},
}};

constexpr std::array<operation, 5> srd_operations{{
    {"step", "the step by precision, kind of sums and time step", 0, run_srd_step},
    {"sort_every", "the step by the number of steps between two sorts", 0, run_srd_sort_every},
    {"viscosity", "viscosities from shear waves, against theory and known ones", 0, run_srd_viscosity},
    {"tails", "viscosities in 2D by the length of the wave, against theory", 0, run_srd_tails},
    {"poiseuille", "a flow between plates, against its parabola", 0, run_srd_poiseuille},
}};

/// The automatic choice, which runs everywhere, as an entry of the list of methods.
constexpr method_info automatic{"auto", "", true, true, determinism::canonical};

template <typename Method>
std::vector<method_info> listed(std::span<const Method> methods, std::vector<method_info> others = {}) {
  others.insert(others.end(), methods.begin(), methods.end());
  return others;
}

std::vector<method_info> brownian_methods() { return listed(mobility_methods()); }
std::vector<method_info> choice_methods() { return {automatic}; }
std::vector<method_info> cells_methods() { return listed(cell_lists()); }
std::vector<method_info> contacts_methods() { return listed(contact_methods()); }
std::vector<method_info> sums_methods() { return listed(electrostatics_methods(), {automatic}); }
std::vector<method_info> fft_methods() { return listed(fft_libraries()); }
std::vector<method_info> granular_model_methods() { return listed(granular_methods()); }
std::vector<method_info> keyed_methods() { return listed(key_methods(), {automatic}); }
std::vector<method_info> mesh_methods() { return listed(spread_methods(), {automatic}); }
std::vector<method_info> neighbors_methods() { return listed(neighbor_methods()); }
std::vector<method_info> search_methods() { return listed(traversal_orders()); }

/// The names of what is timed, the same on every device.
std::vector<method_info> distributed_methods() {
  std::vector<method_info> all;
  for (const char* name : {"ranks", "one_context", "overlapping", "exchanging", "positions", "nccl", "in_place",
                           "stable", "natural", "transposed"}) {
    all.push_back({name, "", true, true, determinism::run_to_run});
  }
  return all;
}

/// Kinds of sums.
std::vector<method_info> srd_methods() {
  return {{"floating", "", true, true, determinism::none}, {"fixed", "", true, true, determinism::run_to_run}};
}

constexpr std::array<topic, 14> all_topics{{
    {"brownian", "spheres with hydrodynamic interactions (the application of particle-mesh-spreading)",
     brownian_operations, brownian_methods},
    {"cells", "putting particles in cells (uniform-grid-atomics, Figure 3)", cells_operations, cells_methods},
    {"choice", "the automatic choice of methods, compared with the best", choice_operations, choice_methods},
    {"contacts", "contacts of bodies (parallel-binning-collision)", contacts_operations, contacts_methods},
    {"distributed", "ranks: devices, or threads on the CPU", distributed_operations, distributed_methods},
    {"electrostatics", "Ewald sums over charges in periodic cells", electrostatics_operations, sums_methods},
    {"fft", "fast Fourier transforms of meshes", fft_operations, fft_methods},
    {"granular", "the granular model (uniform-grid-atomics, Figure 2)", granular_operations, granular_model_methods},
    {"keyed", "reduction by key (voting-and-shuffling, Figure 1)", keyed_operations, keyed_methods},
    {"mesh", "spreading and interpolation (particle-mesh-spreading)", mesh_operations, mesh_methods},
    {"neighbors", "neighbor lists", neighbors_operations, neighbors_methods},
    {"nufft", "non-uniform Fourier transforms", nufft_operations, mesh_methods},
    {"search", "walking neighborhoods (modular-bin-strips)", search_operations, search_methods},
    {"srd", "the fluid of stochastic rotation dynamics (the application of voting-and-shuffling)", srd_operations,
     srd_methods},
}};

void require_known(std::string_view kind, std::string_view name, const std::vector<std::string_view>& valid) {
  if (std::ranges::find(valid, name) == valid.end()) detail::throw_unknown_method(kind, name, valid);
}

template <typename Named>
std::vector<std::string_view> names_of(std::span<const Named> things) {
  std::vector<std::string_view> names;
  for (const Named& thing : things) names.push_back(thing.name);
  return names;
}

const topic& find_topic(std::string_view name) {
  require_known("topic", name, names_of(topics()));
  return *std::ranges::find(all_topics, name, &topic::name);
}

bool wanted(const settings& asked, const operation& candidate) {
  if (asked.operations.empty() && asked.figures.empty()) return true;
  return std::ranges::find(asked.operations, candidate.name) != asked.operations.end() ||
         std::ranges::find(asked.figures, candidate.figure) != asked.figures.end();
}

}  // namespace

std::span<const topic> topics() { return all_topics; }

void check(const settings& asked) {
  const topic& chosen = find_topic(asked.topic);
  for (const std::string& name : asked.methods) {
    detail::require_method({"method", asked.on_cuda}, name, chosen.methods());
  }
  for (const std::string& name : asked.operations) require_known("operation", name, names_of(chosen.operations));
  for (const int figure : asked.figures) {
    std::string valid;
    bool known = false;
    for (const operation& candidate : chosen.operations) {
      if (candidate.figure == 0) continue;
      known = known || candidate.figure == figure;
      valid += (valid.empty() ? "" : ", ") + std::to_string(candidate.figure);
    }
    require(known, "topic ", asked.topic, " has no figure ", figure, "; it has ", valid);
  }
}

std::size_t run(const settings& asked) {
  check(asked);
  report out(asked);
  const session s(asked, out);
  with_context(s, [](const auto& context) { warm_up(context); });
  for (const operation& candidate : find_topic(asked.topic).operations) {
    if (!wanted(asked, candidate)) continue;
    out.headline(message(candidate.name, ": ", candidate.summary));
    candidate.run(s);
    out.save(false);
  }
  out.save(true);
  return out.failures();
}

}  // namespace quadrat::bench
