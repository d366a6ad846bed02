// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "quadrat/core/box.hpp"
#include "quadrat/core/context.hpp"
#include "quadrat/core/instance.hpp"
#include "quadrat/core/lattice.hpp"
#include "quadrat/core/pimpl.hpp"
#include "quadrat/core/views.hpp"

/// Numbers of pairs in bins of separation, as astronomers count them.
namespace quadrat {

/// What bins divide. The line of sight is the third axis.
enum class pair_coordinates {
  r,      ///< the distance
  rp_pi,  ///< the distance across the line of sight, r_p, and along it, pi = |z|
  s_mu,   ///< the distance s, and mu = |z| / s, which is 0 where s is 0
  theta,  ///< the angle on the sky, in degrees, between unit vectors
};

struct pair_counts_options {
  pair_coordinates coordinates = pair_coordinates::r;
  /// Of the bins of r, r_p, s or theta: at least 2, increasing, none negative. Bin k holds edges[k] <= r < edges[k +
  /// 1].
  std::vector<double> edges;
  /// The same of pi or mu, which is at most 1; empty for r and theta.
  std::vector<double> second_edges;
  bool mean_separation = false;  ///< whether the mean of r, r_p, s or theta in each bin is computed
  /// Accepts points outside the box along open axes, anywhere.
  bool accept_outside = false;
  std::size_t regions = 0;  ///< for jackknife errors, numbered from 0; 0: none
};

/// On the host. Bins are [bin of edges][bin of second_edges].
struct pair_counts_result {
  std::vector<std::uint64_t> counts;
  std::vector<double> weights;           ///< sums of the products of weights; empty without weights
  std::vector<double> mean_separations;  ///< 0 in empty bins; empty unless asked for
  /// [region][bin]: the pairs with one point or both in the region. `counts` minus these are the counts without the
  /// points of the region.
  std::vector<std::uint64_t> region_counts;
  std::vector<double> region_weights;  ///< the same of weights
};

/// Counts pairs in bins. Images count as in a neighbor list: where the box is smaller than the largest separation,
/// several images of one partner count. `count` of one set counts ordered pairs, so each pair of two points twice, and
/// each point with itself, at distance 0, as Corrfunc does: with 0 as the lowest edge they are in the first bin. Counts
/// of a set with itself are then those of the set with its copy.
///
/// A pair is in a bin if the square of its distance, computed in T, is at least the square of the lower edge, rounded
/// to T, and less than that of the upper one; pi and mu are compared with edges rounded to T. Pairs are counted during
/// a walk over cells, in groups of points close together, without a list; memory is proportional to the points and
/// bins.
///
/// Determinism: counts are integers, and sums are taken in fixed point, with steps of 2^-40 of the largest possible
/// term (rounded up to a power of two), so all are the same in every run, with any number of threads and in any order
/// of points. CPU and GPU may disagree about a distance that rounds to an edge. Move-only. T: float or double; D: 3.
template <typename Context, typename T, int D>
class pair_counts {
  static_assert(detail::instance<Context, T, D>::exists && D == 3);

 public:
  /// Throws argument_error for edges that are not as `pair_counts_options` says or whose squares are not different
  /// numbers of T, for more than 2^20 bins or products of bins and regions, and for theta, which has no box.
  pair_counts(const Context& context, const lattice<T, D>& box, const pair_counts_options& options);
  pair_counts(const Context& context, const box<T, D>& domain, const pair_counts_options& options)
      : pair_counts(context, make_lattice(domain), options) {}
  /// For theta only: points are unit vectors.
  pair_counts(const Context& context, const pair_counts_options& options);

  /// The pairs of a set of points with itself. Points, weights (one per point; nullptr: none) and regions (one per
  /// point, less than `options.regions`; nullptr if that is 0) are in the memory of the context. Waits. May allocate.
  /// Throws argument_error for invalid input visible to the host, and data_error naming the first point that is not
  /// finite, outside the box along an open axis or no unit vector, whose weight is not finite, or whose region does not
  /// exist, and if the product of the largest weights of both sets is not 0, nor from 1e-280 to 1e280.
  [[nodiscard]] pair_counts_result count(const points_view<T, D>& points, const T* weights = nullptr,
                                         const std::uint32_t* regions = nullptr);
  /// The pairs of each point of one set with each of another. Waits. May allocate. Throws as `count`, and
  /// argument_error if only one of the sets has weights.
  [[nodiscard]] pair_counts_result count_between(const points_view<T, D>& points, const points_view<T, D>& others,
                                                 const T* weights = nullptr, const T* other_weights = nullptr,
                                                 const std::uint32_t* regions = nullptr,
                                                 const std::uint32_t* other_regions = nullptr);

  /// Bytes of the context's memory held.
  [[nodiscard]] std::size_t bytes() const;
  [[nodiscard]] const pair_counts_options& options() const;

 private:
  struct implementation;
  detail::pimpl<implementation> implementation_;
};

}  // namespace quadrat
