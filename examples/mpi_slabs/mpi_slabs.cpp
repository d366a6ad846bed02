// SPDX-License-Identifier: BSD-3-Clause A program that distributes its particles itself, in slabs along x, by
// plain MPI. Quadrat finds the neighbors of each rank's particles among its own and ghosts, counts over all
// ranks how many particles have how many neighbors, and spreads particles onto the patch of a mesh around each
// slab.
//   mpirun -n 4 ./mpi_slabs
#include <mpi.h>
#include <quadrat/distributed/key_reducer.hpp>
#include <quadrat/distributed/mpi.hpp>
#include <quadrat/mesh/spread_plan.hpp>
#include <quadrat/search/make_neighbor_list.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <random>
#include <vector>

namespace {

using point = quadrat::vec<double, 3>;

constexpr double edge = 10, cutoff = 1.1;
constexpr int total = 4000, most_neighbors = 200, mesh = 20, order = 4;

/// The same on every rank.
std::vector<point> all_points() {
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> along(0, edge);
  std::vector<point> points(total);
  for (point& one : points) one = {along(random), along(random), along(random)};
  return points;
}

/// The distance along x from a place to a slab, across the periodic faces too.
double distance_to_slab(double x, int slab, int slabs) {
  const double first = edge * slab / slabs, last = edge * (slab + 1) / slabs;
  double nearest = edge;
  for (const double image : {x - edge, x, x + edge}) {
    nearest = std::min(nearest, std::max({first - image, image - last, 0.0}));
  }
  return nearest;
}

/// Own particles, then one copy of each particle of other ranks that may be a neighbor, at its owner's position.
std::vector<point> with_ghosts(const std::vector<point>& own, int rank, int ranks) {
  std::vector<double> sent;
  std::vector<int> counts(ranks), places(ranks), coming(ranks), from(ranks);
  for (int other = 0; other < ranks; ++other) {
    places[other] = static_cast<int>(sent.size());
    for (const point& one : own) {
      if (other == rank || distance_to_slab(one[0], other, ranks) > cutoff) continue;
      sent.insert(sent.end(), {one[0], one[1], one[2]});
    }
    counts[other] = static_cast<int>(sent.size()) - places[other];
  }
  MPI_Alltoall(counts.data(), 1, MPI_INT, coming.data(), 1, MPI_INT, MPI_COMM_WORLD);
  int room = 0;
  for (int other = 0; other < ranks; ++other) {
    from[other] = room;
    room += coming[other];
  }
  std::vector<double> received(static_cast<std::size_t>(room));
  MPI_Alltoallv(sent.data(), counts.data(), places.data(), MPI_DOUBLE, received.data(), coming.data(), from.data(),
                MPI_DOUBLE, MPI_COMM_WORLD);
  std::vector<point> all = own;
  for (std::size_t k = 0; k < received.size(); k += 3) all.push_back({received[k], received[k + 1], received[k + 2]});
  return all;
}

/// The numbers of neighbors of the first `rows` points.
std::vector<std::uint32_t> numbers_of_neighbors(const std::vector<point>& points, std::size_t rows) {
  const quadrat::cpu_context context({.threads = 1});
  const auto box = quadrat::make_box<double, 3>({0, 0, 0}, {edge, edge, edge}, {true, true, true});
  auto list = quadrat::make_neighbor_list(context, box, {.cutoff = cutoff});
  list.build(quadrat::points_of(points));
  return {list.view().counts, list.view().counts + rows};
}

/// The mesh points that particles of a slab reach: from `first` along x, all along y and z.
struct patch {
  int first, extent;

  patch(int rank, int ranks)
      : first(static_cast<int>(std::floor(mesh * rank / static_cast<double>(ranks))) - order / 2),
        extent(static_cast<int>(std::ceil(mesh * (rank + 1) / static_cast<double>(ranks))) + order / 2 + 1 - first) {}

