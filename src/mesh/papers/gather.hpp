// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "core/paper_methods.hpp"
#include "mesh/engine.hpp"
#include "quadrat/core/types.hpp"

namespace quadrat::detail {

/// The point that a mesh point holds. Its value is stored for one channel at a time.
template <typename T>
struct alignas(16) gather_cell {
  T place[3];  ///< the s of mesh_window
  T value;
};

/// The Gather algorithm (Harvey and De Fabritiis; particle-mesh-spreading, section 2). Placement, once per set of
/// points: each goes to the nearest mesh point (for an even width, the nearest below it), which holds one point; the
/// others, and those whose mesh point is outside an open axis, go to an overflow list. Spreading: one thread per mesh
/// point gathers from the width^3 mesh points around it, and computes the one weight it needs of each; points of the
/// overflow list are spread by the particle method. Not reproducible: which of several points a mesh point holds
/// depends on timing.
template <typename Context, typename T>
class gather_engine : public placed_points_engine<Context, T> {
 public:
  using placed_points_engine<Context, T>::placed_points_engine;
  [[nodiscard]] std::size_t bytes_needed(std::size_t count) const override;
  /// Synchronizes, to know the length of the overflow list.
  void set_points(const point_placement<T>& points) override;
  void spread(const value_layout& layout, const T* values, T* mesh, bool accumulate) override;
  [[nodiscard]] std::size_t bytes() const override;

 private:
  array<std::uint32_t, Context> held_;  ///< by mesh point: its point, or no_point
  array<gather_cell<T>, Context> cells_;
  array<std::uint32_t, Context> overflow_;
  array<std::uint32_t, Context> overflow_length_;
  std::size_t overflow_count_ = 0;
};

struct gather_method : paper_method {
  static constexpr std::string_view name = "gather";
  static constexpr std::string_view summary =
      "one particle per mesh point, gathered by mesh points; the others by atomic additions";
  static constexpr bool on_cpu = true;
  static constexpr bool on_cuda = true;
  static constexpr determinism reproducible = determinism::none;
  template <typename Context, typename T>
  using engine = gather_engine<Context, T>;
};

}  // namespace quadrat::detail
