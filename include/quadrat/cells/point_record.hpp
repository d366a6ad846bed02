// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

#include "quadrat/cells/build_faults.hpp"
#include "quadrat/core/grid.hpp"
#include "quadrat/core/views.hpp"

namespace quadrat::detail {

/// What a cell list keeps about the points of its last build: the view, and the faults.
template <typename Context, typename T, int D>
class point_record {
 public:
  explicit point_record(const Context& context) : faults_(context) {}

  /// Begins a build. Throws argument_error if the view is invalid, or has more than `most` points.
  void begin(const points_view<T, D>& points, std::size_t most);
  [[nodiscard]] fault_flag flag() { return faults_.flag(); }
  /// Synchronizes. Throws data_error or overflow_error, at every call until the next build. `space` and `capacity` are
  /// for the messages.
  void check(const Context& context, const grid<T, D>& space, std::uint64_t capacity);
  /// Throws argument_error when nothing has been built, or the last check has found a fault.
  void require_usable() const { faults_.require_usable(); }
  /// Memory held on the context's device, in bytes.
  [[nodiscard]] static constexpr std::size_t bytes() { return build_faults<Context>::bytes(); }

 private:
  [[nodiscard]] vec<T, D> read_point(const Context& context, std::size_t i) const;

  build_faults<Context> faults_;
  points_view<T, D> points_{};
};

}  // namespace quadrat::detail
