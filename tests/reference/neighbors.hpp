// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>

#include "quadrat/core/box.hpp"
#include "quadrat/core/macros.hpp"
#include "quadrat/core/views.hpp"

namespace quadrat::reference {

/// Row i of the table of all pairs: squared[i * count + j] is the squared distance if j is a neighbor of i, otherwise
/// -1. A functor, so that a backend is compared with the pair expression as its own compiler evaluates it.
template <typename T, int D>
struct neighbors_of_each {
  points_view<T, D> points;
  box<T, D> domain;
  T cutoff;
  T* squared;

  QUADRAT_HD void operator()(std::size_t i) const {
    for (std::size_t j = 0; j < points.count; ++j) {
      const vec<T, D> r = domain.separation(domain.wrap(points[i]), domain.wrap(points[j]));
      const bool neighbor = i != j && squared_norm(r) < cutoff * cutoff;
      squared[i * points.count + j] = neighbor ? squared_norm(r) : T(-1);
    }
  }
};

}  // namespace quadrat::reference
