// SPDX-License-Identifier: BSD-3-Clause
#include "contacts/bin_choice.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "contacts/levels/grids.hpp"
#include "quadrat/core/error.hpp"

namespace quadrat::detail {

namespace {

// Weights of the model of loose bins, in units of one pair tested.
constexpr double row_of_bins_cost = 2;
constexpr double loose_bin_cost = 1;
/// The most bins per body, to limit memory.
constexpr double most_bins_a_body = 4;
constexpr double most_bins = 1 << 27;

/// Means of powers of the bodies' lengths.
struct length_moments {
  double bodies = 0;
  double first = 0;
  double second = 0;
  double third = 0;
  double longest = 0;
};

template <typename T>
length_moments moments_of(const size_histogram<T>& sizes) {
  length_moments moments;
  moments.longest = 2 * static_cast<double>(sizes.largest);
  for (int k = 0; k < size_classes; ++k) {
    const auto bodies = static_cast<double>(sizes.counts[static_cast<std::size_t>(k)]);
    if (bodies == 0) continue;
    const double end = std::min(size_class_end(k), static_cast<double>(sizes.largest));
    const double begin = k == 0 ? end / 2 : std::min(size_class_end(k - 1), end);
    const double length = begin + end;  // twice the half extent in the middle of the class
    moments.bodies += bodies;
    moments.first += bodies * length;
    moments.second += bodies * length * length;
    moments.third += bodies * length * length * length;
  }
  if (moments.bodies == 0) return {1, 1, 1, 1, 1};
  moments.first /= moments.bodies;
  moments.second /= moments.bodies;
  moments.third /= moments.bodies;
  return moments;
}

template <typename T>
double volume_of(const box<T, 3>& domain) {
  double volume = 1;
  for (int axis = 0; axis < 3; ++axis) volume *= static_cast<double>(domain.length[axis]);
  return volume;
}

/// The number of bins along an axis, of this edge or more. May be too large for an int.
template <typename T>
double bins_along(const box<T, 3>& domain, double edge, int axis) {
  return std::fmax(1.0, std::floor(static_cast<double>(domain.length[axis]) / edge));
}

template <typename T>
double count_of_edge(const box<T, 3>& domain, double edge) {
  return bins_along(domain, edge, 0) * bins_along(domain, edge, 1) * bins_along(domain, edge, 2);
}

/// The edge must not need more than max_count bins.
template <typename T>
grid<T, 3> grid_of_edge(const box<T, 3>& domain, double edge) {
  return make_grid(domain, make_vec<int, 3>([&](int axis) {
                     return static_cast<int>(std::fmin(bins_along(domain, edge, axis), most_cells_along_axis));
                   }));
}

/// The smallest edge, at least `edge`, that needs at most `most` bins.
template <typename T>
double edge_within(const box<T, 3>& domain, double edge, double most) {
  while (count_of_edge(domain, edge) > most) edge *= 1.0625;
  return edge;
}

template <typename T>
bin_choice<T> given_bins(const box<T, 3>& domain, T bin_size) {
  const double bins = count_of_edge(domain, static_cast<double>(bin_size));
  constexpr auto most = static_cast<double>(max_count);
  if (bins > most) {
    const double enough = edge_within(domain, static_cast<double>(bin_size), most / 2);
    throw argument_error(message("a bin size of ", bin_size, " needs ", bins, " bins; at most ", max_count,
                                 " are possible: ", static_cast<T>(enough), " would do"));
  }
  return {grid_of_edge(domain, static_cast<double>(bin_size)), bin_size, message("bin size asked for: ", bin_size)};
}

/// The edge of least work, searched in steps of an eighth of an octave.
template <typename T, typename Work>
bin_choice<T> best_bins(const box<T, 3>& domain, const length_moments& lengths, const Work& work) {
  const double most = std::fmin(most_bins, 64 + most_bins_a_body * lengths.bodies);
  double best = 2 * lengths.longest, least = std::numeric_limits<double>::infinity();
  const double finest = lengths.first / 16;
  // Sums of lengths near the largest number overflow.
  const int steps = static_cast<int>(std::fmin(std::fmax(8 * std::log2(8 * lengths.longest / finest), 0.0), 1e5));
  for (int step = 0; step <= steps; ++step) {
    const double edge = finest * std::exp2(step / 8.0);
    const double expected = work(edge);
    if (!(expected < least)) continue;
    least = expected;
    best = edge;
  }
  const double wanted = best;
  best = edge_within(domain, best, most);
  return {grid_of_edge(domain, best), static_cast<T>(best),
          message("bins of ", static_cast<float>(best), ": ",
                  best > wanted ? message("the least that gives at most ", most, " bins")
                                : message("least expected work, ", static_cast<float>(least), " pair tests per body"),
                  ", for bodies of length ", static_cast<float>(lengths.first), " on average, ",
                  static_cast<float>(lengths.longest), " at most")};
}

}  // namespace

template <typename T>
bin_choice<T> choose_touched_bins(const box<T, 3>& domain, const size_histogram<T>& sizes, T bin_size,
                                  const touched_bin_weights& weights) {
  if (bin_size > T(0)) return given_bins(domain, bin_size);
  const length_moments e = moments_of(sizes);
  const double volume = volume_of(domain);
  const double density = e.bodies / volume;
  return best_bins(domain, e, [&](double h) {
    const double cube = h * h * h;
    const double entries = 1 + 3 * e.first / h + 3 * e.second / (h * h) + e.third / cube;
    const double idle = weights.busy * cube / volume;
    return weights.insertion * entries + 0.5 * density * cube * entries * entries * (1 + idle) +
           weights.bin * volume / (cube * e.bodies);
  });
}

template <typename T>
bin_choice<T> choose_loose_bins(const box<T, 3>& domain, const size_histogram<T>& sizes, T bin_size) {
  if (bin_size > T(0)) return given_bins(domain, bin_size);
  const length_moments e = moments_of(sizes);
  const double volume = volume_of(domain);
  const double density = e.bodies / volume;
  return best_bins(domain, e, [&](double h) {
    const double side = e.first + e.longest + h;
    return row_of_bins_cost * side * side / (h * h) + 0.5 * density * side * side * side +
           loose_bin_cost * volume / (h * h * h * e.bodies);
  });
}

template <typename T>
box<T, 3> box_for_bins(const box<T, 3>* domain, vec<T, 3> lower, vec<T, 3> upper, const size_histogram<T>& sizes) {
  // Beyond this, box lengths would overflow; bodies there count as outside.
  constexpr T far = std::numeric_limits<T>::max() / 8;
  const T margin = std::min(static_cast<T>(moments_of(sizes).first / 2), far);
  vec<bool, 3> periodic = domain != nullptr ? domain->periodic : vec<bool, 3>::filled(false);
  T longest = T(0);
  for (int axis = 0; axis < 3; ++axis) longest = std::max(longest, std::min(upper[axis] / 2 - lower[axis] / 2, far));
  for (int axis = 0; axis < 3; ++axis) {
    if (periodic[axis]) {
      lower[axis] = domain->lower[axis];
      upper[axis] = domain->upper(axis);
      continue;
    }
    const T scale = std::max(std::fabs(lower[axis]), std::fabs(upper[axis]));
    // Bodies in a plane get a small depth, so that the density is finite.
    const T least = std::max(longest * T(1e-3), std::min(scale, far) * (16 * std::numeric_limits<T>::epsilon()));
    const T pad = std::max(margin, least);
    lower[axis] = std::clamp(lower[axis], -far, far) - pad;
    upper[axis] = std::clamp(upper[axis], -far, far) + pad;
    if (domain == nullptr) continue;
    const T low = std::max(lower[axis], domain->lower[axis]), high = std::min(upper[axis], domain->upper(axis));
    lower[axis] = low < high ? low : domain->lower[axis];
    upper[axis] = low < high ? high : domain->upper(axis);
  }
  box<T, 3> result = make_box(lower, upper, periodic);
  // Separations are computed with the caller's lengths.
  for (int axis = 0; axis < 3; ++axis) {
    if (periodic[axis]) result.length[axis] = domain->length[axis];
  }
  return result;
}

template bin_choice<float> choose_touched_bins(const box<float, 3>&, const size_histogram<float>&, float,
                                               const touched_bin_weights&);
template bin_choice<double> choose_touched_bins(const box<double, 3>&, const size_histogram<double>&, double,
                                                const touched_bin_weights&);
template bin_choice<float> choose_loose_bins(const box<float, 3>&, const size_histogram<float>&, float);
template bin_choice<double> choose_loose_bins(const box<double, 3>&, const size_histogram<double>&, double);
template box<float, 3> box_for_bins(const box<float, 3>*, vec<float, 3>, vec<float, 3>, const size_histogram<float>&);
template box<double, 3> box_for_bins(const box<double, 3>*, vec<double, 3>, vec<double, 3>,
                                     const size_histogram<double>&);

}  // namespace quadrat::detail
