// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <vector>

#include "models/ranks/late_value.hpp"
#include "quadrat/core/array.hpp"
#include "quadrat/core/macros.hpp"
#include "quadrat/core/vec.hpp"
#include "quadrat/parallel/for_each.hpp"
#include "tune/point_sample.hpp"
#include "tune/round_trials.hpp"

namespace quadrat::detail {

/// Some points of many, in the order of point_sample_layout.
template <typename T, int D>
struct points_taken {
  static constexpr std::size_t most = point_sample_layout::window * point_sample_layout::most_windows;
  vec<T, D> at[most];
};

/// Index: place in the sample.
template <typename T, int D>
struct take_points {
  const vec<T, D>* points;
  point_sample_layout layout;
  points_taken<T, D>* taken;

  QUADRAT_HD void operator()(std::size_t s) const { taken->at[s] = points[layout.point(s)]; }
};

/// A sample of points in the memory of the context, on its way to the host, which enqueues more in the meantime.
template <typename Context, typename T, int D>
class late_points {
 public:
  void request(const Context& context, const vec<T, D>* points, std::size_t count) {
    const point_sample_layout layout(count);
    taken_.resize_discarding(context, 1);
    for_each(context, "models.sample", layout.taken, take_points<T, D>{points, layout, taken_.data()});
    value_.request(context, taken_.data());
    forget();
    requested_ = marks_.set(context);
    count_ = layout.taken;
    asked_ = true;
  }
  /// Whether a sample was asked for that was not fetched yet.
  [[nodiscard]] bool asked() const { return asked_; }
  [[nodiscard]] bool arrived(const Context& context) const { return asked_ && marks_.passed(context, requested_); }
  void forget() {
    if (asked_) marks_.forget(requested_);
    asked_ = false;
  }
  /// Waits for the sample.
  [[nodiscard]] std::vector<vec<T, D>> fetch() {
    forget();
    const points_taken<T, D> taken = value_.wait();
    return std::vector<vec<T, D>>(taken.at, taken.at + count_);
  }

 private:
  array<points_taken<T, D>, Context> taken_;
  late_value<Context, points_taken<T, D>> value_;
  work_marks<Context> marks_;
  typename work_marks<Context>::mark requested_{};
  std::size_t count_ = 0;
  bool asked_ = false;
};

/// The same of points on the host.
template <typename T, int D>
[[nodiscard]] std::vector<vec<T, D>> taken_of(const std::vector<vec<T, D>>& points) {
  const point_sample_layout layout(points.size());
  std::vector<vec<T, D>> taken(layout.taken);
  for (std::size_t s = 0; s < taken.size(); ++s) taken[s] = points[layout.point(s)];
  return taken;
}

}  // namespace quadrat::detail
