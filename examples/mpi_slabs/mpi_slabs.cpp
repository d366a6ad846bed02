// SPDX-License-Identifier: BSD-3-Clause
// A program that shares out its particles itself, in slabs along x, by plain MPI. Quadrat finds the neighbors of each
// rank's particles among its own and ghosts, and counts over all ranks how many particles have how many neighbors.
//   mpirun -n 4 ./mpi_slabs
#include <mpi.h>
#include <quadrat/distributed/key_reducer.hpp>
#include <quadrat/distributed/mpi.hpp>
#include <quadrat/search/make_neighbor_list.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <random>
#include <vector>

namespace {

using point = quadrat::vec<double, 3>;

constexpr double edge = 10, cutoff = 1.1;
constexpr int total = 4000, most_neighbors = 200;

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

/// Own particles, then copies of those of other ranks that may be neighbors, each once, where their owners have them.
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

  // What one rank finds.
  std::vector<std::uint64_t> expected(most_neighbors, 0);
  for (const std::uint32_t number : numbers_of_neighbors(everything, everything.size())) ++expected[number];
  int wrong =
      std::equal(counts.begin(), counts.end(), expected.begin() + static_cast<std::ptrdiff_t>(share.first)) ? 0 : 1;
  MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0)
    std::printf("%d ranks: numbers of neighbors are %s those of one rank\n", ranks, wrong == 0 ? "" : "not");
  return wrong == 0 ? 0 : 1;
}

}  // namespace

int main(int count, char** words) {
  MPI_Init(&count, &words);
  const int result = run();
  MPI_Finalize();
  return result;
}
