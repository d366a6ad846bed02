// SPDX-License-Identifier: BSD-3-Clause
// Particles over ranks: who owns which, migration, ghosts, and a neighbor list. The forces on own particles have the
// same bits as on one rank.
//   ./ranks                  four ranks in threads of one process
//   mpirun -n 4 ./ranks      four processes, where the library has MPI
#include <quadrat/core/grid.hpp>
#include <quadrat/distributed/decomposition.hpp>
#include <quadrat/distributed/halo.hpp>
#include <quadrat/distributed/in_process.hpp>
#include <quadrat/distributed/migration.hpp>
#include <quadrat/distributed/mpi.hpp>
#include <quadrat/search/make_neighbor_list.hpp>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <random>
#include <utility>
#include <vector>

namespace {

using vector3 = quadrat::vec<double, 3>;

constexpr double cutoff = 0.1;
constexpr std::size_t total = 10'000;

struct particles {
  std::vector<vector3> positions;
  std::vector<std::uint32_t> ids;
};

/// A rank's share of the first particles, wherever they are.
particles first_share(std::size_t rank, std::size_t ranks) {
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> uniform(0, 1);
  particles share;
  for (std::uint32_t id = 0; id < total; ++id) {
    const vector3 position{uniform(random), uniform(random), uniform(random)};
    if (id * ranks / total != rank) continue;
    share.positions.push_back(position);
    share.ids.push_back(id);
  }
  return share;
}

/// The force of springs on the particle of row i: 1 - r / cutoff away from each neighbor, summed in the order of ids.
vector3 force_on(const quadrat::neighbor_list_view<double, 3>& list, std::size_t i,
                 const std::vector<std::uint32_t>& ids) {
  std::vector<std::pair<std::uint32_t, std::uint64_t>> order;
  for (std::uint64_t k = list.offsets[i]; k < list.offsets[i + 1]; ++k) order.emplace_back(ids[list.neighbors[k]], k);
  std::sort(order.begin(), order.end());
  vector3 sum{};
  for (const auto& [id, k] : order) {
    const double r = std::sqrt(list.squared_distances[k]);
    sum -= ((1 - r / cutoff) / r) * list.vectors[k];
  }
  return sum;
}

struct forces_by_id {
  std::vector<std::uint32_t> ids;
  std::vector<vector3> forces;
};

/// Of the particles that this rank owns.
forces_by_id forces_on_own(quadrat::communicator& ranks) {
  const quadrat::cpu_context context({.threads = 1});  // ranks in one process share its cores
  const auto box = quadrat::make_box<double, 3>({0, 0, 0}, {1, 1, 1}, {true, true, true});
  const auto space = quadrat::make_grid_for_cutoff(box, cutoff);

  // Who owns what: blocks of cells with equal numbers of particles. Particles go to their owners.
  const particles start = first_share(static_cast<std::size_t>(ranks.rank()), static_cast<std::size_t>(ranks.size()));
  const auto shares = quadrat::balanced_decomposition(context, ranks, space, quadrat::points_of(start.positions));
  std::vector<std::uint32_t> owners(start.ids.size());
  quadrat::find_owners(context, shares.view(), space, quadrat::points_of(start.positions), owners.data());
  quadrat::migration<quadrat::cpu_context> moves(context, ranks);
  moves.build(owners.data(), owners.size());
  particles own{std::vector<vector3>(moves.arriving()), std::vector<std::uint32_t>(moves.arriving())};
  moves.apply(start.positions.data(), own.positions.data());
  moves.apply(start.ids.data(), own.ids.data());

  // Ghosts come behind the own particles.
  const std::size_t count = own.ids.size();
  quadrat::halo<quadrat::cpu_context, double, 3> borders(context, ranks);
  borders.build(space, shares.view(), quadrat::points_of(own.positions), {.reach = cutoff});
  own.positions.resize(count + borders.ghosts());
  own.ids.resize(count + borders.ghosts());
  borders.forward(own.positions.data());
  borders.forward(own.ids.data());

  // Rows of the own particles are complete.
  auto list = quadrat::make_neighbor_list(context, box, {.cutoff = cutoff, .squared_distances = true, .vectors = true});
  list.build(quadrat::points_of(own.positions));
  forces_by_id result{{own.ids.begin(), own.ids.begin() + static_cast<std::ptrdiff_t>(count)}, {}};
  for (std::size_t i = 0; i < count; ++i) result.forces.push_back(force_on(list.view(), i, own.ids));
  std::printf("rank %d of %d: %zu own particles, %zu ghosts\n", ranks.rank(), ranks.size(), count, borders.ghosts());
  return result;
}

std::atomic<int> wrong{0};

void body(quadrat::communicator& ranks) {
  const forces_by_id found = forces_on_own(ranks);
  quadrat::self_communicator one;
  const std::vector<vector3> expected = forces_on_own(one).forces;  // on one rank they are in the order of ids
  for (std::size_t i = 0; i < found.ids.size(); ++i) {
    if (found.forces[i] != expected[found.ids[i]]) ++wrong;
  }
}

}  // namespace

int main() {
#if defined(WITH_MPI)
  if (quadrat::started_as_one_of_several()) {
    quadrat::run_under_mpi(body);
    return wrong == 0 ? 0 : 1;
  }
#endif
  quadrat::run_ranks(4, body);
  return wrong == 0 ? 0 : 1;
}
