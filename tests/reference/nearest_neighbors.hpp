// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

#include "quadrat/search/nearest_neighbors.hpp"

/// Nearest neighbors by brute force: every point, every image within a distance that suffices, sorted, serially on the
/// host.
namespace quadrat::reference {

template <typename T, int D>
struct nearest_problem {
  lattice<T, D> box;
  nearest_options<T> options;
  std::vector<vec<T, D>> points;
  std::vector<vec<T, D>> queries;
  bool with_queries = false;
};

template <typename T, int D>
struct nearest_entry {
  T squared;
  particle_id j;
  vec<int, D> shift;
};

template <typename T, int D>
[[nodiscard]] bool is_nearer(const nearest_entry<T, D>& a, const nearest_entry<T, D>& b) {
  if (a.squared != b.squared) return a.squared < b.squared;
  if (a.j != b.j) return a.j < b.j;
  for (int axis = 0; axis < D; ++axis) {
    if (a.shift[axis] != b.shift[axis]) return a.shift[axis] < b.shift[axis];
  }
  return false;
}

/// Calls f(S) for all images that may be nearer than `reach` to a point in the box, and more.
template <typename T, int D, typename F>
void for_each_shift(const lattice<T, D>& box, T reach, F&& f) {
  vec<int, D> most{};
  for (int axis = 0; axis < D; ++axis) {
    if (box.periodic[axis]) most[axis] = static_cast<int>(std::ceil(reach / box.height(axis))) + 1;
  }
  vec<int, D> shift = vec<int, D>{} - most;
  for (;;) {
    f(shift);
    int axis = 0;
    while (axis < D && shift[axis] == most[axis]) {
      shift[axis] = -most[axis];
      ++axis;
    }
    if (axis == D) return;
    ++shift[axis];
  }
}

/// The entries of row i among the images within reach, fewer than k if there are no more.
template <typename T, int D>
[[nodiscard]] std::vector<nearest_entry<T, D>> nearest_row_within(const nearest_problem<T, D>& p, std::size_t i,
                                                                  T reach) {
  std::vector<nearest_entry<T, D>> row;
  vec<int, D> home_i{}, home_j{};
  const vec<T, D> from = p.box.wrap(p.with_queries ? p.queries[i] : p.points[i], home_i);
  for (std::size_t j = 0; j < p.points.size(); ++j) {
    const vec<T, D> to = p.box.wrap(p.points[j], home_j);
    for_each_shift(p.box, reach, [&](const vec<int, D>& shift) {
      if (!p.with_queries && i == j && shift == vec<int, D>{} && !p.options.include_self) return;
      const T squared = squared_norm((to - from) + p.box.translation(shift));
      if (!(squared < p.options.cutoff * p.options.cutoff)) return;
      row.push_back({squared, static_cast<particle_id>(j), (shift + home_i) - home_j});
    });
  }
  const std::size_t count = std::min(row.size(), p.options.k);
  std::partial_sort(row.begin(), row.begin() + static_cast<std::ptrdiff_t>(count), row.end(), is_nearer<T, D>);
  row.resize(count);
  return row;
}

/// The entries of row i, fewer than k if there are no more.
template <typename T, int D>
[[nodiscard]] std::vector<nearest_entry<T, D>> nearest_row(const nearest_problem<T, D>& p, std::size_t i) {
  T reach = std::numeric_limits<T>::infinity();
  for (int axis = 0; axis < D; ++axis) {
    if (p.box.periodic[axis]) reach = std::min(reach, p.box.height(axis) / 2);
  }
  if (reach == std::numeric_limits<T>::infinity() || p.points.empty()) return nearest_row_within(p, i, T(0));
  for (;; reach *= 2) {
    auto row = nearest_row_within(p, i, reach);
    const bool enough = row.size() == p.options.k && row.back().squared < reach * reach;
    if (enough || p.options.cutoff < reach) return row;
  }
}

}  // namespace quadrat::reference
