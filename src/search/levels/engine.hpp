// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "quadrat/parallel/for_each.hpp"
#include "search/engine.hpp"
#include "search/levels/cells.hpp"
#include "search/levels/device_engine.hpp"
#include "search/levels/grids.hpp"
#include "search/levels/rows.hpp"
#include "search/request.hpp"
#include "search/walk/engine.hpp"

namespace quadrat::detail {

/// Points with radii on levels, each with cells that fit its radii. The cost follows the number of pairs, whatever the
/// ratio of the radii. A row is searched on its own level and on coarser ones. Finer points are also copied to cells
/// that fit the coarser radius, and a row finds them there. This is the engine for CPUs; see device.hpp for GPUs.
///
/// Memory: the points and their copies, 4 (D + 2) bytes each in float, at most one copy for each level coarser than a
/// point's own. Determinism: run_to_run.
template <typename Context, typename T, int D>
class levels_engine final : public neighbor_engine<Context, T, D> {
 public:
  using neighbor_engine<Context, T, D>::neighbor_engine;

  void prepare(const search_task<T, D>& task) override {
    // The boxes themselves are one cell each.
    if (cells_.unfit(task)) cells_.cut(context_, task, {vec<T, D>::filled(this->reach()), this->reach(), 1, false});
    layers_.prepare(context_, task, options_, {true, 0});
  }
  void enqueue_cells(const search_key<T, D>& key) override {
    layers_.fill(context_, key, options_.rule == cutoff_rule::sum_of_radii ? options_.cutoff / 2 : options_.cutoff);
  }
  void enqueue_counts(const neighbor_search<T, D>& what, std::uint32_t* counts, const fault_flag& faults) override {
    this->count_rows(layers_.points(), count_levels_row<T, D>{walk(what), counts, faults});
  }
  void enqueue_entries(const neighbor_search<T, D>& what, const neighbor_sink<T, D>& sink) override {
    for_each(context_, "search.fill", layers_.points(), fill_levels_row<T, D>{walk(what), sink, layers_.points()});
  }
  [[nodiscard]] std::size_t bytes() const override { return cells_.bytes() + layers_.bytes(); }

 private:
  using neighbor_engine<Context, T, D>::context_;
  using neighbor_engine<Context, T, D>::options_;
  using neighbor_engine<Context, T, D>::cells_;

  [[nodiscard]] levels_search<T, D> walk(const neighbor_search<T, D>& what) {
    return {what, layers_.layers(), layers_.slots()};
  }

  level_cells<Context, T, D, walked_grids<T, D>> layers_;
};

namespace neighbor_search_methods {

struct levels {
  static constexpr std::string_view name = "levels";
  static constexpr std::string_view summary =
      "radii of any ratio: cells of several sizes, one thread per row; on a GPU, warps for long rows";
  static constexpr std::string_view reason = "radii, in cells that fit them";
  static constexpr std::string_view served =
      "the uniform rule and those with radii, without queries; excluded pairs with radii";
  static constexpr determinism reproducible = determinism::run_to_run;
  static constexpr bool on_cpu = true;
  static constexpr bool on_cuda = true;
  template <typename Context, typename T, int D>
  [[nodiscard]] static std::unique_ptr<neighbor_engine<Context, T, D>> make(const Context& context,
                                                                            const neighbor_options<T>& options) {
    if constexpr (std::is_same_v<Context, cuda_context>) {
      return std::make_unique<device_levels_engine<T, D>>(context, options);
    } else {
      return std::make_unique<levels_engine<Context, T, D>>(context, options);
    }
  }
  [[nodiscard]] static bool serves(const neighbor_request& request) { return request.one_cutoff || request.radii; }
  [[nodiscard]] static method_cost cost(const neighbor_request& request) {
    method_cost cost = search_cost(request.with_team_from(loops_team_points), cells_around(request));
    return request.radii ? cost : cost.last_resort("for radii; with one cutoff there is one level");
  }
};

}  // namespace neighbor_search_methods

}  // namespace quadrat::detail
