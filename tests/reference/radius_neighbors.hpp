// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>

#include "quadrat/core/box.hpp"
#include "quadrat/core/macros.hpp"
#include "quadrat/core/views.hpp"
#include "quadrat/search/cutoff_rule.hpp"

namespace quadrat::reference {

/// As neighbors_of_each, with a radius for each point.
template <typename T, int D>
struct radius_neighbors_of_each {
  points_view<T, D> points;
  box<T, D> domain;
  const T* radii;
  cutoff_rule rule;
  T* squared;

  QUADRAT_HD void operator()(std::size_t i) const {
    for (std::size_t j = 0; j < points.count; ++j) {
      const vec<T, D> r = domain.separation(domain.wrap(points[i]), domain.wrap(points[j]));
      T cutoff = radii[i];
      if (rule == cutoff_rule::sum_of_radii) cutoff = radii[i] + radii[j];
      if (rule == cutoff_rule::larger_radius && radii[j] > cutoff) cutoff = radii[j];
      const bool neighbor = i != j && squared_norm(r) < cutoff * cutoff;
      squared[i * points.count + j] = neighbor ? squared_norm(r) : T(-1);
    }
  }
};

}  // namespace quadrat::reference
