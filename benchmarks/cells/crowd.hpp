// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cells/subject.hpp"
#include "harness/points.hpp"
#include "harness/session.hpp"
#include "quadrat/cells/methods.hpp"
#include "quadrat/core/array.hpp"

namespace quadrat::bench {

/// "float" or "double".
template <typename T>
inline constexpr std::string_view precision_name = sizeof(T) == 4 ? "float" : "double";

/// The same points in a cube on a device, for all methods.
template <typename Context, typename T>
class crowd {
 public:
  using subject = cell_subject<Context, T>;

  /// `values` holds `stride` values per point.
  crowd(const Context& context, const cube& room, const std::vector<T>& values, std::size_t stride = 3)
      : context_(context),
        room_(room),
        space_(room.space<T>()),
        values_(to_device(context, values)),
        points_(strided_points<3>(static_cast<const T*>(values_.data()), values.size() / stride, stride)),
        expected_(expected_contents(points_.count)) {}

  [[nodiscard]] const Context& context() const { return context_; }
  [[nodiscard]] const points_view<T, 3>& points() const { return points_; }
  [[nodiscard]] std::size_t size() const { return points_.count; }
  [[nodiscard]] T cutoff() const { return static_cast<T>(2 * grain_radius); }
  [[nodiscard]] const T* values() const { return values_.data(); }
  [[nodiscard]] const grid<T, 3>& space() const { return space_; }

  [[nodiscard]] std::unique_ptr<subject> make(std::string_view method, const Context& context) const {
    cell_list_options<T> options;
    options.radius = static_cast<T>(grain_radius);
    return make_cell_subject<Context, T>(method, context, space_, options);
  }
  [[nodiscard]] std::unique_ptr<subject> make(std::string_view method) const { return make(method, context_); }

  /// Builds the cell list. Throws disagreement unless it holds every particle once, and gives the same neighbors as the
  /// methods verified before. The list stays built.
  void verify(std::string_view method, subject& list) {
    list.build(points_);
    list.check();
    const tally contents = list.contents();
    if (!(contents == expected_)) {
      throw disagreement(message(method, " holds ", contents.count, " particles (hash ", contents.hashes, "), not the ",
                                 expected_.count, " that it was given (hash ", expected_.hashes, ")"));
    }
    const tally neighbors = list.neighbors(points_, cutoff(), std::min(size(), samples));
    if (!first_) {
      first_ = {std::string(method), neighbors};
    } else if (!(neighbors == first_->neighbors)) {
      throw disagreement(message(method, " finds ", neighbors.count, " neighbors (hash ", neighbors.hashes, "), ",
                                 first_->method, " finds ", first_->neighbors.count, " (hash ",
                                 first_->neighbors.hashes, ")"));
    }
  }

  [[nodiscard]] row describe(std::string_view operation, std::string_view method, std::string_view order) const {
    row result = identify(operation, method, precision_name<T>, size(), room_.size(), "uniform");
    result["order"] = order;
    result["occupancy"] = static_cast<double>(size()) / static_cast<double>(room_.size());
    return result;
  }

 private:
  /// Number of particles whose neighbors are compared: more would take longer than the timed work.
  static constexpr std::size_t samples = 16384;

  struct verified {
    std::string method;
    tally neighbors;
  };

  Context context_;
  cube room_;
  grid<T, 3> space_;
  array<T, Context> values_;
  points_view<T, 3> points_;
  tally expected_;
  std::optional<verified> first_;
};

/// The names of the cell lists that the session selects.
[[nodiscard]] inline std::vector<std::string_view> wanted_cell_lists(const session& s) {
  std::vector<std::string_view> result;
  for (const std::string_view name : cell_list_methods::names) {
    if (s.wants_method(name)) result.push_back(name);
  }
  return result;
}

}  // namespace quadrat::bench
