// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string_view>

#include "core/paper_methods.hpp"
#include "mesh/cost.hpp"
#include "mesh/engine.hpp"
#include "mesh/papers/group_mesh.hpp"
#include "mesh/papers/group_order.hpp"
#include "quadrat/core/config.hpp"
#include "quadrat/core/types.hpp"
#include "quadrat/parallel/workspace.hpp"

namespace quadrat::detail {

/// Group mesh (particle-mesh-spreading, sections 3.1 and 3.2). Space for all mesh points that a group shares with a
/// footprint is reserved at once. Spreading: one to eight warps per group add up in shared memory, each in its own
/// sums, one piece at a time. The mesh points of a piece are distinct, so no atomic operations are needed (those for
/// floats are loops in shared memory). Determinism: at `none` pieces are in the order of atomic operations. At
/// run_to_run, building sorts them by point.
template <typename Context, typename T>
class group_mesh_engine : public placed_points_engine<Context, T> {
 public:
  group_mesh_engine(const Context& context, const spread_setup<T>& setup)
      : placed_points_engine<Context, T>(context, setup),
        grid_(make_group_grid(setup.shape, setup.details.group_size)) {}
  [[nodiscard]] std::size_t bytes_needed(std::size_t count) const override;
  /// Synchronizes if an axis is open, to learn how much is left after clipping, and at run_to_run.
  void set_points(const point_placement<T>& points) override;
  void spread(const value_layout& layout, const T* values, T* mesh, bool accumulate) override;
  [[nodiscard]] std::size_t bytes() const override;

 private:
  group_grid grid_;
  array<std::uint64_t, Context> offsets_;
  array<std::uint64_t, Context> cursors_;
  array<T, Context> weights_;
  array<std::uint32_t, Context> columns_;
  array<std::uint16_t, Context> rows_;
  piece_order<Context> order_;
  workspace<Context> scratch_;
};

struct group_mesh_method : paper_method {
  static constexpr std::string_view name = "group_mesh";
  static constexpr std::string_view summary = "weights in groups of mesh points, summed in shared memory";
  static constexpr bool on_cpu = true;
  static constexpr bool on_cuda = true;
  static constexpr determinism reproducible = determinism::run_to_run;
  /// On GPUs a block of threads holds the contributions of at least one point.
  static bool serves(const spread_request& request) { return !request.cuda || request.width <= 12; }
  static bool sets_points_async(const spread_request& request) {
    return request.periodic && request.level == determinism::none;
  }
  static method_cost cost(const spread_request& /*request*/) {
    return method_cost().last_resort("single_mesh takes no longer");
  }
  template <typename Context, typename T>
  using engine = group_mesh_engine<Context, T>;
};

}  // namespace quadrat::detail
