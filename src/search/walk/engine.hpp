// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <string_view>

#include "quadrat/core/types.hpp"
#include "quadrat/parallel/for_each.hpp"
#include "search/checks.hpp"
#include "search/engine.hpp"
#include "search/request.hpp"
#include "search/walk/rows.hpp"

namespace quadrat::detail {

/// One thread per row over cells as large as the cutoff, in a given order, or over one cell per system. Serves every
/// search.
template <typename Context, typename T, int D>
class walk_engine final : public neighbor_engine<Context, T, D> {
 public:
  walk_engine(const Context& context, const neighbor_options<T>& options, const walking_order& order, bool one_cell)
      : neighbor_engine<Context, T, D>(context, options), order_(order), one_cell_(one_cell) {}

  void prepare(const search_task<T, D>& task) override {
    const std::size_t points = task.input.points.count;
    if (cells_.unfit(task)) {
      const bool anywhere = options_.accept_outside && !one_cell_;
      const std::size_t most = one_cell_ ? 1 : most_cells(points);
      cells_.cut(context_, task, {vec<T, D>::filled(this->reach()), this->reach(), most, anywhere});
    }
    rows_ = task.rows;
    one_system_ = task.one_system;
    records_.resize_discarding(context_, points);
    // Shifts are written with their pairs, unless these are sorted first.
    boxes_kept_ = task.keeps_shifts && !options_.sorted;
    if (boxes_kept_) boxes_.resize_discarding(context_, points);
  }

  void enqueue_cells(const search_key<T, D>& key) override {
    cells_.fill(context_, key, one_system_);
    const gather_search_points<T, D> body{
        key.search, cells_.buckets.view().elements, most_radius(options_), key.faults, records_.data(), boxes(), {}};
    for_each(context_, "search.gather", key.search.points.count, body);
  }

  void enqueue_counts(const neighbor_search<T, D>& what, std::uint32_t* counts, const fault_flag& faults) override {
    if (walks_plainly(what)) {
      this->count_rows(rows_, count_row<T, D, true>{walk(what), counts, faults});
    } else {
      this->count_rows(rows_, count_row<T, D, false>{walk(what), counts, faults});
    }
  }

  void enqueue_entries(const neighbor_search<T, D>& what, const neighbor_sink<T, D>& sink) override {
    if (walks_plainly(what)) {
      for_each(context_, "search.fill", rows_, fill_row<T, D, true>{walk(what), sink, rows_});
    } else {
      for_each(context_, "search.fill", rows_, fill_row<T, D, false>{walk(what), sink, rows_});
    }
  }

  [[nodiscard]] std::size_t bytes() const override { return cells_.bytes() + records_.bytes() + boxes_.bytes(); }

 private:
  using neighbor_engine<Context, T, D>::context_;
  using neighbor_engine<Context, T, D>::options_;
  using neighbor_engine<Context, T, D>::cells_;

  [[nodiscard]] vec<int, D>* boxes() { return boxes_kept_ ? boxes_.data() : nullptr; }
  [[nodiscard]] walk_search<T, D> walk(neighbor_search<T, D> what) {
    what.cell_offsets = cells_.buckets.view().offsets;
    what.records = records_.data();
    return {what, cells_.first, boxes(), order_};
  }
  /// See walk_search.
  [[nodiscard]] bool walks_plainly(const neighbor_search<T, D>& what) const {
    return one_system_ && !what.own_queries && what.rule == cutoff_rule::uniform && what.excluded_offsets == nullptr &&
           what.maps == nullptr &&
           static_cast<double>(what.points.count) * most_images(cells_.first.shape, what.reach) < 4294967296.0;
  }

  walking_order order_;
  bool one_cell_;
  std::size_t rows_ = 0;
  bool one_system_ = false;
  bool boxes_kept_ = false;
  array<search_point<T, D>, Context> records_;  // by slot
  array<vec<int, D>, Context> boxes_;           // by slot
};

namespace neighbor_search_methods {

/// The methods with this engine differ only in the order of cells (modular-bin-strips).
template <bool Runs, int Labels, bool OneCell = false>
struct walking_method {
  static constexpr bool on_cpu = true;
  static constexpr bool on_cuda = true;
  static constexpr determinism reproducible = determinism::run_to_run;
  template <typename Context, typename T, int D>
  [[nodiscard]] static std::unique_ptr<neighbor_engine<Context, T, D>> make(const Context& context,
                                                                            const neighbor_options<T>& options) {
    return std::make_unique<walk_engine<Context, T, D>>(context, options, walking_order{Runs, Labels}, OneCell);
  }
};

struct default_order : walking_method<false, 1> {
  static constexpr std::string_view name = "default";
  static constexpr std::string_view summary = "cell by cell, one thread per row; two passes";
};
struct strips : walking_method<true, 1> {
  static constexpr std::string_view name = "strips";
  static constexpr std::string_view summary = "rows of cells as one range";
  /// The other orders are never measurably faster, so they are not chosen. Levels search as far as the radii present;
  /// walks search as far as the largest allowed.
  [[nodiscard]] static method_cost cost(const neighbor_request& request) {
    method_cost cost = search_cost(request.with_team_from(loops_team_points), cells_around(request));
    return request.radii ? cost.last_resort("walks as far as the largest radius reaches") : cost;
  }
};
struct modular : walking_method<false, 3> {
  static constexpr std::string_view name = "modular";
  static constexpr std::string_view summary = "cells by their position modulo 3";
};
struct hybrid : walking_method<true, 3> {
  static constexpr std::string_view name = "hybrid";
  static constexpr std::string_view summary = "strips in the first dimension, modular in the others";
};
struct brute_force : walking_method<true, 1, true> {
  static constexpr std::string_view name = "brute_force";
  static constexpr std::string_view summary = "every pair of a system";
  /// The most points for which it is considered, because its time can be quadratic.
  static constexpr std::size_t most_points = 1024;
  [[nodiscard]] static method_cost cost(const neighbor_request& request) {
    const double points = request.megapoints();
    method_cost cost;
    cost.each("start", cost_unit::launch, 1);
    const neighbor_request here = request.with_team_from(loops_team_points);
    cost.each("points", cost_unit::step, here.share(points));
    cost.each("tests", cost_unit::step, here.share(1e6 * points * points));
    if (!request.cuda) {
      cost.each("pairs", cost_unit::byte, here.share(request.megapairs()));
      cost.each("surprises", cost_unit::step, here.share(request.surprises(1e6 * points * points)));
    }
    if (request.points > most_points) return cost.last_resort("tests every pair");
    // For few points, strips are as fast, and take less than half the time where many points are close together.
    return request.cuda ? cost : cost.last_resort("strips take no longer");
  }
};

}  // namespace neighbor_search_methods

}  // namespace quadrat::detail
