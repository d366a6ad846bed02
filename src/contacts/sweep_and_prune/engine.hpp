// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>

#include "contacts/engine.hpp"
#include "contacts/sweep_and_prune/search.hpp"
#include "quadrat/core/array.hpp"
#include "quadrat/core/types.hpp"
#include "quadrat/parallel/workspace.hpp"

namespace quadrat::detail {

/// Threads of a block on a GPU.
inline constexpr double block_of_rows = 256;

/// Sweep and prune along one axis (D. Baraff, "Dynamic Simulation of Non-Penetrating Rigid Bodies", 1992; J. Cohen and
/// others, "I-COLLIDE", 1995), sorted again in each build, in parallel (S. Le Grand, GPU Gems 3, chapter 32, 2007). A
/// body is compared with all bodies whose boxes overlap its box along the axis, wherever they are along the other two:
/// about n^(5/3) comparisons for n bodies that fill a cube, and n^2 / 2 if all overlap along the axis.
///
/// The axis is the one of greatest spread: the fewest pairs of a sample of bodies overlap along it; ties go to the
/// larger mean separation. A single stray body does not change it.
template <typename Context, typename T>
class sweep_engine final : public row_engine<sweep_engine<Context, T>, Context, T> {
 public:
  using row_engine<sweep_engine<Context, T>, Context, T>::row_engine;

  [[nodiscard]] planned_bins<T> plan(const placed_bodies<Context, T>& bodies, const bin_options<T>& options) override;
  /// Synchronizes in `plan` only.
  void insert(const placed_bodies<Context, T>& bodies);
  [[nodiscard]] std::size_t rows() const { return rows_; }
  [[nodiscard]] sweep_search<T> search() const;
  [[nodiscard]] int axis() const { return axis_; }
  [[nodiscard]] std::size_t bytes() const override;

 private:
  using key = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;

  void sort(const placed_bodies<Context, T>& bodies);
  void find_walks(const placed_bodies<Context, T>& bodies);

  int axis_ = 0;
  std::size_t count_ = 0;
  std::size_t rows_ = 0;
  array<placed_body<T>, Context> sample_;
  array<key, Context> keys_[2];
  array<particle_id, Context> ids_[2];
  int current_ = 0;
  array<placed_body<T>, Context> slots_;
  array<std::uint32_t, Context> ends_;
  array<std::uint32_t, Context> steps_;
  array<std::uint64_t, Context> offsets_;
  workspace<Context> scratch_;
};

struct sweep_and_prune_method : contact_method_defaults {
  static constexpr std::string_view name = "sweep_and_prune";
  static constexpr std::string_view summary =
      "boxes sorted along the axis of greatest spread, each compared with those that begin before it ends";
  static constexpr bool bins = false;
  static constexpr bool quadratic = true;
  template <typename Context, typename T>
  using engine = sweep_engine<Context, T>;

  [[nodiscard]] static method_cost cost(const pair_request& request) {
    return where_counted(request, counted_most_bodies, [&] {
      const double bodies = request.megabodies();
      method_cost cost;
      cost.each("start", cost_unit::launch, 1);
      cost.each("bodies", cost_unit::step, bodies);
      cost.each("turned", cost_unit::step, request.turned(bodies));
      // Rows that contain only contacts, as in a dense blob, take longest: one block's threads at a time.
      const double every = 0.4 * 1e6 * bodies * bodies, contacts = request.megacontacts();
      const double block = std::min(contacts, 1e-6 * block_of_rows * static_cast<double>(least_sweep_share)) *
                           (every > contacts ? contacts / every : 1);
      cost.each("block", cost_unit::step, block);
      cost.each("turned_block", cost_unit::step, request.turned(block));
      return with_contacts(cost, request);
    });
  }
};

}  // namespace quadrat::detail
