// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <tuple>
#include <vector>

#include "quadrat/search/neighbor_list.hpp"
#include "search/reduced_boxes.hpp"

/// Neighbor lists by brute force: every pair, every shift within reach, serially on the host. Vectors are computed in
/// the boxes that the library searches, so that they have the same bits; every_box_dual_test.cpp tests without those.
namespace quadrat::reference {

/// A whole search with its input on the host.
template <typename T, int D>
struct neighbor_problem {
  neighbor_options<T> options;
  std::vector<vec<T, D>> points;
  std::vector<lattice<T, D>> boxes;
  std::vector<std::uint32_t> system_of_point;  ///< empty: one system
  std::optional<std::vector<vec<T, D>>> queries;
  std::vector<std::uint32_t> system_of_query;
  std::vector<T> radii;
  std::vector<std::uint32_t> types;
  std::vector<T> radii_of_queries;
  std::vector<std::uint32_t> types_of_queries;
  std::vector<std::uint64_t> excluded_offsets;
  std::vector<particle_id> excluded;
  bool in_given_boxes = false;  ///< vectors are computed in `boxes`, as visitors do
};

template <typename T, int D>
struct neighbor_entry {
  std::uint32_t i;
  particle_id j;
  vec<int, D> shift;
  T squared;
  vec<T, D> vector;
};

/// By increasing i, then j, then S.
template <typename T, int D>
[[nodiscard]] bool comes_before(const neighbor_entry<T, D>& a, const neighbor_entry<T, D>& b) {
  if (a.i != b.i) return a.i < b.i;
  if (a.j != b.j) return a.j < b.j;
  for (int axis = 0; axis < D; ++axis) {
    if (a.shift[axis] != b.shift[axis]) return a.shift[axis] < b.shift[axis];
  }
  return false;
}

template <typename T, int D>
struct neighbor_result {
  std::vector<neighbor_entry<T, D>> entries;  ///< by increasing (i, j, S)
  /// The smallest difference of a squared distance and its squared cutoff, in units of possible rounding.
  double margin = std::numeric_limits<double>::infinity();
};

/// Use it through `neighbor_list(problem)` below.
template <typename T, int D>
class neighbor_search {
 public:
  explicit neighbor_search(const neighbor_problem<T, D>& problem) : p_(problem) {
    boxes_ = problem.in_given_boxes ? problem.boxes : detail::searched_boxes<T, D>(problem.boxes, maps_);
  }

  [[nodiscard]] neighbor_result<T, D> run() {
    const std::size_t rows = p_.queries ? p_.queries->size() : p_.points.size();
    for (std::size_t i = 0; i < rows; ++i) {
      for (std::size_t j = 0; j < p_.points.size(); ++j) {
        if (system_of_row(i) == system_of(p_.system_of_point, j) && !excluded(i, j)) add_images(i, j);
      }
    }
    std::sort(result_.entries.begin(), result_.entries.end(), comes_before<T, D>);
    return std::move(result_);
  }

 private:
  static std::size_t system_of(const std::vector<std::uint32_t>& systems, std::size_t i) {
    return systems.empty() ? 0 : systems[i];
  }
  [[nodiscard]] std::size_t system_of_row(std::size_t i) const {
    return system_of(p_.queries ? p_.system_of_query : p_.system_of_point, i);
  }

  [[nodiscard]] bool stands_in_row(std::size_t i, std::size_t j) const {
    for (std::uint64_t k = p_.excluded_offsets[i]; k < p_.excluded_offsets[i + 1]; ++k) {
      if (p_.excluded[k] == j) return true;
    }
    return false;
  }
  [[nodiscard]] bool excluded(std::size_t i, std::size_t j) const {
    if (p_.excluded_offsets.empty()) return false;
    return stands_in_row(i, j) || stands_in_row(j, i);
  }

