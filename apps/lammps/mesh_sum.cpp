// SPDX-License-Identifier: BSD-3-Clause
#include "lammps/mesh_sum.hpp"

#include <algorithm>

#include "quadrat/core/box.hpp"
#include "quadrat/distributed/decomposition.hpp"

namespace quadrat::lammps {

namespace {

[[nodiscard]] box<double, 3> box_of(const lattice<double, 3>& cell) {
  const vec<double, 3> lengths{cell.vectors[0][0], cell.vectors[1][1], cell.vectors[2][2]};
  return make_box_from_lengths(cell.origin, lengths, cell.periodic);
}

/// Puts elements that came back, sorted by the rank that had them, in the order in which they were sent.
template <typename E>
void reorder(const std::vector<E>& sorted, const std::vector<std::uint32_t>& owners,
             const std::vector<std::size_t>& count_of_rank, std::vector<E>& result) {
  std::vector<std::size_t> next(count_of_rank.size(), 0);
  for (std::size_t r = 1; r < next.size(); ++r) next[r] = next[r - 1] + count_of_rank[r - 1];
  result.resize(owners.size());
  for (std::size_t i = 0; i < owners.size(); ++i) result[i] = sorted[next[owners[i]]++];
}

}  // namespace

mesh_sum::mesh_sum(communicator& ranks, int threads)
    : context_({.threads = threads, .reproducibility = determinism::run_to_run}),
      ranks_(ranks),
      there_(context_, ranks),
      back_(context_, ranks) {}

electrostatics_input<double> mesh_sum::input(const lattice<double, 3>& cell) const {
  electrostatics_input<double> result;
  result.points = points_of(points_);
  result.charges = charges_.data();
  result.cells = {&cell, 1};
  return result;
}

void mesh_sum::send(const rank_charges& mine) {
  there_.build(owners_.data(), owners_.size());
  points_.resize(there_.arriving());
  charges_.resize(there_.arriving());
  there_.apply(mine.points, points_.data());
  there_.apply(mine.charges, charges_.data());
}

void mesh_sum::gather(const rank_charges& mine) {
  owners_.assign(mine.count, 0);
  send(mine);
}

mesh_choice mesh_sum::choose(const rank_charges& mine, double accuracy, const ewald_parameters& given) {
  gather(mine);
  options_ = {.method = "spme", .accuracy = accuracy, .parameters = given, .parts = ewald_parts::long_range};
  mesh_choice choice{};
  together(ranks_, [&] {
    if (ranks_.rank() != 0) return;
    electrostatics<cpu_context, double> sums(context_, options_);
    sums.prepare(input(mine.cell));
    choice = {sums.report().parameters, sums.report().short_range_error, sums.report().mesh_error};
  });
  choice = all_values(ranks_, choice)[0];
  options_.parameters.cutoff = choice.parameters.cutoff;
  options_.parameters.splitting = choice.parameters.splitting;
  alone_.reset();
  shared_.reset();
  return choice;
}

void mesh_sum::share_out(const rank_charges& mine) {
  const box<double, 3> domain = box_of(mine.cell);
  const bool same = shared_ && space_.domain.lower == domain.lower && space_.domain.length == domain.length &&
                    space_.domain.periodic == domain.periodic;
  if (!same) {
    // Any cells serve that are much smaller than a rank's block.
    space_ = make_grid(domain, vec<int, 3>::filled(256));
    shares_ = even_decomposition(space_, ranks_.size());
    shared_.reset();
    shared_.emplace(context_, ranks_, space_, options_);
  }
  owners_.resize(mine.count);
  find_owners(context_, shares_.view(), space_, points_of(mine.points, mine.count), owners_.data());
  send(mine);
  shared_->set(shares_, points_of(points_), charges_.data());
}

void mesh_sum::compute(const rank_charges& mine, const wanted_sums& wanted, mesh_results& results) {
  const bool shared = mine.cell.orthorhombic && ranks_.size() > 1;
  if (shared) {
    share_out(mine);
  } else {
    gather(mine);
  }
  forces_.resize(points_.size());
  energies_.resize(wanted.energies ? points_.size() : 0);
  electrostatics_output<double> output;
  output.forces = forces_.data();
  if (wanted.energies) output.energies = energies_.data();
  if (wanted.energy) output.energy = &results.energy;
  if (wanted.virial) output.virial = &results.virial[0];
  if (shared) {
    shared_->compute(points_of(points_), output);
  } else {
    together(ranks_, [&] {
      if (ranks_.rank() != 0) return;
      if (!alone_) alone_.emplace(context_, options_);
      alone_->compute(input(mine.cell), output);
    });
    struct sums {
      double energy;
      vec<double, 9> virial;
    };
    const sums of_rank_0 = all_values(ranks_, sums{results.energy, results.virial})[0];
    results.energy = of_rank_0.energy;
    results.virial = of_rank_0.virial;
  }
  return_results(wanted.energies, results);
}

void mesh_sum::return_results(bool energies, mesh_results& results) {
  std::vector<std::uint32_t> sources;
  for (std::size_t r = 0; r < there_.arriving_by_rank().size(); ++r) {
    sources.insert(sources.end(), there_.arriving_by_rank()[r], static_cast<std::uint32_t>(r));
  }
  back_.build(sources.data(), sources.size());
  std::vector<vec<double, 3>> forces(owners_.size());
  back_.apply(forces_.data(), forces.data());
  reorder(forces, owners_, back_.arriving_by_rank(), results.forces);
  if (!energies) return;
  std::vector<double> sorted(owners_.size());
  back_.apply(energies_.data(), sorted.data());
  reorder(sorted, owners_, back_.arriving_by_rank(), results.energies);
}

std::size_t mesh_sum::bytes() const {
  const std::size_t own = points_.capacity() * 2 * sizeof(vec<double, 3>) + charges_.capacity() * 2 * sizeof(double);
  return own + there_.bytes() + back_.bytes() + (alone_ ? alone_->bytes() : 0) + (shared_ ? shared_->bytes() : 0);
}

}  // namespace quadrat::lammps
