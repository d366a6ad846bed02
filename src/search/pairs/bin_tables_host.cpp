// SPDX-License-Identifier: BSD-3-Clause
#include "search/pairs/bin_tables.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <numbers>
#include <string_view>

#include "quadrat/core/error.hpp"

namespace quadrat::detail {

namespace {

constexpr std::size_t most_bins = std::size_t{1} << 20;

void check_edges(const std::vector<double>& edges, std::string_view name, double most) {
  require(edges.size() >= 2, "there are ", edges.size(), " edges of ", name, "; bins need at least 2");
  for (std::size_t k = 0; k < edges.size(); ++k) {
    require(edges[k] >= 0 && edges[k] <= most, "edge ", k, " of ", name, " is ", edges[k], "; edges must be from 0 to ",
            most);
    require(k == 0 || edges[k - 1] < edges[k], "edge ", k, " of ", name, " is ", edges[k], ", after ",
            k == 0 ? 0 : edges[k - 1], "; edges must increase");
  }
}

/// What edges are compared as, in T. `how`: what `values` are to the edges, in messages.
template <typename T>
[[nodiscard]] std::vector<T> rounded_edges(const std::vector<double>& values, const std::vector<double>& edges,
                                           std::string_view name, std::string_view how) {
  std::vector<T> numbers;
  for (const double value : values) numbers.push_back(static_cast<T>(value));
  for (std::size_t k = 1; k < numbers.size(); ++k) {
    require(numbers[k - 1] < numbers[k] && std::isfinite(numbers[k]), "edges ", edges[k - 1], " and ", edges[k], " of ",
            name, how, " must be different finite numbers of ", 8 * sizeof(T), " bits");
  }
  return numbers;
}

struct axis_names {
  const char* first;
  const char* second;  ///< nullptr: one axis
};
[[nodiscard]] axis_names names_of(pair_coordinates coordinates) {
  switch (coordinates) {
    case pair_coordinates::rp_pi:
      return {"r_p", "pi"};
    case pair_coordinates::s_mu:
      return {"s", "mu"};
    case pair_coordinates::theta:
      return {"theta", nullptr};
    default:
      return {"r", nullptr};
  }
}

/// The chord between points of the unit sphere for each angle in degrees.
[[nodiscard]] std::vector<double> chords_of(std::vector<double> angles) {
  for (double& angle : angles) angle = 2 * std::sin(angle * std::numbers::pi / 360);
  return angles;
}

[[nodiscard]] std::vector<double> squares_of(std::vector<double> lengths) {
  for (double& length : lengths) length *= length;
  return lengths;
}

}  // namespace

template <typename T>
bin_tables<T>::bin_tables(const pair_counts_options& options) {
  const axis_names names = names_of(options.coordinates);
  const bool angles = options.coordinates == pair_coordinates::theta;
  check_edges(options.edges, names.first, angles ? 180 : 1e150);
  if (names.second != nullptr) {
    check_edges(options.second_edges, names.second, options.coordinates == pair_coordinates::s_mu ? 1 : 1e150);
  } else {
    require(options.second_edges.empty(), "there are ", options.second_edges.size(), " second edges; ", names.first,
            " has none");
  }
  const std::vector<double> lengths = angles ? chords_of(options.edges) : options.edges;
  const std::vector<T> squares =
      rounded_edges<T>(squares_of(lengths), options.edges, names.first, angles ? ", as squared chords," : ", squared,");
  std::vector<T> edges = squares;
  bins_.bins = static_cast<std::uint32_t>(lengths.size() - 1);
  bins_.second_bins = 1;
  bins_.coordinates = options.coordinates;
  bins_.low = squares.front();
  bins_.high = squares.back();
  // Covers the rounding of edges and of squared distances.
  constexpr double up = sizeof(T) == 4 ? 1 + 4e-6 : 1 + 8e-15;
  region_.reach = region_.radius = static_cast<T>(lengths.back() * up);
  if (names.second != nullptr) {
    const std::vector<T> second = rounded_edges<T>(options.second_edges, options.second_edges, names.second, "");
    edges.insert(edges.end(), second.begin(), second.end());
    bins_.second_bins = static_cast<std::uint32_t>(second.size() - 1);
    bins_.second_rate = static_cast<T>(bins_.second_bins) / (second.back() - second.front());
    if (options.coordinates == pair_coordinates::rp_pi) {
      region_.depth = static_cast<T>(options.second_edges.back() * up);
      region_.reach = static_cast<T>(std::hypot(lengths.back(), options.second_edges.back()) * up);
    }
  }
  require(std::size_t{bins_.bins} * bins_.second_bins <= most_bins, "there are ", bins_.bins, " x ", bins_.second_bins,
          " bins; at most ", most_bins, " are possible");
  const std::size_t most_regions = most_bins / (std::size_t{bins_.bins} * bins_.second_bins);
  require(options.regions <= most_regions, "there are ", options.regions, " regions; at most ", most_regions,
          " are possible with ", bins_.bins, " x ", bins_.second_bins, " bins");
  make_starts(squares);
  edges_ = edges.size();
  const std::size_t table = starts_.size() * sizeof(bin_start<T>);
  bytes_.resize(table + edges.size() * sizeof(T));
  std::memcpy(bytes_.data(), starts_.data(), table);
  std::memcpy(bytes_.data() + table, edges.data(), edges.size() * sizeof(T));
}

template <typename T>
void bin_tables<T>::make_starts(const std::vector<T>& squares) {
  const auto first = squares.begin() + (squares.front() > T(0) ? 0 : 1);  // zero is below every square
  const auto key = [&](T square) { return pair_bins<T>::leading_bits(square) >> bins_.key_shift; };
  const auto separates = [&] {
    return std::adjacent_find(first, squares.end(), [&](T a, T b) { return key(a) == key(b); }) == squares.end();
  };
  const auto length = [&] { return std::int64_t{key(squares.back())} - key(*first) + 1; };
  for (bins_.key_shift = 24; bins_.key_shift > 0 && !separates();) --bins_.key_shift;
  while (length() > pair_bins<T>::most_starts) ++bins_.key_shift;
  bins_.single = separates();
  bins_.first_key = key(*first);
  bins_.last_start = static_cast<std::int32_t>(length() - 1);
  auto next = first;
  for (std::int32_t k = 0; k <= bins_.last_start; ++k) {
    while (key(*next) < bins_.first_key + k) ++next;
    starts_.push_back({static_cast<std::uint32_t>(next - squares.begin()), *next});
  }
}

template <typename T>
pair_bins<T> bin_tables<T>::view(const std::byte* copy) const {
  pair_bins<T> bins = bins_;
  bins.starts = reinterpret_cast<const bin_start<T>*>(copy);
  const T* const edges = reinterpret_cast<const T*>(bins.starts + starts_.size());
  bins.squared_edges = edges;
  if (bins.second_bins > 1 || edges_ > bins.bins + std::size_t{1}) bins.second_edges = edges + bins.bins + 1;
  return bins;
}

template class bin_tables<float>;
template class bin_tables<double>;

}  // namespace quadrat::detail