  /// The cutoff of a pair; 0: never a pair.
  [[nodiscard]] T cutoff_of(std::size_t i, std::size_t j) const {
    const auto& o = p_.options;
    const auto& radii = p_.queries ? p_.radii_of_queries : p_.radii;
    const auto& own_types = p_.queries ? p_.types_of_queries : p_.types;
    switch (o.rule) {
      case cutoff_rule::uniform:
        return o.cutoff + o.skin;
      case cutoff_rule::sum_of_radii:
        return radii[i] + p_.radii[j] + o.skin;
      case cutoff_rule::larger_radius:
        return std::max(radii[i], p_.radii[j]) + o.skin;
      case cutoff_rule::own_radius:
        return radii[i] + o.skin;
      case cutoff_rule::table_of_types: {
        const auto types = static_cast<std::size_t>(std::sqrt(static_cast<double>(o.type_cutoffs.size())) + 0.5);
        const T cutoff = o.type_cutoffs[own_types[i] * types + p_.types[j]];
        return cutoff > T(0) ? cutoff + o.skin : T(0);
      }
    }
    return T(0);
  }

  /// Whether (i, j, shift) is an entry if within the cutoff.
  [[nodiscard]] bool listed(std::size_t i, std::size_t j, const vec<int, D>& shift) const {
    if (p_.queries) return true;
    if (i == j && shift == vec<int, D>{}) return false;
    if (p_.options.pairs == neighbor_pairs::full || i < j) return true;
    if (i > j) return false;
    for (int axis = 0; axis < D; ++axis) {
      if (shift[axis] != 0) return shift[axis] > 0;
    }
    return false;
  }

  void add_images(std::size_t i, std::size_t j) {
    const T cutoff = cutoff_of(i, j);
    if (!(cutoff > T(0))) return;
    const lattice<T, D>& box = boxes_[system_of_row(i)];
    vec<int, D> home_i{}, home_j{};
    const vec<T, D> point = p_.queries ? (*p_.queries)[i] : p_.points[i];
    const vec<T, D> a = box.wrap(point, home_i);
    const vec<T, D> b = box.wrap(p_.points[j], home_j);
    vec<int, D> most{};
    for (int axis = 0; axis < D; ++axis) {
      // Points inside a box are less than a box apart; the factor allows for rounding.
      if (box.periodic[axis]) most[axis] = static_cast<int>(std::floor(cutoff / box.height(axis) * T(1.0001))) + 1;
    }
    const double unit =
        std::numeric_limits<T>::epsilon() * static_cast<double>(cutoff) * magnitude(box, point, p_.points[j], most);
    vec<int, D> s = vec<int, D>{} - most;
    for (;;) {
      const vec<T, D> r = (b - a) + box.translation(s);
      vec<int, D> shift = s - home_j + home_i;  // between the points as given
      if (!maps_.empty()) shift = maps_[system_of_row(i)].to_given(shift);
      if (listed(i, j, shift)) judge(i, j, shift, r, cutoff, 1 / unit);
      int axis = 0;
      while (axis < D && s[axis] == most[axis]) {
        s[axis] = -most[axis];
        ++axis;
      }
      if (axis == D) return;
      ++s[axis];
    }
  }

  void judge(std::size_t i, std::size_t j, const vec<int, D>& shift, const vec<T, D>& r, T cutoff, double per_unit) {
    const T squared = squared_norm(r);
    result_.margin = std::min(result_.margin, std::fabs(static_cast<double>(squared - cutoff * cutoff)) * per_unit);
    if (squared < cutoff * cutoff) {
      result_.entries.push_back({static_cast<std::uint32_t>(i), static_cast<particle_id>(j), shift, squared, r});
    }
  }

  /// The largest number that enters a separation.
  static double magnitude(const lattice<T, D>& box, const vec<T, D>& a, const vec<T, D>& b, const vec<int, D>& most) {
    double largest = 0;
    for (int axis = 0; axis < D; ++axis) {
      double translation = 0;
      for (int k = 0; k < D; ++k) translation += most[k] * std::fabs(static_cast<double>(box.vectors[k][axis]));
      const double point = std::fabs(static_cast<double>(a[axis])) + std::fabs(static_cast<double>(b[axis]));
      largest = std::max(largest, translation + point + std::fabs(static_cast<double>(box.origin[axis])));
    }
    return largest;
  }

  const neighbor_problem<T, D>& p_;
  std::vector<lattice<T, D>> boxes_;
  std::vector<detail::shift_map<D>> maps_;
  neighbor_result<T, D> result_;
};

template <typename T, int D>
[[nodiscard]] neighbor_result<T, D> neighbor_list(const neighbor_problem<T, D>& problem) {
  return neighbor_search<T, D>(problem).run();
}

}  // namespace quadrat::reference
