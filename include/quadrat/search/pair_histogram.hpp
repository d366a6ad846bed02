// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "quadrat/core/box.hpp"
#include "quadrat/core/context.hpp"
#include "quadrat/core/instance.hpp"
#include "quadrat/core/lattice.hpp"
#include "quadrat/core/pimpl.hpp"
#include "quadrat/core/views.hpp"

/// Histograms of the distances of pairs, and radial distribution functions g(r), over many frames.
namespace quadrat {

template <typename T>
struct pair_histogram_options {
  T cutoff = T(0);          ///< pairs closer than this are counted
  std::size_t bins = 200;   ///< of one width, from 0 to the cutoff
  std::uint32_t types = 1;  ///< of points; each pair of types has a histogram
  /// Accepts points outside the box along open axes, anywhere.
  bool accept_outside = false;
  /// The expected number of pairs of one type is N_a (N_a - 1) / V instead of N_a^2 / V: that of points that are not
  /// their own neighbors. g(r) of few independent points is then also 1.
  bool distinct = false;
};

/// The counts, on the host. Bin k of the types a <= b is at [pair_of_types(a, b) * bins + k].
struct pair_histogram_result {
  std::size_t frames = 0;
  std::size_t bins = 0;
  std::uint32_t types = 1;
  double width = 0;  ///< of a bin: bin k holds distances from k * width to (k + 1) * width
  /// Pairs (i, j, S) with i of type a and j of type b, of all frames. If a = b, (j, i, -S) is a separate pair.
  std::vector<std::uint64_t> counts;
  /// The counts divided by the sum over the frames of N_a N_b / V, times the volume of the shell (in 2D, the area of
  /// the ring); 0 if there are no such points. In a periodic box the divisor is the count of independent, uniform
  /// points, except for a factor 1 - 1 / N_a if a = b (see `distinct`). Near open sides points have fewer neighbors;
  /// that is not corrected.
  std::vector<double> rdf;

  [[nodiscard]] std::size_t pair_of_types(std::uint32_t a, std::uint32_t b) const {
    return a <= b ? std::size_t{a} * types - std::size_t{a} * (a + 1) / 2 + b : pair_of_types(b, a);
  }
  /// The middle of a bin.
  [[nodiscard]] double center(std::size_t bin) const { return (static_cast<double>(bin) + 0.5) * width; }
};

/// Counts the distances of all pairs closer than a cutoff, images included as in a neighbor list: if the box is smaller
/// than the cutoff, several images of one neighbor count, and so do images of the point itself. Pairs are counted
/// during the walk over cells, without a list; memory is proportional to the points and to the histogram. Move-only. T:
/// float or double; D: 2 or 3; Context: cpu_context or cuda_context.
///
/// Determinism: counts are integers, the same in every run and with any number of threads. CPU and GPU may disagree
/// about a distance that rounds to the face of a bin.
template <typename Context, typename T, int D>
class pair_histogram {
  static_assert(detail::instance<Context, T, D>::exists);

 public:
  /// Throws argument_error unless the cutoff's square is positive and finite, there are 1 to 2^20 bins and 1 to 64
  /// types.
  pair_histogram(const Context& context, const pair_histogram_options<T>& options);

  /// Adds the pairs of a frame. The points and their types (below options.types; nullptr: all 0) are in the memory of
  /// the context. Waits. May allocate. Throws argument_error for invalid input visible to the host, and data_error
  /// naming the first point that is not finite or outside the box along an open axis, or whose type is invalid; the
  /// frame is then not counted.
  void add(const points_view<T, D>& points, const lattice<T, D>& box, const std::uint32_t* types = nullptr);
  void add(const points_view<T, D>& points, const box<T, D>& domain, const std::uint32_t* types = nullptr) {
    add(points, make_lattice(domain), types);
  }
  /// Adds a frame of each of several systems, which have a box each and may be empty. The system of each point is in
  /// the memory of the context, in any order; nullptr: there is one. Both points of a pair belong to the same system.
  /// Waits. May allocate. Throws the same, and data_error naming the first point whose system is invalid; then no frame
  /// is counted.
  void add(const points_view<T, D>& points, std::span<const lattice<T, D>> boxes, const std::uint32_t* system_of_point,
           const std::uint32_t* types = nullptr);

  /// All frames since the start, or since the last `clear`. Waits. Allocates nothing.
  [[nodiscard]] pair_histogram_result result() const;
  /// Forgets all frames. Does not wait. Allocates nothing.
  void clear();
  /// Bytes of the context's memory held.
  [[nodiscard]] std::size_t bytes() const;
  [[nodiscard]] const pair_histogram_options<T>& options() const;

 private:
  struct implementation;
  detail::pimpl<implementation> implementation_;
};

}  // namespace quadrat
