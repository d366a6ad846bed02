// SPDX-License-Identifier: BSD-3-Clause
#include <fftw3-mpi.h>
#include <mpi.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <complex>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "quadrat/core/error.hpp"
#include "quadrat/distributed/fft.hpp"
#include "quadrat/distributed/mpi.hpp"

// Compares transforms of one mesh by distributed_fft and by FFTW's MPI library, alternating, on the same ranks:
//   mpirun -n 2 quadrat_compare_fftw_mpi 128
// Prints JSON: the median of each, in ms, the ratio, and the largest difference between the results over the largest
// mode. One thread a rank. FFTW's plans are FFTW_MEASURE.

namespace {

using namespace quadrat;
using number = std::complex<double>;

constexpr int rounds = 15;

[[nodiscard]] number value_at(std::size_t i) {
  return {std::sin(static_cast<double>(i)), std::cos(0.7 * static_cast<double>(i))};
}

/// Times a call on all ranks; the slowest counts.
template <typename F>
[[nodiscard]] double milliseconds(communicator& ranks, const F& f) {
  ranks.barrier();
  const auto begin = std::chrono::steady_clock::now();
  f();
  ranks.barrier();
  const auto all =
      all_values(ranks, std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count());
  return *std::max_element(all.begin(), all.end());
}

[[nodiscard]] double median(std::vector<double> times) {
  std::nth_element(times.begin(), times.begin() + rounds / 2, times.end());
  return times[rounds / 2];
}

struct comparison {
  communicator& ranks;
  int edge;
  bool transposed;

  void run() const {
    const ptrdiff_t n = edge;
    ptrdiff_t layers = 0, first = 0, other_layers = 0, other_first = 0;
    const ptrdiff_t room =
        fftw_mpi_local_size_3d_transposed(n, n, n, MPI_COMM_WORLD, &layers, &first, &other_layers, &other_first);
    auto* const theirs = fftw_alloc_complex(static_cast<std::size_t>(room));
    const unsigned flags = FFTW_MEASURE | (transposed ? static_cast<unsigned>(FFTW_MPI_TRANSPOSED_OUT) : 0U);
    const fftw_plan plan = fftw_mpi_plan_dft_3d(n, n, n, theirs, theirs, MPI_COMM_WORLD, FFTW_FORWARD, flags);
    const cpu_context context({.threads = 1});
    distributed_fft<cpu_context, double> fft(context, ranks, {edge, edge, edge},
                                             {.transposed = transposed, .library = {}, .layout = fft_layout::slabs});
    std::vector<number> ours(fft.room());
    require(static_cast<std::size_t>(layers) * static_cast<std::size_t>(n * n) == fft.mesh_size(),
            "FFTW shares the mesh out in another way");

    std::vector<double> our_times, their_times;
    for (int round = 0; round < rounds; ++round) {
      const auto start = static_cast<std::size_t>(first * n * n);
      for (std::size_t i = 0; i < fft.mesh_size(); ++i) {
        ours[i] = value_at(start + i);
        theirs[i][0] = ours[i].real();
        theirs[i][1] = ours[i].imag();
      }
      our_times.push_back(milliseconds(ranks, [&] { fft.forward(ours.data()); }));
      their_times.push_back(milliseconds(ranks, [&] { fftw_execute(plan); }));
    }
    report(median(our_times), median(their_times), difference(ours, theirs, other_layers));
    fftw_destroy_plan(plan);
    fftw_free(theirs);
  }

  /// FFTW's transposed order is [y][x][z], ours [y][z][x].
  [[nodiscard]] double difference(const std::vector<number>& ours, const fftw_complex* theirs,
                                  ptrdiff_t other_layers) const {
    const auto n = static_cast<std::size_t>(edge);
    double apart = 0, largest = 0;
    const std::size_t count = transposed ? static_cast<std::size_t>(other_layers) * n * n : ours.size();
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t y = i / (n * n), z = i / n % n, x = i % n;
      const fftw_complex& other = theirs[transposed ? (y * n + x) * n + z : i];
      apart = std::max(apart, std::abs(ours[i] - number(other[0], other[1])));
      largest = std::max(largest, std::abs(ours[i]));
    }
    for (const vec<double, 2>& one : all_values(ranks, vec<double, 2>{apart, largest})) {
      apart = std::max(apart, one[0]);
      largest = std::max(largest, one[1]);
    }
    return apart / largest;
  }

  void report(double ours, double theirs, double apart) const {
    if (ranks.rank() != 0) return;
    std::printf(
        "{\"op\": \"fft\", \"order\": \"%s\", \"edge\": %d, \"ranks\": %d, \"quadrat_ms\": %.4g, \"fftw_ms\": "
        "%.4g, \"fftw_over_quadrat\": %.3g, \"difference\": %.2g}\n",
        transposed ? "transposed" : "natural", edge, ranks.size(), ours, theirs, theirs / ours, apart);
  }
};

}  // namespace

int main(int count, char** words) {
  run_under_mpi([&](communicator& ranks) {
    const int edge = count > 1 ? std::atoi(words[1]) : 64;
    require(edge >= ranks.size() && edge % ranks.size() == 0, "the mesh has ", edge,
            " layers; a multiple of the ranks is needed, of which there are ", ranks.size());
    fftw_mpi_init();
    for (const bool transposed : {false, true}) comparison{ranks, edge, transposed}.run();
  });
}