  quadrat::spread_plan<quadrat::cpu_context, double, 3> plan() const {
    const double spacing = edge / mesh;
    const auto box = quadrat::make_box_from_lengths<double, 3>({first * spacing, 0, 0}, {extent * spacing, edge, edge},
                                                               {false, true, true});
    return {quadrat::cpu_context({.threads = 1}), box, {extent, mesh, mesh}, order};
  }
  /// The place in the whole mesh of a mesh point of the patch.
  int place(int point) const {
    const int plane = mesh * mesh, x = first + point / plane;
    return (x + mesh) % mesh * plane + point % plane;
  }
};

/// Spreads 1 per particle onto the whole mesh, and interpolates at own particles.
std::vector<double> densities_at(const std::vector<point>& own, int rank, int ranks) {
  const patch around(rank, ranks);
  auto plan = around.plan();
  plan.set_points(quadrat::points_of(own));
  const std::vector<double> ones(own.size(), 1);
  std::vector<double> values(static_cast<std::size_t>(around.extent) * mesh * mesh), whole(mesh * mesh * mesh);
  plan.spread(ones.data(), values.data());
  for (std::size_t k = 0; k < values.size(); ++k) whole[around.place(static_cast<int>(k))] += values[k];
  MPI_Allreduce(MPI_IN_PLACE, whole.data(), mesh * mesh * mesh, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  for (std::size_t k = 0; k < values.size(); ++k) values[k] = whole[around.place(static_cast<int>(k))];
  std::vector<double> found(own.size());
  plan.interpolate(values.data(), found.data());
  return found;
}

/// The result of a single rank with all particles, at some of them.
std::vector<double> expected_densities(const std::vector<point>& everything, const std::vector<point>& own) {
  const auto box = quadrat::make_box<double, 3>({0, 0, 0}, {edge, edge, edge}, {true, true, true});
  quadrat::spread_plan<quadrat::cpu_context, double, 3> plan(quadrat::cpu_context({.threads = 1}), box,
                                                             {mesh, mesh, mesh}, order);
  std::vector<double> whole(mesh * mesh * mesh), expected(own.size());
  plan.set_points(quadrat::points_of(everything));
  plan.spread(std::vector<double>(everything.size(), 1).data(), whole.data());
  plan.set_points(quadrat::points_of(own));
  plan.interpolate(whole.data(), expected.data());
  return expected;
}

bool near(const std::vector<double>& a, const std::vector<double>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](double x, double y) { return std::abs(x - y) < 1e-9; });
}

int run() {
  int rank = 0, ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const std::vector<point> everything = all_points();
  std::vector<point> own;
  for (const point& one : everything) {
    if (std::min(static_cast<int>(one[0] * ranks / edge), ranks - 1) == rank) own.push_back(one);
  }
  const auto found = numbers_of_neighbors(with_ghosts(own, rank, ranks), own.size());

  MPI_Comm comm = MPI_COMM_WORLD;
  const auto communicator = quadrat::make_mpi_communicator(&comm);
  quadrat::distributed_key_reducer<quadrat::cpu_context> reducer(quadrat::cpu_context({.threads = 1}), *communicator,
                                                                 most_neighbors);
  reducer.set_keys(found.data(), found.size());
  const quadrat::key_share share = reducer.share();
  std::vector<std::uint64_t> counts(share.end - share.first);
  reducer.count(counts.data());

  // The result of a single rank.
  std::vector<std::uint64_t> expected(most_neighbors, 0);
  for (const std::uint32_t number : numbers_of_neighbors(everything, everything.size())) ++expected[number];
  int wrong =
      std::equal(counts.begin(), counts.end(), expected.begin() + static_cast<std::ptrdiff_t>(share.first)) ? 0 : 1;
  if (!near(densities_at(own, rank, ranks), expected_densities(everything, own))) wrong += 2;
  MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_BOR, MPI_COMM_WORLD);
  if (rank == 0) {
    std::printf("%d ranks: numbers of neighbors are %sthose of one rank, densities are %s\n", ranks,
                wrong & 1 ? "not " : "", wrong & 2 ? "not" : "as well");
  }
  return wrong == 0 ? 0 : 1;
}

}  // namespace

int main(int count, char** words) {
  MPI_Init(&count, &words);
  const int result = run();
  MPI_Finalize();
  return result;
}
